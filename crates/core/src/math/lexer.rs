//! Splits a formula, LaTeX or plain text, into tokens.

use super::Unreadable;
use super::ratio::Ratio;
use crate::answer::{changes_number, words};

/// Maximum number of tokens.
const MAX_TOKENS: usize = 400;

/// A piece of a formula.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// A number; whether it is written as an integer.
    Number(Ratio, bool),
    /// A variable or a constant.
    Symbol(String),
    /// A function by name.
    Function(&'static str),
    /// A word or `\text{…}` that isn't part of the formula: a unit.
    Text,
    Plus,
    Minus,
    PlusMinus,
    MinusPlus,
    Times,
    Over,
    Power,
    Subscript,
    Factorial,
    Percent,
    /// Signs that don't change the value: degrees, currency.
    Ignored,
    /// An opening bracket: `(`, `[`, `{` for a set, `|`.
    Open(char),
    /// A closing bracket.
    Close(char),
    /// `{` and `}` that only group.
    Begin,
    End,
    /// A comma, a semicolon, "and", "or".
    Comma,
    Relation(Relation),
    Union,
    Fraction,
    Binomial,
    Root,
    /// `\begin{pmatrix}`; whether it is a determinant.
    MatrixBegin(bool),
    MatrixEnd,
    Column,
    Row,
}

/// A sign between two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Member,
}

const FUNCTIONS: [&str; 19] = [
    "sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "log",
    "ln", "exp", "max", "min", "gcd", "lcm",
];

const GREEK: [&str; 26] = [
    "alpha",
    "beta",
    "gamma",
    "delta",
    "epsilon",
    "varepsilon",
    "zeta",
    "eta",
    "theta",
    "iota",
    "kappa",
    "lambda",
    "mu",
    "nu",
    "xi",
    "rho",
    "sigma",
    "tau",
    "upsilon",
    "phi",
    "varphi",
    "chi",
    "psi",
    "omega",
    "ell",
    "hbar",
];

/// Commands that only set spacing or size.
const INVISIBLE: [&str; 22] = [
    "left",
    "right",
    "displaystyle",
    "textstyle",
    "quad",
    "qquad",
    "big",
    "Big",
    "bigg",
    "Bigg",
    "bigl",
    "bigr",
    "Bigl",
    "Bigr",
    "limits",
    "nolimits",
    "hspace",
    "hfill",
    "middle",
    "boldsymbol",
    "mathbf",
    "ensuremath",
];

const ENVIRONMENTS: [(&str, bool); 6] = [
    ("pmatrix", false),
    ("bmatrix", false),
    ("matrix", false),
    ("array", false),
    ("Bmatrix", false),
    ("vmatrix", true),
];

