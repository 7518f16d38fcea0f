//! The event stream of a run.

use serde_json::json;

use super::{RunsEnv, events, sum};

#[test]
fn streams_progress_in_order_until_the_end() {
    let env = RunsEnv::with("kinds=slow,slow-ms=60", None, &[]);
    let name = env.create_study_run(&json!({}));
    assert_eq!(env.start(&name, &json!({})).status, 202);
    // A second start is refused.
    let second = env.start(&name, &json!({}));
    assert!(second.status == 409 && second.body.contains("already active"), "{second:?}");
    let other = env.create_study_run(&json!({ "count": 1 }));
    let other = env.start(&other, &json!({}));
    assert!(other.status == 409 && other.body.contains("another run of this study"), "{other:?}");
    let page = env.server.get(&format!("/runs/{name}")).body;
    assert!(page.contains("http-equiv=\"refresh\"") && page.contains(">Cancel</button>"), "{page}");
    let refused = env.server.request("DELETE", &format!("/api/v1/runs/{name}"), &[], "");
    assert!(refused.status == 409 && refused.body.contains("cancel it first"), "{refused:?}");

    let told = events(&env.server, &name);
    assert!(told.len() > 2, "{told:?}");
    let done: Vec<u64> = told.iter().map(|(_, run)| sum(run, "done")).collect();
    assert!(done.is_sorted() && done.last() == Some(&32), "{done:?}");
    assert!(done.iter().any(|done| (1..32).contains(done)), "{done:?}");
    let (ends, goes): (Vec<_>, Vec<_>) = told.iter().partition(|(kind, _)| kind == "end");
    assert_eq!((ends.len(), told.last().unwrap().0.as_str()), (1, "end"));
    assert!(goes.iter().all(|(kind, run)| kind == "progress" && run["state"] != "complete"));
    assert_eq!(told.last().unwrap().1["state"], "complete");
    // A finished run has only the `end` event.
    assert_eq!(events(&env.server, &name).len(), 1);
    assert_eq!(env.models.stats().duplicates, 0);
}
