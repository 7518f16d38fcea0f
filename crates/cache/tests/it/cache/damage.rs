//! Files that are not what they should be: each a clear message, none a panic.

use std::io::Write;
use std::path::Path;

use proptest::prelude::*;
use reasonscape_cache::{Cache, CacheError, EntryFilter};
use rusqlite::Connection;

use super::child::{ChildRole, command, stdout_lines};
use super::{cache_with, entry, temp_cache_path};

/// Asserts that opening is refused with these words and names the file.
fn assert_rejected(path: &Path, words: &str) {
    for error in [Cache::open(path).unwrap_err(), Cache::open_read_only(path).unwrap_err()] {
        assert!(error.to_string().contains(words), "`{words}` is not in: {error}");
        assert!(error.to_string().contains(path.parent().unwrap().to_str().unwrap()), "{error}");
        assert!(error.is_input());
    }
}

fn sql(path: &Path, statement: &str) {
    Connection::open(path).unwrap().execute_batch(statement).unwrap();
}

#[test]
fn rejects_files_that_are_not_a_cache() {
    let (dir, path) = temp_cache_path();
    assert_rejected(&dir.path().join("none/cache.sqlite"), "create it or correct the path");
    assert_rejected(dir.path(), "is not a regular file");
    std::fs::write(&path, "Once upon a time there was a file that was no database at all.").unwrap();
    assert_rejected(&path, "not a SQLite database");
    std::fs::remove_file(&path).unwrap();
    sql(&path, "CREATE TABLE bookmarks (url TEXT)");
    assert_rejected(&path, "of another program");
    assert_eq!(
        Connection::open(&path).unwrap().query_row("SELECT count(*) FROM bookmarks", [], |r| r.get(0)),
        Ok(0)
    );
}

#[test]
fn empty_file_becomes_a_cache() {
    let (_dir, path) = temp_cache_path();
    std::fs::write(&path, "").unwrap();
    assert_eq!(cache_with(&path, 0..3).reader().unwrap().count().unwrap(), 3);
}

#[test]
fn newer_format_asks_for_an_update() {
    let (_dir, path) = temp_cache_path();
    cache_with(&path, 0..1);
    sql(&path, "PRAGMA user_version = 7");
    assert_rejected(&path, "has format 7; this version supports formats up to 2; update reasonscape");
}

#[test]
fn verify_finds_corrupt_entries_and_prune_removes_them() {
    let (_dir, path) = temp_cache_path();
    let cache = cache_with(&path, 0..6);
    let damaged = [
        (1, "exchange = substr(exchange, 1, length(exchange) - 1)", "decompression failed"),
        (
            2,
            "exchange = (SELECT exchange FROM entries WHERE latency_ms = 0), bytes = (SELECT bytes FROM entries WHERE latency_ms = 0)",
            "not that of its request",
        ),
        (3, "bytes = bytes + 1", "; expected "),
        (4, "bytes = 1 << 60", "invalid length of"),
    ];
    for (number, change, _) in damaged {
        sql(&path, &format!("UPDATE entries SET {change} WHERE latency_ms = {number}"));
    }
    let reader = cache.reader().unwrap();
    let found = reader.verify(|_| ()).unwrap();
    assert_eq!((found.entries, found.damaged.len(), found.structure.len()), (6, 4, 0));
    for ((number, _, words), damage) in damaged.iter().zip(&found.damaged) {
        assert_eq!(damage.entry, entry(*number).id.to_string());
        assert!(damage.problem.contains(words), "{damage:?}");
    }
    let error = reader.get(&entry(1).id).unwrap_err();
    assert!(matches!(error, CacheError::DamagedEntry { .. }), "{error}");
    assert!(error.to_string().contains("prune --damaged"));
    assert!(reader.for_each::<CacheError>(|_| Ok(())).is_err());
    assert_eq!(reader.stats(|_| ()).unwrap().total.entries, 6);

    let filter = EntryFilter { damaged: true, ..EntryFilter::default() };
    assert_eq!(cache.prune(&filter).unwrap().entries, 4);
    assert!(reader.verify(|_| ()).unwrap().is_sound());
    assert_eq!(reader.count().unwrap(), 2);
}

#[test]
fn reports_truncated_file_as_damaged() {
    let (_dir, path) = temp_cache_path();
    cache_with(&path, 0..500);
    let complete = std::fs::read(&path).unwrap();
    for length in [complete.len() / 2, 8192, 4096, 1000] {
        std::fs::write(&path, &complete[..length]).unwrap();
        let found = Cache::open_read_only(&path).and_then(|cache| cache.reader()?.verify(|_| ()));
        match found {
            Ok(found) => assert!(!found.is_sound(), "{length}"),
            Err(error) => assert!(error.to_string().contains("damaged"), "{length}: {error}"),
        }
    }
}

