//! `contains`: the target as whole words, unless the words before it negate it.

use crate::answer::{folded, words};

const NEGATIONS: [&str; 11] =
    ["not", "no", "never", "but", "except", "neither", "nor", "without", "cannot", "excluding", "instead"];

/// Whether an answer contains the words of the target, in order and without a gap.
pub(super) fn contains(answer: &str, target: &str) -> bool {
    let (answer, target) = (folded(answer), folded(target));
    let wanted: Vec<&str> = words(&target).collect();
    if wanted.is_empty() {
        return !target.is_empty() && answer.contains(&target);
    }
    let words: Vec<&str> = words(&answer).collect();
    let is_negation = |word: &&str| NEGATIONS.contains(word) || word.ends_with("n't");
    // A negation before the first mention denies that and leaves later ones in doubt.
    let Some(at) = words.windows(wanted.len()).position(|window| window == wanted) else { return false };
    !words[..at].iter().any(is_negation)
}
