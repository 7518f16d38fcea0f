//! How version 1 chose truth values: the answer first, then values that give it.

use super::{Body, Item, Operator};
use crate::PyRandom;

/// Chooses the truth values of a run of items so that it has the wanted value.
pub(super) fn settle(items: &mut [Item], operators: &[Operator], desired: bool, rng: &mut PyRandom) {
    let Some(&weakest) = operators.iter().max() else {
        let desired = desired != items[0].negated;
        match &mut items[0].body {
            Body::Literal(value) => *value = desired,
            Body::Nested(group) => settle(&mut group.items, &group.operators, desired, rng),
        }
        return;
    };
    let ends = operators.iter().enumerate().filter(|(_, operator)| **operator == weakest);
    let ends: Vec<usize> = ends.map(|(index, _)| index + 1).chain([items.len()]).collect();
    let values = if weakest == Operator::Xor {
        parities(ends.len(), desired, rng)
    } else {
        let starts = [0].into_iter().chain(ends.iter().copied());
        let parts = starts.zip(&ends).map(|(start, end)| &items[start..*end]);
        let lengths: Vec<usize> = parts.map(|part| part.iter().map(|item| item.length).sum()).collect();
        let mut values = operands(&lengths, weakest == Operator::And, desired, rng);
        if weakest == Operator::Implies {
            // "a implies b implies c" is "not a or not b or c".
            let (_, premises) = values.split_last_mut().expect("two operands or more");
            for value in premises {
                *value = !*value;
            }
        }
        values
    };
    let mut start = 0;
    for (end, value) in ends.into_iter().zip(values) {
        settle(&mut items[start..end], &operators[start..end - 1], value, rng);
        start = end;
    }
}

/// Values of which an odd number is true if `desired`, else an even number.
fn parities(count: usize, desired: bool, rng: &mut PyRandom) -> Vec<bool> {
    let mut values: Vec<bool> = (1..count).map(|_| rng.getrandbits(1) == 1).collect();
    let odd = values.iter().fold(false, |odd, value| odd != *value);
    values.push(odd != desired);
    values
}

/// Values whose conjunction (where `neutral` is true) or disjunction (where it is false) is `desired`.
///
/// One operand decides, and long ones do so more often: if all were alike, a lone truth value at the end of an
/// expression would agree with the answer most of the time, and the rest need not be read.
fn operands(lengths: &[usize], neutral: bool, desired: bool, rng: &mut PyRandom) -> Vec<bool> {
    if desired == neutral {
        return vec![neutral; lengths.len()];
    }
    let mut draw = rng.index(lengths.iter().sum());
    let decides = lengths.iter().position(|&length| {
        let found = draw < length;
        draw = draw.saturating_sub(length);
        found
    });
    let decides = decides.expect("the draw is below the sum of the lengths");
    (0..lengths.len())
        .map(|index| if index == decides || rng.random() < 0.25 { desired } else { neutral })
        .collect()
}