#[test]
fn recovers_a_partial_log_up_to_the_last_complete_transaction() {
    let (_dir, path) = temp_cache_path();
    let cache = Cache::open(&path).unwrap();
    let reader = cache.reader().unwrap();
    for number in 0..20 {
        let mut importer = cache.importer().unwrap();
        importer.add(&entry(number)).unwrap();
        importer.finish().unwrap();
    }
    // As a crash leaves them: the database, and a log that was not moved into it.
    let (_other_dir, other) = copy_of_cache(&path);
    drop(reader);
    let log = format!("{}-wal", other.display());
    let length = std::fs::metadata(&log).unwrap().len();
    std::fs::OpenOptions::new().write(true).open(&log).unwrap().set_len(length - 2000).unwrap();
    let cache = Cache::open(&other).unwrap();
    let reader = cache.reader().unwrap();
    assert_eq!(reader.count().unwrap(), 19);
    assert!(reader.verify(|_| ()).unwrap().is_sound());
}

/// A copy of a cache and its log as they are now.
fn copy_of_cache(path: &Path) -> (tempfile::TempDir, std::path::PathBuf) {
    let (dir, copy) = temp_cache_path();
    for suffix in ["", "-wal"] {
        std::fs::copy(format!("{}{suffix}", path.display()), format!("{}{suffix}", copy.display())).unwrap();
    }
    (dir, copy)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn opening_any_bytes_never_panics(seed in any::<u64>(), changes in proptest::collection::vec((0_usize..40_000, any::<u8>()), 1..40)) {
        let (_dir, path) = temp_cache_path();
        cache_with(&path, seed % 7..seed % 7 + 60);
        let mut bytes = std::fs::read(&path).unwrap();
        for (offset, byte) in changes {
            let offset = offset % bytes.len();
            bytes[offset] = byte;
        }
        std::fs::write(&path, bytes).unwrap();
        if let Ok(cache) = Cache::open(&path) {
            let reader = cache.reader().unwrap();
            let _ = reader.verify(|_| ());
            let _ = reader.stats(|_| ());
            let _ = reader.get(&entry(seed % 7).id);
            let _ = cache.prune(&EntryFilter { damaged: true, ..EntryFilter::default() });
        }
    }
}

/// Root may write everywhere, so the test runs as somebody who may not.
#[cfg(unix)]
#[test]
fn reads_from_a_read_only_dir() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;

    const NOBODY: u32 = 65_534;
    let (dir, path) = temp_cache_path();
    cache_with(&path, 0..3);
    let set_mode =
        |mode| std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(mode)).unwrap();
    set_mode(0o555);
    let mut command = command(ChildRole::Open, &path);
    if std::fs::write(dir.path().join("probe"), "").is_ok() {
        std::fs::remove_file(dir.path().join("probe")).unwrap();
        command.uid(NOBODY).gid(NOBODY);
    }
    let lines: Vec<String> = match command.spawn() {
        Ok(mut child) => {
            let lines = stdout_lines(&mut child).collect();
            child.wait().unwrap();
            lines
        }
        Err(error) => {
            set_mode(0o755);
            assert!(std::env::var_os("REASONSCAPE_REQUIRE_ORACLES").is_none(), "{error}");
            // `eprintln!` would be captured; whoever runs the tests must see this.
            let _ = writeln!(std::io::stderr(), "SKIPPED: cannot start a process without rights ({error})");
            return;
        }
    };
    set_mode(0o755);
    assert!(lines[0].starts_with("write: cache `") && lines[0].contains("directory"), "{lines:?}");
    assert_eq!(lines[1], "read: opened with 3 entries");
}

#[test]
fn export_of_a_damaged_database_is_complete_or_an_error() {
    const ENTRIES: u64 = 300;
    let (_dir, path) = temp_cache_path();
    cache_with(&path, 0..ENTRIES);
    sql(&path, "PRAGMA wal_checkpoint(TRUNCATE)");
    let sound = std::fs::read(&path).unwrap();
    let expected = export(&path).unwrap();
    assert_eq!(expected.len() as u64, ENTRIES);

    let (mut rejected, mut complete) = (0, 0);
    // The header and cell pointers of every page, where a change moves or hides entries instead of damaging one.
    for page in (4096..sound.len()).step_by(4096) {
        for offset in [0, 3, 4, 5, 8, 9, 12, 20] {
            let mut damaged = sound.clone();
            damaged[page + offset] ^= 0x11;
            std::fs::write(&path, &damaged).unwrap();
            match export(&path) {
                Ok(entries) => {
                    assert!(entries == expected, "page at {page}, byte {offset}: {} entries", entries.len());
                    complete += 1;
                }
                Err(_) => rejected += 1,
            }
        }
    }
    println!("{rejected} rejected, {complete} complete");
    assert!(rejected > 0);
}

/// The lines of an export.
fn export(path: &Path) -> Result<Vec<String>, CacheError> {
    let reader = Cache::open_read_only(path)?.reader()?;
    let mut lines = Vec::new();
    reader.export::<CacheError>(|line| {
        lines.push(line.to_line());
        Ok(())
    })?;
    Ok(lines)
}
