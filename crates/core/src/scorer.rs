//! Scorers: how the answers to a dataset are compared with its targets.
//!
//! Each scorer refuses rather than guesses: two answers, a hedge or a negation are no answer. `docs/scoring.md` has the
//! contract of each, and `tests/corpus/` has replies with the verdicts that it implies.

mod choice;
mod clean;
mod detect;
mod formula;
mod items;
mod numeric;
mod phrase;
mod yes_no;

use std::fmt::{Display, Formatter};
use std::str::FromStr;

pub use self::detect::{DetectedScorer, detect_scorer, detect_scorer_of};

pub(crate) use self::clean::clean;
use self::clean::without_answer_label;
use crate::math::Ratio;
use crate::{Test, normalize};

/// How answers are compared with targets.
///
/// ```
/// use reasonscape_core::{Scorer, Test};
///
/// let scorer: Scorer = "numeric".parse()?;
/// let test = Test::free_form(String::new(), "540");
/// assert!(scorer.score("540 seconds", &test).is_correct);
/// assert!(!scorer.score("about 540", &test).is_correct);
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scorer {
    /// Equal after cleaning; plain numbers as numbers.
    Exact,
    /// One of the options, by letter or text.
    Choice,
    /// A truth value.
    YesNo,
    /// The one number that the answer claims, within a tolerance.
    Numeric(Tolerance),
    /// Equal as mathematics.
    Math,
    /// The same items in any order.
    Set,
    /// The same items in order.
    List,
    /// The same JSON value.
    Json,
    /// The target is a regular expression for the whole answer.
    Regex,
    /// The answer contains the target.
    Contains,
}

/// The largest accepted difference of a number from the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tolerance(Ratio);

/// The result of comparing an answer with its targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScorerVerdict {
    /// Whether the answer is one of the targets.
    pub is_correct: bool,
    /// Whether it was compared as text because the formulas have no normal form.
    pub is_undecided: bool,
}

/// Maximum length of an answer beyond eight times its target, in bytes; a longer one is a runaway line.
const MAX_ANSWER_LEN: usize = 4096;

impl Scorer {
    /// All scorers, without tolerances.
    pub const ALL: [Self; 10] = [
        Self::Exact,
        Self::Choice,
        Self::YesNo,
        Self::Numeric(Tolerance(Ratio::ZERO)),
        Self::Math,
        Self::Set,
        Self::List,
        Self::Json,
        Self::Regex,
        Self::Contains,
    ];

