//! Whether an expression is independent of the words before it: not an operand or a name.

use super::super::tokens::Kind;
use super::super::words::Word;
use super::super::{Line, WINDOW};

/// An expression and the two words before it.
struct Preceding<'l, 't> {
    line: &'l Line<'t>,
    /// Where the expression starts.
    start: usize,
    word: Word,
    second: Option<Word>,
}

impl Line<'_> {
    /// Whether the expression is independent of the words before it.
    pub(super) fn is_standalone_after_words(&self, start: usize) -> bool {
        let Some(word) = self.word(start - 1) else { return false };
        let second = start.checked_sub(2).and_then(|at| self.word(at));
        let preceding = Preceding { line: self, start, word, second };
        Preceding::RULES.iter().find_map(|rule| rule(&preceding)).unwrap_or(true)
    }

    /// Whether the clause has a number before `at` that is not the result of an equation, or a word that operates on
    /// one.
    fn has_operand_before(&self, at: usize) -> bool {
        for index in (at.saturating_sub(WINDOW)..at).rev() {
            match self.tokens[index].kind {
                Kind::Percent => {}
                Kind::Word if !self.word(index).is_some_and(Word::is_arithmetic_verb) => {}
                Kind::Number => {
                    let mut before = index;
                    while before > 0 && matches!(self.tokens[before - 1].kind, Kind::Currency | Kind::Minus) {
                        before -= 1;
                    }
                    return !(before > 0 && self.tokens[before - 1].kind.is_relation());
                }
                Kind::Stop | Kind::End | Kind::Exclamation | Kind::Question => return false,
                _ => return true,
            }
        }
        false
    }
}

impl Preceding<'_, '_> {
    /// Each rule returns whether the expression is independent, or `None` for other words. The first decision counts;
    /// without one the expression is independent.
    const RULES: [fn(&Self) -> Option<bool>; 8] = [
        Self::single_letter,
        Self::label,
        Self::of,
        Self::comes_to,
        Self::link,
        Self::participle,
        Self::operation,
        Self::quantity,
    ];

    fn has_operand_before(&self) -> bool {
        self.line.has_operand_before(self.start - 1)
    }

    fn is_second_one_of(&self, names: &[&str]) -> bool {
        self.second.is_some_and(|second| second.is_one_of(names))
    }

    /// "x 3 + 4": a variable.
    fn single_letter(&self) -> Option<bool> {
        let text = self.line.slice(self.start - 1);
        (text.chars().count() == 1 && text != "I").then_some(false)
    }

    /// "step 3 + 4": a name.
    fn label(&self) -> Option<bool> {
        self.word.is_label().then_some(false)
    }

    /// "a total of 10 + 2", but not "half of 10 + 2".
    fn of(&self) -> Option<bool> {
        const TOTALS: [&str; 8] = ["total", "sum", "cost", "number", "amount", "price", "profit", "value"];
        self.word.is("of").then(|| {
            self.is_second_one_of(&TOTALS)
                || (self.second.is_some_and(|second| !second.is_operation()) && !self.has_operand_before())
        })
    }

    /// "comes to 3 + 4".
    fn comes_to(&self) -> Option<bool> {
        const VERBS: [&str; 6] = ["comes", "came", "amounts", "amounted", "equal", "out"];
        (self.word.is("to") && self.is_second_one_of(&VERBS)).then_some(true)
    }

    /// Independent unless it is combined with something: "add 5 to 3 + 4", "2 hours and 30 minutes".
    fn link(&self) -> Option<bool> {
        self.word.is_one_of(&["to", "and", "with", "by"]).then(|| !self.has_operand_before())
    }

    /// "adding 3 + 4".
    fn participle(&self) -> Option<bool> {
        self.word.is_one_of(&["adding", "multiplying", "dividing", "subtracting"]).then_some(true)
    }

    /// "twice 3 + 4", "double the 3 + 4".
    fn operation(&self) -> Option<bool> {
        let is_operation = self.word.is_operation()
            || self.second.is_some_and(|second| second.is_operation() && !second.is("and"));
        is_operation.then_some(false)
    }

    /// "2 hours 30 minutes": one quantity.
    fn quantity(&self) -> Option<bool> {
        let is_unit_of_number = |at: usize| {
            at > 0
                && self.line.tokens[at - 1].kind.ends_operand()
                && self.line.word(at).is_some_and(|word| word.unit().is_some())
        };
        let goes_on =
            is_unit_of_number(self.start - 1) || self.second.is_some() && is_unit_of_number(self.start - 2);
        goes_on.then_some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::assert_rule;

    #[test]
    fn preceding_word_rules() {
        for (rule, accepted, refused) in [
            ("single letter", "I 3 + 4 = 7", "x 3 + 4 = 7"),
            ("label", "We get 3 + 4 = 7.", "In step 3 + 4 = 7."),
            ("of", "He has a total of 3 + 4 = 7.", "He has half of 3 + 4 = 7."),
            ("comes to", "It comes to 3 + 4 = 7.", "Add 5 to 3 + 4 = 7."),
            ("link", "He has cats and 3 + 4 = 7.", "He has 5 and 3 + 4 = 7."),
            ("participle", "By adding 3 + 4 = 7.", "He added 3 + 4 = 7."),
            ("operation", "He counts 3 + 4 = 7.", "He counts twice 3 + 4 = 7."),
            ("quantity", "In kilometers 3 + 4 = 7.", "After 2 kilometers 3 + 4 = 7."),
        ] {
            assert_rule(rule, accepted, refused, "3 + 4 = 7");
        }
    }
}
