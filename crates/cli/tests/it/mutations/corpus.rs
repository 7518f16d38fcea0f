//! Valid inputs from which mutations start: small files of this repository, and files written here.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, ListBuilder, RecordBatch, StringArray, StringBuilder};
use parquet::arrow::ArrowWriter;
use reasonscape_core::Outcome;
use reasonscape_ingest::dataset_reader::{DatasetFormat, TargetExtraction};
use reasonscape_points::{PointTrials, UnitWriter};
use regex::Regex;

use crate::test_env::{eval_info, provenance, trial};

/// A valid input: a file with its name, since readers choose a format by it.
#[derive(Debug, Clone)]
pub(super) struct Sample {
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every file with this extension in a folder of the repository, in the order of names.
pub(super) fn files(folder: &str, extension: &str) -> Vec<Sample> {
    let folder = root().join(folder);
    let mut found: Vec<Sample> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|known| known == extension) || extension == "*")
        .map(|path| Sample {
            name: path.file_name().unwrap().to_str().unwrap().to_owned(),
            bytes: fs::read(&path).unwrap(),
        })
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(!found.is_empty(), "{}", folder.display());
    found
}

/// The committed corpus.
const CORPUS: &str = "crates/cli/tests/it/mutations/corpus";

/// The files of a folder of the committed corpus.
pub(super) fn committed(folder: &str) -> Vec<Sample> {
    files(&format!("{CORPUS}/{folder}"), "*")
}

/// Each line of a committed file as an input of its own.
pub(super) fn lines(folder: &str) -> Vec<Sample> {
    let text = String::from_utf8(committed(folder).remove(0).bytes).unwrap();
    text.lines().map(|line| Sample { name: folder.to_owned(), bytes: line.into() }).collect()
}

/// JSON documents.
pub(super) fn json() -> Vec<Sample> {
    let rows = format!("{CORPUS}/rows");
    let lines = [files(&rows, "jsonl"), committed("cache")].concat();
    files(&rows, "json").into_iter().chain(lines.iter().flat_map(each_line)).collect()
}

fn each_line(sample: &Sample) -> Vec<Sample> {
    let lines = sample.bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| Sample { name: sample.name.clone(), bytes: line.to_vec() }).collect()
}

/// An export of a cache, and each of its lines: a change in the first would hide those after it.
pub(super) fn cache_exports() -> Vec<Sample> {
    let whole = committed("cache");
    let lines: Vec<Sample> = whole.iter().flat_map(each_line).collect();
    [whole, lines].concat()
}

/// How a file in `mapped` is to be read.
pub(super) fn mapped_format(name: &str) -> DatasetFormat {
    let base = DatasetFormat { recognize: true, ..DatasetFormat::default() };
    match name.split('.').next().unwrap() {
        "paths" => {
            DatasetFormat { columns: "input=q.text,target=gold,category=kind".parse().unwrap(), ..base }
        }
        "choices" => DatasetFormat {
            columns: "input=q.text,target=gold,options=first+second".parse().unwrap(),
            ..base
        },
        "boxed" => DatasetFormat { target: TargetExtraction::Boxed, ..base },
        "regex" => {
            DatasetFormat { target: TargetExtraction::Regex(Regex::new(r"#### (\S+)").unwrap()), ..base }
        }
        "headless" => DatasetFormat {
            header: Some(["q", "first", "second", "key"].map(str::to_owned).to_vec()),
            columns: "input=q,options=first+second,target=key".parse().unwrap(),
            ..base
        },
        "skipping" => DatasetFormat { skip_invalid: true, ..base },
        other => panic!("no format for `{other}`"),
    }
}

/// A dataset folder with a card, two subsets and shards.
pub(super) fn dataset_folder() -> Vec<Sample> {
    let row = |question: &str| {
        format!("{{\"question\": \"{question}\", \"answer\": \"So.\\n#### 7\"}}\n").into_bytes()
    };
    let card = "---\nlicense: mit\nconfigs:\n- config_name: default\n  data_files:\n  - split: test\n    path: data/test-*\n  \
                - split: train\n    path: \"data/train.csv\"\n- config_name: hard\n  data_files: hard/*.jsonl\n---\n\n# Sums\n";
    let files = [
        ("README.md", card.as_bytes().to_vec()),
        ("data/test-00000-of-00002.jsonl", row("3 + 4?")),
        ("data/test-00001-of-00002.jsonl", row("5 + 2?")),
        ("data/train.csv", b"question,answer\n1 + 6?,#### 7\n".to_vec()),
        ("hard/one.jsonl", row("7 * 1?")),
    ];
    files.into_iter().map(|(name, bytes)| Sample { name: name.to_owned(), bytes }).collect()
}

/// Logs of Inspect, without the one whose layout is not supported.
pub(super) fn inspect_logs() -> Vec<Sample> {
    let mut logs = files("crates/ingest/tests/logs/inspect", "*");
    logs.retain(|log| log.name != "chunked.eval");
    logs
}

