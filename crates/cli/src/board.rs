//! `--method` and `--ties`: how a leaderboard is computed.

use reasonscape_analysis::{BoardOptions, ScoreMethod, Ties};
use reasonscape_points::Estimator;

use crate::Global;

/// How the scores of a leaderboard are computed.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct BoardArgs {
    /// How scores and intervals are computed [default: likelihood; bootstrap with another `--mode` or `--literal`].
    #[arg(long, value_enum)]
    method: Option<MethodArg>,
    /// How ties are found [default: paired; v2 with `--method bootstrap`].
    #[arg(long, value_enum)]
    ties: Option<TiesArg>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum MethodArg {
    /// Estimate and 95 % confidence interval, on points with the suite's weights.
    Likelihood,
    /// The published ReasonScore v2: a bootstrap on pooled counters.
    Bootstrap,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum TiesArg {
    /// Paired tests on the problems that both models answered, corrected for all pairs (Holm).
    Paired,
    /// Overlapping v2 intervals, the published rule.
    V2,
}

impl BoardArgs {
    pub(crate) fn options(self, estimator: Estimator) -> BoardOptions {
        let method = self.method.map(|method| match method {
            MethodArg::Likelihood => ScoreMethod::Likelihood,
            MethodArg::Bootstrap => ScoreMethod::Bootstrap,
        });
        let ties = self.ties.map(|ties| match ties {
            TiesArg::Paired => Ties::Paired,
            TiesArg::V2 => Ties::V2,
        });
        BoardOptions { estimator, method, ties }
    }
}

/// Notes that another estimator implies the bootstrap.
pub(crate) fn note_implied_bootstrap(options: &BoardOptions, global: Global) {
    if options.method.is_none() && matches!(options.resolve(), Ok((ScoreMethod::Bootstrap, _))) {
        global.note("only the ReasonScore by C_P has a likelihood, so this uses `--method bootstrap`");
    }
}
