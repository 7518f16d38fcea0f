//! Every reader takes mutated input without a panic, a hang or unbounded memory.
//!
//! A target is one line in [`targets`]. Each runs in a process of its own for five seconds, or for
//! `REASONSCAPE_MUTATION_SECONDS`; the same input numbers are tried every time. A failure names the input and keeps it in
//! the temporary directory; `REASONSCAPE_MUTATION_FIRST=NUMBER` starts there. Every input that mutations start from must be
//! accepted as it is: one that is refused at once tests the first check of a reader and nothing behind it.

#![cfg(target_os = "linux")]

mod corpus;
mod mutate;

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use reasonscape_analysis::answer_files::{AnswerOptions, summarize_stream};
use reasonscape_cache::Cache;
use reasonscape_core::{Json, Reply, Scorer, Suite, Test, extract};
use reasonscape_ingest::Progress;
use reasonscape_ingest::dataset_reader::DatasetFormat;
use reasonscape_ingest::logs::{LogOptions, Logs};
use reasonscape_metrics::{check_steps, check_truncated_steps};
use reasonscape_points::{Column, Filter, PointsDb, PointsError, query_parquet_file};
use reasonscape_stats::Mode;
use reasonscape_study::{Sampler, Study, Template};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use self::corpus::{
    Sample, committed, files, formulas, lines, parquet_files, reasoning, replies, study_files,
};
use self::mutate::mutated;
use crate::test_env::start_server;

const TARGET: &str = "REASONSCAPE_MUTATION_TARGET";
const SECONDS: &str = "REASONSCAPE_MUTATION_SECONDS";
const FIRST: &str = "REASONSCAPE_MUTATION_FIRST";
/// A file that takes a second to decode is worth nothing here.
const MEMORY_LIMIT: &str = "64MiB";
/// No input of a few kilobytes may take longer; most take less than a millisecond.
const MAX_INPUT_SECONDS: u64 = 30;
/// Resident memory of a process; the test build alone takes about 150 MB.
const MAX_RESIDENT: u64 = 700 << 20;

/// Reads one input, and returns whether it was accepted.
type Reader = Box<dyn FnMut(&Sample) -> bool>;

