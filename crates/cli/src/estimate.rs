//! `reasonscape estimate`: accuracy with its confidence interval, from counts.

use reasonscape_analysis::{IntervalEstimate, calibrated_near_chance};
use reasonscape_points::Estimator;
use reasonscape_stats::{Assumption, Confidence, Counters, Event, Interval, Mode, StatsError};
use serde::Serialize;
use serde::ser::Serializer;

use super::Global;
use crate::error::CliError;
use crate::mode::ModesArgs;
use crate::output::print;
use reasonscape_analysis::tables::{Cell, Table};

/// Estimate accuracy with a confidence interval, from counts of outcomes
///
/// The mode sets how guessing and truncation are handled. E counts every correct answer, C corrects for guessing, and K
/// does so with intervals calibrated near chance. I ignores truncated trials, P counts them as incorrect, O
/// as correct.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  reasonscape estimate --n 128 --correct 100 --truncated 5 --guess 12.3 --mode all"
)]
pub(super) struct Estimate {
    /// Number of trials, including incorrect and truncated ones.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    n: f64,
    /// Number of correct trials.
    #[arg(long, visible_alias = "n_e", value_name = "N", allow_hyphen_values = true)]
    correct: f64,
    /// Number of truncated trials.
    #[arg(long, visible_alias = "n_t", value_name = "N", default_value_t = 0.0, allow_hyphen_values = true)]
    truncated: f64,
    /// Expected number of lucky guesses: the sum of 1/options over the completed trials (0 for free-form answers).
    #[arg(long, visible_alias = "g", value_name = "G", default_value_t = 0.0, allow_hyphen_values = true)]
    guess: f64,
    #[command(flatten)]
    modes_args: ModesArgs,
    /// Always compute the full products of the C and K estimators, to reproduce published ReasonScape numbers.
    #[arg(long)]
    literal: bool,
    /// Confidence level of the interval.
    #[arg(long, value_name = "LEVEL", default_value_t = 0.95, allow_hyphen_values = true)]
    confidence: f64,
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
        let modes = self.modes_args.modes(Mode::C_P);
        let estimates: Vec<(Mode, Interval)> =
            modes.iter().map(|mode| (*mode, self.interval(*mode, &counters, confidence))).collect();

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
        print(global, &table, &IntervalsByMode(estimates))?;
        if self.n == 0.0 {
            global.note("no data: without trials, accuracy may be anything from 0 to 1");
        }
        warn_near_chance(&modes, &counters, confidence, global);
        Ok(())
    }

    fn interval(&self, mode: Mode, counters: &Counters, confidence: Confidence) -> Interval {
        Estimator { mode, confidence, is_literal: self.literal }.estimate_counters(counters)
    }
}

/// Warns of C intervals near chance, whose coverage is below their level.
fn warn_near_chance(modes: &[Mode], counters: &Counters, confidence: Confidence, global: Global) {
    let correctness_mode = modes.iter().find(|mode| mode.event == Event::Correctness);
    let calibrated_interval =
        correctness_mode.and_then(|mode| calibrated_near_chance(*mode, counters, confidence));
    if let Some((calibrated, calibrated_interval)) = calibrated_interval {
        global.note(format_args!(
            "this close to chance the C intervals are too narrow; the interval of {calibrated} is {:.3} to {:.3}",
            calibrated_interval.low, calibrated_interval.high
        ));
    }
}

/// The error in terms of the options.
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
            format!("`{} {value}` is not a finite number", flag(name))
        }
        StatsError::OutOfRange { name, value, expected } => {
            format!("`{} {value}` is out of range; expected a number that is {expected}", flag(name))
        }
        StatsError::TooManyOutcomes { n, n_e, n_t } => format!(
            "`--correct {n_e}` and `--truncated {n_t}` add up to {} trials, more than `--n {n}`; `--n` counts all \
             trials, including correct and truncated ones",
            n_e + n_t
        ),
        StatsError::TooManyGuesses { g, n_u } => format!(
            "`--guess {g}` is more than the {n_u} completed trials (`--n` minus `--truncated`); expected the sum of \
             1/options over the completed trials"
        ),
        other => other.to_string(),
    })
}

/// The name of an event.
fn event(event: Event) -> &'static str {
    match event {
        Event::Equality => "equality",
        Event::Correctness => "correctness",
        Event::Calibrated => "calibrated",
    }
}

/// How truncated trials count.
fn truncated(assumption: Assumption) -> &'static str {
    match assumption {
        Assumption::Independence => "ignored",
        Assumption::Pessimism => "failed",
        Assumption::Optimism => "passed",
    }
}
