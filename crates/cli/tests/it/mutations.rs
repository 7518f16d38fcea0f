//! Every reader takes mutated input without a panic, a hang or unbounded memory.
//!
//! A target is one line in [`targets`]. Each runs in a process of its own for five seconds, or for
//! `REASONSCAPE_MUTATION_SECONDS`; the same input numbers are tried every time. A failure names the input and keeps it in
//! the temporary directory; `REASONSCAPE_MUTATION_FIRST=NUMBER` starts there.

#![cfg(target_os = "linux")]

mod corpus;
mod mutate;

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use reasonscape_analysis::answer_files::{AnswerOptions, summarize_stream};
use reasonscape_cache::{Cache, ExportLine};
use reasonscape_core::{Json, Reply, Scorer, Suite, Test, extract};
use reasonscape_ingest::Progress;
use reasonscape_ingest::dataset_reader::DatasetFormat;
use reasonscape_ingest::logs::{LogOptions, Logs};
use reasonscape_metrics::{check_steps, check_truncated_steps};
use reasonscape_points::{Column, Filter, PointsDb, query_parquet_file};
use reasonscape_stats::Mode;
use reasonscape_study::{Study, Template};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use self::corpus::{
    Sample, committed, files, formulas, lines, parquet_files, reasoning, replies, study_files,
};
use self::mutate::mutated;
use crate::test_env::{reasonscape_with, start_server};

const TARGET: &str = "REASONSCAPE_MUTATION_TARGET";
const SECONDS: &str = "REASONSCAPE_MUTATION_SECONDS";
const FIRST: &str = "REASONSCAPE_MUTATION_FIRST";
/// No input of a few kilobytes may take longer; most take less than a millisecond.
const MAX_INPUT_SECONDS: u64 = 30;
/// Resident memory of a process; the test build alone takes about 150 MB.
const MAX_RESIDENT: u64 = 700 << 20;

/// Reads one input.
type Reader = Box<dyn FnMut(&Sample)>;

/// The valid inputs of a target, and its reader.
fn target(name: &str) -> (Vec<Sample>, Reader) {
    let env = Env::new();
    match name {
        "suite" => (files("suites", "toml"), Box::new(|input| drop(Suite::parse(&text(input))))),
        "study" => (committed("study"), Box::new(move |input| drop(Study::parse(&text(input), env.path())))),
        "template" => {
            (committed("template"), Box::new(|input| drop(Template::parse("mine", "t", &text(input)))))
        }
        "json" => (committed("rows"), Box::new(|input| drop(Json::parse(&text(input))))),
        "dataset" => (
            committed("rows"),
            Box::new(move |input| drop(DatasetFormat::default().items(&env.write(input)))),
        ),
        "parquet" => {
            (parquet_files(), Box::new(move |input| drop(DatasetFormat::default().items(&env.write(input)))))
        }
        "parquet_sql" => (parquet_files(), Box::new(move |input| env.query_file(input))),
        "points" => (study_files(), Box::new(move |input| env.open_study(input))),
        "extraction" => (replies(), Box::new(score_reply)),
        "math" => (formulas(), Box::new(compare_formulas)),
        "equations" => (reasoning(), Box::new(check_equations)),
        "answers" => (files("examples", "jsonl"), Box::new(read_answers)),
        "score" => (files("examples", "csv"), Box::new(run_score)),
        "lm_eval" => (
            files("crates/ingest/tests/logs/lm-eval/chat/small", "*"),
            Box::new(move |input| env.read_lm_eval(input)),
        ),
        "inspect" => {
            (files("crates/ingest/tests/logs/inspect", "*"), Box::new(move |input| env.read_inspect(input)))
        }
        "cache_import" => (committed("cache"), Box::new(move |input| env.import_entries(input))),
        "filter" => (lines("filter"), Box::new(env.filter())),
        "sql" => (lines("sql"), Box::new(env.sql())),
        "http" => (lines("http"), Box::new(env.http())),
        other => panic!("no mutation target `{other}`"),
    }
}

macro_rules! targets {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                run_target(stringify!($name));
            }
        )*
    };
}

targets! {
    suite study template json dataset parquet parquet_sql points extraction math equations answers score lm_eval inspect cache_import
    filter sql http
}

