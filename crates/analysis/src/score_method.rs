//! How ReasonScores, their intervals and ties are computed.

use reasonscape_points::{Estimator, PointsError};
use reasonscape_stats::Mode;
use reasonscape_stats::likelihood::LikelihoodScore;
use reasonscape_stats::score::{Band, ReasonScore};
use schemars::JsonSchema;
use serde::Serialize;

use crate::in_percent;

/// How the ReasonScore and its interval are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScoreMethod {
    /// Estimate and confidence interval by likelihood, on points with the suite's weights.
    Likelihood,
    /// ReasonScore v2: the bootstrap of the source document on pooled counters.
    Bootstrap,
}

impl ScoreMethod {
    /// The name in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Likelihood => "likelihood",
            Self::Bootstrap => "bootstrap",
        }
    }
}

/// How ties are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ties {
    /// Paired tests on the problems that both evaluations answered, with Holm's correction over all pairs.
    Paired,
    /// Overlapping v2 intervals, the rule of the source document.
    V2,
}

impl Ties {
    /// The name in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Paired => "paired",
            Self::V2 => "v2",
        }
    }
}

/// How a leaderboard is computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoardOptions {
    /// Estimator of the v2 bounds, and the level of confidence intervals.
    pub estimator: Estimator,
    /// The method; by default `likelihood`, or `bootstrap` if the estimator is not that of the ReasonScore.
    pub method: Option<ScoreMethod>,
    /// How ties are found; by default as the method suggests.
    pub ties: Option<Ties>,
}

impl From<Estimator> for BoardOptions {
    fn from(estimator: Estimator) -> Self {
        Self { estimator, method: None, ties: None }
    }
}

impl From<Mode> for BoardOptions {
    fn from(mode: Mode) -> Self {
        Estimator::from(mode).into()
    }
}

impl BoardOptions {
    /// The method and the rule for ties.
    ///
    /// # Errors
    /// [`PointsError::InvalidQuery`] if the likelihood or a paired test is combined with an estimator that has none.
    pub fn resolve(&self) -> Result<(ScoreMethod, Ties), PointsError> {
        let has_likelihood = self.estimator.mode == Mode::C_P && !self.estimator.is_literal;
        let estimator = || {
            let literal = if self.estimator.is_literal { " with literal products" } else { "" };
            format!("{}{literal}", self.estimator.mode)
        };
        if self.method == Some(ScoreMethod::Likelihood) && !has_likelihood {
            return Err(PointsError::InvalidQuery(format!(
                "method `likelihood` estimates C_P and cannot be combined with {}; use method `bootstrap`",
                estimator()
            )));
        }
        if self.ties == Some(Ties::Paired) && !has_likelihood {
            return Err(PointsError::InvalidQuery(format!(
                "ties `paired` test the ReasonScore by C_P and cannot be combined with {}; use ties `v2`",
                estimator()
            )));
        }
        let method = match self.method {
            Some(method) => method,
            None if has_likelihood => ScoreMethod::Likelihood,
            None => ScoreMethod::Bootstrap,
        };
        let ties = match (self.ties, method) {
            (Some(ties), _) => ties,
            (None, ScoreMethod::Likelihood) => Ties::Paired,
            (None, ScoreMethod::Bootstrap) => Ties::V2,
        };
        Ok((method, ties))
    }
}

/// A ReasonScore: estimate and interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct ReasonScoreEstimate {
    /// 1000 times the geometric mean over tasks of the estimate, each from 0.01 to 1; by `bootstrap`, the middle of the v2
    /// interval.
    pub estimate: f64,
    /// Lower end of the interval.
    pub ci_low: f64,
    /// Upper end of the interval.
    pub ci_high: f64,
    /// Confidence level of the interval; null by `bootstrap`, whose coverage is not that of a confidence interval.
    pub level: Option<f64>,
    /// `likelihood` or `bootstrap`.
    pub method: &'static str,
    /// The name of the band of the estimate.
    pub band: &'static str,
}

impl From<LikelihoodScore> for ReasonScoreEstimate {
    fn from(score: LikelihoodScore) -> Self {
        Self {
            estimate: score.estimate,
            ci_low: score.ci_low,
            ci_high: score.ci_high,
            level: Some(score.level),
            method: ScoreMethod::Likelihood.name(),
            band: score.band().name(),
        }
    }
}

impl From<ReasonScore> for ReasonScoreEstimate {
    fn from(score: ReasonScore) -> Self {
        Self {
            estimate: score.center(),
            ci_low: score.ci_low,
            ci_high: score.ci_high,
            level: None,
            method: ScoreMethod::Bootstrap.name(),
            band: Band::from_score(score.center()).name(),
        }
    }
}

impl ReasonScoreEstimate {
    /// The interval in tables, such as `812 to 868`.
    pub fn interval_label(&self) -> String {
        format!("{:.0} to {:.0}", self.ci_low, self.ci_high)
    }

    /// What the interval is called in tables: `95 % CI`, or `v2 interval`.
    pub fn interval_name(&self) -> String {
        self.level.map_or_else(|| "v2 interval".to_owned(), |level| format!("{} % CI", in_percent(level)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_estimators_imply_the_bootstrap_and_refuse_the_likelihood() {
        let literal = Estimator { is_literal: true, ..Estimator::from(Mode::C_P) };
        for (estimator, expected) in [
            (Mode::C_P.into(), (ScoreMethod::Likelihood, Ties::Paired)),
            (Mode::K_P.into(), (ScoreMethod::Bootstrap, Ties::V2)),
            (literal, (ScoreMethod::Bootstrap, Ties::V2)),
        ] {
            assert_eq!(BoardOptions::from(estimator).resolve().unwrap(), expected);
        }
        for estimator in [Mode::E_I.into(), literal] {
            let options = BoardOptions { method: Some(ScoreMethod::Likelihood), ..estimator.into() };
            assert!(options.resolve().is_err());
            let options = BoardOptions { ties: Some(Ties::Paired), ..estimator.into() };
            assert!(options.resolve().is_err());
        }
        let bootstrap = BoardOptions { method: Some(ScoreMethod::Bootstrap), ..Mode::C_P.into() };
        assert_eq!(bootstrap.resolve().unwrap(), (ScoreMethod::Bootstrap, Ties::V2));
    }
}
