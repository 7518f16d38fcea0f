//! Where the sides of an equation start and end, and whether what stands beside them leaves them alone.

use std::ops::Range;

use super::tokens::Kind;
use super::words::Word;
use super::{Line, WINDOW};

/// A side of more tokens is not read.
const MAX_SIDE_TOKENS: usize = 200;

/// What stands left of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edge {
    Start,
    Relation,
    Word,
    Stop,
}

/// The tokens of a left side.
pub(super) struct Left {
    pub(super) start: usize,
    pub(super) edge: Edge,
    /// Whether the sign at its start may be a bullet.
    pub(super) bullet: bool,
}

/// What words behind an operand do to an expression.
enum Continuation {
    GoesOn(usize),
    Ends,
    Unreadable,
}

impl Line<'_> {
    /// The longest expression that ends before the sign at `relation`, when what stands before it lets it stand alone.
    pub(super) fn left(&self, relation: usize) -> Option<Left> {
        let mut start = relation;
        let mut depth = 0;
        let mut words = 0;
        while start > 0 && relation - start < MAX_SIDE_TOKENS {
            let kind = self.tokens[start - 1].kind;
            match kind {
                Kind::Close => depth += 1,
                kind if kind.opens() => {
                    if depth == 0 {
                        break;
                    }
                    depth -= 1;
                    // A function's argument, or an index.
                    if start >= 2
                        && kind != Kind::OpenFraction
                        && !self.tokens[start - 1].space_before
                        && matches!(self.tokens[start - 2].kind, Kind::Word | Kind::Unknown)
                    {
                        return None;
                    }
                }
                Kind::Number
                | Kind::Percent
                | Kind::Plus
                | Kind::Minus
                | Kind::Times
                | Kind::LetterTimes
                | Kind::Divide
                | Kind::Power
                | Kind::Raised(_) => words = 0,
                Kind::Currency => {
                    // The fence of a formula that ended before this one began.
                    let closes = start >= 2
                        && !self.tokens[start - 1].space_before
                        && self.tokens[start - 2].kind.ends_operand();
                    let opens = self.kind(start).is_some_and(|next| next == Kind::Number || next.opens());
                    if closes && opens && depth == 0 {
                        break;
                    }
                }
                Kind::Word => {
                    let next = self.tokens[start].kind;
                    let leads = matches!(next, Kind::Number | Kind::Currency) || next.opens();
                    let signed = depth == 0 && self.is_sign(start);
                    if (leads || signed) && !(leads && self.is_part_of(start - 1)) {
                        if depth > 0 {
                            return None;
                        }
                        break;
                    }
                    words += 1;
                    if words > 6 {
                        return None;
                    }
                }
                _ if depth > 0 => return None,
                _ => break,
            }
            start -= 1;
        }
        if depth > 0 || start == relation || relation - start >= MAX_SIDE_TOKENS {
            return None;
        }
        self.edge(start)
    }

    /// Whether the minus at `at` is the sign of the number after it: " -3".
    fn is_sign(&self, at: usize) -> bool {
        self.tokens[at].kind == Kind::Minus
            && self.tokens[at].space_before
            && self.tokens.get(at + 1).is_some_and(|next| !next.space_before && next.kind == Kind::Number)
    }

    /// Whether the word at `at` is the "of" of "20% of 50" or "3/4 of 20".
    fn is_part_of(&self, at: usize) -> bool {
        let percent = at >= 1 && self.tokens[at - 1].kind == Kind::Percent;
        let fraction = at >= 2
            && self.tokens[at - 1].kind.ends_operand()
            && (self.tokens[at - 2].kind == Kind::Divide || self.tokens[at - 1].kind == Kind::Close);
        (percent || fraction) && self.word(at).is_some_and(|word| word.is("of"))
    }

    /// Whether an expression may start at `start`, given what stands before.
    fn edge(&self, start: usize) -> Option<Left> {
        let first = self.tokens[start].kind;
        let previous = start.checked_sub(1).map(|at| self.tokens[at].kind);
        let edge = match previous {
            None => Edge::Start,
            Some(Kind::Equal | Kind::About) => Edge::Relation,
            Some(Kind::Word) => Edge::Word,
            Some(
                Kind::Stop | Kind::End | Kind::Exclamation | Kind::Quote | Kind::Question | Kind::Currency,
            ) => Edge::Stop,
            Some(kind) if kind.opens() => {
                // `f(3 + 4 = 7`, `2(3 + 4 = 7)`
                let tight = start >= 2
                    && !self.tokens[start - 1].space_before
                    && matches!(self.tokens[start - 2].kind, Kind::Number | Kind::Word | Kind::Close);
                if tight {
                    return None;
                }
                Edge::Stop
            }
            Some(_) => return None,
        };
        let bullet = first == Kind::Minus && edge == Edge::Start && self.tokens.get(start + 1)?.space_before;
        match first {
            Kind::Number | Kind::Currency => {}
            Kind::Minus if edge != Edge::Word || self.is_sign(start) => {
                // `x - 3`, with a dash after something that is no operand for us
                if edge == Edge::Stop && self.tokens.get(start + 1)?.space_before {
                    return None;
                }
            }
            kind if kind.opens() => {}
            _ => return None,
        }
        if edge == Edge::Word && !self.is_standalone_after(start) {
            return None;
        }
        Some(Left { start, edge, bullet })
    }

    /// Whether the words before an expression leave it alone, rather than making it an operand or a name.
    fn is_standalone_after(&self, start: usize) -> bool {
        let Some(word) = self.word(start - 1) else { return false };
        let text = self.slice(start - 1);
        if text.chars().count() == 1 && text != "I" {
            return false;
        }
        let second = start.checked_sub(2).and_then(|at| self.word(at));
        if word.is_label() {
            return false;
        }
        let second_is =
            |names: &[&str]| second.as_ref().is_some_and(|second| names.iter().any(|name| second.is(name)));
        // Fine unless there is something to be combined with: "half of 10 + 2", "add 5 to 3 + 4", "2 hours and 30
        // minutes".
        if word.is("of") {
            let total = second_is(&["total", "sum", "cost", "number", "amount", "price", "profit", "value"]);
            return total
                || (second.is_some_and(|second| !second.is_operation())
                    && !self.has_operand_before(start - 1));
        }
        if word.is("to") && second_is(&["comes", "came", "amounts", "amounted", "equal", "out"]) {
            return true;
        }
        if ["to", "and", "with", "by"].iter().any(|link| word.is(link)) {
            return !self.has_operand_before(start - 1);
        }
        if word.is("adding") || word.is("multiplying") || word.is("dividing") || word.is("subtracting") {
            return true;
        }
        if word.is_operation()
            || second.as_ref().is_some_and(|second| second.is_operation() && !second.is("and"))
        {
            return false;
        }
        // "2 hours 30 minutes": a quantity that goes on.
        let goes_on = |at: usize| {
            at > 0
                && self.tokens[at - 1].kind.ends_operand()
                && self.word(at).is_some_and(|word| word.unit().is_some())
        };
        !(goes_on(start - 1) || second.is_some() && goes_on(start - 2))
    }

    /// Whether a number that is not the result of an equation stands before `at` in its clause, or a word that works on
    /// one.
    fn has_operand_before(&self, at: usize) -> bool {
        for place in (at.saturating_sub(WINDOW)..at).rev() {
            match self.tokens[place].kind {
                Kind::Percent => {}
                Kind::Word if !self.word(place).is_some_and(Word::is_arithmetic_verb) => {}
                Kind::Number => {
                    let mut before = place;
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

    /// The tokens of the expression after the sign at `relation`, when what comes after lets it stand alone.
    pub(super) fn right(&self, relation: usize) -> Option<Range<usize>> {
        let mut start = relation + 1;
        while self.word(start).is_some_and(Word::is_rounding) || self.kind(start) == Some(Kind::About) {
            start += 1;
        }
        let mut end = start;
        let mut depth = 0_usize;
        while let Some(token) = self.tokens.get(end) {
            if end - start >= MAX_SIDE_TOKENS {
                return None;
            }
            let operand_before = end > start && self.tokens[end - 1].kind.ends_operand();
            match token.kind {
                // Two numbers beside each other: a mixed number, or nothing that we know.
                Kind::Number
                | Kind::Percent
                | Kind::Plus
                | Kind::Minus
                | Kind::Times
                | Kind::LetterTimes
                | Kind::Divide
                | Kind::Power
                | Kind::Raised(_) => end += 1,
                Kind::Currency => {
                    // A fence that opens the next formula.
                    if operand_before && token.space_before {
                        break;
                    }
                    end += 1;
                }
                Kind::Close => {
                    if depth == 0 {
                        break;
                    }
                    depth -= 1;
                    end += 1;
                }
                kind if kind.opens() => {
                    // "= 7 (seven apples)": a remark.
                    if depth == 0 && operand_before && token.space_before && kind != Kind::OpenFraction {
                        break;
                    }
                    depth += 1;
                    end += 1;
                }
                Kind::Word if depth > 0 => end += 1,
                Kind::Word => match self.behind(start, end) {
                    Continuation::GoesOn(after) => end = after,
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
        self.is_clean_right_edge(end).then_some(start..end)
    }

    /// What the words at `at` do to the expression that starts at `start`.
    fn behind(&self, start: usize, at: usize) -> Continuation {
        if at == start {
            return Continuation::Unreadable;
        }
        if self.is_part_of(at) {
            return Continuation::GoesOn(at + 1);
        }
        let mut end = at;
        while self.word(end).is_some_and(|word| !word.is_function_word() || word.is("per")) && end - at < 5 {
            end += 1;
        }
        // An operator must have something to work on; in the middle of a chain the unit belongs to the side.
        let operand = self
            .kind(end + 1)
            .is_some_and(|kind| matches!(kind, Kind::Number | Kind::Currency) || kind.opens());
        let goes_on =
            self.kind(end).is_some_and(|next| next.is_relation() || (next.is_operator() && operand));
        if end > at && goes_on { Continuation::GoesOn(end) } else { Continuation::Ends }
    }

    /// Whether what comes behind a result leaves it alone.
    fn is_clean_right_edge(&self, end: usize) -> bool {
        let Some(token) = self.tokens.get(end) else { return true };
        match token.kind {
            // A method of the number.
            Kind::Stop if self.slice(end) == "." => false,
            Kind::Close if self.kind(end + 1) == Some(Kind::Stop) && self.slice(end + 1) == "." => false,
            Kind::Equal
            | Kind::About
            | Kind::Stop
            | Kind::End
            | Kind::Quote
            | Kind::Close
            | Kind::Currency
            | Kind::Open => true,
            Kind::Word => {
                let word = Word::new(self.slice(end));
                let single = self.slice(end).chars().count() == 1;
                if single || (!token.space_before && !word.is_abbreviation()) {
                    return false;
                }
                if word.is("and") {
                    // "3 and a half", "3 and 1/2"
                    let fraction =
                        self.kind(end + 2) == Some(Kind::Divide) && self.kind(end + 3) == Some(Kind::Number);
                    let spelled = self.word(end + 1).is_some_and(|next| next.is_operation() || next.is("a"));
                    let alone =
                        !self.kind(end + 4).is_some_and(|kind| kind.is_operator() || kind.is_relation());
                    return !(fraction && alone || spelled);
                }
                if (word.is_operation()
                    && !["to", "with", "of", "per", "from", "by", "more", "less", "over"]
                        .iter()
                        .any(|fine| word.is(fine)))
                    || word.is_remainder()
                {
                    return false;
                }
                // "8 less than 20", "3 hours 15 minutes", "2 to the power of 3", "3 dozen eggs"
                let mut at = end;
                while self.kind(at) == Some(Kind::Word) && at < end + 3 {
                    let word = Word::new(self.slice(at));
                    if word.is_scale() || word.is("than") || word.is("power") || word.is_remainder() {
                        return false;
                    }
                    if at > end && word.is_function_word() {
                        return true;
                    }
                    at += 1;
                }
                !matches!(self.kind(at), Some(Kind::Number))
                    || Word::new(self.slice(at - 1)).is_function_word()
            }
            _ => false,
        }
    }
}
