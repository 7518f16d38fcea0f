//! ReasonScore: its worked figures, its order statistics, its stability, and the Python of the docs.

use std::collections::BTreeMap;

use reasonscape_stats::random::PyRandom;
use reasonscape_stats::score::{
    Bootstrap, ReasonScore, TaskBounds, geometric_mean, min_max_score, ranks, reason_score, reason_scores,
    stability,
};

use crate::docs::{assert_has_line, block, page};
use reasonscape_test_support::python;

#[path = "../../examples/support/board.rs"]
mod board;

#[test]
fn score_of_one_bad_task_among_twelve() {
    let with = |worst: f64| {
        let proportions: Vec<f64> = std::iter::repeat_n(0.95, 11).chain([worst]).collect();
        format!("{:.3}", geometric_mean(&proportions).unwrap())
    };
    assert_eq!(with(0.05), "0.743");
    assert_eq!(with(0.01), "0.650");
}

#[test]
fn bounds_are_order_statistics_125_and_4875() {
    let tasks: Vec<TaskBounds> = [(0.2, 0.5), (0.6, 0.61), (0.9, 1.0)]
        .into_iter()
        .map(|(low, high)| TaskBounds::new(low, high).unwrap())
        .collect();
    let mut rng = PyRandom::new(42);
    let mut means: Vec<f64> = (0..5000)
        .map(|_| {
            let draws: Vec<f64> = tasks.iter().map(|task| rng.uniform(task.low(), task.high())).collect();
            geometric_mean(&draws).unwrap()
        })
        .collect();
    means.sort_by(f64::total_cmp);
    let score = reason_score(&tasks, Bootstrap::default()).unwrap();
    assert!((score.ci_low - 1000.0 * means[125]).abs() < 1e-9);
    assert!((score.ci_high - 1000.0 * means[4875]).abs() < 1e-9);
    // Their neighbours are far enough away for the test to see an index that is off by one.
    assert!((score.ci_low - 1000.0 * means[126]).abs() > 1e-6);
    assert!((score.ci_high - 1000.0 * means[4874]).abs() > 1e-6);
}

fn mean_margin(scores: &[ReasonScore]) -> f64 {
    scores.iter().map(ReasonScore::margin).sum::<f64>() / scores.len() as f64
}

#[test]
fn bootstrap_margin_is_about_two_fifths_of_min_max() {
    let board = board::synthetic();
    assert_eq!((board.len(), board[0].len()), (37, 12));
    let narrow = mean_margin(&reason_scores(&board, Bootstrap::default()).unwrap());
    let extremes: Vec<ReasonScore> = board.iter().map(|tasks| min_max_score(tasks).unwrap()).collect();
    let wide = mean_margin(&extremes);
    // 0.33 if all tasks were equally uncertain; ReasonScape's own 37 models gave 0.38.
    let ratio = narrow / wide;
    assert!((0.35..0.42).contains(&ratio), "{ratio}");
    let text = page("statistics.md");
    assert_has_line(&text, &format!("| min/max | ±{wide:.1} | {:.1} | 1.00 |", 2.0 * wide));
    assert_has_line(&text, &format!("| bootstrap | ±{narrow:.1} | {:.1} | {ratio:.2} |", 2.0 * narrow));
}

#[test]
fn margins_converge_by_5000_draws() {
    let board = board::synthetic();
    let ranking = ranks(&reason_scores(&board, Bootstrap::default()).unwrap());
    let middling = ranking.iter().position(|entry| entry.rank == 22).unwrap();
    let rows = stability(&board[middling], &[100, 500, 1000, 5000, 10_000], 0..10).unwrap();
    assert!(rows.windows(2).all(|pair| pair[1].margin_range < pair[0].margin_range), "{rows:?}");
    assert!(rows.windows(2).all(|pair| pair[1].margin_sd < pair[0].margin_sd), "{rows:?}");
    assert!(rows.iter().all(|row| (row.margin_range < 0.5) == (row.draws >= 5000)), "{rows:?}");
    let text = page("statistics.md");
    for row in rows {
        let stable = if row.margin_range < 0.5 { "yes" } else { "no" };
        let (mean, sd, range) = (row.margin_mean, row.margin_sd, row.margin_range);
        assert_has_line(&text, &format!("| {} | {mean:.2} ± {sd:.2} | {range:.2} | {stable} |", row.draws));
    }
}

/// Tasks by name with bounds anywhere from 0 to 1, some of them touching an end or each other.
fn random_tasks(rng: &mut PyRandom) -> BTreeMap<String, [f64; 2]> {
    let names =
        ["arithmetic", "Zebra", "boolean", "Ångström", "日付", "🧩", "sort_2", "sort_10", "a b", "dates"];
    let count = 1 + rng.index(names.len());
    rng.sample(&names, count)
        .into_iter()
        .map(|name| {
            let mut ends = [(); 2].map(|()| match rng.randint(0, 5) {
                0 => 0.0,
                1 => 1.0,
                _ => rng.random(),
            });
            if rng.randint(0, 9) == 0 {
                ends[1] = ends[0];
            }
            ends.sort_by(f64::total_cmp);
            (name.to_owned(), ends)
        })
        .collect()
}

#[test]
fn documented_python_gives_same_scores() {
    let script = block(&page("statistics.md"), "# reasonscore.py");
    let mut rng = PyRandom::new(2024);
    for _ in 0..20 {
        let tasks = random_tasks(&mut rng);
        let input = serde_json::to_string(&tasks).unwrap();
        let Some(output) = python(&script, &input) else { return };
        let theirs: BTreeMap<String, f64> = serde_json::from_str(&output).unwrap();
        // A BTreeMap of strings is in order of code points, as Python's `sorted` is.
        let bounds: Vec<TaskBounds> =
            tasks.values().map(|&[low, high]| TaskBounds::new(low, high).unwrap()).collect();
        let ours = reason_score(&bounds, Bootstrap::default()).unwrap();
        let ours = [
            ("center", ours.center()),
            ("margin", ours.margin()),
            ("ci_low", ours.ci_low),
            ("ci_high", ours.ci_high),
        ];
        assert_eq!(theirs.len(), ours.len());
        for (key, value) in ours {
            assert!(
                (theirs[key] - value).abs() < 1e-9,
                "{key}: {} by Python, {value} here, for {input}",
                theirs[key]
            );
        }
    }
}
