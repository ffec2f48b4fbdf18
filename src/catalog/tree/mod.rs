//! A reader of redb's file format, independent of redb.
//!
//! redb trusts the page numbers of a file that was closed properly: before it reads a page, it
//! allocates as much memory as the number says, up to 4 GiB. It repairs damage in place, and
//! reports the damage only once. So this reader reads a catalog before redb: every page that the
//! last commit can reach must lie within the file, and match the checksum next to its number. The
//! file is not changed.
//!
//! The layout is described in redb's design document, file format 3. The commits of a catalog are
//! made in two phases, so the primary slot of the header is the last commit, even after a crash.

mod head;
mod header;
mod node;
mod page;
mod scan;

use xxhash_rust::xxh3::xxh3_128;

pub(super) use self::head::RawHeader;
use self::node::RedbNode;
use self::page::{PAGE_BYTES, damaged};
pub(super) use self::page::{RedbPageRef, Widths};
pub(super) use self::scan::{ScannedPage, scan};
use crate::disk::{DiskFile, FileName};
use crate::error::{Error, Result};
use crate::layout::{Cursor, to_usize};

/// The maximum length of a page in bytes. A page is as large as one row needs; the largest rows
/// have 64 KiB.
const PAGE_BYTES_MAX: u64 = 32 << 20;
/// The kind of a table with one value for each key.
const NORMAL: u8 = 3;

/// The widths of the table of tables: names and definitions.
const TABLES: Widths = Widths { key: None, value: None };

/// A table of the database.
#[derive(Clone, Debug)]
pub(super) struct RedbTable {
    pub(super) name: String,
    pub(super) widths: Widths,
    root: Option<RedbPageRef>,
}

impl RedbTable {
    fn parse(name: &[u8], definition: &[u8]) -> Option<RedbTable> {
        let mut cursor = Cursor::new(definition);
        if cursor.u8()? != NORMAL {
            return None;
        }
        let _rows = cursor.u64()?;
        let is_there = cursor.u8()? != 0;
        let root = RedbPageRef::take_root(&mut cursor, is_there)?;
        let mut width = || {
            let fixed = cursor.u8()? != 0;
            let bytes = cursor.u32()?;
            Some(fixed.then_some(bytes as usize))
        };
        let widths = Widths { key: width()?, value: width()? };
        Some(RedbTable { name: String::from_utf8(name.to_vec()).ok()?, widths, root })
    }
}

/// A row, and whether the checksum of its page matches.
pub(super) struct RedbRow<'p> {
    pub(super) key: &'p [u8],
    pub(super) value: &'p [u8],
    pub(super) sound: bool,
}

fn read(file: &dyn DiskFile, offset: u64, bytes: &mut [u8]) -> Result<()> {
    file.read_at(offset, bytes).map_err(|e| Error::io("read", FileName::Catalog, e))
}

/// The tables in which redb lists pages to be freed. redb uses the lists when it opens the file for
/// writing, so a listed page outside of the file is a flaw.
const PAGE_LISTS: [&str; 3] =
    ["data_pages_allocated", "data_pages_unreachable", "system_pages_unreachable"];

/// The pages in a row of a table of [`PAGE_LISTS`]; `None` if the row is shorter than its count
/// says.
fn page_list(row: &[u8]) -> Option<Vec<u64>> {
    let mut cursor = Cursor::new(row);
    let count = cursor.u16()?;
    (0..count).map(|_| cursor.u64()).collect()
}

/// The last commit of a database file.
pub(super) struct RedbTree<'f> {
    file: &'f dyn DiskFile,
    len: u64,
    region_bytes: u64,
    region_header_bytes: u64,
    roots: [Option<RedbPageRef>; 2],
    /// The number of bytes that may still be read: no page belongs to two parents.
    left: u64,
    /// The last page that could not be read, or that does not match its checksum.
    failed: Option<RedbPageRef>,
    /// Receives flaws. Ends reading with an error, or lets reading continue with the rest.
    flaw: &'f mut dyn FnMut(Error) -> Result<()>,
}

