//! A line of reasoning taken apart: numbers, signs, words, and what stands between them.
//!
//! Decoration is dropped on the way: Markdown's emphasis, LaTeX's fences and spacing, calculator annotations (which are
//! handed back to be read by themselves). Whatever is not understood becomes [`Kind::Unknown`], next to which nothing
//! is checked.

/// What a piece of a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Number,
    Word,
    Plus,
    Minus,
    Times,
    /// A letter `x` between operands, which is a product unless it is a variable.
    LetterTimes,
    Divide,
    Power,
    /// `²` and `³`.
    Raised(u8),
    Percent,
    Currency,
    Open,
    /// `[`, which holds an expression or is no arithmetic.
    OpenSquare,
    /// The start of a `\frac`, around both of its halves.
    OpenFraction,
    Close,
    Equal,
    About,
    /// A comma, dash, arrow or the like: what is left of it has nothing to do with what is right of it.
    Stop,
    /// The end of a sentence.
    End,
    Question,
    Exclamation,
    Quote,
    Unknown,
}

/// A piece of a line, by its place in the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// Whether white space or decoration stands before it.
    pub(super) spaced: bool,
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Kind {
    pub(super) fn is_operator(self) -> bool {
        matches!(
            self,
            Self::Plus | Self::Minus | Self::Times | Self::LetterTimes | Self::Divide | Self::Power
        )
    }

    pub(super) fn is_relation(self) -> bool {
        matches!(self, Self::Equal | Self::About)
    }

    /// Whether an operand may end with it.
    pub(super) fn ends_operand(self) -> bool {
        matches!(self, Self::Number | Self::Close | Self::Percent | Self::Raised(_))
    }

    pub(super) fn opens(self) -> bool {
        matches!(self, Self::Open | Self::OpenSquare | Self::OpenFraction)
    }
}

/// What an open brace belongs to.
#[derive(Clone, Copy, PartialEq)]
enum Brace {
    /// A command whose braces mean nothing, such as `\text`.
    Transparent,
    /// An exponent.
    Group,
    Numerator,
    Denominator,
    Other,
}

/// Takes a text apart, a line at a time, into buffers that are used again.
#[derive(Default)]
pub(super) struct Tokenizer {
    pub(super) tokens: Vec<Token>,
    /// Where `<<…>>` stand.
    pub(super) annotations: Vec<(usize, usize)>,
    braces: Vec<Brace>,
    bold: bool,
}

/// Deeper braces are not followed.
const MAX_DEPTH: usize = 64;

impl Tokenizer {
    /// Takes `text[from..to]` apart; `starts` and `ends` say whether that is where its line starts and ends. Where a
    /// line was cut, nothing is known.
    pub(super) fn read(&mut self, text: &str, from: usize, to: usize, starts: bool, ends: bool) {
        self.tokens.clear();
        self.annotations.clear();
        self.braces.clear();
        self.bold = false;
        let mut scan = Scan { text, bytes: text.as_bytes(), at: from, to, spaced: true, out: self };
        if starts {
            scan.skip_marker();
        } else {
            scan.push(Kind::Unknown, from);
        }
        while scan.at < to {
            scan.step();
        }
        if !ends {
            scan.push(Kind::Unknown, to);
        }
    }
}

struct Scan<'t, 'o> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    to: usize,
    spaced: bool,
    out: &'o mut Tokenizer,
}

impl Scan<'_, '_> {
    fn peek(&self, ahead: usize) -> u8 {
        if self.at + ahead < self.to { self.bytes[self.at + ahead] } else { b'\n' }
    }

    fn before(&self) -> u8 {
        if self.at == 0 { b'\n' } else { self.bytes[self.at - 1] }
    }

    fn rest(&self) -> &str {
        &self.text[self.at..self.to]
    }

    /// Records what stands from `start` up to here.
    fn push(&mut self, kind: Kind, start: usize) {
        self.out.tokens.push(Token { kind, spaced: self.spaced, start: start as u32, end: self.at as u32 });
        self.spaced = false;
    }

    fn take(&mut self, length: usize, kind: Kind) {
        let start = self.at;
        self.at += length;
        self.push(kind, start);
    }

    fn skip(&mut self, length: usize) {
        self.at += length;
        self.spaced = true;
    }

    fn last(&self) -> Option<Kind> {
        self.out.tokens.last().map(|token| token.kind)
    }

    fn after_operand(&self) -> bool {
        self.last().is_some_and(Kind::ends_operand)
    }

