//! Stated confidence, and confidence from token log-probabilities.

/// Maximum distance between the word and its number, in bytes.
const NEAR: usize = 120;

/// The confidence that a reply states, as a probability: the last that it states counts.
///
/// A statement is the word "confidence" (or "confident", "certainty") with a number next to it on the same line:
/// `Confidence: 85%`, `confidence is 0.85`, `Confidence: 8/10`, `I am 85 percent confident`. With a percent sign or the word it is a percentage; `a/b` is a proportion; a bare number up
/// to 1 is a probability, a bare number above 1 and up to 100 a percentage. Anything else (120%, 11/10, -0.5, 250) is not a
/// probability: then the reply states none, rather than an earlier or clamped one.
///
/// ```
/// use reasonscape_metrics::stated_confidence;
///
/// assert_eq!(stated_confidence("Answer: 42\nConfidence: 85%"), Some(0.85));
/// assert_eq!(stated_confidence("**Confidence:** 8/10"), Some(0.8));
/// assert_eq!(stated_confidence("Confidence: 120%"), None);
/// assert_eq!(stated_confidence("I am sure."), None);
/// ```
pub fn stated_confidence(reply: &str) -> Option<f64> {
    let mut at = reply.len();
    // Search from the end, so that a long reply costs no more than its last lines.
    while let Some(found) = last_mention(&reply[..at]) {
        let start = reply.ceil_char_boundary(found.saturating_sub(NEAR));
        let end = reply.floor_char_boundary((found + NEAR).min(reply.len()));
        let line_start = reply[start..found].rfind('\n').map_or(start, |newline| start + newline + 1);
        let line_end = reply[found..end].find('\n').map_or(end, |newline| found + newline);
        let word = reply[found..line_end].find(|c: char| !c.is_alphabetic());
        let word_end = word.map_or(line_end, |length| found + length);
        let stated = after(&reply[word_end..line_end]).or_else(|| before(&reply[line_start..found]));
        if let Some(stated) = stated {
            return stated.probability();
        }
        at = found;
    }
    None
}

/// The probability of the answer from the log-probabilities of the tokens that spell it.
///
/// The tokens are joined, the last occurrence of `answer` (trimmed) is found, and the probabilities of all tokens that
/// overlap it are multiplied. `None` when it does not occur, when the answer is empty, or when one of those
/// log-probabilities is above 0 or NaN. Minus infinity is a probability of 0.
///
/// ```
/// use reasonscape_metrics::answer_probability;
///
/// let tokens = [("Answer", -0.1), (": ", -0.2), ("4", -0.5), ("2", -0.25), (".", -3.0)];
/// assert_eq!(answer_probability(&tokens, "42"), Some((-0.75_f64).exp()));
/// assert_eq!(answer_probability(&tokens, "43"), None);
/// ```
pub fn answer_probability(tokens: &[(&str, f64)], answer: &str) -> Option<f64> {
    let answer = answer.trim();
    if answer.is_empty() {
        return None;
    }
    let response: String = tokens.iter().map(|(text, _)| *text).collect();
    let start = memchr::memmem::rfind(response.as_bytes(), answer.as_bytes())?;
    let end = start + answer.len();
    let mut at = 0;
    let mut sum = 0.0;
    for (text, logprob) in tokens {
        let (from, to) = (at, at + text.len());
        at = to;
        if from < end && start < to {
            if logprob.is_nan() || *logprob > 0.0 {
                return None;
            }
            sum += logprob;
        }
    }
    Some(sum.exp())
}

/// Start of the last word about confidence.
fn last_mention(text: &str) -> Option<usize> {
    const STEMS: [&[u8]; 2] = [b"confiden", b"certainty"];
    let bytes = text.as_bytes();
    let mut end = bytes.len();
    while let Some(found) = memchr::memrchr2(b'c', b'C', &bytes[..end]) {
        let rest = &bytes[found..];
        let starts = |stem: &&[u8]| rest.len() >= stem.len() && rest[..stem.len()].eq_ignore_ascii_case(stem);
        let whole_word = found == 0 || !bytes[found - 1].is_ascii_alphabetic();
        if whole_word && STEMS.iter().any(starts) {
            return Some(found);
        }
        end = found;
    }
    None
}

