//! `reasonscape init`.

use std::fs;

use reasonscape_study::Study;
use tempfile::TempDir;

use crate::test_env::{assert_rejected, reasonscape};

#[test]
fn writes_a_valid_study() {
    let world = TempDir::new().unwrap();
    let folder = world.path().join("new/deep");
    let run = reasonscape(&["init", folder.to_str().unwrap()]);
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{run:?}");
    assert!(run.stderr.contains("study.toml`; set `model` and `base_url`"), "{run:?}");
    assert!(run.stderr.contains("`reasonscape plan "), "{run:?}");
    let study = Study::load(&folder).unwrap();
    assert_eq!((study.suite.name.as_str(), study.evals.len()), ("quick", 1));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing else is written");
}

#[test]
fn never_overwrites_a_study() {
    let world = TempDir::new().unwrap();
    let file = world.path().join("study.toml");
    fs::write(&file, "mine").unwrap();
    let run = reasonscape(&["init", world.path().to_str().unwrap()]);
    assert_rejected(&run, &["study.toml` is there already and is left as it is"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn names_a_folder_that_cannot_be_created() {
    let world = TempDir::new().unwrap();
    let file = world.path().join("file");
    fs::write(&file, "").unwrap();
    assert_rejected(
        &reasonscape(&["init", file.join("in").to_str().unwrap()]),
        &["failed to make the folder `", "file/in`"],
    );
}
