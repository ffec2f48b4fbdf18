//! Decompresses a file in any supported format.

use std::io::{self, BufRead};

use super::gzip::{self, Gzip};
use super::window::Window;
use super::zstandard::{self, Zstandard, ZstdWindow};

/// The compression of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Uncompressed.
    Plain,
    /// Compressed with gzip.
    Gzip,
    /// Compressed with zstd.
    Zstd,
}

/// The decompressed bytes of a file.
///
/// Reading returns an error at a damaged compressed part, and then continues after that part. The
/// bytes after an error do not continue the previous bytes. Reading always ends.
pub(super) enum Unpacked {
    /// An uncompressed file.
    Plain(Window),
    /// A sequence of gzip members.
    Gzip(Gzip),
    /// A sequence of zstd frames.
    Zstandard(Box<Zstandard>),
}

/// Whether a file with this start is compressed.
pub(super) fn is_packed(start: &[u8]) -> bool {
    gzip::is_start(start) || zstandard::is_start(start)
}

impl Unpacked {
    /// Detects the compression of a file from its first bytes.
    pub(super) fn new(mut file: Window, zstd_window: ZstdWindow) -> io::Result<Unpacked> {
        let start = file.peek(4)?;
        Ok(if gzip::is_start(start) {
            Unpacked::Gzip(Gzip::new(file))
        } else if zstandard::is_start(start) {
            Unpacked::Zstandard(Box::new(Zstandard::new(file, zstd_window)?))
        } else {
            Unpacked::Plain(file)
        })
    }

    /// Returns the offset in the compressed file of the current part; `None` if the file is
    /// uncompressed.
    pub(super) fn part(&self) -> Option<u64> {
        match self {
            Unpacked::Plain(_) => None,
            Unpacked::Gzip(gzip) => Some(gzip.member()),
            Unpacked::Zstandard(zstd) => Some(zstd.frame()),
        }
    }

    /// Whether all bytes read from the file have been decompressed.
    pub(super) fn is_drained(&self) -> bool {
        match self {
            Unpacked::Plain(file) => file.is_drained(),
            Unpacked::Gzip(gzip) => gzip.is_drained(),
            Unpacked::Zstandard(zstd) => zstd.is_drained(),
        }
    }

    pub(super) fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self {
            Unpacked::Plain(file) => file.fill_buf(),
            Unpacked::Gzip(gzip) => gzip.fill_buf(),
            Unpacked::Zstandard(zstd) => zstd.fill_buf(),
        }
    }

    pub(super) fn consume(&mut self, count: usize) {
        match self {
            Unpacked::Plain(file) => file.consume(count),
            Unpacked::Gzip(gzip) => gzip.consume(count),
            Unpacked::Zstandard(zstd) => zstd.consume(count),
        }
    }
}
