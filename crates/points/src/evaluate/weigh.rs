//! The size of a text after gzip, as CPython's `gzip.compress` gives it.

use flate2::{Compress, Compression, FlushCompress, Status};

/// gzip's header and trailer.
const ENVELOPE: u64 = 18;

/// Compresses to nowhere. Setting zlib up costs more than compressing a short text, so it is kept.
#[derive(Debug)]
pub(crate) struct Scales {
    compress: Compress,
    room: Vec<u8>,
}

impl Default for Scales {
    fn default() -> Self {
        Self { compress: Compress::new(Compression::best(), false), room: vec![0; 64 * 1024] }
    }
}

impl Scales {
    /// Bytes of the text after gzip at level 9.
    pub(crate) fn gzip_size(&mut self, text: &[u8]) -> u64 {
        self.compress.reset();
        loop {
            let read = self.compress.total_in() as usize;
            match self.compress.compress(&text[read..], &mut self.room, FlushCompress::Finish) {
                Ok(Status::StreamEnd) => return self.compress.total_out() + ENVELOPE,
                Ok(Status::Ok | Status::BufError) => {}
                Err(error) => unreachable!("compressing has no input that is wrong: {error}"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_gzip() {
        let mut texts = vec![String::new(), "a".to_owned(), "So it is 42. ".repeat(9_999)];
        let mut state = 1_u32;
        for length in [10, 1_000, 70_000, 300_000] {
            texts.push(
                (0..length)
                    .map(|_| {
                        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        char::from(b' ' + (state >> 24) as u8 % 64)
                    })
                    .collect(),
            );
        }
        let mut scales = Scales::default();
        for text in &texts {
            let script = "import gzip, sys; print(len(gzip.compress(sys.stdin.buffer.read(), 9)))";
            let Some(said) = reasonscape_test_support::python(script, text) else { return };
            assert_eq!(scales.gzip_size(text.as_bytes()).to_string(), said.trim(), "{} bytes", text.len());
        }
    }
}
