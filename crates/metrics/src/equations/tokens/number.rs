//! Numbers, and the periods that belong to them.

use super::{Kind, Scanner};

impl Scanner<'_, '_> {
    /// Digits with grouping commas, decimals and an exponent; unknown if they are part of something else.
    #[inline]
    pub(super) fn read_number(&mut self) {
        let start = self.at;
        let starts_with_zero = self.bytes[start] == b'0';
        let first_group = self.skip_digits();
        // `0x1F`, `0b101`
        if starts_with_zero && matches!(self.peek(0), b'x' | b'X' | b'b' | b'o') {
            while self.peek(0).is_ascii_alphanumeric() || self.peek(0) == b'_' {
                self.at += 1;
            }
            self.push(Kind::Unknown, start);
            return;
        }
        let has_leading_zero = starts_with_zero && first_group > 1;
        let mut is_well_grouped = true;
        let mut groups = 0;
        while let Some(length) = self.group_separator() {
            self.at += length;
            groups += 1;
            is_well_grouped &= self.skip_digits() == 3 && first_group <= 3 && !starts_with_zero;
        }
        let has_one_point = self.skip_decimals();
        if groups == 0 {
            self.skip_exponent();
        }
        let is_joined_to_next = matches!(self.peek(0), b'_' | b'\'' | b'@');
        let previous = start.checked_sub(1).map(|at| self.bytes[at]);
        let is_joined_to_previous =
            matches!(previous, Some(b'_' | b'#' | b'@' | b'~')) && self.last() != Some(Kind::About);
        let is_number = !has_leading_zero
            && is_well_grouped
            && has_one_point
            && !is_joined_to_next
            && !is_joined_to_previous;
        self.push(if is_number { Kind::Number } else { Kind::Unknown }, start);
        // The letter of `3x4`, but not of `3x`.
        if matches!(self.peek(0), b'x' | b'X') && self.peek(1).is_ascii_digit() {
            self.take(1, Kind::LetterTimes);
        }
    }

    /// Skips digits and returns their number.
    fn skip_digits(&mut self) -> usize {
        let from = self.at;
        while self.peek(0).is_ascii_digit() {
            self.at += 1;
        }
        self.at - from
    }

    /// The length of a separator of digit groups: the comma of `1,000`, and LaTeX's `1{,}000`, `1,\!000`, `1\,000`.
    fn group_separator(&self) -> Option<usize> {
        let length = match (self.peek(0), self.peek(1), self.peek(2)) {
            (b',', b'\\', b'!') | (b'{', b',', b'}') => 3,
            (b'\\', b',', _) => 2,
            (b',', ..) => 1,
            _ => return None,
        };
        self.peek(length).is_ascii_digit().then_some(length)
    }

    /// Skips decimals, if there are any. False for a version, an address, a date, or a list without spaces, whose other
    /// parts are skipped as well.
    fn skip_decimals(&mut self) -> bool {
        if self.peek(0) != b'.' || !self.peek(1).is_ascii_digit() {
            return true;
        }
        self.at += 1;
        self.skip_digits();
        let mut has_one_point = true;
        while matches!(self.peek(0), b'.' | b',') && self.peek(1).is_ascii_digit() {
            has_one_point = false;
            self.at += 1;
            self.skip_digits();
        }
        has_one_point
    }

    /// Skips `e5`, `E-3`.
    fn skip_exponent(&mut self) {
        if !matches!(self.peek(0), b'e' | b'E') {
            return;
        }
        let sign = usize::from(matches!(self.peek(1), b'+' | b'-'));
        if self.peek(1 + sign).is_ascii_digit() {
            self.at += 1 + sign;
            self.skip_digits();
        }
    }

    /// A number without a leading zero, an ellipsis, or the end of a sentence.
    pub(super) fn read_point(&mut self) {
        if self.peek(1).is_ascii_digit() && !self.previous_byte().is_ascii_alphanumeric() {
            let start = self.at;
            self.at += 1;
            self.skip_digits();
            self.push(Kind::Number, start);
        } else if self.peek(1) == b'.' {
            let dots = self.run_length(0, b'.');
            // Omitted decimals don't matter; omitted terms of a sum do.
            if self.has_more_decimals() && self.peek(dots) != b'=' {
                self.skip(dots);
            } else {
                self.take(dots, Kind::Unknown);
            }
        } else if self.last().is_some_and(Kind::is_operator) {
            // `.8 + . 84`
            self.take(1, Kind::Unknown);
        } else if self.peek(1).is_ascii_alphanumeric() {
            self.take(1, Kind::Stop);
        } else {
            self.take(1, Kind::End);
        }
    }

    /// Whether the token directly before is a number with decimals.
    pub(super) fn has_more_decimals(&self) -> bool {
        let number = self.out.tokens.last().filter(|token| token.kind == Kind::Number && !self.space_before);
        number.is_some_and(|token| self.bytes[token.start as usize..token.end as usize].contains(&b'.'))
    }
}
