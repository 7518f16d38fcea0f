//! Equations in a text of reasoning: which of them can be checked, and which of those hold.
//!
//! Everything is exact: numbers are fractions, and what overflows is not checked. **A right line must never be called
//! wrong.** So an equation is checked only where it can be read in plain arithmetic, and called false only when it is
//! false in every reading that people have of it: a result may be rounded or cut off to the digits shown, `50 + 10%`
//! may be 55, and whatever is denied, asked, supposed, quoted or corrected on the spot is left alone. The rules, and
//! what they find in a labelled corpus, are in `docs/zeta-steps.md`.

mod ratio;
mod tokens;
mod value;
mod words;

use std::cmp::Ordering;
use std::ops::Range;

use ratio::{Arithmetic, Ratio, Span, Written};
use tokens::{Kind, Token, Tokenizer};
use value::{Facts, Reader};
use words::{Family, Folded, Unit};

/// An equation that could be checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step<'a> {
    /// The line it stands in, counted from 1.
    pub line: usize,
    /// The equation as it stands there.
    pub text: &'a str,
    /// Whether it is true.
    pub holds: bool,
}

/// Finds the equations of a text that can be checked, and checks them.
///
/// A chain `a = b = c` is two steps. A text without an equals sign costs a search for one.
///
/// ```
/// use reasonscape_core::zeta::check_steps;
///
/// let steps = check_steps("She sold 48/2 = 24 clips.\nIn total 48 + 24 = 73, so x = 73.");
/// assert_eq!(steps.len(), 2);
/// assert!(steps[0].holds);
/// assert_eq!((steps[1].line, steps[1].text, steps[1].holds), (2, "48 + 24 = 73", false));
/// ```
pub fn check_steps(text: &str) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    let (mut line, mut counted) = (1, 0);
    visit(text, |found| {
        // Equations come in order, but for those inside of others.
        if found.left.start >= counted {
            line += memchr::memchr_iter(b'\n', &text.as_bytes()[counted..found.left.start]).count();
            counted = found.left.start;
        }
        steps.push(Step { line, text: &text[found.left.start..found.right.end], holds: found.holds });
    });
    steps
}

/// An equation by the places of its sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) left: Range<usize>,
    pub(super) right: Range<usize>,
    pub(super) holds: bool,
}

/// A longer line is read in pieces, at whose seams nothing is checked.
const LONGEST_PIECE: usize = 1 << 15;
/// A side of more tokens is not read.
const LONGEST_SIDE: usize = 200;
/// How far words around an equation are looked at, in tokens.
const WINDOW: usize = 40;

/// Calls `each` with the equations of a text that can be checked, line by line.
pub(super) fn visit(text: &str, mut each: impl FnMut(Found)) {
    let bytes = text.as_bytes();
    let mut tokenizer = Tokenizer::default();
    let mut at = 0;
    while let Some(sign) = next_sign(bytes, at) {
        let start = memchr::memrchr(b'\n', &bytes[at..sign]).map_or(at, |newline| at + newline + 1);
        let end = memchr::memchr(b'\n', &bytes[sign..]).map_or(bytes.len(), |newline| sign + newline);
        let mut from = start;
        while from < end {
            let to = piece_end(text, from, end);
            read_piece(text, from..to, from == start, to == end, &mut tokenizer, &mut each);
            from = to;
        }
        at = end;
    }
}

/// The next sign that may relate two sides: `=`, `≈` and its kin, `\approx`.
fn next_sign(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let found = at + memchr::memchr3(b'=', 0xE2, b'\\', &bytes[at..])?;
        let rest = &bytes[found..];
        let is_sign = match rest[0] {
            b'=' => true,
            b'\\' => rest.starts_with(b"\\approx") || rest.starts_with(b"\\simeq"),
            _ => matches!(rest, [_, 0x89, 0x83 | 0x85 | 0x88, ..]),
        };
        if is_sign {
            return Some(found);
        }
        at = found + 1;
    }
}

