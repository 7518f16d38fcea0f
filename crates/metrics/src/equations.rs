//! Finds equations in reasoning text and checks them.
//!
//! Everything is exact: numbers are fractions, and what overflows is not checked. **A correct line must never be called
//! incorrect.** So an equation is checked only where it can be read in plain arithmetic, and called false only when it is
//! false in every plausible reading: a result may be rounded or truncated to the digits shown, `50 + 10%`
//! may be 55, and anything negated, asked, supposed, quoted or corrected on the spot is skipped. The rules, and
//! their results on a labeled corpus, are in `docs/metrics-steps.md`.

mod doubt;
mod hedging;
mod operands;
mod ratio;
mod tokens;
mod value;
mod verdict;
mod words;

use std::ops::Range;

use tokens::{Kind, Token, Tokenizer};
use verdict::Verdict;
use words::Word;

/// An equation that could be checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step<'a> {
    /// Its line, from 1.
    pub line: usize,
    /// The equation as written.
    pub text: &'a str,
    /// Whether it is true.
    pub holds: bool,
}

/// Finds the equations of a text that can be checked, and checks them.
///
/// A chain `a = b = c` is two steps. A text without an equals sign costs a search for one.
///
/// ```
/// use reasonscape_metrics::check_steps;
///
/// let steps = check_steps("She sold 48/2 = 24 clips.\nIn total 48 + 24 = 73, so x = 73.");
/// assert_eq!(steps.len(), 2);
/// assert!(steps[0].holds);
/// assert_eq!((steps[1].line, steps[1].text, steps[1].holds), (2, "48 + 24 = 73", false));
/// ```
pub fn check_steps(text: &str) -> Vec<Step<'_>> {
    collect_steps(text, |_| true)
}

/// Like [`check_steps`] for a text that was truncated: an equation at its very end may be incomplete.
///
/// ```
/// use reasonscape_metrics::check_truncated_steps;
///
/// let steps = check_truncated_steps("She sold 48/2 = 24 clips.\nIn total 48 + 124 = 1");
/// assert_eq!(steps.len(), 1);
/// ```
pub fn check_truncated_steps(text: &str) -> Vec<Step<'_>> {
    let complete = text.trim_end_matches(|c: char| !c.is_alphanumeric()).len();
    collect_steps(text, |found| found.right.end < complete)
}

fn collect_steps(text: &str, is_complete: impl Fn(&Found) -> bool) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    let (mut line, mut counted) = (1, 0);
    visit(text, |found| {
        if !is_complete(&found) {
            return;
        }
        // Equations are in order, except nested ones.
        if found.left.start >= counted {
            line += memchr::memchr_iter(b'\n', &text.as_bytes()[counted..found.left.start]).count();
            counted = found.left.start;
        }
        steps.push(Step { line, text: &text[found.left.start..found.right.end], holds: found.holds });
    });
    steps
}

/// An equation by the token ranges of its sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) left: Range<usize>,
    pub(super) right: Range<usize>,
    pub(super) holds: bool,
}

/// A longer line is read in pieces; equations across two pieces aren't checked.
const MAX_PIECE_LEN: usize = 1 << 15;
/// How many tokens around an equation are searched for words.
const WINDOW: usize = 40;

/// Calls `each` with the equations of a text that can be checked, line by line.
pub(super) fn visit(text: &str, mut each: impl FnMut(Found)) {
    let bytes = text.as_bytes();
    let mut tokenizer = Tokenizer::default();
    let mut at = 0;
    while let Some(sign) = next_sign(bytes, at) {
        let start = memchr::memrchr(b'\n', &bytes[at..sign]).map_or(at, |newline| at + newline + 1);
        let end = memchr::memchr(b'\n', &bytes[sign..]).map_or(bytes.len(), |newline| sign + newline);
        let mut from = start;
        while from < end {
            let to = piece_end(text, from, end);
            read_piece(text, from..to, from == start, to == end, &mut tokenizer, &mut each);
            from = to;
        }
        at = end;
    }
}