/// A stated number.
struct Stated {
    value: f64,
    /// The number after a slash.
    of: Option<f64>,
    percent: bool,
}

impl Stated {
    fn probability(&self) -> Option<f64> {
        let value = match self.of {
            Some(of) => self.value / of,
            None if self.percent || self.value > 1.0 => self.value / 100.0,
            None => self.value,
        };
        (0.0..=1.0).contains(&value).then_some(value)
    }
}

/// The number after the word; words such as "level" or "score" and punctuation may be in between.
fn after(text: &str) -> Option<Stated> {
    const BETWEEN: [&str; 13] = [
        "level",
        "score",
        "rating",
        "in",
        "my",
        "answer",
        "is",
        "of",
        "about",
        "around",
        "approximately",
        "the",
        "at",
    ];
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || ":=*_~`|()[]\"≈$\\".contains(c));
        if rest.starts_with(|c: char| c.is_ascii_digit() || c == '.' || c == '-' || c == '+') {
            return read(rest);
        }
        let length = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
        if length == 0 || !BETWEEN.iter().any(|word| word.eq_ignore_ascii_case(&rest[..length])) {
            return None;
        }
        rest = &rest[length..];
    }
}

/// The number right before the word: "85% confident", "with 85 percent confidence".
fn before(text: &str) -> Option<Stated> {
    let text = text.trim_end_matches([' ', '*', '_']);
    let number = ["%", "percent", "per cent"].iter().find_map(|sign| text.strip_suffix(sign))?;
    let number = number.trim_end_matches([' ', '\\']);
    let start = number.rfind(|c: char| !(c.is_ascii_digit() || c == '.')).map_or(0, |index| index + 1);
    // Not part of a word or of a longer number, and not negative.
    let value = number.get(start..)?.parse().ok()?;
    let sign = number[..start].chars().next_back();
    let bounded = sign.is_none_or(|c| c.is_whitespace() || "(*_~≈".contains(c));
    Some(Stated { value: if bounded { value } else { f64::NAN }, of: None, percent: true })
}

/// Reads a number with its percent sign or denominator.
fn read(text: &str) -> Option<Stated> {
    let negative = text.starts_with('-');
    let digits = text.trim_start_matches(['-', '+']);
    let (value, rest) = number(digits)?;
    let value = if negative { -value } else { value };
    let rest = rest.trim_start_matches([' ', '*', '_', '\\']);
    if let Some(of) = rest.strip_prefix('/').or_else(|| rest.strip_prefix("out of")) {
        let (of, _) = number(of.trim_start())?;
        return Some(Stated { value, of: Some(of), percent: false });
    }
    let percent =
        rest.starts_with(['%', '％']) || rest.starts_with("percent") || rest.starts_with("per cent");
    Some(Stated { value, of: None, percent })
}

