//! Compares formulas in normal form.

use super::Unreadable;
use super::expression::Atoms;
use super::lexer::Relation;
use super::ratio::Ratio;
use super::value::{Formula, Item, Value};

/// Whether two formulas are equal.
pub(super) fn equal(a: &Formula, b: &Formula, atoms: &mut Atoms) -> Result<bool, Unreadable> {
    let equal = match (&a.items[..], &b.items[..]) {
        ([a], [b]) => same_item(a, b, atoms)?,
        ([one], many) | (many, [one]) => same_list(one, many, atoms)?,
        (a, b) => same_in_any_order(a, b, &mut |a, b| same_item(a, b, atoms))?,
    };
    if equal || a.percent == b.percent {
        return Ok(equal);
    }
    let (percent, plain) = if a.percent { (a, b) } else { (b, a) };
    Ok(is_hundredth(percent, plain))
}

/// Whether a percentage is a plain number of at most 1, as hundredths.
fn is_hundredth(percent: &Formula, plain: &Formula) -> bool {
    let constant = |formula: &Formula| match &formula.items[..] {
        [Item { value: Value::Expression(value), .. }] => value.as_constant(),
        _ => None,
    };
    let (Some(percent), Some(plain)) = (constant(percent), constant(plain)) else { return false };
    percent.over(Ratio::from(100)) == Ok(plain)
        && Ratio::ONE.minus(plain.abs()).is_ok_and(|rest| !rest.is_negative())
}

/// A tuple and a list without brackets are equal in order; a set and a list in any order.
fn same_list(one: &Item, many: &[Item], atoms: &mut Atoms) -> Result<bool, Unreadable> {
    let unnamed = |value: &Value| Item { name: None, value: value.clone() };
    match &one.value {
        Value::Tuple { open: '(', close: ')', items } if items.len() == many.len() => {
            for (item, other) in items.iter().zip(many) {
                if !same(item, &other.value, atoms)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Value::Set(items) => {
            let items: Vec<Item> = items.iter().map(unnamed).collect();
            same_in_any_order(&items, many, &mut |a, b| same_item(a, b, atoms))
        }
        // `x = 2` and `2, 2.0`: a list of equal values is that value.
        _ => Ok(false),
    }
}

/// Whether each value of one list is in the other.
fn same_in_any_order<T>(
    a: &[T],
    b: &[T],
    same: &mut dyn FnMut(&T, &T) -> Result<bool, Unreadable>,
) -> Result<bool, Unreadable> {
    for (some, others) in [(a, b), (b, a)] {
        for item in some {
            let mut found = false;
            for other in others {
                found = found || same(item, other)?;
            }
            if !found {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

fn same_item(a: &Item, b: &Item, atoms: &mut Atoms) -> Result<bool, Unreadable> {
    match (&a.name, &b.name) {
        (Some(name), Some(other)) if name != other => {
            let (a, b) = (equation(a, atoms)?, equation(b, atoms)?);
            same(&a, &b, atoms)
        }
        (Some(_), None) if matches!(b.value, Value::Relation(..)) => {
            let a = equation(a, atoms)?;
            same(&a, &b.value, atoms)
        }
        (None, Some(_)) if matches!(a.value, Value::Relation(..)) => {
            let b = equation(b, atoms)?;
            same(&a.value, &b, atoms)
        }
        _ => same(&a.value, &b.value, atoms),
    }
}

/// `x = 3` as an equation.
fn equation(item: &Item, atoms: &mut Atoms) -> Result<Value, Unreadable> {
    let name = item.name.as_deref().ok_or(Unreadable)?;
    let left = Value::Expression(atoms.symbol(name)?);
    Ok(Value::Relation(vec![left, item.value.clone()], vec![Relation::Equal]))
}

fn same(a: &Value, b: &Value, atoms: &mut Atoms) -> Result<bool, Unreadable> {
    match (a, b) {
        (Value::Expression(a), Value::Expression(b)) => atoms.are_equal(a, b),
        (
            Value::Tuple { open, close, items },
            Value::Tuple { open: other_open, close: other_close, items: others },
        ) => Ok(open == other_open && close == other_close && same_in_order(items, others, atoms)?),
        (Value::Set(a), Value::Set(b)) | (Value::Union(a), Value::Union(b)) => {
            same_in_any_order(a, b, &mut |a, b| same(a, b, atoms))
        }
        (Value::Matrix(kind, a), Value::Matrix(other, b)) => {
            if kind != other || a.len() != b.len() {
                return Ok(false);
            }
            for (a, b) in a.iter().zip(b) {
                if !same_in_order(a, b, atoms)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Value::Relation(a, signs), Value::Relation(b, others)) => {
            same_relation((a, signs), (b, others), atoms)
        }
        // `2 + 3 = 5` is the value that it ends with.
        (Value::Relation(sides, signs), other @ Value::Expression(_))
        | (other @ Value::Expression(_), Value::Relation(sides, signs))
            if signs.iter().all(|sign| *sign == Relation::Equal) =>
        {
            same(sides.last().ok_or(Unreadable)?, other, atoms)
        }
        _ => Ok(false),
    }
}

fn same_in_order(a: &[Value], b: &[Value], atoms: &mut Atoms) -> Result<bool, Unreadable> {
    if a.len() != b.len() {
        return Ok(false);
    }
    for (a, b) in a.iter().zip(b) {
        if !same(a, b, atoms)? {
            return Ok(false);
        }
    }
    Ok(true)
}

type Sides<'v> = (&'v [Value], &'v [Relation]);

fn same_relation(a: Sides<'_>, b: Sides<'_>, atoms: &mut Atoms) -> Result<bool, Unreadable> {
    if let ([a_left, a_right], [b_left, b_right], [a_sign], [b_sign]) = (a.0, b.0, a.1, b.1)
        && let (Value::Expression(a_left), Value::Expression(a_right)) = (a_left, a_right)
        && let (Value::Expression(b_left), Value::Expression(b_right)) = (b_left, b_right)
    {
        // Everything on the left side, and `>` turned into `<`.
        let (a_sign, a_turned) = turned(*a_sign);
        let (b_sign, b_turned) = turned(*b_sign);
        let a = if a_turned { atoms.difference(a_right, a_left) } else { atoms.difference(a_left, a_right) }?;
        let b = if b_turned { atoms.difference(b_right, b_left) } else { atoms.difference(b_left, b_right) }?;
        let symmetric = matches!(a_sign, Relation::Equal | Relation::NotEqual);
        let factor = atoms.proportion(&a, &b)?;
        return Ok(a_sign == b_sign && factor.is_some_and(|factor| symmetric || !factor.is_negative()));
    }
    if a.1 == b.1 && same_in_order(a.0, b.0, atoms)? {
        return Ok(true);
    }
    let reversed: Vec<Value> = b.0.iter().rev().cloned().collect();
    let signs: Vec<Relation> = b.1.iter().rev().map(|sign| mirrored(*sign)).collect();
    Ok(a.1 == signs && same_in_order(a.0, &reversed, atoms)?)
}

fn turned(sign: Relation) -> (Relation, bool) {
    match sign {
        Relation::Greater => (Relation::Less, true),
        Relation::GreaterOrEqual => (Relation::LessOrEqual, true),
        sign => (sign, false),
    }
}

fn mirrored(sign: Relation) -> Relation {
    match sign {
        Relation::Less => Relation::Greater,
        Relation::LessOrEqual => Relation::GreaterOrEqual,
        Relation::Greater => Relation::Less,
        Relation::GreaterOrEqual => Relation::LessOrEqual,
        sign => sign,
    }
}
