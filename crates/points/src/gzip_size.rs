//! The size of a text after gzip, as CPython's `gzip.compress` gives it.

use flate2::{Compress, Compression, FlushCompress, Status};

/// Bytes that gzip puts around the compressed text.
const HEADER_AND_TRAILER: u64 = 18;

/// Measures how small texts become with gzip, without keeping the compressed bytes.
///
/// Setting up zlib costs more than compressing a short text, so use one sizer for many texts.
///
/// ```
/// let mut sizer = reasonscape_points::GzipSizer::default();
/// assert_eq!(sizer.gzip_size(b""), 20);
/// ```
#[derive(Debug)]
pub struct GzipSizer {
    compress: Compress,
    /// Output buffer whose content is discarded.
    discarded: Vec<u8>,
}

impl Default for GzipSizer {
    fn default() -> Self {
        Self { compress: Compress::new(Compression::best(), false), discarded: vec![0; 64 * 1024] }
    }
}

impl GzipSizer {
    /// Size in bytes of the text after gzip at level 9, as CPython gives it.
    pub fn gzip_size(&mut self, text: &[u8]) -> u64 {
        self.compress.reset();
        loop {
            let read = self.compress.total_in() as usize;
            match self.compress.compress(&text[read..], &mut self.discarded, FlushCompress::Finish) {
                Ok(Status::StreamEnd) => return self.compress.total_out() + HEADER_AND_TRAILER,
                Ok(Status::Ok | Status::BufError) => {}
                Err(error) => unreachable!("compression accepts any input: {error}"),
            }
        }
    }
}
