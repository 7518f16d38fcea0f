//! How the numbers are computed, for a reader of the report alone.

use reasonscape_stats::{Assumption, Event};

use super::Block;
use crate::{Leaderboard, ScoreMethod, Ties, accuracy_interval_name};

pub(super) fn methods(board: &Leaderboard) -> Vec<Block> {
    let mode = board.mode;
    let event = match mode.event {
        Event::Equality => "It is not corrected for guessing.",
        Event::Correctness => {
            "It is corrected for guessing: 0 is the accuracy of random guessing, 1 is all correct."
        }
        Event::Calibrated => {
            "It is corrected for guessing, and the confidence interval includes the variance of guessing."
        }
    };
    let assumption = match mode.assumption {
        Assumption::Independence => "Truncated responses are ignored.",
        Assumption::Pessimism => "Truncated responses count as failures.",
        Assumption::Optimism => "Truncated responses count as passed.",
    };
    let interval = match board.method {
        ScoreMethod::Likelihood => {
            "Points are weighted as the suite plans them, however many trials were sampled, and the 95 % confidence interval \
             contains the scores that a likelihood-ratio test doesn't reject."
        }
        ScoreMethod::Bootstrap => "Here it is computed as v2, from the pooled trials of each task.",
    };
    let ties = match board.ties {
        Ties::Paired => {
            "Ranks are ranges: a model ranks above another only if a paired test shows it, at 5 % after Holm's correction over \
             all pairs."
        }
        Ties::V2 => "Ranks are ranges where v2 intervals overlap.",
    };
    vec![Block::List(vec![
        "Problems are generated from difficulty parameters and a seed, so models can't have memorized them; every model \
         gets the same problems."
            .to_owned(),
        format!(
            "Accuracy is estimated by {mode}, with its {} (Wilson). {event} {assumption}",
            accuracy_interval_name(mode.name(), 0.95)
        ),
        "A trial is correct, incorrect or truncated. Network failures are retried and never counted."
            .to_owned(),
        format!(
            "The ReasonScore is the geometric mean of the accuracies over tasks, on a scale from 10 to 1000, so an easy task \
             can't make up for a failed one. {interval} The column v2 has the published ReasonScore v2: its ± comes from \
             resampling each task's accuracy within its interval, and is not a 95 % confidence interval (see \
             docs/coverage.md)."
        ),
        format!(
            "{ties} Two models are compared on the problems that both answered; such a paired test detects smaller \
             differences than two separate intervals do."
        ),
    ])]
}
