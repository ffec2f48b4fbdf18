//! The engines, each in its best reasonable configuration.

mod lmdb;
mod memory;
mod redb;
mod sqlite;
mod store;

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::blocks::Tables;
use crate::data::{Data, url};
use crate::engine::{Built, Place, Wanted};

/// The input for building an engine.
pub(crate) struct Source<'a> {
    /// The pages.
    pub(crate) data: &'a Data,
    /// These pages as sorted entries, for engines that are loaded in key order.
    pub(crate) tables: &'a Tables,
    /// The requirements of searches.
    pub(crate) wanted: Wanted,
    /// The directory for files.
    pub(crate) dir: &'a Path,
}

impl Source<'_> {
    /// Pages with their URLs; empty if URLs are not required.
    fn urls(&self) -> impl Iterator<Item = (u32, String)> {
        let pages = if self.wanted.urls { self.data.fingerprints.len() as u32 } else { 0 };
        (0..pages).map(|page| (page, url(page)))
    }
}

/// An engine that can be selected.
pub(crate) struct Candidate {
    /// Its name.
    pub(crate) name: &'static str,
    /// The storage of its data.
    pub(crate) place: Place,
    /// Whether it is measured by default.
    pub(crate) default: bool,
    /// Builds it.
    pub(crate) build: fn(&Source<'_>) -> Built,
}

/// The name of the engine that the others are compared with.
pub(crate) const OWN: &str = "store";

/// All engines.
pub(crate) const ALL: [Candidate; 11] = {
    const fn on(
        place: Place,
        name: &'static str,
        build: fn(&Source<'_>) -> Built,
        default: bool,
    ) -> Candidate {
        Candidate { name, place, default, build }
    }
    [
        on(Place::Disk, OWN, store::build, true),
        on(Place::Memory, "mih", memory::mih, true),
        on(Place::Memory, "mih-4", memory::mih_4, true),
        on(Place::Disk, "redb", redb::rows, true),
        on(Place::Disk, "redb-bucket", redb::buckets, true),
        on(Place::Disk, "lmdb", lmdb::rows, true),
        on(Place::Disk, "lmdb-bucket", lmdb::buckets, true),
        on(Place::Disk, "sqlite", sqlite::rows, true),
        on(Place::Disk, "sqlite-bucket", sqlite::buckets, true),
        on(Place::Disk, "sqlite-index", sqlite::indexes, false),
        on(Place::Memory, "scan", memory::scan, true),
    ]
};

/// The bytes that a file or directory takes on the disk, without holes.
fn disk_bytes(path: &Path) -> u64 {
    let metadata = path.metadata().unwrap();
    if !metadata.is_dir() {
        return metadata.blocks() * 512;
    }
    path.read_dir().unwrap().map(|entry| disk_bytes(&entry.unwrap().path())).sum()
}