/// The valid inputs of a target, and its reader.
fn target(name: &str) -> (Vec<Sample>, Reader) {
    let env = Env::new();
    match name {
        "suite" => (files("suites", "toml"), Box::new(|input| Suite::parse(&text(input)).is_ok())),
        "study" => (
            committed("study"),
            Box::new(move |input| {
                accepted(Study::parse(&text(input), env.path()).map_err(|error| error.to_string()))
            }),
        ),
        "lock" => (committed("lock"), Box::new(move |input| env.read_lock(input))),
        "template" => (
            [committed("template"), files("templates", "toml")].concat(),
            Box::new(|input| accepted(Template::parse("mine", "t", &text(input)))),
        ),
        "sampler" => {
            (files("samplers", "toml"), Box::new(|input| accepted(Sampler::parse("mine", "s", &text(input)))))
        }
        "json" => (corpus::json(), Box::new(|input| Json::parse(&text(input)).is_ok())),
        "dataset" => {
            (committed("rows"), Box::new(move |input| env.read_dataset(input, &DatasetFormat::default())))
        }
        "layouts" => (committed("layouts"), Box::new(move |input| env.read_dataset(input, &recognizing()))),
        "mapped" => (
            committed("mapped"),
            Box::new(move |input| env.read_dataset(input, &corpus::mapped_format(&input.name))),
        ),
        "folder" => (corpus::dataset_folder(), Box::new(move |input| env.read_dataset_folder(input))),
        "parquet" => {
            (parquet_files(), Box::new(move |input| env.read_dataset(input, &DatasetFormat::default())))
        }
        "parquet_sql" => (parquet_files(), Box::new(move |input| env.query_file(input))),
        "points" => (study_files(), Box::new(move |input| env.open_study(input, true))),
        "points_unlisted" => (
            study_files().into_iter().filter(|file| file.name != "manifest.json").collect(),
            Box::new(move |input| env.open_study(input, false)),
        ),
        "extraction" => (replies(), Box::new(score_reply)),
        "math" => (formulas(), Box::new(compare_formulas)),
        "equations" => (reasoning(), Box::new(check_equations)),
        "answers" => (files("examples", "jsonl"), Box::new(read_answers)),
        "score" => (
            [committed("score"), files("examples", "csv")].concat(),
            Box::new(move |input| {
                let path = env.write(input);
                run(&["score", path.to_str().unwrap()])
            }),
        ),
        "lm_eval" => (
            files("crates/ingest/tests/logs/lm-eval/chat/small", "*"),
            Box::new(move |input| env.read_lm_eval(input)),
        ),
        "inspect" => (corpus::inspect_logs(), Box::new(move |input| env.read_inspect(input))),
        "cache_import" => (corpus::cache_exports(), Box::new(move |input| env.import_entries(input))),
        "filter" => (lines("filter"), Box::new(env.filter())),
        "sql" => (lines("sql"), Box::new(env.sql())),
        "http" => env.http(),
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
    suite study lock template sampler json dataset layouts mapped folder parquet parquet_sql points points_unlisted extraction math
    equations answers score lm_eval inspect cache_import filter sql http
}

/// Runs a target in another process, since a stack overflow ends the process and memory is that of the process.
fn run_target(name: &str) {
    // In memory: databases and studies are synced for every input.
    let folder = TempDir::new_in("/dev/shm").unwrap_or_else(|_| TempDir::new().unwrap());
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["mutations::run_one_target", "--exact", "--nocapture", "--include-ignored"])
        .env(TARGET, name)
        .env("TMPDIR", folder.path())
        .env("REASONSCAPE_MEMORY_LIMIT", MEMORY_LIMIT)
        .env_remove("RUST_BACKTRACE")
        .stdout(Stdio::null())
        .output()
        .unwrap();
    // Commands report what they refuse there, thousands of times.
    let said = String::from_utf8_lossy(&output.stderr);
    let last: Vec<&str> = said.lines().rev().take(20).collect();
    if !output.status.success() {
        let kept = std::env::temp_dir().join(format!("mutation-{name}"));
        let _ = fs::copy(folder.path().join("input"), &kept);
        let number = fs::read_to_string(folder.path().join("number")).unwrap_or_default();
        let said: Vec<&str> = last.into_iter().rev().collect();
        panic!(
            "{} at input {number}, kept in {}; rerun with {FIRST}={number}\n{}",
            output.status,
            kept.display(),
            said.join("\n")
        );
    }
    let _ = writeln!(std::io::stderr(), "{}", last.first().unwrap_or(&""));
}

fn number_from(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(default)
}

