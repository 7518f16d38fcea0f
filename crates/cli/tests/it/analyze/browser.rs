//! Pages as Chromium sees them: they draw, say nothing on the console and ask nobody for anything.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::small::Small;
use crate::test_env::reasonscape;

/// What became of a page.
#[derive(Debug)]
struct Seen {
    /// The page after its scripts have run.
    dom: String,
    /// Lines on the console.
    console: Vec<String>,
    /// What the page asked for beyond itself.
    requests: Vec<String>,
}

/// Opens a page; `None` without a Chromium.
fn seen(page: &Path) -> Option<Seen> {
    const PATIENCE: Duration = Duration::from_mins(2);
    let program = reasonscape_test_support::chromium()?;
    let folder = TempDir::new().unwrap();
    let file = |name: &str| folder.path().join(name);
    let mut browser = Command::new(&program)
        // In a container the tests are root, for whom there is no sandbox.
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        // The browser's own questions about updates and the time are to reach nobody.
        .args(["--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr"])
        .args(["--virtual-time-budget=10000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", file("profile").display()))
        .arg(format!("--log-net-log={}", file("net.json").display()))
        .arg(format!("file://{}", page.display()))
        .stdout(File::create(file("dom")).unwrap())
        .stderr(File::create(file("log")).unwrap())
        .spawn()
        .unwrap_or_else(|error| panic!("`{}` does not start: {error}", program.display()));
    let started = Instant::now();
    let status = loop {
        if let Some(status) = browser.try_wait().unwrap() {
            break status;
        }
        if started.elapsed() > PATIENCE {
            browser.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let text = |name: &str| String::from_utf8_lossy(&fs::read(file(name)).unwrap()).into_owned();
    assert!(status.success(), "{status}: {}", text("log"));
    Some(Seen {
        dom: text("dom"),
        console: text("log")
            .lines()
            .filter(|line| line.contains(":CONSOLE"))
            .map(ToOwned::to_owned)
            .collect(),
        requests: requests(&serde_json::from_str(&text("net.json")).unwrap()),
    })
}

/// What the log of the network says that the page asked for; the questions of the browser itself have no initiator.
fn requests(log: &Value) -> Vec<String> {
    let kind = &log["constants"]["logEventTypes"]["URL_REQUEST_START_JOB"];
    assert!(
        kind.is_number(),
        "the log of the network has no requests: {}",
        log["constants"]["logEventTypes"]
    );
    let events = log["events"].as_array().unwrap().iter().filter(|event| event["type"] == *kind);
    let of_page = events.filter(|event| event["params"]["initiator"] != "not an origin");
    let addresses = of_page.filter_map(|event| event["params"]["url"].as_str());
    let is_own = |address: &&str| ["file:", "data:", "blob:"].iter().any(|own| address.starts_with(own));
    addresses.filter(|address| !is_own(address)).map(ToOwned::to_owned).collect()
}

/// Asserts that a page draws so many pictures, without a word and by itself.
pub(crate) fn draws_alone(page: &Path, pictures: usize) {
    let Some(seen) = seen(page) else { return };
    assert_eq!(seen.console, Vec::<String>::new(), "{}", page.display());
    assert_eq!(seen.requests, Vec::<String>::new(), "{}", page.display());
    let body = seen.dom.split_once("</head>").unwrap().1;
    assert_eq!(body.matches("js-plotly-plot").count(), pictures, "{}", page.display());
    assert!(body.matches("class=\"main-svg\"").count() >= pictures, "{}", page.display());
}

#[test]
fn report_and_figure_render_without_errors_or_requests() {
    let small = Small::new();
    let file = |name: &str| Path::new(small.path()).join(name);
    let [report, picture] = ["report.html", "picture.html"].map(file);
    let run = reasonscape(&["report", small.path(), "-o", report.to_str().unwrap()]);
    assert_eq!(run.code, 0, "{run:?}");
    let run = small.ask("projection", &["--plot", picture.to_str().unwrap()]);
    assert_eq!(run.code, 0, "{run:?}");
    draws_alone(&report, 9);
    draws_alone(&picture, 1);
}

#[test]
fn detects_errors_and_requests_of_a_page() {
    let folder = TempDir::new().unwrap();
    let page = folder.path().join("page.html");
    let script = "<script>fetch('http://127.0.0.1:9/x').catch(() => 0); nowhere();</script>";
    fs::write(&page, format!("<!doctype html><title>x</title>{script}")).unwrap();
    let Some(seen) = seen(&page) else { return };
    assert!(seen.console.iter().any(|line| line.contains("nowhere is not defined")), "{seen:?}");
    assert_eq!(seen.requests, ["http://127.0.0.1:9/x"]);
}