/// Where a piece of a line ends that starts at `from`: at the end of the line or at white space.
fn piece_end(text: &str, from: usize, end: usize) -> usize {
    if end - from <= LONGEST_PIECE {
        return end;
    }
    let bytes = text.as_bytes();
    let most = from + LONGEST_PIECE;
    let space = memchr::memrchr(b' ', &bytes[from + 1..most]).map(|space| from + 1 + space);
    space.unwrap_or_else(|| text.floor_char_boundary(most))
}

fn read_piece(
    text: &str,
    piece: Range<usize>,
    starts: bool,
    ends: bool,
    tokenizer: &mut Tokenizer,
    each: &mut impl FnMut(Found),
) {
    tokenizer.read(text, piece.start, piece.end, starts, ends);
    let annotations = std::mem::take(&mut tokenizer.annotations);
    if annotations.is_empty() {
        Line { text, tokens: &tokenizer.tokens }.check(each);
        return;
    }
    let mut found = Vec::new();
    Line { text, tokens: &tokenizer.tokens }.check(&mut |equation| found.push(equation));
    let outer = found.len();
    for (start, end) in annotations {
        tokenizer.read(text, start, end, true, true);
        let mut inner = None;
        Line { text, tokens: &tokenizer.tokens }.check(&mut |equation: Found| inner = Some(equation));
        let Some(inner) = inner else { continue };
        // `48/2 = <<48/2=24>>24` is one step, true if both are.
        let around = |outer: &&mut Found| outer.left.start < start && end <= outer.right.end;
        match found[..outer].iter_mut().find(around) {
            Some(outer) => outer.holds &= inner.holds,
            None => found.push(inner),
        }
    }
    found.sort_by_key(|equation| equation.left.start);
    found.into_iter().for_each(each);
}

/// A line, or a piece of one.
struct Line<'a> {
    text: &'a str,
    tokens: &'a [Token],
}

/// What stands left of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edge {
    Start,
    Relation,
    Word,
    Stop,
}

/// The tokens of a left side.
struct Left {
    start: usize,
    edge: Edge,
    /// Whether the sign at its start may be a bullet.
    bullet: bool,
}

/// How an equation comes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Holds,
    Fails,
    /// It may be right.
    Unclear,
}

