//! Exact fractions of bounded size.

use super::Unreadable;

/// A fraction in lowest terms, with a positive denominator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Ratio {
    numerator: i128,
    denominator: i128,
}

impl Ratio {
    pub(crate) const ZERO: Self = Self { numerator: 0, denominator: 1 };
    pub(crate) const ONE: Self = Self { numerator: 1, denominator: 1 };

    pub(crate) fn new(numerator: i128, denominator: i128) -> Result<Self, Unreadable> {
        if denominator == 0 || numerator == i128::MIN || denominator == i128::MIN {
            return Err(Unreadable);
        }
        let divisor = gcd(numerator.unsigned_abs(), denominator.unsigned_abs());
        let divisor = i128::try_from(divisor).map_err(|_| Unreadable)? * denominator.signum();
        Ok(Self { numerator: numerator / divisor, denominator: denominator / divisor })
    }

    /// Reads digits with at most one point, `12.50`.
    pub(crate) fn parse(text: &str) -> Result<Self, Unreadable> {
        let (integer, fraction) = text.split_once('.').unwrap_or((text, ""));
        let fraction = fraction.trim_end_matches('0');
        let digits = format!("{integer}{fraction}");
        if digits.is_empty() || digits.len() > 36 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(Unreadable);
        }
        let numerator = digits.parse().map_err(|_| Unreadable)?;
        Self::new(numerator, ten_to(fraction.len())?)
    }

    pub(crate) fn is_zero(self) -> bool {
        self.numerator == 0
    }

    pub(crate) fn is_negative(self) -> bool {
        self.numerator < 0
    }

    pub(crate) fn numerator(self) -> i128 {
        self.numerator
    }

    pub(crate) fn denominator(self) -> i128 {
        self.denominator
    }

    /// The value, if it is an integer.
    pub(crate) fn integer(self) -> Option<i128> {
        (self.denominator == 1).then_some(self.numerator)
    }

    pub(crate) fn negated(self) -> Self {
        // `new` lets no `i128::MIN` in, and sums and products are made by it.
        Self { numerator: -self.numerator, denominator: self.denominator }
    }

    pub(crate) fn abs(self) -> Self {
        Self { numerator: self.numerator.abs(), denominator: self.denominator }
    }

    pub(crate) fn plus(self, other: Self) -> Result<Self, Unreadable> {
        let left = self.numerator.checked_mul(other.denominator).ok_or(Unreadable)?;
        let right = other.numerator.checked_mul(self.denominator).ok_or(Unreadable)?;
        let denominator = self.denominator.checked_mul(other.denominator).ok_or(Unreadable)?;
        Self::new(left.checked_add(right).ok_or(Unreadable)?, denominator)
    }

    pub(crate) fn minus(self, other: Self) -> Result<Self, Unreadable> {
        self.plus(other.negated())
    }

    pub(crate) fn times(self, other: Self) -> Result<Self, Unreadable> {
        if self.denominator == 1 && other.denominator == 1 {
            return Self::new(self.numerator.checked_mul(other.numerator).ok_or(Unreadable)?, 1);
        }
        // Cancelling first keeps products small.
        let a = Self::new(self.numerator, other.denominator)?;
        let b = Self::new(other.numerator, self.denominator)?;
        Self::new(
            a.numerator.checked_mul(b.numerator).ok_or(Unreadable)?,
            a.denominator.checked_mul(b.denominator).ok_or(Unreadable)?,
        )
    }

    pub(crate) fn inverse(self) -> Result<Self, Unreadable> {
        Self::new(self.denominator, self.numerator)
    }

    pub(crate) fn over(self, other: Self) -> Result<Self, Unreadable> {
        self.times(other.inverse()?)
    }

    pub(crate) fn power(self, exponent: i128) -> Result<Self, Unreadable> {
        let base = if exponent < 0 { self.inverse()? } else { self };
        let exponent = u32::try_from(exponent.unsigned_abs()).map_err(|_| Unreadable)?;
        Ok(Self {
            numerator: base.numerator.checked_pow(exponent).filter(|n| *n != i128::MIN).ok_or(Unreadable)?,
            denominator: base.denominator.checked_pow(exponent).ok_or(Unreadable)?,
        })
    }

    /// Splits into the largest integer that isn't larger, and the rest.
    pub(crate) fn floor_and_rest(self) -> Result<(i128, Self), Unreadable> {
        let floor = self.numerator.div_euclid(self.denominator);
        Ok((floor, self.minus(Self::new(floor, 1)?)?))
    }
}

impl From<i64> for Ratio {
    fn from(integer: i64) -> Self {
        Self { numerator: i128::from(integer), denominator: 1 }
    }
}

/// `10^exponent`.
pub(crate) fn ten_to(exponent: usize) -> Result<i128, Unreadable> {
    u32::try_from(exponent).ok().and_then(|exponent| 10_i128.checked_pow(exponent)).ok_or(Unreadable)
}

pub(super) fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_in_lowest_terms_and_overflow_is_an_error() {
        assert_eq!(Ratio::new(6, -4), Ratio::new(-3, 2));
        assert_eq!(Ratio::parse("12.50"), Ratio::new(25, 2));
        assert_eq!(Ratio::new(1, 0), Err(Unreadable));
        assert_eq!(Ratio::from(10).power(40), Err(Unreadable));
        assert_eq!(Ratio::parse("1".repeat(37).as_str()), Err(Unreadable));
        assert_eq!(Ratio::new(-7, 2).unwrap().floor_and_rest(), Ok((-4, Ratio::new(1, 2).unwrap())));
    }
}
