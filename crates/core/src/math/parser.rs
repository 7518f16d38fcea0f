//! Reads tokens into values.

use super::Unreadable;
use super::expression::{Atoms, Expression};
use super::lexer::{Relation, Token, tokens};
use super::ratio::Ratio;
use super::value::{Formula, Item, Value};

/// Maximum depth of brackets.
const MAX_DEPTH: usize = 24;
/// Maximum number of listed values.
const MAX_ITEMS: usize = 24;

type Read<T> = Result<T, Unreadable>;

/// Reads a formula.
pub(super) fn parse(text: &str, grouped_digits: bool, atoms: &mut Atoms) -> Read<Formula> {
    let text = text.replace("\\!", "").replace("{,}", ",");
    let tokens = tokens(&text, grouped_digits)?;
    let mut formula = parse_with_sign(&tokens, atoms, false)?;
    // `a ± b` is both values.
    if tokens.iter().any(|token| matches!(token, Token::PlusMinus | Token::MinusPlus)) {
        for item in parse_with_sign(&tokens, atoms, true)?.items {
            if !formula.items.contains(&item) {
                formula.items.push(item);
            }
        }
    }
    if formula.items.is_empty() || formula.items.len() > MAX_ITEMS {
        return Err(Unreadable);
    }
    Ok(formula)
}

fn parse_with_sign(tokens: &[Token], atoms: &mut Atoms, negative: bool) -> Read<Formula> {
    let mut parser = Parser { tokens, at: 0, atoms, negative, percent: false, depth: 0 };
    let mut items = vec![parser.item()?];
    while parser.at < tokens.len() {
        if !parser.take(&Token::Comma) {
            return Err(Unreadable);
        }
        // "3, 5, and 7"
        while parser.take(&Token::Comma) {}
        items.push(parser.item()?);
    }
    Ok(Formula { items, percent: parser.percent })
}

