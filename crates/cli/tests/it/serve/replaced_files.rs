//! Files that are replaced while a study of more files than a process keeps open is read.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;

use super::server::{Server, Study};

/// Evaluations with two trials files each: more files than a process keeps open.
const EVALS: u64 = 130;

/// The same study twice: the files of one replace those of the other. In memory, since hundreds of files are synced.
fn twins() -> [Study; 2] {
    let folder = || TempDir::new_in("/dev/shm").unwrap();
    let study = Study::new_in(folder());
    study.add_crowd(EVALS);
    let copy = Study::copy_into(study.path(), folder());
    [study, copy]
}

/// Exchanges the files of two studies, the manifests last.
fn exchange(a: &Path, b: &Path) {
    let exchange = |a: &Path, b: &Path| {
        let between = a.with_extension("between");
        fs::rename(a, &between).unwrap();
        fs::rename(b, a).unwrap();
        fs::rename(&between, b).unwrap();
    };
    for kind in ["points", "trials"] {
        exchange(&a.join(kind), &b.join(kind));
    }
    exchange(&a.join("manifest.json"), &b.join("manifest.json"));
}

#[test]
fn server_and_commands_read_a_study_again_when_its_files_are_replaced() {
    let [served, other] = twins();
    let (served, other_path) = (Arc::new(served), Path::new(other.path()).to_owned());
    let server = Server::on(Arc::clone(&served), &[], &[]);
    let (path, other) = (Path::new(served.path()), other_path.as_path());
    let expected = server.get("/api/v1/hazard?width=50&by=eval").body;
    for width in 51..53 {
        // Looks for changes, which the next request does only a second later.
        assert_eq!(server.get("/api/v1/evals").status, 200);
        exchange(path, other);
        let reply = server.get(&format!("/api/v1/hazard?width={width}&by=eval"));
        assert_eq!(reply.status, 200, "{reply:?}");
    }
    assert_eq!(server.get("/api/v1/hazard?width=50&by=eval").body, expected);
    drop(server);

    // At moments from the start of a command to its end.
    for delay in 0..4 {
        let command = Command::new(assert_cmd::cargo::cargo_bin!("reasonscape"))
            .args(["analyze", "hazard", served.path(), "--format", "csv"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(delay * 300));
        exchange(path, other);
        let output = command.wait_with_output().unwrap();
        assert!(output.status.success(), "after {delay}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
