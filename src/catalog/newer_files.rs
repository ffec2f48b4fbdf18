//! The files that a writer updates after its commits: `LOCK` and `SNAPSHOT`.
//!
//! Neither file is ever newer than the catalog that it was written after. If one is, the catalog is
//! the commit before the last, an older copy, or the catalog of another store.

use super::{CatalogContents, CommitMark, PublishedState, mark};
use crate::disk::{Disk, FileName};
use crate::error::{Error, Result};

/// The contents of the files written after commits of a catalog.
#[derive(Debug)]
pub(crate) struct NewerFiles {
    pub(crate) mark: CommitMark,
    /// The contents of `SNAPSHOT`, if it exists and is sound.
    pub(crate) published: Option<PublishedState>,
}

impl NewerFiles {
    /// Reads both files. A damaged file counts as absent, because the writer writes both files
    /// again.
    pub(crate) fn read(disk: &dyn Disk) -> Result<NewerFiles> {
        let published = match PublishedState::read(disk) {
            Ok(published) => published,
            Err(e) => e.flaw().map(|_| None)?,
        };
        Ok(NewerFiles { mark: mark::read(disk), published })
    }

    /// Checks that both files belong to this catalog, and that the catalog has everything that they
    /// mention.
    pub(crate) fn check(&self, contents: &CatalogContents) -> Result<()> {
        self.missing_commits(contents).or_else(|| self.other_store(contents)).map_or(Ok(()), Err)
    }

    /// The error if the catalog lacks commits after which the files were written.
    pub(crate) fn missing_commits(&self, contents: &CatalogContents) -> Option<Error> {
        let there = contents.marked();
        let CommitMark { sequence, changes } = self.mark;
        let last = there.changes;
        let what = if sequence > there.sequence {
            let last = there.sequence;
            format!(
                "operation {sequence} was acknowledged, but the catalog ends at operation {last}"
            )
        } else if changes > last {
            format!(
                "change {changes} of its file lists was made, but the catalog ends at change {last}"
            )
        } else {
            let changes = self.published_of(contents.settings.store)?.changes;
            if changes <= last {
                return None;
            }
            format!(
                "SNAPSHOT was written after change {changes} of the file lists, but the catalog \
                 ends at change {last}, so the catalog is an older copy; restore the newer \
                 catalog, or restore all files of the store from the same time"
            )
        };
        Some(Error::corrupt(FileName::Catalog, 0, what))
    }

    /// The error if `SNAPSHOT` belongs to another store, or to a diverged copy of this store.
    pub(crate) fn other_store(&self, contents: &CatalogContents) -> Option<Error> {
        let published = self.published.as_ref()?;
        let (found, expected) = (published.store, contents.settings.store);
        let what = if found == expected {
            // The catalog is not older than `SNAPSHOT`, but has not used the number of this
            // segment.
            let next = contents.settings.next_segment;
            let other = published.segments.iter().find(|row| row.id >= next)?.id;
            format!(
                "it lists segment {other}, but the next segment of catalog.redb is {next}, so the \
                 two files belong to diverged copies of the store; restore all files from one \
                 copy"
            )
        } else {
            format!(
                "it belongs to the store {found:016x}, but catalog.redb belongs to the store \
                 {expected:016x}"
            )
        };
        Some(Error::corrupt(FileName::Snapshot, 24, what))
    }

    /// The contents of `SNAPSHOT`, if it belongs to this store.
    pub(crate) fn published_of(&self, store: u64) -> Option<&PublishedState> {
        self.published.as_ref().filter(|published| published.store == store)
    }
}
