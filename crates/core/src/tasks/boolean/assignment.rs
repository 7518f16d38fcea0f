//! Truth values for an expression, such that nothing that can be seen without working it out tells its value.
//!
//! Two assignments are made that look alike and give different values: the same truth values at both ends, as many
//! others TRUE, as many of the negated ones TRUE, and the same result for a reader who ignores precedence. A coin
//! chooses one of the two, so each of these features is independent of the answer by construction.
//!
//! Up to 64 assignments are evaluated at once, one in each bit of a word (a *lane*).

use super::{Body, Group, Item, Operator};
use crate::PyRandom;

/// Up to this length, the lanes are all assignments there are.
const MAX_EXHAUSTIVE: usize = 6;

/// How alike two assignments are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Likeness {
    /// Nothing is the same, not even the number of TRUE.
    Different,
    /// As many TRUE.
    Counts,
    /// The same at both ends as well, and as many of the negated ones TRUE.
    Ends,
    /// Readers who ignore parentheses and precedence get the same result as well.
    WithoutParentheses,
    /// So do readers who ignore precedence only, but not necessarily those who ignore parentheses.
    WithoutPrecedence,
    /// So do both.
    Both,
}

/// The values that an expression has in each lane.
struct Values {
    correct: u64,
    /// From left to right within each group, whatever the operators.
    without_precedence: u64,
}

/// The result of a reader who goes through the text from left to right and ignores parentheses.
struct FlatReader {
    value: u64,
    pending: Option<Operator>,
}

impl Operator {
    fn apply(self, left: u64, right: u64) -> u64 {
        match self {
            Self::And => left & right,
            Self::Xor => left ^ right,
            Self::Or => left | right,
            Self::Implies => !left | right,
        }
    }
}

/// Chooses the truth values of an expression and returns its value, and how alike the two candidates were; `None` if no
/// two were found.
pub(super) fn assign(group: &mut Group, length: usize, rng: &mut PyRandom) -> Option<(bool, Likeness)> {
    let negated = negated_literals(group);
    let (lanes, pair) = if length <= MAX_EXHAUSTIVE {
        const ALL: [u64; MAX_EXHAUSTIVE] = [
            0xaaaa_aaaa_aaaa_aaaa,
            0xcccc_cccc_cccc_cccc,
            0xf0f0_f0f0_f0f0_f0f0,
            0xff00_ff00_ff00_ff00,
            0xffff_0000_ffff_0000,
            0xffff_ffff_0000_0000,
        ];
        let lanes = ALL[..length].to_vec();
        let pair = alike_among_all(group, &lanes, negated, rng)?;
        (lanes, pair)
    } else {
        alike_among_rotations(group, length, negated, rng)?
    };
    let Pair { lanes: [first, second], likeness, first_value } = pair;
    let takes_first = rng.getrandbits(1) == 1;
    let lane = if takes_first { first } else { second };
    let mut literals = lanes.iter().map(|word| word >> lane & 1 == 1);
    write_values(group, &mut literals);
    Some((first_value == takes_first, likeness))
}

/// Two lanes with different values.
struct Pair {
    lanes: [u32; 2],
    likeness: Likeness,
    first_value: bool,
}

/// A random assignment and one that is as much like it as any; of several random ones, the one with the best match.
fn alike_among_all(group: &Group, lanes: &[u64], negated: u64, rng: &mut PyRandom) -> Option<Pair> {
    const ATTEMPTS: usize = 16;

    let (values, flat) = evaluate(group, lanes);
    let count = 1_u32 << lanes.len();
    let ends = 1 | 1 << (lanes.len() - 1);
    let bit = |word: u64, lane: u32| word >> lane & 1;
    let likeness = |first: u32, lane: u32| {
        let (a, b) = (u64::from(first), u64::from(lane));
        if a.count_ones() != b.count_ones() {
            return Likeness::Different;
        }
        if a & ends != b & ends || (a & negated).count_ones() != (b & negated).count_ones() {
            return Likeness::Counts;
        }
        likeness_of(
            bit(values.without_precedence, first) == bit(values.without_precedence, lane),
            bit(flat, first) == bit(flat, lane),
        )
    };
    let mut best: Option<Pair> = None;
    for _ in 0..ATTEMPTS {
        let first = rng.index(count as usize) as u32;
        let start = rng.index(count as usize) as u32;
        let found = (0..count)
            .map(|shift| (start + shift) % count)
            .filter(|lane| bit(values.correct, *lane) != bit(values.correct, first))
            .map(|lane| (likeness(first, lane), lane))
            .max_by_key(|(likeness, _)| *likeness);
        let Some((likeness, second)) = found else { continue };
        if best.as_ref().is_none_or(|best| likeness > best.likeness) {
            let first_value = bit(values.correct, first) == 1;
            best = Some(Pair { lanes: [first, second], likeness, first_value });
        }
        if likeness == Likeness::Both {
            break;
        }
    }
    best
}

