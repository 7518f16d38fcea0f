//! The side after a relation.

use std::ops::Range;

use super::super::Line;
use super::super::tokens::Kind;
use super::super::value::unit_power_len;
use super::super::words::{Word, is_variable};
use super::{MAX_SIDE_TOKENS, is_arithmetic};

/// More words in a row are a sentence, not a unit.
const MAX_UNIT_WORDS: usize = 5;

/// The effect of words after an operand on an expression.
enum Continuation {
    GoesOn(usize),
    Ends,
    Unreadable,
}

/// The tokens of a right side.
pub(in super::super) struct Right {
    pub(in super::super) range: Range<usize>,
    /// Where a part starts that may be a remark: the `(5 * 2)` of `= 10 (5 * 2)`, the "of $150" of "= 1/3 of $150".
    pub(in super::super) remark: Option<usize>,
}

impl Line<'_> {
    /// The expression after the sign at `relation`, if it is independent of the text after it.
    pub(in super::super) fn right(&self, relation: usize) -> Option<Right> {
        let mut start = relation + 1;
        while self.word(start).is_some_and(Word::is_rounding) || self.kind(start) == Some(Kind::About) {
            start += 1;
        }
        let mut end = start;
        let mut depth = 0_usize;
        let mut remark = None;
        while let Some(token) = self.tokens.get(end) {
            if end - start >= MAX_SIDE_TOKENS {
                return None;
            }
            let is_behind_operand =
                token.space_before && end > start && self.tokens[end - 1].kind.ends_operand();
            match token.kind {
                // Two adjacent numbers: a mixed number, or unknown notation.
                kind if is_arithmetic(kind) => end += 1,
                // A `$` that opens the next formula.
                Kind::Currency if is_behind_operand => break,
                Kind::Currency => end += 1,
                Kind::Close if depth == 0 => break,
                Kind::Close => {
                    depth -= 1;
                    end += 1;
                }
                // "= 7 (seven apples)": a remark.
                Kind::Open | Kind::OpenSquare if depth == 0 && is_behind_operand && self.has_words(end) => {
                    break;
                }
                kind if kind.opens() => {
                    if depth == 0 && is_behind_operand && kind != Kind::OpenFraction {
                        remark.get_or_insert(end);
                    }
                    depth += 1;
                    end += 1;
                }
                Kind::Word if depth > 0 => end += 1,
                // "= 2/5 of the cake"
                Kind::Word if self.is_part_of(end) && !self.starts_operand(end + 1) => break,
                Kind::Word => match self.continuation(start, end) {
                    Continuation::GoesOn(after) => {
                        if self.is_part_of(end) {
                            remark.get_or_insert(end);
                        }
                        end = after;
                    }
                    Continuation::Ends => break,
                    Continuation::Unreadable => return None,
                },
                _ if depth > 0 => return None,
                _ => break,
            }
        }
        if depth > 0 || end == start || self.tokens[end - 1].kind.is_operator() {
            return None;
        }
        self.is_clean_right_edge(end).then_some(Right { range: start..end, remark })
    }

    /// Whether the bracket that opens at `at` holds words, and no variables.
    fn has_words(&self, at: usize) -> bool {
        let mut words = 0;
        for at in at + 1..self.tokens.len().min(at + MAX_SIDE_TOKENS) {
            match self.tokens[at].kind {
                Kind::Close => break,
                Kind::Word if is_variable(self.slice(at)) && !matches!(self.slice(at), "a" | "I") => {
                    return false;
                }
                Kind::Word => words += 1,
                _ => {}
            }
        }
        words > 0
    }

    /// The effect of the words at `at` on the expression that starts at `start`.
    fn continuation(&self, start: usize, at: usize) -> Continuation {
        if at == start {
            return Continuation::Unreadable;
        }
        if self.is_part_of(at) {
            return Continuation::GoesOn(at + 1);
        }
        let mut end = at;
        while self.word(end).is_some_and(|word| !word.is_function_word() || word.is("per"))
            && end - at < MAX_UNIT_WORDS
        {
            end += 1;
            end += unit_power_len(&self.tokens[end..]);
        }
        // An operator needs an operand; in the middle of a chain the unit belongs to the side.
        let goes_on = self
            .kind(end)
            .is_some_and(|next| next.is_relation() || (next.is_operator() && self.starts_operand(end + 1)));
        if end > at && goes_on { Continuation::GoesOn(end) } else { Continuation::Ends }
    }

    /// Whether a result is independent of the text after it.
    fn is_clean_right_edge(&self, end: usize) -> bool {
        let is_dot = |at: usize| self.kind(at) == Some(Kind::Stop) && self.slice(at) == ".";
        let Some(token) = self.tokens.get(end) else { return true };
        match token.kind {
            // A method call on the number.
            Kind::Stop => !is_dot(end),
            Kind::Close => !is_dot(end + 1),
            Kind::Equal | Kind::About | Kind::End | Kind::Quote | Kind::Currency | Kind::Open => true,
            Kind::Word => self.is_standalone_before_words(end),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::assert_rule;

    #[test]
    fn right_side_rules() {
        for (rule, accepted, refused) in [
            ("a method of the number", "So 3 + 4 = 7.", "So 3 + 4 = 7.sqrt"),
            ("a method of the bracket", "So (3 + 4 = 7).", "So (3 + 4 = 7).sqrt"),
            ("a remark in brackets", "So 3 + 4 = 7 (seven).", "So 3 + 4 = 7(seven)."),
            ("an unknown sign", "So 3 + 4 = 7, yes.", "So 3 + 4 = 7!"),
        ] {
            assert_rule(rule, accepted, refused, "3 + 4 = 7");
        }
    }
}
