//! Numbers as people write them, compared digit by digit and so exactly, whatever their size.

/// A decimal number: `digits` x 10^`exponent`. Without zeros at either end of `digits`, so that equal numbers are
/// equal structs; zero has no digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

impl Decimal {
    /// Reads a text that is a number and nothing else: `1,000`, `+5`, `-0.50`, `1e3`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (negative, unsigned) = match text.strip_prefix(['-', '\u{2212}']) {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let length = number_length(unsigned)?;
        (length == unsigned.len()).then(|| Self::read(negative, unsigned))
    }

    /// Reads a token that [`number_length`] has measured.
    pub(super) fn read(negative: bool, token: &str) -> Self {
        let (mantissa, exponent) = token.split_once(['e', 'E']).unwrap_or((token, "0"));
        // No answer has a larger exponent; the limit keeps the sums below from overflowing.
        let exponent: i64 = exponent.parse().unwrap_or(i64::MAX).clamp(-1 << 40, 1 << 40);
        let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all: String = integer.chars().chain(fraction.chars()).filter(char::is_ascii_digit).collect();
        let significant = all.trim_end_matches('0');
        let [zeros, decimals] = [all.len() - significant.len(), fraction.len()]
            .map(|count| i64::try_from(count).expect("no text is that long"));
        let exponent = exponent + zeros - decimals;
        let digits = significant.trim_start_matches('0').to_owned();
        if digits.is_empty() {
            Self { negative: false, digits, exponent: 0 }
        } else {
            Self { negative, digits, exponent }
        }
    }

    /// The number without separators, sign of zero or idle digits. Equal numbers are equal texts; one that would need
    /// more than forty zeros is written with an exponent.
    pub(crate) fn plain(&self) -> String {
        const MAX_ZEROS: i64 = 40;
        let sign = if self.negative { "-" } else { "" };
        let digits = if self.digits.is_empty() { "0" } else { &self.digits };
        let length = i64::try_from(digits.len()).expect("no text is that long");
        let before_point = length.saturating_add(self.exponent);
        let zeros = |count: i64| "0".repeat(usize::try_from(count).expect("between none and forty"));
        match self.exponent {
            0..=MAX_ZEROS => format!("{sign}{digits}{}", zeros(self.exponent)),
            _ if self.exponent < 0 && before_point > 0 => {
                let (integer, fraction) = digits.split_at(usize::try_from(before_point).expect("above zero"));
                format!("{sign}{integer}.{fraction}")
            }
            _ if self.exponent < 0 && before_point >= -MAX_ZEROS => {
                format!("{sign}0.{}{digits}", zeros(-before_point))
            }
            exponent => format!("{sign}{digits}e{exponent}"),
        }
    }

    pub(super) fn negated(self) -> Self {
        Self { negative: !self.negative && !self.digits.is_empty(), ..self }
    }
}

impl From<u64> for Decimal {
    fn from(integer: u64) -> Self {
        Self::read(false, &integer.to_string())
    }
}

/// How many bytes of the text's start are one unsigned number. Commas and underscores count as separators only
/// between groups of three.
pub(crate) fn number_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut end = digits(0);
    if (1..=3).contains(&end) && matches!(bytes.get(end), Some(b',' | b'_')) {
        let separator = bytes[end];
        let mut grouped = end;
        while bytes.get(grouped) == Some(&separator) && digits(grouped + 1) == 3 {
            grouped += 4;
        }
        // `1,234,56` is not a number with separators but a list, or a typo.
        if bytes.get(grouped) != Some(&separator) || digits(grouped + 1) == 0 {
            end = grouped;
        }
    }
    let fraction = if bytes.get(end) == Some(&b'.') { digits(end + 1) } else { 0 };
    if end == 0 && fraction == 0 {
        return None;
    }
    if fraction > 0 {
        end += 1 + fraction;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = if end + 1 + sign <= bytes.len() { digits(end + 1 + sign) } else { 0 };
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_number_notations() {
        let number = Decimal::parse("1000");
        for text in ["1,000", "1000.0", "1e3", "+1000", "1.0E+3", "01000", "1_000", " 1000 ", "1000.000"] {
            assert_eq!(Decimal::parse(text), number, "{text}");
        }
        for text in
            ["1009", "100", "10000", "-1000", "1000.5", "1,00", "1,0000", "1.000", "1000a", "", "1 000", "-"]
        {
            assert_ne!(Decimal::parse(text), number, "{text}");
        }
        assert_eq!(Decimal::parse("-0"), Decimal::parse("0.0"));
        assert_eq!(Decimal::parse("−7"), Decimal::parse("-7"));
        assert_ne!(Decimal::parse("1e99999999999999999999"), Decimal::parse("1"));
        assert_ne!(Decimal::parse("100000000000000000000000"), Decimal::parse("100000000000000000000001"));
    }
}
