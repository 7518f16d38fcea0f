//! Problems per second on one core for each task, and all of r12 on all cores.

use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rayon::prelude::*;
use reasonscape_core::{Json, Params, Suite, TestStream, tasks};

/// A name, a task, and parameters comparable to a generator of the peer; peers/tasks.py has its settings.
const COMPARABLE: [(&str, &str, &str); 8] = [
    ("arithmetic", "arithmetic", r#"{"length": 4, "max_depth": 1, "max_number": 99, "operators": "+-*"}"#),
    (
        "arithmetic, flat",
        "arithmetic",
        r#"{"length": 4, "max_depth": 0, "max_number": 99, "operators": "+-"}"#,
    ),
    ("boolean", "boolean", r#"{"length": 12, "max_depth": 1}"#),
    ("dates", "dates", r#"{"operations": 1, "kinds": "days", "span_years": 1, "distractors": 0}"#),
    ("letters", "letters", r#"{"words": 10, "letters": 1, "confounders": 0}"#),
    ("objects", "objects", r#"{"length": 6, "target_groups": 1, "adjectives": 0}"#),
    ("sort", "sort", r#"{"length": 10}"#),
    ("sort, numbers", "sort", r#"{"length": 10, "key": "numeric"}"#),
];

/// Problems in one measured batch: the size of the peer's datasets.
const BATCH: usize = 500;

fn comparable(criterion: &mut Criterion) {
    measure(criterion, "comparable", &COMPARABLE);
}

fn defaults(criterion: &mut Criterion) {
    let names: Vec<String> =
        tasks::all_versions().map(|task| format!("{}@{}", task.family(), task.version())).collect();
    let all: Vec<_> = names.iter().map(|name| (name.as_str(), name.as_str(), "{}")).collect();
    measure(criterion, "defaults", &all);
}

/// Problems on one core. Every batch has its own seed, because branch predictors learn a repeated batch.
fn measure(criterion: &mut Criterion, group: &str, coordinates: &[(&str, &str, &str)]) {
    let mut group = criterion.benchmark_group(group);
    group.throughput(Throughput::Elements(BATCH as u64));
    group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(1));
    for (name, task, given) in coordinates {
        let task = tasks::by_name(task).expect("a built-in task");
        let params = Params::new(task, &Json::parse(given).expect("JSON")).expect("valid parameters");
        let mut seeds = 0..;
        group.bench_function(*name, |bencher| {
            bencher.iter(|| {
                let seed = seeds.next().expect("seeds do not run out");
                TestStream::new(task, &params, seed).take(BATCH).map(|test| test.prompt.len()).sum::<usize>()
            });
        });
    }
    group.finish();
}

fn r12(criterion: &mut Criterion) {
    let suite = Suite::parse(Suite::built_in("r12").expect("r12 is built in")).expect("r12 is well formed");
    let points = suite.points();
    let mut group = criterion.benchmark_group("suite");
    group.sample_size(10);
    group.bench_function("r12 x 64", |bencher| {
        bencher.iter(|| {
            points
                .par_iter()
                .map(|point| {
                    TestStream::new(point.task, point.params, 0)
                        .take(64)
                        .map(|test| test.prompt.len())
                        .sum::<usize>()
                })
                .sum::<usize>()
        });
    });
    group.finish();
}

criterion_group!(benches, comparable, defaults, r12);
criterion_main!(benches);
