//! Unpacking a file, whatever it is packed with.

use std::io::{self, BufRead};

use super::gzip::{self, Gzip};
use super::window::Window;
use super::zstandard::{self, Zstandard, ZstdWindow};

/// How a file is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Not at all.
    Plain,
    /// With gzip.
    Gzip,
    /// With zstd.
    Zstd,
}

/// The bytes of a file, unpacked.
///
/// Reading gives an error where a packed part is damaged, and then goes on behind that part: what
/// comes next does not continue what came before. It ends in any case.
pub(super) enum Unpacked {
    /// A file that is not packed.
    Plain(Window),
    /// A row of gzip members.
    Gzip(Gzip),
    /// A row of zstd frames.
    Zstandard(Box<Zstandard>),
}

/// Whether a file that begins so is packed.
pub(super) fn is_packed(start: &[u8]) -> bool {
    gzip::is_start(start) || zstandard::is_start(start)
}

impl Unpacked {
    /// Finds by its first bytes how a file is packed.
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

    /// Where in the packed file the part stands that is being unpacked; `None` if it is not packed.
    pub(super) fn part(&self) -> Option<u64> {
        match self {
            Unpacked::Plain(_) => None,
            Unpacked::Gzip(gzip) => Some(gzip.member()),
            Unpacked::Zstandard(zstd) => Some(zstd.frame()),
        }
    }

    /// Whether nothing that was read from the file waits to be unpacked.
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
