//! Sizes of the pages of a Parquet file, from their headers.
//!
//! The Parquet reader allocates what a page header or a compressed page demands. This module reads only the headers, so
//! that a file that would need too much memory is refused before it is decoded. Sizes in the footer are not used, since
//! nothing compares them with the pages.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use parquet::basic::Compression;
use parquet::file::metadata::ColumnChunkMetaData;

use crate::thrift::Thrift;

/// Encoding number of `DELTA_BYTE_ARRAY`: values share prefixes, so a page can be much smaller than its values.
const DELTA_BYTE_ARRAY: i64 = 7;
/// Page type number of a dictionary.
const DICTIONARY_PAGE: i64 = 2;

/// The pages of one column in one row group.
#[derive(Debug, Default)]
pub(crate) struct ChunkPages {
    /// Bytes of the dictionary.
    pub(crate) dictionary: u64,
    /// Bytes of the largest data page, decompressed.
    pub(crate) largest: u64,
    /// Bytes of all data pages, decompressed.
    pub(crate) total: u64,
    /// Number of values.
    pub(crate) values: u64,
    /// Minimum number of values of a page, the last page aside.
    pub(crate) min_values: u64,
    /// Whether values share prefixes.
    pub(crate) has_prefixes: bool,
}

/// The header of one page.
#[derive(Debug, Default)]
struct PageHeader {
    kind: i64,
    decompressed: u64,
    compressed: u64,
    values: u64,
    encoding: i64,
    /// Bytes of levels before the compressed part.
    levels: u64,
    is_uncompressed: bool,
}

impl ChunkPages {
    /// Reads the page headers of a column chunk.
    ///
    /// # Errors
    /// A message if a header is invalid, or a page decompresses to more than its header declares.
    pub(crate) fn read(file: &mut BufReader<File>, column: &ColumnChunkMetaData) -> Result<Self, String> {
        let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
        let (Ok(start), Ok(length)) = (u64::try_from(start), u64::try_from(column.compressed_size())) else {
            return Err("a column has a negative position".to_owned());
        };
        let end = start.checked_add(length).ok_or("a column ends after the end of the file")?;
        let mut pages = Self::default();
        let mut last_values = None;
        let mut at = start;
        file.seek(SeekFrom::Start(start)).map_err(invalid_page)?;
        while at < end {
            let mut thrift = Thrift::new(file.by_ref().take(end - at));
            let page = PageHeader::read(&mut thrift).map_err(invalid_page)?;
            at += thrift.position();
            if page.compressed > end - at {
                return Err("a page ends after the end of its column".to_owned());
            }
            check_decompressed_size(file, column.compression(), &page)?;
            at += page.compressed;
            file.seek(SeekFrom::Start(at)).map_err(invalid_page)?;
            if page.kind == DICTIONARY_PAGE {
                // A value takes at least a byte, and the reader trusts the number.
                if page.values > page.decompressed {
                    return Err("a dictionary has more values than bytes".to_owned());
                }
                pages.dictionary = pages.dictionary.max(page.decompressed);
                continue;
            }
            pages.has_prefixes |= page.encoding == DELTA_BYTE_ARRAY;
            pages.largest = pages.largest.max(page.decompressed);
            pages.total = pages.total.saturating_add(page.decompressed);
            pages.values = pages.values.saturating_add(page.values);
            if let Some(values) = last_values.replace(page.values) {
                pages.min_values = if pages.min_values == 0 { values } else { pages.min_values.min(values) };
            }
        }
        if pages.min_values == 0 {
            pages.min_values = last_values.unwrap_or(1).max(1);
        }
        Ok(pages)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "used with `map_err`")]
fn invalid_page(error: io::Error) -> String {
    format!("a page can't be read: {error}")
}

impl PageHeader {
    fn read(thrift: &mut Thrift<impl Read>) -> io::Result<Self> {
        let mut header = Self::default();
        let mut is_negative = false;
        // Fields by number, those of nested structures as `[outer, inner]`.
        thrift.read_struct(&mut |path, value| {
            is_negative |= value < 0 && matches!(path, [2 | 3] | [5 | 7 | 8, 1] | [8, 5 | 6]);
            let size = value.max(0) as u64;
            match path {
                [1] => header.kind = value,
                [2] => header.decompressed = size,
                [3] => header.compressed = size,
                [5 | 7 | 8, 1] => header.values = size,
                [5, 2] | [8, 4] => header.encoding = value,
                [8, 5 | 6] => header.levels += size,
                [8, 7] => header.is_uncompressed = value == 0,
                _ => {}
            }
        })?;
        if is_negative {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a size is negative"));
        }
        Ok(header)
    }
}

/// Some codecs decompress into a buffer of the size in the header, and fail if that is too small. The others decompress
/// everything, so their pages are decompressed here first, without keeping the result.
fn check_decompressed_size(
    file: &mut impl BufRead,
    codec: Compression,
    page: &PageHeader,
) -> Result<(), String> {
    if page.is_uncompressed || page.levels > page.compressed {
        return Ok(());
    }
    let mut page_bytes = file.take(page.compressed);
    io::copy(&mut page_bytes.by_ref().take(page.levels), &mut io::sink()).map_err(invalid_page)?;
    let max = page.decompressed;
    let count = |stream: &mut dyn Read| {
        // An invalid stream ends here as it does in the reader, which reports it.
        let (mut total, mut buffer) = (0, [0; 1 << 14]);
        while total <= max {
            match stream.read(&mut buffer) {
                Ok(0) | Err(_) => break,
                Ok(read) => total += read as u64,
            }
        }
        total
    };
    let decompressed = match codec {
        Compression::GZIP(_) => count(&mut flate2::read::MultiGzDecoder::new(page_bytes)),
        Compression::BROTLI(_) => count(&mut brotli::Decompressor::new(page_bytes, 1 << 14)),
        Compression::LZ4 => count(&mut lz4_flex::frame::FrameDecoder::new(page_bytes)),
        _ => 0,
    };
    if decompressed > max {
        return Err(format!("a page decompresses to more than the {max} bytes of its header"));
    }
    Ok(())
}