struct Parser<'p> {
    tokens: &'p [Token],
    at: usize,
    atoms: &'p mut Atoms,
    /// Which sign `±` stands for.
    negative: bool,
    percent: bool,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn take(&mut self, token: &Token) -> bool {
        let found = self.peek() == Some(token);
        self.at += usize::from(found);
        found
    }

    fn skip_ignored(&mut self) {
        while matches!(self.peek(), Some(Token::Ignored)) {
            self.at += 1;
        }
    }

    /// A value between commas, with its name.
    fn item(&mut self) -> Read<Item> {
        let name = self.name();
        let value = self.relation()?;
        match (name, value) {
            // `x = 1 + 2 = 3` ends with the value.
            (Some(name), Value::Relation(mut sides, signs))
                if signs.iter().all(|sign| *sign == Relation::Equal) =>
            {
                Ok(Item { name: Some(name), value: sides.pop().ok_or(Unreadable)? })
            }
            (_, value @ Value::Relation(..)) => Ok(Item { name: None, value }),
            (name, value) => Ok(Item { name, value }),
        }
    }

    /// The `x` of `x = …` and the `f` of `f(x) = …`.
    fn name(&mut self) -> Option<String> {
        let Token::Symbol(name) = self.tokens.get(self.at)? else { return None };
        let mut at = self.at + 1;
        if self.tokens.get(at) == Some(&Token::Open('(')) {
            at += 1;
            while matches!(self.tokens.get(at), Some(Token::Symbol(_) | Token::Comma)) {
                at += 1;
            }
            if self.tokens.get(at) != Some(&Token::Close(')')) {
                return None;
            }
            at += 1;
        }
        let is_name =
            matches!(self.tokens.get(at), Some(Token::Relation(Relation::Equal | Relation::Member)));
        if !is_name {
            return None;
        }
        let name = name.clone();
        self.at = at + 1;
        Some(name)
    }

    fn relation(&mut self) -> Read<Value> {
        let first = self.union()?;
        let mut sides = vec![first];
        let mut signs = Vec::new();
        while let Some(Token::Relation(sign)) = self.peek() {
            signs.push(*sign);
            self.at += 1;
            sides.push(self.union()?);
        }
        if signs.is_empty() { sides.pop().ok_or(Unreadable) } else { Ok(Value::Relation(sides, signs)) }
    }

    fn union(&mut self) -> Read<Value> {
        let first = self.sum()?;
        if self.peek() != Some(&Token::Union) {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.take(&Token::Union) {
            parts.push(self.sum()?);
        }
        Ok(Value::Union(parts))
    }

    fn sum(&mut self) -> Read<Value> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Unreadable);
        }
        self.skip_ignored();
        let mut total: Option<Value> = None;
        loop {
            let mut negative = false;
            let mut signed = false;
            loop {
                match self.peek() {
                    Some(Token::Plus) => {}
                    Some(Token::Minus) => negative = !negative,
                    Some(Token::PlusMinus) => negative ^= self.negative,
                    Some(Token::MinusPlus) => negative ^= !self.negative,
                    _ => break,
                }
                signed = true;
                self.at += 1;
                self.skip_ignored();
            }
            if total.is_some() && !signed {
                break;
            }
            let term = self.product()?;
            let term =
                if negative { Value::Expression(expression(term)?.scaled(Ratio::from(-1))?) } else { term };
            total = Some(match total {
                None => term,
                Some(total) => {
                    let (total, term) = (expression(total)?, expression(term)?);
                    Value::Expression(self.atoms.sum(&total, &term)?)
                }
            });
        }
        self.depth -= 1;
        total.ok_or(Unreadable)
    }

    fn product(&mut self) -> Read<Value> {
        let mut value = self.factor()?;
        loop {
            self.skip_ignored();
            match self.peek() {
                Some(Token::Times) => {
                    self.at += 1;
                    let factor = expression(self.signed_factor()?)?;
                    value = Value::Expression(self.atoms.product(&expression(value)?, &factor)?);
                }
                Some(Token::Over) => {
                    self.at += 1;
                    if self.unit()? {
                        continue;
                    }
                    let factor = expression(self.signed_factor()?)?;
                    value = Value::Expression(self.atoms.quotient(&expression(value)?, &factor)?);
                }
                Some(Token::Text) => {
                    self.unit()?;
                }
                Some(
                    Token::Number(..)
                    | Token::Symbol(_)
                    | Token::Function(_)
                    | Token::Fraction
                    | Token::Binomial
                    | Token::Root
                    | Token::Begin,
                ) => {
                    // Two numbers side by side are no product, and what follows a unit isn't a factor: `5 ft 3 in`.
                    let previous = self.tokens.get(self.at.wrapping_sub(1));
                    let is_number = matches!(self.peek(), Some(Token::Number(..)));
                    if is_number && matches!(previous, Some(Token::Number(..)))
                        || matches!(previous, Some(Token::Text))
                    {
                        return Err(Unreadable);
                    }
                    let factor = expression(self.factor()?)?;
                    value = Value::Expression(self.atoms.product(&expression(value)?, &factor)?);
                }
                Some(Token::Open('(' | '[')) if matches!(value, Value::Expression(_)) => {
                    let factor = expression(self.factor()?)?;
                    value = Value::Expression(self.atoms.product(&expression(value)?, &factor)?);
                }
                _ => return Ok(value),
            }
        }
    }

    /// Skips a unit, `\text{cm}^2`.
    fn unit(&mut self) -> Read<bool> {
        if !self.take(&Token::Text) {
            return Ok(false);
        }
        // Words without a number are no unit.
        if !self.tokens[..self.at].iter().any(|token| matches!(token, Token::Number(..))) {
            return Err(Unreadable);
        }
        if self.take(&Token::Power) {
            self.argument()?;
        }
        Ok(true)
    }

    fn signed_factor(&mut self) -> Read<Value> {
        self.skip_ignored();
        if self.take(&Token::Minus) {
            return Ok(Value::Expression(expression(self.factor()?)?.scaled(Ratio::from(-1))?));
        }
        self.take(&Token::Plus);
        self.factor()
    }

    fn factor(&mut self) -> Read<Value> {
        let mut value = self.base()?;
        loop {
            match self.peek() {
                Some(Token::Power) => {
                    self.at += 1;
                    if self.is_degree() {
                        continue;
                    }
                    let exponent = self.argument()?;
                    value = Value::Expression(self.atoms.power(&expression(value)?, &exponent)?);
                }
                Some(Token::Factorial) => {
                    self.at += 1;
                    value = Value::Expression(Expression::constant(factorial(&expression(value)?)?));
                }
                Some(Token::Percent) => {
                    self.at += 1;
                    self.percent = true;
                }
                Some(Token::Ignored) => self.at += 1,
                _ => return Ok(value),
            }
        }
    }

    /// `^\circ` and `^{\circ}`.
    fn is_degree(&mut self) -> bool {
        let length = match self.tokens.get(self.at..) {
            Some([Token::Ignored, ..]) => 1,
            Some([Token::Begin, Token::Ignored, Token::End, ..]) => 3,
            _ => return false,
        };
        self.at += length;
        true
    }

    fn base(&mut self) -> Read<Value> {
        self.skip_ignored();
        let token = self.peek().cloned().ok_or(Unreadable)?;
        self.at += 1;
        match token {
            Token::Number(number, is_integer) => self.number(number, is_integer),
            Token::Symbol(name) => {
                let name = self.with_subscript(name)?;
                Ok(Value::Expression(self.atoms.symbol(&name)?))
            }
            Token::Function(name) => self.function(name).map(Value::Expression),
            Token::Fraction => {
                let (a, b) = (self.argument()?, self.argument()?);
                Ok(Value::Expression(self.atoms.quotient(&a, &b)?))
            }
            Token::Binomial => {
                let (n, k) = (self.argument()?, self.argument()?);
                binomial(&n, &k).map(|value| Value::Expression(Expression::constant(value)))
            }
            Token::Root => self.root().map(Value::Expression),
            Token::Begin => self.group(),
            Token::Open('|') => Err(Unreadable),
            Token::Open(open) => self.brackets(open),
            Token::MatrixBegin(determinant) => self.matrix(determinant),
            _ => Err(Unreadable),
        }
    }

    /// A number, a mixed number such as `1 \frac{1}{4}` or `2 1/2`, or a number in another base.
    fn number(&mut self, number: Ratio, is_integer: bool) -> Read<Value> {
        if self.peek() == Some(&Token::Subscript) {
            let key = self.with_subscript(format!("{}", number.numerator()))?;
            return Ok(Value::Expression(self.atoms.symbol(&key)?));
        }
        let fraction = match self.tokens.get(self.at..) {
            Some(
                [
                    Token::Fraction,
                    Token::Begin,
                    Token::Number(a, true),
                    Token::End,
                    Token::Begin,
                    Token::Number(b, true),
                    Token::End,
                    ..,
                ],
            ) => Some((a.over(*b)?, 7)),
            Some([Token::Fraction, Token::Number(a, true), Token::Number(b, true), ..]) => {
                Some((a.over(*b)?, 3))
            }
            Some([Token::Number(a, true), Token::Over, Token::Number(b, true), ..]) => Some((a.over(*b)?, 3)),
            _ => None,
        };
        match fraction.filter(|_| is_integer) {
            Some((fraction, length)) => {
                self.at += length;
                Ok(Value::Expression(Expression::constant(number.plus(fraction)?)))
            }
            None => Ok(Value::Expression(Expression::constant(number))),
        }
    }

    fn with_subscript(&mut self, mut name: String) -> Read<String> {
        if self.take(&Token::Subscript) {
            name.push('_');
            let grouped = self.take(&Token::Begin);
            loop {
                match self.peek() {
                    Some(Token::Number(number, _)) => name.push_str(&number.numerator().to_string()),
                    Some(Token::Symbol(symbol)) => name.push_str(symbol),
                    Some(Token::Comma) if grouped => name.push(','),
                    Some(Token::Text) if grouped => name.push('t'),
                    _ => return Err(Unreadable),
                }
                self.at += 1;
                if !grouped || self.take(&Token::End) {
                    break;
                }
            }
        }
        Ok(name)
    }

    /// A function of its argument; equal to another only if the arguments are.
    fn function(&mut self, name: &str) -> Read<Expression> {
        let mut key = name.to_owned();
        let mut power = None;
        loop {
            if self.take(&Token::Subscript) {
                let base = self.argument()?;
                key = format!("{key}_{}", base.key()?);
            } else if self.take(&Token::Power) {
                power = Some(self.argument()?);
            } else {
                break;
            }
        }
        let is_bracketed = matches!(self.peek(), Some(Token::Open('(') | Token::Begin));
        let mut argument = expression(self.factor()?)?;
        while !is_bracketed && matches!(self.peek(), Some(Token::Symbol(_) | Token::Fraction | Token::Root)) {
            let factor = expression(self.factor()?)?;
            argument = self.atoms.product(&argument, &factor)?;
        }
        let argument = argument.key()?;
        let value = self.atoms.opaque(format!("{key}({argument})"))?;
        match power {
            Some(power) => self.atoms.power(&value, &power),
            None => Ok(value),
        }
    }

    fn root(&mut self) -> Read<Expression> {
        let mut degree = Ratio::from(2);
        if self.take(&Token::Open('[')) {
            let index = expression(self.sum()?)?.as_constant().ok_or(Unreadable)?;
            if !self.take(&Token::Close(']'))
                || index.integer().is_none_or(|index| !(2..=64).contains(&index))
            {
                return Err(Unreadable);
            }
            degree = index;
        }
        let base = self.argument()?;
        self.atoms.root(&base, degree.inverse()?)
    }

    /// The argument of a command: a group, or one digit, symbol or command.
    fn argument(&mut self) -> Read<Expression> {
        match self.peek() {
            Some(Token::Number(number, _)) => {
                let number = *number;
                self.at += 1;
                Ok(Expression::constant(number))
            }
            Some(Token::Minus) => {
                self.at += 1;
                self.argument()?.scaled(Ratio::from(-1))
            }
            Some(Token::Plus) => {
                self.at += 1;
                self.argument()
            }
            _ => expression(self.base()?),
        }
    }
}

