//! Injected faults: which kinds occur, and how often.

use std::str::FromStr;
use std::time::Duration;

use reasonscape_core::closest;

use crate::rng::{Rng, hash};

/// A kind of injected fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// `429`: status 429 with `Retry-After`.
    TooManyRequests,
    /// `500`: status 500 with a JSON error.
    ServerError,
    /// `503`: status 503 with a JSON error.
    Unavailable,
    /// `slow`: the normal reply, delayed.
    Slow,
    /// `stall`: the request is accepted and never answered.
    Stall,
    /// `reset`: the connection is closed without a reply.
    Reset,
    /// `half`: half of the body that `Content-Length` announces, then the connection is closed.
    Half,
    /// `invalid-json`: status 200, but the JSON is truncated.
    InvalidJson,
    /// `wrong-type`: an HTML page, with status 200 or 502.
    WrongType,
    /// `empty`: status 200, no text and no finish reason.
    Empty,
    /// `no-usage`: the normal reply without token counts.
    NoUsage,
    /// `overflow`: status 400, the prompt does not fit the context. It depends on the prompt, so a retry does not help.
    Overflow,
    /// `filter`: status 400, a content filter refuses the prompt, every time it is sent. Not part of `all`, because it
    /// changes a model's score.
    Filter,
}

impl FaultKind {
    /// Every kind.
    pub const ALL: [Self; 13] = [
        Self::TooManyRequests,
        Self::ServerError,
        Self::Unavailable,
        Self::Slow,
        Self::Stall,
        Self::Reset,
        Self::Half,
        Self::InvalidJson,
        Self::WrongType,
        Self::Empty,
        Self::NoUsage,
        Self::Overflow,
        Self::Filter,
    ];

    const NAMES: [&'static str; 13] = [
        "429",
        "500",
        "503",
        "slow",
        "stall",
        "reset",
        "half",
        "invalid-json",
        "wrong-type",
        "empty",
        "no-usage",
        "overflow",
        "filter",
    ];

    /// The name of the kind in a `--faults` specification.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// Which faults to inject, how often, and with which settings.
///
/// ```
/// use reasonscape_simulator::{FaultKind, Faults};
///
/// let faults: Faults = "rate=0.3,kinds=429+reset,retry-after=0.5".parse()?;
/// assert_eq!(faults.kinds, [FaultKind::TooManyRequests, FaultKind::Reset]);
///
/// let error = "rate=0.3,kinds=rest".parse::<Faults>().unwrap_err();
/// assert!(error.to_string().contains("did you mean `reset`?"));
/// # Ok::<(), reasonscape_simulator::FaultsError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Faults {
    /// The proportion of requests that fail, from 0 to 1, divided equally among the kinds.
    pub rate: f64,
    /// The kinds of fault to inject; if empty, none are injected.
    pub kinds: Vec<FaultKind>,
    /// Determines which requests fail.
    pub seed: u64,
    /// The value of `Retry-After`, in seconds; fractions are sent as such.
    pub retry_after_seconds: f64,
    /// The delay of `slow`.
    pub slow: Duration,
}

impl Default for Faults {
    fn default() -> Self {
        Self {
            rate: 0.0,
            kinds: Vec::new(),
            seed: 0,
            retry_after_seconds: 0.05,
            slow: Duration::from_millis(200),
        }
    }
}

/// Why a fault specification is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FaultsError {
    /// An item that is not of the form `key=value`.
    #[error(
        "`{found}` is not a fault setting; expected `key=value` pairs such as `rate=0.3,kinds=429+reset`"
    )]
    NotASetting {
        /// The item.
        found: String,
    },
    /// An unknown key.
    #[error("unknown fault setting `{found}`{}; expected one of {}", suggestion(found, &KEYS), KEYS.join(", "))]
    UnknownKey {
        /// The key.
        found: String,
    },
    /// An unknown kind of fault.
    #[error(
        "unknown fault `{found}`{}; expected {}, or `all`",
        suggestion(found, &FaultKind::NAMES),
        FaultKind::NAMES.join(", ")
    )]
    UnknownKind {
        /// The kind.
        found: String,
    },
    /// An invalid value.
    #[error("invalid fault setting `{key}`: `{found}`; it must be {expected}")]
    Invalid {
        /// The key.
        key: &'static str,
        /// The value.
        found: String,
        /// What was expected.
        expected: &'static str,
    },
}

const KEYS: [&str; 5] = ["rate", "kinds", "seed", "retry-after", "slow-ms"];

