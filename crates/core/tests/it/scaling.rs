//! Extraction does work in proportion to the reply, whatever it repeats. The work of `math` is limited by a counter.

use reasonscape_core::{Reply, extract, last_boxed};
use reasonscape_test_support::assert_linear;

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
