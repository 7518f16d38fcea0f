//! Exact fractions, and spans of reals for numbers that were rounded before they were written down.
//!
//! Every operation is checked: overflow of 128 bits and division by zero give `None`.

/// The arithmetic that equations need.
pub(super) trait Arithmetic: Copy {
    /// The value of a written number.
    fn from_written(number: &Written) -> Option<Self>;
    fn plus(self, other: Self) -> Option<Self>;
    fn times(self, other: Self) -> Option<Self>;
    fn over(self, other: Self) -> Option<Self>;
    fn negated(self) -> Option<Self>;
    /// The value as a small integer, for exponents.
    fn to_integer(self) -> Option<i32>;
    fn small(value: i32) -> Self;

    /// An integer power; `None` if the exponent is large.
    fn power(self, exponent: i32) -> Option<Self> {
        if exponent.unsigned_abs() > 128 {
            return None;
        }
        let mut result = Self::small(1);
        for _ in 0..exponent.unsigned_abs() {
            result = result.times(self)?;
        }
        if exponent < 0 { Self::small(1).over(result) } else { Some(result) }
    }
}

/// A written number: `digits / 10^decimals`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) digits: i128,
    pub(super) decimals: u32,
    pub(super) percent: bool,
}

impl Written {
    /// Reads a number that the tokenizer has found: digits, commas between thousands, a point, an exponent.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if text.len() <= 18 && text.bytes().all(|byte| byte.is_ascii_digit()) {
            let digits = text.bytes().fold(0_i64, |value, byte| value * 10 + i64::from(byte - b'0'));
            return Some(Self { digits: digits.into(), decimals: 0, percent: false });
        }
        let (mut digits, mut decimals, mut after_point) = (0_i128, 0_u32, false);
        let mut bytes = text.bytes();
        let mut exponent = 0_i32;
        while let Some(byte) = bytes.next() {
            match byte {
                b'0'..=b'9' => {
                    digits = digits.checked_mul(10)?.checked_add(i128::from(byte - b'0'))?;
                    decimals += u32::from(after_point);
                }
                b'.' => after_point = true,
                b'e' | b'E' => {
                    let rest = &text[text.len() - bytes.len()..];
                    exponent = rest.parse().ok()?;
                    break;
                }
                _ => {}
            }
        }
        while exponent > 0 {
            exponent -= 1;
            if decimals > 0 {
                decimals -= 1;
            } else {
                digits = digits.checked_mul(10)?;
            }
        }
        let decimals = decimals.checked_add(exponent.unsigned_abs())?;
        (decimals <= 30).then_some(Self { digits, decimals, percent: false })
    }

    /// Whether it looks rounded: decimals that aren't eighths, or a percentage that isn't a multiple of five.
    pub(super) fn looks_rounded(&self) -> bool {
        if self.decimals == 0 && !self.percent {
            return false;
        }
        let unit = 10_i128.pow(self.decimals);
        let rest = self.digits % unit;
        rest.checked_mul(8).is_none_or(|eighths| eighths % unit != 0)
            || (self.percent && self.digits % (5 * unit) != 0)
    }

    /// The unit of the last digit shown, or of the last digit that is not a trailing zero.
    pub(super) fn significant_unit(&self) -> Option<Ratio> {
        let (mut digits, mut unit) = (self.digits, Ratio::new(1, 10_i128.checked_pow(self.decimals)?)?);
        if self.decimals == 0 && digits != 0 {
            while digits % 10 == 0 {
                digits /= 10;
                unit = unit.times(Ratio::small(10))?;
            }
        }
        Some(unit)
    }
}

/// A fraction in lowest terms; the denominator is positive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ratio {
    numerator: i128,
    denominator: i128,
}

impl Ratio {
    pub(super) fn new(numerator: i128, denominator: i128) -> Option<Self> {
        if denominator == 0 {
            return None;
        }
        if denominator == 1 {
            return Some(Self { numerator, denominator });
        }
        let common = divisor(numerator.unsigned_abs(), denominator.unsigned_abs());
        let common = i128::try_from(common).ok()?;
        let sign = denominator.signum();
        Some(Self {
            numerator: (numerator / common).checked_mul(sign)?,
            denominator: (denominator / common).checked_mul(sign)?,
        })
    }

    pub(super) fn minus(self, other: Self) -> Option<Self> {
        self.plus(other.negated()?)
    }

    pub(super) fn magnitude(self) -> Option<Self> {
        Some(Self { numerator: self.numerator.checked_abs()?, denominator: self.denominator })
    }

    pub(super) fn is_integer(self) -> bool {
        self.denominator == 1
    }

    /// The last digit of an integer of several digits.
    pub(super) fn last_digit(self) -> Option<Self> {
        let is_long = self.is_integer() && self.numerator >= 10;
        is_long.then_some(Self { numerator: self.numerator % 10, denominator: 1 })
    }

    /// Compares by multiplying crosswise; `None` when that overflows.
    pub(super) fn compare(self, other: Self) -> Option<std::cmp::Ordering> {
        let left = self.numerator.checked_mul(other.denominator)?;
        Some(left.cmp(&other.numerator.checked_mul(self.denominator)?))
    }

    pub(super) fn approximately(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }
}

/// The greatest common divisor; at least 1.
fn divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        if let (Ok(mut a), Ok(mut b)) = (u64::try_from(a), u64::try_from(b)) {
            while b != 0 {
                (a, b) = (b, a % b);
            }
            return u128::from(a.max(1));
        }
        (a, b) = (b, a % b);
    }
    a.max(1)
}

