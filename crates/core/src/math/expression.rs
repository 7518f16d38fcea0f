//! Expressions: fractions of polynomials, and what their atoms are.

use std::fmt::Write as _;

use super::Unreadable;
use super::polynomial::{AtomId, Monomial, Polynomial};
use super::ratio::{Ratio, gcd};

/// Maximum number of different symbols.
const MAX_SYMBOLS: usize = 8;
/// Maximum number of atoms of all kinds.
const MAX_ATOMS: usize = 64;
/// Maximum integer power of a sum that is multiplied out.
const MAX_POWER: i128 = 32;
/// Multiplications of terms that one comparison may need.
const MAX_WORK: usize = 20_000;
/// Maximum integer under a root that is factored.
const MAX_RADICAND: i128 = 100_000_000;

/// What an atom stands for.
#[derive(Debug, Clone, PartialEq)]
enum Atom {
    /// A variable, a constant such as π, or infinity.
    Symbol(String),
    /// The square root of -1.
    Imaginary,
    /// A prime, with an exponent between 0 and 1.
    Prime(i128),
    /// A sum under a root.
    Root(Polynomial),
    /// A part that is known only by its normal form, as `cos(t)`.
    Opaque(String),
}

/// The atoms of a comparison, shared by both sides.
#[derive(Debug, Default)]
pub(super) struct Atoms {
    atoms: Vec<Atom>,
    work: usize,
}

/// A fraction of polynomials. A denominator of one term is part of the numerator.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Expression {
    numerator: Polynomial,
    denominator: Polynomial,
}

impl Atoms {
    /// Whether there are atoms between which relations may hold that the normal form doesn't know.
    pub(super) fn has_opaque(&self) -> bool {
        self.atoms.iter().any(|atom| matches!(atom, Atom::Root(_) | Atom::Opaque(_)))
    }

    fn intern(&mut self, atom: Atom) -> Result<AtomId, Unreadable> {
        let index = match self.atoms.iter().position(|known| *known == atom) {
            Some(index) => index,
            None => {
                let symbols = self.atoms.iter().filter(|known| matches!(known, Atom::Symbol(_))).count();
                if self.atoms.len() >= MAX_ATOMS || matches!(atom, Atom::Symbol(_)) && symbols >= MAX_SYMBOLS
                {
                    return Err(Unreadable);
                }
                self.atoms.push(atom);
                self.atoms.len() - 1
            }
        };
        AtomId::try_from(index).map_err(|_| Unreadable)
    }

    pub(super) fn symbol(&mut self, name: &str) -> Result<Expression, Unreadable> {
        let atom = if name == "i" { Atom::Imaginary } else { Atom::Symbol(name.to_owned()) };
        let atom = self.intern(atom)?;
        Ok(Expression::from(Polynomial::term(Monomial::atom(atom, Ratio::ONE), Ratio::ONE)))
    }

    /// A part without a normal form of its own, such as a function of its argument.
    pub(super) fn opaque(&mut self, key: String) -> Result<Expression, Unreadable> {
        let atom = self.intern(Atom::Opaque(key))?;
        Ok(Expression::from(Polynomial::term(Monomial::atom(atom, Ratio::ONE), Ratio::ONE)))
    }

    fn multiply(&mut self, a: &Polynomial, b: &Polynomial) -> Result<Polynomial, Unreadable> {
        self.work += a.0.len() * b.0.len();
        if self.work > MAX_WORK {
            return Err(Unreadable);
        }
        let mut product = Polynomial::default();
        let mut expanded: Vec<Polynomial> = Vec::new();
        for (left, a) in &a.0 {
            for (right, b) in &b.0 {
                let term = self.reduced(left.times(right)?, a.times(*b)?)?;
                match term {
                    Reduced::Term(monomial, coefficient) => product.add_term(monomial, coefficient)?,
                    Reduced::Sum(sum) => expanded.push(sum),
                }
            }
        }
        for sum in &expanded {
            product = product.plus(sum)?;
        }
        Ok(product)
    }

