//! Whether a result is independent of the words after it: not an operand.

use super::super::Line;
use super::super::tokens::Kind;
use super::super::value::unit_power_len;
use super::super::words::{Word, is_variable};

/// Number of words after a result that are examined.
const MAX_WORDS: usize = 3;
/// Maximum number of tokens in a unit.
const MAX_UNIT_TOKENS: usize = 8;

/// A result and the word after it.
struct Following<'l, 't> {
    line: &'l Line<'t>,
    /// Position of the word.
    at: usize,
    word: Word,
}

impl Line<'_> {
    /// Whether the result is independent of the words at `at`.
    pub(super) fn is_standalone_before_words(&self, at: usize) -> bool {
        let following = Following { line: self, at, word: Word::new(self.slice(at)) };
        Following::RULES.iter().find_map(|rule| rule(&following)).unwrap_or(true)
    }
}

impl Following<'_, '_> {
    /// Each rule returns whether the expression is independent, or `None` for other words. The first decision counts;
    /// without one the expression is independent.
    const RULES: [fn(&Self) -> Option<bool>; 5] =
        [Self::attached, Self::operator_after_unit, Self::and, Self::operation, Self::later_words];

    fn kind(&self, ahead: usize) -> Option<Kind> {
        self.line.kind(self.at + ahead)
    }

    /// "7x", "7 x", "7 AB": a variable.
    fn attached(&self) -> Option<bool> {
        let is_variable = is_variable(self.line.slice(self.at));
        let is_attached = !self.line.tokens[self.at].space_before;
        (is_variable || (is_attached && !self.word.is_abbreviation())).then_some(false)
    }

    /// "7 m/s * 3 s": the expression continues after the unit.
    fn operator_after_unit(&self) -> Option<bool> {
        let mut at = self.at;
        while at < self.at + MAX_UNIT_TOKENS {
            match self.line.kind(at) {
                Some(Kind::Word) => at += 1,
                Some(Kind::Divide) if self.line.kind(at + 1) == Some(Kind::Word) => at += 1,
                _ => break,
            }
            at += unit_power_len(&self.line.tokens[at..]);
        }
        let goes_on = self.line.kind(at).is_some_and(Kind::is_operator) && self.line.starts_operand(at + 1);
        let is_unit = |word: Word| !word.is_function_word() || word.is("per");
        (goes_on && (self.at..at).filter_map(|at| self.line.word(at)).all(is_unit)).then_some(false)
    }

    /// "3 and a half", "3 and 1/2"
    fn and(&self) -> Option<bool> {
        self.word.is("and").then(|| {
            let is_fraction = self.kind(2) == Some(Kind::Divide) && self.kind(3) == Some(Kind::Number);
            let goes_on = self.kind(4).is_some_and(|kind| kind.is_operator() || kind.is_relation());
            let is_spelled =
                self.line.word(self.at + 1).is_some_and(|next| next.is_operation() || next.is("a"));
            !(is_fraction && !goes_on || is_spelled)
        })
    }

    /// "7 times", "7 remainder 2"
    fn operation(&self) -> Option<bool> {
        const HARMLESS: [&str; 9] = ["to", "with", "of", "per", "from", "by", "more", "less", "over"];
        let is_operation = self.word.is_operation() && !self.word.is_one_of(&HARMLESS);
        (is_operation || self.word.is_remainder()).then_some(false)
    }

    /// "8 less than 20", "3 hours 15 minutes", "2 to the power of 3", "3 dozen eggs"
    fn later_words(&self) -> Option<bool> {
        let mut ahead = 0;
        let mut last = self.word;
        while self.kind(ahead) == Some(Kind::Word) && ahead < MAX_WORDS {
            last = Word::new(self.line.slice(self.at + ahead));
            let is_comparison = last.is("than") && self.is_compared_with_number(self.at + ahead + 1);
            if last.is_scale() || is_comparison || last.is("power") || last.is_remainder() {
                return Some(false);
            }
            if ahead > 0 && last.is_function_word() {
                return Some(true);
            }
            ahead += 1;
        }
        (self.kind(ahead) == Some(Kind::Number) && !last.is_function_word()).then_some(false)
    }

    /// Whether "8 less than" is followed by a number, or with "twice": not with "4 more apples than Ada".
    fn is_compared_with_number(&self, at: usize) -> bool {
        let is_number =
            |at| self.line.starts_operand(at) || self.line.word(at).is_some_and(Word::is_operation);
        is_number(at) || is_number(at + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::assert_rule;

    #[test]
    fn following_word_rules() {
        for (rule, accepted, refused) in [
            ("attached", "So 3 + 4 = 7 apples.", "So 3 + 4 = 7apples."),
            ("operator after unit", "So 3 + 4 = 7 miles/hour.", "So 3 + 4 = 7 miles/hour * 2 hours."),
            ("and", "So 3 + 4 = 7 and that is it.", "So 3 + 4 = 7 and a half."),
            ("operation", "So 3 + 4 = 7 per day.", "So 3 + 4 = 7 times."),
            ("later words", "So 3 + 4 = 7 more apples.", "So 3 + 4 = 7 less than 20."),
        ] {
            assert_rule(rule, accepted, refused, "3 + 4 = 7");
        }
    }
}
