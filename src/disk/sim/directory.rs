//! The names of a simulated directory, current and durable.

use std::collections::BTreeMap;

use crate::disk::FileName;

/// Names and their inodes.
pub(super) type DirEntries = BTreeMap<FileName, u64>;

/// A change to a directory.
#[derive(Clone, Copy, Debug)]
pub(super) enum EntryChange {
    Create { name: FileName, inode: u64 },
    Rename { to: FileName, inode: u64 },
    Remove { name: FileName, inode: u64 },
}

impl EntryChange {
    /// Applies the change to entries that may lack earlier changes. A name is removed only from the
    /// inode that had the name at the time of the change, and an inode never has two names.
    pub(super) fn apply(self, entries: &mut DirEntries) {
        match self {
            EntryChange::Create { name, inode } | EntryChange::Rename { to: name, inode } => {
                entries.retain(|_, other| *other != inode);
                entries.insert(name, inode);
            }
            EntryChange::Remove { name, inode } => {
                if entries.get(&name) == Some(&inode) {
                    entries.remove(&name);
                }
            }
        }
    }
}

/// A directory.
#[derive(Clone, Debug, Default)]
pub(super) struct Directory {
    now: DirEntries,
    durable: DirEntries,
    pending: Vec<EntryChange>,
}

impl Directory {
    /// Creates a directory whose entries are durable.
    pub(super) fn durable(entries: DirEntries) -> Directory {
        Directory { now: entries.clone(), durable: entries, pending: Vec::new() }
    }

    pub(super) fn now(&self) -> &DirEntries {
        &self.now
    }

    pub(super) fn durable_entries(&self) -> &DirEntries {
        &self.durable
    }

    pub(super) fn pending(&self) -> &[EntryChange] {
        &self.pending
    }

    pub(super) fn change(&mut self, change: EntryChange) {
        change.apply(&mut self.now);
        self.pending.push(change);
    }

    pub(super) fn sync(&mut self) {
        if !self.pending.is_empty() {
            self.durable.clone_from(&self.now);
            self.pending.clear();
        }
    }

    /// Whether an inode is reachable, now or after a crash.
    pub(super) fn knows(&self, inode: u64) -> bool {
        let created = |change: &EntryChange| match change {
            EntryChange::Create { inode: made, .. } | EntryChange::Rename { inode: made, .. } => {
                *made == inode
            }
            EntryChange::Remove { .. } => false,
        };
        self.now.values().chain(self.durable.values()).any(|other| *other == inode)
            || self.pending.iter().any(created)
    }
}