impl<'f> RedbTree<'f> {
    /// Reads the header of a file that is not being written.
    ///
    /// # Errors
    ///
    /// If the header is damaged. `flaw` is not called, because nothing can be read in this case.
    pub(super) fn open(
        file: &'f dyn DiskFile,
        flaw: &'f mut dyn FnMut(Error) -> Result<()>,
    ) -> Result<RedbTree<'f>> {
        Self::at(file, &RawHeader::read(file)?, flaw)
    }

    /// Reads the last commit in a header.
    ///
    /// # Errors
    ///
    /// If the header is damaged. `flaw` is not called.
    pub(super) fn at(
        file: &'f dyn DiskFile,
        head: &RawHeader,
        flaw: &'f mut dyn FnMut(Error) -> Result<()>,
    ) -> Result<RedbTree<'f>> {
        let (header, len) = head.parse()?;
        let (region_bytes, roots) = (header.region_bytes(), header.roots()?);
        let region_header_bytes = header.region_header_pages * PAGE_BYTES;
        let failed = None;
        Ok(RedbTree {
            file,
            len,
            region_bytes,
            region_header_bytes,
            roots,
            left: len,
            failed,
            flaw,
        })
    }

    /// The last page that could not be read, or that did not match its checksum.
    pub(super) fn failed(&self) -> Option<RedbPageRef> {
        self.failed
    }

    /// Allows a table to be read again.
    pub(super) fn again(&mut self) {
        self.left = self.len;
    }

    /// The tables of the database.
    pub(super) fn tables(&mut self) -> Result<Vec<RedbTable>> {
        let [of_user, _] = self.roots;
        self.tables_of(of_user)
    }

    /// Checks redb's internal tables.
    pub(super) fn check_system(&mut self) -> Result<()> {
        let [_, of_redb] = self.roots;
        for table in self.tables_of(of_redb)? {
            let mut listed = Vec::new();
            self.rows(&table, &mut |row| {
                if PAGE_LISTS.contains(&table.name.as_str()) && row.sound {
                    listed.push(page_list(row.value));
                }
                Ok(())
            })?;
            for pages in listed {
                let checked = match pages {
                    Some(pages) => pages.into_iter().try_for_each(|p| self.place(p).map(drop)),
                    None => {
                        Err(damaged(0, format!("a row of its table {} is cut short", table.name)))
                    }
                };
                checked.or_else(|e| (self.flaw)(e))?;
            }
        }
        Ok(())
    }

    fn tables_of(&mut self, root: Option<RedbPageRef>) -> Result<Vec<RedbTable>> {
        let mut tables = Vec::new();
        let mut unread = Vec::new();
        self.walk(root, TABLES, &|_| false, &mut |row| {
            match RedbTable::parse(row.key, row.value) {
                Some(table) => tables.push(table),
                None => unread.push(row.key.escape_ascii().to_string()),
            }
            Ok(())
        })?;
        for name in unread {
            (self.flaw)(damaged(0, format!("the definition of its table {name} is not readable")))?;
        }
        Ok(tables)
    }

    /// Passes all rows of a table to `take`, in the order of their keys.
    pub(super) fn rows(
        &mut self,
        table: &RedbTable,
        see: &mut dyn FnMut(RedbRow<'_>) -> Result<()>,
    ) -> Result<()> {
        self.rows_from(table, &|_| false, see)
    }

    /// Passes the rows of a table to `take`, in the order of their keys. Rows whose keys are
    /// `before` the wanted rows may be left out. If all keys have one width, pages that contain
    /// only such rows are not read.
    pub(super) fn rows_from(
        &mut self,
        table: &RedbTable,
        before: &dyn Fn(&[u8]) -> bool,
        see: &mut dyn FnMut(RedbRow<'_>) -> Result<()>,
    ) -> Result<()> {
        self.walk(table.root, table.widths, before, see)
    }

    #[expect(clippy::indexing_slicing, reason = "the list only grows there")]
    fn walk(
        &mut self,
        root: Option<RedbPageRef>,
        widths: Widths,
        before: &dyn Fn(&[u8]) -> bool,
        see: &mut dyn FnMut(RedbRow<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut ahead = Vec::from_iter(root);
        while let Some(page) = ahead.pop() {
            let (offset, bytes) = match self.page(page.number) {
                Ok(read) => read,
                Err(e) => {
                    self.failed = Some(page);
                    (self.flaw)(e)?;
                    continue;
                }
            };
            let node = RedbNode { bytes: &bytes, widths };
            let sound = node.used().is_some_and(|used| xxh3_128(used) == page.sum);
            if !sound {
                self.failed = Some(page);
                (self.flaw)(damaged(offset, "the checksum of a page is wrong"))?;
            }
            // A node that is neither a leaf nor a branch is damaged.
            if node.is_leaf() {
                for row in node.rows() {
                    match row {
                        Some((key, value)) => see(RedbRow { key, value, sound })?,
                        None if sound => {
                            (self.flaw)(damaged(offset, "a row does not lie within its page"))?;
                        }
                        None => {}
                    }
                }
            } else if node.is_branch() {
                let from = ahead.len();
                let wanted = |&(n, _): &(usize, RedbPageRef)| !node.bound(n).is_some_and(before);
                let children = node.children().enumerate().filter(wanted);
                ahead.extend(children.map(|(_, child)| child));
                ahead[from..].reverse();
            }
        }
        Ok(())
    }

    /// The offset and length of a page.
    fn place(&self, number: u64) -> Result<(u64, u64)> {
        // The order of a page has five bits.
        let (order, region) = (number >> 59, number >> 20 & 0xf_ffff);
        let bytes = PAGE_BYTES << order;
        // The page number within the region has twenty bits, and fewer for large pages, so `within`
        // is less than 2^40.
        let within = (number & (0xf_ffff >> order)) * bytes;
        let offset = PAGE_BYTES + region * self.region_bytes + self.region_header_bytes + within;
        if bytes > PAGE_BYTES_MAX || offset + bytes > self.len {
            return Err(damaged(0, format!("page {number:#x} lies outside of the file")));
        }
        Ok((offset, bytes))
    }

    /// Reads a page. Returns its offset and its bytes.
    fn page(&mut self, number: u64) -> Result<(u64, Vec<u8>)> {
        let (offset, bytes) = self.place(number)?;
        let left = self.left.checked_sub(bytes);
        self.left = left.ok_or_else(|| damaged(offset, "a page is part of more than one other"))?;
        let mut page = vec![0; to_usize(bytes)];
        read(self.file, offset, &mut page)?;
        Ok((offset, page))
    }
}

#[cfg(test)]
mod tests;
