//! The little of Thrift's compact protocol that is needed to look at the structure of a Parquet file before it is decoded.

use std::io::{self, Read};

/// Maximum depth of nested values: Parquet's own structures have five levels.
const MAX_DEPTH: usize = 32;

/// Receives each number of a structure with its path: the ids of the fields from the outermost on. Items of a list have the
/// path of the list, one level deeper. The end of a structure is reported as the number 0 with the path of the structure.
pub(crate) type OnNumber<'f> = dyn FnMut(&[i64], i64) + 'f;

/// Reads values of Thrift's compact protocol.
pub(crate) struct Thrift<R> {
    reader: R,
    position: u64,
    path: Vec<i64>,
}

impl<R: Read> Thrift<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self { reader, position: 0, path: Vec::new() }
    }

    /// Bytes read so far.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.reader.read_exact(&mut byte)?;
        self.position += 1;
        Ok(byte[0])
    }

    fn skip(&mut self, bytes: u64) -> io::Result<()> {
        let skipped = io::copy(&mut self.reader.by_ref().take(bytes), &mut io::sink())?;
        self.position += skipped;
        if skipped == bytes { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    fn varint(&mut self) -> io::Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(invalid("a number is too long"))
    }

    fn number(&mut self) -> io::Result<i64> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// Reads a structure.
    pub(crate) fn read_struct(&mut self, on_number: &mut OnNumber<'_>) -> io::Result<()> {
        if self.path.len() >= MAX_DEPTH {
            return Err(invalid("values are nested too deep"));
        }
        let mut id = 0_i64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                on_number(&self.path, 0);
                return Ok(());
            }
            id = match head >> 4 {
                0 => self.number()?,
                delta => id.saturating_add(i64::from(delta)),
            };
            self.path.push(id);
            match head & 0xf {
                // The type of a boolean field is its value.
                kind @ (1 | 2) => on_number(&self.path, i64::from(kind == 1)),
                kind => self.value(kind, on_number)?,
            }
            self.path.pop();
        }
    }

    fn value(&mut self, kind: u8, on_number: &mut OnNumber<'_>) -> io::Result<()> {
        match kind {
            1..=3 => self.skip(1),
            4..=6 => {
                let number = self.number()?;
                on_number(&self.path, number);
                Ok(())
            }
            7 => self.skip(8),
            8 => {
                let length = self.varint()?;
                self.skip(length)
            }
            9 | 10 => {
                let head = self.byte()?;
                let length = if head >> 4 == 0xf { self.varint()? } else { u64::from(head >> 4) };
                self.items(length, &[head & 0xf], on_number)
            }
            11 => {
                let length = self.varint()?;
                if length == 0 {
                    return Ok(());
                }
                let kinds = self.byte()?;
                self.items(length, &[kinds >> 4, kinds & 0xf], on_number)
            }
            12 => self.read_struct(on_number),
            _ => Err(invalid("a value has an unknown type")),
        }
    }

    fn items(&mut self, length: u64, kinds: &[u8], on_number: &mut OnNumber<'_>) -> io::Result<()> {
        if self.path.len() >= MAX_DEPTH {
            return Err(invalid("values are nested too deep"));
        }
        let (start, id) = (self.path.len(), self.path.last().copied().unwrap_or(0));
        for _ in 0..length {
            for kind in kinds {
                // One level deeper, so that lists of lists count as nested.
                self.path.push(id);
                let read = self.value(*kind, on_number);
                self.path.truncate(start);
                read?;
            }
        }
        Ok(())
    }
}

fn invalid(problem: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(bytes: &[u8]) -> io::Result<Vec<(Vec<i64>, i64)>> {
        let mut found = Vec::new();
        Thrift::new(bytes).read_struct(&mut |path, value| found.push((path.to_vec(), value)))?;
        Ok(found)
    }

    #[test]
    fn reads_numbers_with_their_paths() {
        // 1: i32 = 3, 2: binary "ab", 5: struct { 1: i32 = -1, 2: true }, 6: list [i32 1, i32 2]
        let bytes = [0x15, 6, 0x18, 2, b'a', b'b', 0x3c, 0x15, 1, 0x11, 0, 0x19, 0x25, 2, 4, 0];
        let expected = vec![
            (vec![1], 3),
            (vec![5, 1], -1),
            (vec![5, 2], 1),
            (vec![5], 0),
            (vec![6, 6], 1),
            (vec![6, 6], 2),
            (vec![], 0),
        ];
        assert_eq!(numbers(&bytes).unwrap(), expected);
        for end in 0..bytes.len() {
            assert!(numbers(&bytes[..end]).is_err(), "{end}");
        }
        assert!(numbers(&[0x1c; 1000]).is_err());
        // A list that claims 2^60 booleans ends with the input.
        assert!(numbers(&[0x19, 0xf1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f]).is_err());
    }
}
