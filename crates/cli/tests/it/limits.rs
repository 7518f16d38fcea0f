//! Input that would take more time or memory than there is.

#![cfg(unix)]

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;

use reasonscape_core::Outcome;
use reasonscape_points::{PointTrials, UnitWriter};
use reasonscape_test_support::study_toml;
use serde_json::json;
use tempfile::TempDir;
use zip::write::SimpleFileOptions;

use crate::test_env::{
    Run, eval_info, provenance, reasonscape, reasonscape_costs, reasonscape_measured, trial,
};

/// Resident memory that the program may take with a limit of 64 MiB. The test build alone takes about 100 MB.
const MAX_RESIDENT: u64 = 400 << 20;

/// Runs with a limit of 64 MiB, and asserts that the limit is kept.
fn bounded(arguments: &[&str]) -> Option<Run> {
    let (run, peak) = reasonscape_measured(&[arguments, &["--memory-limit", "64MiB"]].concat())?;
    assert!(peak < MAX_RESIDENT, "{} MB: {arguments:?} {run:?}", peak >> 20);
    assert!(!run.stderr.contains("panicked"), "{run:?}");
    Some(run)
}

fn assert_refused(arguments: &[&str], says: &str) {
    let Some(run) = bounded(arguments) else { return };
    assert_eq!(run.code, 2, "{arguments:?} {run:?}");
    assert!(run.stderr.contains(says), "{arguments:?} {run:?}");
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn endless_files_are_refused_by_every_reader() {
    let folder = TempDir::new().unwrap();
    let link = |name: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        path.display().to_string()
    };
    let into = folder.path().join("into").display().to_string();
    let run = |file: &str| {
        assert_refused(
            &["run", file, "--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--into", &into],
            "more than",
        );
    };
    for name in ["zero.jsonl", "zero.json", "zero.csv", "zero.tsv"] {
        run(&link(name));
    }
    assert_refused(&["metrics", "/dev/zero"], "a line has more than 8 MiB");
    assert_refused(&["score", "/dev/zero"], "more than 16 MiB");
    assert_refused(&["key", "/dev/zero"], "more than 16 MiB");
    assert_refused(&["suite", "validate", "/dev/zero"], "more than 16 MiB");
    assert_refused(&["plan", &link("study/study.toml")], "more than 16 MiB");
    fs::create_dir_all(&into).unwrap();
    assert_refused(&["cache", "import", &into, "/dev/zero"], "a line has more than 8 MiB");
    let samples = link("logs/samples_t_2026-01-01T00-00-00.jsonl");
    assert_refused(&["import", "lm-eval", &samples, "--into", &into], "a line has more than 4 MiB");
    assert_refused(&["import", "inspect", &link("zero.eval"), "--into", &into], "not an Inspect log");
    link("demo/study.toml");
    assert_refused(&["demo", "--dir", text(&folder.path().join("demo"))], "contains another study");
    // The copy of a dataset, where a new study would put it.
    let rows = folder.path().join("rows.jsonl");
    fs::write(&rows, "{\"input\": \"1 + 1?\", \"target\": \"2\"}\n").unwrap();
    link("new/rows.jsonl");
    let new = folder.path().join("new").display().to_string();
    assert_refused(
        &["run", text(&rows), "--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--into", &new],
        "already exists",
    );
    // A file that stands for the state of a study counts as damaged, and one with a stored result as missing.
    link("damaged/manifest.json");
    assert_refused(&["analyze", "scores", text(&folder.path().join("damaged"))], "no trials yet");
}

#[test]
fn memory_limit_is_a_size() {
    for (arguments, says) in [
        (["key", "/dev/null", "--memory-limit", "1MiB"], "at least 64MiB"),
        (["key", "/dev/null", "--memory-limit", "much"], "`--memory-limit much`"),
        (["key", "/dev/null", "--memory-limit", "1.5GiB"], "`--memory-limit 1.5GiB`"),
        (["key", "/dev/null", "--memory-limit", "99999999999TiB"], "invalid memory limit"),
    ] {
        let run = reasonscape(&arguments);
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.stderr.contains(says), "{run:?}");
    }
    for size in ["67108864", "64MiB", "4g", "2 GB"] {
        let run = reasonscape(&["tasks", "--memory-limit", size]);
        assert_eq!(run.code, 0, "{run:?}");
    }
}

#[test]
fn a_line_may_be_longer_with_a_higher_limit() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("long.jsonl");
    let line = json!({ "input": "x".repeat(10 << 20), "target": "1", "answer": "1" });
    fs::write(&file, format!("{line}\n")).unwrap();
    assert_refused(&["metrics", text(&file)], "a line has more than 8 MiB");
    let run = reasonscape(&["metrics", text(&file), "--memory-limit", "1GiB"]);
    assert_eq!(run.code, 0, "{run:?}");
}

