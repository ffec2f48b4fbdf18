//! The engines, each in its best reasonable configuration.

mod lmdb;
mod memory;
mod redb;
mod sqlite;
mod store;

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::blocks::BlockTables;
use crate::data::{PeerData, url};
use crate::engine::{BuiltEngine, EngineHome, OpenWriter, QueryOptions};

/// The input for building an engine.
pub(crate) struct EngineInput<'a> {
    /// The pages.
    pub(crate) data: &'a PeerData,
    /// These pages as sorted entries, for engines that are loaded in key order.
    pub(crate) tables: &'a BlockTables,
    /// The requirements of searches.
    pub(crate) wanted: QueryOptions,
    /// The directory for files.
    pub(crate) dir: &'a Path,
}

impl EngineInput<'_> {
    /// Pages with their URLs; empty if URLs are not required.
    fn urls(&self) -> impl Iterator<Item = (u32, String)> {
        let pages = if self.wanted.urls { self.data.fingerprints.len() as u32 } else { 0 };
        (0..pages).map(|page| (page, url(page)))
    }
}

/// An engine that can be selected.
pub(crate) struct EngineChoice {
    /// Its name.
    pub(crate) name: &'static str,
    /// The storage of its data.
    pub(crate) place: EngineHome,
    /// Whether it is measured by default.
    pub(crate) default: bool,
    /// Builds it.
    pub(crate) build: fn(&EngineInput<'_>) -> BuiltEngine,
    /// Opens it for durable writes, if its layout suits them.
    pub(crate) writer: Option<OpenWriter>,
}

/// The name of the engine that the others are compared with.
pub(crate) const OWN: &str = "store";

/// All engines.
pub(crate) const ALL: [EngineChoice; 11] = {
    const fn on(
        place: EngineHome,
        name: &'static str,
        build: fn(&EngineInput<'_>) -> BuiltEngine,
        default: bool,
    ) -> EngineChoice {
        EngineChoice { name, place, default, build, writer: None }
    }
    const fn writable(choice: EngineChoice, writer: OpenWriter) -> EngineChoice {
        EngineChoice { writer: Some(writer), ..choice }
    }
    [
        writable(on(EngineHome::Disk, OWN, store::build, true), store::writer),
        on(EngineHome::Memory, "mih", memory::mih, true),
        on(EngineHome::Memory, "mih-4", memory::mih_4, true),
        writable(on(EngineHome::Disk, "redb", redb::rows, true), redb::writer),
        on(EngineHome::Disk, "redb-bucket", redb::buckets, true),
        writable(on(EngineHome::Disk, "lmdb", lmdb::rows, true), lmdb::writer),
        on(EngineHome::Disk, "lmdb-bucket", lmdb::buckets, true),
        writable(on(EngineHome::Disk, "sqlite", sqlite::rows, true), sqlite::writer),
        on(EngineHome::Disk, "sqlite-bucket", sqlite::buckets, true),
        on(EngineHome::Disk, "sqlite-index", sqlite::indexes, false),
        on(EngineHome::Memory, "scan", memory::scan, true),
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
