//! A sound store: the golden store. It has every kind of section,
//! record and operation, and is the same in every run.

use std::sync::Arc;

use simkeep::disk::{Disk, FileName, SimDisk};
use simkeep::{Options, Store};

use crate::fuzz::allocator::BYTES_MAX;

macro_rules! golden {
    ($name:literal) => {
        include_bytes!(concat!("../../../../format/golden/v6/", $name)).as_slice()
    };
}

/// The segments of the golden store, oldest first: 81,452 bytes with rotations, 5,764 and 2,700.
pub const SEGMENTS: [(u64, &[u8]); 3] = [
    (3, golden!("segments/0000000003.seg")),
    (7, golden!("segments/0000000007.seg")),
    (8, golden!("segments/0000000008.seg")),
];

pub const CATALOG: &[u8] = golden!("catalog.redb");
pub const LOCK: &[u8] = golden!("LOCK");
pub const SNAPSHOT: &[u8] = golden!("SNAPSHOT");

/// The table of document frequencies of epoch 4.
const TABLE: (u64, &[u8]) = (4, golden!("0000000004.df"));

/// All files of the golden store.
pub fn golden() -> Vec<(FileName, Vec<u8>)> {
    let segments = SEGMENTS.map(|(id, bytes)| (FileName::Segment(id), bytes.to_vec()));
    let root = [
        (FileName::Catalog, CATALOG),
        (FileName::Lock, LOCK),
        (FileName::Snapshot, SNAPSHOT),
        (FileName::Df(TABLE.0), TABLE.1),
    ];
    let root = root.map(|(name, bytes)| (name, bytes.to_vec()));
    root.into_iter().chain(segments).collect()
}

/// A disk with these files, and with little free space.
pub fn disk(files: impl IntoIterator<Item = (FileName, Vec<u8>)>) -> SimDisk {
    let disk = SimDisk::of(files);
    disk.set_capacity_bytes(Some(BYTES_MAX as u64 / 4));
    disk
}

/// A simulated disk, as the store takes it.
pub fn on(disk: &SimDisk) -> Arc<dyn Disk> {
    Arc::new(disk.clone())
}

/// Options without background threads, and with memtables and merges so small that both occur.
pub fn options() -> Options {
    Options::default()
        .memtable_observations(16)
        .merge_fanout(2)
        .background(false)
        .refers_to(true)
        .background_memory_bytes(1 << 20)
}

pub fn open(disk: &SimDisk) -> simkeep::Result<Store> {
    Store::open(on(disk), options())
}
