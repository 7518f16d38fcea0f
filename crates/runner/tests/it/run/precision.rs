//! Sampling until a precision is reached.

use reasonscape_study::Selection;

use super::{POINTS, TestEnv, assert_counts_add_up, eval, run_all, server};

#[test]
fn precision_is_reached_or_max_count_is_used() {
    let (env, server) = (TestEnv::new(), server(""));
    let study = env.study(
        "precision = 0.1\nmax_count = 80",
        &[eval("sim-p1", &server.base_url()), eval("sim-p0.5", &server.base_url())],
    );
    let (summary, _) = run_all(&study, &Selection::default(), &env.cache());
    assert!(summary.is_complete());
    let [sure, open] = &summary.evals[..] else { panic!("two evals") };
    assert_counts_add_up(sure);
    assert_counts_add_up(open);
    assert!(sure.planned < 64 * POINTS, "what is always right is soon known: {sure:?}");
    assert_eq!(open.planned, 80 * POINTS, "a half takes more than the most");
    assert_eq!(server.stats().duplicates, 0);
    let requests = server.stats().requests;
    let (summary, _) = run_all(&study, &Selection::default(), &env.cache());
    assert!(summary.is_complete());
    assert_eq!(server.stats().requests, requests, "a precision that is reached costs nothing more");
}
