//! A scan of the pages of a file whose header or trees are damaged.
//!
//! redb starts each page of a tree at a multiple of 4096 bytes: with a byte that says whether the
//! page is a leaf or a branch, and the number of its rows or keys. So every page can be found
//! without a root that leads to it. The scan also finds pages that no commit needs any more: redb
//! does not overwrite such pages until it reuses them. A caller must check rows by their own
//! checksums.
//!
//! The test `headless_scan_reads_what_redb_writes` compares this scan with a file that redb has
//! written.

use xxhash_rust::xxh3::xxh3_128;

use super::node::{RedbNode, RowRanges};
use super::page::PAGE_BYTES;
use super::{RedbTable, TABLES, Widths};
use crate::disk::{DiskFile, FileName};
use crate::error::{Error, Result};
use crate::layout::to_usize;

/// The maximum length of a catalog's leaf in bytes: its longest row is a part of a frame, of less
/// than 64 KiB.
const LEAF_BYTES_MAX: u64 = 128 << 10;

/// A possible page of a tree, with unchecked contents.
pub(in crate::catalog) struct ScannedPage<'p> {
    /// The offset of the page in the file.
    pub(in crate::catalog) offset: u64,
    bytes: &'p [u8],
}

/// A row, its position in the file, and whether another row follows in its page.
pub(in crate::catalog) struct ScannedRow<'p> {
    pub(in crate::catalog) key: &'p [u8],
    pub(in crate::catalog) value: &'p [u8],
    /// The offset of the value in the file.
    pub(in crate::catalog) offset: u64,
    pub(in crate::catalog) is_last: bool,
}

impl<'p> ScannedPage<'p> {
    fn node(&self, widths: Widths) -> RedbNode<'p> {
        RedbNode { bytes: self.bytes, widths }
    }

    /// The rows of a leaf that lie within the page, with keys and values of the given widths; none
    /// for a branch.
    pub(in crate::catalog) fn rows(&self, widths: Widths) -> Vec<ScannedRow<'p>> {
        let node = self.node(widths);
        // If the keys exceed the page, the page is not a leaf, or its number of rows is damaged.
        if !node.is_leaf() || node.keys_end().is_none_or(|end| end > self.bytes.len()) {
            return Vec::new();
        }
        let last = node.count().saturating_sub(1);
        let row = |(n, place): (usize, Option<RowRanges>)| {
            let RowRanges { key, value } = place?;
            let offset = self.offset.checked_add(u64::try_from(value.start).ok()?)?;
            let (key, value) = (self.bytes.get(key)?, self.bytes.get(value)?);
            Some(ScannedRow { key, value, offset, is_last: n == last })
        };
        node.places().enumerate().filter_map(row).collect()
    }

    /// The tables defined in a leaf of the table of tables: the name of each table, and the
    /// checksum of its root if it has a root.
    pub(in crate::catalog) fn tables(&self) -> Vec<(String, Option<u128>)> {
        let rows = self.rows(TABLES);
        let tables = rows.iter().filter_map(|row| RedbTable::parse(row.key, row.value));
        tables.map(|table| (table.name, table.root.map(|root| root.sum))).collect()
    }

    /// The checksums of a branch's children, in order; none for a leaf.
    pub(in crate::catalog) fn children(&self, widths: Widths) -> Vec<u128> {
        let node = self.node(widths);
        if !node.is_branch() || node.used().is_none() {
            return Vec::new();
        }
        node.children().map(|child| child.sum).collect()
    }

    /// The checksum in the parent's reference to this page, if the page's rows or keys have the
    /// given widths.
    pub(in crate::catalog) fn sum(&self, widths: Widths) -> Option<u128> {
        self.node(widths).used().map(xxh3_128)
    }
}

/// Passes every aligned page of a file that may belong to a tree to `see`, in the order of the
/// file. Skips pages that cannot be read. Takes the memory of one page; costs one read of the file.
///
/// # Errors
///
/// The errors of `see`, and [`Error::Io`] if the length of the file cannot be read.
pub(in crate::catalog) fn scan(
    file: &dyn DiskFile,
    see: &mut dyn FnMut(&ScannedPage<'_>) -> Result<()>,
) -> Result<()> {
    let len = file.size().map_err(|e| Error::io("measure", FileName::Catalog, e))?;
    let mut bytes = Vec::new();
    // The first page is the header.
    let mut offset = PAGE_BYTES;
    while offset < len {
        let read = |size: u64, bytes: &mut Vec<u8>| {
            bytes.resize(to_usize(size.min(len - offset)), 0);
            file.read_at(offset, bytes).is_ok()
        };
        if read(PAGE_BYTES, &mut bytes) && bytes.len() >= NODE_BYTES_MIN {
            let longer = longer_leaf(&bytes);
            // If the rest of a leaf cannot be read, the first 4096 bytes of the leaf may have rows.
            if longer.is_none_or(|longer| read(longer, &mut bytes)) || read(PAGE_BYTES, &mut bytes)
            {
                see(&ScannedPage { offset, bytes: &bytes })?;
            }
        }
        offset += PAGE_BYTES;
    }
    Ok(())
}

/// The minimum length of a page in bytes: a shorter page does not contain the number of rows.
const NODE_BYTES_MIN: usize = 8;

/// The length of a leaf that starts with these bytes and has keys of one width, if the leaf is
/// longer than the bytes. redb stores a row that is longer than a page in its own leaf, and may add
/// short rows to that leaf.
fn longer_leaf(bytes: &[u8]) -> Option<u64> {
    let node = RedbNode { bytes, widths: Widths { key: Some(0), value: None } };
    let last = node.is_leaf().then(|| node.count())?.checked_sub(1)?;
    let end = u64::try_from(node.value_end(last)?).ok()?;
    (PAGE_BYTES < end && end <= LEAF_BYTES_MAX).then_some(end)
}
