//! `contains`: the target as whole words, unless the words before it negate it.

use crate::answer::{folded, words};

const NEGATIONS: [&str; 11] =
    ["not", "no", "never", "but", "except", "neither", "nor", "without", "cannot", "excluding", "instead"];

/// Whether an answer contains the words of the target, in order and without a gap.
pub(super) fn contains(answer: &str, target: &str) -> bool {
    let (answer, target) = (folded(answer), folded(target));
    // Words with single spaces around each, so that a search for the text, in linear time, is one for whole words.
    let spaced = |text: &str| words(text).fold(String::from(" "), |all, word| all + word + " ");
    let wanted = spaced(&target);
    if wanted == " " {
        return !target.is_empty() && answer.contains(&target);
    }
    let is_negation = |word: &str| NEGATIONS.contains(&word) || word.ends_with("n't");
    // A negation before the first mention denies that and leaves later ones in doubt.
    let answer = spaced(&answer);
    answer.find(&wanted).is_some_and(|at| !answer[..at].split(' ').any(is_negation))
}
