//! What the cache saves is counted per run, and summed over runs.

use super::*;

#[test]
fn savings_equal_the_tokens_of_the_first_run_and_accumulate() {
    let (env, server) = (TestEnv::new(), server(""));
    let priced = eval("sim-cheap", &server.base_url()) + "price_prompt = 1.0\nprice_completion = 2.0\n";
    let study = env.study("", &[priced]);
    let cache = env.cache();
    let (first, _) = run_all(&study, &count(8), &cache);
    let paid = &first.evals[0];
    assert!(paid.prompt_tokens > 0 && paid.completion_tokens > 0, "{paid:?}");
    assert_eq!((first.saved().requests, first.saved().tokens()), (0, 0));
    assert!(cache.reader().unwrap().savings().unwrap().is_empty());
    for repeat in 1..=2 {
        let (again, _) = run_all(&study, &count(8), &cache);
        let saved = again.saved();
        assert_eq!(saved.requests, 8 * POINTS);
        assert_eq!(
            (saved.prompt_tokens, saved.completion_tokens),
            (paid.prompt_tokens, paid.completion_tokens)
        );
        assert_eq!(saved.cost, paid.cost);
        let total = cache.reader().unwrap().savings().unwrap();
        let [(id, total)] = &total[..] else { panic!("{total:?}") };
        assert_eq!(id, paid.id.as_str());
        assert_eq!(total.requests, repeat * 8 * POINTS);
        assert_eq!(total.tokens(), repeat * (paid.prompt_tokens + paid.completion_tokens));
        let cost = repeat as f64 * paid.cost.unwrap();
        assert!((total.cost.unwrap() - cost).abs() < 1e-9, "{total:?}");
    }
}

#[test]
fn responses_paid_for_by_the_same_run_are_not_savings() {
    let (env, server) = (TestEnv::new(), server(""));
    let study = env.study("", &[eval("sim-cheap", &server.base_url())]);
    let cache = env.cache();
    run_all(&study, &count(4), &cache);
    let (more, _) = run_all(&study, &count(12), &cache);
    assert_eq!((more.saved().requests, more.evals[0].answered), (4 * POINTS, 8 * POINTS));
    assert_eq!(more.saved().cost, None, "no prices");
}

#[test]
fn savings_of_responses_without_recorded_usage_are_read_from_them() {
    let (env, server) = (TestEnv::new(), server(""));
    let study = env.study("", &[eval("sim-cheap", &server.base_url())]);
    let paid = run_all(&study, &count(4), &env.cache()).0.evals[0].clone();
    let copy = Cache::open(env.dir.path().join("copy.sqlite")).unwrap();
    let mut importer = copy.importer().unwrap();
    env.cache().reader().unwrap().for_each(|entry| importer.add(&entry)).unwrap();
    importer.finish().unwrap();
    let (again, _) = run_all(&study, &count(4), &copy);
    let saved = again.saved();
    assert_eq!((saved.requests, again.evals[0].answered), (4 * POINTS, 0));
    assert_eq!((saved.prompt_tokens, saved.completion_tokens), (paid.prompt_tokens, paid.completion_tokens));
}
