//! A file in pieces that end where a line ends.

use std::io::{self, Read};

/// How much is read at a time. A line that is longer makes its piece longer.
const SIZE: u64 = 1 << 18;

/// Pieces of a file, in order. Together they are the file, without a byte order mark.
#[derive(Debug)]
pub(super) struct Blocks<R> {
    reader: R,
    /// What came after the last line end.
    rest: Vec<u8>,
    /// Room of pieces that are done with.
    spare: Vec<Vec<u8>>,
    started: bool,
}

impl<R: Read> Blocks<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, rest: Vec::new(), spare: Vec::new(), started: false }
    }

    /// The next piece, or none at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut block = self.spare.pop().unwrap_or_default();
        block.reserve(self.rest.len() + SIZE as usize);
        block.append(&mut self.rest);
        loop {
            let seen = block.len();
            let read = (&mut self.reader).take(SIZE).read_to_end(&mut block)?;
            if !self.started && (block.len() >= 3 || read == 0) {
                self.started = true;
                if block.starts_with(b"\xef\xbb\xbf") {
                    block.drain(..3);
                    continue;
                }
            }
            if read == 0 {
                return Ok((!block.is_empty()).then_some(block));
            }
            if let Some(end) = memchr::memrchr(b'\n', &block[seen..]) {
                self.rest.extend_from_slice(&block[seen + end + 1..]);
                block.truncate(seen + end + 1);
                return Ok(Some(block));
            }
        }
    }

    /// Takes back the room of pieces. They are freed on another thread than the one that made them, and an allocator
    /// that lets each thread keep what is its own would let them pile up.
    pub(super) fn reuse(&mut self, blocks: Vec<Vec<u8>>) {
        for mut block in blocks {
            if block.capacity() <= 4 * SIZE as usize {
                block.clear();
                self.spare.push(block);
            }
        }
    }

    /// Some pieces, at most so many.
    pub(super) fn several(&mut self, most: usize) -> io::Result<Vec<Vec<u8>>> {
        let mut blocks = Vec::new();
        while blocks.len() < most {
            match self.next()? {
                Some(block) => blocks.push(block),
                None => break,
            }
        }
        Ok(blocks)
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

    fn blocks(bytes: &[u8], drop: usize) -> Vec<Vec<u8>> {
        Blocks::new(Drops(bytes, drop)).several(usize::MAX).unwrap()
    }

    #[test]
    fn pieces_end_where_lines_end_and_lose_nothing() {
        let long = "x".repeat(3 << 20);
        let text = format!("a\n{long}\nb\n\n{long}\nlast");
        for drop in [1 << 16, usize::MAX] {
            let found = blocks(text.as_bytes(), drop);
            assert!(found.len() > 2);
            assert!(found[..found.len() - 1].iter().all(|block| block.ends_with(b"\n")));
            assert_eq!(found.concat(), text.as_bytes());
        }
        assert!(blocks(b"", 1).is_empty());
        assert_eq!(blocks(b"\xef\xbb\xbfa\nb", 1).concat(), b"a\nb");
        assert!(blocks(b"\xef\xbb\xbf", 1).is_empty());
        assert_eq!(blocks(b"\xef\xbb", 1).concat(), b"\xef\xbb");
    }
}
