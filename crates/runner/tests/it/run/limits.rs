//! Budgets, shards, several endpoints, several evaluations, precision.

use reasonscape_runner::{EventKind, RunEvent};
use reasonscape_study::{Selection, Shard};

use super::script::{Script, completion};
use super::{POINTS, TestEnv, adds_up, count, eval, run_all, server};

/// Why an evaluation was stopped, which must also have been told once.
fn reason(summary: &reasonscape_runner::EvalRunSummary, events: &[RunEvent]) -> String {
    let told: Vec<&String> = events
        .iter()
        .filter(|event| event.eval == summary.eval_index)
        .filter_map(|event| match &event.kind {
            EventKind::Stopped { reason } => Some(reason),
            _ => None,
        })
        .collect();
    let reason = summary.stopped.clone().unwrap();
    assert_eq!(told, [&reason]);
    reason
}

#[test]
fn request_budget_is_never_exceeded() {
    let (world, server) = (TestEnv::new(), server("rate=0.3,kinds=500"));
    let study = world.study("[budget]\nrequests = 50", &[eval("sim-cheap", &server.base_url())]);
    let (summary, events) = run_all(&study, &count(64), &world.cache());
    let eval = &summary.evals[0];
    assert_eq!(reason(eval, &events), "the budget of 50 requests is used up");
    assert_eq!((eval.sent, server.stats().requests), (50, 50));
    assert!(!summary.is_complete() && !summary.stopped);
    assert_eq!(world.entries(), eval.answered);
}

#[test]
fn budget_is_shared_by_all_evaluations() {
    let (world, server) = (TestEnv::new(), server(""));
    let evals = [eval("sim-cheap", &server.base_url()), eval("sim-p0.5", &server.base_url())];
    let study = world.study("[budget]\nrequests = 60", &evals);
    let (summary, events) = run_all(&study, &count(64), &world.cache());
    for eval in &summary.evals {
        assert!(reason(eval, &events).contains("60 requests"));
    }
    assert_eq!(server.stats().requests, 60);
}

#[test]
fn token_money_and_time_budgets_stop_a_run() {
    let priced = "price_prompt = 1000\nprice_completion = 1000\n";
    for (budget, says) in [
        ("tokens = 300", "the budget of 300 tokens is used up"),
        ("money = 0.3", "the budget of 0.3 in money is used up"),
        ("seconds = 0.02", "the budget of 0.02 seconds is used up"),
    ] {
        let world = TestEnv::new();
        let script = Script::start(|_| {
            std::thread::sleep(std::time::Duration::from_millis(2));
            completion()
        });
        let study = world.study(&format!("[budget]\n{budget}"), &[eval("m", &script.base_url()) + priced]);
        let (summary, events) = run_all(&study, &count(64), &world.cache());
        let eval = &summary.evals[0];
        assert_eq!(reason(eval, &events), says);
        // An answer has 15 tokens. What was in flight when the limit was reached is kept.
        assert!(eval.answered <= 20 + 16 || budget.starts_with("seconds"), "{budget}: {eval:?}");
        assert_eq!(world.entries(), eval.answered);
        assert!(!summary.is_complete());
    }
}

