//! Decides whether two formulas are equal, by an algebraic normal form.
//!
//! A formula is read as LaTeX or plain text into a [`Value`](value::Value): an expression, a tuple, a set, an interval, a matrix, an equation. An
//! expression is a fraction of polynomials with rational coefficients. Its atoms are symbols, π, the imaginary unit, roots
//! of primes, roots of polynomials, and opaque parts such as `\cos(t)`, which are equal only if their arguments are.
//! Fractions are compared by cross-multiplication, so no greatest common divisor is needed.
//!
//! Every step is bounded: the length of a formula, the number of terms, and the sum of all multiplications. Beyond that, and for
//! whatever isn't one of these forms, the comparison is undecided.

mod compare;
mod expression;
mod lexer;
mod parser;
mod polynomial;
mod ratio;
mod value;

pub(crate) use ratio::Ratio;

use self::expression::Atoms;

/// Maximum length of a formula, in bytes.
const MAX_LEN: usize = 600;

/// The result of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Equality {
    /// Equal in normal form.
    Equal,
    /// The normal forms differ, and they are complete.
    Different,
    /// One of them can't be read, or has parts without a normal form.
    Undecided,
}

/// Why a formula has no normal form. All reasons are [`Equality::Undecided`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unreadable;

/// Compares two formulas.
pub(crate) fn equality(a: &str, b: &str) -> Equality {
    if a.len() > MAX_LEN || b.len() > MAX_LEN {
        return Equality::Undecided;
    }
    // `3,100` is one number, unless it is two: then both sides are lists.
    match equality_read(a, b, true) {
        Equality::Equal => Equality::Equal,
        first if has_comma_between_digits(a) || has_comma_between_digits(b) => {
            if equality_read(a, b, false) == Equality::Equal { Equality::Equal } else { first }
        }
        first => first,
    }
}

fn equality_read(a: &str, b: &str, grouped_digits: bool) -> Equality {
    let mut atoms = Atoms::default();
    let mut read = |text| parser::parse(text, grouped_digits, &mut atoms);
    let (Ok(a), Ok(b)) = (read(a), read(b)) else { return Equality::Undecided };
    match compare::equal(&a, &b, &mut atoms) {
        Ok(true) => Equality::Equal,
        Ok(false) if !atoms.has_opaque() => Equality::Different,
        Ok(false) | Err(Unreadable) => Equality::Undecided,
    }
}

fn has_comma_between_digits(text: &str) -> bool {
    text.as_bytes()
        .windows(3)
        .any(|window| window[1] == b',' && window[0].is_ascii_digit() && window[2].is_ascii_digit())
}

/// Whether a text can be read as a formula whose parts all have a normal form.
pub(crate) fn is_decidable(text: &str) -> bool {
    let mut atoms = Atoms::default();
    text.len() <= MAX_LEN && parser::parse(text, true, &mut atoms).is_ok() && !atoms.has_opaque()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_formulas_have_equal_normal_forms() {
        for (a, b) in [
            (r"\frac12", "0.5"),
            (r"(x+1)^2", "x^2+2x+1"),
            (r"\frac{1}{\sqrt{2}}", r"\frac{\sqrt2}{2}"),
            (r"\frac{1}{1+\sqrt{2}}", r"\sqrt{2}-1"),
            (r"\sqrt{8}", r"2\sqrt2"),
            (r"-5x^{-6}", r"-\frac{5}{x^6}"),
            (r"1\frac14", "1.25"),
            (r"1 \pm \sqrt{19}", r"1-\sqrt{19}, 1+\sqrt{19}"),
            (r"(3, \frac{\pi}{2})", r"\left(3,\pi/2\right)"),
            ("x > 3", "3 < x"),
            ("y = 2x + 1", "2x - y + 1 = 0"),
            ("f(x) = 2x", "2x"),
            (r"i^2", "-1"),
            (r"\sqrt{-4}", "2i"),
            (r"\frac{2}{\sqrt[3]{4}}", r"2^{1/3}"),
            (r"\frac{e^{-at}-e^{-bt}}{b-a}", r"\frac{1}{a-b}(e^{-bt}-e^{-at})"),
            (r"\cos(t-\pi/4)", r"\cos \left( -\frac{\pi}{4}+t \right)"),
            ("10^{3},10", "(10^{3},10)"),
            ("1,000,000", r"1{,}000{,}000"),
            ("(27,20,13),(18,20,22)", "(18, 20, 22), (27, 20, 13)"),
            (r"\sqrt{x+1}\sqrt{x+1}", "x+1"),
        ] {
            assert_eq!(equality(a, b), Equality::Equal, "{a} and {b}");
            assert_eq!(equality(b, a), Equality::Equal, "{b} and {a}");
        }
    }

    #[test]
    fn different_formulas_are_not_equal() {
        for (a, b) in [
            ("1009", "1000"),
            (r"\frac13", "0.33"),
            ("2x+3", "2x-3"),
            ("x = 5", "y = 5"),
            ("(1, 2)", "(2, 1)"),
            ("[0, 1)", "[0, 1]"),
            ("1, 2", "1, 2, 3"),
            ("x < 3", r"x \le 3"),
            ("52_8", "52"),
            (r"x^2", "x^3"),
            (r"\sqrt2", "2"),
            ("1,000", "1, 0"),
        ] {
            assert_ne!(equality(a, b), Equality::Equal, "{a} and {b}");
        }
    }

    #[test]
    fn what_has_no_normal_form_is_undecided() {
        for (a, b) in [
            (r"\sin^2 x + \cos^2 x", "1"),
            ("all real numbers", "x"),
            (r"\sqrt{3+2\sqrt{2}}", r"1+\sqrt{2}"),
            (r"\sqrt{x^2}", "x"),
            ("(a+b+c+d+f+g)^{31}", "1"),
            ("9^{99999}", "1"),
            ("a+b+c+d+f+g+h+j+k+l", "1"),
            ("((((((((((((((((((((((((((1))))))))))))))))))))))))))", "1"),
            (r"\frac{1}{0}", "1"),
        ] {
            assert_eq!(equality(a, b), Equality::Undecided, "{a} and {b}");
        }
    }
}
