//! Inspect's `.json` logs: one object with all samples in a list. Samples are split off one by one, so that a log is
//! never in memory as a whole.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::header::Header;
use crate::IngestError;
use crate::logs::max_sample_bytes;

/// Maximum bytes of a batch of samples.
pub(super) const BATCH_BYTES: usize = 16 << 20;
/// The parts of a log that its header needs.
const HEADER: [&str; 4] = ["status", "eval", "plan", "results"];

/// Keys of a log that may precede `eval`, in its own order or sorted.
const BEFORE_EVAL: [&str; 8] =
    ["version", "status", "error", "etag", "attachments", "config_source", "_version", "$schema"];
/// How much of a file is searched for the first keys.
const MAX_SEARCHED_BYTES: u64 = 1 << 20;

/// What a `.json` file looks like from its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JsonKind {
    /// An object with `eval` among its first keys.
    Log,
    /// JSON of another tool.
    Other,
    /// Empty, truncated before the first keys end, or not JSON.
    Damaged,
}

impl JsonKind {
    /// Reads the first keys of a file.
    pub(super) fn of(path: &Path) -> Self {
        let Ok(file) = File::open(path) else { return Self::Damaged };
        let mut scanner =
            Scanner { reader: BufReader::new(file.take(MAX_SEARCHED_BYTES)), at: 0, is_first: true };
        let mut find = || -> Result<Self, ScanError> {
            // Logs are objects; lists, texts and numbers are none.
            if scanner.skip_space()?.is_some_and(|byte| b"[\"-0123456789tfn".contains(&byte)) {
                return Ok(Self::Other);
            }
            scanner.expect(b'{')?;
            while let Some(key) = scanner.key()? {
                match key.as_str() {
                    "eval" if scanner.skip_space()? == Some(b'{') => return Ok(Self::Log),
                    known if BEFORE_EVAL.contains(&known) => scanner.value(None)?,
                    _ => return Ok(Self::Other),
                }
            }
            Ok(Self::Other)
        };
        find().unwrap_or(Self::Damaged)
    }
}

/// A sample with a name for messages.
type Named = (String, Vec<u8>);

/// Splits a log into its samples.
pub(super) struct Split {
    path: PathBuf,
    scanner: Scanner<BufReader<File>>,
    /// Samples seen so far, for their names.
    seen: usize,
    is_inside: bool,
}

impl Split {
    /// Everything but the samples, and how many of those there are.
    pub(super) fn header(path: &Path) -> Result<(Header, u64), IngestError> {
        let mut split = Self::start(path)?;
        let mut header = b"{".to_vec();
        let mut samples = 0;
        while let Some(key) = split.key()? {
            if key == "samples" && split.scan(Scanner::enter_list)? {
                while split.scan(|scanner| scanner.item(None))? {
                    samples += 1;
                }
            } else if HEADER.contains(&key.as_str()) {
                let separator = if header.len() > 1 { "," } else { "" };
                header.extend_from_slice(format!("{separator}\"{key}\":").as_bytes());
                split.scan(|scanner| scanner.value(Some(&mut header)))?;
            } else {
                split.scan(|scanner| scanner.value(None))?;
            }
        }
        header.push(b'}');
        Ok((Header::parse(path, "the header", &header)?, samples))
    }

    /// Advances to the samples.
    pub(super) fn open(path: &Path) -> Result<Self, IngestError> {
        let mut split = Self::start(path)?;
        while let Some(key) = split.key()? {
            if key == "samples" && split.scan(Scanner::enter_list)? {
                split.is_inside = true;
                break;
            }
            split.scan(|scanner| scanner.value(None))?;
        }
        Ok(split)
    }

    /// The next batch of samples, with names for messages.
    pub(super) fn next(&mut self, bytes: usize) -> Result<Option<Vec<Named>>, IngestError> {
        let mut batch = Vec::new();
        let mut taken = 0;
        while self.is_inside && taken < bytes {
            let mut text = Vec::new();
            self.is_inside = self.scan(|scanner| scanner.item(Some(&mut text)))?;
            if self.is_inside {
                self.seen += 1;
                taken += text.len();
                batch.push((format!("number {}", self.seen), text));
            }
        }
        Ok((!batch.is_empty()).then_some(batch))
    }

    fn start(path: &Path) -> Result<Self, IngestError> {
        let file = File::open(path).map_err(IngestError::io("read", path))?;
        let scanner = Scanner { reader: BufReader::with_capacity(1 << 18, file), at: 0, is_first: true };
        let mut split = Self { path: path.to_owned(), scanner, seen: 0, is_inside: false };
        split.scan(|scanner| scanner.expect(b'{'))?;
        Ok(split)
    }

    fn key(&mut self) -> Result<Option<String>, IngestError> {
        self.scan(Scanner::key)
    }