fn likeness_of(same_without_precedence: bool, same_flat: bool) -> Likeness {
    match (same_without_precedence, same_flat) {
        (true, true) => Likeness::Both,
        (true, false) => Likeness::WithoutPrecedence,
        (false, true) => Likeness::WithoutParentheses,
        (false, false) => Likeness::Ends,
    }
}

/// Two of the assignments that come from one by moving the truth values between its ends around: those of the negated
/// literals among themselves, and likewise those of the others.
fn alike_among_rotations(
    group: &Group,
    length: usize,
    negated: u64,
    rng: &mut PyRandom,
) -> Option<(Vec<u64>, Pair)> {
    /// After how many patterns the best match will do.
    const PATTERNS: usize = 1;
    /// How often a proportion of TRUE is tried at which both values occur.
    const ATTEMPTS: usize = 8;

    let mut best: Option<(Vec<u64>, Pair)> = None;
    let mut lanes = vec![0; length];
    let inner = ((1_u64 << (length - 1)) - 1) & !1;
    // The proportion of literals that are TRUE after negation; it decides which value is rare.
    let (mut proportion, mut step) = (rng.uniform(0.3, 0.7), 0.25);
    for attempt in 0..ATTEMPTS {
        if attempt % 4 == 0 {
            let ends = rng.getrandbits(2);
            lanes[0] = if ends & 1 == 1 { u64::MAX } else { 0 };
            lanes[length - 1] = if ends & 2 == 2 { u64::MAX } else { 0 };
            step = 0.25;
            if attempt > 0 {
                // More TRUE may have made the value rarer rather than commoner.
                proportion = rng.uniform(0.1, 0.9);
            }
        }
        for (class, proportion) in [(inner & !negated, proportion), (inner & negated, 1.0 - proportion)] {
            rotate(class, proportion, &mut lanes, rng);
        }
        let (values, flat) = evaluate(group, &lanes);
        if values.correct == 0 || values.correct == u64::MAX {
            proportion += if values.correct == 0 { step } else { -step };
            proportion = proportion.clamp(0.02, 0.98);
            step *= 0.6;
            continue;
        }
        let pair = alike(&values, flat, rng);
        let likeness = pair.likeness;
        if best.as_ref().is_none_or(|(_, best)| likeness > best.likeness) {
            best = Some((lanes.clone(), pair));
        }
        // A second pattern is cheaper than a second expression.
        if likeness == Likeness::Both || attempt >= PATTERNS {
            break;
        }
    }
    best
}

/// Two lanes of different value, on which readers who ignore rules agree if possible.
fn alike(values: &Values, flat: u64, rng: &mut PyRandom) -> Pair {
    let turn = rng.getrandbits(2);
    let mut groups =
        [Likeness::Both, Likeness::WithoutPrecedence, Likeness::WithoutParentheses, Likeness::Ends]
            .into_iter()
            .map(|likeness| {
                let (precedence, flat) = (values.without_precedence, flat);
                let candidates = match likeness {
                    Likeness::Both => {
                        [precedence & flat, precedence & !flat, !precedence & flat, !precedence & !flat]
                    }
                    Likeness::WithoutPrecedence => [precedence, !precedence, precedence, !precedence],
                    Likeness::WithoutParentheses => [flat, !flat, flat, !flat],
                    _ => [u64::MAX; 4],
                };
                let of_both_values =
                    |group: &u64| group & values.correct != 0 && group & !values.correct != 0;
                let start = turn as usize;
                (likeness, (0..4).map(|i| candidates[(start + i) % 4]).find(of_both_values))
            });
    let (likeness, lanes) = groups
        .find_map(|(likeness, group)| group.map(|group| (likeness, group)))
        .expect("all lanes together have both values");
    let lanes = [lanes & values.correct, lanes & !values.correct].map(|group| random_bit(group, rng));
    Pair { lanes, likeness, first_value: true }
}

