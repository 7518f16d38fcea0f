//! Stored results belong to one state of the files.

use std::fs;

use tempfile::TempDir;

use super::test_env::{eval, open, point, trials, write};

#[test]
fn stored_results_are_read_for_the_same_files_only() {
    let folder = TempDir::new().unwrap();
    let eval = eval("a", "zero-shot", "sampled-2k", &[]);
    let write_study =
        |ends: &str| write(folder.path(), &eval, "sort", vec![point("{}", &["m"], trials(ends, 0.0))]);
    let read = || open(folder.path()).read_derived::<u32>("result");
    write_study("cci");
    assert_eq!(read(), None);

    // Only who asks for it stores anything.
    open(folder.path()).write_derived("result", &1);
    assert_eq!(read(), None);
    let before = open(folder.path()).storing_derived();
    before.write_derived("result", &7);
    assert_eq!(read(), Some(7));
    let stored = folder.path().join("points").join(".result.json");
    let first = fs::read(&stored).unwrap();

    // Other trials, then the same trials again: each is a state of its own.
    for ends in ["ccc", "cci"] {
        write_study(ends);
        assert_eq!(read(), None, "{ends}");
        fs::write(&stored, &first).unwrap();
        assert_eq!(read(), None, "{ends}");
        // A reader of the earlier files stores what it computed from them.
        before.write_derived("result", &8);
        assert_eq!(read(), None, "{ends}");
        let db = open(folder.path()).storing_derived();
        assert_ne!(db.generation(), before.generation());
        db.write_derived("result", &9);
        assert_eq!(read(), Some(9), "{ends}");
    }
    // A damaged file is no result.
    fs::write(&stored, b"{").unwrap();
    assert_eq!(read(), None);
}
