//! What a search makes of a page that it finds.

use super::query::Near;
use crate::engine::component::PageLocation;
use crate::error::Result;
use crate::page::Head;

/// What is made of each page: as much of it as its finder wants, from what is read of it in any case.
pub(crate) trait FromHit: Sized {
    /// Whether the page's head is read for it.
    const WANTS_HEAD: bool;

    /// A page that is near, with its head if that was read, and where its newest record stands if it is
    /// sought by what it has in force.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`](crate::Error::Corrupt) without a head that it wants.
    fn of(near: Near, head: Option<&Head>, location: PageLocation) -> Result<Self>;

    fn near(&self) -> &Near;
}

impl FromHit for Near {
    // Plain searches name pages only, which spares reading a record for each hit.
    const WANTS_HEAD: bool = false;

    #[inline]
    fn of(near: Near, _: Option<&Head>, _: PageLocation) -> Result<Near> {
        Ok(near)
    }

    #[inline]
    fn near(&self) -> &Near {
        self
    }
}