#[test]
#[ignore = "run by the tests of the targets"]
fn run_one_target() {
    static STARTED: AtomicU64 = AtomicU64::new(0);
    let Ok(name) = std::env::var(TARGET) else { return };
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
    for sample in &samples {
        STARTED.store(now(), Ordering::Relaxed);
        let start = String::from_utf8_lossy(&sample.bytes[..sample.bytes.len().min(200)]);
        assert!(read(sample), "{name}: `{}` is refused as it is: {start}", sample.name);
    }
    let first = number_from(FIRST, 0);
    let (mut number, mut accepted) = (first, 0);
    let end = now() + seconds;
    while now() < end || number < first + 20 {
        let input = mutated(&samples, number as i64);
        fs::write(folder.join("input"), &input.bytes).unwrap();
        fs::write(folder.join("number"), number.to_string()).unwrap();
        STARTED.store(now(), Ordering::Relaxed);
        accepted += u64::from(read(&input));
        number += 1;
    }
    let peak = peak_bytes("self");
    let _ = writeln!(
        std::io::stderr(),
        "{name}: {} inputs, {accepted} accepted, {} MB",
        number - first,
        peak >> 20
    );
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

/// Whether there is no error. Errors are formatted, which may fail as well.
fn accepted<T, E: std::fmt::Display>(result: Result<T, E>) -> bool {
    result.map_err(|error| error.to_string()).is_ok()
}

/// Runs a command in this process.
fn run(arguments: &[&str]) -> bool {
    let code = reasonscape::run(["reasonscape"].iter().chain(arguments).chain(&["--quiet"]));
    assert!([ExitCode::SUCCESS, ExitCode::from(2)].contains(&code), "{arguments:?}: {code:?}");
    code == ExitCode::SUCCESS
}

fn recognizing() -> DatasetFormat {
    DatasetFormat { recognize: true, ..DatasetFormat::default() }
}

/// A target and a reply: the answer in it, by every scorer.
fn score_reply(input: &Sample) -> bool {
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
    true
}

/// Two formulas: every one equals itself, and equality has no direction.
fn compare_formulas(input: &Sample) -> bool {
    let text = text(input);
    let (a, b) = text.split_once('\n').unwrap_or((&text, &text));
    let equal = |a: &str, b: &str| Scorer::Math.score(a, &Test::free_form(String::new(), b)).is_correct;
    assert!(equal(a, a) && equal(b, b));
    equal(a, b);
    equal(b, a);
    Scorer::Math.is_decidable(a);
    true
}

fn check_equations(input: &Sample) -> bool {
    let text = text(input);
    let steps = check_steps(&text);
    // Each is a part of the reasoning, on the line that is named.
    assert!(
        steps.iter().all(|step| text.lines().nth(step.line - 1).is_some_and(|line| line.contains(step.text)))
    );
    check_truncated_steps(&text);
    true
}

fn read_answers(input: &Sample) -> bool {
    let (options, progress) = (AnswerOptions::default(), Progress::default());
    accepted(summarize_stream("answers", input.bytes.as_slice(), &options, 10, &progress, &mut []))
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

    /// A study that means the version in its record.
    fn read_lock(&self, input: &Sample) -> bool {
        fs::write(self.path().join("tasks.lock"), &input.bytes).unwrap();
        let text = "suite = \"quick\"\n[[eval]]\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:9/v1\"\n";
        accepted(Study::parse(text, self.path()))
    }

    fn read_dataset(&self, input: &Sample, format: &DatasetFormat) -> bool {
        accepted(format.read(&self.write(input)))
    }

    /// Reads a dataset folder in which one file is mutated.
    fn read_dataset_folder(&self, input: &Sample) -> bool {
        let folder = self.path().join("folder");
        for sample in corpus::dataset_folder() {
            let path = folder.join(&sample.name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, if sample.name == input.name { &input.bytes } else { &sample.bytes }).unwrap();
        }
        let subsets = [None, Some("hard")];
        subsets.into_iter().fold(true, |all, subset| {
            let format = DatasetFormat { subset: subset.map(str::to_owned), ..recognizing() };
            accepted(format.read(&folder)) && all
        })
    }

    fn query_file(&self, input: &Sample) -> bool {
        let path = self.write(input);
        self.runtime
            .block_on(async {
                let mut result = query_parquet_file(&path, "SELECT * FROM results").await?;
                while result.next().await?.is_some() {}
                Ok::<_, PointsError>(())
            })
            .is_ok()
    }

    /// Opens a study in which one file is mutated. Without a manifest there is no hash to fail at.
    fn open_study(&self, input: &Sample, is_listed: bool) -> bool {
        let study = self.path().join("study");
        if !study.exists() {
            corpus::write_study(&study);
            if !is_listed {
                fs::remove_file(study.join("manifest.json")).unwrap();
            }
        }
        let path = study.join(&input.name);
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &input.bytes).unwrap();
        let read = self.runtime.block_on(async {
            let db = PointsDb::open(&study).await?;
            let groups = db.aggregate(&[Column::Model], &Filter::default(), Mode::C_P.into()).await;
            let mut result = db.sql("SELECT * FROM trials").await?;
            while result.next().await?.is_some() {}
            groups.map(drop)
        });
        fs::write(&path, whole).unwrap();
        accepted(read)
    }

    fn read_lm_eval(&self, input: &Sample) -> bool {
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
        Logs::open_lm_eval(&[folder], &options).is_ok_and(|logs| read_logs(&logs))
    }

    fn read_inspect(&self, input: &Sample) -> bool {
        let path = self.write(input);
        // This log has several scorers to choose from.
        let scorers = if input.name == "grade.eval" { vec!["graded".to_owned()] } else { Vec::new() };
        let options = LogOptions { scorers, ..LogOptions::default() };
        Logs::open_inspect(&[path], &options).is_ok_and(|logs| read_logs(&logs))
    }

    fn import_entries(&self, input: &Sample) -> bool {
        let (file, study) = (self.write(input), self.path().join("imported"));
        fs::create_dir(&study).unwrap();
        let is_imported = run(&["cache", "import", study.to_str().unwrap(), file.to_str().unwrap()]);
        // What was imported before an invalid line is sound.
        let reader = Cache::open(study.join("cache.sqlite")).unwrap().reader().unwrap();
        let verified = reader.verify(|_| ()).unwrap();
        assert!(verified.damaged.is_empty(), "{verified:?}");
        drop(reader);
        fs::remove_dir_all(study).unwrap();
        is_imported
    }

    fn open_db(&self) -> PointsDb {
        corpus::write_study(self.path());
        self.runtime.block_on(PointsDb::open(self.path())).unwrap()
    }

    fn filter(self) -> impl FnMut(&Sample) -> bool {
        let db = self.open_db();
        move |input| {
            let Ok(filter) = Filter::parse([text(input)]) else { return false };
            accepted(self.runtime.block_on(db.aggregate(&[Column::Model], &filter, Mode::C_P.into())))
        }
    }

    fn sql(self) -> impl FnMut(&Sample) -> bool {
        let db = self.open_db();
        move |input| {
            let query = text(input);
            let run = async {
                let mut result = db.sql(&query).await?;
                while result.next().await?.is_some() {}
                Ok::<_, PointsError>(())
            };
            // A mutated query may be a valid one that takes long.
            let run = async { tokio::time::timeout(Duration::from_secs(5), run).await };
            self.runtime.block_on(run).is_ok_and(accepted)
        }
    }

    fn http(self) -> (Vec<Sample>, Reader) {
        corpus::write_study(self.path());
        let (child, url) = start_server(&["serve", self.path().to_str().unwrap(), "--port", "0"], &[]);
        let server = HttpServer { child, address: url[7..].trim_end_matches('/').to_owned() };
        let trials = server.get(b"/api/v1/trials?limit=1");
        let (_, point) = trials.split_once("\"point\":\"").expect(&trials);
        let point = point.split('"').next().unwrap().to_owned();
        let named =
            |sample: Sample| Sample { bytes: text(&sample).replace("POINT", &point).into(), ..sample };
        let samples = lines("http").into_iter().map(named).collect();
        let read = move |input: &Sample| {
            let _ = &self;
            let reply = server.get(&input.bytes);
            reply.starts_with("HTTP/1.1 200") || reply.starts_with("HTTP/1.1 303")
        };
        (samples, Box::new(read))
    }
}

fn read_logs(logs: &Logs) -> bool {
    logs.iter().fold(true, |all, log| {
        let read = log.read(&Progress::default(), || (), |(), _| Ok(()), &mut |_| ControlFlow::Continue(()));
        accepted(read) && all
    })
}

struct HttpServer {
    child: std::process::Child,
    address: String,
}

impl HttpServer {
    /// The response to a GET.
    fn get(&self, target: &[u8]) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let head = format!(" HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address);
        // The server may answer before it has read everything.
        let _ = stream.write_all(&[b"GET ", target, head.as_bytes()].concat());
        let mut reply = Vec::new();
        let _ = stream.read_to_end(&mut reply);
        let reply = String::from_utf8_lossy(&reply).into_owned();
        assert!(!reply.starts_with("HTTP/1.1 500"), "{reply}");
        let peak = peak_bytes(&self.child.id().to_string());
        assert!(peak < MAX_RESIDENT, "{} MB", peak >> 20);
        reply
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