fn suggestion(found: &str, known: &[&'static str]) -> String {
    closest(found, known).map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}

impl FromStr for Faults {
    type Err = FaultsError;

    /// Parses `rate=0.3,kinds=429+slow`. `rate` defaults to 1 and `kinds` to `all`.
    fn from_str(text: &str) -> Result<Self, FaultsError> {
        let mut faults = Self { rate: 1.0, kinds: kinds("all")?, ..Self::default() };
        for setting in text.split(',').map(str::trim).filter(|setting| !setting.is_empty()) {
            let Some((key, value)) = setting.split_once('=') else {
                return Err(FaultsError::NotASetting { found: setting.to_owned() });
            };
            match key.trim() {
                "rate" => {
                    faults.rate = number(value, "rate", "a number from 0 to 1", |rate| {
                        (0.0..=1.0).contains(&rate).then_some(rate)
                    })?;
                }
                "kinds" => faults.kinds = kinds(value)?,
                "seed" => {
                    faults.seed = value.trim().parse().map_err(|_| FaultsError::Invalid {
                        key: "seed",
                        found: value.to_owned(),
                        expected: "a non-negative integer",
                    })?;
                }
                "retry-after" => {
                    faults.retry_after_seconds =
                        number(value, "retry-after", "seconds from 0 to 3600", |seconds| {
                            (0.0..=3600.0).contains(&seconds).then_some(seconds)
                        })?;
                }
                "slow-ms" => {
                    faults.slow = number(value, "slow-ms", "milliseconds from 0 to 3600000", |ms| {
                        (0.0..=3_600_000.0).contains(&ms).then(|| Duration::from_secs_f64(ms / 1000.0))
                    })?;
                }
                found => return Err(FaultsError::UnknownKey { found: found.to_owned() }),
            }
        }
        Ok(faults)
    }
}

fn number<T>(
    value: &str,
    key: &'static str,
    expected: &'static str,
    accept: impl Fn(f64) -> Option<T>,
) -> Result<T, FaultsError> {
    let accepted = value.trim().parse().ok().and_then(accept);
    accepted.ok_or_else(|| FaultsError::Invalid { key, found: value.to_owned(), expected })
}

fn kinds(value: &str) -> Result<Vec<FaultKind>, FaultsError> {
    if value.trim() == "all" {
        // Refusals change a model's score, so `filter` must be requested by name.
        return Ok(FaultKind::ALL.into_iter().filter(|kind| *kind != FaultKind::Filter).collect());
    }
    let mut kinds = Vec::new();
    for name in value.split('+').map(str::trim) {
        let kind = FaultKind::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
            .ok_or_else(|| FaultsError::UnknownKind { found: name.to_owned() })?;
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    Ok(kinds)
}

impl Faults {
    /// The fault for the request with this number. Every attempt is drawn independently.
    pub(crate) fn for_request(&self, number: u64) -> Option<FaultKind> {
        if self.rate == 0.0 {
            return None;
        }
        let belongs_to_prompt = |kind: &FaultKind| matches!(kind, FaultKind::Overflow | FaultKind::Filter);
        let transport: Vec<FaultKind> =
            self.kinds.iter().copied().filter(|kind| !belongs_to_prompt(kind)).collect();
        let mut rng = Rng::new(self.seed, &number.to_le_bytes());
        let goes_wrong = rng.happens(self.proportion(transport.len()));
        (goes_wrong && !transport.is_empty()).then(|| transport[rng.below(transport.len())])
    }

    /// Whether a prompt is too long for the context; the same for every attempt.
    pub(crate) fn overflows(&self, prompt: &str) -> bool {
        self.rate > 0.0
            && self.kinds.contains(&FaultKind::Overflow)
            && Rng::new(hash(b"overflow", self.seed), prompt.as_bytes()).happens(self.proportion(1))
    }

    /// Whether a content filter refuses a prompt; the same for every attempt.
    pub(crate) fn is_filtered(&self, prompt: &str) -> bool {
        self.rate > 0.0
            && self.kinds.contains(&FaultKind::Filter)
            && Rng::new(hash(b"filter", self.seed), prompt.as_bytes()).happens(self.proportion(1))
    }

    /// The part of the rate that this many kinds have together.
    fn proportion(&self, kinds: usize) -> f64 {
        self.rate * kinds as f64 / self.kinds.len().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fault_names_match_their_index() {
        for (index, kind) in FaultKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, index);
            assert_eq!(kinds(kind.name()), Ok(vec![kind]));
        }
    }

    #[test]
    fn parses_or_rejects_settings_by_name() {
        let faults: Faults = "rate=0.3, kinds=all, seed=7, retry-after=0.2, slow-ms=50".parse().unwrap();
        assert_eq!((faults.rate, faults.kinds.len(), faults.seed), (0.3, 12, 7));
        assert_eq!((faults.retry_after_seconds, faults.slow), (0.2, Duration::from_millis(50)));
        assert_eq!("kinds=500".parse::<Faults>().unwrap().rate, 1.0);
        for (text, says) in [
            ("rate", "`rate` is not a fault setting"),
            ("rate=2", "must be a number from 0 to 1"),
            ("rate=NaN", "must be a number from 0 to 1"),
            ("speed=2", "unknown fault setting `speed`"),
            ("kind=500", "did you mean `kinds`?"),
            ("kinds=501", "did you mean `500`?"),
            ("seed=x", "a non-negative integer"),
            ("retry-after=-1", "seconds from 0"),
            ("slow-ms=inf", "milliseconds from 0"),
        ] {
            let error = text.parse::<Faults>().unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn each_fault_kind_gets_its_proportion() {
        let faults: Faults = "rate=0.4,kinds=429+500+overflow+slow".parse().unwrap();
        let drawn: Vec<FaultKind> = (0..40_000).filter_map(|number| faults.for_request(number)).collect();
        // Five standard deviations of a binomial with n = 40,000 and p = 0.1 are 300.
        for kind in [FaultKind::TooManyRequests, FaultKind::ServerError, FaultKind::Slow] {
            assert!(drawn.iter().filter(|drawn| **drawn == kind).count().abs_diff(4000) < 300, "{kind:?}");
        }
        assert!(!drawn.contains(&FaultKind::Overflow));
        let overflowing = (0..40_000).filter(|number| faults.overflows(&number.to_string())).count();
        assert!(overflowing.abs_diff(4000) < 300, "{overflowing}");
    }

    #[test]
    fn no_faults_by_default() {
        assert!((0..1000).all(|number| Faults::default().for_request(number).is_none()));
        assert!(!Faults::default().overflows("x"));
    }
}
