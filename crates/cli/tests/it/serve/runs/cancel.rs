//! Cancelling runs.

use serde_json::json;

use super::{RunsEnv, sum};

#[test]
fn resumes_a_cancelled_run() {
    let env = RunsEnv::with("kinds=slow,slow-ms=60", None, &[]);
    let name = env.create(&env.own_run_request(&json!({ "concurrency": 2 })));
    let idle = env.post(&format!("/runs/{name}/cancel"), &json!({}));
    assert!(idle.status == 409 && idle.body.contains("is not active"), "{idle:?}");
    assert_eq!(env.start(&name, &json!({})).status, 202);
    crate::test_env::wait_until("answers came", || sum(&env.get_run(&name), "answered") >= 3);
    assert_eq!(env.post(&format!("/runs/{name}/cancel"), &json!({})).status, 202);
    let run = env.wait_for_end(&name);
    let answered = sum(&run, "answered");
    assert_eq!(run["state"], "cancelled", "{run}");
    assert!((3..16).contains(&answered), "{run}");
    // No response is lost, and the results so far can be viewed.
    assert_eq!(env.models.stats().answered, answered);
    assert_eq!(env.server.get(&format!("/runs/{name}/view/")).status, 200);
    let page = env.server.get(&format!("/runs/{name}")).body;
    assert!(
        page.contains(">Resume</button>") && page.contains("resuming sends the remaining requests"),
        "{page}"
    );
    let before = run["progress"][0]["completion_tokens"].as_u64().unwrap();

    let run = env.run_to_end(&name);
    assert_eq!(
        (&run["state"], sum(&run, "cached"), sum(&run, "answered")),
        (&json!("complete"), answered, 16 - answered)
    );
    assert!(
        run["progress"][0]["completion_tokens"].as_u64().unwrap() > before,
        "tokens are of all starts: {run}"
    );
    assert_eq!(env.models.stats().duplicates, 0);
}

#[test]
fn second_cancel_stops_at_once() {
    let env = RunsEnv::with("kinds=stall", None, &[]);
    let names = [1, 2, 3].map(|_| env.create(&env.own_run_request(&json!({}))));
    for name in &names[..2] {
        assert_eq!(env.start(name, &json!({})).status, 202);
    }
    let third = env.start(&names[2], &json!({}));
    assert!(third.status == 409 && third.body.contains("2 runs are already active"), "{third:?}");
    for name in &names[..2] {
        // A run without a request in flight would end with the first cancel.
        crate::test_env::wait_until("its requests are in flight", || {
            env.get_run(name)["progress"][0]["note"].as_str().is_some_and(|note| note.contains("answer"))
        });
        let cancel = |answer: u16| {
            assert_eq!(env.post(&format!("/runs/{name}/cancel"), &json!({})).status, answer);
        };
        cancel(202);
        crate::test_env::wait_until("it said so", || {
            env.get_run(name)["reason"].as_str().is_some_and(|said| said.contains("in flight"))
        });
        let page = env.server.get(&format!("/runs/{name}")).body;
        assert!(page.contains(">Abort</button>"), "{page}");
        cancel(202);
        let run = env.wait_for_end(name);
        assert_eq!((&run["state"], sum(&run, "answered")), (&json!("cancelled"), 0), "{run}");
    }
}
