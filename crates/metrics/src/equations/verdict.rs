//! Whether an equation is true, false, or true in another plausible reading.

use std::cmp::Ordering;
use std::ops::Range;

use super::doubt::runs_on;
use super::operands::{Edge, Left, Right};
use super::ratio::{Arithmetic, Ratio, Written};
use super::tokens::{Kind, Token};
use super::value::{OperandTraits, Reader};
use super::words::{Family, Word};
use super::{Line, WINDOW};

/// The verdict on an equation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Holds,
    Fails,
    /// It may be correct.
    Unclear,
    /// It may be correct if the right side continues with its result: `3 + 4 = 7 + 2 = 9`.
    RunsOn,
}

/// The possible values of a side: nearly always one, which needs no allocation, and a few at most.
pub(super) struct Values<A> {
    first: A,
    others: Vec<A>,
}

impl<A: Copy> Values<A> {
    pub(super) fn iter(&self) -> impl Iterator<Item = A> {
        std::iter::once(self.first).chain(self.others.iter().copied())
    }

    pub(super) fn any(&self, is: impl FnMut(A) -> bool) -> bool {
        self.iter().any(is)
    }
}

/// A parsed side of an equation.
pub(super) struct Side<'a> {
    pub(super) tokens: &'a [Token],
    pub(super) values: Values<Ratio>,
    pub(super) traits: OperandTraits,
}

impl Side<'_> {
    pub(super) fn has(&self, family: Family) -> bool {
        self.traits.units.iter().any(|(unit, _)| unit.family == family)
    }

    pub(super) fn is_percentage(&self) -> bool {
        self.traits.single.is_some_and(|(written, _)| written.percent)
    }
}