#[test]
fn metrics_of_a_file_larger_than_the_limit() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("many.jsonl");
    let mut out = std::io::BufWriter::new(fs::File::create(&file).unwrap());
    let filler = "x".repeat(20_000);
    for number in 0..12_000 {
        let line = json!({ "id": number.to_string(), "input": filler, "target": "1", "answer": "1" });
        writeln!(out, "{line}").unwrap();
    }
    out.flush().unwrap();
    drop(out);
    assert!(fs::metadata(&file).unwrap().len() > 3 * (64 << 20));
    let Some(run) = bounded(&["metrics", text(&file), "--format", "json"]) else { return };
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.contains("12000"), "{run:?}");
}

/// A study of three models whose names have so many characters. Imports and earlier versions wrote such files; a study.toml with
/// such a name is refused.
fn study_with_long_names(study: &Path, characters: usize) {
    for (id, letter) in [("a00001", "Modell-"), ("b00002", "WiWi"), ("c00003", "模型e\u{301}")] {
        let mut eval = eval_info(id, "", &["arch:moe"]);
        let repeats = characters.div_ceil(letter.chars().count());
        eval.model = letter.repeat(repeats);
        eval.name = eval.model.clone();
        for task in ["add", "sort"] {
            let mut writer = UnitWriter::new(study, eval.clone(), task).unwrap();
            for length in [4, 8] {
                let outcome = |index: u64| {
                    if index.is_multiple_of(3) { Outcome::Incorrect } else { Outcome::Correct }
                };
                writer
                    .write_point(PointTrials {
                        params: format!("{{\"length\": {length}}}"),
                        manifolds: vec!["all".to_owned()],
                        planned: 20,
                        trials: (0..20).map(|index| trial(index, outcome(index), 0.0)).collect(),
                        ..PointTrials::default()
                    })
                    .unwrap();
            }
            writer.finish(&provenance()).unwrap();
        }
    }
}

#[test]
fn names_of_40000_characters_are_drawn_in_linear_time() {
    // Quadratic work would be 64 times as much; processor time, so that a busy machine changes nothing.
    const FACTOR: usize = 8;
    const MAX_RATIO: f64 = 24.0;
    let folder = TempDir::new().unwrap();
    let studies = [40_000 / FACTOR, 40_000].map(|characters| {
        let study = folder.path().join(characters.to_string());
        study_with_long_names(&study, characters);
        text(&study).to_owned()
    });
    let output = |name: &str| folder.path().join(name).display().to_string();
    for arguments in [
        vec!["report", "STUDY", "-o", &output("report.html")],
        vec!["report", "STUDY", "-o", &output("report.md")],
        vec!["analyze", "scores", "STUDY"],
        vec!["analyze", "compare", "STUDY", "a00001", "b00002"],
        vec!["analyze", "tokens", "STUDY"],
        vec!["analyze", "cluster", "STUDY"],
    ] {
        let mut seconds = Vec::new();
        for study in &studies {
            let arguments: Vec<&str> =
                arguments.iter().map(|word| if *word == "STUDY" { study } else { *word }).collect();
            let Some((run, _, took)) = reasonscape_costs(&arguments) else { return };
            assert_eq!(run.code, 0, "{arguments:?}: {run:?}");
            seconds.push(took);
        }
        assert!(seconds[1] < MAX_RATIO * seconds[0], "{arguments:?}: {seconds:?}");
    }
}

/// An Inspect log with a sample of so many bytes.
fn eval_log(path: &Path, sample_bytes: usize) {
    let mut zip = zip::ZipWriter::new(fs::File::create(path).unwrap());
    let options = SimpleFileOptions::default();
    zip.start_file("header.json", options).unwrap();
    let header = json!({ "status": "success", "eval": { "task": "t", "model": "m", "created": "2026" } });
    zip.write_all(header.to_string().as_bytes()).unwrap();
    zip.start_file("samples/1_epoch_1.json", options).unwrap();
    let sample = json!({ "id": 1, "epoch": 1, "input": "", "target": "1",
                         "scores": { "match": { "value": "C" } } });
    let sample = sample.to_string();
    let (head, tail) = sample.split_once("\"input\":\"").unwrap();
    zip.write_all(format!("{head}\"input\":\"").as_bytes()).unwrap();
    for _ in 0..sample_bytes >> 20 {
        zip.write_all(&vec![b'x'; 1 << 20]).unwrap();
    }
    zip.write_all(tail.as_bytes()).unwrap();
    zip.finish().unwrap();
}

#[test]
fn refuses_a_zip_bomb_in_an_inspect_log() {
    let folder = TempDir::new().unwrap();
    let (log, into) = (folder.path().join("bomb.eval"), folder.path().join("study"));
    eval_log(&log, 600 << 20);
    let bytes = fs::read(&log).unwrap();
    assert!(bytes.len() < 1 << 20, "{} bytes", bytes.len());
    assert_refused(
        &["import", "inspect", text(&log), "--into", text(&into)],
        "has 600 MiB, but at most 4 MiB",
    );

    // The same with a directory that claims a small sample.
    let (size, claimed) = ((600_u32 << 20).to_le_bytes(), 1000_u32.to_le_bytes());
    let mut lying = bytes.clone();
    let directory = bytes.windows(4).rposition(|window| window == b"PK\x01\x02").unwrap();
    let real = u32::from_le_bytes(bytes[directory + 24..directory + 28].try_into().unwrap());
    assert!(real >= u32::from_le_bytes(size));
    lying[directory + 24..directory + 28].copy_from_slice(&claimed);
    fs::write(&log, &lying).unwrap();
    let Some(run) = bounded(&["import", "inspect", text(&log), "--into", text(&into)]) else { return };
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("larger than"), "{run:?}");
}

