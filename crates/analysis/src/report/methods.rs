//! How the numbers are made, for a reader who has not read our manual.

use reasonscape_stats::{Assumption, Event, Mode};

use super::Block;

pub(super) fn methods(mode: Mode) -> Vec<Block> {
    let event = match mode.event {
        Event::Equality => "Answers count as they are; lucky guesses are in the numbers.",
        Event::Correctness => {
            "What a blind guesser would have got right by luck is taken off, so that 0 is guessing and 1 is knowing."
        }
        Event::Calibrated => {
            "What a blind guesser would have got right by luck is taken off, with the spread that luck has."
        }
    };
    let assumption = match mode.assumption {
        Assumption::Independence => {
            "An answer that was cut off by its token limit says nothing either way and is left out."
        }
        Assumption::Pessimism => "An answer that was cut off by its token limit counts as not solved.",
        Assumption::Optimism => "An answer that was cut off by its token limit counts as solved.",
    };
    vec![Block::List(vec![
        "Tests are made from coordinates (task, parameters, seed), not taken from a list that models may have seen; every \
         model is asked the same ones."
            .to_owned(),
        format!("Accuracy is estimated by {mode}, with a 95 % interval by Wilson. {event} {assumption}"),
        "A trial is correct, incorrect or truncated. Failures of the network are asked again and never counted."
            .to_owned(),
        "The ReasonScore is the geometric mean over tasks, on a scale from 10 to 1000, so that a task that is failed cannot \
         be made up for by one that is easy; its interval comes from drawing each task's accuracy within its own."
            .to_owned(),
        "A place is a range wherever intervals overlap. Two models are compared on the tests that both answered, which \
         shows smaller differences than two separate intervals do."
            .to_owned(),
    ])]
}