impl Line<'_> {
    /// The verdict on an equation whose right side may end with a remark, and the right side as it was read. It fails
    /// only if it does with and without the remark.
    pub(super) fn verdict_with_remark(
        &self,
        relation: usize,
        left: &Left,
        right: Right,
        chained: bool,
    ) -> Option<(Verdict, Range<usize>)> {
        let whole = self.verdict(relation, left, right.range.clone(), chained);
        let Some(remark) = right.remark.filter(|_| whole != Some(Verdict::Holds)) else {
            return Some((whole?, right.range));
        };
        let short = right.range.start..remark;
        match (whole, self.verdict(relation, left, short.clone(), chained)?) {
            (_, Verdict::Holds) => Some((Verdict::Holds, short)),
            (Some(Verdict::Fails), Verdict::Fails) => Some((Verdict::Fails, right.range)),
            _ => Some((Verdict::Unclear, right.range)),
        }
    }

    /// Whether the equation around the sign at `relation` holds; `None` if it isn't arithmetic.
    pub(super) fn verdict(
        &self,
        relation: usize,
        left: &Left,
        right: Range<usize>,
        chained: bool,
    ) -> Option<Verdict> {
        let tokens = [&self.tokens[left.start..relation], &self.tokens[right.clone()]];
        let is_arithmetic_verb = |token: &Token| {
            token.kind.is_operator()
                || token.kind.opens()
                || matches!(token.kind, Kind::Raised(_) | Kind::Percent)
        };
        if !chained && !tokens.iter().any(|side| side.iter().any(is_arithmetic_verb)) {
            return None;
        }
        let side = |tokens| {
            let (values, traits) = self.readings::<Ratio>(tokens)?;
            Some(Side { tokens, values, traits })
        };
        let (mut one, mut other) = (side(tokens[0])?, side(tokens[1])?);
        self.add_units_behind(right.end, &mut other.traits);
        if one.traits.operators + other.traits.operators == 0 {
            // Two plain numbers are compared only where a calculation led to the first, and not when they are of
            // different kinds: 4% + 1% = 5% = $1,000, of a quantity that isn't given.
            let differ = one.is_percentage() != other.is_percentage()
                || one.has(Family::Money) != other.has(Family::Money);
            let worded = one.traits.worded || other.traits.worded;
            if !chained || worded || (differ && one.values.first != other.values.first) {
                return None;
            }
        } else if one.traits.operators == 0 {
            let alone = match left.edge {
                Edge::Start | Edge::Stop | Edge::Relation => true,
                Edge::Word => self.word(left.start - 1).is_some_and(Word::introduces_answer),
            };
            // "20% discount = …", "5 hours = …", "(3) = …"
            let grouped = one.tokens.iter().any(|token| token.kind.opens());
            if !alone || one.traits.worded || one.traits.single?.0.percent || grouped {
                return None;
            }
        }
        let about = self.tokens[relation].kind == Kind::About
            || relation + 1 < right.start
            || self.is_marked_rounded(right.end);
        if left.bullet {
            one.values.others.extend(self.readings::<Ratio>(&tokens[0][1..])?.0.iter());
        }
        let mut worst = Verdict::Fails;
        for value in one.values.iter() {
            for result in other.values.iter() {
                match compare(value, result, &one.traits, &other.traits, about)? {
                    Verdict::Holds => return Some(Verdict::Holds),
                    Verdict::Fails => {}
                    unclear => worst = unclear,
                }
            }
        }
        Some(match () {
            () if worst != Verdict::Fails => worst,
            () if runs_on(&one, &other) => Verdict::RunsOn,
            () if self.may_be_right(relation, &one, &other, left, &right) => Verdict::Unclear,
            () => Verdict::Fails,
        })
    }

    /// All values that a side may be read as, and the properties of the first reading.
    pub(super) fn readings<A: Arithmetic>(&self, tokens: &[Token]) -> Option<(Values<A>, OperandTraits)> {
        let mut reader = Reader::new(self.text, tokens, 0);
        let first = reader.value::<A>()?;
        let (forks, traits) = (reader.forks, reader.traits);
        if forks > 3 {
            return None;
        }
        let mut values = Values { first, others: Vec::new() };
        for reading in 1..1_u32 << forks {
            values.others.extend(Reader::new(self.text, tokens, reading).value::<A>());
        }
        // A percentage as a result is often written as its number: 10 / 50 * 100 = 20%.
        if let Some((written, negative)) = traits.single
            && written.percent
        {
            let bare = A::from_written(&Written { percent: false, ..written })?;
            values.others.push(if negative { bare.negated()? } else { bare });
        }
        Some((values, traits))
    }

    /// Records the words after a result that may be its unit.
    fn add_units_behind(&self, end: usize, traits: &mut OperandTraits) {
        let mut per = false;
        for at in end..end + 4 {
            match self.kind(at) {
                Some(Kind::Divide) => per = true,
                Some(Kind::Word) => {
                    let word = Word::new(self.slice(at));
                    if word.is("per") {
                        per = true;
                    } else if word.is_function_word() {
                        return;
                    } else {
                        traits.worded = true;
                        traits.units.extend(word.unit().map(|unit| (unit, per)));
                    }
                }
                _ => return,
            }
        }
    }

    fn is_marked_rounded(&self, end: usize) -> bool {
        let mut words = 0;
        for at in end..self.tokens.len().min(end + WINDOW) {
            match self.tokens[at].kind {
                Kind::End | Kind::Question | Kind::Exclamation => return false,
                Kind::Word => {
                    words += 1;
                    if Word::new(self.slice(at)).is_rounding_after() {
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
}

/// This many decimals are those of a float, whose last digits are noise: a relative error of up to `FLOAT_NOISE`.
const FLOAT_DECIMALS: u32 = 10;
const FLOAT_NOISE: f64 = 1e-9;
/// Compares two values with the rounding that people use.
fn compare(
    left: Ratio,
    right: Ratio,
    left_facts: &OperandTraits,
    right_facts: &OperandTraits,
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
    let as_share = written.percent && Ratio::from_written(&written)?.magnitude()? == shown.magnitude()?;
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
    // Float noise, such as a program prints for 0.1 + 0.2.
    let noise = FLOAT_NOISE * (exact.approximately().abs() + 1.0);
    if written.decimals >= FLOAT_DECIMALS && off.approximately() < noise {
        return Some(Verdict::Holds);
    }
    // The digits shown would have been enough: then they must be correct.
    if exact.over(unit)?.is_integer() || !below(unit)? {
        return Some(Verdict::Fails);
    }
    if decimals == 0 && !written.percent {
        // A whole number for a fraction may be rounded, truncated, or leave a remainder.
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
