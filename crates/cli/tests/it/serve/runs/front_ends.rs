//! The library, the command line and the browser run a study in the same way, however the run ends.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use reasonscape_cache::Cache;
use reasonscape_core::Suite;
use reasonscape_pipeline::{Event, ProgressCounts, RunControl, RunEnd, execute, open_cache};
use reasonscape_simulator::{Faults, SimulateOptions, SimulatedServer};
use reasonscape_study::Selection;
use serde_json::{Value, json};

use super::{RunsEnv, SUITE, Server, Study, events, sum};
use crate::test_env::reasonscape;

/// How a run ends.
struct Case {
    name: &'static str,
    /// Further settings of the study.
    study: &'static str,
    /// The path of the endpoint.
    path: &'static str,
    faults: &'static str,
    /// Whether it is interrupted after some responses.
    interrupt: bool,
    /// State that the browser shows, exit code of the command line.
    state: &'static str,
    code: i32,
}

const CASES: [Case; 4] = [
    Case {
        name: "finished",
        study: "",
        path: "/v1",
        faults: "",
        interrupt: false,
        state: "complete",
        code: 0,
    },
    Case {
        name: "budget-stopped",
        study: "[budget]\nrequests = 11\n",
        path: "/v1",
        faults: "",
        interrupt: false,
        state: "incomplete",
        code: 1,
    },
    Case {
        name: "failed",
        study: "",
        path: "/nowhere",
        faults: "",
        interrupt: false,
        state: "failed",
        code: 1,
    },
    Case {
        name: "interrupted",
        study: "",
        path: "/v1",
        faults: "kinds=slow,slow-ms=60",
        interrupt: true,
        state: "cancelled",
        code: 130,
    },
];

/// The result of a case in one front end.
#[derive(Debug, PartialEq)]
struct Ending {
    /// Planned, cached, answered, truncated and missing trials.
    counts: [u64; 5],
    entries: u64,
    trials: String,
}

impl Case {
    fn server(&self) -> SimulatedServer {
        SimulatedServer::start(SimulateOptions {
            faults: if self.faults.is_empty() { Faults::default() } else { self.faults.parse().unwrap() },
            suites: vec![Suite::parse(SUITE).unwrap()],
            count: Some(8),
            threads: 1,
            ..SimulateOptions::default()
        })
        .unwrap()
    }

    fn study(&self, models: &SimulatedServer) -> Study {
        let base_url = models.base_url().replace("/v1", self.path);
        let text = format!(
            "suite = \"small.toml\"\n{}[[eval]]\nmodel = \"sim-p0.9\"\nbase_url = \"{base_url}\"\nconcurrency = 1\n",
            self.study
        );
        Study::with_files(&[("small.toml", SUITE), ("study.toml", &text)])
    }

    fn library(&self) -> Ending {
        let models = self.server();
        let folder = self.study(&models);
        let study = reasonscape_study::Study::load(Path::new(folder.path())).unwrap();
        let control = RunControl::default();
        let (mut counts, mut scoring) = (ProgressCounts::default(), 0);
        let finished = std::thread::scope(|scope| {
            if self.interrupt {
                scope.spawn(|| {
                    wait_for_responses(&models);
                    control.interrupt()
                });
            }
            let cache = open_cache(&study).unwrap();
            let mut on_event = |event: Event<'_>| match event {
                Event::Requests(events) => {
                    assert_eq!(scoring, 0, "requests come before scores");
                    for event in events {
                        counts.count(&event.kind);
                    }
                }
                Event::Scoring { done, total } => {
                    assert!(done <= total, "{done} of {total}");
                    scoring += 1;
                }
            };
            let (selection, interval) = (Selection::default(), Duration::from_millis(1));
            execute(&study, &selection, &cache, &control, true, interval, &mut on_event).unwrap()
        });
        let expected = match self.state {
            "complete" => matches!(finished.end, RunEnd::Complete),
            "incomplete" => matches!(finished.end, RunEnd::Incomplete),
            "failed" => matches!(finished.end, RunEnd::Failed { .. }),
            _ => matches!(finished.end, RunEnd::Interrupted),
        };
        assert!(expected, "{}: {:?}", self.name, finished.end);
        let eval = &finished.summary.evals[0];
        assert_eq!(
            (counts.cached, counts.answered, counts.missing),
            (eval.cached, eval.answered, eval.missing)
        );
        assert_eq!(scoring > 0, eval.answered > 0, "{}: responses are scored however it ends", self.name);
        Ending::new(folder.path(), [eval.planned, eval.cached, eval.answered, eval.truncated, eval.missing])
    }

    fn command_line(&self) -> Ending {
        let models = self.server();
        let folder = self.study(&models);
        let child = Command::new(assert_cmd::cargo::cargo_bin!("reasonscape"))
            .args(["run", folder.path(), "--format", "json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        if self.interrupt {
            wait_for_responses(&models);
            let id = child.id().to_string();
            assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        }
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(self.code), "{}: {output:?}", self.name);
        let evals: Value = serde_json::from_slice(&output.stdout).unwrap();
        let counts = ["planned", "cached", "answered", "truncated", "missing"];
        Ending::new(folder.path(), counts.map(|field| evals[0][field].as_u64().unwrap()))
    }

    fn browser(&self) -> Ending {
        let models = self.server();
        let study = Arc::new(self.study(&models));
        let env = RunsEnv { server: Server::on(study, &[], &[]), models };
        let name = env.create_study_run(&json!({}));
        assert_eq!(env.start(&name, &json!({})).status, 202);
        if self.interrupt {
            wait_for_responses(&env.models);
            assert_eq!(env.post(&format!("/runs/{name}/cancel"), &json!({})).status, 202);
        }
        let events = events(&env.server, &name);
        assert_eq!(events.last().unwrap().1["state"], self.state, "{}: {events:?}", self.name);
        let run = env.get_run(&name);
        let counts = ["planned", "cached", "answered", "truncated", "missing"].map(|field| sum(&run, field));
        Ending::new(env.folder(), counts)
    }
}

fn wait_for_responses(models: &SimulatedServer) {
    crate::test_env::wait_until("responses came", || models.stats().answered >= 4);
}

impl Ending {
    fn new(study: impl AsRef<Path>, counts: [u64; 5]) -> Self {
        let study = study.as_ref();
        let cache = Cache::open_read_only(study.join("cache.sqlite")).unwrap();
        let entries = cache.reader().unwrap().count().unwrap();
        if entries == 0 {
            return Self { counts, entries, trials: String::new() };
        }
        let query = "SELECT eval_id, base_task, params, index, repeat, status, answer, cache_key FROM trials ORDER BY 1, 2, 3, 4, 5";
        let trials = reasonscape(&["sql", study.to_str().unwrap(), query, "--format", "csv"]);
        assert_eq!(trials.code, 0, "{trials:?}");
        assert_eq!(trials.stdout.lines().count() as u64, entries + 1, "every response is a trial");
        Self { counts, entries, trials: trials.stdout }
    }
}

#[test]
fn library_command_line_and_browser_end_alike() {
    for case in &CASES {
        let endings = [case.library(), case.command_line(), case.browser()];
        if case.interrupt {
            // The time of an interrupt varies by some responses.
            for ending in &endings {
                assert!((3..16).contains(&ending.entries), "{ending:?}");
                assert_eq!(ending.counts[2], ending.entries);
            }
        } else {
            assert_eq!(endings[0], endings[1], "{}", case.name);
            assert_eq!(endings[0], endings[2], "{}", case.name);
        }
    }
}