/// Runs a target in another process, since a stack overflow ends the process and memory is that of the process.
fn run_target(name: &str) {
    let folder = TempDir::new().unwrap();
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["mutations::run_one_target", "--exact", "--nocapture", "--include-ignored"])
        .env(TARGET, name)
        .env("TMPDIR", folder.path())
        .status()
        .unwrap();
    if !status.success() {
        let kept = std::env::temp_dir().join(format!("mutation-{name}"));
        let _ = fs::copy(folder.path().join("input"), &kept);
        let number = fs::read_to_string(folder.path().join("number")).unwrap_or_default();
        panic!("{status} at input {number}, kept in {}; rerun with {FIRST}={number}", kept.display());
    }
}

fn number_from(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(default)
}

#[test]
#[ignore = "run by the tests of the targets"]
fn run_one_target() {
    static STARTED: AtomicU64 = AtomicU64::new(0);
    let Ok(name) = std::env::var(TARGET) else { return };
    // A file that takes a second to decode is worth nothing here.
    reasonscape_limits::set_memory_limit(64 << 20);
    let seconds = number_from(SECONDS, 5);
    let (samples, mut read) = target(&name);
    let folder = std::env::temp_dir();
    let begin = Instant::now();
    let now = move || begin.elapsed().as_secs();
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            if now() > STARTED.load(Ordering::Relaxed) + MAX_INPUT_SECONDS {
                let _ = writeln!(std::io::stderr(), "an input takes more than {MAX_INPUT_SECONDS} s");
                std::process::abort();
            }
        }
    });
    let first = number_from(FIRST, 0);
    let mut number = first;
    while now() < seconds || number < first + 20 {
        let input = mutated(&samples, number as i64);
        fs::write(folder.join("input"), &input.bytes).unwrap();
        fs::write(folder.join("number"), number.to_string()).unwrap();
        STARTED.store(now(), Ordering::Relaxed);
        read(&input);
        number += 1;
    }
    let peak = peak_bytes("self");
    let _ = writeln!(std::io::stderr(), "{name}: {} inputs, {} MB", number - first, peak >> 20);
    assert!(peak < MAX_RESIDENT, "{name}: {} MB", peak >> 20);
}

