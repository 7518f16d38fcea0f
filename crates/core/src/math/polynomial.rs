//! Polynomials with rational coefficients and rational exponents.

use std::collections::BTreeMap;

use super::Unreadable;
use super::ratio::Ratio;

/// Maximum number of terms of a polynomial.
const MAX_TERMS: usize = 200;
/// Maximum exponent, up or down.
const MAX_EXPONENT: i128 = 4096;

/// The number of an atom in [`Atoms`](super::expression::Atoms).
pub(super) type AtomId = u32;

/// A product of atoms, each with its exponent, ordered by atom; no exponent is zero.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Monomial(pub(super) Vec<(AtomId, Ratio)>);

impl Monomial {
    pub(super) fn atom(atom: AtomId, exponent: Ratio) -> Self {
        Self(if exponent.is_zero() { Vec::new() } else { vec![(atom, exponent)] })
    }

    /// The product of two: their exponents added.
    pub(super) fn times(&self, other: &Self) -> Result<Self, Unreadable> {
        let mut product = Vec::with_capacity(self.0.len() + other.0.len());
        let (mut left, mut right) = (self.0.iter().peekable(), other.0.iter().peekable());
        loop {
            let next = match (left.peek(), right.peek()) {
                (Some(a), Some(b)) if a.0 == b.0 => {
                    let sum = a.1.plus(b.1)?;
                    let atom = a.0;
                    left.next();
                    right.next();
                    if sum.is_zero() {
                        continue;
                    }
                    (atom, sum)
                }
                (Some(a), Some(b)) => {
                    *if a.0 < b.0 { left.next() } else { right.next() }.ok_or(Unreadable)?
                }
                (Some(_), None) => *left.next().ok_or(Unreadable)?,
                (None, Some(_)) => *right.next().ok_or(Unreadable)?,
                (None, None) => return Ok(Self(product)),
            };
            if next.1.numerator().abs() > MAX_EXPONENT || next.1.denominator() > MAX_EXPONENT {
                return Err(Unreadable);
            }
            product.push(next);
        }
    }

    /// All exponents multiplied.
    pub(super) fn power(&self, exponent: Ratio) -> Result<Self, Unreadable> {
        let mut powers = Vec::with_capacity(self.0.len());
        for (atom, old) in &self.0 {
            let new = old.times(exponent)?;
            if new.numerator().abs() > MAX_EXPONENT {
                return Err(Unreadable);
            }
            if !new.is_zero() {
                powers.push((*atom, new));
            }
        }
        Ok(Self(powers))
    }
}

/// A sum of monomials with coefficients, none of which is zero.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Polynomial(pub(super) BTreeMap<Monomial, Ratio>);

impl Polynomial {
    pub(super) fn constant(value: Ratio) -> Self {
        Self::term(Monomial::default(), value)
    }

    pub(super) fn term(monomial: Monomial, coefficient: Ratio) -> Self {
        Self(if coefficient.is_zero() { BTreeMap::new() } else { [(monomial, coefficient)].into() })
    }

    pub(super) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of a polynomial without atoms.
    pub(super) fn as_constant(&self) -> Option<Ratio> {
        match self.0.len() {
            0 => Some(Ratio::ZERO),
            1 => self.single().filter(|(monomial, _)| monomial.0.is_empty()).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The only term.
    pub(super) fn single(&self) -> Option<(&Monomial, Ratio)> {
        let mut terms = self.0.iter();
        let (monomial, coefficient) = terms.next()?;
        terms.next().is_none().then_some((monomial, *coefficient))
    }

    pub(super) fn add_term(&mut self, monomial: Monomial, coefficient: Ratio) -> Result<(), Unreadable> {
        use std::collections::btree_map::Entry;
        match self.0.entry(monomial) {
            Entry::Vacant(entry) => {
                if !coefficient.is_zero() {
                    entry.insert(coefficient);
                }
            }
            Entry::Occupied(mut entry) => {
                let sum = entry.get().plus(coefficient)?;
                if sum.is_zero() {
                    entry.remove();
                } else {
                    entry.insert(sum);
                }
            }
        }
        if self.0.len() > MAX_TERMS { Err(Unreadable) } else { Ok(()) }
    }

    pub(super) fn plus(mut self, other: &Self) -> Result<Self, Unreadable> {
        for (monomial, coefficient) in &other.0 {
            self.add_term(monomial.clone(), *coefficient)?;
        }
        Ok(self)
    }

    pub(super) fn scaled(mut self, factor: Ratio) -> Result<Self, Unreadable> {
        if factor.is_zero() {
            return Ok(Self::default());
        }
        for coefficient in self.0.values_mut() {
            *coefficient = coefficient.times(factor)?;
        }
        Ok(self)
    }

    /// Whether one is the other times a constant; the constant.
    pub(super) fn quotient(&self, other: &Self) -> Result<Option<Ratio>, Unreadable> {
        let (Some(a), Some(b)) = (self.0.values().next(), other.0.values().next()) else { return Ok(None) };
        let factor = a.over(*b)?;
        Ok((other.clone().scaled(factor)? == *self).then_some(factor))
    }
}