    /// A term with `i^2 = -1`, whole powers of primes in the coefficient, and whole powers of sums multiplied out.
    fn reduced(&mut self, monomial: Monomial, mut coefficient: Ratio) -> Result<Reduced, Unreadable> {
        let is_plain = |(atom, _): &(AtomId, Ratio)| matches!(self.atoms[*atom as usize], Atom::Symbol(_));
        if monomial.0.iter().all(is_plain) {
            return Ok(Reduced::Term(monomial, coefficient));
        }
        let mut kept = Vec::with_capacity(monomial.0.len());
        let mut sums: Vec<(Polynomial, i128)> = Vec::new();
        for (atom, exponent) in monomial.0 {
            let rest = match &self.atoms[atom as usize] {
                Atom::Symbol(_) | Atom::Opaque(_) => exponent,
                Atom::Imaginary => {
                    let exponent = exponent.integer().ok_or(Unreadable)?.rem_euclid(4);
                    if exponent >= 2 {
                        coefficient = coefficient.negated();
                    }
                    Ratio::new(exponent % 2, 1)?
                }
                Atom::Prime(prime) => {
                    let (whole, rest) = exponent.floor_and_rest()?;
                    coefficient = coefficient.times(Ratio::new(*prime, 1)?.power(whole)?)?;
                    rest
                }
                Atom::Root(sum) => {
                    let (whole, rest) = exponent.floor_and_rest()?;
                    if whole > 0 {
                        sums.push((sum.clone(), whole));
                        rest
                    } else {
                        exponent
                    }
                }
            };
            if !rest.is_zero() {
                kept.push((atom, rest));
            }
        }
        if sums.is_empty() {
            return Ok(Reduced::Term(Monomial(kept), coefficient));
        }
        let mut product = Polynomial::term(Monomial(kept), coefficient);
        for (sum, power) in sums {
            if power > MAX_POWER {
                return Err(Unreadable);
            }
            for _ in 0..power {
                product = self.multiply(&product, &sum)?;
            }
        }
        Ok(Reduced::Sum(product))
    }

    fn fraction(&mut self, numerator: Polynomial, denominator: Polynomial) -> Result<Expression, Unreadable> {
        if denominator.is_zero() {
            return Err(Unreadable);
        }
        let Some((monomial, coefficient)) = denominator.single() else {
            return Ok(Expression { numerator, denominator });
        };
        let inverse = Polynomial::term(monomial.power(Ratio::from(-1))?, coefficient.inverse()?);
        let numerator = self.multiply(&numerator, &inverse)?;
        Ok(Expression { numerator, denominator: Polynomial::constant(Ratio::ONE) })
    }

    pub(super) fn sum(&mut self, a: &Expression, b: &Expression) -> Result<Expression, Unreadable> {
        if a.denominator == b.denominator {
            return self.fraction(a.numerator.clone().plus(&b.numerator)?, a.denominator.clone());
        }
        let left = self.multiply(&a.numerator, &b.denominator)?;
        let right = self.multiply(&b.numerator, &a.denominator)?;
        let denominator = self.multiply(&a.denominator, &b.denominator)?;
        self.fraction(left.plus(&right)?, denominator)
    }

    pub(super) fn difference(&mut self, a: &Expression, b: &Expression) -> Result<Expression, Unreadable> {
        let negative = b.clone().scaled(Ratio::from(-1))?;
        self.sum(a, &negative)
    }

    pub(super) fn product(&mut self, a: &Expression, b: &Expression) -> Result<Expression, Unreadable> {
        let numerator = self.multiply(&a.numerator, &b.numerator)?;
        let denominator = self.multiply(&a.denominator, &b.denominator)?;
        self.fraction(numerator, denominator)
    }

    pub(super) fn quotient(&mut self, a: &Expression, b: &Expression) -> Result<Expression, Unreadable> {
        let numerator = self.multiply(&a.numerator, &b.denominator)?;
        let denominator = self.multiply(&a.denominator, &b.numerator)?;
        self.fraction(numerator, denominator)
    }

