//! One side of an equation: its value and its properties.

use super::ratio::{Arithmetic, Written};
use super::tokens::{Kind, Token};
use super::words::{Unit, Word, is_si_symbol, is_variable};

/// The properties of a side.
#[expect(clippy::struct_excessive_bools, reason = "independent properties")]
#[derive(Debug, Default, Clone)]
pub(super) struct OperandTraits {
    /// Operators between operands; a sign doesn't count.
    pub(super) operators: u32,
    /// Whether anything but sums and differences is among them.
    pub(super) multiplies: bool,
    /// The number, when the side is a single one, and its sign.
    pub(super) single: Option<(Written, bool)>,
    /// The first number of the side.
    pub(super) first: Option<Written>,
    /// Whether a word follows a number.
    pub(super) worded: bool,
    /// Whether a part of something is taken from a sum, which may mean the part of the whole sum.
    pub(super) part_of_sum: bool,
    /// Whether a letter `x` multiplies by a 2 or 3, which may be an exponent that lost its height.
    pub(super) letter_power: bool,
    pub(super) letter_times: bool,
    /// Whether it has two small numbers around a slash without spaces, as in a date.
    pub(super) date_like: bool,
    /// Whether a number looks rounded.
    pub(super) rounded: bool,
    /// Whether all digits are zeros and ones, as in binary.
    pub(super) binary_like: bool,
    /// Whether the side is `a-b` without spaces and negative, as a range is.
    pub(super) range_like: bool,
    /// Units that can be converted, and whether they follow a "per".
    pub(super) units: Vec<(Unit, bool)>,
    numbers: u32,
}

/// Reads a side of an equation in one of its readings.
pub(super) struct Reader<'a> {
    text: &'a str,
    tokens: &'a [Token],
    at: usize,
    depth: u32,
    /// A bit for each place that can be read in two ways.
    reading: u32,
    /// Such places passed so far.
    pub(super) forks: u32,
    pub(super) traits: OperandTraits,
    sums: u32,
    parts: u32,
    /// The last word after the last number.
    term_unit: Option<&'a str>,
}