/// The budget of a second used to wait for the end of the pause.
#[test]
fn time_budget_ends_during_a_pause() {
    // A pause that the endpoint asks for, and one of our own between two attempts.
    for (headers, status) in [("Retry-After: 300\r\n", 429), ("Retry-After: 300\r\n", 500)] {
        let world = TestEnv::new();
        let script = Script::start(move |number| match number {
            0 => completion(),
            _ => (status, headers, r#"{"error": {"message": "not now"}}"#.to_owned()),
        });
        let one = eval("m", &script.base_url()).replace("= 16", "= 1");
        let study = world.study("[budget]\nseconds = 1", &[one]);
        let began = std::time::Instant::now();
        let (summary, events) = run_all(&study, &count(4), &world.cache());
        let elapsed = began.elapsed().as_secs_f64();
        assert!((1.0..20.0).contains(&elapsed), "{elapsed}");
        assert_eq!(reason(&summary.evals[0], &events), "the budget of 1 seconds is used up");
        assert_eq!((summary.evals[0].answered, world.entries()), (1, 1));
    }
}

#[test]
fn requests_in_flight_complete_after_the_time_budget() {
    let (world, server) = (TestEnv::new(), server("rate=1,kinds=slow,slow-ms=2500"));
    let study = world.study("[budget]\nseconds = 2", &[eval("sim-cheap", &server.base_url())]);
    let (summary, _) = run_all(&study, &count(1), &world.cache());
    let eval = &summary.evals[0];
    assert!(summary.is_complete() && eval.stopped.is_none(), "{eval:?}");
    assert_eq!(world.entries(), POINTS);
}

#[test]
fn shards_partition_the_plan() {
    let (together, server) = (TestEnv::new(), server(""));
    let mut sum = 0;
    for number in 1..=3 {
        let selection = Selection { shard: Shard { number, of: 3 }, ..count(32) };
        let alone = TestEnv::new();
        for world in [&together, &alone] {
            let study = world.study("", &[eval("sim-cheap", &server.base_url())]);
            let (summary, _) = run_all(&study, &selection, &world.cache());
            adds_up(&summary.evals[0]);
            assert!(summary.is_complete());
            assert_eq!(summary.evals[0].cached, 0, "no two shards ask the same");
        }
        assert!(alone.entries() > 0);
        sum += alone.entries();
    }
    assert_eq!((together.entries(), sum), (32 * POINTS, 32 * POINTS));
    let study = together.study("", &[eval("sim-cheap", &server.base_url())]);
    let (summary, _) = run_all(&study, &count(32), &together.cache());
    assert_eq!(summary.evals[0].sent, 0);
}

#[test]
fn several_endpoints_share_the_load() {
    let (world, one, two) =
        (TestEnv::new(), server("rate=1,kinds=slow,slow-ms=5"), server("rate=1,kinds=slow,slow-ms=5"));
    let lines =
        eval("sim-cheap", "X").replace("\"X\"", &format!("[\"{}\", \"{}\"]", one.base_url(), two.base_url()));
    let study = world.study("", &[lines]);
    let (summary, _) = run_all(&study, &count(48), &world.cache());
    assert!(summary.is_complete());
    let (one, two) = (one.stats().requests, two.stats().requests);
    assert_eq!(one + two, 48 * POINTS);
    assert!(one.min(two) >= 48 * POINTS / 5, "{one} and {two}");
}

#[test]
fn endpoint_that_is_down_does_not_block_the_others() {
    let paused = Script::start(|_| (429, "Retry-After: 300\r\n", r#"{"error": "slow down"}"#.to_owned()));
    for other in [dead(), paused.base_url()] {
        let (world, server) = (TestEnv::new(), server("rate=1,kinds=slow,slow-ms=5"));
        let lines =
            eval("sim-cheap", "X").replace("\"X\"", &format!("[\"{other}\", \"{}\"]", server.base_url()));
        let study = world.study("", &[lines + "max_retries = 3\n"]);
        let (summary, _) = run_all(&study, &count(24), &world.cache());
        adds_up(&summary.evals[0]);
        assert!(summary.is_complete(), "{other}: {:?}", summary.evals[0]);
        assert_eq!(server.stats().requests, 24 * POINTS);
    }
}

/// Five failures to reach endpoints used to end the evaluation before another had said a word. Here the first requests
/// go to all three, and eight of them fail.
#[test]
fn slow_endpoint_keeps_the_evaluation_going() {
    let (world, slow) = (TestEnv::new(), server("rate=1,kinds=slow,slow-ms=2000"));
    let urls = format!("[\"{}\", \"{}\", \"{}\"]", dead(), dead(), slow.base_url());
    let study = world.study("", &[eval("sim-cheap", "X").replace("\"X\"", &urls)]);
    let (summary, _) = run_all(&study, &count(6), &world.cache());
    adds_up(&summary.evals[0]);
    assert!(summary.is_complete(), "{:?}", summary.evals[0]);
    assert_eq!(slow.stats().requests, 6 * POINTS);
}

/// An address at which nothing listens.
fn dead() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}/v1", listener.local_addr().unwrap())
}

#[test]
fn evaluations_at_one_endpoint_take_turns() {
    let (world, server) = (TestEnv::new(), server("rate=1,kinds=slow,slow-ms=3"));
    let evals = ["sim-cheap", "sim-p0.5", "sim-p0.9"]
        .map(|model| eval(model, &server.base_url()).replace("concurrency = 16", "concurrency = 4"));
    let study = world.study("", &evals);
    let (summary, events) = run_all(&study, &count(32), &world.cache());
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
    let (world, server) = (TestEnv::new(), server("rate=1,kinds=slow,slow-ms=5"));
    let narrow = eval("sim-cheap", &server.base_url()).replace("concurrency = 16", "concurrency = 1");
    let study = world.study("", &[narrow, eval("sim-p0.5", &server.base_url())]);
    let only = Selection { evals: vec!["sim-cheap".to_owned()], ..count(4) };
    assert!(run_all(&study, &only, &world.cache()).0.is_complete());
    assert_eq!(server.stats().peak_in_flight, 1);
    assert!(run_all(&study, &count(16), &world.cache()).0.is_complete());
    let peak = server.stats().peak_in_flight;
    assert!((2..=17).contains(&peak), "{peak}");
}

#[test]
fn precision_is_reached_or_max_count_is_used() {
    let (world, server) = (TestEnv::new(), server(""));
    let study = world.study(
        "precision = 0.1\nmax_count = 80",
        &[eval("sim-p1", &server.base_url()), eval("sim-p0.5", &server.base_url())],
    );
    let (summary, _) = run_all(&study, &Selection::default(), &world.cache());
    assert!(summary.is_complete());
    let [sure, open] = &summary.evals[..] else { panic!("two evals") };
    adds_up(sure);
    adds_up(open);
    assert!(sure.planned < 64 * POINTS, "what is always right is soon known: {sure:?}");
    assert_eq!(open.planned, 80 * POINTS, "a half takes more than the most");
    assert_eq!(server.stats().duplicates, 0);
    let requests = server.stats().requests;
    let (summary, _) = run_all(&study, &Selection::default(), &world.cache());
    assert!(summary.is_complete());
    assert_eq!(server.stats().requests, requests, "a precision that is reached costs nothing more");
}

const SAMPLER: &str = "[params]\ntemperature = 0\nmax_tokens = 2048\n";

/// What one evaluation gives up, the other may try; neither waits for the other for ever.
#[test]
fn identical_evaluations_share_answers() {
    for (faults, retries) in [("", 8), ("rate=0.3,kinds=500", 0)] {
        let (world, server) = (TestEnv::new(), server(faults));
        let samplers = world.dir.path().join("samplers");
        std::fs::create_dir(&samplers).unwrap();
        std::fs::write(samplers.join("mine.toml"), SAMPLER).unwrap();
        std::fs::write(samplers.join("same.toml"), SAMPLER).unwrap();
        let evals = ["mine", "same"].map(|sampler| {
            let lines = format!("sampler = \"{sampler}\"\nmax_retries = {retries}\n");
            eval("sim-cheap", &server.base_url()) + &lines
        });
        let study = world.study("", &evals);
        let (summary, _) = run_all(&study, &count(96), &world.cache());
        let answered: u64 = summary.evals.iter().map(|eval| eval.answered).sum();
        summary.evals.iter().for_each(adds_up);
        assert_eq!((world.entries(), server.stats().duplicates), (answered, 0));
        assert!(retries == 0 || (summary.is_complete() && answered == 96 * POINTS));
    }
}