    pub(super) fn power(
        &mut self,
        base: &Expression,
        exponent: &Expression,
    ) -> Result<Expression, Unreadable> {
        let Some(exponent) = exponent.as_constant() else {
            let (base, exponent) = (self.key(base)?, self.key(exponent)?);
            return self.opaque(format!("({base})^({exponent})"));
        };
        let Some(whole) = exponent.integer() else { return self.root(base, exponent) };
        if let (Some((monomial, coefficient)), Some(one)) =
            (base.numerator.single(), base.denominator.as_constant())
            && one == Ratio::ONE
        {
            let monomial = monomial.power(exponent)?;
            let coefficient = coefficient.power(whole)?;
            return Ok(Expression::from(match self.reduced(monomial, coefficient)? {
                Reduced::Term(monomial, coefficient) => Polynomial::term(monomial, coefficient),
                Reduced::Sum(sum) => sum,
            }));
        }
        if whole.abs() > MAX_POWER {
            return Err(Unreadable);
        }
        let mut power = Expression::constant(Ratio::ONE);
        for _ in 0..whole.abs() {
            power = self.product(&power, base)?;
        }
        if whole < 0 { self.quotient(&Expression::constant(Ratio::ONE), &power) } else { Ok(power) }
    }

    /// A power with a fraction as exponent.
    pub(super) fn root(&mut self, base: &Expression, exponent: Ratio) -> Result<Expression, Unreadable> {
        let numerator = self.polynomial_root(&base.numerator, exponent)?;
        let denominator = self.polynomial_root(&base.denominator, exponent)?;
        self.quotient(&numerator, &denominator)
    }

    fn polynomial_root(&mut self, base: &Polynomial, exponent: Ratio) -> Result<Expression, Unreadable> {
        if base.is_zero() {
            return if exponent.is_negative() {
                Err(Unreadable)
            } else {
                Ok(Expression::constant(Ratio::ZERO))
            };
        }
        if let Some((monomial, coefficient)) = base.single() {
            // An even root of an even power isn't the symbol but its absolute value.
            let even = exponent.denominator() % 2 == 0;
            let mut whole = false;
            for (atom, old) in &monomial.0 {
                let new = old.times(exponent)?;
                let is_symbol = matches!(self.atoms[*atom as usize], Atom::Symbol(_));
                whole |= !is_symbol || even && new.integer().is_some();
            }
            if !whole {
                let number = self.number_root(coefficient, exponent)?;
                let symbols = Polynomial::term(monomial.power(exponent)?, Ratio::ONE);
                return self.product(&number, &Expression::from(symbols));
            }
        }
        let content = content(base)?;
        let number = self.number_root(content, exponent)?;
        let primitive = base.clone().scaled(content.inverse()?)?;
        let atom = self.intern(Atom::Root(primitive))?;
        let root = Polynomial::term(Monomial::atom(atom, exponent), Ratio::ONE);
        let one = Polynomial::constant(Ratio::ONE);
        // Whole powers of the sum are multiplied out here.
        let root = self.multiply(&root, &one)?;
        self.product(&number, &Expression::from(root))
    }

    /// A power of a number: its primes, each with its share of the exponent.
    fn number_root(&mut self, number: Ratio, exponent: Ratio) -> Result<Expression, Unreadable> {
        let mut result = Expression::constant(Ratio::ONE);
        if number.is_negative() {
            let sign = match (exponent.denominator(), exponent.numerator().rem_euclid(2)) {
                (denominator, 1) if denominator % 2 == 1 => Expression::constant(Ratio::from(-1)),
                (denominator, 0) if denominator % 2 == 1 => Expression::constant(Ratio::ONE),
                (2, _) => {
                    let imaginary = self.symbol("i")?;
                    self.power(&imaginary, &Expression::constant(Ratio::new(exponent.numerator(), 1)?))?
                }
                _ => return Err(Unreadable),
            };
            result = self.product(&result, &sign)?;
        }
        for (part, sign) in [(number.numerator().abs(), 1), (number.denominator(), -1)] {
            for (prime, count) in factors(part)? {
                let atom = self.intern(Atom::Prime(prime))?;
                let exponent = exponent.times(Ratio::new(count * sign, 1)?)?;
                let power = match self.reduced(Monomial::atom(atom, exponent), Ratio::ONE)? {
                    Reduced::Term(monomial, coefficient) => Polynomial::term(monomial, coefficient),
                    Reduced::Sum(sum) => sum,
                };
                result = self.product(&result, &Expression::from(power))?;
            }
        }
        Ok(result)
    }

