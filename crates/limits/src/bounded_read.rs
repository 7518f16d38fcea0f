//! Reads streams up to a maximum, since `/dev/zero` has no end.

use std::io::{self, BufRead, ErrorKind, Read};

/// Reads a stream to its end.
///
/// # Errors
/// The stream's error, or one of kind [`ErrorKind::FileTooLarge`] if it has more than `max` bytes.
///
/// ```
/// # use reasonscape_limits::{is_too_large, read_to_end};
/// assert_eq!(read_to_end(&b"text"[..], 4)?, b"text");
/// assert!(is_too_large(&read_to_end(std::io::repeat(0), 4).unwrap_err()));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn read_to_end(stream: impl Read, max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max { Err(too_large("it has", max)) } else { Ok(bytes) }
}

/// Appends the next line with its line end, and returns its length: 0 at the end of the stream.
///
/// # Errors
/// The stream's error, or one of kind [`ErrorKind::FileTooLarge`] if the line has more than `max` bytes.
///
/// ```
/// # use reasonscape_limits::read_line;
/// let (mut stream, mut line) = (&b"one\ntwo"[..], Vec::new());
/// assert_eq!(read_line(&mut stream, 10, &mut line)?, 4);
/// assert!(read_line(&mut std::io::BufReader::new(std::io::repeat(0)), 10, &mut line).is_err());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn read_line(stream: &mut impl BufRead, max: u64, into: &mut Vec<u8>) -> io::Result<usize> {
    let read = stream.take(max.saturating_add(1)).read_until(b'\n', into)?;
    if read as u64 > max { Err(too_large("a line has", max)) } else { Ok(read) }
}

/// Whether an error says that the input is too large, which is the input's fault.
pub fn is_too_large(error: &io::Error) -> bool {
    error.kind() == ErrorKind::FileTooLarge
}

fn too_large(what: &str, max: u64) -> io::Error {
    let message = format!(
        "{what} more than {} MiB; is it the right file? If it is, raise `--memory-limit`",
        (max >> 20).max(1)
    );
    io::Error::new(ErrorKind::FileTooLarge, message)
}
