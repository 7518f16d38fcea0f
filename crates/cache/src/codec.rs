//! Encodes a request and its response for storage.
//!
//! One zstd frame holds the request, a line break and the body. Canonical JSON contains no line break, so the first one
//! separates the two; `zstd -d` shows both. One frame is smaller and faster than two, since a response repeats words of its
//! prompt. The frame has its own checksum, which every read verifies.

use std::cell::RefCell;

use reasonscape_core::EntryId;
use zstd::bulk::{Compressor, Decompressor};

use crate::entry::{Entry, TokenUsage};
use crate::error::CacheError;

/// Maximum size of an entry before compression: far above any reply, far below SQLite's limit.
pub(crate) const MAX_BYTES: usize = 256 << 20;

/// Levels 2 and 3 don't compress texts this short any further; level 3 took an eighth to a third longer.
const LEVEL: i32 = 1;

/// An entry, ready to be written.
#[derive(Debug)]
pub(crate) struct Encoded {
    pub(crate) id: EntryId,
    pub(crate) status: u16,
    pub(crate) latency_ms: u64,
    pub(crate) latency_us: Option<u64>,
    pub(crate) received_ms: i64,
    /// Size before compression.
    pub(crate) bytes: usize,
    pub(crate) exchange: Vec<u8>,
    /// The model in the request, or empty.
    pub(crate) model: String,
    /// Whether the mark of its point was written before it.
    pub(crate) marked: bool,
    pub(crate) usage: TokenUsage,
}

thread_local! {
    static COMPRESSOR: RefCell<Encoder> = RefCell::new(Encoder::new());
    static DECOMPRESSOR: RefCell<Decompressor<'static>> =
        RefCell::new(Decompressor::new().expect("a decompressor needs a little memory"));
}

/// Creating a compressor costs more than using it on one entry, so each thread keeps one, with its buffers.
struct Encoder {
    compressor: Compressor<'static>,
    plain: Vec<u8>,
    compressed: Vec<u8>,
}

/// Larger buffers are freed after use.
const MAX_KEPT_BYTES: usize = 1 << 20;

impl Encoder {
    fn new() -> Self {
        let mut compressor = Compressor::new(LEVEL).expect("a compressor needs a little memory");
        compressor.include_checksum(true).expect("zstd always has checksums");
        Self { compressor, plain: Vec::new(), compressed: Vec::new() }
    }

    fn encode(&mut self, request: &str, body: &[u8]) -> Vec<u8> {
        self.plain.clear();
        self.plain.extend_from_slice(request.as_bytes());
        self.plain.push(b'\n');
        self.plain.extend_from_slice(body);
        self.compressed.clear();
        self.compressed.reserve(zstd::zstd_safe::compress_bound(self.plain.len()));
        self.compressor
            .compress_to_buffer(&self.plain, &mut self.compressed)
            .expect("the buffer has the size that zstd requires");
        let exchange = self.compressed.clone();
        self.plain.shrink_to(MAX_KEPT_BYTES);
        self.compressed.shrink_to(MAX_KEPT_BYTES);
        exchange
    }
}

/// Compresses on the calling thread, to keep work off the single writer thread.
pub(crate) fn encode(entry: &Entry, marked: bool, usage: TokenUsage) -> Result<Encoded, CacheError> {
    let Entry { id, request, response } = entry;
    debug_assert_eq!(
        id.key,
        reasonscape_core::CacheKey::from_canonical_json(request),
        "the key is that of the request"
    );
    let bytes = request.len() + 1 + response.body.len();
    if bytes > MAX_BYTES {
        return Err(CacheError::TooLarge { bytes, max: MAX_BYTES });
    }
    Ok(Encoded {
        id: id.clone(),
        status: response.status,
        latency_ms: response.latency_ms,
        latency_us: response.latency_us,
        received_ms: response.received_ms,
        bytes,
        exchange: COMPRESSOR.with_borrow_mut(|encoder| encoder.encode(request, &response.body)),
        model: entry.model().unwrap_or_default(),
        marked,
        usage,
    })
}

/// Decodes a request and a body, or describes the damage.
pub(crate) fn decode(exchange: &[u8], bytes: i64) -> Result<Decoded, String> {
    let expected = usize::try_from(bytes).ok().filter(|bytes| *bytes <= MAX_BYTES);
    let expected = expected.ok_or_else(|| format!("invalid length of {bytes} bytes"))?;
    let plain = DECOMPRESSOR
        .with_borrow_mut(|decompressor| decompressor.decompress(exchange, expected))
        .map_err(|error| format!("decompression failed ({error})"))?;
    if plain.len() != expected {
        return Err(format!("{} bytes; expected {expected}", plain.len()));
    }
    let request_len =
        plain.iter().position(|byte| *byte == b'\n').ok_or("no line break after the request")?;
    Ok(Decoded { plain, request_len })
}

/// A decoded entry: the request, a line break and the body.
#[derive(Debug)]
pub(crate) struct Decoded {
    plain: Vec<u8>,
    request_len: usize,
}

impl Decoded {
    pub(crate) fn request(&self) -> Result<&str, String> {
        std::str::from_utf8(&self.plain[..self.request_len])
            .map_err(|_| "the request is not UTF-8 text".to_owned())
    }

    pub(crate) fn into_body(mut self) -> Vec<u8> {
        self.plain.drain(..=self.request_len);
        self.plain
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use reasonscape_core::CacheKey;

    use super::*;
    use crate::Response;

    fn entry(request: &str, body: &[u8]) -> Entry {
        let response =
            Response { status: 200, latency_ms: 1, latency_us: None, received_ms: 2, body: body.to_vec() };
        Entry {
            id: EntryId::new(CacheKey::from_canonical_json(request)),
            request: request.to_owned(),
            response,
        }
    }

    proptest! {
        #[test]
        fn any_body_round_trips(body in proptest::collection::vec(any::<u8>(), 0..400)) {
            let encoded = encode(&entry("{}", &body), true, TokenUsage::default()).unwrap();
            let decoded = decode(&encoded.exchange, encoded.bytes as i64).unwrap();
            prop_assert_eq!(decoded.request(), Ok("{}"));
            prop_assert_eq!(decoded.into_body(), body);
        }

        #[test]
        fn detects_bit_flips(at in 0_usize..1000, bit in 0_u32..8) {
            let body = b"the quick brown fox jumps over the lazy dog, the quick brown fox";
            let encoded = encode(&entry("{}", body), true, TokenUsage::default()).unwrap();
            let mut exchange = encoded.exchange.clone();
            let at = at % exchange.len();
            exchange[at] ^= 1 << bit;
            if let Ok(decoded) = decode(&exchange, encoded.bytes as i64) {
                prop_assert_eq!(decoded.into_body(), body);
            }
        }
    }

    #[test]
    fn rejects_absurd_lengths_before_allocating() {
        let encoded = encode(&entry("{}", b"body"), true, TokenUsage::default()).unwrap();
        for bytes in [-1, 0, 3, 8, i64::MAX] {
            assert!(decode(&encoded.exchange, bytes).is_err(), "{bytes}");
        }
        assert!(decode(b"", 0).is_err() && decode(b"nonsense", 8).is_err());
    }
}
