//! Endpoints that go down, and times in which nothing happens.

use std::time::{Duration, Instant};

use reasonscape_runner::{EventKind, RunEvent, RunSummary, Shutdown};
use reasonscape_simulator::{SimulateOptions, SimulatedServer};
use reasonscape_study::Study;
use tokio::sync::watch;

use super::scripted_server::{ScriptedServer, completion};
use super::{POINTS, TestEnv, assert_counts_add_up, count, eval, run_all, run_until, serve, server};

/// At most 16 requests are in flight when an endpoint goes down, twelve failures in a row are an outage, and it is tried
/// a few times.
const WASTED: u64 = 16 + 12 + 6;

/// Runs a study and stops its server after 40 answers; a server at the same address takes its place after `away`.
fn with_outage(
    study: &Study,
    env: &TestEnv,
    server: SimulatedServer,
    away: Option<Duration>,
) -> (RunSummary, Vec<RunEvent>) {
    let address = server.address();
    let (kill, killed) = std::sync::mpsc::channel();
    let (_stop, stopped) = watch::channel(Shutdown::None);
    let mut answered = 0;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let _ = killed.recv();
            drop(server);
            let Some(away) = away else { return };
            std::thread::sleep(away);
            let options = SimulateOptions { port: address.port(), ..SimulateOptions::default() };
            let again = serve(options);
            // Until the run is over.
            while killed.recv().is_ok() {}
            drop(again);
        });
        run_until(study, &count(64), &env.cache(), stopped, move |event| {
            answered += usize::from(event.eval == 0 && matches!(event.kind, EventKind::Answered { .. }));
            if answered == 40 {
                answered += 1;
                kill.send(()).unwrap();
            }
        })
    })
}

#[test]
fn resumes_after_an_outage() {
    let (env, server) = (TestEnv::new(), server("rate=1,kinds=slow,slow-ms=10"));
    // A trial on its own would be given up after two seconds at the most.
    let study = env.study("", &[eval("sim-cheap", &server.base_url()) + "max_retries = 2\n"]);
    let (summary, _) = with_outage(&study, &env, server, Some(Duration::from_secs(4)));
    let eval = &summary.evals[0];
    assert_counts_add_up(eval);
    assert!(summary.is_complete() && eval.stopped.is_none(), "{eval:?}");
    assert!(eval.sent > eval.answered && eval.sent <= eval.answered + WASTED, "{eval:?}");
    assert_eq!(env.entries(), 64 * POINTS);
}

#[test]
fn lost_endpoint_stops_only_its_evaluation() {
    let (env, server, good) =
        (TestEnv::new(), server("rate=1,kinds=slow,slow-ms=10"), server("rate=1,kinds=slow,slow-ms=50"));
    let bad = eval("sim-cheap", &server.base_url()) + "outage_timeout_seconds = 1\n";
    let study = env.study("", &[bad, eval("sim-p0.9", &good.base_url())]);
    let began = Instant::now();
    let (summary, events) = with_outage(&study, &env, server, None);
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    let [bad, good_summary] = &summary.evals[..] else { panic!("two evals") };
    assert!(good_summary.is_complete(), "{good_summary:?}");
    let stop_reason = bad.stopped.as_deref().unwrap_or_else(|| panic!("not stopped: {bad:?}"));
    assert!(
        stop_reason.starts_with("no answer for 1 seconds: connection refused by `127.0.0.1:"),
        "{stop_reason}"
    );
    let is_stopped = |event: &&RunEvent| matches!(event.kind, EventKind::Stopped { .. });
    assert_eq!(events.iter().filter(is_stopped).count(), 1);
    assert!(bad.answered >= 40 && bad.missing <= 1, "{bad:?}");
    assert!(bad.sent <= bad.answered + WASTED, "{bad:?}");
    assert_eq!(env.entries(), bad.answered + good_summary.answered);
}

#[test]
fn always_busy_endpoint_is_abandoned() {
    for headers in ["", "Retry-After: 0.2\r\n"] {
        let env = TestEnv::new();
        let scripted_server = ScriptedServer::start(move |_| {
            (503, headers, r#"{"error": {"message": "no free slot"}}"#.to_owned())
        });
        let study = env.study("", &[eval("m", &scripted_server.base_url()) + "outage_timeout_seconds = 1\n"]);
        let began = Instant::now();
        let (summary, _) = run_all(&study, &count(64), &env.cache());
        assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
        let eval = &summary.evals[0];
        let stop_reason = eval.stopped.as_deref().unwrap_or_else(|| panic!("not stopped: {eval:?}"));
        for says in ["no answer for 1 seconds", "(HTTP 503): no free slot", "`outage_timeout_seconds`"] {
            assert!(stop_reason.contains(says), "{stop_reason}");
        }
        assert!(eval.sent <= WASTED && eval.sent == scripted_server.seen().len() as u64, "{eval:?}");
    }
}

#[test]
fn waits_for_a_loading_model() {
    let env = TestEnv::new();
    let began = Instant::now();
    let scripted_server = ScriptedServer::start(move |_| match began.elapsed().as_secs() {
        0..4 => (503, "", r#"{"error": {"message": "Loading model"}}"#.to_owned()),
        _ => completion(),
    });
    let study = env.study("", &[eval("m", &scripted_server.base_url()) + "max_retries = 3\n"]);
    let (summary, _) = run_all(&study, &count(64), &env.cache());
    assert_counts_add_up(&summary.evals[0]);
    assert!(summary.is_complete(), "{:?}", summary.evals[0]);
    assert!(summary.evals[0].sent <= 64 * POINTS + WASTED, "{:?}", summary.evals[0]);
}

#[test]
fn emits_waiting_events_once_a_second() {
    let env = TestEnv::new();
    let scripted_server = ScriptedServer::start(|number| {
        if number == 0 {
            return (429, "Retry-After: 2.5\r\n", r#"{"error": {"message": "slow down"}}"#.to_owned());
        }
        std::thread::sleep(Duration::from_millis(2500));
        completion()
    });
    let study = env.study("", &[eval("m", &scripted_server.base_url()).replace("= 16", "= 1")]);
    let began = Instant::now();
    let (summary, events) = run_all(&study, &count(1), &env.cache());
    assert!(summary.is_complete());
    let (mut paused, mut unanswered) = (0, 0);
    for event in &events {
        if let EventKind::Waiting { in_flight, claimed_elsewhere, idle, pause } = event.kind {
            assert!(idle >= Duration::from_secs(1) && claimed_elsewhere == 0, "{event:?}");
            paused += u64::from(in_flight == 0 && pause.is_some_and(|pause| !pause.is_zero()));
            unanswered += u64::from(in_flight == 1 && pause.is_none());
        }
    }
    // Two seconds of the pause, and then of each answer; a machine that is busy may miss some.
    assert!(paused >= 1 && unanswered >= 2, "{events:?}");
    assert!(paused + unanswered <= began.elapsed().as_secs() + 1, "{events:?}");
}
