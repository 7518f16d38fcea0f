//! Extraction does work in proportion to the reply, whatever it repeats. The work of `math` is limited by a counter.

use reasonscape_core::{Reply, Scorer, Test, extract, last_boxed};
use reasonscape_test_support::assert_linear;

/// The scorers whose work is not limited by a counter.
const SCORERS: [&str; 9] =
    ["exact", "choice", "yes_no", "numeric", "set", "list", "json", "regex", "contains"];

#[test]
fn scoring_is_linear() {
    for scorer in SCORERS {
        let scorer: Scorer = scorer.parse().unwrap();
        for piece in ["a ", "1, ", "not a ", "["] {
            assert_linear(&format!("{scorer} {piece:?}"), |size| {
                let text = piece.repeat(size / 4);
                // Almost equal, so that a comparison runs to its end.
                let test = Test::free_form(String::new(), format!("{text}b"));
                std::hint::black_box(scorer.score(&format!("{text}{text}"), &test));
            });
        }
    }
}

/// Pieces that open something, mark an answer or look like a part of one.
const PIECES: [&str; 25] = [
    r"\boxed{",
    "}",
    "{",
    r"\boxed{1} ",
    "<answer>",
    "</answer>",
    "<think>",
    "</think>",
    "Answer: ",
    "the answer is ",
    "A: 1\n",
    "```\n",
    "**",
    "$",
    "1, ",
    "1 or ",
    "(",
    "[[",
    "- 1\n",
    "A. x ",
    "not ",
    "x+",
    r"\frac{1}{",
    "\"",
    "é",
];

#[test]
fn extraction_is_linear() {
    for piece in PIECES {
        assert_linear(&format!("extract {piece:?}"), |size| {
            let text = piece.repeat(size);
            let found = extract(&Reply::from(text.as_str()));
            std::hint::black_box((found.thoughts(), last_boxed(&text)));
        });
    }
}
