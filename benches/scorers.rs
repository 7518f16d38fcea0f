//! Scoring per answer on one core: the labeled corpus of `core`, by scorer, and the extraction of its replies.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use reasonscape_core::{Reply, Scorer, Test, extract, is_correct};
use serde_json::Value;

/// A reply with what it is scored against.
struct Case {
    scorer: String,
    reply: String,
    answer: String,
    test: Test,
}

fn cases() -> Vec<Case> {
    let read = |line: &str| {
        let case: Value = serde_json::from_str(line).expect("the corpus is JSON");
        let text = |field: &str| case[field].as_str().expect("a text").to_owned();
        let mut test = Test::free_form(String::new(), text("target"));
        if let Some(options) = case["options"].as_array() {
            test.options = options.iter().filter_map(|option| option.as_str().map(str::to_owned)).collect();
        }
        let reply = text("reply");
        let answer = extract(&Reply::from(reply.as_str())).answer.unwrap_or_default();
        Case { scorer: text("scorer"), reply, answer, test }
    };
    include_str!("../crates/core/tests/corpus/scorers.jsonl").lines().map(read).collect()
}

fn measure(criterion: &mut Criterion, name: &str, elements: usize, mut run: impl FnMut()) {
    let mut group = criterion.benchmark_group("scoring");
    group.throughput(Throughput::Elements(elements as u64));
    group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(1));
    group.bench_function(name, |bencher| bencher.iter(&mut run));
    group.finish();
}

fn scoring(criterion: &mut Criterion) {
    let cases = cases();
    for scorer in Scorer::ALL {
        let own: Vec<&Case> = cases.iter().filter(|case| case.scorer == scorer.name()).collect();
        measure(criterion, scorer.name(), own.len(), || {
            for case in &own {
                black_box(scorer.score(&case.answer, &case.test));
            }
        });
    }
    measure(criterion, "study without a scorer", cases.len(), || {
        for case in &cases {
            black_box(is_correct(&case.answer, [&case.test.target], &case.test.options, true));
        }
    });
    measure(criterion, "extraction", cases.len(), || {
        for case in &cases {
            black_box(extract(&Reply::from(case.reply.as_str())));
        }
    });
}

criterion_group!(benches, scoring);
criterion_main!(benches);
