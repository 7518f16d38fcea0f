//! Tests a second on one core for each task, and the whole of r12 on all of them.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rayon::prelude::*;
use reasonscape_core::{Json, Params, Suite, Tests, tasks};

/// Coordinates that ask about as much as the peer's generators at theirs; see peers/tasks.py.
const COMPARABLE: [(&str, &str); 7] = [
    ("arithmetic", r#"{"length": 4, "max_depth": 1, "max_number": 99, "operators": "+-*"}"#),
    ("boolean", r#"{"length": 5, "max_depth": 3}"#),
    ("dates", r#"{"operations": 1, "kinds": "days", "distractors": 0}"#),
    ("letters", r#"{"words": 10, "letters": 1, "confounders": 0}"#),
    ("objects", r#"{"length": 9, "target_groups": 1, "adjectives": 0}"#),
    ("shuffle", r#"{"entities": 3, "depth": 5, "confounders": 0, "anchors": 0}"#),
    ("sort", r#"{"length": 10}"#),
];

/// Tests in one measured batch, enough that setting up the stream does not count.
const BATCH: usize = 200;

fn one_core(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("tasks");
    group.throughput(Throughput::Elements(BATCH as u64));
    for task in tasks::ALL {
        let given =
            COMPARABLE.iter().find(|(name, _)| *name == task.name()).map_or("{}", |(_, params)| params);
        let params = Params::new(*task, &Json::parse(given).expect("JSON")).expect("legal coordinates");
        group.bench_function(task.name(), |bencher| {
            bencher.iter(|| {
                Tests::new(*task, &params, 0).take(BATCH).map(|test| test.prompt.len()).sum::<usize>()
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
    group.bench_function("r12 x 64, all cores", |bencher| {
        bencher.iter(|| {
            points
                .par_iter()
                .map(|point| {
                    Tests::new(point.task, point.params, 0)
                        .take(64)
                        .map(|test| test.prompt.len())
                        .sum::<usize>()
                })
                .sum::<usize>()
        });
    });
    group.finish();
}

criterion_group!(benches, one_core, r12);
criterion_main!(benches);