impl Parser<'_> {
    fn brackets(&mut self, open: char) -> Read<Value> {
        // An interval may close with the other bracket.
        let mut items = vec![self.inner()?];
        while self.take(&Token::Comma) {
            items.push(self.inner()?);
        }
        let Some(Token::Close(close)) = self.peek() else { return Err(Unreadable) };
        let close = *close;
        self.at += 1;
        if items.len() > MAX_ITEMS {
            return Err(Unreadable);
        }
        match (open, close) {
            ('{', '}') => Ok(Value::Set(items)),
            ('(' | '[', ')' | ']') if items.len() > 1 => Ok(Value::Tuple { open, close, items }),
            ('(', ')') | ('[', ']') => items.pop().ok_or(Unreadable),
            ('<', '>') => Ok(Value::Tuple { open, close, items }),
            _ => Err(Unreadable),
        }
    }

    /// The content of braces: a group, or a set written without backslashes.
    fn group(&mut self) -> Read<Value> {
        let mut items = vec![self.inner()?];
        while self.take(&Token::Comma) {
            items.push(self.inner()?);
        }
        if !self.take(&Token::End) || items.len() > MAX_ITEMS {
            return Err(Unreadable);
        }
        if items.len() > 1 { Ok(Value::Set(items)) } else { items.pop().ok_or(Unreadable) }
    }

    fn inner(&mut self) -> Read<Value> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Unreadable);
        }
        let value = self.relation();
        self.depth -= 1;
        value
    }

    fn matrix(&mut self, determinant: bool) -> Read<Value> {
        let mut rows = vec![vec![self.inner()?]];
        loop {
            let token = self.peek().cloned();
            self.at += 1;
            match token {
                Some(Token::Column) => {
                    let cell = self.inner()?;
                    rows.last_mut().ok_or(Unreadable)?.push(cell);
                }
                Some(Token::Row) => {
                    if self.take(&Token::MatrixEnd) {
                        return Ok(Value::Matrix(determinant, rows));
                    }
                    rows.push(vec![self.inner()?]);
                }
                Some(Token::MatrixEnd) => return Ok(Value::Matrix(determinant, rows)),
                _ => return Err(Unreadable),
            }
        }
    }
}

/// The expression that a value is.
fn expression(value: Value) -> Read<Expression> {
    match value {
        Value::Expression(expression) => Ok(expression),
        _ => Err(Unreadable),
    }
}

fn factorial(value: &Expression) -> Read<Ratio> {
    let n =
        value.as_constant().and_then(Ratio::integer).filter(|n| (0..=25).contains(n)).ok_or(Unreadable)?;
    Ratio::new((1..=n).product(), 1)
}

fn binomial(n: &Expression, k: &Expression) -> Read<Ratio> {
    let integer = |value: &Expression| value.as_constant().and_then(Ratio::integer).ok_or(Unreadable);
    let (n, k) = (integer(n)?, integer(k)?);
    if !(0..=100).contains(&n) || !(0..=n).contains(&k) {
        return Err(Unreadable);
    }
    let mut value: i128 = 1;
    for i in 0..k {
        value = value.checked_mul(n - i).ok_or(Unreadable)? / (i + 1);
    }
    Ratio::new(value, 1)
}
