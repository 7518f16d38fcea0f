//! LaTeX: commands, and the braces that belong to them.

use super::{Kind, Scanner};

/// Maximum depth of braces.
const MAX_DEPTH: usize = 64;

/// The owner of an open brace.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Brace {
    /// A command whose braces only group, such as `\text`.
    Transparent,
    /// An exponent.
    Group,
    Numerator,
    Denominator,
    /// The argument or index of an unsupported command: `\sqrt{16}`, `\binom{5}{2}`, `\log_{2}`.
    Unknown,
    Other,
}

impl Scanner<'_, '_> {
    /// Opens a brace; one after `^` holds an exponent.
    pub(super) fn open_brace(&mut self, kind: Brace) {
        let kind = match self.last() {
            Some(Kind::Power) if kind == Brace::Other => Brace::Group,
            Some(Kind::Unknown) if kind == Brace::Other => Brace::Unknown,
            _ => kind,
        };
        if self.out.braces.len() >= MAX_DEPTH {
            self.take(1, Kind::Unknown);
            return;
        }
        self.out.braces.push(kind);
        match kind {
            Brace::Transparent => self.at += 1,
            Brace::Other => self.take(1, Kind::Stop),
            Brace::Unknown => self.take(1, Kind::Unknown),
            _ => self.take(1, Kind::Open),
        }
    }

    /// Closes the innermost brace, and opens the denominator after a numerator.
    pub(super) fn close_brace(&mut self) {
        match self.out.braces.pop() {
            Some(Brace::Transparent) => self.at += 1,
            Some(Brace::Group) => self.take(1, Kind::Close),
            Some(Brace::Numerator) => {
                self.take(1, Kind::Close);
                let spaces = self.run_length(0, b' ');
                if self.peek(spaces) == b'{' {
                    let start = self.at;
                    self.at += spaces;
                    self.push(Kind::Divide, start);
                    self.open_brace(Brace::Denominator);
                } else {
                    self.push(Kind::Unknown, self.at);
                }
            }
            Some(Brace::Denominator) => {
                self.take(1, Kind::Close);
                self.push(Kind::Close, self.at);
            }
            Some(Brace::Unknown) => self.take(1, Kind::Unknown),
            Some(Brace::Other) | None => self.take(1, Kind::Stop),
        }
    }

    /// A LaTeX command.
    pub(super) fn read_command(&mut self) {
        let letters =
            self.bytes[self.at + 1..self.to].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let after = 1 + letters;
        if letters == 0 {
            match self.peek(1) {
                b'%' => {
                    self.at += 1;
                    self.read_percent();
                }
                b'$' => self.take(2, Kind::Currency),
                b'(' | b')' | b'[' | b']' | b',' | b';' | b'!' | b':' | b' ' => self.skip(2),
                b'*' => self.take(2, Kind::Times),
                b'\\' => self.take(2, Kind::Stop),
                _ => self.take(1, Kind::Unknown),
            }
            return;
        }
        let braced = self.peek(after) == b'{';
        match &self.bytes[self.at + 1..self.at + after] {
            b"times" | b"cdot" | b"ast" => self.take(after, Kind::Times),
            b"div" => self.take(after, Kind::Divide),
            b"approx" | b"simeq" => self.take(after, Kind::About),
            b"frac" | b"dfrac" | b"tfrac" if braced => {
                self.take(after, Kind::OpenFraction);
                self.open_brace(Brace::Numerator);
            }
            b"text" | b"textbf" | b"mathrm" | b"mathbf" | b"boxed" | b"fbox" | b"underline" | b"textit"
                if braced =>
            {
                self.at += after;
                self.space_before = true;
                self.open_brace(Brace::Transparent);
            }
            // The bracket of `3 \left(` is a factor, not a remark.
            b"left" => {
                self.at += after + self.run_length(after, b' ');
                self.space_before = false;
            }
            b"right" | b"displaystyle" => self.skip(after),
            b"quad" | b"qquad" => self.take(after, Kind::Stop),
            b"to" | b"rightarrow" | b"Rightarrow" | b"implies" | b"therefore" | b"Longrightarrow" => {
                self.take(after, Kind::Stop);
            }
            _ => self.take(after, Kind::Unknown),
        }
    }
}
