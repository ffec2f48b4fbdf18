//! Decompresses a file in any supported format.

use std::io::{self, BufRead};

use super::gzip::{self, Gzip};
use super::window::RewindReader;
use super::zstandard::{self, Zstandard, ZstdWindow};

/// The compression of a file.
///
/// ```
/// use std::sync::Arc;
///
/// use simkeep_formats::ZstdWindow;
/// use simkeep_formats::raw::{CorpusFile, FileCompression};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("pages.jsonl");
/// std::fs::write(&path, "{\"id\":1}\n")?;
/// let file = CorpusFile::open(&path, ZstdWindow::default(), Arc::default())?;
/// let CorpusFile::Lines(lines) = file else { panic!("it has lines") };
/// assert_eq!(lines.packing(), FileCompression::Plain);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileCompression {
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
pub(super) enum Decompressed {
    /// An uncompressed file.
    Plain(RewindReader),
    /// A sequence of gzip members.
    Gzip(Gzip),
    /// A sequence of zstd frames.
    Zstandard(Box<Zstandard>),
}

/// Whether a file with this start is compressed.
pub(super) fn is_packed(start: &[u8]) -> bool {
    gzip::is_start(start) || zstandard::is_start(start)
}

impl Decompressed {
    /// Detects the compression of a file from its first bytes.
    pub(super) fn new(mut file: RewindReader, zstd_window: ZstdWindow) -> io::Result<Decompressed> {
        let start = file.peek(4)?;
        Ok(if gzip::is_start(start) {
            Decompressed::Gzip(Gzip::new(file))
        } else if zstandard::is_start(start) {
            Decompressed::Zstandard(Box::new(Zstandard::new(file, zstd_window)?))
        } else {
            Decompressed::Plain(file)
        })
    }

    /// Returns the offset in the compressed file of the current part; `None` if the file is
    /// uncompressed.
    pub(super) fn part(&self) -> Option<u64> {
        match self {
            Decompressed::Plain(_) => None,
            Decompressed::Gzip(gzip) => Some(gzip.member()),
            Decompressed::Zstandard(zstd) => Some(zstd.frame()),
        }
    }

    /// Whether all bytes read from the file have been decompressed.
    pub(super) fn is_drained(&self) -> bool {
        match self {
            Decompressed::Plain(file) => file.is_drained(),
            Decompressed::Gzip(gzip) => gzip.is_drained(),
            Decompressed::Zstandard(zstd) => zstd.is_drained(),
        }
    }

    pub(super) fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self {
            Decompressed::Plain(file) => file.fill_buf(),
            Decompressed::Gzip(gzip) => gzip.fill_buf(),
            Decompressed::Zstandard(zstd) => zstd.fill_buf(),
        }
    }

    pub(super) fn consume(&mut self, count: usize) {
        match self {
            Decompressed::Plain(file) => file.consume(count),
            Decompressed::Gzip(gzip) => gzip.consume(count),
            Decompressed::Zstandard(zstd) => zstd.consume(count),
        }
    }
}