/// The place of a random set bit.
fn random_bit(mut bits: u64, rng: &mut PyRandom) -> u32 {
    for _ in 0..rng.index(bits.count_ones() as usize) {
        bits &= bits - 1;
    }
    bits.trailing_zeros()
}

/// Fills the lanes of some literals with the rotations of one random pattern.
fn rotate(class: u64, proportion: f64, lanes: &mut [u64], rng: &mut PyRandom) {
    let size = class.count_ones();
    if size == 0 {
        return;
    }
    let wanted = (proportion * f64::from(size) + rng.random()).floor() as u32;
    let mut pattern = (rng.getrandbits(32) << 32 | rng.getrandbits(32)) & ((1_u64 << size) - 1);
    while pattern.count_ones() != wanted.min(size) {
        let bit = 1 << rng.index(size as usize);
        if pattern.count_ones() < wanted {
            pattern |= bit;
        } else {
            pattern &= !bit;
        }
    }
    let mut endless = u128::from(pattern);
    let mut filled = size;
    while filled < 128 {
        endless |= endless << filled;
        filled *= 2;
    }
    let mut class = class;
    for shift in 0..size {
        lanes[class.trailing_zeros() as usize] = (endless >> shift) as u64;
        class &= class - 1;
    }
}

/// Which literals are negated: a bit each, in the order of the text.
fn negated_literals(group: &Group) -> u64 {
    fn visit(group: &Group, index: &mut u32, bits: &mut u64) {
        for item in &group.items {
            match &item.body {
                Body::Literal(_) => {
                    *bits |= u64::from(item.negated) << *index;
                    *index += 1;
                }
                Body::Nested(group) => visit(group, index, bits),
            }
        }
    }
    let (mut index, mut bits) = (0, 0);
    visit(group, &mut index, &mut bits);
    bits
}

/// The values in each lane, and the result of a reader who ignores parentheses.
fn evaluate(group: &Group, lanes: &[u64]) -> (Values, u64) {
    let mut reader = FlatReader { value: 0, pending: None };
    let values = evaluate_group(group, &mut lanes.iter().copied(), &mut reader);
    (values, reader.value)
}

fn evaluate_group(group: &Group, lanes: &mut impl Iterator<Item = u64>, reader: &mut FlatReader) -> Values {
    let Values { correct, mut without_precedence } = evaluate_item(&group.items[0], lanes, reader);
    // Running values of the conjunction, of the exclusive and the plain disjunction, and of negated premises.
    let (mut and, mut xor, mut or, mut implies) = (correct, 0, 0, 0);
    for (operator, item) in group.operators.iter().zip(&group.items[1..]) {
        reader.pending = Some(*operator);
        let value = evaluate_item(item, lanes, reader);
        without_precedence = operator.apply(without_precedence, value.without_precedence);
        match operator {
            Operator::And => {
                and &= value.correct;
                continue;
            }
            Operator::Xor => xor ^= and,
            Operator::Or => {
                or |= xor ^ and;
                xor = 0;
            }
            Operator::Implies => {
                implies |= !(or | xor ^ and);
                (or, xor) = (0, 0);
            }
        }
        and = value.correct;
    }
    Values { correct: implies | or | (xor ^ and), without_precedence }
}

fn evaluate_item(item: &Item, lanes: &mut impl Iterator<Item = u64>, reader: &mut FlatReader) -> Values {
    let flip = if item.negated { u64::MAX } else { 0 };
    match &item.body {
        Body::Literal(_) => {
            let value = lanes.next().expect("there is a lane for each literal") ^ flip;
            reader.value = reader.pending.map_or(value, |operator| operator.apply(reader.value, value));
            Values { correct: value, without_precedence: value }
        }
        Body::Nested(group) => {
            let values = evaluate_group(group, lanes, reader);
            Values { correct: values.correct ^ flip, without_precedence: values.without_precedence ^ flip }
        }
    }
}

fn write_values(group: &mut Group, values: &mut impl Iterator<Item = bool>) {
    for item in &mut group.items {
        match &mut item.body {
            Body::Literal(value) => *value = values.next().expect("there is a value for each literal"),
            Body::Nested(group) => write_values(group, values),
        }
    }
}
