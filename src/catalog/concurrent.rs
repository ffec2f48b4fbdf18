//! Reading of the catalog while another process writes it.
//!
//! A commit of redb writes new pages into free space, and a header with their roots into the slot
//! that is not primary. It syncs the file; then one byte makes that slot primary. So all pages of a
//! commit are in the file before the header shows the commit. A page that the last commit can reach
//! is not overwritten; a page that the last commit no longer reaches may be overwritten by the next
//! commit. So a reader of a commit's pages may meet an overwritten page if other commits follow.
//! The checksum detects an overwritten page, because the parent page, or the header, stores the
//! expected checksum. A result whose checksums all match is a complete committed state.
//!
//! On a mismatch the reader starts again at the header. Between two commits, only the end of a
//! journal and the pages above it change. The reader keeps the frames that it has read, so the next
//! pass reads a few pages, in much less time than two commits with their syncs take.
//!
//! A reader sees the last commit a moment before the commit's second sync, and before the commit is
//! acknowledged.

use std::time::{Duration, Instant};

use super::contents::{self, CatalogContents, SessionRows};
use super::frames::{JournalFrames, JournalTail};
use super::newer_files::NewerFiles;
use super::tables::Journal;
use super::tree::{RawHeader, RedbPageRef, RedbTree};
use crate::disk::{Access, Disk, DiskFile, FileName};
use crate::error::{Error, Result};

/// The maximum number of passes, and the time limit for all passes together.
const PASSES: u32 = 50;
const PATIENCE: Duration = Duration::from_secs(2);

/// The limits for reading a catalog that is being written.
#[derive(Debug)]
pub(crate) struct ReadLimit {
    passes: u32,
    until: Instant,
}

impl ReadLimit {
    pub(crate) fn new() -> ReadLimit {
        ReadLimit { passes: PASSES, until: Instant::now() + PATIENCE }
    }

    fn take(&mut self) -> bool {
        let passes = self.passes.checked_sub(1).filter(|_| Instant::now() < self.until);
        self.passes = passes.unwrap_or(0);
        passes.is_some()
    }
}

/// Reads the last commit, with only the frames of each journal after the frame in `known`. Returns
/// `None` if commits follow each other too fast.
///
/// The result has everything that was acknowledged before this call.
///
/// # Errors
///
/// [`Error::Corrupt`] or [`Error::Io`] if a page of the last commit does not match its checksum
/// although it was not overwritten.
pub(crate) fn read_concurrently(
    disk: &dyn Disk,
    known: [Option<JournalTail>; 2],
    sessions: SessionRows,
    tries: &mut ReadLimit,
) -> Result<Option<CatalogContents>> {
    let name = FileName::Catalog;
    // These files are read before the catalog, which only gets newer.
    let after = NewerFiles::read(disk)?;
    let mut journals = [Journal::A, Journal::B].map(JournalFrames::none);
    journals.iter_mut().zip(known).for_each(|(frames, tail)| frames.after = tail);
    let mut failed = None;
    while tries.take() {
        // The file is opened for each pass, because another file may have taken its name.
        let file = disk.open(name, Access::Read).map_err(|e| Error::io("open", name, e))?;
        let Some(head) = RawHeader::read_concurrently(&*file)? else { continue };
        match pass(&*file, &head, &mut journals, sessions) {
            Ok(lists) => {
                let contents = lists.with(journals);
                after.check(&contents)?;
                return Ok(Some(contents));
            }
            Err((page, error)) => {
                // A page that a later commit also references was not overwritten between the two
                // passes.
                let is_named_still = page.is_some() && page == failed;
                if is_named_still || RawHeader::read(&*file)?.is_of_commit(&head) {
                    return Err(error);
                }
                failed = page;
            }
        }
    }
    Ok(None)
}

/// Reads the commit in a header, and extends the frames of the journals. On failure, returns the
/// page whose checksum does not match.
fn pass(
    file: &dyn DiskFile,
    head: &RawHeader,
    journals: &mut [JournalFrames; 2],
    sessions: SessionRows,
) -> Result<contents::CatalogLists, (Option<RedbPageRef>, Error)> {
    let mut flaw = Err;
    let mut tree = RedbTree::at(file, head, &mut flaw).map_err(|e| (None, e))?;
    contents::read_new(&mut tree, journals, sessions).map_err(|e| (tree.failed(), e))
}
