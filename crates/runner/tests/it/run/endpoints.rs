//! Several endpoints of one evaluation, and several evaluations at one endpoint.

use reasonscape_runner::EventKind;
use reasonscape_study::Selection;

use super::scripted_server::ScriptedServer;
use super::{POINTS, TestEnv, assert_counts_add_up, count, eval, run_all, server};

#[test]
fn several_endpoints_share_the_load() {
    let (env, one, two) =
        (TestEnv::new(), server("rate=1,kinds=slow,slow-ms=5"), server("rate=1,kinds=slow,slow-ms=5"));
    let lines =
        eval("sim-cheap", "X").replace("\"X\"", &format!("[\"{}\", \"{}\"]", one.base_url(), two.base_url()));
    let study = env.study("", &[lines]);
    let (summary, _) = run_all(&study, &count(48), &env.cache());
    assert!(summary.is_complete());
    let (one, two) = (one.stats().requests, two.stats().requests);
    assert_eq!(one + two, 48 * POINTS);
    assert!(one.min(two) >= 48 * POINTS / 5, "{one} and {two}");
}

#[test]
fn endpoint_that_is_down_does_not_block_the_others() {
    let paused =
        ScriptedServer::start(|_| (429, "Retry-After: 300\r\n", r#"{"error": "slow down"}"#.to_owned()));
    for other in [unreachable_url(), paused.base_url()] {
        let (env, server) = (TestEnv::new(), server("rate=1,kinds=slow,slow-ms=5"));
        let lines =
            eval("sim-cheap", "X").replace("\"X\"", &format!("[\"{other}\", \"{}\"]", server.base_url()));
        let study = env.study("", &[lines + "max_retries = 3\n"]);
        let (summary, _) = run_all(&study, &count(24), &env.cache());
        assert_counts_add_up(&summary.evals[0]);
        assert!(summary.is_complete(), "{other}: {:?}", summary.evals[0]);
        assert_eq!(server.stats().requests, 24 * POINTS);
    }
}

/// Five failures to reach endpoints used to end the evaluation before another had said a word. Here the first requests
/// go to all three, and eight of them fail.
#[test]
fn slow_endpoint_keeps_the_evaluation_going() {
    let (env, slow) = (TestEnv::new(), server("rate=1,kinds=slow,slow-ms=2000"));
    let urls = format!("[\"{}\", \"{}\", \"{}\"]", unreachable_url(), unreachable_url(), slow.base_url());
    let study = env.study("", &[eval("sim-cheap", "X").replace("\"X\"", &urls)]);
    let (summary, _) = run_all(&study, &count(6), &env.cache());
    assert_counts_add_up(&summary.evals[0]);
    assert!(summary.is_complete(), "{:?}", summary.evals[0]);
    assert_eq!(slow.stats().requests, 6 * POINTS);
}

/// An address at which nothing listens.
fn unreachable_url() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}/v1", listener.local_addr().unwrap())
}

#[test]
fn evaluations_at_one_endpoint_take_turns() {
    let (env, server) = (TestEnv::new(), server("rate=1,kinds=slow,slow-ms=3"));
    let evals = ["sim-cheap", "sim-p0.5", "sim-p0.9"]
        .map(|model| eval(model, &server.base_url()).replace("concurrency = 16", "concurrency = 4"));
    let study = env.study("", &evals);
    let (summary, events) = run_all(&study, &count(32), &env.cache());
    assert!(summary.is_complete());
    // When the first is done, the others have nearly as much.
    let mut answered = [0_u64; 3];
    for event in &events {
        answered[event.eval] += u64::from(matches!(event.kind, EventKind::Answered { .. }));
        if answered.contains(&(32 * POINTS)) {
            break;
        }
    }
    assert!(answered.iter().all(|count| *count >= 16 * POINTS), "{answered:?}");
    assert!(server.stats().peak_in_flight <= 4, "they share what the endpoint is given");
}

#[test]
fn concurrency_limits_are_per_evaluation() {
    let (env, server) = (TestEnv::new(), server("rate=1,kinds=slow,slow-ms=5"));
    let narrow = eval("sim-cheap", &server.base_url()).replace("concurrency = 16", "concurrency = 1");
    let study = env.study("", &[narrow, eval("sim-p0.5", &server.base_url())]);
    let only = Selection { evals: vec!["sim-cheap".to_owned()], ..count(4) };
    assert!(run_all(&study, &only, &env.cache()).0.is_complete());
    assert_eq!(server.stats().peak_in_flight, 1);
    assert!(run_all(&study, &count(16), &env.cache()).0.is_complete());
    let peak = server.stats().peak_in_flight;
    assert!((2..=17).contains(&peak), "{peak}");
}
