//! The pages under `docs/`, as the tests read them.

use reasonscape_stats::effect_size::Sample;
use reasonscape_stats::likelihood::{
    EffectiveTask, PointSums, WeightedPoint, effective_task, likelihood_score,
};
use reasonscape_stats::logistic::{Row, fit};
use reasonscape_stats::paired::{mcnemar, paired_difference};
use reasonscape_stats::pairwise::{Beta, probability_greater};
use reasonscape_stats::power::{Design, minimum_detectable_difference, trials_for_margin};
use reasonscape_stats::random::PyRandom;
use reasonscape_stats::survival::{SurvivalData, SurvivalStep};
use reasonscape_stats::{Confidence, Counters, Interval, Mode, Outcome};
use reasonscape_test_support::python;

const P95: Confidence = Confidence::P95;

/// The text of a page.
pub(crate) fn page(name: &str) -> String {
    let path = format!("{}/../../docs/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("failed to read `{path}`: {error}"))
}

/// The fenced block whose first line is `first`.
pub(crate) fn block(page: &str, first: &str) -> String {
    let start = page.find(first).unwrap_or_else(|| panic!("no block that starts with `{first}`"));
    let length = page[start..].find("```").expect("a fence closes the block");
    page[start..start + length].to_owned()
}

/// Fails with the line that the page should have.
pub(crate) fn assert_has_line(page: &str, line: &str) {
    assert!(page.lines().any(|found| found == line), "the page lacks the line\n{line}");
}

#[test]
fn worked_example_matches_code() {
    let counters = Counters::new(128.0, 100.0, 5.0, 12.3).unwrap();
    let text = page("statistics.md");
    for mode in Mode::ALL {
        let estimate = mode.estimate(&counters, P95);
        let numbers = [
            estimate.point.expect("there are trials"),
            estimate.low,
            estimate.high,
            estimate.center(),
            estimate.margin(),
        ];
        let cells = numbers.map(|number| format!("{number:.4}")).join(" | ");
        assert_has_line(&text, &format!("| `{mode}` | {cells} |"));
    }
}

#[test]
fn documented_python_gives_likelihood_scores() {
    let text = page("statistics.md");
    let script = block(&text, "# reason_score.py");
    let score = |tasks: &[(u32, u32)]| {
        let tasks: Vec<EffectiveTask> = tasks
            .iter()
            .map(|&(n, correct)| {
                let counters = Counters::new(n.into(), correct.into(), 0.0, 0.0).unwrap();
                let sums = PointSums::from_counters(&counters);
                effective_task(&[WeightedPoint { sums, weight: 1.0, stop_rule: None }]).unwrap().unwrap()
            })
            .collect();
        likelihood_score(&tasks, P95).unwrap()
    };
    let example = score(&[(24, 22), (24, 18), (24, 23)]);
    let sentence = format!(
        "The estimate is {:.0}, with a 95 % confidence interval from {:.0} to {:.0}:",
        example.estimate, example.ci_low, example.ci_high
    );
    assert!(text.contains(&sentence), "the page lacks\n{sentence}");
    let mut rng = PyRandom::new(24);
    for _ in 0..20 {
        let tasks: Vec<(u32, u32)> = (0..=rng.index(12))
            .map(|_| {
                let n = 12 + rng.index(100) as u32;
                (n, n - 1 - rng.index(n as usize / 2) as u32)
            })
            .collect();
        let Some(output) = python(&script, &serde_json::to_string(&tasks).unwrap()) else { return };
        let expected: Vec<f64> = output.split_whitespace().map(|number| number.parse().unwrap()).collect();
        let found = score(&tasks);
        for (found, expected) in [found.estimate, found.ci_low, found.ci_high].into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{found}, expected {expected} for {tasks:?}");
        }
    }
}

