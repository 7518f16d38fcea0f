//! Scores and all-pairs win rates of a leaderboard of 60 models and 12 tasks, Bradley-Terry ratings of 100 models; likelihood
//! scores and paired tests of 60 models with 4,000,000 trials.

mod large_board;

use criterion::{Criterion, criterion_group, criterion_main};
use large_board::{LargeBoard, MODELS};
use rayon::prelude::*;
use reasonscape_benches::leaderboard;
use reasonscape_stats::Confidence;
use reasonscape_stats::bradley_terry::fit;
use reasonscape_stats::likelihood::{EffectiveTask, effective_task, likelihood_score};
use reasonscape_stats::paired_score::paired_score_test;
use reasonscape_stats::pairwise::{Method, win_rates};
use reasonscape_stats::score::{Bootstrap, TaskBounds, reason_scores};

/// The leaderboard, every model with every task.
fn complete(models: usize, tasks: usize) -> Vec<Vec<Option<reasonscape_stats::Interval>>> {
    leaderboard(models, tasks).into_iter().map(|row| row.into_iter().map(Some).collect()).collect()
}

fn scores(criterion: &mut Criterion) {
    let board: Vec<Vec<TaskBounds>> =
        leaderboard(60, 12).into_iter().map(|row| row.into_iter().map(TaskBounds::from).collect()).collect();
    criterion.benchmark_group("score").bench_function("60x12x5000", |bencher| {
        bencher.iter(|| reason_scores(&board, Bootstrap::default()));
    });
}

/// The scores of 60 models with 1,067 points in 12 tasks, by likelihood and as v2, and all paired tests.
fn large_board(criterion: &mut Criterion) {
    let board = LargeBoard::new();
    let points = board.weighted_points();
    let mut group = criterion.benchmark_group("large board");
    group.sample_size(10);
    group.bench_function("likelihood scores", |bencher| {
        bencher.iter(|| {
            let scores = points.par_iter().map(|tasks| {
                let tasks: Vec<EffectiveTask> = tasks
                    .iter()
                    .map(|points| effective_task(points).expect("valid sums").expect("trials"))
                    .collect();
                likelihood_score(&tasks, Confidence::P95).expect("valid tasks")
            });
            scores.collect::<Vec<_>>()
        });
    });
    let bounds = LargeBoard::bounds(&points);
    group.bench_function("v2 bootstrap", |bencher| {
        bencher.iter(|| reason_scores(&bounds, Bootstrap::default()));
    });
    let pairs: Vec<(usize, usize)> = (0..MODELS).flat_map(|a| (a + 1..MODELS).map(move |b| (a, b))).collect();
    group.bench_function("paired tests", |bencher| {
        bencher.iter(|| {
            let tests = pairs.par_iter().map(|&(a, b)| paired_score_test(&board.paired(a, b)));
            tests.collect::<Vec<_>>()
        });
    });
    group.finish();
}

fn all_pairs(criterion: &mut Criterion) {
    let board = complete(60, 12);
    let mut group = criterion.benchmark_group("pairwise");
    group.bench_function("exact 60x12", |bencher| {
        bencher.iter(|| win_rates(&board, Confidence::P95, Method::Exact));
    });
    group.sample_size(10);
    group.bench_function("monte carlo 60x12", |bencher| {
        bencher.iter(|| win_rates(&board, Confidence::P95, Method::MonteCarlo { draws: 10_000, seed: 42 }));
    });
    group.finish();
}

fn ratings(criterion: &mut Criterion) {
    let rates =
        win_rates(&complete(100, 12), Confidence::P95, Method::Exact).expect("a complete leaderboard");
    let wins: Vec<Vec<f64>> =
        (0..100).map(|a| rates.row(a).iter().map(|rate| rate.unwrap_or(0.0)).collect()).collect();
    let mut group = criterion.benchmark_group("bradley_terry");
    group.bench_function("100", |bencher| bencher.iter(|| fit(&wins)));
    // The matrix that the peer is given: `matrix` in peers/stats.py.
    let even = even_matrix(100);
    group.bench_function("100 even", |bencher| bencher.iter(|| fit(&even)));
    group.finish();
}

/// Win rates of models whose log ratings are evenly spaced from -2 to 2.
fn even_matrix(models: usize) -> Vec<Vec<f64>> {
    let rating = |model: usize| (4.0 * model as f64 / (models - 1) as f64 - 2.0).exp();
    let rate = |a, b| if a == b { 0.0 } else { rating(a) / (rating(a) + rating(b)) };
    (0..models).map(|a| (0..models).map(|b| rate(a, b)).collect()).collect()
}

criterion_group!(benches, scores, large_board, all_pairs, ratings);
criterion_main!(benches);
