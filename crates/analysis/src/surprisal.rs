//! Surprisal of a response, from the log-probabilities of its tokens.

use reasonscape_metrics::answer_probability;
use reasonscape_providers::Transcript;
use schemars::JsonSchema;
use serde::Serialize;

/// Surprisal of a response, from the log-probabilities of its tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct LogprobStats {
    /// Tokens whose probability is known.
    pub tokens: usize,
    /// Mean of `-log2 p`; 0 if the model was certain of every token.
    pub bits_per_token: f64,
    /// Probability of the tokens that spell the answer.
    pub answer_probability: Option<f64>,
}

/// The surprisal of a response; `None` without log-probabilities, or if one is invalid.
pub fn logprob_stats(transcript: &Transcript, answer: Option<&str>) -> Option<LogprobStats> {
    let tokens = transcript.logprobs.as_deref().filter(|tokens| !tokens.is_empty())?;
    let mut nats = 0.0;
    for token in tokens {
        // A token of probability zero is never sampled; such a value means "not among the likely ones".
        if !token.logprob.is_finite() || token.logprob > 0.0 {
            return None;
        }
        nats -= token.logprob;
    }
    let pairs: Vec<(&str, f64)> = tokens.iter().map(|token| (token.token.as_str(), token.logprob)).collect();
    Some(LogprobStats {
        tokens: tokens.len(),
        bits_per_token: nats / tokens.len() as f64 / std::f64::consts::LN_2,
        answer_probability: answer.and_then(|answer| answer_probability(&pairs, answer)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use reasonscape_providers::TokenLogprob;

    fn transcript(logprobs: &[(&str, f64)]) -> Transcript {
        let token =
            |(text, logprob): &(&str, f64)| TokenLogprob { token: (*text).to_owned(), logprob: *logprob };
        let logprobs = Some(logprobs.iter().map(token).collect());
        Transcript {
            messages: Vec::new(),
            reasoning: None,
            reply: String::new(),
            logprobs,
            temperature: None,
        }
    }

    #[test]
    fn probability_one_half_is_one_bit() {
        let (half, quarter) = (0.5_f64.ln(), 0.25_f64.ln());
        let found = logprob_stats(
            &transcript(&[("The ", 0.0), ("answer ", half), ("4", quarter), ("2", half)]),
            Some("42"),
        );
        let found = found.unwrap();
        assert_eq!((found.tokens, found.bits_per_token), (4, 1.0));
        assert!((found.answer_probability.unwrap() - 0.125).abs() < 1e-15);
    }

    #[test]
    fn invalid_logprobs_give_none() {
        for invalid in [f64::NAN, f64::NEG_INFINITY, 0.1] {
            assert_eq!(logprob_stats(&transcript(&[("a", -1.0), ("b", invalid)]), None), None);
        }
        assert_eq!(logprob_stats(&transcript(&[]), None), None);
    }
}