#[test]
fn pairwise_table_matches_code() {
    let text = page("statistics.md");
    let beta = |center: f64| {
        let interval = Interval { low: center - 0.03, high: center + 0.03, point: None };
        Beta::from_interval(interval, P95).unwrap()
    };
    for other in [0.80, 0.77, 0.75] {
        let probability = probability_greater(&beta(0.80), &beta(other));
        assert_has_line(&text, &format!("| 0.80 ± 0.03 | {other:.2} ± 0.03 | {probability:.3} |"));
    }
}

#[test]
fn paired_example_matches_code() {
    let text = page("statistics.md");
    let test = mcnemar(45, 21);
    assert_has_line(
        &text,
        &format!("| is the difference significant? | McNemar, exact | p = {:.4} |", test.exact_p),
    );
    assert_has_line(
        &text,
        &format!("| the same, less conservative | McNemar, mid-p | p = {:.4} |", test.mid_p),
    );
    let difference = paired_difference(400, 45, 21, P95).unwrap();
    let cells =
        format!("{:.3}, from {:.3} to {:.3}", difference.point.unwrap(), difference.low, difference.high);
    assert_has_line(&text, &format!("| how large is it? | Tango's interval | {cells} |"));
}

#[test]
fn planning_tables_match_code() {
    let text = page("statistics.md");
    for margin in [0.10, 0.05, 0.03, 0.02, 0.01] {
        let cells = [0.5, 0.8, 0.95]
            .map(|proportion| trials_for_margin(proportion, margin, P95).unwrap().to_string());
        assert_has_line(&text, &format!("| ±{margin:.2} | {} |", cells.join(" | ")));
    }
    for items in [128_u64, 512, 2048] {
        let paired = [0.1, 0.2, 0.3].map(|discordant| {
            let difference = minimum_detectable_difference(items, discordant, Design::default()).unwrap();
            format!("{:.1}", 100.0 * difference)
        });
        let separate = (1.959_964 + 0.841_621) * (2.0 * 0.8 * 0.2 / items as f64).sqrt();
        assert_has_line(&text, &format!("| {items} | {} | {:.1} |", paired.join(" | "), 100.0 * separate));
    }
}

#[test]
fn survival_example_matches_code() {
    let text = page("statistics.md");
    let answers = [100, 150, 200, 250, 300, 400, 500].map(|tokens| (tokens, Outcome::Correct));
    let survival_data = SurvivalData::new(answers.into_iter().chain([(512, Outcome::Truncated)])).unwrap();
    let curve = survival_data.survival(P95);
    for step in curve.steps() {
        let SurvivalStep { tokens, at_risk, proportion, low, high, .. } = step;
        assert_has_line(&text, &format!("| {tokens} | {at_risk} | {proportion:.3} | {low:.3} | {high:.3} |"));
    }
    let median = curve.median();
    let [tokens, low] = [median.tokens, median.low].map(Option::unwrap);
    let high = median.high.map_or("without an upper end".to_owned(), |high| format!("to {high}"));
    assert_has_line(&text, &format!("The median is {tokens} tokens, from {low} {high}."));
}

#[test]
fn effect_and_crossing_examples_match_code() {
    let text = page("statistics.md");
    let sample = |values: [f64; 3]| Sample::new(values.to_vec()).unwrap();
    let effect = sample([4.0, 5.0, 6.0]).compared_with(&sample([1.0, 2.0, 3.0]), P95);
    assert!(text.contains(&format!("delta is {}, from {:.3} to {}.", effect.delta, effect.low, effect.high)));
    let row = |x, successes, guess| Row { x, n: 40.0, successes, guess };
    for guess in [0.0, 0.25] {
        let rows =
            [row(2.0, 39.0, guess), row(4.0, 33.0, guess), row(6.0, 22.0, guess), row(8.0, 14.0, guess)];
        let found = fit(&rows, P95).unwrap();
        let [x50, low, high] = [found.x50, found.low, found.high].map(Option::unwrap);
        let p = found.lack_of_fit.p.unwrap();
        assert_has_line(&text, &format!("| {guess} | {x50:.2} | {low:.2} | {high:.2} | {p:.2} |"));
    }
}
