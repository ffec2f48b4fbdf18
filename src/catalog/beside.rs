//! Reading the catalog beside the process that writes it.
//!
//! A commit of redb writes the pages that it makes into free ones, and a header that names its roots in
//! the slot that is not the primary one. It syncs the file; and then one byte makes that slot the
//! primary one. So the pages of a commit are all in the file before the header shows that it was made.
//! A page that the last commit can reach is not written again; one that it no longer reaches may be
//! written by the next. So whoever reads the pages of a commit while others follow may meet one that was
//! written again. Its checksum tells, since the page before, or the header, says what that must be. What
//! is read with all checksums is a state that was committed, as a whole.
//!
//! Then the reading begins again at the header. Between two commits, the end of a journal changes, and
//! the pages above it. The frames that were read stay, so the next pass reads a few pages, which takes
//! much less time than two commits with their syncs.
//!
//! The last commit is seen a moment before its second sync, and before anybody is told of it.

use std::time::{Duration, Instant};

use super::after::After;
use super::contents::{self, Contents};
use super::frames::{Frames, Tail};
use super::tables::Journal;
use super::tree::{Head, Page, Tree};
use crate::disk::{Access, Disk, DiskFile, Name};
use crate::error::{Error, Result};

/// How often a reader begins again, and for how long.
const PASSES: u32 = 50;
const PATIENCE: Duration = Duration::from_secs(2);

/// What a reader may spend on a catalog that is being written.
#[derive(Debug)]
pub(crate) struct Tries {
    passes: u32,
    until: Instant,
}

impl Tries {
    pub(crate) fn new() -> Tries {
        Tries { passes: PASSES, until: Instant::now() + PATIENCE }
    }

    fn take(&mut self) -> bool {
        let passes = self.passes.checked_sub(1).filter(|_| Instant::now() < self.until);
        self.passes = passes.unwrap_or(0);
        passes.is_some()
    }
}

/// Reads what the last commit left: of each journal what follows the frame that is known. `None` if
/// commits follow one another too fast.
///
/// It has everything that was acknowledged before this was called.
///
/// # Errors
///
/// [`Error::Corrupt`] or [`Error::Io`] where a page of the last commit is not as it is named, so that it
/// was not written again.
pub(crate) fn read_beside(
    disk: &dyn Disk,
    known: [Option<Tail>; 2],
    tries: &mut Tries,
) -> Result<Option<Contents>> {
    let name = Name::Catalog;
    // Before the catalog, which only gets newer.
    let after = After::read(disk)?;
    let mut journals = [Journal::A, Journal::B].map(Frames::none);
    journals.iter_mut().zip(known).for_each(|(frames, tail)| frames.after = tail);
    let mut failed = None;
    while tries.take() {
        // Another may have taken its place.
        let file = disk.open(name, Access::Read).map_err(|e| Error::io("open", name, e))?;
        let Some(head) = Head::read_beside(&*file)? else { continue };
        match pass(&*file, &head, &mut journals) {
            Ok(lists) => {
                let contents = lists.with(journals);
                after.check(&contents)?;
                return Ok(Some(contents));
            }
            Err((page, error)) => {
                // What another commit names as well was not written again in between.
                let is_named_still = page.is_some() && page == failed;
                if is_named_still || Head::read(&*file)?.is_of_commit(&head) {
                    return Err(error);
                }
                failed = page;
            }
        }
    }
    Ok(None)
}

/// Reads the commit that a header names, and goes on with the frames of the journals. Where that fails,
/// names the page that was not as it should be.
fn pass(
    file: &dyn DiskFile,
    head: &Head,
    journals: &mut [Frames; 2],
) -> Result<contents::Lists, (Option<Page>, Error)> {
    let mut flaw = Err;
    let mut tree = Tree::at(file, head, &mut flaw).map_err(|e| (None, e))?;
    contents::go_on(&mut tree, journals).map_err(|e| (tree.failed(), e))
}
