//! How redb's file refers to a page: by its number, with the checksum of the page beside it. The
//! header of the file does so, and so do the pages themselves.

use crate::disk::Name;
use crate::error::Error;
use crate::layout::Cursor;

pub(super) const PAGE_BYTES: u64 = 4096;

/// A page, and what its checksum must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::catalog) struct Page {
    pub(super) number: u64,
    pub(super) sum: u128,
}

impl Page {
    pub(super) fn take(cursor: &mut Cursor<'_>) -> Option<Page> {
        Some(Page { number: cursor.u64()?, sum: cursor.u128()? })
    }

    /// The root of a tree, which may have none.
    pub(super) fn take_root(cursor: &mut Cursor<'_>, is_there: bool) -> Option<Option<Page>> {
        let root = Page::take(cursor)?;
        let _rows = cursor.u64()?;
        Some(is_there.then_some(root))
    }
}

/// The bytes of each key and each value, where all have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Widths {
    pub(crate) key: Option<usize>,
    pub(crate) value: Option<usize>,
}

/// What is wrong with the catalog's file, and where.
pub(super) fn damaged(offset: u64, what: impl Into<String>) -> Error {
    Error::corrupt(Name::Catalog, offset, what)
}