/// The next sign that may relate two sides: `=`, `≈` and similar signs, `\approx`.
fn next_sign(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let found = at + memchr::memchr3(b'=', 0xE2, b'\\', &bytes[at..])?;
        let rest = &bytes[found..];
        let is_sign = match rest[0] {
            b'=' => true,
            b'\\' => rest.starts_with(b"\\approx") || rest.starts_with(b"\\simeq"),
            _ => matches!(rest, [_, 0x89, 0x83 | 0x85 | 0x88, ..]),
        };
        if is_sign {
            return Some(found);
        }
        at = found + 1;
    }
}

/// The end of a piece of a line that starts at `from`: the end of the line, or white space.
fn piece_end(text: &str, from: usize, end: usize) -> usize {
    if end - from <= MAX_PIECE_LEN {
        return end;
    }
    let bytes = text.as_bytes();
    let limit = from + MAX_PIECE_LEN;
    let space = memchr::memrchr(b' ', &bytes[from + 1..limit]).map(|space| from + 1 + space);
    space.unwrap_or_else(|| text.floor_char_boundary(limit))
}

fn read_piece(
    text: &str,
    piece: Range<usize>,
    starts: bool,
    ends: bool,
    tokenizer: &mut Tokenizer,
    each: &mut impl FnMut(Found),
) {
    tokenizer.read(text, piece.start, piece.end, starts, ends);
    let annotations = std::mem::take(&mut tokenizer.annotations);
    if annotations.is_empty() {
        Line { text, tokens: &tokenizer.tokens }.check(each);
        return;
    }
    let mut found = Vec::new();
    Line { text, tokens: &tokenizer.tokens }.check(&mut |equation| found.push(equation));
    let outer = found.len();
    for (start, end) in annotations {
        tokenizer.read(text, start, end, true, true);
        let mut inner = None;
        Line { text, tokens: &tokenizer.tokens }.check(&mut |equation: Found| inner = Some(equation));
        let Some(inner) = inner else { continue };
        // `48/2 = <<48/2=24>>24` is one step, true if both are.
        let around = |outer: &&mut Found| outer.left.start < start && end <= outer.right.end;
        match found[..outer].iter_mut().find(around) {
            Some(outer) => outer.holds &= inner.holds,
            None => found.push(inner),
        }
    }
    found.sort_by_key(|equation| equation.left.start);
    found.into_iter().for_each(each);
}

/// A line, or a piece of one.
struct Line<'a> {
    text: &'a str,
    tokens: &'a [Token],
}

impl Line<'_> {
    fn check(&self, each: &mut impl FnMut(Found)) {
        // Where the right side of the equation before ends, if it was checked, and if it continues with its result, so that
        // it isn't a left side: `3 x 4 = 12 / 5 x 4 = 20`.
        let (mut chained, mut runs_on) = (None, None);
        for (at, token) in self.tokens.iter().enumerate() {
            if !token.kind.is_relation() {
                continue;
            }
            let is_chained = chained.take() == Some(at);
            let is_doubtful = runs_on.take() == Some(at);
            let Some(left) = self.left(at) else { continue };
            let Some(right) = self.right(at) else { continue };
            let Some((verdict, right)) = self.verdict_with_remark(at, &left, right, is_chained) else {
                continue;
            };
            runs_on = (verdict == Verdict::RunsOn).then_some(right.end);
            let is_clear = verdict == Verdict::Holds || (verdict == Verdict::Fails && !is_doubtful);
            if !is_clear || self.is_hedged(left.start, right.end) {
                continue;
            }
            chained = Some(right.end);
            let skip = usize::from(left.bullet);
            let (first, last) = (self.tokens[left.start + skip], self.tokens[right.end - 1]);
            each(Found {
                left: first.start as usize..self.tokens[at].start as usize,
                right: self.tokens[right.start].start as usize..last.end as usize,
                holds: verdict == Verdict::Holds,
            });
        }
    }

    fn kind(&self, at: usize) -> Option<Kind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    fn slice(&self, at: usize) -> &str {
        self.text_of(&self.tokens[at])
    }

    fn text_of(&self, token: &Token) -> &str {
        &self.text[token.start as usize..token.end as usize]
    }

    fn word(&self, at: usize) -> Option<Word> {
        (self.kind(at)? == Kind::Word).then(|| Word::new(self.slice(at)))
    }
}
