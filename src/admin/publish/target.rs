//! The directory to which a store is published: its contents, and which of its files may be
//! removed.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::admin::copy::StoreLineage;
use crate::catalog::{CatalogContents, Generation};
use crate::disk::{Dir, Disk, FileName, LockGuard, LockMode, LockOutcome, PublishedFileId};
use crate::engine::generations::{names_of, numbers, parsed, read, require_published};
use crate::error::{Corruption, Error, Result};

/// The target of one store, locked against other publishers.
pub(super) struct PublishTarget {
    disk: Arc<dyn Disk>,
    _lock: Box<dyn LockGuard>,
    /// The existing generations, by number.
    pub(super) generations: Vec<Generation>,
}

impl PublishTarget {
    /// Locks a directory, which is created if it does not exist.
    pub(super) fn take(disk: &Arc<dyn Disk>) -> Result<PublishTarget> {
        require_published(disk)?;
        disk.create_dirs(Dir::PUBLISHED).map_err(|e| Error::io("create", disk.location(), e))?;
        let held = disk.lock(FileName::Lock, LockMode::Exclusive);
        let lock = match held.map_err(|e| Error::io("lock", FileName::Lock, e))? {
            LockOutcome::Held(lock) => lock,
            LockOutcome::Refused(holder) => {
                return Err(Error::Locked { location: disk.location(), holder });
            }
        };
        let read = |number| {
            read(&**disk, number).map_err(|e| match e {
                Error::Corrupt(flaw) => {
                    let what = format!("{}; remove this file, and publish again", flaw.what);
                    Error::Corrupt(Corruption { what, ..flaw })
                }
                other => other,
            })
        };
        let generations = numbers(&**disk)?.into_iter().map(read).collect::<Result<_>>()?;
        Ok(PublishTarget { disk: Arc::clone(disk), _lock: lock, generations })
    }

    /// Checks that only this store is published in the directory, and that `contents` derive from
    /// the newest generation.
    pub(super) fn require(&self, contents: &CatalogContents) -> Result<()> {
        let not = |why: String| Err(Error::NotABackup { location: self.disk.location(), why });
        let store = contents.settings.store;
        if let Some(other) = self.generations.iter().find(|of| of.published.store != store) {
            let other = other.published.store;
            return not(format!(
                "it contains generations of the store {other:016x}, but this is the store \
                 {store:016x}"
            ));
        }
        let Some(Generation { number, published, .. }) = self.generations.last() else {
            return Ok(());
        };
        let why = StoreLineage::from(published).why_not_earlier(&StoreLineage::from(contents));
        why.map_or(Ok(()), |why| not(format!("generation {number} is not an earlier state: {why}")))
    }

    /// The number of the next generation.
    pub(super) fn next(&self) -> Result<u64> {
        let newest = self.generations.last().map_or(0, |newest| newest.number);
        let (what, instead) = ("generations in a directory", "publish in another directory");
        newest.checked_add(1).ok_or(Error::Limit { what, max: u64::MAX, instead })
    }

    /// The files listed by existing generations: these files were complete when they were
    /// published.
    pub(super) fn named(&self) -> BTreeSet<FileName> {
        self.generations.iter().flat_map(names_of).collect()
    }

    /// Makes the names of the files in a directory durable.
    pub(super) fn sync(&self, dir: Dir) -> Result<()> {
        let synced = self.disk.sync_dir(dir);
        synced.map_err(|e| Error::io("sync the directories of", self.disk.location(), e))
    }

    /// Removes generations that are not among the newest `keep`, and that were replaced longer than
    /// `grace` ago. Returns their numbers.
    pub(super) fn retire(
        &mut self,
        keep: usize,
        grace: Duration,
        now: SystemTime,
    ) -> Result<Vec<u64>> {
        // The clock may have been set back, but a generation is never replaced before it was
        // written.
        let written = || self.generations.iter().map(|of| of.published.written);
        let followed = written().zip(written().skip(1)).map(|(own, next)| own.max(next));
        let old = self.generations.len().saturating_sub(keep);
        let is_over = |since: SystemTime| {
            grace.is_zero() || now.duration_since(since).is_ok_and(|age| age >= grace)
        };
        let retired = followed.take(old).take_while(|since| is_over(*since)).count();
        let retired: Vec<u64> = self.generations.drain(..retired).map(|of| of.number).collect();
        for number in &retired {
            self.remove(FileName::Generation(*number))?;
        }
        if !retired.is_empty() {
            // Must come before any file of the generations is removed.
            self.sync(Dir::Generations)?;
        }
        Ok(retired)
    }

    /// Removes this store's files that no generation lists. Returns the number of removed files.
    pub(super) fn sweep(&self, of: u64) -> Result<u64> {
        let named = self.named();
        let mut removed = 0;
        for name in parsed(&*self.disk, Dir::Files)? {
            let (FileName::PublishedSegment(PublishedFileId { store, .. })
            | FileName::PublishedSegmentNew(PublishedFileId { store, .. })
            | FileName::PublishedDf(PublishedFileId { store, .. })
            | FileName::PublishedDfNew(PublishedFileId { store, .. })) = name
            else {
                continue;
            };
            if store == of && !named.contains(&name) {
                self.remove(name)?;
                removed += u64::from(matches!(
                    name,
                    FileName::PublishedSegment(_) | FileName::PublishedDf(_)
                ));
            }
        }
        for name in parsed(&*self.disk, Dir::Generations)? {
            if matches!(name, FileName::GenerationNew(_)) {
                self.remove(name)?;
            }
        }
        self.sync(Dir::Files)?;
        Ok(removed)
    }

    fn remove(&self, name: FileName) -> Result<()> {
        self.disk.remove(name).map_err(|e| Error::io("remove", name, e))
    }
}