impl Line<'_> {
    fn check(&self, each: &mut impl FnMut(Found)) {
        // Whether the side left of the next sign is the checked right side of the one before.
        let mut chained = None;
        for (at, token) in self.tokens.iter().enumerate() {
            if !token.kind.is_relation() {
                continue;
            }
            let before = chained.take();
            let Some(left) = self.left(at) else { continue };
            let Some(right) = self.right(at) else { continue };
            let Some(verdict) = self.verdict(at, &left, right.clone(), before == Some(at)) else { continue };
            if verdict == Verdict::Unclear || self.is_doubted(left.start, right.end) {
                continue;
            }
            chained = Some(right.end);
            let skip = usize::from(left.bullet);
            let (first, last) = (self.tokens[left.start + skip], self.tokens[right.end - 1]);
            each(Found {
                left: first.start as usize..self.tokens[at].start as usize,
                right: self.tokens[right.start].start as usize..last.end as usize,
                holds: verdict == Verdict::Holds,
            });
        }
    }

    fn kind(&self, at: usize) -> Option<Kind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    fn slice(&self, at: usize) -> &str {
        &self.text[self.tokens[at].start as usize..self.tokens[at].end as usize]
    }

    fn word(&self, at: usize) -> Option<Folded> {
        (self.kind(at)? == Kind::Word).then(|| Folded::new(self.slice(at)))
    }

    /// The longest expression that ends before the sign at `relation`, when what stands before it lets it stand alone.
    fn left(&self, relation: usize) -> Option<Left> {
        let mut start = relation;
        let mut depth = 0;
        let mut words = 0;
        while start > 0 && relation - start < LONGEST_SIDE {
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
                        && !self.tokens[start - 1].spaced
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
                        && !self.tokens[start - 1].spaced
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
        if depth > 0 || start == relation || relation - start >= LONGEST_SIDE {
            return None;
        }
        self.edge(start, relation)
    }

    /// Whether the minus at `at` is the sign of the number after it: " -3".
    fn is_sign(&self, at: usize) -> bool {
        self.tokens[at].kind == Kind::Minus
            && self.tokens[at].spaced
            && self.tokens.get(at + 1).is_some_and(|next| !next.spaced && next.kind == Kind::Number)
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
    fn edge(&self, start: usize, relation: usize) -> Option<Left> {
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
                    && !self.tokens[start - 1].spaced
                    && matches!(self.tokens[start - 2].kind, Kind::Number | Kind::Word | Kind::Close);
                if tight {
                    return None;
                }
                Edge::Stop
            }
            Some(_) => return None,
        };
        let bullet = first == Kind::Minus && edge == Edge::Start && self.tokens.get(start + 1)?.spaced;
        match first {
            Kind::Number | Kind::Currency => {}
            Kind::Minus if edge != Edge::Word || self.is_sign(start) => {
                // `x - 3`, with a dash after something that is no operand for us
                if edge == Edge::Stop && self.tokens.get(start + 1)?.spaced {
                    return None;
                }
            }
            kind if kind.opens() => {}
            _ => return None,
        }
        if edge == Edge::Word && !self.stands_alone_after(start, relation) {
            return None;
        }
        Some(Left { start, edge, bullet })
    }

    /// Whether the words before an expression leave it alone, rather than making it an operand or a name.
    fn stands_alone_after(&self, start: usize, relation: usize) -> bool {
        let Some(word) = self.word(start - 1) else { return false };
        let text = self.slice(start - 1);
        if text.chars().count() == 1 && text != "I" {
            return false;
        }
        let second = start.checked_sub(2).and_then(|at| self.word(at));
        if word.labels() {
            return false;
        }
        let second_is =
            |names: &[&str]| second.as_ref().is_some_and(|second| names.iter().any(|name| second.is(name)));
        // Fine unless there is something to be combined with: "half of 10 + 2", "add 5 to 3 + 4", "2 hours and 30
        // minutes".
        if word.is("of") {
            let total = second_is(&["total", "sum", "cost", "number", "amount", "price", "profit", "value"]);
            return total
                || (second.is_some_and(|second| !second.computes()) && !self.has_operand_before(start - 1));
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
        if word.computes() || second.as_ref().is_some_and(|second| second.computes() && !second.is("and")) {
            return false;
        }
        // "2 hours 30 minutes": a quantity that goes on.
        let goes_on = |at: usize| {
            at > 0
                && self.tokens[at - 1].kind.ends_operand()
                && self.word(at).is_some_and(|word| word.unit().is_some())
        };
        !goes_on(start - 1) && !(second.is_some() && goes_on(start - 2))
    }

    /// Whether a number that is not the result of an equation stands before `at` in its clause, or a word that works on
    /// one.
    fn has_operand_before(&self, at: usize) -> bool {
        for place in (at.saturating_sub(WINDOW)..at).rev() {
            match self.tokens[place].kind {
                Kind::Percent => {}
                Kind::Word if !self.word(place).is_some_and(|word| word.works()) => {}
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
    fn right(&self, relation: usize) -> Option<Range<usize>> {
        let mut start = relation + 1;
        while self.word(start).is_some_and(|word| word.rounds()) || self.kind(start) == Some(Kind::About) {
            start += 1;
        }
        let mut end = start;
        let mut depth = 0_usize;
        loop {
            let Some(token) = self.tokens.get(end) else { break };
            if end - start >= LONGEST_SIDE {
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
                    if operand_before && token.spaced {
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
                    if depth == 0 && operand_before && token.spaced && kind != Kind::OpenFraction {
                        break;
                    }
                    depth += 1;
                    end += 1;
                }
                Kind::Word if depth > 0 => end += 1,
                Kind::Word => match self.unit_end(start, end)? {
                    Some(after) => end = after,
                    None => break,
                },
                _ if depth > 0 => return None,
                _ => break,
            }
        }
        if depth > 0 || end == start || self.tokens[end - 1].kind.is_operator() {
            return None;
        }
        self.lets_stand(end).then_some(start..end)
    }

    /// Where the expression goes on behind the words at `at`: `None` within when it ends before them, and `None` when
    /// they make it something else.
    fn unit_end(&self, start: usize, at: usize) -> Option<Option<usize>> {
        let first = self.word(at)?;
        if at == start {
            return None;
        }
        if first.is("of") && self.is_part_of(at) {
            return Some(Some(at + 1));
        }
        let mut end = at;
        while self.word(end).is_some_and(|word| !word.is_function_word() || word.is("per")) && end - at < 5 {
            end += 1;
        }
        let Some(next) = self.kind(end) else { return Some(None) };
        // The operator must have something to work on, and the middle of a chain is a side with its unit.
        let goes_on = next.is_operator()
            && self
                .kind(end + 1)
                .is_some_and(|kind| matches!(kind, Kind::Number | Kind::Currency) || kind.opens());
        let in_chain = next.is_relation();
        let unit = next == Kind::Divide && self.kind(end + 1) == Some(Kind::Word);
        if end > at && (goes_on || in_chain) {
            return Some(Some(end));
        }
        if unit && end > at {
            return Some(None);
        }
        Some(None)
    }

    /// Whether what comes behind a result leaves it alone.
    fn lets_stand(&self, end: usize) -> bool {
        let Some(token) = self.tokens.get(end) else { return true };
        match token.kind {
            Kind::Equal
            | Kind::About
            | Kind::Stop
            | Kind::End
            | Kind::Quote
            | Kind::Close
            | Kind::Currency
            | Kind::Open => true,
            Kind::Word => {
                let word = Folded::new(self.slice(end));
                let single = self.slice(end).chars().count() == 1;
                if single || (!token.spaced && !word.is_abbreviation()) {
                    return false;
                }
                if word.is("and") {
                    // "3 and a half", "3 and 1/2"
                    let fraction =
                        self.kind(end + 2) == Some(Kind::Divide) && self.kind(end + 3) == Some(Kind::Number);
                    let spelled = self.word(end + 1).is_some_and(|next| next.computes() || next.is("a"));
                    return !(fraction
                        && !self.kind(end + 4).is_some_and(|kind| kind.is_operator() || kind.is_relation()))
                        && !spelled;
                }
                if (word.computes()
                    && !["to", "with", "of", "per", "from", "by", "more", "less", "over"]
                        .iter()
                        .any(|fine| word.is(fine)))
                    || word.remains()
                {
                    return false;
                }
                // "8 less than 20", "3 hours 15 minutes", "2 to the power of 3", "3 dozen eggs"
                let mut at = end;
                while self.kind(at) == Some(Kind::Word) && at < end + 3 {
                    let word = Folded::new(self.slice(at));
                    if word.scales() || word.is("than") || word.is("power") || word.remains() {
                        return false;
                    }
                    if at > end && word.is_function_word() {
                        return true;
                    }
                    at += 1;
                }
                !matches!(self.kind(at), Some(Kind::Number))
                    || Folded::new(self.slice(at - 1)).is_function_word()
            }
            _ => false,
        }
    }

    /// Whether the words around an equation deny, ask, suppose or correct it, or the whole is quoted.
    fn is_doubted(&self, start: usize, end: usize) -> bool {
        let mut clause = true;
        for at in (start.saturating_sub(WINDOW)..start).rev() {
            match self.tokens[at].kind {
                Kind::End | Kind::Question | Kind::Exclamation => break,
                Kind::Stop if self.slice(at) == "," => clause = false,
                Kind::Word => {
                    let word = Folded::new(self.slice(at));
                    clause &= !word.is("then");
                    if word.denies() || word.redefines() || (clause && word.supposes()) {
                        return true;
                    }
                }
                _ => {}
            }
        }
        let quoted = start > 0
            && self.tokens[start - 1].kind == Kind::Quote
            && self.kind(end).is_some_and(|kind| matches!(kind, Kind::Quote | Kind::End | Kind::Stop));
        if quoted {
            return true;
        }
        let mut sentences = 0;
        let mut words = 0;
        for at in end..self.tokens.len().min(end + WINDOW) {
            match self.tokens[at].kind {
                Kind::Question if sentences == 0 => return true,
                Kind::End | Kind::Exclamation | Kind::Question => {
                    sentences += 1;
                    words = 0;
                    if sentences == 2 {
                        break;
                    }
                }
                Kind::Unknown if sentences == 0 && at == end => return true,
                Kind::Word => {
                    words += 1;
                    if words > if sentences == 0 { 14 } else { 6 } {
                        if sentences > 0 {
                            break;
                        }
                        continue;
                    }
                    let word = Folded::new(self.slice(at));
                    if word.denies() || word.corrects() || (sentences == 0 && word.redefines()) {
                        return true;
                    }
                }
                _ => {}
            }
        }
        false
    }

    /// Whether the equation around the sign at `relation` holds; `None` when it is no arithmetic.
    fn verdict(&self, relation: usize, left: &Left, right: Range<usize>, chained: bool) -> Option<Verdict> {
        let tokens = [&self.tokens[left.start..relation], &self.tokens[right.clone()]];
        let (left_values, left_facts) = self.readings::<Ratio>(tokens[0])?;
        let (right_values, mut right_facts) = self.readings::<Ratio>(tokens[1])?;
        self.add_units_behind(right.end, &mut right_facts);
        if left_facts.operators + right_facts.operators == 0 {
            // Two plain numbers are compared only where a calculation led to the first.
            if !chained || left_facts.worded || right_facts.worded {
                return None;
            }
        } else if left_facts.operators == 0 {
            let alone = match left.edge {
                Edge::Start | Edge::Stop | Edge::Relation => true,
                Edge::Word => self.word(left.start - 1).is_some_and(|word| word.presents()),
            };
            // "20% discount = …", "5 hours = …", "(3) = …"
            let (written, _) = left_facts.single?;
            if !alone
                || left_facts.worded
                || written.percent
                || tokens[0].iter().any(|token| token.kind.opens())
            {
                return None;
            }
        }
        let about = self.tokens[relation].kind == Kind::About
            || relation + 1 < right.start
            || self.is_said_to_be_rounded(right.end);
        let mut worst = Verdict::Fails;
        let mut bullets = left_values.clone();
        if left.bullet {
            bullets.extend(self.readings::<Ratio>(&tokens[0][1..])?.0);
        }
        for &one in &bullets {
            for &other in &right_values {
                match compare(one, other, &left_facts, &right_facts, about)? {
                    Verdict::Holds => return Some(Verdict::Holds),
                    Verdict::Unclear => worst = Verdict::Unclear,
                    Verdict::Fails => {}
                }
            }
        }
        if worst == Verdict::Fails
            && self.may_be_right(relation, left, &right, &left_facts, &right_facts, &bullets, &right_values)
        {
            worst = Verdict::Unclear;
        }
        Some(worst)
    }

    /// All values that a side may be read as, and what the first reading is made of.
    fn readings<A: Arithmetic>(&self, tokens: &[Token]) -> Option<(Vec<A>, Facts)> {
        let mut reader = Reader::new(self.text, tokens, 0);
        let first = reader.value::<A>()?;
        let (forks, facts) = (reader.forks, reader.facts);
        if forks > 3 {
            return None;
        }
        let mut values = vec![first];
        for reading in 1..1_u32 << forks {
            values.extend(Reader::new(self.text, tokens, reading).value::<A>());
        }
        // A percentage as a result is often just called by its number: 10 / 50 * 100 = 20%.
        if let Some((written, negative)) = facts.single
            && written.percent
        {
            let bare = A::of(&Written { percent: false, ..written })?;
            values.push(if negative { bare.negated()? } else { bare });
        }
        Some((values, facts))
    }

    /// Notes the words behind a result that may be its unit.
    fn add_units_behind(&self, end: usize, facts: &mut Facts) {
        let mut per = false;
        for at in end..end + 4 {
            match self.kind(at) {
                Some(Kind::Divide) => per = true,
                Some(Kind::Word) => {
                    let word = Folded::new(self.slice(at));
                    if word.is("per") {
                        per = true;
                    } else if word.is_function_word() {
                        return;
                    } else {
                        facts.worded = true;
                        facts.units.extend(word.unit().map(|unit| (unit, per)));
                    }
                }
                _ => return,
            }
        }
    }

    fn is_said_to_be_rounded(&self, end: usize) -> bool {
        let mut words = 0;
        for at in end..self.tokens.len().min(end + WINDOW) {
            match self.tokens[at].kind {
                Kind::End | Kind::Question | Kind::Exclamation => return false,
                Kind::Word => {
                    words += 1;
                    if Folded::new(self.slice(at)).rounds_after() {
                        return true;
                    }
                    if words > 8 {
                        return false;
                    }
                }
                _ => {}
            }
        }
        false
    }

    /// Whether an equation that fails may be meant in a way that makes it right.
    fn may_be_right(
        &self,
        relation: usize,
        left: &Left,
        right: &Range<usize>,
        left_facts: &Facts,
        right_facts: &Facts,
        left_values: &[Ratio],
        right_values: &[Ratio],
    ) -> bool {
        let both = [left_facts, right_facts];
        let lone_x = || {
            let is_x = |at: usize| matches!(self.slice(at), "x" | "X") && self.tokens[at].kind == Kind::Word;
            (0..self.tokens.len()).any(is_x)
        };
        let time = |facts: &Facts| facts.units.iter().any(|(unit, _)| unit.family == Family::Time);
        // Running on, as in 3 + 4 = 7 + 2 = 9.
        let hundredfold = || {
            let percent = [left.start..relation, right.clone()]
                .into_iter()
                .any(|side| self.tokens[side].iter().any(|token| token.kind == Kind::Percent));
            let hundred = Ratio::small(100);
            percent
                && left_values.iter().any(|one| {
                    right_values
                        .iter()
                        .any(|other| one.times(hundred) == Some(*other) || other.times(hundred) == Some(*one))
                })
        };
        let runs_on = right_facts.operators > 0
            && right_facts
                .first
                .and_then(|first| Ratio::of(&first))
                .is_some_and(|first| left_values.contains(&first));
        runs_on
            || hundredfold()
            || both.iter().any(|facts| facts.part_of_sum || facts.letter_power)
            || (both.iter().any(|facts| facts.letter_times) && lone_x())
            || (both.iter().any(|facts| facts.date_like) && both.iter().any(|facts| time(facts)))
            || both.iter().all(|facts| facts.binary_like)
            || left_facts.range_like && left_values.iter().all(|value| is_negative(*value))
            || !units_agree(&left_facts.units, &right_facts.units)
            || self.is_continued(left, right)
            || self.is_off_by_rounding(&self.tokens[left.start..relation], &self.tokens[right.clone()], both)
    }

    /// Whether the lines around this one go on with the same expression.
    fn is_continued(&self, left: &Left, right: &Range<usize>) -> bool {
        let bytes = self.text.as_bytes();
        let first = self.tokens[left.start].start as usize;
        let last = self.tokens[right.end - 1].end as usize;
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'&' | b'$' | b'\\');
        let before = left.edge == Edge::Start && {
            let line = memchr::memrchr(b'\n', &bytes[..first]).unwrap_or(0);
            let end = bytes[..line].iter().rev().find(|byte| !is_blank(byte));
            end.is_some_and(|byte| b"+-*/=^(,".contains(byte) || (left.bullet && byte.is_ascii_digit()))
        };
        let after = right.end == self.tokens.len() && {
            let line =
                memchr::memchr(b'\n', &bytes[last..]).map_or(bytes.len(), |newline| last + newline + 1);
            let start = bytes[line.min(bytes.len())..].iter().take(64).find(|byte| !is_blank(byte));
            start.is_some_and(|byte| b"+/^".contains(byte))
        };
        before || after
    }

    /// Whether numbers that look rounded account for the difference.
    fn is_off_by_rounding(&self, left: &[Token], right: &[Token], both: [&Facts; 2]) -> bool {
        if !both.iter().any(|facts| facts.multiplies) || !both.iter().any(|facts| facts.rounded) {
            return false;
        }
        let (Some((left, _)), Some((right, _))) = (self.readings::<Span>(left), self.readings::<Span>(right))
        else {
            return true;
        };
        left.iter().any(|one| right.iter().any(|other| one.meets(*other)))
    }
}

fn is_negative(value: Ratio) -> bool {
    value.compare(Ratio::small(0)) == Some(Ordering::Less)
}

/// Compares two values as people write results down.
fn compare(
    left: Ratio,
    right: Ratio,
    left_facts: &Facts,
    right_facts: &Facts,
    about: bool,
) -> Option<Verdict> {
    if left == right {
        return Some(Verdict::Holds);
    }
    let (exact, shown, written) = match (right_facts.single, left_facts.single) {
        (Some((written, _)), _) => (left, right, written),
        (None, Some((written, _))) => (right, left, written),
        (None, None) => return Some(if about { Verdict::Unclear } else { Verdict::Fails }),
    };
    let off = exact.minus(shown)?.magnitude()?;
    let below = |limit: Ratio| off.compare(limit).map(|order| order == Ordering::Less);
    // In units of the percentage when it is read as one.
    let as_share = written.percent && Ratio::of(&written)?.magnitude()? == shown.magnitude()?;
    let decimals = written.decimals + if as_share { 2 } else { 0 };
    let unit = Ratio::new(1, 10_i128.checked_pow(decimals)?)?;
    if about {
        let unit = written.significant_unit()?;
        let unit = if as_share { unit.over(Ratio::small(100))? } else { unit };
        let near = exact.magnitude()?.times(Ratio::new(1, 20)?)?;
        return Some(match () {
            () if !below(unit)? && !below(near)? => Verdict::Fails,
            () if below(unit)? && below(near)? => Verdict::Holds,
            () => Verdict::Unclear,
        });
    }
    // The digits shown would have been enough: then they must be right.
    if exact.over(unit)?.is_whole() || !below(unit)? {
        return Some(Verdict::Fails);
    }
    if decimals == 0 && !written.percent {
        // A whole number for a fraction may be rounded, cut off, or leave a remainder.
        return Some(Verdict::Unclear);
    }
    let half = unit.times(Ratio::new(1, 2)?)?;
    let rounded = off.compare(half)? != Ordering::Greater;
    let cut_off = shown.magnitude()?.compare(exact.magnitude()?)? == Ordering::Less;
    // Cents are rounded up as well.
    let money =
        right_facts.units.iter().chain(&left_facts.units).any(|(unit, _)| unit.family == Family::Money);
    Some(match () {
        () if rounded || cut_off => Verdict::Holds,
        () if money => Verdict::Unclear,
        () => Verdict::Fails,
    })
}

/// Whether the units leave no conversion between the sides: what a "per" cancels is gone, and each kind of unit that
/// remains is one unit, in the result as well or there alone.
fn units_agree(left: &[(Unit, bool)], right: &[(Unit, bool)]) -> bool {
    let mut remaining = left.to_vec();
    for (unit, _) in left.iter().filter(|(_, per)| *per) {
        let place = |per: bool| remaining.iter().position(|entry| *entry == (*unit, per));
        if let (Some(above), Some(below)) = (place(false), place(true)) {
            remaining.swap_remove(above.max(below));
            remaining.swap_remove(above.min(below));
        }
    }
    let units = || remaining.iter().chain(right).map(|(unit, _)| unit);
    let one_each = units().all(|unit| {
        unit.family != Family::Speed && units().all(|other| other.family != unit.family || other == unit)
    });
    one_each && remaining.iter().all(|(unit, _)| right.iter().any(|(other, _)| other == unit))
}

#[cfg(test)]
mod tests;
