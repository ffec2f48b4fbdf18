//! Pages as the paths of sites: of those that differ in their scheme alone, or are written in two ways,
//! one is the page of the path.

use crate::error::Result;
use crate::page::site;
use crate::query::in_force::{InForceScan, InForceVersions};

/// What is read of each page.
pub(super) trait Read: Sized {
    /// Reads the next one.
    fn next(pages: &mut InForceScan) -> Option<Result<Self>>;
}

/// What is compared of it.
impl Read for u64 {
    fn next(pages: &mut InForceScan) -> Option<Result<u64>> {
        pages.next_fingerprint()
    }
}

impl Read for InForceVersions {
    fn next(pages: &mut InForceScan) -> Option<Result<InForceVersions>> {
        pages.next_versions()
    }
}

/// The paths of sites, in order, each with the last of its pages in SURT order: that with `https`, as a
/// rule. Pages that are in no site are passed over.
pub(super) struct Paths<T> {
    pages: InForceScan,
    /// The page that was read last, and the address of it.
    held: Option<T>,
    address: Vec<u8>,
}

impl<T: Read> Paths<T> {
    pub(super) fn new(pages: InForceScan) -> Paths<T> {
        Paths { pages, held: None, address: Vec::new() }
    }

    /// How many of the pages that were read have content, but no fingerprint of the epoch.
    pub(super) fn without_fingerprint(&self) -> u64 {
        self.pages.without_fingerprint()
    }

    /// The next path: puts its address there, and returns what its page is. `read` is told of each page
    /// that is read on the way.
    pub(super) fn next(
        &mut self,
        address: &mut Vec<u8>,
        mut read: impl FnMut() -> Result<()>,
    ) -> Result<Option<T>> {
        while let Some(page) = T::next(&mut self.pages) {
            let page = page?;
            read()?;
            // No host, or a user before it: such a page belongs to no site.
            let Some(next) = site::address(self.pages.key()) else { continue };
            // Held until the address changes: only then it is the last page of its path.
            let before = self.held.replace(page);
            if next == self.address {
                continue;
            }
            address.clear();
            // `append` moves the bytes and leaves both buffers their
            // capacity: no allocation for each page.
            address.append(&mut self.address);
            self.address.extend_from_slice(next);
            if before.is_some() {
                return Ok(before);
            }
        }
        address.clear();
        address.append(&mut self.address);
        // The last path has no page after it. From then on nothing is held, so this returns `None`.
        Ok(self.held.take())
    }
}
