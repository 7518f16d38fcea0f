//! Trials for other tools, read back by other means.

use std::collections::BTreeMap;
use std::fs::{self, File};

use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use reasonscape_cache::Cache;
use reasonscape_ingest::Progress;
use reasonscape_ingest::logs::LogOptions;
use reasonscape_points::{Exported, Filter, TranscriptReader, export_dataset, export_lines};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::import::{inspect, logs};
use super::test_env::{open, wait};

fn imported() -> TempDir {
    let study = TempDir::new().unwrap();
    inspect(study.path(), &logs("inspect/add-small.eval"), &LogOptions::default()).unwrap();
    study
}

fn lines(study: &TempDir, filter: &[&str], with_cache: bool) -> (Vec<Value>, Exported) {
    let cache = Cache::open_read_only(study.path().join("cache.sqlite")).unwrap();
    let cache = with_cache.then_some(&cache);
    let mut text = Vec::new();
    let filter = Filter::parse(filter).unwrap();
    let db = open(study.path());
    let exported = wait(export_lines(&db, cache, &filter, &mut text, &Progress::default())).unwrap();
    let text = String::from_utf8(text).unwrap();
    (text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), exported)
}

#[test]
fn exported_lines_match_the_imported_log() {
    let study = imported();
    let (lines, exported) = lines(&study, &[], true);
    assert_eq!(exported, Exported { trials: 18, without_text: 0, stopped: false });
    // Read by other means: the samples one by one.
    let mut zip = zip::ZipArchive::new(File::open(logs("inspect/add-small.eval")).unwrap()).unwrap();
    let names: Vec<String> = zip.file_names().map(|name| name.unwrap().into_owned()).collect();
    let mut samples = BTreeMap::new();
    for name in names.iter().filter(|name| name.starts_with("samples/")) {
        let text = std::io::read_to_string(zip.by_name(name).unwrap()).unwrap();
        let sample: Value = serde_json::from_str(&text).unwrap();
        samples.insert((sample["id"].as_u64().unwrap(), sample["epoch"].as_u64().unwrap() - 1), sample);
    }
    assert_eq!(samples.len(), lines.len());
    for (line, ((index, repeat), sample)) in lines.iter().zip(&samples) {
        assert_eq!((&line["index"], &line["repeat"]), (&json!(index), &json!(repeat)));
        assert_eq!(line["reply"], sample["output"]["completion"]);
        let content = &sample["messages"][0]["content"];
        assert_eq!(line["messages"], json!([{ "role": "user", "content": content }]));
        let parts = sample["output"]["choices"][0]["message"]["content"].as_array();
        let reasoning = parts.map_or(&Value::Null, |parts| &parts[0]["reasoning"]);
        assert_eq!(line["reasoning"], *reasoning);
        assert_eq!(line["target"], sample["target"]);
        assert_eq!(line["completion_tokens"], sample["output"]["usage"]["output_tokens"]);
        assert_eq!(line["params"], json!({}));
        let cut = sample["output"]["choices"][0]["stop_reason"] == "max_tokens";
        let right = sample["scores"]["match"]["value"] == "C";
        let status = if cut {
            "truncated"
        } else if right {
            "correct"
        } else {
            "incorrect"
        };
        assert_eq!(line["status"], status);
    }
}

#[test]
fn exports_trials_without_texts_if_there_is_no_cache() {
    let study = imported();
    let (lines, exported) = lines(&study, &[], false);
    assert_eq!((lines.len(), exported.without_text), (18, 18));
    assert!(lines.iter().all(|line| line["messages"].is_null() && line["reply"].is_null()));
}

#[test]
fn exports_only_the_filtered_points() {
    let study = imported();
    inspect(study.path(), &logs("inspect/pick.eval"), &LogOptions::default()).unwrap();
    let count = |filter: &[&str]| lines(&study, filter, true).0.len();
    assert_eq!(count(&[]), 30);
    assert_eq!(count(&["base_task=pick"]), 12);
    assert_eq!(count(&["model=*small", "base_task=add"]), 18);
    assert_eq!(count(&["base_task=other"]), 0);
}

#[test]
fn writes_a_dataset_completely_or_not_at_all() {
    let study = imported();
    inspect(study.path(), &logs("inspect/pick.eval"), &LogOptions::default()).unwrap();
    let folder = study.path().join("dataset");
    let cache = Cache::open_read_only(study.path().join("cache.sqlite")).unwrap();
    let db = open(study.path());
    let write =
        |progress: &Progress| wait(export_dataset(&db, Some(&cache), &Filter::default(), &folder, progress));
    let stopped = Progress { stop: true.into(), ..Progress::default() };
    assert!(write(&stopped).unwrap().stopped && !folder.exists());
    assert_eq!(write(&Progress::default()).unwrap().trials, 30);
    let message = write(&Progress::default()).unwrap_err().to_string();
    assert!(message.contains("already exists"), "{message}");

    let files: Vec<_> =
        fs::read_dir(folder.join("data")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let mut rows = 0;
    for file in &files {
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(file).unwrap()).unwrap();
        for batch in reader.build().unwrap() {
            let batch = batch.unwrap();
            rows += batch.num_rows();
            for name in ["model", "status", "messages", "reply", "index"] {
                assert_eq!(batch.column_by_name(name).unwrap().null_count(), 0, "{name}");
            }
        }
    }
    assert_eq!((files.len(), rows), (2, 30), "a file an evaluation");

    let card = fs::read_to_string(folder.join("README.md")).unwrap();
    let head = card.strip_prefix("---\n").unwrap().split("\n---\n").next().unwrap();
    for words in ["license: unknown", "path: data/*.parquet", "num_examples: 30", "n<1K", "name: messages"] {
        assert!(head.contains(words), "`{words}` is not in:\n{head}");
    }
    for words in
        ["| openai-api/mock/small | inspect | default | pick | 12 |", "inspect: pick.eval", "licence"]
    {
        assert!(card.contains(words), "`{words}` is not in:\n{card}");
    }
}

#[cfg(unix)]
#[test]
fn reading_transcripts_of_a_study_creates_no_file() {
    let study = imported();
    let long_ago = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000);
    File::open(study.path()).unwrap().set_modified(long_ago).unwrap();
    let mut reader = TranscriptReader::open_study(study.path()).unwrap();
    assert_eq!(reader.find(&"0".repeat(64), 0, "m").unwrap(), None);
    drop(reader);
    // SQLite's auxiliary files would come and go, which changes the directory.
    assert_eq!(fs::metadata(study.path()).unwrap().modified().unwrap(), long_ago);
}