/// Maximum depth of parentheses.
const MAX_DEPTH: u32 = 32;
/// Maximum number of words in a unit.
const MAX_UNIT_WORDS: usize = 3;

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, tokens: &'a [Token], reading: u32) -> Self {
        let traits = OperandTraits { binary_like: true, ..OperandTraits::default() };
        Self { text, tokens, at: 0, depth: 0, reading, forks: 0, traits, sums: 0, parts: 0, term_unit: None }
    }

    /// The value of all the tokens; `None` when they are not plain arithmetic.
    pub(super) fn value<A: Arithmetic>(&mut self) -> Option<A> {
        let (value, _) = self.sum()?;
        if self.at < self.tokens.len() {
            return None;
        }
        self.traits.part_of_sum = self.parts > 0 && self.sums > 0;
        if self.traits.numbers != 1 || self.traits.operators > 0 {
            self.traits.single = None;
        }
        Some(value)
    }

    fn kind(&self) -> Option<Kind> {
        self.peek(0)
    }

    fn peek(&self, ahead: usize) -> Option<Kind> {
        self.tokens.get(self.at + ahead).map(|token| token.kind)
    }

    fn slice(&self, at: usize) -> &'a str {
        let token = self.tokens[at];
        &self.text[token.start as usize..token.end as usize]
    }

    fn fork(&mut self) -> bool {
        self.forks += 1;
        self.reading >> (self.forks - 1) & 1 == 1
    }

    /// A sum, and whether it is nothing but a percentage.
    fn sum<A: Arithmetic>(&mut self) -> Option<(A, bool)> {
        let outer = self.term_unit.take();
        let (mut value, mut bare) = self.product::<A>()?;
        let mut unit = self.term_unit;
        while let Some(sign @ (Kind::Plus | Kind::Minus)) = self.kind() {
            self.at += 1;
            self.traits.operators += 1;
            self.sums += 1;
            self.term_unit = None;
            let (mut next, percentage) = self.product::<A>()?;
            // Three feet plus four inches aren't seven of any unit.
            if let (Some(one), Some(other)) = (unit, self.term_unit)
                && !same_unit(one, other)
            {
                return None;
            }
            unit = unit.or(self.term_unit);
            // `50 + 10%` may mean 55 or 50.1.
            if percentage && !bare && self.fork() {
                next = next.times(value)?;
            }
            bare &= percentage;
            value = value.plus(if sign == Kind::Minus { next.negated()? } else { next })?;
        }
        self.term_unit = unit.or(outer);
        Some((value, bare))
    }

    fn product<A: Arithmetic>(&mut self) -> Option<(A, bool)> {
        let (mut value, mut bare) = self.power::<A>()?;
        let mut divided = false;
        loop {
            let operator = match self.kind() {
                Some(sign @ (Kind::Times | Kind::LetterTimes | Kind::Divide)) => {
                    self.at += 1;
                    if sign == Kind::LetterTimes {
                        self.traits.letter_times = true;
                        let tight = self.tokens.get(self.at).is_some_and(|token| !token.space_before);
                        self.traits.letter_power |=
                            tight && self.at < self.tokens.len() && matches!(self.slice(self.at), "2" | "3");
                    }
                    sign
                }
                // `70 (70%) - 60 (60%)`: a factor, or a remark.
                Some(Kind::Open) if self.is_percentage_in_brackets() && self.fork() => {
                    self.at += 4;
                    continue;
                }
                Some(Kind::Open | Kind::OpenSquare | Kind::OpenFraction) if !divided => Kind::Times,
                // "20% of 50", "3/4 of 20"
                Some(Kind::Word) if (bare || divided) && Word::new(self.slice(self.at)).is("of") => {
                    self.at += 1;
                    self.parts += 1;
                    Kind::Times
                }
                _ => return Some((value, bare)),
            };
            self.traits.operators += 1;
            self.traits.multiplies = true;
            bare = false;
            let (mut next, _) = self.power::<A>()?;
            // `25 / 1/3` may mean division by a third: 75.
            if operator == Kind::Divide && self.kind() == Some(Kind::Divide) && self.fork() {
                self.at += 1;
                self.traits.operators += 1;
                next = next.over(self.power::<A>()?.0)?;
            }
            value = if operator == Kind::Divide { value.over(next)? } else { value.times(next)? };
            divided = operator == Kind::Divide;
        }
    }

    fn is_percentage_in_brackets(&self) -> bool {
        let kinds = [Kind::Open, Kind::Number, Kind::Percent, Kind::Close];
        self.tokens[self.at].space_before
            && kinds.iter().enumerate().all(|(ahead, kind)| self.peek(ahead) == Some(*kind))
    }

    fn power<A: Arithmetic>(&mut self) -> Option<(A, bool)> {
        let mut negative = false;
        let mut signed = false;
        while let Some(sign @ (Kind::Plus | Kind::Minus)) = self.kind() {
            if signed {
                return None;
            }
            signed = true;
            negative = sign == Kind::Minus;
            self.at += 1;
        }
        let grouped = self.kind().is_some_and(Kind::opens);
        let (mut value, bare) = self.primary::<A>()?;
        let exponent = match self.kind() {
            Some(Kind::Power) => {
                self.at += 1;
                let negative = self.kind() == Some(Kind::Minus);
                self.at += usize::from(negative);
                let (exponent, _) = self.primary::<A>()?;
                Some(if negative { exponent.negated()? } else { exponent }.to_integer()?)
            }
            Some(Kind::Raised(exponent)) => {
                self.at += 1;
                Some(i32::from(exponent))
            }
            _ => None,
        };
        if let Some(exponent) = exponent {
            if matches!(self.kind(), Some(Kind::Power | Kind::Raised(_))) {
                return None;
            }
            self.traits.operators += 1;
            self.traits.multiplies = true;
            // `-2^2` is often written for 4, although it is -4.
            if negative && !grouped && self.fork() {
                value = value.negated()?;
                negative = false;
            }
            value = value.power(exponent)?;
            self.unit()?;
        }
        if negative {
            value = value.negated()?;
            if let Some((_, sign)) = &mut self.traits.single {
                *sign = !*sign;
            }
        }
        Some((value, bare && exponent.is_none()))
    }

    fn primary<A: Arithmetic>(&mut self) -> Option<(A, bool)> {
        if self.kind() == Some(Kind::Currency) {
            self.at += 1;
            self.traits.units.push((Unit::CURRENCY, false));
        }
        match self.kind()? {
            Kind::Number => self.number(),
            open if open.opens() => {
                self.depth += 1;
                if self.depth > MAX_DEPTH {
                    return None;
                }
                let before = self.traits.operators;
                self.at += 1;
                let (value, _) = self.sum::<A>()?;
                if self.kind() != Some(Kind::Close)
                    || (open == Kind::OpenSquare && self.traits.operators == before)
                {
                    return None;
                }
                self.at += 1;
                self.depth -= 1;
                let value = if self.kind() == Some(Kind::Percent) {
                    self.at += 1;
                    value.over(A::small(100))?
                } else {
                    value
                };
                self.closing_sign();
                self.unit()?;
                Some((value, false))
            }
            _ => None,
        }
    }

    fn number<A: Arithmetic>(&mut self) -> Option<(A, bool)> {
        let mut written = Written::parse(self.slice(self.at))?;
        let text = self.slice(self.at);
        self.traits.binary_like &= text.bytes().all(|byte| matches!(byte, b'0' | b'1'));
        self.traits.numbers += 1;
        self.date_or_range();
        self.at += 1;
        let mut percent = false;
        if self.kind() == Some(Kind::Percent) {
            self.at += 1;
            percent = true;
        }
        written.percent = percent;
        self.traits.rounded |= written.looks_rounded();
        self.traits.first.get_or_insert(written);
        self.traits.single = Some((written, false));
        let mut value = A::from_written(&written)?;
        if !percent && let Some((top, bottom)) = self.mixed() {
            value = value.plus(A::from_written(&top)?.over(A::from_written(&bottom)?)?)?;
        }
        self.closing_sign();
        self.unit()?;
        Some((value, percent))
    }

    /// A sign after the number, or a `$` that ends a formula and looks like a currency at its start.
    fn closing_sign(&mut self) {
        if self.kind() == Some(Kind::Currency) && !self.tokens[self.at].space_before {
            self.at += 1;
            self.traits.units.push((Unit::CURRENCY, false));
        }
    }

    /// The fraction of a mixed number: `2 1/2`, `2\frac{1}{2}`.
    fn mixed(&mut self) -> Option<(Written, Written)> {
        let integer_at = |reader: &Self, at: usize| {
            (reader.peek(at - reader.at)? == Kind::Number).then(|| Written::parse(reader.slice(at)))?
        };
        let (top, bottom, length) = if self.kind() == Some(Kind::OpenFraction) {
            let text_stats =
                [Kind::OpenFraction, Kind::Open, Kind::Number, Kind::Close, Kind::Divide, Kind::Open];
            let fits = text_stats.iter().enumerate().all(|(ahead, kind)| self.peek(ahead) == Some(*kind));
            if !fits || self.peek(7) != Some(Kind::Close) {
                return None;
            }
            (integer_at(self, self.at + 2)?, integer_at(self, self.at + 6)?, 9)
        } else {
            let slash = self.tokens.get(self.at + 1)?;
            let denominator = self.tokens.get(self.at + 2)?;
            if self.kind() != Some(Kind::Number)
                || slash.kind != Kind::Divide
                || slash.space_before
                || denominator.space_before
            {
                return None;
            }
            (integer_at(self, self.at)?, integer_at(self, self.at + 2)?, 3)
        };
        if top.decimals > 0 || bottom.decimals > 0 || top.digits >= bottom.digits {
            return None;
        }
        // A fraction in LaTeX after a number may be a factor.
        if length == 9 && self.fork() {
            return None;
        }
        self.at += length;
        self.traits.operators += 1;
        self.traits.numbers += 2;
        Some((top, bottom))
    }

    /// Notes what only looks like arithmetic: dates and ranges.
    fn date_or_range(&mut self) {
        let tight = |ahead: usize| self.tokens.get(self.at + ahead).is_some_and(|token| !token.space_before);
        if self.peek(2) != Some(Kind::Number) || !tight(1) || !tight(2) {
            return;
        }
        match self.peek(1) {
            Some(Kind::Divide) => {
                let short = |at: usize| self.slice(at).len() <= 2;
                self.traits.date_like |= short(self.at) && short(self.at + 2);
                let third = self.peek(3) == Some(Kind::Divide) && self.peek(4) == Some(Kind::Number);
                self.traits.date_like |= third && self.slice(self.at + 4).len() == 4;
            }
            Some(Kind::Minus) => self.traits.range_like |= self.tokens.len() == 3 || self.traits.numbers == 1,
            _ => {}
        }
    }

    /// Skips the unit after a number; `None` if the words aren't a unit.
    fn unit(&mut self) -> Option<()> {
        let mut words = 0;
        let mut per = false;
        while let Some(kind) = self.kind() {
            match kind {
                Kind::Word => {
                    let text = self.slice(self.at);
                    let word = Word::new(text);
                    if word.is("of") {
                        return Some(());
                    }
                    if word.is("per") && words > 0 && self.peek(1) == Some(Kind::Word) {
                        per = true;
                        self.at += 1;
                        continue;
                    }
                    let tight = words == 0 && !self.tokens[self.at].space_before;
                    if words == MAX_UNIT_WORDS
                        || is_variable(text)
                        || (tight && !word.is_abbreviation())
                        || word.is_function_word()
                    {
                        return None;
                    }
                    self.traits.units.extend(word.unit().map(|unit| (unit, per)));
                    words += 1;
                    let start = self.tokens[self.at].start as usize;
                    self.at += 1;
                    let power = unit_power_len(&self.tokens[self.at..]);
                    // `3 xy^2` isn't a quantity.
                    if power > 0 && word.unit().is_none() && !is_si_symbol(text) {
                        return None;
                    }
                    self.at += power;
                    self.term_unit = Some(&self.text[start..self.tokens[self.at - 1].end as usize]);
                }
                // `minutes/hour`, and `$3/hour`
                Kind::Divide if self.peek(1) == Some(Kind::Word) && !per => {
                    per = true;
                    words = words.max(1);
                    self.at += 1;
                }
                _ => break,
            }
        }
        self.traits.worded |= words > 0;
        Some(())
    }
}

/// The number of tokens in the power of a unit: `²`, `^2`, `^{-1}`.
pub(super) fn unit_power_len(tokens: &[Token]) -> usize {
    const FORMS: [&[Kind]; 4] = [
        &[Kind::Power, Kind::Number],
        &[Kind::Power, Kind::Minus, Kind::Number],
        &[Kind::Power, Kind::Open, Kind::Number, Kind::Close],
        &[Kind::Power, Kind::Open, Kind::Minus, Kind::Number, Kind::Close],
    ];
    match tokens.first().map(|token| token.kind) {
        Some(Kind::Raised(_)) => 1,
        Some(Kind::Power) => {
            let fits = |form: &&&[Kind]| {
                form.len() <= tokens.len() && form.iter().zip(tokens).all(|(kind, token)| token.kind == *kind)
            };
            FORMS.iter().find(fits).map_or(0, |form| form.len())
        }
        _ => 0,
    }
}

/// Whether two words are the same, in singular or plural.
fn same_unit(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    let (short, long) = (short.as_bytes(), long.as_bytes());
    let ending = &long[short.len()..];
    long[..short.len()].eq_ignore_ascii_case(short)
        && (ending.is_empty() || ending == b"s" || ending == b"es")
}
