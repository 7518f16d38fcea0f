//! The pages under `docs/`, as the tests read them.

use reasonscape_stats::paired::{mcnemar, paired_difference};
use reasonscape_stats::pairwise::{Beta, probability_greater};
use reasonscape_stats::power::{Design, minimum_detectable_difference, trials_for_margin};
use reasonscape_stats::{Confidence, Counters, Interval, Mode};

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
fn worked_example_is_what_the_code_says() {
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
fn pairwise_table_is_what_the_code_says() {
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
fn paired_example_is_what_the_code_says() {
    let text = page("statistics.md");
    let test = mcnemar(45, 21);
    assert_has_line(&text, &format!("| could it be chance? | McNemar, exact | p = {:.4} |", test.exact_p));
    assert_has_line(&text, &format!("| the same, less timid | McNemar, mid-p | p = {:.4} |", test.mid_p));
    let difference = paired_difference(400, 45, 21, P95).unwrap();
    let cells =
        format!("{:.3}, from {:.3} to {:.3}", difference.point.unwrap(), difference.low, difference.high);
    assert_has_line(&text, &format!("| how large is it? | Tango's interval | {cells} |"));
}

#[test]
fn planning_tables_are_what_the_code_says() {
    let text = page("statistics.md");
    for margin in [0.10, 0.05, 0.03, 0.02, 0.01] {
        let cells = [0.5, 0.8, 0.95].map(|share| trials_for_margin(share, margin, P95).unwrap().to_string());
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
