//! The tokens of a line of reasoning: numbers, signs, words and separators.
//!
//! Decoration is dropped on the way: Markdown's emphasis, LaTeX's fences and spacing, calculator annotations (which are
//! returned, to be read separately). Unknown notation becomes [`Kind::Unknown`], and nothing next to it is checked.

mod latex;
mod number;
mod signs;
mod word;

use latex::Brace;

/// The kind of a token.
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
    /// `[`, which holds an expression or isn't arithmetic.
    OpenSquare,
    /// The start of a `\frac`, around both of its halves.
    OpenFraction,
    Close,
    Equal,
    About,
    /// A comma, dash or arrow: a separator of independent parts.
    Stop,
    /// The end of a sentence.
    End,
    Question,
    Exclamation,
    Quote,
    Unknown,
}

/// A token, by its range in the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// Whether white space or decoration precedes it.
    pub(super) space_before: bool,
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

/// Splits a text into tokens, line by line, into reused buffers.
#[derive(Default)]
pub(super) struct Tokenizer {
    pub(super) tokens: Vec<Token>,
    /// The ranges of `<<…>>`.
    pub(super) annotations: Vec<(usize, usize)>,
    braces: Vec<Brace>,
    /// Whether a `**` is open, so that the next one closes it.
    in_bold: bool,
}

impl Tokenizer {
    /// Splits `text[from..to]` into tokens; `starts` and `ends` tell whether its line starts and ends there. Where a line
    /// was split, the neighbor is unknown.
    pub(super) fn read(&mut self, text: &str, from: usize, to: usize, starts: bool, ends: bool) {
        self.tokens.clear();
        self.annotations.clear();
        self.braces.clear();
        self.in_bold = false;
        let mut scanner =
            Scanner { text, bytes: text.as_bytes(), at: from, to, space_before: true, out: self };
        if starts {
            scanner.skip_line_marker();
        } else {
            scanner.push(Kind::Unknown, from);
        }
        while scanner.at < to {
            scanner.read_token();
        }
        if !ends {
            scanner.push(Kind::Unknown, to);
        }
    }
}

/// Reads token by token; the readers are in the files of this directory.
struct Scanner<'t, 'o> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    to: usize,
    /// Whether white space or decoration precedes the next token.
    space_before: bool,
    out: &'o mut Tokenizer,
}

impl Scanner<'_, '_> {
    fn peek(&self, ahead: usize) -> u8 {
        if self.at + ahead < self.to { self.bytes[self.at + ahead] } else { b'\n' }
    }

    fn previous_byte(&self) -> u8 {
        if self.at == 0 { b'\n' } else { self.bytes[self.at - 1] }
    }

    fn rest(&self) -> &str {
        &self.text[self.at..self.to]
    }

    /// Records a token from `start` up to the current position.
    fn push(&mut self, kind: Kind, start: usize) {
        self.out.tokens.push(Token {
            kind,
            space_before: self.space_before,
            start: start as u32,
            end: self.at as u32,
        });
        self.space_before = false;
    }

    fn take(&mut self, length: usize, kind: Kind) {
        let start = self.at;
        self.at += length;
        self.push(kind, start);
    }

    fn skip(&mut self, length: usize) {
        self.at += length;
        self.space_before = true;
    }

    /// The length of the run of `byte` from `ahead` on.
    fn run_length(&self, ahead: usize, byte: u8) -> usize {
        self.bytes[self.at + ahead..self.to].iter().take_while(|&&found| found == byte).count()
    }

    fn last(&self) -> Option<Kind> {
        self.out.tokens.last().map(|token| token.kind)
    }

    fn follows_operand(&self) -> bool {
        self.last().is_some_and(Kind::ends_operand)
    }

    /// Skips the markup at the start of a line: quotation, heading, bullet, number in parentheses.
    fn skip_line_marker(&mut self) {
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

    #[inline]
    fn read_token(&mut self) {
        match self.bytes[self.at] {
            b' ' | b'\t' | b'\r' => self.skip(1),
            b'0'..=b'9' => self.read_number(),
            b'a'..=b'z' | b'A'..=b'Z' => self.read_word(),
            b'.' => self.read_point(),
            b'+' => self.read_operator(Kind::Plus),
            b'-' => self.read_minus(),
            b'*' => self.read_stars(),
            b'/' if matches!(self.peek(1), b'/' | b'=') => self.take(2, Kind::Unknown),
            b'/' => self.take(1, Kind::Divide),
            b'^' => self.read_power(),
            b'=' => self.read_equals(),
            b'(' => self.take(1, Kind::Open),
            b'[' => self.take(1, Kind::OpenSquare),
            b')' | b']' => self.take(1, Kind::Close),
            b'{' => self.open_brace(Brace::Other),
            b'}' => self.close_brace(),
            b'%' => self.read_percent(),
            b'$' if self.peek(1) == b'$' => self.skip(2),
            b'$' => self.take(1, Kind::Currency),
            b'\\' => self.read_command(),
            b'<' => self.read_angle_bracket(),
            b'~' => self.read_tilde(),
            b'?' => self.take(1, Kind::Question),
            b'!' if self.peek(1) == b'=' => self.take(2, Kind::Unknown),
            b'!' => self.read_exclamation(),
            b'"' => self.take(1, Kind::Quote),
            b':' => self.read_colon(),
            b'\'' if self.previous_byte().is_ascii_digit() => self.take(1, Kind::Unknown),
            b';' => self.take(1, Kind::End),
            b',' | b'\'' | b'`' | b'#' | b'|' => self.take(1, Kind::Stop),
            0x80.. => self.read_non_ascii(),
            _ => self.take(1, Kind::Unknown),
        }
    }
}