    pub(super) fn are_equal(&mut self, a: &Expression, b: &Expression) -> Result<bool, Unreadable> {
        if a.denominator == b.denominator {
            return Ok(a.numerator == b.numerator);
        }
        Ok(self.multiply(&a.numerator, &b.denominator)? == self.multiply(&b.numerator, &a.denominator)?)
    }

    /// The constant that one is of the other.
    pub(super) fn proportion(&mut self, a: &Expression, b: &Expression) -> Result<Option<Ratio>, Unreadable> {
        let left = self.multiply(&a.numerator, &b.denominator)?;
        let right = self.multiply(&b.numerator, &a.denominator)?;
        left.quotient(&right)
    }

    /// A text that is the same for equal expressions, except for fractions that can be reduced.
    pub(super) fn key(&self, expression: &Expression) -> Result<String, Unreadable> {
        let leading = expression.denominator.0.values().next().copied().ok_or(Unreadable)?;
        let mut key = String::new();
        for (part, polynomial) in [&expression.numerator, &expression.denominator].into_iter().enumerate() {
            if part == 1 {
                if polynomial.as_constant().is_some() {
                    break;
                }
                key.push('/');
            }
            for (monomial, coefficient) in &polynomial.clone().scaled(leading.inverse()?)?.0 {
                let _ = write!(key, "+{}:{}", coefficient.numerator(), coefficient.denominator());
                for (atom, exponent) in &monomial.0 {
                    let _ = write!(key, "*{atom}^{}:{}", exponent.numerator(), exponent.denominator());
                }
            }
        }
        Ok(key)
    }
}

/// A term after reduction.
enum Reduced {
    Term(Monomial, Ratio),
    Sum(Polynomial),
}

impl Expression {
    pub(super) fn constant(value: Ratio) -> Self {
        Self::from(Polynomial::constant(value))
    }

    pub(super) fn as_constant(&self) -> Option<Ratio> {
        self.numerator.as_constant()?.over(self.denominator.as_constant()?).ok()
    }

    pub(super) fn scaled(self, factor: Ratio) -> Result<Self, Unreadable> {
        Ok(Self { numerator: self.numerator.scaled(factor)?, denominator: self.denominator })
    }
}

impl From<Polynomial> for Expression {
    fn from(numerator: Polynomial) -> Self {
        Self { numerator, denominator: Polynomial::constant(Ratio::ONE) }
    }
}

/// The positive number that divides all coefficients and leaves integers without a common divisor.
fn content(polynomial: &Polynomial) -> Result<Ratio, Unreadable> {
    let mut numerator = 0_u128;
    let mut denominator = 1_u128;
    for coefficient in polynomial.0.values() {
        numerator = gcd(numerator, coefficient.numerator().unsigned_abs());
        let other = coefficient.denominator().unsigned_abs();
        denominator = (denominator / gcd(denominator, other)).checked_mul(other).ok_or(Unreadable)?;
    }
    Ratio::new(
        i128::try_from(numerator).map_err(|_| Unreadable)?,
        i128::try_from(denominator).map_err(|_| Unreadable)?,
    )
}

/// The primes of a number, each with how often it occurs.
fn factors(number: i128) -> Result<Vec<(i128, i128)>, Unreadable> {
    if number > MAX_RADICAND {
        return Err(Unreadable);
    }
    let mut rest = u32::try_from(number).map_err(|_| Unreadable)?;
    let mut found = Vec::new();
    let mut prime = 2_u32;
    while prime * prime <= rest {
        let mut count = 0;
        while rest.is_multiple_of(prime) {
            rest /= prime;
            count += 1;
        }
        if count > 0 {
            found.push((i128::from(prime), count));
        }
        prime += if prime == 2 { 1 } else { 2 };
    }
    if rest > 1 {
        found.push((i128::from(rest), 1));
    }
    Ok(found)
}
