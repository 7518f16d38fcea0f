//! `reasonscape serve`, over HTTP.

mod api;
mod attacks;
mod browser;
mod comparison;
mod explorer;
mod extreme_scores;
mod hostile;
mod pages;
#[cfg(target_os = "linux")]
mod replaced_files;
mod runs;
mod server;

use std::process::Command;
use std::sync::Arc;

use self::server::{Server, Study};
use crate::test_env::{assert_rejected, reasonscape};

/// The pages at these paths of a server on this study.
pub(crate) fn get_pages<const N: usize>(study: &str, paths: [&str; N]) -> [String; N] {
    let server = Server::on(Arc::new(Study::copy_of(study)), &[], &[]);
    paths.map(|path| {
        let reply = server.get(path);
        assert_eq!(reply.status, 200, "{path}: {reply:?}");
        reply.body
    })
}

#[test]
fn prints_its_address() {
    let server = Server::shared();
    assert!(server.url.starts_with("http://127.0.0.1:") && server.url.ends_with('/'), "{}", server.url);
    assert_eq!(server.get("/health").body, "ok\n");
}

#[cfg(unix)]
#[test]
fn exits_with_0_on_signals() {
    for signal in ["-INT", "-TERM"] {
        let mut server = Server::start(&[]);
        let pid = server.child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
        assert_eq!(server.child.wait().unwrap().code(), Some(0), "{signal}");
    }
}

#[test]
fn rejects_invalid_arguments_before_serving() {
    let study = Study::new();
    let run =
        |arguments: &[&str]| reasonscape(&[&["serve", study.path(), "--port", "0"], arguments].concat());
    assert_rejected(&run(&["--base-path", "/a b"]), &["--base-path", "e.g. `/scores`"]);
    assert_rejected(&run(&["--token", "fifteen-letters"]), &["invalid token", "at least 16"]);
    assert_rejected(
        &run(&["--allow-key", "OPENAI_API_KEY"]),
        &["`--allow-key OPENAI_API_KEY`", "`NAME=URL`"],
    );
    assert_rejected(&reasonscape(&["serve", "no-such-study"]), &["no study at `no-such-study`"]);
    let empty = tempfile::TempDir::new().unwrap();
    assert_rejected(
        &reasonscape(&["serve", empty.path().to_str().unwrap(), "--port", "0"]),
        &["has no trials yet"],
    );
    let server = Server::shared();
    let port = server.address.rsplit(':').next().unwrap();
    let run = reasonscape(&["serve", study.path(), "--port", port]);
    assert_rejected(&run, &["cannot listen on", port, "choose another port"]);
}

#[test]
fn reloads_replaced_files() {
    let server = Server::start(&[]);
    assert!(!server.get("/").body.contains("newcomer"));
    server.study.add_newcomer();
    // Files are checked once a second.
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    assert!(server.get("/").body.contains("newcomer"));
    assert!(server.get("/metrics").body.contains("\nreasonscape_reloads_total 1\n"));
}