    /// The name without parameters.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Choice => "choice",
            Self::YesNo => "yes_no",
            Self::Numeric(_) => "numeric",
            Self::Math => "math",
            Self::Set => "set",
            Self::List => "list",
            Self::Json => "json",
            Self::Regex => "regex",
            Self::Contains => "contains",
        }
    }

    /// Compares an extracted answer with the targets of a test. The target verbatim is always correct.
    pub fn score(self, answer: &str, test: &Test) -> ScorerVerdict {
        let mut is_undecided = false;
        let mut targets = std::iter::once(&test.target).chain(&test.alternative_targets);
        let is_correct = targets.any(|target| {
            let verdict = self.compare(answer, target, &test.options);
            is_undecided |= verdict.is_undecided;
            verdict.is_correct
        });
        ScorerVerdict { is_correct, is_undecided: is_undecided && !is_correct }
    }

    fn compare(self, answer: &str, target: &str, options: &[String]) -> ScorerVerdict {
        let decided = |is_correct| ScorerVerdict { is_correct, is_undecided: false };
        // Also at the end of a sentence: a target may end with periods that the sentence's own would make an ellipsis.
        let stated = answer.trim();
        let is_verbatim = stated == target.trim() || stated.strip_suffix('.') == Some(target.trim());
        if is_verbatim || answer == clean(target) {
            return decided(true);
        }
        if answer.len() > MAX_ANSWER_LEN + 8 * target.len() {
            return decided(false);
        }
        let bare = if self == Self::Choice { answer } else { without_answer_label(answer) };
        let (answer, target) = (clean(bare), clean(target));
        decided(match self {
            Self::Exact => is_equal(answer, target),
            Self::Choice => choice::matches(answer, target, options),
            Self::YesNo => yes_no::matches(answer, target),
            Self::Numeric(Tolerance(tolerance)) => numeric::matches(answer, target, tolerance),
            Self::Math => return formula::compare(answer, target),
            Self::Set => items::is_same_set(answer, target),
            Self::List => crate::answer::list_matches(answer, target),
            Self::Json => crate::answer::json_matches(bare, target),
            Self::Regex => matches_pattern(answer, target),
            Self::Contains => phrase::contains(answer, target),
        })
    }

    /// What is wrong with a target under this scorer, if anything.
    pub fn target_problem(self, target: &str) -> Option<String> {
        let target = clean(target);
        match self {
            _ if target.is_empty() => Some("is only markup; expected an answer".to_owned()),
            Self::Regex => {
                pattern(target).err().map(|error| format!("is an invalid regular expression: {error}"))
            }
            Self::YesNo if yes_no::truth(target).is_none() => {
                Some("is no truth value (yes, no, true or false) and is compared as text".to_owned())
            }
            Self::Numeric(_) if numeric::target(target).is_none() => {
                Some("is not a number and is compared as text".to_owned())
            }
            Self::Json if crate::Json::parse(target).is_err() => {
                Some("is not JSON and is compared as text".to_owned())
            }
            _ => None,
        }
    }

    /// Whether a target has a normal form, or needs none.
    pub fn is_decidable(self, target: &str) -> bool {
        self != Self::Math || crate::math::is_decidable(clean(target))
    }
}

/// Equal in lower case with single spaces; plain numbers as numbers.
fn is_equal(answer: &str, target: &str) -> bool {
    let (answer, target) = (normalize(answer, true), normalize(target, true));
    answer == target || answer.split_whitespace().eq(target.split_whitespace())
}

fn pattern(target: &str) -> Result<regex::Regex, String> {
    let pattern = format!("^(?:{})$", target.trim());
    regex::RegexBuilder::new(&pattern).size_limit(1 << 20).build().map_err(|error| match error {
        regex::Error::CompiledTooBig(limit) => format!("larger than {limit} bytes when compiled"),
        other => {
            other.to_string().lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
        }
    })
}

fn matches_pattern(answer: &str, target: &str) -> bool {
    pattern(target).is_ok_and(|pattern| pattern.is_match(answer))
}

impl FromStr for Scorer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, tolerance) = match text.trim().split_once(':') {
            Some((name, tolerance)) => (name, Some(tolerance)),
            None => (text.trim(), None),
        };
        let names: Vec<&str> = Self::ALL.iter().map(|scorer| scorer.name()).collect();
        let Some(scorer) = Self::ALL.into_iter().find(|scorer| scorer.name() == name) else {
            let hint = crate::closest(name, &names)
                .map(|near| format!(" (did you mean `{near}`?)"))
                .unwrap_or_default();
            return Err(format!("unknown scorer `{text}`{hint}; expected one of {}", names.join(", ")));
        };
        match (scorer, tolerance) {
            (scorer, None) => Ok(scorer),
            (Self::Numeric(_), Some(tolerance)) => numeric::target(tolerance)
                .map(|tolerance| tolerance.value)
                .filter(|tolerance| !tolerance.is_negative())
                .map(|tolerance| Self::Numeric(Tolerance(tolerance)))
                .ok_or_else(|| {
                    format!("invalid tolerance `{tolerance}` of `numeric`; expected a number, as in `numeric:0.01`")
                }),
            (_, Some(_)) => Err(format!("the scorer `{name}` has no parameter, found `{text}`; write `{name}`")),
        }
    }
}

impl Display for Scorer {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Numeric(Tolerance(tolerance)) if !tolerance.is_zero() => {
                write!(f, ":{}", tolerance.numerator())?;
                if tolerance.denominator() == 1 { Ok(()) } else { write!(f, "/{}", tolerance.denominator()) }
            }
            _ => Ok(()),
        }
    }
}
