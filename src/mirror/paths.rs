//! Pages by the paths of their sites. Pages that differ only in their scheme or spelling share one
//! path; the last page in SURT order represents the path.

use crate::error::Result;
use crate::page::site;
use crate::query::in_force::{InForceScan, InForceVersions};

/// The data that a scan reads for each page.
pub(super) trait PathPage: Sized {
    /// Reads the next page.
    fn next(pages: &mut InForceScan) -> Option<Result<Self>>;
}

/// The compared bits of the fingerprint.
impl PathPage for u64 {
    fn next(pages: &mut InForceScan) -> Option<Result<u64>> {
        pages.next_fingerprint()
    }
}

impl PathPage for InForceVersions {
    fn next(pages: &mut InForceScan) -> Option<Result<InForceVersions>> {
        pages.next_versions()
    }
}

/// An iterator over the paths of sites, in order. Returns for each path the last page in SURT
/// order, usually the `https` page. Skips pages that belong to no site.
pub(super) struct SitePaths<T> {
    pages: InForceScan,
    /// The last page read, which is not yet returned.
    held: Option<T>,
    address: Vec<u8>,
}

impl<T: PathPage> SitePaths<T> {
    pub(super) fn new(pages: InForceScan) -> SitePaths<T> {
        SitePaths { pages, held: None, address: Vec::new() }
    }

    /// The number of pages read that have content but no fingerprint of the epoch.
    pub(super) fn without_fingerprint(&self) -> u64 {
        self.pages.without_fingerprint()
    }

    /// Returns the page of the next path, and stores its address in `address`. `read` is called for
    /// each page that the function reads.
    pub(super) fn next(
        &mut self,
        address: &mut Vec<u8>,
        mut read: impl FnMut() -> Result<()>,
    ) -> Result<Option<T>> {
        while let Some(page) = T::next(&mut self.pages) {
            let page = page?;
            read()?;
            // A page without a host, or with user information, belongs to no site.
            let Some(next) = site::address(self.pages.key()) else { continue };
            // The page is held until the address changes. Only then is it known to be the last page
            // of its path.
            let before = self.held.replace(page);
            if next == self.address {
                continue;
            }
            address.clear();
            // `append` moves the bytes and keeps the capacity of both buffers, so a page costs no
            // allocation.
            address.append(&mut self.address);
            self.address.extend_from_slice(next);
            if before.is_some() {
                return Ok(before);
            }
        }
        address.clear();
        address.append(&mut self.address);
        // The last path has no page after it. Later calls find no held page and return `None`.
        Ok(self.held.take())
    }
}
