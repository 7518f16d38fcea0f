//! Splits a file into chunks that end where a line ends, so that they can be parsed in parallel.

use std::io::{self, Read};

use reasonscape_limits::max_line_bytes;

/// Bytes that are read at a time. A longer line makes its chunk longer.
const CHUNK_SIZE: u64 = 1 << 18;

/// Chunks of a file, in order. Together they are the file without its byte order mark.
#[derive(Debug)]
pub struct LineChunks<R> {
    reader: R,
    /// What came after the last line end.
    rest: Vec<u8>,
    /// Buffers of chunks that were processed.
    spare: Vec<Vec<u8>>,
    started: bool,
}

impl<R: Read> LineChunks<R> {
    /// Reads from the start of `reader`.
    pub fn new(reader: R) -> Self {
        Self { reader, rest: Vec::new(), spare: Vec::new(), started: false }
    }

    /// The next chunk, or `None` at the end.
    fn next_chunk(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut chunk = self.spare.pop().unwrap_or_default();
        chunk.reserve(self.rest.len() + CHUNK_SIZE as usize);
        chunk.append(&mut self.rest);
        loop {
            let seen = chunk.len();
            let read = (&mut self.reader).take(CHUNK_SIZE).read_to_end(&mut chunk)?;
            if !self.started && (chunk.len() >= 3 || read == 0) {
                self.started = true;
                if chunk.starts_with(b"\xef\xbb\xbf") {
                    chunk.drain(..3);
                    continue;
                }
            }
            if read == 0 {
                return Ok((!chunk.is_empty()).then_some(chunk));
            }
            let line_end = memchr::memrchr(b'\n', &chunk[seen..]);
            if line_end.is_none() && chunk.len() as u64 > max_line_bytes() {
                let problem = format!(
                    "a line has more than {} MiB; is it a file of lines? If it is, raise `--memory-limit`",
                    max_line_bytes() >> 20
                );
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, problem));
            }
            if let Some(end) = line_end {
                self.rest.extend_from_slice(&chunk[seen + end + 1..]);
                chunk.truncate(seen + end + 1);
                return Ok(Some(chunk));
            }
        }
    }

    /// Takes buffers back for later chunks. They would otherwise be freed on another thread than the one that allocated
    /// them, and with an allocator that has a heap per thread they would accumulate.
    pub fn reuse(&mut self, chunks: Vec<Vec<u8>>) {
        for mut chunk in chunks {
            if chunk.capacity() <= 4 * CHUNK_SIZE as usize {
                chunk.clear();
                self.spare.push(chunk);
            }
        }
    }

    /// The next chunks, at most `max`, and fewer if their lines are long; none at the end.
    ///
    /// # Errors
    /// The reader's error.
    pub fn next_chunks(&mut self, max: usize) -> io::Result<Vec<Vec<u8>>> {
        let mut chunks = Vec::new();
        let mut bytes = 0;
        while chunks.len() < max && bytes < max_line_bytes() {
            match self.next_chunk()? {
                Some(chunk) => {
                    bytes += chunk.len() as u64;
                    chunks.push(chunk);
                }
                None => break,
            }
        }
        Ok(chunks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a few bytes at a time, as a pipe may.
    struct Drops<'a>(&'a [u8], usize);

    impl Read for Drops<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = self.1.min(self.0.len()).min(buffer.len());
            buffer[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }

    fn chunks(bytes: &[u8], drop: usize) -> Vec<Vec<u8>> {
        LineChunks::new(Drops(bytes, drop)).next_chunks(usize::MAX).unwrap()
    }

    #[test]
    fn chunks_end_at_line_ends_and_are_complete() {
        let long = "x".repeat(3 << 20);
        let text = format!("a\n{long}\nb\n\n{long}\nlast");
        for drop in [1 << 16, usize::MAX] {
            let found = chunks(text.as_bytes(), drop);
            assert!(found.len() > 2);
            assert!(found[..found.len() - 1].iter().all(|chunk| chunk.ends_with(b"\n")));
            assert_eq!(found.concat(), text.as_bytes());
        }
        let endless = LineChunks::new(io::repeat(0)).next_chunks(4).unwrap_err();
        assert_eq!(endless.kind(), io::ErrorKind::FileTooLarge, "{endless}");
        assert!(chunks(b"", 1).is_empty());
        assert_eq!(chunks(b"\xef\xbb\xbfa\nb", 1).concat(), b"a\nb");
        assert!(chunks(b"\xef\xbb\xbf", 1).is_empty());
        assert_eq!(chunks(b"\xef\xbb", 1).concat(), b"\xef\xbb");
    }
}
