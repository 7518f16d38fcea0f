//! Budgets of requests, tokens, money and time.

use reasonscape_runner::{EvalRunSummary, EventKind, RunEvent};

use super::scripted_server::{ScriptedServer, completion};
use super::{POINTS, TestEnv, count, eval, run_all, server};

/// Why an evaluation was stopped, which must also have been reported once.
fn stop_reason(summary: &EvalRunSummary, events: &[RunEvent]) -> String {
    let reported: Vec<&String> = events
        .iter()
        .filter(|event| event.eval == summary.eval_index)
        .filter_map(|event| match &event.kind {
            EventKind::Stopped { reason } => Some(reason),
            _ => None,
        })
        .collect();
    let stop_reason = summary.stopped.clone().unwrap();
    assert_eq!(reported, [&stop_reason]);
    stop_reason
}

#[test]
fn request_budget_is_never_exceeded() {
    let (env, server) = (TestEnv::new(), server("rate=0.3,kinds=500"));
    let study = env.study("[budget]\nrequests = 50", &[eval("sim-cheap", &server.base_url())]);
    let (summary, events) = run_all(&study, &count(64), &env.cache());
    let eval = &summary.evals[0];
    assert_eq!(stop_reason(eval, &events), "the budget of 50 requests is used up");
    assert_eq!((eval.sent, server.stats().requests), (50, 50));
    assert!(!summary.is_complete() && !summary.stopped);
    assert_eq!(env.entries(), eval.answered);
}

#[test]
fn budget_is_shared_by_all_evaluations() {
    let (env, server) = (TestEnv::new(), server(""));
    let evals = [eval("sim-cheap", &server.base_url()), eval("sim-p0.5", &server.base_url())];
    let study = env.study("[budget]\nrequests = 60", &evals);
    let (summary, events) = run_all(&study, &count(64), &env.cache());
    for eval in &summary.evals {
        assert!(stop_reason(eval, &events).contains("60 requests"));
    }
    assert_eq!(server.stats().requests, 60);
}

#[test]
fn token_money_and_time_budgets_stop_a_run() {
    let priced = "price_prompt = 1000\nprice_completion = 1000\n";
    for (budget, says) in [
        ("tokens = 300", "the budget of 300 tokens is used up"),
        ("money = 0.3", "the cost budget of 0.3 is used up"),
        ("seconds = 0.02", "the budget of 0.02 seconds is used up"),
    ] {
        let env = TestEnv::new();
        let scripted_server = ScriptedServer::start(|_| {
            std::thread::sleep(std::time::Duration::from_millis(2));
            completion()
        });
        let study =
            env.study(&format!("[budget]\n{budget}"), &[eval("m", &scripted_server.base_url()) + priced]);
        let (summary, events) = run_all(&study, &count(64), &env.cache());
        let eval = &summary.evals[0];
        assert_eq!(stop_reason(eval, &events), says);
        // An answer has 15 tokens. What was in flight when the limit was reached is kept.
        assert!(eval.answered <= 20 + 16 || budget.starts_with("seconds"), "{budget}: {eval:?}");
        assert_eq!(env.entries(), eval.answered);
        assert!(!summary.is_complete());
    }
}

/// The budget of a second used to wait for the end of the pause.
#[test]
fn time_budget_ends_during_a_pause() {
    // A pause that the endpoint asks for, and one of our own between two attempts.
    for (headers, status) in [("Retry-After: 300\r\n", 429), ("Retry-After: 300\r\n", 500)] {
        let env = TestEnv::new();
        let scripted_server = ScriptedServer::start(move |number| match number {
            0 => completion(),
            _ => (status, headers, r#"{"error": {"message": "not now"}}"#.to_owned()),
        });
        let one = eval("m", &scripted_server.base_url()).replace("= 16", "= 1");
        let study = env.study("[budget]\nseconds = 1", &[one]);
        let began = std::time::Instant::now();
        let (summary, events) = run_all(&study, &count(4), &env.cache());
        let elapsed = began.elapsed().as_secs_f64();
        assert!((1.0..20.0).contains(&elapsed), "{elapsed}");
        assert_eq!(stop_reason(&summary.evals[0], &events), "the budget of 1 seconds is used up");
        assert_eq!((summary.evals[0].answered, env.entries()), (1, 1));
    }
}

#[test]
fn requests_in_flight_complete_after_the_time_budget() {
    let (env, server) = (TestEnv::new(), server("rate=1,kinds=slow,slow-ms=2500"));
    let study = env.study("[budget]\nseconds = 2", &[eval("sim-cheap", &server.base_url())]);
    let (summary, _) = run_all(&study, &count(1), &env.cache());
    let eval = &summary.evals[0];
    assert!(summary.is_complete() && eval.stopped.is_none(), "{eval:?}");
    assert_eq!(env.entries(), POINTS);
}
