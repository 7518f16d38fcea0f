//! `--mode`, and its readable spelling with `--guessing` and `--truncation`.

use std::str::FromStr;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use reasonscape_stats::{Assumption, Event, Mode, StatsError};

/// How guessing is handled: the first letter of a mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Guessing {
    /// Every correct answer counts, lucky guesses included (`E`).
    Raw,
    /// The expected number of lucky guesses is subtracted (`C`).
    Corrected,
    /// As `corrected`, with intervals calibrated near chance (`K`).
    Calibrated,
}

/// How truncated trials are handled: the second letter of a mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Truncation {
    /// Truncated trials are left out (`I`).
    Ignore,
    /// Truncated trials count as incorrect (`P`).
    Fail,
    /// Truncated trials count as correct (`O`).
    Pass,
}

/// The two halves of a mode in words.
#[derive(Debug, Clone, Copy, clap::Args)]
struct ModeHalvesArgs {
    /// How to handle guessing: the first letter of the mode, in words.
    #[arg(long, value_enum, value_name = "METHOD")]
    guessing: Option<Guessing>,
    /// How to count truncated trials: the second letter of the mode, in words.
    #[arg(long, value_enum, value_name = "METHOD")]
    truncation: Option<Truncation>,
}

/// One estimator.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct ModeArgs {
    #[arg(long, conflicts_with_all = ["guessing", "truncation"],
          help = "Estimator, one of `E_I` `E_P` `E_O` `C_I` `C_P` `C_O` `K_I` `K_P` `K_O` [default: C_P]")]
    mode: Option<Mode>,
    #[command(flatten)]
    halves: ModeHalvesArgs,
}

/// One or several estimators.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ModesArgs {
    #[arg(long, conflicts_with_all = ["guessing", "truncation"],
          help = "Estimators, comma-separated: `E_I` `E_P` `E_O` `C_I` `C_P` `C_O` `K_I` `K_P` `K_O`, or `all` \
                  [default: C_P]")]
    mode: Option<Modes>,
    #[command(flatten)]
    halves: ModeHalvesArgs,
}

/// Some modes, or all of them.
#[derive(Debug, Clone)]
struct Modes(Vec<Mode>);

impl FromStr for Modes {
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

impl From<Guessing> for Event {
    fn from(guessing: Guessing) -> Self {
        match guessing {
            Guessing::Raw => Self::Equality,
            Guessing::Corrected => Self::Correctness,
            Guessing::Calibrated => Self::Calibrated,
        }
    }
}

impl From<Truncation> for Assumption {
    fn from(truncation: Truncation) -> Self {
        match truncation {
            Truncation::Ignore => Self::Independence,
            Truncation::Fail => Self::Pessimism,
            Truncation::Pass => Self::Optimism,
        }
    }
}

impl ModeHalvesArgs {
    /// The default mode with the halves that are given.
    fn apply(self, default: Mode) -> Mode {
        Mode {
            event: self.guessing.map_or(default.event, Into::into),
            assumption: self.truncation.map_or(default.assumption, Into::into),
        }
    }

    fn includes(self, mode: Mode) -> bool {
        self.apply(mode) == mode
    }
}

impl ModeArgs {
    pub(crate) fn mode(self, default: Mode) -> Mode {
        self.mode.unwrap_or_else(|| self.halves.apply(default))
    }

    /// All modes that match the arguments; all nine without arguments.
    pub(crate) fn matching_modes(self) -> Vec<Mode> {
        match self.mode {
            Some(mode) => vec![mode],
            None => Mode::ALL.into_iter().filter(|mode| self.halves.includes(*mode)).collect(),
        }
    }
}

impl ModesArgs {
    pub(crate) fn modes(&self, default: Mode) -> Vec<Mode> {
        self.mode.as_ref().map_or_else(|| vec![self.halves.apply(default)], |modes| modes.0.clone())
    }
}

/// The message for `--mode` together with `--guessing` or `--truncation`, if the error is about them.
pub(crate) fn conflict_hint(error: &clap::Error) -> Option<String> {
    if error.kind() != ErrorKind::ArgumentConflict {
        return None;
    }
    let names: Vec<&str> = [ContextKind::InvalidArg, ContextKind::PriorArg]
        .into_iter()
        .flat_map(|kind| match error.get(kind) {
            Some(ContextValue::String(name)) => vec![name.as_str()],
            Some(ContextValue::Strings(names)) => names.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        })
        .collect();
    let is_named = |option: &str| names.iter().any(|name| name.split(' ').next() == Some(option));
    let half = ["--guessing", "--truncation"].into_iter().find(|half| is_named(half))?;
    is_named("--mode").then(|| {
        format!(
            "`{half}` cannot be combined with `--mode`, which sets both halves; use `--mode C_I`, or `--guessing \
             corrected --truncation ignore`, which means the same"
        )
    })
}
