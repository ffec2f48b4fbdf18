//! Counts what was tried: states by the hash of the whole disk, each once.

use std::collections::HashSet;
use std::hash::Hasher;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use simkeep::disk::{FileName, SimDisk};
use xxhash_rust::xxh3::Xxh3Default;

/// The hash of a disk without the time in `SNAPSHOT`, which differs in each run.
pub(crate) fn image(disk: &SimDisk) -> u64 {
    let mut hash = Xxh3Default::new();
    disk.read_each(|name, content| {
        hash.write(name.to_string().as_bytes());
        hash.write_usize(content.len());
        match (name, content.len()) {
            (FileName::Snapshot | FileName::SnapshotNew, 28..) => {
                hash.write(&content[..16]);
                hash.write(&content[24..content.len() - 4]);
            }
            _ => hash.write(content),
        }
    });
    hash.finish()
}

/// Counters for several threads.
#[derive(Default)]
pub(crate) struct CrashCounts {
    images: Mutex<HashSet<u64>>,
    checked: Mutex<HashSet<(u64, u64)>>,
    inside: AtomicU64,
    points: AtomicU64,
    whole: AtomicU64,
}

impl CrashCounts {
    /// Whether this image was not seen in this situation before; counts it if no situation had it.
    /// `inside` is whether a seal, a merge or a forgetting was running.
    pub(crate) fn is_new(&self, image: u64, situation: u64, inside: bool) -> bool {
        if self.images.lock().unwrap().insert(image) {
            self.inside.fetch_add(u64::from(inside), Ordering::Relaxed);
        }
        self.checked.lock().unwrap().insert((image, situation))
    }

    /// Counts a moment; `whole` is whether all of its states were tried.
    pub(crate) fn point(&self, whole: bool) {
        self.points.fetch_add(1, Ordering::Relaxed);
        self.whole.fetch_add(u64::from(whole), Ordering::Relaxed);
    }

    /// The number of distinct images.
    pub(crate) fn states(&self) -> u64 {
        self.images.lock().unwrap().len() as u64
    }

    /// The images first seen inside a seal, a merge or a forgetting.
    pub(crate) fn inside(&self) -> u64 {
        self.inside.load(Ordering::Relaxed)
    }

    /// Returns the number of moments, and of those with every subset of pages tried.
    pub(crate) fn points(&self) -> (u64, u64) {
        (self.points.load(Ordering::Relaxed), self.whole.load(Ordering::Relaxed))
    }
}