/// The highest resident memory of a process so far.
fn peak_bytes(process: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

fn text(input: &Sample) -> String {
    String::from_utf8_lossy(&input.bytes).into_owned()
}

/// A target and a reply: the answer in it, by every scorer.
fn score_reply(input: &Sample) {
    let text = text(input);
    let (target, reply) = text.split_once('\n').unwrap_or(("42", &text));
    let found = extract(&Reply::from(reply));
    drop(found.thoughts());
    let options = ["rain", "rain or snow", "42", "B"].map(str::to_owned).to_vec();
    for options in [Vec::new(), options] {
        let test = Test { options, ..Test::free_form(String::new(), target) };
        for scorer in Scorer::ALL {
            let _ = scorer.target_problem(target);
            if let Some(answer) = &found.answer {
                scorer.score(answer, &test);
            }
        }
        assert!(Scorer::Exact.score(target, &test).is_correct, "the target itself is correct");
    }
}

/// Two formulas: every one equals itself, and equality has no direction.
fn compare_formulas(input: &Sample) {
    let text = text(input);
    let (a, b) = text.split_once('\n').unwrap_or((&text, &text));
    let equal = |a: &str, b: &str| Scorer::Math.score(a, &Test::free_form(String::new(), b)).is_correct;
    assert!(equal(a, a) && equal(b, b));
    equal(a, b);
    equal(b, a);
    Scorer::Math.is_decidable(a);
}

fn check_equations(input: &Sample) {
    let text = text(input);
    let steps = check_steps(&text);
    // Each is a part of the reasoning, on the line that is named.
    assert!(
        steps.iter().all(|step| text.lines().nth(step.line - 1).is_some_and(|line| line.contains(step.text)))
    );
    check_truncated_steps(&text);
}

fn read_answers(input: &Sample) {
    let (options, progress) = (AnswerOptions::default(), Progress::default());
    let _ = summarize_stream("answers", input.bytes.as_slice(), &options, 10, &progress, &mut []);
}

fn run_score(input: &Sample) {
    let run = reasonscape_with(&["score", "-"], input.bytes.clone());
    assert!(matches!(run.code, 0 | 2), "{run:?}");
}

/// A folder for files, and a runtime for queries.
struct Env {
    folder: TempDir,
    runtime: Runtime,
}

impl Env {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let suite = &files("suites", "toml")[0];
        fs::write(folder.path().join("small.toml"), &suite.bytes).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        Self { folder, runtime }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, input: &Sample) -> PathBuf {
        let path = self.path().join(&input.name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &input.bytes).unwrap();
        path
    }

    fn query_file(&self, input: &Sample) {
        let path = self.write(input);
        self.runtime.block_on(async {
            if let Ok(mut result) = query_parquet_file(&path, "SELECT * FROM results").await {
                while let Ok(Some(_)) = result.next().await {}
            }
        });
    }

    /// Opens a study in which one file is mutated.
    fn open_study(&self, input: &Sample) {
        let study = self.path().join("study");
        if !study.exists() {
            corpus::write_study(&study);
        }
        let path = study.join(&input.name);
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &input.bytes).unwrap();
        self.runtime.block_on(async {
            if let Ok(db) = PointsDb::open(&study).await {
                let _ = db.aggregate(&[Column::Model], &Filter::default(), Mode::C_P.into()).await;
                if let Ok(mut result) = db.sql("SELECT * FROM trials").await {
                    while let Ok(Some(_)) = result.next().await {}
                }
            }
        });
        fs::write(&path, whole).unwrap();
    }

    fn read_lm_eval(&self, input: &Sample) {
        let folder = self.path().join("logs");
        for sample in files("crates/ingest/tests/logs/lm-eval/chat/small", "*") {
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(&sample.name), &sample.bytes).unwrap();
        }
        fs::write(folder.join(&input.name), &input.bytes).unwrap();
        let options = LogOptions {
            metrics: vec!["exact_match".to_owned(), "hit".to_owned()],
            filters: vec!["strict-match".to_owned()],
            ..LogOptions::default()
        };
        read_logs(Logs::open_lm_eval(&[folder], &options).ok().as_ref());
    }

    fn read_inspect(&self, input: &Sample) {
        let path = self.write(input);
        read_logs(Logs::open_inspect(&[path], &LogOptions::default()).ok().as_ref());
    }

    fn import_entries(&self, input: &Sample) {
        let cache = Cache::open(self.path().join("cache.sqlite")).unwrap();
        let mut importer = cache.importer().unwrap();
        for line in text(input).lines() {
            if let Ok(line) = ExportLine::parse(line) {
                importer.add_line(line).unwrap();
            }
        }
        importer.finish().unwrap();
        drop(cache);
        for file in ["cache.sqlite", "cache.sqlite-wal", "cache.sqlite-shm"] {
            let _ = fs::remove_file(self.path().join(file));
        }
    }

    fn open_db(&self) -> PointsDb {
        corpus::write_study(self.path());
        self.runtime.block_on(PointsDb::open(self.path())).unwrap()
    }

    fn filter(self) -> impl FnMut(&Sample) {
        let db = self.open_db();
        move |input| {
            if let Ok(filter) = Filter::parse([text(input)]) {
                let _ = self.runtime.block_on(db.aggregate(&[Column::Model], &filter, Mode::C_P.into()));
            }
        }
    }

    fn sql(self) -> impl FnMut(&Sample) {
        let db = self.open_db();
        move |input| {
            let query = text(input);
            let run = async {
                if let Ok(mut result) = db.sql(&query).await {
                    while let Ok(Some(_)) = result.next().await {}
                }
            };
            // A mutated query may be a valid one that takes long.
            let _ = self.runtime.block_on(async { tokio::time::timeout(Duration::from_secs(5), run).await });
        }
    }

    fn http(self) -> impl FnMut(&Sample) {
        corpus::write_study(self.path());
        let (child, url) = start_server(&["serve", self.path().to_str().unwrap(), "--port", "0"], &[]);
        let server = HttpServer { child, address: url[7..].trim_end_matches('/').to_owned() };
        move |input| {
            let _ = &self;
            server.get(&input.bytes);
        }
    }
}

fn read_logs(logs: Option<&Logs>) {
    for log in logs.into_iter().flat_map(Logs::iter) {
        let read = log.read(&Progress::default(), || (), |(), _| Ok(()), &mut |_| ControlFlow::Continue(()));
        drop(read);
    }
}

struct HttpServer {
    child: std::process::Child,
    address: String,
}

impl HttpServer {
    fn get(&self, target: &[u8]) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let head = format!(" HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address);
        // The server may answer before it has read everything.
        let _ = stream.write_all(&[b"GET ", target, head.as_bytes()].concat());
        let mut reply = Vec::new();
        let _ = stream.read_to_end(&mut reply);
        assert!(!reply.starts_with(b"HTTP/1.1 500"), "{}", String::from_utf8_lossy(&reply));
        let peak = peak_bytes(&self.child.id().to_string());
        assert!(peak < MAX_RESIDENT, "{} MB", peak >> 20);
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
