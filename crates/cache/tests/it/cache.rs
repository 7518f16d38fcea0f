//! The cache as the runner uses it.

mod child;
mod damage;
mod processes;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use reasonscape_cache::{
    Cache, CacheError, Claim, Entry, EntryFilter, ExportLine, HeldEntries, Mark, PointSampling, Response,
    TokenUsage,
};
use reasonscape_core::{CacheKey, EntryId, Json, canonical_json};
use tempfile::TempDir;

/// A folder for a cache that goes away.
fn temp_cache_path() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cache.sqlite");
    (dir, path)
}

/// The entry of this number: the same in every process.
fn entry(number: u64) -> Entry {
    entry_of("m", number)
}

fn entry_of(model: &str, number: u64) -> Entry {
    let prompt = format!("What is {number} + {number}?");
    let request = canonical_json(&Json::from([("model", model.into()), ("prompt", prompt.into())]));
    let body = format!(r#"{{"choices":[{{"text":"{}","finish_reason":"stop"}}]}}"#, number * 2);
    Entry {
        id: EntryId::new(CacheKey::from_canonical_json(&request)),
        request,
        response: Response {
            status: 200,
            latency_ms: number,
            latency_us: None,
            received_ms: 1_700_000_000_000 + number as i64,
            body: body.into(),
        },
    }
}

/// A cache with the entries of these numbers.
fn cache_with(path: &Path, numbers: std::ops::Range<u64>) -> Cache {
    let cache = Cache::open(path).unwrap();
    let mut importer = cache.importer().unwrap();
    numbers.for_each(|number| importer.add(&entry(number)).unwrap());
    importer.finish().unwrap();
    cache
}

fn ids(numbers: std::ops::Range<u64>) -> Vec<EntryId> {
    numbers.map(|number| entry(number).id).collect()
}

#[tokio::test]
async fn stored_entries_are_returned_unchanged() {
    let (_dir, path) = temp_cache_path();
    let cache = Cache::open(&path).unwrap();
    let writer = cache.writer().unwrap();
    let reader = cache.reader().unwrap();
    let first = entry(1);
    assert_eq!(reader.get(&first.id).unwrap(), None);
    assert!(!reader.contains(&first.id).unwrap());

    writer.store(first.clone()).await.unwrap();
    assert_eq!(reader.get(&first.id).unwrap(), Some(first.response.clone()));

    let mut changed = first.clone();
    changed.response.body = b"other".to_vec();
    writer.store(changed).await.unwrap();
    assert_eq!(reader.get(&first.id).unwrap(), Some(first.response.clone()), "the first answer stays");
    assert_eq!(reader.count().unwrap(), 1);

    let apart = [
        EntryId { namespace: "elsewhere".into(), ..first.id.clone() },
        EntryId { repeat: 1, ..first.id.clone() },
        entry(2).id,
    ];
    for id in apart {
        assert!(!reader.contains(&id).unwrap(), "{id}");
    }
}

#[tokio::test]
async fn queued_writes_complete_after_the_last_handle_is_dropped() {
    let (_dir, path) = temp_cache_path();
    let cache = Cache::open(&path).unwrap();
    let writer = cache.writer().unwrap();
    let waiting: Vec<_> = (0..2_000).map(|number| writer.store(entry(number))).collect();
    drop(writer);
    for store in waiting {
        store.await.unwrap();
    }
    assert_eq!(cache.reader().unwrap().count().unwrap(), 2_000);
}

#[tokio::test]
async fn claim_is_exclusive_until_stored_or_released() {
    let (_dir, path) = temp_cache_path();
    let cache = Cache::open(&path).unwrap();
    let (one, two) = (cache.writer().unwrap(), Cache::open(&path).unwrap().writer().unwrap());
    one.store(entry(0)).await.unwrap();
    let granted = [Claim::Stored, Claim::Granted, Claim::Granted];
    assert_eq!(one.claim(ids(0..3)).await.unwrap(), granted);
    assert_eq!(two.claim(ids(0..3)).await.unwrap(), [Claim::Stored, Claim::Taken, Claim::Taken]);
    assert_eq!(one.claim(ids(1..2)).await.unwrap(), [Claim::Taken], "nor twice to the same process");

    two.release(ids(1..2)).await.unwrap();
    assert_eq!(two.claim(ids(1..2)).await.unwrap(), [Claim::Taken], "only its owner gives a claim back");
    one.release(ids(1..2)).await.unwrap();
    one.store(entry(2)).await.unwrap();
    assert_eq!(two.claim(ids(0..3)).await.unwrap(), [Claim::Stored, Claim::Granted, Claim::Stored]);
}

#[tokio::test]
async fn dropped_writer_releases_its_claims_and_files() {
    let (dir, path) = temp_cache_path();
    let cache = Cache::open(&path).unwrap();
    let one = cache.writer().unwrap();
    one.claim(ids(0..5)).await.unwrap();
    drop(one);
    let two = cache.writer().unwrap();
    assert_eq!(two.claim(ids(0..5)).await.unwrap(), [Claim::Granted; 5]);
    drop(two);
    let left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left, ["cache.sqlite"]);
}

