//! The side before a relation.

use super::super::Line;
use super::super::tokens::Kind;
use super::{MAX_SIDE_TOKENS, is_arithmetic};

/// More words in a row are a sentence, not a unit.
const MAX_WORDS: usize = 6;

/// The context to the left of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Edge {
    Start,
    Relation,
    Word,
    Stop,
}

/// The tokens of a left side.
pub(in super::super) struct Left {
    pub(in super::super) start: usize,
    pub(in super::super) edge: Edge,
    /// Whether the sign at its start may be a bullet.
    pub(in super::super) bullet: bool,
}

/// The effect of a word on the expression after it.
enum WordBefore {
    /// It is part of the expression: a unit, or the "of" of "20% of 50".
    Inside,
    /// The expression starts after it.
    Ends,
}

impl Line<'_> {
    /// The longest expression that ends before the sign at `relation`, if it is independent of the text before it.
    pub(in super::super) fn left(&self, relation: usize) -> Option<Left> {
        let mut start = relation;
        let mut depth = 0;
        let mut words = 0;
        while start > 0 && relation - start < MAX_SIDE_TOKENS {
            let previous = start - 1;
            match self.tokens[previous].kind {
                Kind::Close => depth += 1,
                kind if kind.opens() => {
                    if depth == 0 {
                        break;
                    }
                    depth -= 1;
                    if kind != Kind::OpenFraction && self.opens_argument(previous) {
                        return None;
                    }
                }
                kind if is_arithmetic(kind) => words = 0,
                Kind::Currency => {
                    if depth == 0 && self.is_closing_fence(previous) {
                        break;
                    }
                }
                Kind::Word => match self.word_before(previous, depth) {
                    WordBefore::Ends if depth > 0 => return None,
                    WordBefore::Ends => break,
                    WordBefore::Inside => {
                        words += 1;
                        if words > MAX_WORDS {
                            return None;
                        }
                    }
                },
                _ if depth > 0 => return None,
                _ => break,
            }
            start = previous;
        }
        if depth > 0 || start == relation || relation - start >= MAX_SIDE_TOKENS {
            return None;
        }
        self.left_from(start)
    }

    /// Whether the bracket at `at` holds a function's argument, or an index.
    fn opens_argument(&self, at: usize) -> bool {
        self.is_attached_to(at, |kind| matches!(kind, Kind::Word | Kind::Unknown))
    }

    /// Whether the `$` at `at` ends one formula before the next begins.
    fn is_closing_fence(&self, at: usize) -> bool {
        self.is_attached_to(at, Kind::ends_operand)
            && self.kind(at + 1).is_some_and(|next| next == Kind::Number || next.opens())
    }

    /// The effect of the word at `at` on the expression after it, inside of `depth` brackets.
    fn word_before(&self, at: usize, depth: usize) -> WordBefore {
        let next = self.tokens[at + 1].kind;
        let leads_operand = matches!(next, Kind::Number | Kind::Currency) || next.opens();
        let leads_sign = depth == 0 && self.is_sign(at + 1);
        if (leads_operand || leads_sign) && !(leads_operand && self.is_part_of(at)) {
            WordBefore::Ends
        } else {
            WordBefore::Inside
        }
    }

    /// The side that starts at `start`, if the text before it allows that.
    fn left_from(&self, start: usize) -> Option<Left> {
        let first = self.tokens[start].kind;
        let edge = self.left_edge(start)?;
        let bullet = first == Kind::Minus && edge == Edge::Start && self.tokens.get(start + 1)?.space_before;
        match first {
            Kind::Number | Kind::Currency => {}
            Kind::Minus if edge != Edge::Word || self.is_sign(start) => {
                // `x - 3`, with a dash after something that isn't an operand here
                if edge == Edge::Stop && self.tokens.get(start + 1)?.space_before {
                    return None;
                }
            }
            kind if kind.opens() => {}
            _ => return None,
        }
        if edge == Edge::Word && !self.is_standalone_after_words(start) {
            return None;
        }
        Some(Left { start, edge, bullet })
    }

    /// The text before an expression, unless it is part of it.
    fn left_edge(&self, start: usize) -> Option<Edge> {
        match start.checked_sub(1).map(|at| self.tokens[at].kind) {
            None => Some(Edge::Start),
            Some(Kind::Equal | Kind::About) => Some(Edge::Relation),
            Some(Kind::Word) => Some(Edge::Word),
            Some(
                Kind::Stop | Kind::End | Kind::Exclamation | Kind::Quote | Kind::Question | Kind::Currency,
            ) => Some(Edge::Stop),
            // Not `f(3 + 4 = 7`, `2(3 + 4 = 7)`.
            Some(kind) if kind.opens() => {
                let is_factor = |kind| matches!(kind, Kind::Number | Kind::Word | Kind::Close);
                (!self.is_attached_to(start - 1, is_factor)).then_some(Edge::Stop)
            }
            Some(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::assert_rule;

    #[test]
    fn left_side_rules() {
        for (rule, accepted, refused) in [
            ("a bracket is not an argument", "We get (1 + 2) + 4 = 7.", "We get f(1 + 2) + 4 = 7."),
            ("an equation in brackets is no factor", "So (3 + 4 = 7) holds.", "So 2(3 + 4 = 7) holds."),
            ("an operand of something unknown", "So, 3 + 4 = 7.", "So √3 + 4 = 7."),
        ] {
            let equation = if accepted.contains("(1 + 2)") { "(1 + 2) + 4 = 7" } else { "3 + 4 = 7" };
            assert_rule(rule, accepted, refused, equation);
        }
    }
}
