//! Operators, relations, punctuation and characters outside of ASCII.

use super::{Kind, Scanner};

impl Scanner<'_, '_> {
    /// An operator, unless it assigns.
    pub(super) fn read_operator(&mut self, kind: Kind) {
        if self.peek(1) == b'=' { self.take(2, Kind::Unknown) } else { self.take(1, kind) }
    }

    pub(super) fn read_minus(&mut self) {
        match self.peek(1) {
            b'>' => self.take(2, Kind::Stop),
            b'-' => {
                let dashes = self.run_length(0, b'-');
                let kind = if self.follows_operand() { Kind::Unknown } else { Kind::Stop };
                self.take(dashes, kind);
            }
            _ => self.read_operator(Kind::Minus),
        }
    }

    /// A product, a power, or emphasis, which is dropped.
    pub(super) fn read_stars(&mut self) {
        let stars = self.run_length(0, b'*');
        let operand_before = self.follows_operand();
        let loose = self.space_before && matches!(self.peek(stars), b' ' | b'\t');
        let tight =
            !self.space_before && matches!(self.peek(stars), b'0'..=b'9' | b'(' | b'-' | b'.' | b'$' | b'\\');
        match stars {
            1 if self.peek(1) == b'=' && self.peek(2) != b' ' => self.take(2, Kind::Unknown),
            1 if operand_before && self.peek(1) != b'\n' || loose => self.take(1, Kind::Times),
            // Between a unit and a number it multiplies as well.
            1 if self.last() == Some(Kind::Word) && tight => self.take(1, Kind::Times),
            2 if operand_before && !self.out.in_bold && (loose || tight) => self.take(2, Kind::Power),
            2 | 3 => {
                self.out.in_bold = !self.out.in_bold;
                self.skip(stars);
            }
            1 => self.skip(1),
            _ => self.take(stars, Kind::Stop),
        }
    }

    pub(super) fn read_equals(&mut self) {
        let signs = self.run_length(0, b'=');
        match (signs, self.peek(signs)) {
            (1, b'>') => self.take(2, Kind::Stop),
            (1, b'~') => self.take(2, Kind::About),
            (1, b'?') => self.take(2, Kind::Unknown),
            (1, _) => self.take(1, Kind::Equal),
            _ => self.take(signs, Kind::Unknown),
        }
    }

    /// `%` before an operand is a remainder.
    pub(super) fn read_percent(&mut self) {
        let spaces = self.run_length(1, b' ');
        let modulo = matches!(self.peek(1 + spaces), b'0'..=b'9' | b'(');
        self.take(1, if modulo { Kind::Unknown } else { Kind::Percent });
    }

    pub(super) fn read_tilde(&mut self) {
        match (self.peek(1), self.last()) {
            (b'=', _) => self.take(2, Kind::About),
            (b'0'..=b'9' | b'$' | b' ', Some(Kind::Equal | Kind::About)) => self.take(1, Kind::About),
            _ => self.take(1, Kind::Unknown),
        }
    }

    /// A ratio, a time of day, a division; or the end of an introduction.
    pub(super) fn read_colon(&mut self) {
        let after_number = self.last() == Some(Kind::Number);
        let operand_next = self.peek(1).is_ascii_digit();
        let foreign = (after_number && (operand_next || self.space_before)) || self.peek(1) == b'=';
        self.take(1 + usize::from(self.peek(1) == b'='), if foreign { Kind::Unknown } else { Kind::Stop });
    }

    /// A calculator annotation, a tag, or a comparison.
    pub(super) fn read_angle_bracket(&mut self) {
        if self.peek(1) == b'<' {
            let window = &self.bytes[self.at..self.to.min(self.at + 300)];
            if let Some(length) = memchr::memmem::find(window, b">>") {
                self.out.annotations.push((self.at + 2, self.at + length));
                self.at += length + 2;
                return;
            }
        }
        let window = &self.bytes[self.at..self.to.min(self.at + 32)];
        let name = window.get(1).copied().unwrap_or(b' ');
        match memchr::memchr(b'>', window) {
            Some(length) if name == b'/' || name.is_ascii_alphabetic() => {
                let tag = &window[1..length];
                let shifts = tag.ends_with(b"sup") || tag.ends_with(b"sub");
                self.take(length + 1, if shifts { Kind::Unknown } else { Kind::Stop });
            }
            _ => self.take(1, Kind::Unknown),
        }
    }

    /// Whether a number precedes it, or a number and its unit.
    fn follows_quantity(&self) -> bool {
        const MAX_UNIT_WORDS: usize = 3;
        let before = self.out.tokens.iter().rev().take(MAX_UNIT_WORDS + 1);
        before.map(|token| token.kind).find(|kind| *kind != Kind::Word).is_some_and(Kind::ends_operand)
    }

    /// A factorial, or the end of a sentence.
    #[inline(never)]
    pub(super) fn read_exclamation(&mut self) {
        let spaces = self.run_length(1, b' ');
        let next = self.peek(1 + spaces);
        let ends_sentence = next == b'\n' || (spaces > 0 && next.is_ascii_alphabetic());
        let is_factorial = !self.space_before && self.follows_operand() && !ends_sentence;
        self.take(1, if is_factorial { Kind::Unknown } else { Kind::Exclamation });
    }

    /// A power, or the sign of degrees, which is dropped.
    #[inline(never)]
    pub(super) fn read_power(&mut self) {
        let is_degrees = |degrees: &&str| self.rest().starts_with(degrees);
        match ["^\\circ", "^{\\circ}"].iter().find(|degrees| is_degrees(degrees)) {
            Some(degrees) => self.skip(degrees.len()),
            None => self.take(1, Kind::Power),
        }
    }

    /// Characters outside of ASCII.
    #[inline(never)]
    pub(super) fn read_non_ascii(&mut self) {
        let c = self.rest().chars().next().expect("a character starts here");
        let length = c.len_utf8();
        match c {
            '\u{a0}' | '\u{2009}' | '\u{202f}' | '\u{200b}' | '\u{feff}' | '\u{3000}' | '°' => {
                self.skip(length);
            }
            '×' | '·' | '⋅' | '∙' | '✕' | '✖' => {
                // A mark after a result isn't a product.
                let operand_before =
                    self.last().is_some_and(|last| last.ends_operand() || last == Kind::Word);
                self.take(length, if operand_before { Kind::Times } else { Kind::Unknown });
            }
            '÷' | '∕' | '⁄' => self.take(length, Kind::Divide),
            '−' => self.take(length, Kind::Minus),
            '²' => self.take(length, Kind::Raised(2)),
            '³' => self.take(length, Kind::Raised(3)),
            '≈' | '≃' | '≅' => self.take(length, Kind::About),
            '€' | '£' | '¥' | '₹' => self.take(length, Kind::Currency),
            '“' | '”' | '„' | '«' | '»' => self.take(length, Kind::Quote),
            // May be a minus: `120 minutes – 30 minutes`.
            '–' | '—' => {
                let kind = if self.follows_quantity() { Kind::Unknown } else { Kind::Stop };
                self.take(length, kind);
            }
            '→' | '⇒' | '⟹' | '∴' | '•' | '‘' | '’' | '✓' | '✔' | '✅' | '，' | '、' | '；' | '：' | '│' =>
            {
                self.take(length, Kind::Stop);
            }
            '…' if self.has_more_decimals() => self.skip(length),
            '。' => self.take(length, Kind::End),
            '？' => self.take(length, Kind::Question),
            _ if c.is_alphabetic() => self.read_word(),
            _ => self.take(length, Kind::Unknown),
        }
    }
}
