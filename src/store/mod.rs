//! The store.

mod answer;
mod options;

use std::path::Path;
use std::sync::Arc;

pub use answer::{
    ExactCopy, Forgotten, History, Matches, Merged, Near, Outcome, Page, Query, SegmentStats,
    Stats, Verified, Version,
};
pub use options::{Durability, Options};

use crate::Result;
use crate::disk::Disk;
use crate::page::{Epoch, Observation, Prefix, Visit};

/// What [`Store::forget`] applies to.
#[derive(Clone, Debug)]
pub enum Scope<'a> {
    /// One page.
    Url(&'a str),
    /// Every page under a prefix.
    Prefix(Prefix),
}

/// A store, open for writing; cheap to clone.
#[derive(Clone)]
pub struct Store {}

/// A consistent view.
#[derive(Clone)]
pub struct Snapshot {}

/// Pages in SURT order.
pub struct Scan {}

impl Iterator for Scan {
    type Item = Result<Page>;
    fn next(&mut self) -> Option<Self::Item> {
        todo!()
    }
}

#[expect(unused_variables, reason = "skeleton")]
impl Store {
    /// Opens an existing store.
    pub fn open(path: impl AsRef<Path>, options: Options) -> Result<Store> {
        todo!()
    }
    /// Makes a new store.
    pub fn create(path: impl AsRef<Path>, options: Options) -> Result<Store> {
        todo!()
    }
    /// Opens the store, or makes it.
    pub fn open_or_create(path: impl AsRef<Path>, options: Options) -> Result<Store> {
        todo!()
    }
    /// Opens without ever writing (loads the catalog into memory and recovers there).
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Store> {
        todo!()
    }
    /// The same three on any disk.
    pub fn open_on(disk: Arc<dyn Disk>, options: Options) -> Result<Store> {
        todo!()
    }
    /// Makes a new store on any disk.
    pub fn create_on(disk: Arc<dyn Disk>, options: Options) -> Result<Store> {
        todo!()
    }
    /// Read only on any disk.
    pub fn open_read_only_on(disk: Arc<dyn Disk>) -> Result<Store> {
        todo!()
    }
    /// The number of an epoch, registered if it is new.
    pub fn epoch(&self, name: &str) -> Result<Epoch> {
        todo!()
    }
    /// The names of the epochs, by number.
    pub fn epochs(&self) -> Vec<String> {
        todo!()
    }
    /// Observe.
    pub fn observe(&self, observation: Observation<'_>) -> Result<Outcome> {
        todo!()
    }
    /// Observe many, one after another.
    pub fn observe_batch(&self, observations: &[Observation<'_>]) -> Result<Vec<Outcome>> {
        todo!()
    }
    /// Forget; `purge` rewrites files so that the bytes are gone.
    pub fn forget(&self, scope: Scope<'_>) -> Result<Forgotten> {
        todo!()
    }
    /// Forget and rewrite.
    pub fn purge(&self, scope: Scope<'_>) -> Result<Forgotten> {
        todo!()
    }
    /// A consistent view of everything acknowledged.
    pub fn snapshot(&self) -> Snapshot {
        todo!()
    }
    /// Versions in force within k, newest epoch, at most 16.
    pub fn near(&self, fingerprint: u64, k: u32) -> Result<Matches> {
        self.snapshot().search(&Query::new(fingerprint, k))
    }
    /// A search.
    pub fn search(&self, query: &Query) -> Result<Matches> {
        self.snapshot().search(query)
    }
    /// History; empty for an unknown page.
    pub fn history(&self, url: &str) -> Result<History> {
        self.snapshot().history(url)
    }
    /// The content visit in force at a time: the last content at or before it; None if the page was
    /// unknown or gone then.
    pub fn as_of(&self, url: &str, time: i64) -> Result<Option<Visit>> {
        self.snapshot().as_of(url, time)
    }
    /// The page as it stands.
    pub fn latest(&self, url: &str) -> Result<Option<Page>> {
        self.snapshot().latest(url)
    }
    /// Pages under a prefix in SURT order (None: all).
    pub fn scan(&self, prefix: Option<&Prefix>) -> Scan {
        self.snapshot().scan(prefix)
    }
    /// Everything acknowledged so far is durable when this returns.
    pub fn flush(&self) -> Result<()> {
        todo!()
    }
    /// Seal the memtable now, and wait for it.
    pub fn seal(&self) -> Result<()> {
        todo!()
    }
    /// Merge all segments into one, and wait for it.
    pub fn merge(&self) -> Result<Merged> {
        todo!()
    }
    /// Wait until no seal or merge is due.
    pub fn rest(&self) -> Result<()> {
        todo!()
    }
    /// Sizes.
    pub fn stats(&self) -> Result<Stats> {
        todo!()
    }
    /// Read and check everything.
    pub fn verify(&self) -> Result<Verified> {
        todo!()
    }
    /// Flush, end the background work, release the lock.
    pub fn close(self) -> Result<()> {
        todo!()
    }
}

#[expect(unused_variables, reason = "skeleton")]
impl Snapshot {
    /// The number of the last operation in it.
    pub fn sequence(&self) -> u64 {
        todo!()
    }
    /// See [`Store::search`].
    pub fn search(&self, query: &Query) -> Result<Matches> {
        todo!()
    }
    /// See [`Store::history`].
    pub fn history(&self, url: &str) -> Result<History> {
        todo!()
    }
    /// See [`Store::as_of`].
    pub fn as_of(&self, url: &str, time: i64) -> Result<Option<Visit>> {
        todo!()
    }
    /// See [`Store::latest`].
    pub fn latest(&self, url: &str) -> Result<Option<Page>> {
        todo!()
    }
    /// See [`Store::scan`].
    pub fn scan(&self, prefix: Option<&Prefix>) -> Scan {
        todo!()
    }
}