    /// Passes over what stands before the text of a line: quotation, heading, bullet, number in parentheses.
    fn skip_marker(&mut self) {
        while matches!(self.peek(0), b' ' | b'\t' | b'>' | b'#') {
            self.at += 1;
        }
        if matches!(self.peek(0), b'*' | b'+') && matches!(self.peek(1), b' ' | b'\t') {
            self.at += 2;
        }
        let open = usize::from(self.peek(0) == b'(');
        let digits = (open..open + 3).take_while(|&ahead| self.peek(ahead).is_ascii_alphanumeric()).count();
        let letters = (open..open + digits).any(|ahead| self.peek(ahead).is_ascii_alphabetic());
        if digits > 0
            && (!letters || digits == 1)
            && self.peek(open + digits) == b')'
            && self.peek(open + digits + 1) == b' '
        {
            self.at += open + digits + 2;
        }
    }

    fn step(&mut self) {
        match self.bytes[self.at] {
            b' ' | b'\t' | b'\r' => self.skip(1),
            b'0'..=b'9' => self.number(),
            b'a'..=b'z' | b'A'..=b'Z' => self.word(),
            b'.' => self.point(),
            b'+' => self.sign(Kind::Plus),
            b'-' => self.minus(),
            b'*' => self.star(),
            b'/' if matches!(self.peek(1), b'/' | b'=') => self.take(2, Kind::Unknown),
            b'/' => self.take(1, Kind::Divide),
            b'^' => self.take(1, Kind::Power),
            b'=' => self.equal(),
            b'(' => self.take(1, Kind::Open),
            b'[' => self.take(1, Kind::OpenSquare),
            b')' | b']' => self.take(1, Kind::Close),
            b'{' => self.brace(Brace::Other),
            b'}' => self.close_brace(),
            b'%' => self.percent(),
            b'$' if self.peek(1) == b'$' => self.skip(2),
            b'$' => self.take(1, Kind::Currency),
            b'\\' => self.command(),
            b'<' => self.less(),
            b'~' => self.tilde(),
            b'?' => self.take(1, Kind::Question),
            b'!' if self.peek(1) == b'=' => self.take(2, Kind::Unknown),
            b'!' => self.take(1, Kind::Exclamation),
            b'"' => self.take(1, Kind::Quote),
            b':' => self.colon(),
            b'\'' if self.before().is_ascii_digit() => self.take(1, Kind::Unknown),
            b';' => self.take(1, Kind::End),
            b',' | b'\'' | b'`' | b'#' | b'|' => self.take(1, Kind::Stop),
            0x80.. => self.wide(),
            _ => self.take(1, Kind::Unknown),
        }
    }

    fn number(&mut self) {
        let start = self.at;
        let digits = |scan: &mut Self| {
            let from = scan.at;
            while scan.peek(0).is_ascii_digit() {
                scan.at += 1;
            }
            scan.at - from
        };
        let first = digits(self);
        // `0x1F`, `0b101`
        if self.bytes[start] == b'0' && matches!(self.peek(0), b'x' | b'X' | b'b' | b'o') {
            while self.peek(0).is_ascii_alphanumeric() || self.peek(0) == b'_' {
                self.at += 1;
            }
            self.push(Kind::Unknown, start);
            return;
        }
        let mut good = first == 1 || self.bytes[start] != b'0';
        let mut groups = 0;
        loop {
            // `1,000`, and LaTeX's `1{,}000`.
            let comma = match self.peek(0) {
                b',' if self.peek(1).is_ascii_digit() => 1,
                b'{' if self.peek(1) == b',' && self.peek(2) == b'}' && self.peek(3).is_ascii_digit() => 3,
                _ => break,
            };
            self.at += comma;
            groups += 1;
            good &= digits(self) == 3 && first <= 3 && self.bytes[start] != b'0';
        }
        if self.peek(0) == b'.' && self.peek(1).is_ascii_digit() {
            self.at += 1;
            digits(self);
            // A version, an address, a date, or a list without spaces.
            while matches!(self.peek(0), b'.' | b',') && self.peek(1).is_ascii_digit() {
                good = false;
                self.at += 1;
                digits(self);
            }
        }
        if matches!(self.peek(0), b'e' | b'E') && groups == 0 {
            let sign = usize::from(matches!(self.peek(1), b'+' | b'-'));
            if self.peek(1 + sign).is_ascii_digit() {
                self.at += 1 + sign;
                digits(self);
            }
        }
        if matches!(self.peek(0), b'_' | b'\'' | b'@') {
            good = false;
        }
        good &= !matches!(self.bytes.get(start.wrapping_sub(1)), Some(b'_' | b'#' | b'@' | b'~'))
            || start == 0
            || self.last() == Some(Kind::About);
        self.push(if good { Kind::Number } else { Kind::Unknown }, start);
        // The letter of `3x4`, but not of `3x`.
        if matches!(self.peek(0), b'x' | b'X') && self.peek(1).is_ascii_digit() {
            self.take(1, Kind::LetterTimes);
        }
    }

