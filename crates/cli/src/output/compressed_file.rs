//! A file of lines, compressed as its name says. It gets its name only once it is complete.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use flate2::write::GzEncoder;
use simkeep_formats::raw::FileCompression;

use crate::output::temporary::{UnfinishedFile, place_of};

/// A file that is being written.
pub(crate) struct CompressedFile {
    place: PathBuf,
    packed: CompressedWriter,
}

enum CompressedWriter {
    Plain(UnfinishedFile),
    Gzip(GzEncoder<UnfinishedFile>),
    Zstd(zstd::Encoder<'static, UnfinishedFile>),
}

impl CompressedFile {
    /// Begins the file with this name, which may replace an existing file.
    pub(crate) fn create(path: &Path) -> io::Result<CompressedFile> {
        let name = path.to_string_lossy().to_ascii_lowercase();
        let packing = if name.ends_with(".gz") {
            FileCompression::Gzip
        } else if name.ends_with(".zst") {
            FileCompression::Zstd
        } else {
            FileCompression::Plain
        };
        CompressedFile::packed(place_of(path)?, packing)
    }

    /// Begins a file at this path with this compression. It replaces an existing file, even a
    /// symbolic link.
    pub(crate) fn packed(place: PathBuf, packing: FileCompression) -> io::Result<CompressedFile> {
        let file = UnfinishedFile::create(&place)?;
        let packed = match packing {
            FileCompression::Plain => CompressedWriter::Plain(file),
            FileCompression::Gzip => {
                CompressedWriter::Gzip(GzEncoder::new(file, flate2::Compression::default()))
            }
            FileCompression::Zstd => {
                let mut encoder = zstd::Encoder::new(file, zstd::DEFAULT_COMPRESSION_LEVEL)?;
                encoder.include_checksum(true)?;
                CompressedWriter::Zstd(encoder)
            }
        };
        Ok(CompressedFile { place, packed })
    }

    /// Moves the complete file to its path and returns its length in bytes. The file is durable
    /// when this returns.
    pub(crate) fn put(self) -> io::Result<u64> {
        let file = match self.packed {
            CompressedWriter::Plain(file) => file,
            CompressedWriter::Gzip(encoder) => encoder.finish()?,
            CompressedWriter::Zstd(encoder) => encoder.finish()?,
        };
        let len = fs::metadata(file.path())?.len();
        file.put(&self.place)?;
        Ok(len)
    }
}

impl Write for CompressedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.packed {
            CompressedWriter::Plain(file) => file.write(bytes),
            CompressedWriter::Gzip(encoder) => encoder.write(bytes),
            CompressedWriter::Zstd(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.packed {
            CompressedWriter::Plain(file) => file.flush(),
            CompressedWriter::Gzip(encoder) => encoder.flush(),
            CompressedWriter::Zstd(encoder) => encoder.flush(),
        }
    }
}
