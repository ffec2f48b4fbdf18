//! The location of a store.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::layer::PlainDisk;
use super::{Disk, RealDisk};

/// The location of a store: a directory, converted from its path.
///
/// Functions that open a store accept anything that converts to a location, such as a path. Create
/// a location yourself only to change how the store is read:
///
/// ```
/// # fn main() -> simkeep::Result<()> {
/// # use simkeep::{Location, Options, Reader, Store};
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("crawl.simkeep");
/// # Store::create(&path, Options::default())?;
/// let reader = Reader::open(Location::from(&path).plain_reads())?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Location {
    at: LocationKind,
    plain: bool,
}

#[derive(Clone, Debug)]
enum LocationKind {
    Directory(PathBuf),
    #[cfg(feature = "internals")]
    Disk(Arc<dyn Disk>),
}

impl Location {
    /// Reads segments into memory when they are opened, instead of mapping them.
    ///
    /// With plain reads, an I/O error is an error and never a signal, and a file truncated by
    /// another program does not end the process. The cost is memory for all segments.
    #[must_use]
    pub fn plain_reads(mut self) -> Location {
        self.plain = true;
        self
    }

    /// The directory of the location; `None` for a location that is not a directory.
    fn directory(&self) -> Option<RealDisk> {
        match &self.at {
            LocationKind::Directory(path) => Some(RealDisk::new(path)),
            #[cfg(feature = "internals")]
            LocationKind::Disk(_) => None,
        }
    }

    /// The path of a store that contains this directory, if any: a directory with a catalog, or
    /// `other` even without a catalog.
    pub(crate) fn store_above(&self, other: Option<&Location>) -> io::Result<Option<PathBuf>> {
        let other = other.and_then(Location::directory);
        self.directory().map_or(Ok(None), |disk| disk.store_above(other.as_ref()))
    }

    /// Whether both locations are the same directory, under any name.
    pub(crate) fn is_same(&self, other: &Location) -> bool {
        match (self.directory(), other.directory()) {
            (Some(disk), Some(other)) => disk.is_same(&other),
            _ => false,
        }
    }

    /// The disk of this location. A new store gives its files the permissions `file_mode`.
    pub(crate) fn disk(self, file_mode: Option<u32>) -> Arc<dyn Disk> {
        let disk: Arc<dyn Disk> = match self.at {
            LocationKind::Directory(path) => {
                let disk = RealDisk::new(&path);
                Arc::new(match file_mode {
                    Some(mode) => disk.with_file_mode(mode),
                    None => disk,
                })
            }
            #[cfg(feature = "internals")]
            LocationKind::Disk(disk) => disk,
        };
        if self.plain { Arc::new(PlainDisk::new(disk)) } else { disk }
    }
}

impl<P: AsRef<Path> + ?Sized> From<&P> for Location {
    fn from(path: &P) -> Location {
        Location { at: LocationKind::Directory(path.as_ref().to_owned()), plain: false }
    }
}

impl From<String> for Location {
    fn from(path: String) -> Location {
        Location::from(PathBuf::from(path))
    }
}

impl From<PathBuf> for Location {
    fn from(path: PathBuf) -> Location {
        Location { at: LocationKind::Directory(path), plain: false }
    }
}

#[cfg(feature = "internals")]
impl<D: Disk> From<Arc<D>> for Location {
    fn from(disk: Arc<D>) -> Location {
        Location::from(disk as Arc<dyn Disk>)
    }
}

#[cfg(feature = "internals")]
impl From<Arc<dyn Disk>> for Location {
    fn from(disk: Arc<dyn Disk>) -> Location {
        Location { at: LocationKind::Disk(disk), plain: false }
    }
}
