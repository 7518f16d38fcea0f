//! Whether an equation holds, fails, or may be meant in a way that makes it right.

use std::cmp::Ordering;
use std::ops::Range;

use super::operands::{Edge, Left};
use super::ratio::{Arithmetic, Ratio, Span, Truncated, Written};
use super::tokens::{Kind, Token};
use super::value::{OperandTraits, Reader};
use super::words::{Family, Unit, Word};
use super::{Line, WINDOW};

/// How an equation comes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Holds,
    Fails,
    /// It may be right.
    Unclear,
}

/// What a side may be worth: one value nearly always, which needs no memory of its own, and a few at most.
struct Values<A> {
    first: A,
    others: Vec<A>,
}

impl<A: Copy> Values<A> {
    fn iter(&self) -> impl Iterator<Item = A> {
        std::iter::once(self.first).chain(self.others.iter().copied())
    }

    fn any(&self, is: impl FnMut(A) -> bool) -> bool {
        self.iter().any(is)
    }
}

/// A side of an equation, read.
struct Side<'a> {
    tokens: &'a [Token],
    values: Values<Ratio>,
    traits: OperandTraits,
}

impl Side<'_> {
    fn has(&self, family: Family) -> bool {
        self.traits.units.iter().any(|(unit, _)| unit.family == family)
    }

    fn is_percentage(&self) -> bool {
        self.traits.single.is_some_and(|(written, _)| written.percent)
    }
}

impl Line<'_> {
    /// Whether the equation around the sign at `relation` holds; `None` when it is no arithmetic.
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
            // different kinds: 4% + 1% = 5% = $1,000, of something that is not here.
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
                    Verdict::Unclear => worst = Verdict::Unclear,
                    Verdict::Fails => {}
                }
            }
        }
        if worst == Verdict::Fails
            && (self.may_be_right(relation, &one, &other) || self.is_continued(left, &right))
        {
            worst = Verdict::Unclear;
        }
        Some(worst)
    }

    /// All values that a side may be read as, and what the first reading is made of.
    fn readings<A: Arithmetic>(&self, tokens: &[Token]) -> Option<(Values<A>, OperandTraits)> {
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
        // A percentage as a result is often just called by its number: 10 / 50 * 100 = 20%.
        if let Some((written, negative)) = traits.single
            && written.percent
        {
            let bare = A::from_written(&Written { percent: false, ..written })?;
            values.others.push(if negative { bare.negated()? } else { bare });
        }
        Some((values, traits))
    }

    /// Notes the words behind a result that may be its unit.
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

    /// Whether an equation that fails may be meant in a way that makes it right.
    fn may_be_right(&self, relation: usize, one: &Side<'_>, other: &Side<'_>) -> bool {
        let any_fact = |is: fn(&OperandTraits) -> bool| is(&one.traits) || is(&other.traits);
        let any_pair = |is: fn(Ratio, Ratio) -> bool| {
            one.values.any(|value| other.values.any(|result| is(value, result)))
        };
        let any_token =
            |kind: Kind| [one, other].iter().any(|side| side.tokens.iter().any(|token| token.kind == kind));
        let lone_x = || {
            let window = relation.saturating_sub(WINDOW)..self.tokens.len().min(relation + WINDOW);
            window
                .into_iter()
                .any(|at| self.kind(at) == Some(Kind::Word) && matches!(self.slice(at), "x" | "X"))
        };
        // 3 + 4 = 7 + 2 = 9
        let first = other.traits.first.and_then(|first| Ratio::from_written(&first));
        let runs_on = other.traits.operators > 0 && one.values.any(|value| Some(value) == first);
        runs_on
            || any_fact(|traits| traits.part_of_sum || traits.letter_power)
            || (any_fact(|traits| traits.letter_times) && lone_x())
            || (any_fact(|traits| traits.date_like) && (one.has(Family::Time) || other.has(Family::Time)))
            || (one.traits.binary_like && other.traits.binary_like)
            || (one.traits.range_like && one.values.iter().all(is_negative))
            || (any_token(Kind::Percent) && any_pair(|value, result| is_multiple(value, result, &[100])))
            || (any_fact(|traits| !traits.units.is_empty())
                && any_pair(|value, result| is_multiple(value, result, &CONVERSIONS)))
            || !units_agree(&one.traits.units, &other.traits.units)
            || (any_token(Kind::Divide) && self.is_truncated(one, other))
            || (any_fact(|traits| traits.rounded) && self.is_off_by_rounding(one, other))
    }

    /// Whether the lines around this one go on with the same expression.
    fn is_continued(&self, left: &Left, right: &Range<usize>) -> bool {
        let bytes = self.text.as_bytes();
        let first = self.tokens[left.start].start as usize;
        let last = self.tokens[right.end - 1].end as usize;
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'&' | b'$' | b'\\');
        let before = left.edge == Edge::Start && {
            let line = memchr::memrchr(b'\n', &bytes[..first]).unwrap_or(0);
            let above = memchr::memrchr(b'\n', &bytes[..line]).map_or(0, |newline| newline + 1);
            let end = bytes[above..line].iter().rev().find(|byte| !is_blank(byte));
            // What is no bullet may go on with a number that stands above.
            let number = || left.bullet && memchr::memchr(b'=', &bytes[above..line]).is_none();
            end.is_some_and(|byte| b"+-*/=^(,".contains(byte) || (byte.is_ascii_digit() && number()))
        };
        let after = right.end == self.tokens.len() && {
            let line =
                memchr::memchr(b'\n', &bytes[last..]).map_or(bytes.len(), |newline| last + newline + 1);
            let start = bytes[line.min(bytes.len())..].iter().take(64).find(|byte| !is_blank(byte));
            start.is_some_and(|byte| b"+/^".contains(byte))
        };
        before || after
    }

    /// Whether it holds with the whole division of programs.
    fn is_truncated(&self, one: &Side<'_>, other: &Side<'_>) -> bool {
        let [value, result] = [one, other].map(|side| self.readings::<Truncated>(side.tokens));
        other.traits.operators == 0
            && value
                .zip(result)
                .is_some_and(|((value, _), (result, _))| value.any(|one| result.any(|other| one == other)))
    }

    /// Whether numbers that look rounded account for the difference. In sums they have to be right.
    fn is_off_by_rounding(&self, one: &Side<'_>, other: &Side<'_>) -> bool {
        let [value, result] = [one, other].map(|side| self.readings::<Span>(side.tokens));
        (one.traits.multiplies || other.traits.multiplies)
            && value
                .zip(result)
                .is_none_or(|((value, _), (result, _))| value.any(|one| result.any(|other| one.meets(other))))
    }
}

/// How many of one unit make another.
const CONVERSIONS: [i32; 16] =
    [7, 12, 16, 24, 30, 36, 52, 60, 100, 365, 1000, 1024, 1440, 3600, 5280, 1_000_000];

/// Whether one value is so many times the other.
fn is_multiple(one: Ratio, other: Ratio, factors: &[i32]) -> bool {
    let quotients = [one.over(other), other.over(one)];
    quotients
        .iter()
        .flatten()
        .any(|quotient| quotient.to_integer().is_some_and(|factor| factors.contains(&factor)))
}

fn is_negative(value: Ratio) -> bool {
    value.compare(Ratio::small(0)) == Some(Ordering::Less)
}

/// Compares two values as people write results down.
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
    // The digits shown would have been enough: then they must be right.
    if exact.over(unit)?.is_integer() || !below(unit)? {
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
        let position_of = |per: bool| remaining.iter().position(|entry| *entry == (*unit, per));
        if let (Some(above), Some(below)) = (position_of(false), position_of(true)) {
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