    fn scan<T>(
        &mut self,
        step: impl FnOnce(&mut Scanner<BufReader<File>>) -> Result<T, ScanError>,
    ) -> Result<T, IngestError> {
        step(&mut self.scanner).map_err(|stumble| match stumble {
            ScanError::Io(error) => IngestError::io("read", &self.path)(error),
            ScanError::TooLarge => IngestError::file(
                &self.path,
                format!(
                    "byte {}: a sample or the header has more than {} MiB; raise `--memory-limit` if the log is not a \
                     mistake",
                    self.scanner.at,
                    max_sample_bytes() >> 20
                ),
            ),
            ScanError::Invalid(problem) => IngestError::file(
                &self.path,
                format!(
                    "byte {}: {problem}; the log is truncated or damaged: copy it again",
                    self.scanner.at
                ),
            ),
        })
    }
}

enum ScanError {
    Io(std::io::Error),
    TooLarge,
    Invalid(&'static str),
}

/// Finds where the parts of a JSON text begin and end, without parsing them.
struct Scanner<R> {
    reader: R,
    at: u64,
    /// Whether the current object or list has no member read yet.
    is_first: bool,
}

impl<R: BufRead> Scanner<R> {
    fn peek(&mut self) -> Result<Option<u8>, ScanError> {
        Ok(self.reader.fill_buf().map_err(ScanError::Io)?.first().copied())
    }

    fn skip(&mut self) {
        self.reader.consume(1);
        self.at += 1;
    }

    fn skip_space(&mut self) -> Result<Option<u8>, ScanError> {
        loop {
            match self.peek()? {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.skip(),
                other => return Ok(other),
            }
        }
    }

    fn expect(&mut self, expected: u8) -> Result<(), ScanError> {
        match self.skip_space()? {
            Some(found) if found == expected => {
                self.skip();
                Ok(())
            }
            Some(_) => Err(ScanError::Invalid("not JSON")),
            None => Err(ScanError::Invalid("the file ends in the middle")),
        }
    }

    /// Whether another member of an object or a list follows.
    fn follows(&mut self, end: u8) -> Result<bool, ScanError> {
        let is_first = std::mem::replace(&mut self.is_first, false);
        match self.skip_space()? {
            Some(found) if found == end => {
                self.skip();
                Ok(false)
            }
            Some(b',') if !is_first => {
                self.skip();
                Ok(true)
            }
            Some(_) if is_first => Ok(true),
            Some(_) => Err(ScanError::Invalid("not JSON")),
            None => Err(ScanError::Invalid("the file ends in the middle")),
        }
    }

    /// The next key of the outermost object.
    fn key(&mut self) -> Result<Option<String>, ScanError> {
        if !self.follows(b'}')? {
            return Ok(None);
        }
        let mut text = Vec::new();
        self.value(Some(&mut text))?;
        self.expect(b':')?;
        serde_json::from_slice(&text).map(Some).map_err(|_| ScanError::Invalid("a key that is not a string"))
    }

    /// Steps into a list, if one follows.
    fn enter_list(&mut self) -> Result<bool, ScanError> {
        let is_list = self.skip_space()? == Some(b'[');
        if is_list {
            self.skip();
            self.is_first = true;
        } else {
            self.value(None)?;
        }
        Ok(is_list)
    }

    /// The next item of a list; false at its end.
    fn item(&mut self, into: Option<&mut Vec<u8>>) -> Result<bool, ScanError> {
        let follows = self.follows(b']')?;
        if follows {
            self.value(into)?;
        }
        Ok(follows)
    }

    /// Skips a value, copying it if `into` is given.
    fn value(&mut self, mut into: Option<&mut Vec<u8>>) -> Result<(), ScanError> {
        let is_nested = match self.skip_space()? {
            None => return Err(ScanError::Invalid("the file ends in the middle")),
            Some(first) => matches!(first, b'{' | b'[' | b'"'),
        };
        let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
        loop {
            let buffer = self.reader.fill_buf().map_err(ScanError::Io)?;
            if buffer.is_empty() {
                let problem = ScanError::Invalid("the file ends in the middle");
                return if is_nested { Err(problem) } else { Ok(()) };
            }
            let mut taken = 0;
            let mut is_over = false;
            for byte in buffer {
                if in_string {
                    in_string = is_escaped || *byte != b'"';
                    is_escaped = !is_escaped && *byte == b'\\';
                    is_over = !in_string && depth == 0;
                } else {
                    match byte {
                        b'"' => in_string = true,
                        b'{' | b'[' => depth += 1,
                        b'}' | b']' if depth > 0 => {
                            depth -= 1;
                            is_over = depth == 0;
                        }
                        // The delimiter after a number or literal is not part of it.
                        b',' | b'}' | b']' | b':' | b' ' | b'\n' | b'\r' | b'\t' if depth == 0 => {
                            is_over = true;
                            break;
                        }
                        _ => {}
                    }
                }
                taken += 1;
                if is_over {
                    break;
                }
            }
            if let Some(into) = into.as_deref_mut() {
                into.extend_from_slice(&buffer[..taken]);
                if into.len() as u64 > max_sample_bytes() {
                    return Err(ScanError::TooLarge);
                }
            }
            self.reader.consume(taken);
            self.at += taken as u64;
            if is_over {
                return Ok(());
            }
        }
    }
}
