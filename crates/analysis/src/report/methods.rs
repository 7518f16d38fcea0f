//! How the numbers are computed, for a reader of the report alone.

use reasonscape_stats::{Assumption, Event, Mode};

use super::Block;

pub(super) fn methods(mode: Mode) -> Vec<Block> {
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
    vec![Block::List(vec![
        "Problems are generated from difficulty parameters and a seed, so models can't have memorized them; every model \
         gets the same problems."
            .to_owned(),
        format!("Accuracy is estimated by {mode}, with a 95 % confidence interval (Wilson). {event} {assumption}"),
        "A trial is correct, incorrect or truncated. Network failures are retried and never counted."
            .to_owned(),
        "The ReasonScore is the geometric mean of the accuracies over tasks, on a scale from 10 to 1000, so an easy task \
         can't make up for a failed one. Its ± is the v2 margin, from resampling each task's accuracy within its interval; \
         it is not a 95 % confidence interval (see docs/coverage.md)."
            .to_owned(),
        "Ranks are ranges where ReasonScore intervals overlap. Two models are compared on the problems that both \
         answered; such a paired test detects smaller differences than two separate intervals do."
            .to_owned(),
    ])]
}
