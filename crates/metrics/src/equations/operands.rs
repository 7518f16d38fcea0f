//! Where the sides of an equation start and end, and whether they are independent of the text around them.

mod following_words;
mod left;
mod preceding_words;
mod right;

pub(super) use left::{Edge, Left};
pub(super) use right::Right;

use super::Line;
use super::tokens::Kind;

/// Maximum number of tokens in a side.
const MAX_SIDE_TOKENS: usize = 200;

impl Line<'_> {
    /// Whether the minus at `at` is the sign of the number after it: " -3".
    fn is_sign(&self, at: usize) -> bool {
        self.tokens[at].kind == Kind::Minus
            && self.tokens[at].space_before
            && self.tokens.get(at + 1).is_some_and(|next| !next.space_before && next.kind == Kind::Number)
    }

    /// Whether an operand starts at `at`.
    fn starts_operand(&self, at: usize) -> bool {
        self.kind(at).is_some_and(|kind| matches!(kind, Kind::Number | Kind::Currency) || kind.opens())
    }

    /// Whether the word at `at` is the "of" of "20% of 50" or "3/4 of 20".
    pub(super) fn is_part_of(&self, at: usize) -> bool {
        let percent = at >= 1 && self.tokens[at - 1].kind == Kind::Percent;
        let fraction = at >= 2
            && self.tokens[at - 1].kind.ends_operand()
            && (self.tokens[at - 2].kind == Kind::Divide || self.tokens[at - 1].kind == Kind::Close);
        (percent || fraction) && self.word(at).is_some_and(|word| word.is("of"))
    }

    /// Whether the bracket at `at` directly follows a token of one of these kinds, as in `f(3)`.
    fn is_attached_to(&self, at: usize, is_attachable: fn(Kind) -> bool) -> bool {
        at >= 1 && !self.tokens[at].space_before && is_attachable(self.tokens[at - 1].kind)
    }
}

/// Whether a token is part of an expression in any position.
fn is_arithmetic(kind: Kind) -> bool {
    kind.is_operator() || matches!(kind, Kind::Number | Kind::Percent | Kind::Raised(_))
}

#[cfg(test)]
mod tests {
    use crate::check_steps;

    /// The equation must be found in the first text, and not in the second.
    pub(super) fn assert_rule(rule: &str, accepted: &str, refused: &str, equation: &str) {
        let finds = |text| check_steps(text).iter().any(|step| step.text == equation);
        assert!(finds(accepted), "{rule}: `{equation}` is not found in `{accepted}`");
        assert!(!finds(refused), "{rule}: `{equation}` is found in `{refused}`");
    }
}