/// The cases of the corpus of scored replies.
fn scored_cases() -> Vec<serde_json::Value> {
    let corpus = files("crates/core/tests/corpus", "jsonl").remove(0);
    let text = String::from_utf8(corpus.bytes).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A target and a reply in each.
pub(super) fn replies() -> Vec<Sample> {
    let pair = |case: &serde_json::Value| {
        format!("{}\n{}", case["target"].as_str().unwrap(), case["reply"].as_str().unwrap())
    };
    scored_cases()
        .iter()
        .map(|case| Sample { name: "reply".to_owned(), bytes: pair(case).into_bytes() })
        .collect()
}

/// Two formulas in each.
pub(super) fn formulas() -> Vec<Sample> {
    let mut samples = replies();
    let cases = scored_cases();
    let mut is_math = cases.iter().map(|case| case["scorer"] == "math");
    samples.retain(|_| is_math.next().unwrap_or(false));
    samples
}

/// Reasoning with equations.
pub(super) fn reasoning() -> Vec<Sample> {
    let mut samples = files("crates/metrics/tests/fixtures/equations", "*");
    samples.extend(files("crates/metrics/tests/fixtures", "tsv"));
    // Single lines, so that a change of one matters, and all of them together.
    let lines = samples.iter().flat_map(|sample| {
        let text = String::from_utf8_lossy(&sample.bytes).into_owned();
        text.lines().map(|line| line.as_bytes().to_vec()).collect::<Vec<_>>()
    });
    let lines: Vec<Sample> = lines.map(|bytes| Sample { name: "reasoning".to_owned(), bytes }).collect();
    [samples, lines].concat()
}

/// Parquet files with texts, numbers and lists, with each kind of compression.
pub(super) fn parquet_files() -> Vec<Sample> {
    use parquet::basic::{BrotliLevel, Compression, Encoding, GzipLevel, ZstdLevel};
    use parquet::file::properties::WriterProperties;

    let inputs: ArrayRef =
        Arc::new(StringArray::from((0..40).map(|n| format!("What is {n} + 1?")).collect::<Vec<_>>()));
    let targets: ArrayRef = Arc::new(Int64Array::from_iter_values(1..41));
    let mut options = ListBuilder::new(StringBuilder::new());
    for number in 0..40 {
        options.values().append_value(number.to_string());
        options.values().append_value((number + 1).to_string());
        options.append(true);
    }
    let options: ArrayRef = Arc::new(options.finish());
    let batch =
        RecordBatch::try_from_iter([("input", inputs), ("target", targets), ("options", options)]).unwrap();
    let write = |compression: Compression, encoding: Option<Encoding>| {
        let mut properties = WriterProperties::builder().set_compression(compression);
        if let Some(encoding) = encoding {
            properties = properties
                .set_dictionary_enabled(false)
                .set_column_encoding(parquet::schema::types::ColumnPath::from("input"), encoding);
        }
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties.build())).unwrap();
        writer.write(&batch).unwrap();
        Sample { name: "rows.parquet".to_owned(), bytes: writer.into_inner().unwrap() }
    };
    vec![
        write(Compression::UNCOMPRESSED, None),
        write(Compression::ZSTD(ZstdLevel::default()), None),
        write(Compression::SNAPPY, None),
        write(Compression::GZIP(GzipLevel::default()), None),
        write(Compression::BROTLI(BrotliLevel::default()), None),
        write(Compression::LZ4_RAW, None),
        write(Compression::UNCOMPRESSED, Some(Encoding::DELTA_BYTE_ARRAY)),
        write(Compression::UNCOMPRESSED, Some(Encoding::DELTA_LENGTH_BYTE_ARRAY)),
    ]
}

/// Writes a study of two evaluations with trials.
pub(super) fn write_study(folder: &Path) {
    for (id, name) in [("a00001", "first"), ("b00002", "second")] {
        let mut writer = UnitWriter::new(folder, eval_info(id, name, &["arch:moe"]), "add").unwrap();
        for length in [4, 16] {
            let outcome = |index: u64| match index % 4 {
                0 => Outcome::Incorrect,
                1 => Outcome::Truncated,
                _ => Outcome::Correct,
            };
            writer
                .write_point(PointTrials {
                    params: format!("{{\"depth\": 1, \"length\": {length}}}"),
                    manifolds: vec!["all".to_owned()],
                    planned: 20,
                    trials: (0..20).map(|index| trial(index, outcome(index), 0.25)).collect(),
                    ..PointTrials::default()
                })
                .unwrap();
        }
        writer.finish(&provenance()).unwrap();
    }
}

/// The Parquet files of a study and its manifest, with their paths in it.
pub(super) fn study_files() -> Vec<Sample> {
    fn walk(folder: &Path, root: &Path, found: &mut Vec<Sample>) {
        let mut paths: Vec<PathBuf> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                walk(&path, root, found);
            } else if path.extension().is_some_and(|extension| extension == "parquet" || extension == "json")
            {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                found.push(Sample { name, bytes: fs::read(&path).unwrap() });
            }
        }
    }
    let folder = tempfile::TempDir::new().unwrap();
    write_study(folder.path());
    let mut found = Vec::new();
    walk(folder.path(), folder.path(), &mut found);
    found
}