    fn word(&mut self) {
        let start = self.at;
        let mut plain = true;
        while self.at < self.to {
            match self.bytes[self.at] {
                b'a'..=b'z' | b'A'..=b'Z' => self.at += 1,
                b'0'..=b'9' | b'_' => {
                    plain = false;
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
            // A sign when it stands alone after an operand and before one.
            "x" | "X" if self.spaced && self.after_operand() && self.leads_operand() => Kind::LetterTimes,
            "percent" | "Percent" => Kind::Percent,
            _ if plain => Kind::Word,
            _ => Kind::Unknown,
        };
        self.push(kind, start);
    }

    /// Whether white space and then an operand come next.
    fn leads_operand(&self) -> bool {
        let spaces = self.bytes[self.at..self.to].iter().take_while(|&&byte| byte == b' ').count();
        spaces > 0 && matches!(self.peek(spaces), b'0'..=b'9' | b'(' | b'$' | b'.')
    }

    fn point(&mut self) {
        if self.peek(1).is_ascii_digit() && !self.before().is_ascii_alphanumeric() {
            let start = self.at;
            self.at += 1;
            while self.peek(0).is_ascii_digit() {
                self.at += 1;
            }
            self.push(Kind::Number, start);
        } else if self.peek(1) == b'.' {
            let dots = self.bytes[self.at..self.to].iter().take_while(|&&byte| byte == b'.').count();
            // Decimals that go on are cut off, which is fine; sums that go on are not there.
            if self.has_more_decimals() && self.peek(dots) != b'=' {
                self.skip(dots);
            } else {
                self.take(dots, Kind::Unknown);
            }
        } else if self.peek(1).is_ascii_alphanumeric() {
            self.take(1, Kind::Stop);
        } else {
            self.take(1, Kind::End);
        }
    }

    fn has_more_decimals(&self) -> bool {
        let number = self.out.tokens.last().filter(|token| token.kind == Kind::Number && !self.spaced);
        number.is_some_and(|token| self.bytes[token.start as usize..token.end as usize].contains(&b'.'))
    }

    /// An operator, unless it assigns.
    fn sign(&mut self, kind: Kind) {
        if self.peek(1) == b'=' { self.take(2, Kind::Unknown) } else { self.take(1, kind) }
    }

    fn minus(&mut self) {
        match self.peek(1) {
            b'>' => self.take(2, Kind::Stop),
            b'-' => {
                let dashes = self.bytes[self.at..self.to].iter().take_while(|&&byte| byte == b'-').count();
                let kind = if self.after_operand() { Kind::Unknown } else { Kind::Stop };
                self.take(dashes, kind);
            }
            _ => self.sign(Kind::Minus),
        }
    }

    /// A product, a power, or emphasis, which is dropped.
    fn star(&mut self) {
        let stars = self.bytes[self.at..self.to].iter().take_while(|&&byte| byte == b'*').count();
        let operand_before = self.after_operand();
        let loose = self.spaced && matches!(self.peek(stars), b' ' | b'\t');
        let tight =
            !self.spaced && matches!(self.peek(stars), b'0'..=b'9' | b'(' | b'-' | b'.' | b'$' | b'\\');
        match stars {
            1 if self.peek(1) == b'=' && self.peek(2) != b' ' => self.take(2, Kind::Unknown),
            1 if operand_before && self.peek(1) != b'\n' || loose => self.take(1, Kind::Times),
            // Between a unit and a number it multiplies as well.
            1 if self.last() == Some(Kind::Word) && tight => self.take(1, Kind::Times),
            2 if operand_before && !self.out.bold && (loose || tight) => self.take(2, Kind::Power),
            2 | 3 => {
                self.out.bold = !self.out.bold;
                self.skip(stars);
            }
            1 => self.skip(1),
            _ => self.take(stars, Kind::Stop),
        }
    }

    fn equal(&mut self) {
        let signs = self.bytes[self.at..self.to].iter().take_while(|&&byte| byte == b'=').count();
        match (signs, self.peek(signs)) {
            (1, b'>') => self.take(2, Kind::Stop),
            (1, b'~') => self.take(2, Kind::About),
            (1, b'?') => self.take(2, Kind::Unknown),
            (1, _) => self.take(1, Kind::Equal),
            _ => self.take(signs, Kind::Unknown),
        }
    }

    /// `%` before an operand is a remainder.
    fn percent(&mut self) {
        let spaces = self.bytes[self.at + 1..self.to].iter().take_while(|&&byte| byte == b' ').count();
        let modulo = matches!(self.peek(1 + spaces), b'0'..=b'9' | b'(');
        self.take(1, if modulo { Kind::Unknown } else { Kind::Percent });
    }

    fn tilde(&mut self) {
        match (self.peek(1), self.last()) {
            (b'=', _) => self.take(2, Kind::About),
            (b'0'..=b'9' | b'$' | b' ', Some(Kind::Equal | Kind::About)) => self.take(1, Kind::About),
            _ => self.take(1, Kind::Unknown),
        }
    }

    /// A ratio, a time of day, a division; or the end of an introduction.
    fn colon(&mut self) {
        let after_number = self.last() == Some(Kind::Number);
        let operand_next = self.peek(1).is_ascii_digit();
        let foreign = (after_number && (operand_next || self.spaced)) || self.peek(1) == b'=';
        self.take(1 + usize::from(self.peek(1) == b'='), if foreign { Kind::Unknown } else { Kind::Stop });
    }

    /// A calculator annotation, a tag, or a comparison.
    fn less(&mut self) {
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

    fn brace(&mut self, kind: Brace) {
        let kind = if self.last() == Some(Kind::Power) && kind == Brace::Other { Brace::Group } else { kind };
        if self.out.braces.len() >= MAX_DEPTH {
            self.take(1, Kind::Unknown);
            return;
        }
        self.out.braces.push(kind);
        match kind {
            Brace::Transparent => self.at += 1,
            Brace::Other => self.take(1, Kind::Stop),
            _ => self.take(1, Kind::Open),
        }
    }

    fn close_brace(&mut self) {
        match self.out.braces.pop() {
            Some(Brace::Transparent) => self.at += 1,
            Some(Brace::Group) => self.take(1, Kind::Close),
            Some(Brace::Numerator) => {
                self.take(1, Kind::Close);
                let spaces = self.bytes[self.at..self.to].iter().take_while(|&&byte| byte == b' ').count();
                if self.peek(spaces) == b'{' {
                    let start = self.at;
                    self.at += spaces;
                    self.push(Kind::Divide, start);
                    self.brace(Brace::Denominator);
                } else {
                    self.push(Kind::Unknown, self.at);
                }
            }
            Some(Brace::Denominator) => {
                self.take(1, Kind::Close);
                self.push(Kind::Close, self.at);
            }
            Some(Brace::Other) | None => self.take(1, Kind::Stop),
        }
    }

    /// A LaTeX command.
    fn command(&mut self) {
        let letters =
            self.bytes[self.at + 1..self.to].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let after = 1 + letters;
        if letters == 0 {
            match self.peek(1) {
                b'%' => {
                    self.at += 1;
                    self.percent();
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
                self.brace(Brace::Numerator);
            }
            b"text" | b"textbf" | b"mathrm" | b"mathbf" | b"boxed" | b"fbox" | b"underline" | b"textit"
                if braced =>
            {
                self.at += after;
                self.spaced = true;
                self.brace(Brace::Transparent);
            }
            b"left" | b"right" | b"quad" | b"qquad" | b"displaystyle" => self.skip(after),
            b"to" | b"rightarrow" | b"Rightarrow" | b"implies" | b"therefore" | b"Longrightarrow" => {
                self.take(after, Kind::Stop);
            }
            _ => self.take(after, Kind::Unknown),
        }
    }

    /// Everything beyond ASCII.
    fn wide(&mut self) {
        let c = self.rest().chars().next().expect("a character starts here");
        let length = c.len_utf8();
        match c {
            '\u{a0}' | '\u{2009}' | '\u{202f}' | '\u{200b}' | '\u{feff}' | '\u{3000}' | '°' => {
                self.skip(length);
            }
            '×' | '·' | '⋅' | '∙' | '✕' | '✖' => {
                // A mark behind a result is no product.
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
            '–' | '—' => {
                let kind = if self.after_operand() { Kind::Unknown } else { Kind::Stop };
                self.take(length, kind);
            }
            '→' | '⇒' | '⟹' | '∴' | '•' | '‘' | '’' | '✓' | '✔' | '✅' | '，' | '、' | '；' | '：' | '│' =>
            {
                self.take(length, Kind::Stop);
            }
            '…' if self.has_more_decimals() => self.skip(length),
            '。' => self.take(length, Kind::End),
            '？' => self.take(length, Kind::Question),
            _ if c.is_alphabetic() => self.word(),
            _ => self.take(length, Kind::Unknown),
        }
    }
}
