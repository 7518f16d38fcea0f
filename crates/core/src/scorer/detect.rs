//! Detects a scorer from the targets of a dataset.

use super::clean::clean;
use super::{Scorer, choice, numeric, yes_no};
use crate::{Item, Json, Test};

/// A scorer and why it was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DetectedScorer {
    /// The scorer.
    pub scorer: Scorer,
    /// What the targets are.
    pub reason: &'static str,
}

/// The scorer that the targets of all items suggest.
///
/// ```
/// use reasonscape_core::{Dataset, Scorer, detect_scorer};
///
/// let lines = r#"{"input": "How much?", "target": "$1,000"}"#;
/// let dataset = Dataset::parse("mine", lines).expect("the line is valid");
/// let detected = detect_scorer(dataset.tasks()[0].items());
/// assert_eq!(detected.scorer.name(), "numeric");
/// ```
pub fn detect_scorer<'i>(items: impl IntoIterator<Item = &'i Item>) -> DetectedScorer {
    detect_scorer_of(items.into_iter().map(|item| &item.test))
}

/// The scorer that the targets and options of these tests suggest.
pub fn detect_scorer_of<'t>(tests: impl IntoIterator<Item = &'t Test>) -> DetectedScorer {
    let mut shapes = Shapes::default();
    for test in tests {
        shapes.add(test);
    }
    shapes.scorer()
}

/// How many items have which shape.
#[derive(Default)]
struct Shapes {
    items: usize,
    with_options: usize,
    /// With options, or a letter as target.
    choices: usize,
    letters: usize,
    truths: usize,
    numbers: usize,
    values: usize,
    formulas: usize,
}

impl Shapes {
    fn add(&mut self, test: &Test) {
        self.items += 1;
        let targets = || std::iter::once(&test.target).chain(&test.alternative_targets).map(String::as_str);
        let all = |is: &dyn Fn(&str) -> bool| usize::from(targets().all(|target| is(clean(target))));
        self.with_options += usize::from(!test.options.is_empty());
        let is_letter =
            all(&|target| choice::letter(target).is_some_and(|letter| letter < 10) && target != "a");
        self.letters += is_letter;
        self.choices += usize::from(!test.options.is_empty() || is_letter == 1);
        self.truths += all(&|target| yes_no::truth(target).is_some());
        self.numbers += all(&|target| numeric::target(target).is_some());
        self.values += all(&|target| target.starts_with(['[', '{']) && Json::parse(target).is_ok());
        self.formulas += usize::from(targets().any(is_formula));
    }

    fn scorer(&self) -> DetectedScorer {
        let all = |count: usize| count == self.items;
        let (name, reason) = if self.with_options > 0 && all(self.with_options) {
            (Scorer::Choice, "all questions have options")
        } else if self.with_options > 0 && all(self.choices) {
            (Scorer::Choice, "all questions have options or a letter as target")
        } else if all(self.truths) {
            (Scorer::YesNo, "all targets are truth values")
        } else if all(self.letters) {
            (Scorer::Choice, "all targets are letters")
        } else if all(self.values) {
            (Scorer::Json, "all targets are JSON")
        } else if self.formulas > 0 {
            (Scorer::Math, "some targets are formulas")
        } else if all(self.numbers) {
            (Scorer::ALL[3], "all targets are numbers")
        } else {
            (Scorer::Exact, "the targets have no common form")
        };
        DetectedScorer { scorer: name, reason }
    }
}

/// Whether a target is written in LaTeX.
fn is_formula(target: &str) -> bool {
    let cleaned = clean(target);
    [
        r"\frac", r"\dfrac", r"\tfrac", r"\sqrt", r"\pi", r"\cup", r"\infty", r"\begin{", r"\left", r"\pm",
        r"\cdot", r"\le", r"\ge", r"\times", r"^\circ",
    ]
    .iter()
    .any(|command| cleaned.contains(command))
        || cleaned.contains("^{")
        || cleaned.len() + 2 <= target.trim().len()
            && target.trim().starts_with('$')
            && numeric::target(cleaned).is_none()
            && (cleaned.contains('\\') || crate::math::is_decidable(cleaned))
}
