//! References to pages in redb's file: the number of a page with its checksum. Such references are
//! in the header and in the pages themselves.

use crate::disk::FileName;
use crate::error::Error;
use crate::layout::Cursor;

pub(super) const PAGE_BYTES: u64 = 4096;

/// A reference to a page: its number and its checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::catalog) struct RedbPageRef {
    pub(super) number: u64,
    pub(super) sum: u128,
}

impl RedbPageRef {
    pub(super) fn take(cursor: &mut Cursor<'_>) -> Option<RedbPageRef> {
        Some(RedbPageRef { number: cursor.u64()?, sum: cursor.u128()? })
    }

    /// Parses the root of a tree, which may be empty.
    pub(super) fn take_root(
        cursor: &mut Cursor<'_>,
        is_there: bool,
    ) -> Option<Option<RedbPageRef>> {
        let root = RedbPageRef::take(cursor)?;
        let _rows = cursor.u64()?;
        Some(is_there.then_some(root))
    }
}

/// The bytes of each key and each value, if their width is fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Widths {
    pub(crate) key: Option<usize>,
    pub(crate) value: Option<usize>,
}

/// A flaw of the catalog's file at an offset.
pub(super) fn damaged(offset: u64, what: impl Into<String>) -> Error {
    Error::corrupt(FileName::Catalog, offset, what)
}
