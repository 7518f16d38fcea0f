//! Words, including the signs `x` and `percent`.

use super::{Kind, Scanner};

impl Scanner<'_, '_> {
    /// A word, or a letter or word that is a sign.
    pub(super) fn read_word(&mut self) {
        let start = self.at;
        let mut letters_only = true;
        while self.at < self.to {
            match self.bytes[self.at] {
                b'a'..=b'z' | b'A'..=b'Z' => self.at += 1,
                b'0'..=b'9' | b'_' => {
                    letters_only = false;
                    self.at += 1;
                }
                b'\'' if self.peek(1).is_ascii_alphabetic() => self.at += 1,
                0xE2 if self.peek(1) == 0x80
                    && self.peek(2) == 0x99
                    && self.peek(3).is_ascii_alphabetic() =>
                {
                    self.at += 3;
                }
                0x80.. => match self.text[self.at..].chars().next() {
                    Some(c) if c.is_alphabetic() => self.at += c.len_utf8(),
                    _ => break,
                },
                _ => break,
            }
        }
        let word = &self.text[start..self.at];
        let kind = match word {
            // A sign if it is a single letter between two operands.
            "x" | "X" if self.space_before && self.follows_operand() && self.precedes_operand() => {
                Kind::LetterTimes
            }
            "percent" | "Percent" => Kind::Percent,
            _ if letters_only => Kind::Word,
            _ => Kind::Unknown,
        };
        self.push(kind, start);
    }

    /// Whether white space and then an operand come next.
    fn precedes_operand(&self) -> bool {
        let spaces = self.run_length(0, b' ');
        spaces > 0 && matches!(self.peek(spaces), b'0'..=b'9' | b'(' | b'$' | b'.')
    }
}