/// A decimal at the start of a text, and the rest of the text.
fn number(text: &str) -> Option<(f64, &str)> {
    let length = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    // A period at the end of a sentence.
    let digits = text[..length].trim_end_matches('.');
    Some((digits.parse().ok()?, &text[digits.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_confidence_notations() {
        for (reply, expected) in [
            ("Confidence: 85%", 0.85),
            ("confidence: 0.85", 0.85),
            ("Confidence: .5", 0.5),
            ("Confidence: 8/10", 0.8),
            ("Confidence: 4 out of 5", 0.8),
            ("Confidence: 85 percent", 0.85),
            ("Confidence: 85", 0.85),
            ("Confidence: 100", 1.0),
            ("Confidence: 1", 1.0),
            ("Confidence: 1%", 0.01),
            ("Confidence: 0", 0.0),
            ("Confidence: 0%", 0.0),
            ("Confidence: 99.5%.", 0.995),
            ("Confidence: 90.", 0.9),
            ("**Confidence:** 85%", 0.85),
            ("**Confidence: 85%**", 0.85),
            ("CONFIDENCE = 0.7", 0.7),
            ("Confidence level: 70%", 0.7),
            ("My confidence in the answer is about 70%.", 0.7),
            ("| Confidence | 70% |", 0.7),
            (r"Confidence: $85\%$", 0.85),
            ("I am 85% confident.", 0.85),
            ("with 85 percent confidence", 0.85),
            ("Certainty: 60%", 0.6),
            ("Answer: 42\nConfidence: 85%\n", 0.85),
            ("Confidence: 20%\nNo, wait.\nConfidence: 90%", 0.9),
            ("Confidence: 20%\nI say this with confidence.", 0.2),
            ("Answer: 42, Confidence: 85%, done", 0.85),
        ] {
            assert_eq!(stated_confidence(reply), Some(expected), "{reply}");
        }
    }

    #[test]
    fn returns_none_without_a_probability() {
        for reply in [
            "",
            "I am very sure.",
            "Confidence: high",
            "Confidence: 120%",
            "Confidence: 250",
            "Confidence: -5%",
            "Confidence: 11/10",
            "Confidence: 3/0",
            "Confidence: NaN",
            "Confidence: 0.5.5",
            "Confidence:\n85%",
            "The 95 of them are confident.",
            "overconfidence: 85%",
            "Confidence: 50%\nConfidence: 300%",
            "-20% confident",
        ] {
            assert_eq!(stated_confidence(reply), None, "{reply}");
        }
    }

    #[test]
    fn counts_tokens_that_overlap_the_answer() {
        let tokens = [("The 4", -0.5), ("2 is", -0.25), (" not 4", -1.0), ("1", -2.0)];
        assert_eq!(answer_probability(&tokens, "42"), Some((-0.75_f64).exp()));
        assert_eq!(answer_probability(&tokens, " 41 "), Some((-3.0_f64).exp()));
        assert_eq!(answer_probability(&tokens, "4"), Some((-1.0_f64).exp()));
        assert_eq!(answer_probability(&tokens, ""), None);
        assert_eq!(answer_probability(&[], "4"), None);
    }

    #[test]
    fn uses_last_occurrence_and_ignores_invalid_numbers_elsewhere() {
        let tokens = [("7", 0.5), (" or ", f64::NAN), ("7", -0.5)];
        assert_eq!(answer_probability(&tokens, "7"), Some((-0.5_f64).exp()));
        for bad in [0.1, f64::NAN, f64::INFINITY] {
            assert_eq!(answer_probability(&[("7", bad)], "7"), None, "{bad}");
        }
        assert_eq!(answer_probability(&[("7", f64::NEG_INFINITY)], "7"), Some(0.0));
        assert_eq!(answer_probability(&[("7", 0.0)], "7"), Some(1.0));
    }

    #[test]
    fn handles_characters_split_across_tokens() {
        let tokens = [("Grü", -0.5), ("ße", -0.5), ("", 5.0), ("!", -9.0)];
        assert_eq!(answer_probability(&tokens, "Grüße"), Some((-1.0_f64).exp()));
    }

    proptest! {
        #[test]
        fn never_panics_on_any_reply(reply in "(\\PC|\n|Confidence|confident|%|[0-9]|\\.|/| ){0,80}") {
            prop_assert!(stated_confidence(&reply).is_none_or(|p| (0.0..=1.0).contains(&p)));
        }

        #[test]
        fn stated_percentage_round_trips(hundredths in 0_u32..=10_000) {
            let p = f64::from(hundredths) / 100.0;
            prop_assert_eq!(stated_confidence(&format!("Answer: 1\nConfidence: {p}%")), Some(p / 100.0));
        }
    }

    #[test]
    fn long_reply_terminates() {
        assert_eq!(stated_confidence(&"ccc ".repeat(1_000_000)), None);
        assert_eq!(stated_confidence(&"confidence ".repeat(100_000)), None);
    }
}
