//! Maps scores of logs to outcomes.

use reasonscape_core::Outcome;

/// Reasons why a sample is skipped; printed as they are.
pub mod skip_reason {
    /// It was not scored.
    pub const NO_SCORE: &str = "no score";
    /// The run failed on it.
    pub const ERROR: &str = "ended in an error";
    /// Its score cannot be converted to a number.
    pub const NOT_A_NUMBER: &str = "a score that is not a number";
    /// The log has it twice.
    pub const DUPLICATE: &str = "given twice";
}

/// The lowest score of a correct answer.
#[derive(Debug, Clone, Copy)]
pub struct Threshold(pub(super) Option<f64>);

impl Threshold {
    /// Whether a score means correct.
    ///
    /// # Errors
    /// A message if there is no threshold and the score is outside 0 to 1.
    pub fn is_correct(self, score: f64) -> Result<bool, String> {
        match self.0 {
            Some(min_score) => Ok(score >= min_score),
            None if (0.0..=1.0).contains(&score) => Ok(score == 1.0),
            None => Err(format!(
                "the score {score} is outside 0 to 1, so its meaning is unknown; set the lowest score of a correct answer, \
                 as in `--threshold 5`"
            )),
        }
    }

    /// The outcome of a trial with this score; a truncated one is truncated, whatever its score.
    ///
    /// # Errors
    /// As [`Self::is_correct`].
    pub fn status(self, score: f64, is_truncated: bool) -> Result<Outcome, String> {
        Ok(match (is_truncated, self.is_correct(score)?) {
            (true, _) => Outcome::Truncated,
            (false, true) => Outcome::Correct,
            (false, false) => Outcome::Incorrect,
        })
    }
}

/// The score of a word.
pub(super) fn score_of_word(word: &str) -> Option<f64> {
    match word {
        "C" => Some(1.0),
        "P" => Some(0.5),
        "I" | "N" => Some(0.0),
        other => match other.to_ascii_lowercase().as_str() {
            "yes" | "true" => Some(1.0),
            "no" | "false" => Some(0.0),
            number => number.parse().ok().filter(|number: &f64| number.is_finite()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_below_one_are_not_rounded_up() {
        assert_eq!(Threshold(None).is_correct(0.999), Ok(false));
        assert_eq!(Threshold(None).is_correct(1.0), Ok(true));
        assert_eq!(Threshold(Some(0.5)).is_correct(0.5), Ok(true));
        assert!(Threshold(None).is_correct(7.0).unwrap_err().contains("--threshold"));
        assert!(Threshold(None).is_correct(-1.0).is_err());
        assert_eq!(Threshold(Some(5.0)).status(7.0, true), Ok(Outcome::Truncated));
    }

    #[test]
    fn reads_score_words_of_inspect() {
        let values = ["C", "I", "P", "N", "yes", "False", "0.25", "perhaps", "NaN"].map(score_of_word);
        assert_eq!(
            values,
            [Some(1.0), Some(0.0), Some(0.5), Some(0.0), Some(1.0), Some(0.0), Some(0.25), None, None]
        );
    }
}
