//! Uploads that are small and would need gigabytes, or would compute for minutes.

use std::io::Write;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use arrow::array::{ArrayRef, DictionaryArray, RecordBatch, StringArray};
use arrow::datatypes::Int32Type;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::{Reply, RunsEnv};
use crate::test_env::wait_until;

/// Memory that the server may take with the limit of these tests.
const LIMIT: &str = "64MiB";
const MAX_RESIDENT: u64 = 400 << 20;

fn env() -> RunsEnv {
    RunsEnv::with("", None, &[("REASONSCAPE_MEMORY_LIMIT", LIMIT)])
}

/// A Parquet file of these columns, compressed.
fn parquet(columns: Vec<(&str, ArrayRef)>, has_dictionary: bool) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(19).unwrap()))
        .set_dictionary_enabled(has_dictionary)
        .set_dictionary_page_size_limit(1 << 30)
        .set_statistics_enabled(parquet::file::properties::EnabledStatistics::None)
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

/// One text, referred to by every row.
fn repeated(text: &str, rows: usize) -> ArrayRef {
    let keys = arrow::array::Int32Array::from(vec![0; rows]);
    let values: ArrayRef = Arc::new(StringArray::from(vec![text]));
    Arc::new(DictionaryArray::<Int32Type>::new(keys, values))
}

fn upload(env: &RunsEnv, name: &str, body: &[u8]) -> Reply {
    let head = format!(
        "POST /api/v1/datasets?name={name} HTTP/1.1\r\nConnection: close\r\nHost: {}\r\nContent-Length: {}\r\n\r\n",
        env.server.address,
        body.len()
    );
    env.server.send(&[head.as_bytes(), body].concat())
}

/// The highest resident memory of the server so far.
fn peak(env: &RunsEnv) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", env.server.child.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

fn assert_refused(env: &RunsEnv, name: &str, body: &[u8]) {
    let reply = upload(env, name, body);
    assert_eq!(reply.status, 413, "{reply:?}");
    assert!(reply.body.contains("--memory-limit"), "{reply:?}");
    assert!(peak(env) < MAX_RESIDENT, "{} MB", peak(env) >> 20);
    assert_eq!(env.server.get("/health").status, 200);
    let listed = env.server.get("/api/v1/datasets").json();
    assert_eq!(listed["datasets"].as_array().unwrap().len(), 0, "{listed}");
}

#[test]
fn refuses_a_dictionary_of_one_long_text() {
    let env = env();
    let text = "x".repeat(1 << 18);
    let rows = 4_000;
    let bomb = parquet(vec![("input", repeated(&text, rows)), ("target", repeated("1", rows))], true);
    assert!(bomb.len() < 4 << 10, "{} bytes stand for 1 GB", bomb.len());
    assert_refused(&env, "bomb.parquet", &bomb);
}

#[test]
fn refuses_one_text_of_hundreds_of_megabytes() {
    let env = env();
    let text: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(200 << 20)]));
    let bomb = parquet(vec![("input", text), ("target", Arc::new(StringArray::from(vec!["1"])))], false);
    assert!(bomb.len() < 64 << 10, "{} bytes", bomb.len());
    assert_refused(&env, "long.parquet", &bomb);
}

#[test]
fn accepts_an_ordinary_parquet_file_with_a_dictionary() {
    let env = env();
    let inputs: ArrayRef =
        Arc::new(StringArray::from((0..3000).map(|n| format!("What is {n} + 1?")).collect::<Vec<_>>()));
    let good = parquet(vec![("input", inputs), ("target", repeated("42", 3000))], true);
    let reply = upload(&env, "good.parquet", &good);
    assert_eq!(reply.status, 201, "{reply:?}");
    assert_eq!(reply.json()["rows"], 3000);
}

#[test]
fn finds_a_duplicate_among_many_columns_at_once() {
    let env = RunsEnv::new();
    let mut names: Vec<String> = (0..300_000).map(|column| format!("c{column}")).collect();
    names.push("c299999".to_owned());
    let reply = upload(&env, "wide.csv", format!("{}\n", names.join(",")).as_bytes());
    assert_eq!(reply.status, 400, "{reply:?}");
    assert!(reply.body.contains("duplicate column name `c299999`"), "{reply:?}");
}

#[test]
fn stops_reading_when_the_client_is_gone() {
    // Enough memory for all rows, which take much longer to read than the test waits.
    let env = RunsEnv::with("", None, &[("REASONSCAPE_MEMORY_LIMIT", "64GiB")]);
    let rows = 4_000_000;
    let bomb = parquet(vec![("input", repeated("x", rows)), ("target", repeated("1", rows))], true);
    let cpu = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", env.server.child.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    };
    let port = env.server.address.rsplit(':').next().unwrap();
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    let head = format!(
        "POST /api/v1/datasets?name=x.parquet HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n\r\n",
        env.server.address,
        bomb.len()
    );
    stream.write_all(&[head.as_bytes(), &bomb].concat()).unwrap();
    let before = cpu();
    wait_until("the server reads the file", || cpu() > before + 5);
    drop(stream);
    // Idle: two samples a while apart are equal.
    wait_until("the server is idle", || {
        let first = cpu();
        std::thread::sleep(Duration::from_millis(200));
        cpu() <= first + 1
    });
    assert_eq!(env.server.get("/health").status, 200);
    let temporary = std::fs::read_dir(env.folder().join("datasets")).map_or(0, Iterator::count);
    assert_eq!(temporary, 0, "the upload is removed");
}
