//! `reasonscape estimate`: the interval that some counts support.

use reasonscape_analysis::{IntervalEstimate, calibrated_near_chance};
use reasonscape_points::Estimator;
use reasonscape_stats::{Assumption, Confidence, Counters, Event, Interval, Mode, StatsError};
use serde::Serialize;
use serde::ser::Serializer;

use super::Global;
use crate::error::CliError;
use crate::output::print;
use reasonscape_analysis::tables::{Cell, Table};

/// Estimate accuracy, with its interval, from counts of outcomes
///
/// Truncated trials are censored, not wrong, and lucky guesses are subtracted; the mode says how. E counts answers
/// that equal the target, C subtracts guessing, K subtracts it with bounds that hold near chance. I ignores truncated
/// trials, P counts them as failures, O as successes.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  reasonscape estimate --n 128 --correct 100 --truncated 5 --guess 12.3 --mode all"
)]
pub(super) struct Estimate {
    /// All trials that got an answer or were cut off.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    n: f64,
    /// Trials answered correctly.
    #[arg(long, visible_alias = "n_e", value_name = "N", allow_hyphen_values = true)]
    correct: f64,
    /// Trials cut off before they answered.
    #[arg(long, visible_alias = "n_t", value_name = "N", default_value_t = 0.0, allow_hyphen_values = true)]
    truncated: f64,
    /// Sum over the completed trials of the chance that a blind guess is right (1/options; 0 for write-ins).
    #[arg(long, visible_alias = "g", value_name = "G", default_value_t = 0.0, allow_hyphen_values = true)]
    guess: f64,
    /// Estimators: one or several of `E_I` `E_P` `E_O` `C_I` `C_P` `C_O` `K_I` `K_P` `K_O` with commas between them, or
    /// `all`.
    #[arg(long, default_value = "C_P")]
    mode: Modes,
    /// Compute the products of the C and K estimators everywhere, to reproduce published ReasonScape figures.
    #[arg(long)]
    literal: bool,
    /// How sure the interval is to contain the truth.
    #[arg(long, value_name = "LEVEL", default_value_t = 0.95, allow_hyphen_values = true)]
    confidence: f64,
}

/// Some modes, or all of them.
#[derive(Debug, Clone)]
pub(crate) struct Modes(pub(crate) Vec<Mode>);

impl std::str::FromStr for Modes {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        if name.eq_ignore_ascii_case("all") {
            return Ok(Self(Mode::ALL.to_vec()));
        }
        let mut modes = Vec::new();
        for name in name.split(',').map(str::trim) {
            let mode = name.parse().map_err(|error: StatsError| format!("{error}, or all"))?;
            if !modes.contains(&mode) {
                modes.push(mode);
            }
        }
        Ok(Self(modes))
    }
}

/// An object keyed by mode, in the order of the table.
struct IntervalsByMode(Vec<(Mode, Interval)>);

impl Serialize for IntervalsByMode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(
            self.0.iter().map(|(mode, interval)| (mode.name(), IntervalEstimate::from(*interval))),
        )
    }
}

impl Estimate {
    pub(super) fn run(self, global: Global) -> Result<(), CliError> {
        let counters = Counters::new(self.n, self.correct, self.truncated, self.guess)
            .map_err(|error| input_error(&error))?;
        let confidence = Confidence::new(self.confidence).map_err(|error| input_error(&error))?;
        let estimates: Vec<(Mode, Interval)> =
            self.mode.0.iter().map(|mode| (*mode, self.interval(*mode, &counters, confidence))).collect();

        let mut table =
            Table::new(&["mode", "low", "high", "center", "margin", "point", "event", "truncated"]);
        for (mode, interval) in &estimates {
            table.push(vec![
                Cell::text(mode.name()),
                Cell::Number(interval.low, 4),
                Cell::Number(interval.high, 4),
                Cell::Number(interval.center(), 4),
                Cell::Number(interval.margin(), 4),
                Cell::optional(interval.point, 4),
                Cell::text(event(mode.event)),
                Cell::text(truncated(mode.assumption)),
            ]);
        }
        print(global.format, &table, &IntervalsByMode(estimates))?;
        if self.n == 0.0 {
            global.note("no data: with no trial, accuracy may be anything from 0 to 1");
        }
        self.warn_near_chance(&counters, confidence, global);
        Ok(())
    }

    fn interval(&self, mode: Mode, counters: &Counters, confidence: Confidence) -> Interval {
        Estimator { mode, confidence, is_literal: self.literal }.estimate_counters(counters)
    }

    /// Tells whoever reads a C interval near chance that it promises more than it holds.
    fn warn_near_chance(&self, counters: &Counters, confidence: Confidence, global: Global) {
        let correctness_mode = self.mode.0.iter().find(|mode| mode.event == Event::Correctness);
        let calibrated_interval =
            correctness_mode.and_then(|mode| calibrated_near_chance(*mode, counters, confidence));
        if let Some((calibrated, calibrated_interval)) = calibrated_interval {
            global.note(format_args!(
                "this close to chance the C intervals are too narrow; {calibrated} gives {:.3} ± {:.3}",
                calibrated_interval.center(),
                calibrated_interval.margin()
            ));
        }
    }
}

/// The error in the words of the flags.
fn input_error(error: &StatsError) -> CliError {
    let flag = |name: &str| match name {
        "n_e" => "--correct",
        "n_t" => "--truncated",
        "g" => "--guess",
        "confidence" => "--confidence",
        _ => "--n",
    };
    CliError::input(match error {
        StatsError::NotFinite { name, value } => {
            format!("`{} {value}` is not a number that can be counted with; give a finite one", flag(name))
        }
        StatsError::OutOfRange { name, value, expected } => {
            format!("`{} {value}` is out of range; give a number that is {expected}", flag(name))
        }
        StatsError::TooManyOutcomes { n, n_e, n_t } => format!(
            "`--correct {n_e}` and `--truncated {n_t}` make {} trials, more than `--n {n}`; `--n` counts all \
             trials, the correct and the truncated ones included",
            n_e + n_t
        ),
        StatsError::TooManyGuesses { g, n_u } => format!(
            "`--guess {g}` is more than the {n_u} completed trials (`--n` less `--truncated`); give the sum of \
             1/options over the completed trials"
        ),
        other => other.to_string(),
    })
}

/// What is counted, in a word.
fn event(event: Event) -> &'static str {
    match event {
        Event::Equality => "equality",
        Event::Correctness => "correctness",
        Event::Calibrated => "calibrated",
    }
}

/// What becomes of truncated trials, in a word.
fn truncated(assumption: Assumption) -> &'static str {
    match assumption {
        Assumption::Independence => "ignored",
        Assumption::Pessimism => "failed",
        Assumption::Optimism => "passed",
    }
}
