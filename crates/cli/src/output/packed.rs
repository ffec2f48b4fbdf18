//! A file of lines, compressed as its name says. It gets its name only once it is complete.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use flate2::write::GzEncoder;
use simkeep_formats::raw::Packing;

use crate::output::temporary::{Beside, place_of};

/// A file that is being written.
pub(crate) struct PackedFile {
    place: PathBuf,
    packed: Packed,
}

enum Packed {
    Plain(Beside),
    Gzip(GzEncoder<Beside>),
    Zstd(zstd::Encoder<'static, Beside>),
}

impl PackedFile {
    /// Begins the file with this name, which may replace an existing file.
    pub(crate) fn create(path: &Path) -> io::Result<PackedFile> {
        let name = path.to_string_lossy().to_ascii_lowercase();
        let packing = if name.ends_with(".gz") {
            Packing::Gzip
        } else if name.ends_with(".zst") {
            Packing::Zstd
        } else {
            Packing::Plain
        };
        PackedFile::packed(place_of(path)?, packing)
    }

    /// Begins a file at this path with this compression. It replaces an existing file, even a
    /// symbolic link.
    pub(crate) fn packed(place: PathBuf, packing: Packing) -> io::Result<PackedFile> {
        let file = Beside::create(&place)?;
        let packed = match packing {
            Packing::Plain => Packed::Plain(file),
            Packing::Gzip => Packed::Gzip(GzEncoder::new(file, flate2::Compression::default())),
            Packing::Zstd => {
                let mut encoder = zstd::Encoder::new(file, zstd::DEFAULT_COMPRESSION_LEVEL)?;
                encoder.include_checksum(true)?;
                Packed::Zstd(encoder)
            }
        };
        Ok(PackedFile { place, packed })
    }

    /// Moves the complete file to its path and returns its length in bytes. The file is durable
    /// when this returns.
    pub(crate) fn put(self) -> io::Result<u64> {
        let file = match self.packed {
            Packed::Plain(file) => file,
            Packed::Gzip(encoder) => encoder.finish()?,
            Packed::Zstd(encoder) => encoder.finish()?,
        };
        let len = fs::metadata(file.path())?.len();
        file.put(&self.place)?;
        Ok(len)
    }
}

impl Write for PackedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.packed {
            Packed::Plain(file) => file.write(bytes),
            Packed::Gzip(encoder) => encoder.write(bytes),
            Packed::Zstd(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.packed {
            Packed::Plain(file) => file.flush(),
            Packed::Gzip(encoder) => encoder.flush(),
            Packed::Zstd(encoder) => encoder.flush(),
        }
    }
}
