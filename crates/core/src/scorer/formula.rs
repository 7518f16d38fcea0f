//! `math`: equal as formulas, or as text where formulas have no normal form.

use super::{ScorerVerdict, numeric};
use crate::answer::is_hedged;
use crate::math::{Equality, Ratio, equality};

/// Compares an answer with a formula.
pub(super) fn compare(answer: &str, target: &str) -> ScorerVerdict {
    let mut is_undecided = false;
    for answer in [Some(answer), claimed_formula(answer)].into_iter().flatten() {
        if normalized(answer) == normalized(target) {
            return ScorerVerdict { is_correct: true, is_undecided: false };
        }
        match equality(answer, target) {
            Equality::Equal => return ScorerVerdict { is_correct: true, is_undecided: false },
            Equality::Different => is_undecided = false,
            Equality::Undecided => is_undecided = true,
        }
    }
    if is_undecided && numeric::target(target).is_some() {
        return ScorerVerdict {
            is_correct: numeric::matches(answer, target, Ratio::ZERO),
            is_undecided: false,
        };
    }
    ScorerVerdict { is_correct: false, is_undecided }
}

/// The only formula of a sentence: the text between dollar signs, or after "is".
fn claimed_formula(answer: &str) -> Option<&str> {
    if is_hedged(answer) || answer.ends_with('?') {
        return None;
    }
    let mut between = answer.split('$');
    if let (Some(_), Some(formula), Some(after), None) =
        (between.next(), between.next(), between.next(), between.next())
        && after.len() < 24
    {
        return Some(formula);
    }
    let mut between = answer.split(r"\(");
    if let (Some(_), Some(formula), None) = (between.next(), between.next(), between.next()) {
        return formula.split(r"\)").next();
    }
    answer.rsplit_once(" is ").map(|(_, formula)| formula.trim())
}

/// The text without spacing, sizes and delimiters, and without a type command around it.
fn normalized(text: &str) -> String {
    const DROPPED: [&str; 12] = [
        r"\left",
        r"\right",
        r"\displaystyle",
        r"\,",
        r"\;",
        r"\:",
        r"\!",
        r"\quad",
        "$",
        r"\(",
        r"\)",
        r"\ ",
    ];
    let mut text = text.to_lowercase().replace(r"\dfrac", r"\frac").replace(r"\tfrac", r"\frac");
    for command in [r"\textbf{", r"\text{", r"\mathrm{", r"\mbox{"] {
        if let Some(inner) = text.strip_prefix(command).and_then(|rest| rest.strip_suffix('}')) {
            text = inner.to_owned();
        }
    }
    for dropped in DROPPED {
        if text.contains(dropped) {
            text = text.replace(dropped, "");
        }
    }
    text.retain(|c| !c.is_whitespace());
    text
}