impl Arithmetic for Ratio {
    fn from_written(number: &Written) -> Option<Self> {
        let scale = number.decimals + if number.percent { 2 } else { 0 };
        if scale == 0 {
            return Some(Self { numerator: number.digits, denominator: 1 });
        }
        Self::new(number.digits, 10_i128.checked_pow(scale)?)
    }

    fn plus(self, other: Self) -> Option<Self> {
        if self.denominator == 1 && other.denominator == 1 {
            return Some(Self { numerator: self.numerator.checked_add(other.numerator)?, denominator: 1 });
        }
        let left = self.numerator.checked_mul(other.denominator)?;
        let right = other.numerator.checked_mul(self.denominator)?;
        Self::new(left.checked_add(right)?, self.denominator.checked_mul(other.denominator)?)
    }

    fn times(self, other: Self) -> Option<Self> {
        Self::new(
            self.numerator.checked_mul(other.numerator)?,
            self.denominator.checked_mul(other.denominator)?,
        )
    }

    fn over(self, other: Self) -> Option<Self> {
        Self::new(
            self.numerator.checked_mul(other.denominator)?,
            self.denominator.checked_mul(other.numerator)?,
        )
    }

    fn negated(self) -> Option<Self> {
        Some(Self { numerator: self.numerator.checked_neg()?, denominator: self.denominator })
    }

    fn to_integer(self) -> Option<i32> {
        if self.is_integer() { i32::try_from(self.numerator).ok() } else { None }
    }

    fn small(value: i32) -> Self {
        Self { numerator: i128::from(value), denominator: 1 }
    }
}

/// The range of a value that was computed from rounded numbers. Its ends are approximate, which suffices to skip a
/// line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Span {
    low: f64,
    high: f64,
}

impl Span {
    fn around(values: [f64; 4]) -> Option<Self> {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (low.is_finite() && high.is_finite()).then_some(Self { low, high })
    }

    /// Whether both may be the same value.
    pub(super) fn meets(self, other: Self) -> bool {
        let slack = 1e-9 * (self.low.abs() + self.high.abs() + other.low.abs() + other.high.abs());
        self.low <= other.high + slack && other.low <= self.high + slack
    }
}

impl Arithmetic for Span {
    fn from_written(number: &Written) -> Option<Self> {
        let value = Ratio::from_written(number)?.approximately();
        let scale = f64::from(number.decimals) + if number.percent { 2.0 } else { 0.0 };
        let reach = if number.looks_rounded() { 0.5 * 10.0_f64.powf(-scale) } else { 0.0 };
        Some(Self { low: value - reach, high: value + reach })
    }

    fn plus(self, other: Self) -> Option<Self> {
        Some(Self { low: self.low + other.low, high: self.high + other.high })
    }

    fn times(self, other: Self) -> Option<Self> {
        Self::around([
            self.low * other.low,
            self.low * other.high,
            self.high * other.low,
            self.high * other.high,
        ])
    }

    fn over(self, other: Self) -> Option<Self> {
        if other.low <= 0.0 && other.high >= 0.0 {
            return None;
        }
        self.times(Self { low: 1.0 / other.high, high: 1.0 / other.low })
    }

    fn negated(self) -> Option<Self> {
        Some(Self { low: -self.high, high: -self.low })
    }

    fn to_integer(self) -> Option<i32> {
        let to_integer = self.low.round();
        (self.low == self.high && to_integer == self.low && to_integer.abs() < 1e9)
            .then_some(to_integer as i32)
    }

    fn small(value: i32) -> Self {
        Self { low: f64::from(value), high: f64::from(value) }
    }
}

/// Integer division as in programming languages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Truncated(i128);

impl Arithmetic for Truncated {
    fn from_written(number: &Written) -> Option<Self> {
        (number.decimals == 0 && !number.percent).then_some(Self(number.digits))
    }

    fn plus(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    fn times(self, other: Self) -> Option<Self> {
        self.0.checked_mul(other.0).map(Self)
    }

    fn over(self, other: Self) -> Option<Self> {
        self.0.checked_div(other.0).map(Self)
    }

    fn negated(self) -> Option<Self> {
        self.0.checked_neg().map(Self)
    }

    fn to_integer(self) -> Option<i32> {
        i32::try_from(self.0).ok()
    }

    fn small(value: i32) -> Self {
        Self(i128::from(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(text: &str) -> Ratio {
        Ratio::from_written(&Written::parse(text).unwrap()).unwrap()
    }

    #[test]
    fn number_notations_parse_to_the_same_value() {
        assert_eq!(ratio("1,500.50"), ratio("1500.5"));
        assert_eq!(ratio("1.5e3"), ratio("1500"));
        assert_eq!(ratio("15e-1"), ratio("1.5"));
        assert_eq!(ratio(".5"), ratio("0.50"));
    }

    #[test]
    fn overflow_gives_no_value() {
        assert_eq!(Written::parse(&"9".repeat(40)), None);
        assert_eq!(Written::parse("1e999"), None);
        assert_eq!(Written::parse("1e-999"), None);
        let large = ratio(&"9".repeat(38));
        assert_eq!((large.times(large), large.plus(large)), (None, None));
        assert_eq!((Ratio::small(1).over(Ratio::small(0)), Ratio::small(3).power(200)), (None, None));
    }

    #[test]
    fn detects_rounded_decimals() {
        for (text, expected) in
            [("2.5", false), ("0.125", false), ("7", false), ("0.33", true), ("3.14", true)]
        {
            assert_eq!(Written::parse(text).unwrap().looks_rounded(), expected, "{text}");
        }
    }
}
