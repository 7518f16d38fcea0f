//! Reading equations takes work in proportion to the reasoning, whatever it repeats.

use reasonscape_metrics::{check_steps, check_truncated_steps};
use reasonscape_test_support::assert_linear;

#[test]
fn equation_reading_is_linear() {
    for piece in [
        "1",
        "1 + ",
        "1 = ",
        "1 + 1 = 2 ",
        "1 + 1 = 3\n",
        "(",
        "((1 + 2) ",
        "= ",
        "$",
        r"\frac{1}{",
        r"\left(",
        "{",
        "}",
        "x ",
        "1,",
        "1.",
        "% ",
        "of ",
        "- ",
        "-",
        "**",
        "cm^2 ",
        "half of ",
        r"\qquad ",
        "²",
        "1 / ",
        "sqrt(",
        "so ",
        "<<1+1=2>>2 ",
    ] {
        assert_linear(&format!("equations in {piece:?}"), |size| {
            let text = piece.repeat(size);
            std::hint::black_box((check_steps(&text).len(), check_truncated_steps(&text).len()));
        });
    }
}
