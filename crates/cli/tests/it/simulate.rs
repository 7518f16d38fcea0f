//! `reasonscape simulate`.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command};

use crate::test_env::{assert_rejected, reasonscape, start_server};

/// The program as a server; it is ended whatever the test does.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(arguments: &[&str]) -> Self {
        let arguments = [&["simulate", "--port", "0", "--suite", "quick"], arguments].concat();
        let (child, url) = start_server(&arguments, &[("SIMULATED_KEY", "open-sesame")]);
        Self { child, url }
    }

    /// The status line and body of `GET path`.
    fn get(&self, path: &str, headers: &str) -> String {
        let address = self.url.strip_prefix("http://").unwrap().strip_suffix("/v1").unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}\r\n").unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        reply
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn prints_its_address() {
    let server = Server::start(&[]);
    assert!(server.url.starts_with("http://127.0.0.1:"), "{}", server.url);
    let models = server.get("/v1/models", "");
    assert!(models.starts_with("HTTP/1.1 200") && models.contains("sim-strong"), "{models}");
    assert!(server.get("/stats", "").contains(r#""requests":0"#));
}

#[cfg(unix)]
#[test]
fn exits_with_0_on_signals() {
    for signal in ["-INT", "-TERM"] {
        let mut server = Server::start(&[]);
        let pid = server.child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
        assert_eq!(server.child.wait().unwrap().code(), Some(0), "{signal}");
        let mut said = String::new();
        server.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(said.contains("note: listening on http://127.0.0.1:"), "{said}");
        assert!(said.contains("note: 0 requests"), "{said}");
    }
}

#[test]
fn requires_the_key_of_the_environment_without_showing_it() {
    let mut server = Server::start(&["--api-key-env", "SIMULATED_KEY"]);
    assert!(server.get("/v1/models", "").starts_with("HTTP/1.1 401"));
    assert!(server.get("/v1/models", "Authorization: Bearer open-sesame\r\n").starts_with("HTTP/1.1 200"));
    server.child.kill().unwrap();
    let mut said = String::new();
    server.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(!said.contains("sesame"), "{said}");
}

#[test]
fn rejects_invalid_arguments_before_serving() {
    let run = |arguments: &[&str]| reasonscape(&[&["simulate", "--port", "0"], arguments].concat());
    assert_rejected(
        &run(&["--faults", "kinds=rest"]),
        &["--faults", "unknown fault `rest`", "did you mean `reset`?"],
    );
    assert_rejected(
        &run(&["--faults", "rate=3"]),
        &["invalid fault setting `rate`: `3`", "a number from 0 to 1"],
    );
    assert_rejected(&run(&["--suite", "slow"]), &["unknown suite `slow`", "quick, r12"]);
    assert_rejected(&run(&["--api-key-env", "NO_SUCH_VARIABLE"]), &["`NO_SUCH_VARIABLE` is not set"]);
    assert_rejected(&run(&["--count", "0"]), &["--count"]);

    let server = Server::start(&[]);
    let port = server.url.rsplit(':').next().unwrap().trim_end_matches("/v1").to_owned();
    let run = reasonscape(&["simulate", "--suite", "quick", "--port", &port]);
    assert_rejected(&run, &["cannot listen on", &port, "choose another port"]);
}