#[test]
fn large_replies_are_received_one_after_the_other() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || {
                let _ = stream.read(&mut vec![0; 1 << 16]);
                let size = 16_usize << 20;
                let (head, tail) = (
                    "{\"choices\":[{\"finish_reason\":\"stop\",\"message\":{\"content\":\"",
                    "\\n\\\\boxed{1}\"}}]}",
                );
                let length = head.len() + size + tail.len();
                let _ = write!(
                    stream,
                    "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: \
                     {length}\r\n\r\n{head}"
                );
                for _ in 0..size >> 20 {
                    if stream.write_all(&vec![b'x'; 1 << 20]).is_err() {
                        return;
                    }
                }
                let _ = stream.write_all(tail.as_bytes());
            });
        }
    });
    let folder = TempDir::new().unwrap();
    let suite = "name = \"s\"\ncount = 10\n[[manifold]]\nid = \"sort\"\ntask = \"sort@1\"\npoints = [{ length = 4 }]\n";
    fs::write(folder.path().join("small.toml"), suite).unwrap();
    let study = study_toml("small.toml", &format!("http://{address}/v1"), &["m"], "concurrency = 10");
    fs::write(folder.path().join("study.toml"), study).unwrap();
    let arguments = ["run", text(folder.path()), "--format", "json", "--memory-limit", "64MiB"];
    let Some((run, peak)) = reasonscape_measured(&arguments) else { return };
    assert_eq!(run.code, 0, "{run:?}");
    // Ten replies of 16 MiB at once, each received, parsed and stored.
    assert!(peak < 300 << 20, "{} MB", peak >> 20);
}

#[test]
fn sql_spills_gives_up_or_reports_what_it_needs() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("one.parquet");
    let (answers, file) = (folder.path().join("a.jsonl"), text(&file).to_owned());
    fs::write(&answers, "{\"input\": \"?\", \"target\": \"1\", \"answer\": \"1\"}\n").unwrap();
    let made = reasonscape(&["metrics", text(&answers), "--per-task", &file]);
    assert_eq!(made.code, 0, "{made:?}");

    // A sort of more than the 32 MiB of the pool.
    let sort = "SELECT value, reverse(CAST(value AS TEXT)) AS h FROM generate_series(1, 1000000) ORDER BY h";
    let sorted = folder.path().join("sorted.parquet");
    if let Some(run) = bounded(&["sql", &file, sort, "--output", text(&sorted)]) {
        assert_eq!(run.code, 0, "{run:?}");
        assert!(run.stderr.contains("wrote 1000000 rows"), "{run:?}");
    }
    // A cross join of trillions of rows ends with the time-out.
    let endless =
        "SELECT sum(a.value * b.value) FROM generate_series(1, 1000000) a, generate_series(1, 10000000) b";
    if let Some(run) = bounded(&["sql", &file, endless, "--timeout", "1"]) {
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.stderr.contains("the query took longer than 1 s"), "{run:?}");
    }
    // What can't spill is refused.
    let wide = "SELECT count(*) FROM generate_series(1, 3000000) a JOIN generate_series(1, 3000000) b ON a.value = b.value";
    if let Some(run) = bounded(&["sql", &file, wide, "--format", "csv"]) {
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.stderr.contains("raise `--memory-limit`"), "{run:?}");
    }
}

#[test]
fn templates_that_never_end_are_refused() {
    let folder = TempDir::new().unwrap();
    let suite = "name = \"s\"\ncount = 2\n[[manifold]]\nid = \"sort\"\ntask = \"sort@1\"\npoints = [{ length = 4 }]\n";
    fs::write(folder.path().join("small.toml"), suite).unwrap();
    fs::create_dir(folder.path().join("templates")).unwrap();
    let study = study_toml("small.toml", "http://127.0.0.1:9/v1", &["m"], "template = \"mine\"");
    fs::write(folder.path().join("study.toml"), study).unwrap();
    for (content, says) in [
        (
            "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}{{ prompt }}",
            "more than 100000 steps",
        ),
        ("{% for a in range(9999) %}{{ 'x' * 9999 }}{% endfor %}{{ prompt }}", "more than 16 MiB"),
    ] {
        let template = format!("name = \"mine\"\n[[message]]\nrole = \"user\"\ncontent = \"{content}\"\n");
        fs::write(folder.path().join("templates/mine.toml"), template).unwrap();
        assert_refused(&["plan", text(folder.path())], says);
    }
}