#[tokio::test]
async fn import_ends_a_claim() {
    let (_dir, path) = temp_cache_path();
    let cache = Cache::open(&path).unwrap();
    let writer = cache.writer().unwrap();
    writer.claim(ids(0..1)).await.unwrap();
    cache_with(&path, 0..1);
    assert_eq!(writer.claim(ids(0..1)).await.unwrap(), [Claim::Stored]);
}

#[test]
fn reading_creates_no_files() {
    let (dir, path) = temp_cache_path();
    let error = Cache::open_read_only(&path).unwrap_err();
    assert!(error.to_string().contains("no cache at"), "{error}");
    assert!(error.is_input() && !path.exists());

    cache_with(&path, 0..3);
    let cache = Cache::open_read_only(&path).unwrap();
    let reader = cache.reader().unwrap();
    assert_eq!(reader.get(&entry(1).id).unwrap(), Some(entry(1).response));
    let error = cache.writer().unwrap_err();
    assert!(error.to_string().contains("is not writable"), "{error}");
    drop(reader);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn importing_an_export_is_idempotent() {
    let ((_dir, path), (_other_dir, other)) = (temp_cache_path(), temp_cache_path());
    let cache = cache_with(&path, 0..1_200);
    let mut lines = Vec::new();
    cache
        .reader()
        .unwrap()
        .for_each::<reasonscape_cache::CacheError>(|entry| {
            lines.push(entry.to_line());
            Ok(())
        })
        .unwrap();
    assert_eq!(lines.len(), 1_200);

    let other = Cache::open(other).unwrap();
    for (stored, known) in [(1_200, 0), (0, 1_200)] {
        let mut importer = other.importer().unwrap();
        for line in &lines {
            importer.add(&Entry::from_line(line).unwrap()).unwrap();
        }
        let imported = importer.finish().unwrap();
        assert_eq!((imported.stored, imported.known), (stored, known));
    }
    let (ours, theirs) = (cache.reader().unwrap(), other.reader().unwrap());
    for number in 0..1_200 {
        let id = entry(number).id;
        assert_eq!(ours.get(&id).unwrap(), theirs.get(&id).unwrap());
    }
}

#[test]
fn stats_are_per_model_and_prune_applies_all_conditions() {
    let (_dir, path) = temp_cache_path();
    let cache = cache_with(&path, 0..10);
    let mut importer = cache.importer().unwrap();
    for number in 0..4 {
        importer.add(&entry_of("n", number)).unwrap();
    }
    let mut apart = entry_of("n", 0);
    apart.id.namespace = "apart".into();
    importer.add(&apart).unwrap();
    importer.finish().unwrap();

    let stats = cache.reader().unwrap().stats(|_| ()).unwrap();
    assert_eq!(stats.total.entries, 15);
    assert_eq!(stats.models[&Some("m".to_owned())].entries, 10);
    assert_eq!(stats.models[&Some("n".to_owned())].entries, 5);
    assert_eq!(stats.total.oldest_ms, Some(1_700_000_000_000));
    assert_eq!(stats.total.newest_ms, Some(1_700_000_000_009));
    assert!(stats.file_bytes > 0 && stats.total.bytes > 0 && stats.total.stored_bytes > 0);

    let old =
        EntryFilter { before_ms: Some(1_700_000_000_002), model: Some("n".into()), ..EntryFilter::default() };
    assert_eq!(cache.reader().unwrap().select(&old).unwrap().entries, 3);
    assert_eq!(cache.prune(&old).unwrap().entries, 3);
    assert_eq!(cache.prune(&old).unwrap().entries, 0);
    let namespace = EntryFilter { namespace: Some(String::new()), ..EntryFilter::default() };
    assert_eq!(cache.prune(&namespace).unwrap().entries, 12);
    cache.compact().unwrap();
    assert_eq!(cache.reader().unwrap().count().unwrap(), 0);
    assert!(cache.reader().unwrap().verify(|_| ()).unwrap().is_sound());
}

/// A format that was ever written is read for ever: this file was written by the first version.
#[test]
fn opens_format_1_and_upgrades_it_for_writing() {
    let (_dir, path) = temp_cache_path();
    std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/cache-format-1.sqlite"), &path)
        .unwrap();
    let assert_holds_all = |cache: &Cache, marks: usize| {
        let reader = cache.reader().unwrap();
        assert_eq!(reader.count().unwrap(), 3);
        for number in 0..3 {
            assert_eq!(reader.get(&entry(number).id).unwrap(), Some(entry(number).response));
            assert!(!reader.find(&entry(number).id).unwrap().unwrap().marked);
        }
        assert!(reader.verify(|_| ()).unwrap().is_sound());
        let held: Vec<_> = reader.held_entries().unwrap().into_iter().collect();
        let all = HeldEntries { entries: 3, unmarked: 3 };
        assert_eq!(held, [((String::new(), entry(0).model().unwrap()), all)]);
        assert_eq!(reader.all_marks().unwrap().len(), marks);
    };
    let format = || {
        let header = std::fs::read(&path).unwrap();
        u32::from_be_bytes(header[60..64].try_into().unwrap())
    };
    assert_holds_all(&Cache::open_read_only(&path).unwrap(), 0);
    assert_eq!(format(), 1, "reading changes nothing");

    let cache = Cache::open(&path).unwrap();
    let mut importer = cache.importer().unwrap();
    importer.add_line(ExportLine::Mark(mark("a", 4))).unwrap();
    importer.finish().unwrap();
    assert_holds_all(&cache, 1);
    cache.compact().unwrap();
    assert_eq!(format(), 2);
    assert_holds_all(&Cache::open_read_only(&path).unwrap(), 1);
}

#[tokio::test]
async fn microseconds_are_stored_beside_milliseconds() {
    let (_dir, path) = temp_cache_path();
    let mut timed = entry(3);
    timed.response.latency_us = Some(3_456);
    let cache = Cache::open(&path).unwrap();
    cache.writer().unwrap().store(timed.clone()).await.unwrap();
    let reader = cache.reader().unwrap();
    assert_eq!(reader.get(&timed.id).unwrap(), Some(timed.response.clone()));
    assert_eq!(reader.entry(&timed.id).unwrap(), Some(timed.clone()));
    let line = ExportLine::Entry { entry: timed.clone(), marked: false };
    assert_eq!(ExportLine::parse(&line.to_line()).unwrap(), line);
    assert!(!timed.to_line().contains("latency_us"), "programs of format 1 refuse what they don't know");
}

/// Programs of the first format 2 read and write a file with later columns, and their files are read without.
#[test]
fn later_columns_do_not_break_format_2() {
    let (_dir, path) = temp_cache_path();
    cache_with(&path, 0..2);
    let raw = rusqlite::Connection::open(&path).unwrap();
    // What such a program does: it names the columns that it writes, and counts the ones that it reads.
    let inserted = raw.execute(
        "INSERT INTO entries (key, namespace, repeat, status, latency_ms, received_ms, bytes, exchange, model, marked)
         SELECT key, 'other', repeat, status, latency_ms, received_ms, bytes, exchange, model, marked FROM entries",
        [],
    );
    assert_eq!(inserted.unwrap(), 2);
    let names: Vec<String> = {
        let statement = raw.prepare("SELECT * FROM entries").unwrap();
        statement.column_names().map(ToOwned::to_owned).collect()
    };
    let added = ["latency_us", "prompt_tokens", "completion_tokens"];
    assert_eq!(names[8..], [&["exchange", "model", "marked"], &added[..]].concat());
    let version: i64 = raw.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    assert_eq!(version, 2);

    for column in added {
        raw.execute_batch(&format!("ALTER TABLE entries DROP COLUMN {column}")).unwrap();
    }
    drop(raw);
    for cache in [Cache::open_read_only(&path).unwrap(), Cache::open(&path).unwrap()] {
        let reader = cache.reader().unwrap();
        assert_eq!(reader.get(&entry(1).id).unwrap(), Some(entry(1).response));
        assert_eq!(reader.entry(&entry(1).id).unwrap(), Some(entry(1)));
        assert_eq!(reader.find_usage(&entry(1).id).unwrap().unwrap().usage, None);
        assert!(reader.verify(|_| ()).unwrap().is_sound());
    }
    let columns = "SELECT count(*) FROM pragma_table_info('entries')
        WHERE name IN ('latency_us', 'prompt_tokens', 'completion_tokens')";
    let raw = rusqlite::Connection::open(&path).unwrap();
    let found: i64 = raw.query_row(columns, [], |row| row.get(0)).unwrap();
    assert_eq!(found, 3, "opened for writing, it gets the columns");
}

#[tokio::test]
async fn usage_is_found_without_the_response() {
    let (_dir, path) = temp_cache_path();
    let cache = Cache::open(&path).unwrap();
    let usage = TokenUsage { prompt: Some(12), completion: None };
    let writer = cache.writer().unwrap();
    writer.commit(Arc::new(entry(1)), usage).await.unwrap().synced().await.unwrap();
    writer.store(entry(2)).await.unwrap();
    let reader = cache.reader().unwrap();
    let found = |number| reader.find_usage(&entry(number).id).unwrap();
    assert_eq!(found(1).unwrap().usage, Some(usage));
    assert_eq!(found(1).unwrap().entry, reader.find(&entry(1).id).unwrap().unwrap().entry);
    assert_eq!(found(2).unwrap().usage, None, "nothing was recorded");
    assert_eq!(found(3), None);
}

fn mark(eval: &str, requested: u64) -> Mark {
    let (task, params) = ("sort".to_owned(), r#"{"length": 4}"#.to_owned());
    Mark { seed: 1, eval: eval.to_owned(), task, params, requested, sampling: PointSampling::default() }
}

fn sampled_mark(requested: u64, fixed_count: Option<u64>, stop_rule: Option<&str>) -> Mark {
    let sampling = PointSampling { fixed_count, stop_rule: stop_rule.map(ToOwned::to_owned) };
    Mark { sampling, ..mark("a", requested) }
}

#[tokio::test]
async fn marks_keep_the_largest_fixed_count_and_the_latest_stop_rule() {
    let (_dir, path) = temp_cache_path();
    let cache = Cache::open(&path).unwrap();
    let writer = cache.writer().unwrap();
    let steps = [
        (mark("a", 8), (8, None, None)),
        (sampled_mark(48, None, Some("rule 1")), (48, None, Some("rule 1"))),
        (sampled_mark(24, Some(24), None), (48, Some(24), Some("rule 1"))),
        (sampled_mark(16, Some(16), Some("rule 2")), (48, Some(24), Some("rule 2"))),
    ];
    for (raised, (requested, fixed_count, stop_rule)) in steps {
        writer.raise_marks(vec![raised]).await.unwrap();
        let expected = sampled_mark(requested, fixed_count, stop_rule);
        let reader = cache.reader().unwrap();
        assert_eq!(reader.all_marks().unwrap(), std::slice::from_ref(&expected));
        let marks = reader.marks(1, "a").unwrap();
        assert_eq!(marks.requested("sort", &expected.params), requested);
        assert_eq!(marks.sampling("sort", &expected.params), Some(&expected.sampling));
    }
}

#[test]
fn marks_without_sampling_columns_open_and_get_them() {
    let (_dir, path) = temp_cache_path();
    drop(Cache::open(&path).unwrap());
    let raw = rusqlite::Connection::open(&path).unwrap();
    raw.execute_batch(
        "ALTER TABLE marks DROP COLUMN fixed_count; ALTER TABLE marks DROP COLUMN stop_rule;
         INSERT INTO marks VALUES (1, 'a', 'sort', '{\"length\": 4}', 8)",
    )
    .unwrap();
    drop(raw);
    for cache in [Cache::open_read_only(&path).unwrap(), Cache::open(&path).unwrap()] {
        assert_eq!(cache.reader().unwrap().all_marks().unwrap(), [mark("a", 8)]);
    }
    let raw = rusqlite::Connection::open(&path).unwrap();
    let columns: i64 =
        raw.query_row("SELECT count(*) FROM pragma_table_info('marks')", [], |row| row.get(0)).unwrap();
    assert_eq!(columns, 7, "opened for writing, it gets the columns");
}

#[tokio::test]
async fn marks_only_rise_and_come_through_an_export() {
    let (_dir, path) = temp_cache_path();
    let cache = Cache::open(&path).unwrap();
    let writer = cache.writer().unwrap();
    for requested in [8, 64, 16] {
        writer.raise_marks(vec![mark("a", requested), mark("b", 1)]).await.unwrap();
    }
    writer.store(entry(0)).await.unwrap();
    let reader = cache.reader().unwrap();
    let marks = reader.marks(1, "a").unwrap();
    assert_eq!(marks.requested("sort", r#"{"length": 4}"#), 64);
    assert_eq!(reader.marks(2, "a").unwrap().requested("sort", r#"{"length": 4}"#), 0);

    let mut lines = Vec::new();
    reader
        .export::<CacheError>(|line| {
            lines.push(line.to_line());
            Ok(())
        })
        .unwrap();
    assert_eq!(lines.len(), 3);
    let (_dir, path) = temp_cache_path();
    let other = Cache::open(&path).unwrap();
    let mut importer = other.importer().unwrap();
    importer.add_line(ExportLine::Mark(mark("a", 100))).unwrap();
    for line in &lines {
        importer.add_line(ExportLine::parse(line).unwrap()).unwrap();
    }
    importer.finish().unwrap();
    let reader = other.reader().unwrap();
    assert_eq!(reader.all_marks().unwrap(), [mark("a", 100), mark("b", 1)]);
    assert!(reader.find(&entry(0).id).unwrap().unwrap().marked);
}

/// The files beside a cache, with their contents. The index of the log is left out: it is memory that the processes which
/// have the cache open share, and a writer in this process changes it on its own.
fn files(dir: &Path) -> std::collections::BTreeMap<PathBuf, Vec<u8>> {
    let mut files = files_with_index(dir);
    files.retain(|path, _| !path.to_string_lossy().ends_with("-shm"));
    files
}

fn files_with_index(dir: &Path) -> std::collections::BTreeMap<PathBuf, Vec<u8>> {
    let paths = std::fs::read_dir(dir).unwrap().map(|found| found.unwrap().path());
    let files = paths.filter(|path| path.is_file());
    files.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

#[tokio::test]
async fn opening_untouched_changes_no_file() {
    let assert_reads = |path: &Path, numbers: std::ops::Range<u64>| {
        let before = files(path.parent().unwrap());
        let reader = Cache::open_untouched(path).unwrap().reader().unwrap();
        for number in numbers {
            assert_eq!(reader.get(&entry(number).id).unwrap(), Some(entry(number).response));
        }
        drop(reader);
        assert_eq!(files(path.parent().unwrap()), before);
    };
    let (_dir, path) = temp_cache_path();
    drop(cache_with(&path, 0..2));
    assert_reads(&path, 0..2);
    // Beside a process that writes: its entries are still in the log.
    let writer = Cache::open(&path).unwrap().writer().unwrap();
    writer.store(entry(2)).await.unwrap();
    assert_reads(&path, 0..3);
    // After that process was killed.
    let (killed, _) = temp_cache_path();
    for (file, bytes) in files_with_index(path.parent().unwrap()) {
        std::fs::write(killed.path().join(file.file_name().unwrap()), bytes).unwrap();
    }
    assert!(files_with_index(killed.path()).len() == 3, "the database, its log and the index of the log");
    assert_reads(&killed.path().join("cache.sqlite"), 0..3);
}
