//! A recursive-descent calculator with Python's `%`.

use super::between;

pub(crate) fn solve(prompt: &str) -> String {
    let expression = between(prompt, "\n\n", "\n\n");
    let tokens = tokens(expression);
    let mut reader = Reader { tokens: &tokens, at: 0 };
    let value = reader.sum();
    assert_eq!(reader.at, tokens.len(), "unread tokens in {expression}");
    value.to_string()
}

#[derive(Debug, PartialEq)]
enum Token {
    Number(i64),
    Symbol(char),
}

fn tokens(expression: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let spaced: String = expression
        .chars()
        .flat_map(|c| if "+-*%()".contains(c) { vec![' ', c, ' '] } else { vec![c] })
        .collect();
    let mut words: Vec<&str> = Vec::new();
    for word in spaced.split_whitespace() {
        if word.starts_with(|c: char| c.is_ascii_alphabetic()) {
            words.push(word);
            continue;
        }
        flush(&mut words, &mut tokens);
        match word.parse() {
            Ok(number) => tokens.push(Token::Number(number)),
            Err(_) => tokens.push(Token::Symbol(word.chars().next().unwrap())),
        }
    }
    flush(&mut words, &mut tokens);
    tokens
}

/// Adds up the words of a spelled number.
fn flush(words: &mut Vec<&str>, tokens: &mut Vec<Token>) {
    if words.is_empty() {
        return;
    }
    let (mut total, mut current) = (0, 0);
    for word in words.drain(..) {
        match word {
            "hundred" => current *= 100,
            "thousand" => {
                total += current * 1000;
                current = 0;
            }
            _ => current += small(word),
        }
    }
    tokens.push(Token::Number(total + current));
}

fn small(word: &str) -> i64 {
    let units = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen \
                 sixteen seventeen eighteen nineteen";
    let tens = "twenty thirty forty fifty sixty seventy eighty ninety";
    let index_in = |list: &str| list.split_whitespace().position(|w| w == word).map(|i| i as i64);
    index_in(units)
        .or_else(|| index_in(tens).map(|i| (i + 2) * 10))
        .unwrap_or_else(|| panic!("no number word: {word}"))
}

struct Reader<'a> {
    tokens: &'a [Token],
    at: usize,
}

impl Reader<'_> {
    fn next_symbol(&mut self, symbols: &str) -> Option<char> {
        match self.tokens.get(self.at) {
            Some(Token::Symbol(symbol)) if symbols.contains(*symbol) => {
                self.at += 1;
                Some(*symbol)
            }
            _ => None,
        }
    }

    fn sum(&mut self) -> i64 {
        let mut value = self.product();
        while let Some(symbol) = self.next_symbol("+-") {
            let right = self.product();
            value = if symbol == '+' { value + right } else { value - right };
        }
        value
    }

    fn product(&mut self) -> i64 {
        let mut value = self.atom();
        while let Some(symbol) = self.next_symbol("*%") {
            let right = self.atom();
            value = if symbol == '*' { value * right } else { ((value % right) + right) % right };
        }
        value
    }

    fn atom(&mut self) -> i64 {
        if self.next_symbol("(").is_some() {
            let value = self.sum();
            assert!(self.next_symbol(")").is_some(), "unclosed parenthesis");
            return value;
        }
        match self.tokens[self.at] {
            Token::Number(number) => {
                self.at += 1;
                number
            }
            Token::Symbol(symbol) => panic!("unexpected {symbol}"),
        }
    }
}
