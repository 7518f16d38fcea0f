//! The pages under `docs/`, as the tests read them.

use reasonscape_stats::{Confidence, Counters, Mode};

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
        let estimate = mode.estimate(&counters, Confidence::P95);
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