/// The tokens of a formula. With `grouped_digits`, `1,000` outside of brackets is one number.
pub(super) fn tokens(text: &str, grouped_digits: bool) -> Result<Vec<Token>, Unreadable> {
    let mut lexer = Lexer { text, at: 0, tokens: Vec::new(), depth: 0, grouped_digits };
    while lexer.at < text.len() {
        lexer.next()?;
        if lexer.tokens.len() > MAX_TOKENS {
            return Err(Unreadable);
        }
    }
    Ok(lexer.tokens)
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    tokens: Vec<Token>,
    /// Open brackets: inside them a comma separates.
    depth: usize,
    grouped_digits: bool,
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn push(&mut self, token: Token) {
        self.tokens.push(token);
    }

    fn next(&mut self) -> Result<(), Unreadable> {
        let rest = self.rest();
        let c = rest.chars().next().ok_or(Unreadable)?;
        if c.is_ascii_digit() || c == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit()) {
            return self.number();
        }
        if c.is_alphabetic() {
            return self.word();
        }
        if c == '\\' {
            return self.command();
        }
        self.at += c.len_utf8();
        let token = match c {
            '+' => Token::Plus,
            '-' | '\u{2212}' | '\u{2013}' => Token::Minus,
            '±' => Token::PlusMinus,
            '*' => {
                if self.rest().starts_with('*') {
                    self.at += 1;
                    Token::Power
                } else {
                    Token::Times
                }
            }
            '·' | '×' | '⋅' => Token::Times,
            '/' | '÷' => Token::Over,
            '^' => Token::Power,
            '_' => Token::Subscript,
            '!' => Token::Factorial,
            '%' => Token::Percent,
            '°' | '€' | '£' | '¥' | '∘' => Token::Ignored,
            '²' | '³' => {
                self.push(Token::Power);
                Token::Number(Ratio::from(if c == '²' { 2 } else { 3 }), true)
            }
            '(' | '[' => {
                self.depth += 1;
                Token::Open(c)
            }
            ')' | ']' => {
                self.depth = self.depth.saturating_sub(1);
                Token::Close(c)
            }
            '{' => Token::Begin,
            '}' => Token::End,
            '|' => Token::Open('|'),
            ',' | ';' => Token::Comma,
            '=' => Token::Relation(Relation::Equal),
            '≠' => Token::Relation(Relation::NotEqual),
            '<' | '>' => {
                let or_equal = self.rest().starts_with('=');
                self.at += usize::from(or_equal);
                Token::Relation(match (c, or_equal) {
                    ('<', false) => Relation::Less,
                    ('<', true) => Relation::LessOrEqual,
                    (_, false) => Relation::Greater,
                    (_, true) => Relation::GreaterOrEqual,
                })
            }
            '≤' | '⩽' => Token::Relation(Relation::LessOrEqual),
            '≥' | '⩾' => Token::Relation(Relation::GreaterOrEqual),
            '∈' => Token::Relation(Relation::Member),
            '∪' => Token::Union,
            '√' => Token::Root,
            '∞' => Token::Symbol("∞".to_owned()),
            '&' => Token::Column,
            c if c.is_whitespace() || c == '~' || c == '$' => return Ok(()),
            _ => return Err(Unreadable),
        };
        self.push(token);
        Ok(())
    }

    fn number(&mut self) -> Result<(), Unreadable> {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        // `\\frac12` has two arguments of one digit each.
        if matches!(self.tokens[..], [.., Token::Fraction] | [.., Token::Fraction, Token::Number(..)])
            && bytes[0].is_ascii_digit()
        {
            self.at += 1;
            self.push(Token::Number(Ratio::parse(&rest[..1])?, true));
            return Ok(());
        }
        let mut end = digits(0);
        let mut number = rest[..end].to_owned();
        if self.grouped_digits && self.depth == 0 && (1..=3).contains(&end) {
            while bytes.get(end) == Some(&b',') && digits(end + 1) == 3 {
                number.push_str(&rest[end + 1..end + 4]);
                end += 4;
            }
        } else if !self.grouped_digits && end > 1 && bytes[0] == b'0' {
            // `1,000` isn't the list of 1 and 0.
            return Err(Unreadable);
        }
        let is_integer = !(bytes.get(end) == Some(&b'.') && digits(end + 1) > 0);
        if !is_integer {
            let fraction = digits(end + 1);
            number.push_str(&rest[end..=end + fraction]);
            end += 1 + fraction;
        }
        self.at += end;
        self.push(Token::Number(Ratio::parse(&number)?, is_integer));
        Ok(())
    }

    /// A run of letters: a product of symbols, a function, or a word.
    fn word(&mut self) -> Result<(), Unreadable> {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
        let word = &rest[..end];
        self.at += end;
        let token = match word {
            "or" | "and" => Some(Token::Comma),
            "pi" | "π" => Some(Token::Symbol("π".to_owned())),
            "sqrt" => Some(Token::Root),
            "inf" | "infty" | "infinity" => Some(Token::Symbol("∞".to_owned())),
            "percent" => Some(Token::Percent),
            _ if changes_number(word) => return Err(Unreadable),
            _ => FUNCTIONS.iter().find(|known| **known == word).map(|function| Token::Function(function)),
        };
        let count = word.chars().count();
        // Nobody writes a product of four letters, and `AB` is a segment rather than a product.
        let is_text = count >= 4 || count >= 2 && word.chars().all(char::is_uppercase);
        if let Some(token) = token.or(is_text.then_some(Token::Text)) {
            self.push(token);
            return Ok(());
        }
        for letter in word.chars() {
            let name = if letter == 'π' { "π".to_owned() } else { letter.to_string() };
            self.push(Token::Symbol(name));
        }
        Ok(())
    }

    fn command(&mut self) -> Result<(), Unreadable> {
        let rest = &self.rest()[1..];
        let length = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        if length == 0 {
            return self.escaped(rest);
        }
        let name = &rest[..length];
        self.at += 1 + length;
        let token = match name {
            "frac" | "dfrac" | "tfrac" | "cfrac" => Token::Fraction,
            "binom" | "dbinom" | "tbinom" => Token::Binomial,
            "sqrt" => Token::Root,
            "cdot" | "times" | "ast" => Token::Times,
            "div" => Token::Over,
            "pm" => Token::PlusMinus,
            "mp" => Token::MinusPlus,
            "pi" => Token::Symbol("π".to_owned()),
            "infty" => Token::Symbol("∞".to_owned()),
            "circ" | "degree" | "degrees" => Token::Ignored,
            "cup" => Token::Union,
            "lbrace" => Token::Open('{'),
            "rbrace" => Token::Close('}'),
            "lvert" | "rvert" | "vert" => Token::Open('|'),
            "langle" => Token::Open('<'),
            "rangle" => Token::Close('>'),
            "le" | "leq" | "leqslant" => Token::Relation(Relation::LessOrEqual),
            "ge" | "geq" | "geqslant" => Token::Relation(Relation::GreaterOrEqual),
            "lt" => Token::Relation(Relation::Less),
            "gt" => Token::Relation(Relation::Greater),
            "ne" | "neq" => Token::Relation(Relation::NotEqual),
            "in" => Token::Relation(Relation::Member),
            "text" | "textbf" | "textit" | "textrm" | "mbox" | "mathrm" | "operatorname" | "mathit" => {
                return self.text_argument();
            }
            "begin" | "end" => return self.environment(name == "begin"),
            "boxed" | "fbox" | "not" => return Err(Unreadable),
            _ if INVISIBLE.contains(&name) => return Ok(()),
            _ if GREEK.contains(&name) => Token::Symbol(format!("\\{name}")),
            _ => match FUNCTIONS.iter().find(|known| **known == name) {
                Some(function) => Token::Function(function),
                None => return Err(Unreadable),
            },
        };
        match token {
            Token::Open('{' | '<') => self.depth += 1,
            Token::Close(_) => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.push(token);
        Ok(())
    }

    /// A backslash and a sign.
    fn escaped(&mut self, rest: &str) -> Result<(), Unreadable> {
        let c = rest.chars().next().ok_or(Unreadable)?;
        self.at += 1 + c.len_utf8();
        match c {
            '{' => {
                self.depth += 1;
                self.push(Token::Open('{'));
            }
            '}' => {
                self.depth = self.depth.saturating_sub(1);
                self.push(Token::Close('}'));
            }
            '|' => self.push(Token::Open('|')),
            '%' => self.push(Token::Percent),
            '\\' => self.push(Token::Row),
            '$' | ',' | ';' | ':' | '!' | ' ' | '(' | ')' | '[' | ']' | '\n' => {}
            _ => return Err(Unreadable),
        }
        Ok(())
    }

    /// The argument of `\text`: a separator, a symbol, or a unit.
    fn text_argument(&mut self) -> Result<(), Unreadable> {
        let rest = self.rest().trim_start();
        let inner = rest.strip_prefix('{').ok_or(Unreadable)?;
        let end = inner.find(['{', '}']).filter(|end| inner[*end..].starts_with('}')).ok_or(Unreadable)?;
        self.at = self.text.len() - inner.len() + end + 1;
        let content = inner[..end].trim();
        match content {
            "or" | "and" | "," => self.push(Token::Comma),
            "" => {}
            "percent" => self.push(Token::Percent),
            _ if words(content).any(changes_number) => return Err(Unreadable),
            _ if content.chars().count() == 1 && content.chars().all(char::is_alphabetic) => {
                self.push(Token::Symbol(content.to_owned()));
            }
            _ if content.bytes().all(|byte| byte.is_ascii_digit()) && content.len() < 30 => {
                self.push(Token::Number(Ratio::parse(content)?, true));
            }
            _ => self.push(Token::Text),
        }
        Ok(())
    }

    fn environment(&mut self, begins: bool) -> Result<(), Unreadable> {
        let rest = self.rest();
        let inner = rest.strip_prefix('{').ok_or(Unreadable)?;
        let end = inner.find('}').ok_or(Unreadable)?;
        let known = ENVIRONMENTS.iter().find(|(name, _)| *name == &inner[..end]).ok_or(Unreadable)?;
        self.at += end + 2;
        if begins && known.0 == "array" && self.rest().starts_with('{') {
            self.at += self.rest().find('}').ok_or(Unreadable)? + 1;
        }
        if begins {
            self.depth += 1;
        } else {
            self.depth = self.depth.saturating_sub(1);
        }
        self.push(if begins { Token::MatrixBegin(known.1) } else { Token::MatrixEnd });
        Ok(())
    }
}
