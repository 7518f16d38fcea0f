//! Random changes of an input, reproducible by their number.

use reasonscape_core::PyRandom;

use super::corpus::Sample;

/// Pieces that readers stumble over.
const PIECES: [&[u8]; 34] = [
    b"0",
    b"-1",
    b"9223372036854775808",
    b"1e999",
    b"NaN",
    b"null",
    b"true",
    b"\"\"",
    b"\"",
    b"'",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"=",
    b"\n",
    b"\r\n",
    b"\0",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\\u0000",
    b"\\ud800",
    b"\xe2\x80\xae",
    b"%",
    b"%zz",
    b"..",
    b"/",
    b"{{",
    b"{%",
    b"((((((((((((((((",
    b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
];
/// Maximum bytes of a mutated input, so that each takes milliseconds.
const MAX_LEN: usize = 256 << 10;

/// The input of this number: one of the samples with a few changes.
pub(super) fn mutated(samples: &[Sample], number: i64) -> Sample {
    let mut random = PyRandom::new(number);
    let mut sample = random.choice(samples).clone();
    for _ in 0..=random.randrange(0, 6) {
        change(&mut sample.bytes, samples, &mut random);
        sample.bytes.truncate(MAX_LEN);
    }
    sample
}

fn change(bytes: &mut Vec<u8>, samples: &[Sample], random: &mut PyRandom) {
    let mut at = |length: usize| random.randrange(0, length as i64 + 1) as usize;
    let (start, end, kind) = (at(bytes.len()), at(bytes.len()), at(8));
    let (start, end) = (start.min(end), start.max(end).min(start.min(end) + 1 + at(64)));
    let end = end.min(bytes.len());
    match kind {
        // A bit or a byte.
        0 if start < bytes.len() => bytes[start] ^= 1 << at(7),
        1 if start < bytes.len() => bytes[start] = at(255) as u8,
        2 => drop(bytes.drain(start..end)),
        3 => {
            let copy = bytes[start..end].to_vec();
            let max = if at(20) == 0 { 2000 } else { 3 };
            let times = 1 + at(max);
            let many = copy.repeat(times.min(MAX_LEN / copy.len().max(1)));
            bytes.splice(start..start, many);
        }
        4 => {
            let piece = PIECES[at(PIECES.len() - 1)];
            bytes.splice(start..start, piece.iter().copied());
        }
        5 => {
            let piece = PIECES[at(PIECES.len() - 1)];
            bytes.splice(start..end, piece.iter().copied());
        }
        6 if at(3) == 0 => bytes.truncate(start),
        // A number in the place of digits, such as a length or a count.
        6 => {
            if let Some(digit) = bytes[start..].iter().position(u8::is_ascii_digit) {
                let number = PIECES[at(3)];
                bytes.splice(start + digit..=start + digit, number.iter().copied());
            }
        }
        // Four bytes as a binary number, as Parquet and zip files have them.
        7 if start + 4 <= bytes.len() => {
            let number = [0, 1, 0x7fff_ffff, 0xffff_ffff, 0x0001_0000_u32][at(4)];
            bytes[start..start + 4].copy_from_slice(&number.to_le_bytes());
        }
        _ => {
            let other = &samples[at(samples.len() - 1)].bytes;
            let from = at(other.len());
            let piece = other[from..other.len().min(from + 1 + at(200))].to_vec();
            bytes.splice(start..end, piece);
        }
    }
}
