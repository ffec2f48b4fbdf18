//! The conversion of a found page to a result.

use super::query::NearMatch;
use crate::engine::component::PageAddress;
use crate::error::Result;
use crate::page::PageHead;

/// A result for each found page, with as much data as the caller needs.
pub(crate) trait FromHit: Sized {
    /// Whether the result needs the page's head.
    const WANTS_HEAD: bool;

    /// Creates the result for a near page. `head` is the page's head if it was read, and `location`
    /// the location of its newest record if the search is for versions in force.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`](crate::Error::Corrupt) if the result needs a head and there is none.
    fn of(near: NearMatch, head: Option<&PageHead>, location: PageAddress) -> Result<Self>;

    fn near(&self) -> &NearMatch;
}

impl FromHit for NearMatch {
    // Plain searches need only the URL, which saves reading a record for each hit.
    const WANTS_HEAD: bool = false;

    #[inline]
    fn of(near: NearMatch, _: Option<&PageHead>, _: PageAddress) -> Result<NearMatch> {
        Ok(near)
    }

    #[inline]
    fn near(&self) -> &NearMatch {
        self
    }
}
