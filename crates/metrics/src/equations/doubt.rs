//! Readings by which an equation would be true that is false as written.

use std::cmp::Ordering;
use std::ops::Range;

use super::operands::{Edge, Left};
use super::ratio::{Arithmetic, Ratio, Span, Truncated};
use super::tokens::{Kind, Token};
use super::value::OperandTraits;
use super::verdict::Side;
use super::words::{Family, Unit, is_si_symbol, is_variable};
use super::{Line, WINDOW};

impl Line<'_> {
    /// Whether a false equation is true in another plausible reading.
    pub(super) fn may_be_right(
        &self,
        relation: usize,
        one: &Side<'_>,
        other: &Side<'_>,
        left: &Left,
        right: &Range<usize>,
    ) -> bool {
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
        any_fact(|traits| traits.part_of_sum || traits.letter_power)
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
            || self.has_other_notation(relation, one, other, right.end)
            || self.has_other_symbol(one, other, right.end)
            || self.is_continued(left, right)
            || self.ends_inside_formula(right.end)
    }

    /// Whether a sign, a unit or the result may have another meaning than usual.
    fn has_other_notation(&self, relation: usize, one: &Side<'_>, other: &Side<'_>, end: usize) -> bool {
        let has = |side: &Side<'_>, is: fn(Kind) -> bool| side.tokens.iter().any(|token| is(token.kind));
        let is_power = |kind| matches!(kind, Kind::Power | Kind::Raised(_));
        // `2 * 3 = 2^2 + 3`, which defines `*`
        let defines_star = one.tokens.iter().any(|token| self.is_star(token))
            && (has(other, is_power) && !has(one, is_power) || self.is_star_defined_before(relation));
        // "48 = 100% + 20%", of a number that isn't given
        let is_sum_of_percentages = one.traits.operators == 0
            && !one.is_percentage()
            && has(other, |kind| kind == Kind::Percent)
            && !other.traits.multiplies;
        // `7^2 = 9`, the last digit
        let is_last_digit = has(one, is_power)
            && other.traits.operators == 0
            && one.values.any(|value| other.values.any(|result| value.last_digit() == Some(result)));
        // "12 = 1/4 of the rest"
        let is_part = self.is_part_of(end)
            && one.values.iter().all(|value| value.compare(Ratio::small(2)) == Some(Ordering::Greater));
        defines_star || is_sum_of_percentages || is_last_digit || is_part
    }

    fn is_star(&self, token: &Token) -> bool {
        token.kind == Kind::Times && self.text_of(token) == "*"
    }

    /// Whether `*` is redefined: `a * b = a^2 + b`, but not in `l * w = 3 * 4`.
    fn is_star_defined_before(&self, relation: usize) -> bool {
        let is_letter = |token: &Token| token.kind == Kind::Word && is_variable(self.text_of(token));
        self.tokens[relation.saturating_sub(WINDOW)..relation].windows(6).any(|tokens| match tokens {
            [one, star, other, sign, rest @ ..] => {
                is_letter(one)
                    && self.is_star(star)
                    && is_letter(other)
                    && sign.kind == Kind::Equal
                    && rest.iter().any(is_letter)
            }
            _ => false,
        })
    }

    /// Whether the sides have units that may differ by a prefix: `5 × 10^6 Hz = 5 MHz`.
    fn has_other_symbol(&self, one: &Side<'_>, other: &Side<'_>, end: usize) -> bool {
        const MAX_UNIT_TOKENS: usize = 4;
        let behind = &self.tokens[end..self.tokens.len().min(end + MAX_UNIT_TOKENS)];
        let is_symbol = |token: &&Token| token.kind == Kind::Word && is_si_symbol(self.text_of(token));
        let mut left = one.tokens.iter().filter(is_symbol);
        let is_in_left = |token: &Token| {
            one.tokens.iter().filter(is_symbol).any(|other| self.text_of(other) == self.text_of(token))
        };
        let mut right = other.tokens.iter().chain(behind).filter(is_symbol);
        let is_off_by_prefix =
            || one.values.any(|value| other.values.any(|result| is_multiple(value, result, &PREFIX_FACTORS)));
        right.any(|token| !is_in_left(token)) && (left.next().is_some() || is_off_by_prefix())
    }

    /// Whether the text ends here although a formula was opened, so that it was truncated.
    fn ends_inside_formula(&self, end: usize) -> bool {
        const MAX_FORMULA_LEN: usize = 4096;
        let last = self.tokens[end - 1].end as usize;
        if !self.text[last..].trim_start().is_empty() {
            return false;
        }
        let bytes = &self.text.as_bytes()[last.saturating_sub(MAX_FORMULA_LEN)..last];
        let is_open = |opening: &[u8], closing: &[u8]| {
            memchr::memmem::rfind(bytes, opening)
                .is_some_and(|at| memchr::memmem::find(&bytes[at..], closing).is_none())
        };
        let line = &bytes[memchr::memrchr(b'\n', bytes).map_or(0, |newline| newline + 1)..];
        let last_fence = memchr::memrchr(b'$', line);
        let is_open_dollar = last_fence.is_some_and(|at| memchr::memchr(b'\\', &line[at..]).is_some())
            && memchr::memchr_iter(b'$', line).count() % 2 == 1;
        is_open(b"\\[", b"\\]") || is_open(b"\\(", b"\\)") || is_open_dollar
    }

    /// Whether the lines around this one continue the same expression.
    fn is_continued(&self, left: &Left, right: &Range<usize>) -> bool {
        let bytes = self.text.as_bytes();
        let first = self.tokens[left.start].start as usize;
        let last = self.tokens[right.end - 1].end as usize;
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'&' | b'$' | b'\\');
        let before = left.edge == Edge::Start && {
            let line = memchr::memrchr(b'\n', &bytes[..first]).unwrap_or(0);
            let above = memchr::memrchr(b'\n', &bytes[..line]).map_or(0, |newline| newline + 1);
            let end = bytes[above..line].iter().rev().find(|byte| !is_blank(byte));
            // Without a bullet, the line may continue with a number above it.
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

    /// Whether it is true with the integer division of programming languages.
    fn is_truncated(&self, one: &Side<'_>, other: &Side<'_>) -> bool {
        let [value, result] = [one, other].map(|side| self.readings::<Truncated>(side.tokens));
        other.traits.operators == 0
            && value
                .zip(result)
                .is_some_and(|((value, _), (result, _))| value.any(|one| result.any(|other| one == other)))
    }

    /// Whether numbers that look rounded account for the difference. In sums they must be correct.
    fn is_off_by_rounding(&self, one: &Side<'_>, other: &Side<'_>) -> bool {
        let [value, result] = [one, other].map(|side| self.readings::<Span>(side.tokens));
        (one.traits.multiplies || other.traits.multiplies)
            && value
                .zip(result)
                .is_none_or(|((value, _), (result, _))| value.any(|one| result.any(|other| one.meets(other))))
    }
}

/// Whether the right side starts with the result and continues: `3 + 4 = 7 + 2 = 9`.
pub(super) fn runs_on(one: &Side<'_>, other: &Side<'_>) -> bool {
    let first = other.traits.first.and_then(|first| Ratio::from_written(&first));
    other.traits.operators > 0
        && other.tokens.first().is_some_and(|token| token.kind != Kind::OpenFraction)
        && one.values.any(|value| Some(value) == first)
}

/// Factors between units.
const CONVERSIONS: [i32; 16] =
    [7, 12, 16, 24, 30, 36, 52, 60, 100, 365, 1000, 1024, 1440, 3600, 5280, 1_000_000];

/// The powers of ten of unit prefixes.
const PREFIX_FACTORS: [i32; 3] = [1000, 1_000_000, 1_000_000_000];

/// Whether one value is this multiple of the other.
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

/// Whether the units of the two sides agree without a conversion: after cancellation by "per", each kind of unit that
/// remains is one unit, in the result too or only there.
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
