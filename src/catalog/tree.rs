//! Reading redb's file without redb.
//!
//! redb believes the page numbers of a file that was closed well: it takes memory for a page before
//! it reads it, up to 4 GiB, as its number says. What it finds wrong it repairs in place, and says so
//! only once. So whoever opens a catalog reads it here first: every page that the last commit can
//! reach, each within the file, and equal to the checksum that stands beside its number. The file
//! stays as it is.
//!
//! The layout is that of redb's design document, file format 3. The commits of a catalog are made in
//! two phases, so the primary slot of the header is the last of them, also after a crash.

use xxhash_rust::xxh3::xxh3_128;

use crate::disk::{DiskFile, Name};
use crate::error::{Error, Result};
use crate::layout::Cursor;

const PAGE_BYTES: u64 = 4096;
/// A page is as large as one row needs; the largest rows have 64 KiB.
const PAGE_BYTES_MAX: u64 = 32 << 20;
/// A region has no more pages than that.
const REGION_PAGES_MAX: u64 = 1 << 20;

const HEADER_BYTES: usize = 320;
const MAGIC: [u8; 9] = *b"redb\x1a\x0a\xa9\x0d\x0a";
const FORMAT: u8 = 3;
/// Bits of the byte after the magic number.
const PRIMARY: u8 = 1;
const RECOVERY: u8 = 2;
const TWO_PHASES: u8 = 4;
/// Bytes of a slot that its checksum covers.
const SLOT_BYTES: usize = 112;

const LEAF: u8 = 1;
const BRANCH: u8 = 2;
/// A table with one value for each key.
const NORMAL: u8 = 3;

/// A page, and what its checksum must be.
#[derive(Clone, Copy, Debug)]
struct Page {
    number: u64,
    sum: u128,
}

impl Page {
    fn take(cursor: &mut Cursor<'_>) -> Option<Page> {
        Some(Page { number: cursor.u64()?, sum: u128::from_le_bytes(cursor.array()?) })
    }

    /// The root of a tree, which may have none.
    fn take_root(cursor: &mut Cursor<'_>, is_there: bool) -> Option<Option<Page>> {
        let root = Page::take(cursor)?;
        let _rows = cursor.u64()?;
        Some(is_there.then_some(root))
    }
}

/// The bytes of each key and each value, where all have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Widths {
    pub(super) key: Option<usize>,
    pub(super) value: Option<usize>,
}

/// Of tables: names and definitions.
const TABLES: Widths = Widths { key: None, value: None };

/// A table of the database.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub(super) name: String,
    pub(super) widths: Widths,
    root: Option<Page>,
}

impl Table {
    fn parse(name: &[u8], definition: &[u8]) -> Option<Table> {
        let mut cursor = Cursor::new(definition);
        if cursor.u8()? != NORMAL {
            return None;
        }
        let _rows = cursor.u64()?;
        let is_there = cursor.u8()? != 0;
        let root = Page::take_root(&mut cursor, is_there)?;
        let mut width = || {
            let fixed = cursor.u8()? != 0;
            let bytes = cursor.u32()?;
            Some(fixed.then_some(bytes as usize))
        };
        let widths = Widths { key: width()?, value: width()? };
        Some(Table { name: String::from_utf8(name.to_vec()).ok()?, widths, root })
    }
}

/// A row, and whether the checksum of its page holds.
pub(super) struct Row<'p> {
    pub(super) key: &'p [u8],
    pub(super) value: &'p [u8],
    pub(super) sound: bool,
}

fn damaged(offset: u64, what: impl Into<String>) -> Error {
    Error::corrupt(Name::Catalog, offset, what)
}

fn read(file: &dyn DiskFile, offset: u64, bytes: &mut [u8]) -> Result<()> {
    file.read_at(offset, bytes).map_err(|e| Error::io("read", Name::Catalog, e))
}

/// The first bytes of a file: how it is parted, and its last two commits.
struct Header<'h> {
    state: u8,
    page_bytes: u64,
    /// Pages of each region before its data, and of its data.
    region_header_pages: u64,
    region_pages: u64,
    /// Regions that are full, and the pages of one that is not. Rewritten in place: they count only if
    /// the file was closed well.
    regions: u64,
    more_pages: u64,
    slots: [&'h [u8]; 2],
}

impl<'h> Header<'h> {
    /// None if it is not that of a database.
    fn parse(bytes: &'h [u8]) -> Option<Header<'h>> {
        let mut cursor = Cursor::new(bytes);
        if cursor.array()? != MAGIC {
            return None;
        }
        let state = cursor.u8()?;
        cursor.take(2)?;
        let mut word = || cursor.u32().map(u64::from);
        Some(Header {
            state,
            page_bytes: word()?,
            region_header_pages: word()?,
            region_pages: word()?,
            regions: word()?,
            more_pages: word()?,
            slots: [bytes.get(64..192)?, bytes.get(192..320)?],
        })
    }

    fn region_bytes(&self) -> u64 {
        (self.region_header_pages + self.region_pages) * PAGE_BYTES
    }

    /// Whether a file of this length is parted as this says.
    fn check(&self, len: u64) -> Result<()> {
        if self.page_bytes != PAGE_BYTES
            || self.region_header_pages > REGION_PAGES_MAX
            || !(1..=REGION_PAGES_MAX).contains(&self.region_pages)
        {
            return Err(damaged(12, "its header tells of pages that redb does not have"));
        }
        let data = len - PAGE_BYTES;
        let (whole, rest) = (data / self.region_bytes(), data % self.region_bytes());
        let is_parted = rest == 0 && whole > 0
            || rest > self.region_header_pages * PAGE_BYTES && rest.is_multiple_of(PAGE_BYTES);
        let more = if self.more_pages > 0 { self.region_header_pages + self.more_pages } else { 0 };
        let told = self.regions.saturating_mul(self.region_bytes());
        let told = told.saturating_add(PAGE_BYTES + more * PAGE_BYTES);
        let is_told = told <= len
            && (1..=REGION_PAGES_MAX).contains(&(self.regions + u64::from(more > 0)))
            && self.more_pages <= self.region_pages;
        if !is_parted || self.state & RECOVERY == 0 && !is_told {
            let what = format!("its header tells of another file than one of {len} bytes");
            return Err(damaged(16, what));
        }
        Ok(())
    }

    /// The roots of the last commit: of the tables of the user, and of redb's own.
    fn roots(&self) -> Result<[Option<Page>; 2]> {
        if self.state & TWO_PHASES == 0 {
            return Err(damaged(9, "its last commit was not made in two phases"));
        }
        if self.slots.iter().any(|slot| slot.first() != Some(&FORMAT)) {
            return Err(damaged(64, "it has another file format of redb's"));
        }
        let [first, second] = self.slots;
        let (slot, at) = if self.state & PRIMARY == 0 { (first, 64) } else { (second, 192) };
        let roots = slot.split_at_checked(SLOT_BYTES).and_then(|(slot, sum)| {
            let sound = xxh3_128(slot).to_le_bytes() == sum;
            let (mut is_there, mut cursor) =
                (Cursor::new(slot.get(1..3)?), Cursor::new(slot.get(8..).filter(|_| sound)?));
            let mut root = || Page::take_root(&mut cursor, is_there.u8()? != 0);
            Some([root()?, root()?])
        });
        roots.ok_or_else(|| damaged(at, "the checksum of its last commit does not hold"))
    }
}

/// A database file as its last commit left it.
pub(super) struct Tree<'f> {
    file: &'f dyn DiskFile,
    len: u64,
    region_bytes: u64,
    region_header_bytes: u64,
    roots: [Option<Page>; 2],
    /// Bytes that may still be read: no page is part of two others.
    left: u64,
    /// Told what is wrong; ends the reading with an error, or lets it go on with the rest.
    flaw: &'f mut dyn FnMut(Error) -> Result<()>,
}

impl<'f> Tree<'f> {
    /// Reads the header.
    ///
    /// # Errors
    ///
    /// If it is damaged, which is not told to `flaw`: nothing can be read then.
    pub(super) fn open(
        file: &'f dyn DiskFile,
        flaw: &'f mut dyn FnMut(Error) -> Result<()>,
    ) -> Result<Tree<'f>> {
        let len = file.size().map_err(|e| Error::io("measure", Name::Catalog, e))?;
        if len < PAGE_BYTES {
            return Err(damaged(0, format!("{len} bytes are no database")));
        }
        let mut bytes = [0; HEADER_BYTES];
        read(file, 0, &mut bytes)?;
        let header = Header::parse(&bytes);
        let header = header.ok_or_else(|| damaged(0, "it does not begin as redb's files do"))?;
        header.check(len)?;
        let (region_bytes, roots) = (header.region_bytes(), header.roots()?);
        let region_header_bytes = header.region_header_pages * PAGE_BYTES;
        Ok(Tree { file, len, region_bytes, region_header_bytes, roots, left: len, flaw })
    }

    /// The tables of the database.
    pub(super) fn tables(&mut self) -> Result<Vec<Table>> {
        let [of_user, _] = self.roots;
        self.tables_of(of_user)
    }

    /// Reads what redb keeps for itself.
    pub(super) fn check_system(&mut self) -> Result<()> {
        let [_, of_redb] = self.roots;
        for table in self.tables_of(of_redb)? {
            self.rows(&table, &mut |_| Ok(()))?;
        }
        Ok(())
    }

    fn tables_of(&mut self, root: Option<Page>) -> Result<Vec<Table>> {
        let mut tables = Vec::new();
        let mut unread = Vec::new();
        self.walk(root, TABLES, &mut |row| {
            match Table::parse(row.key, row.value) {
                Some(table) => tables.push(table),
                None => unread.push(row.key.escape_ascii().to_string()),
            }
            Ok(())
        })?;
        for name in unread {
            (self.flaw)(damaged(0, format!("what it says of its table {name}")))?;
        }
        Ok(tables)
    }

    /// All rows of a table, in the order of their keys.
    pub(super) fn rows(
        &mut self,
        table: &Table,
        see: &mut dyn FnMut(Row<'_>) -> Result<()>,
    ) -> Result<()> {
        self.walk(table.root, table.widths, see)
    }

    fn walk(
        &mut self,
        root: Option<Page>,
        widths: Widths,
        see: &mut dyn FnMut(Row<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut ahead = Vec::from_iter(root);
        while let Some(page) = ahead.pop() {
            let (offset, bytes) = match self.page(page.number) {
                Ok(read) => read,
                Err(e) => {
                    (self.flaw)(e)?;
                    continue;
                }
            };
            let node = Node { bytes: &bytes, widths };
            let sound = node.used().is_some_and(|used| xxh3_128(used) == page.sum);
            if !sound {
                (self.flaw)(damaged(offset, "the checksum of a page does not hold"))?;
            }
            match bytes.first() {
                Some(&LEAF) => {
                    for (key, value) in node.rows() {
                        see(Row { key, value, sound })?;
                    }
                }
                Some(&BRANCH) => {
                    let before = ahead.len();
                    ahead.extend(node.children());
                    ahead.get_mut(before..).unwrap_or_default().reverse();
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Reads a page. Returns where it is, too.
    fn page(&mut self, number: u64) -> Result<(u64, Vec<u8>)> {
        let (order, region) = (number >> 59, number >> 20 & 0xf_ffff);
        let bytes = PAGE_BYTES.checked_shl(u32::try_from(order).unwrap_or(u32::MAX)).unwrap_or(0);
        // Twenty bits, of which large pages need fewer: fewer than 2^40 bytes in all.
        let within = (number & (0xf_ffff >> order)) * bytes;
        let offset = PAGE_BYTES + region * self.region_bytes + self.region_header_bytes + within;
        if bytes > PAGE_BYTES_MAX || offset + bytes > self.len {
            return Err(damaged(0, format!("page {number:#x} lies outside of the file")));
        }
        let left = self.left.checked_sub(bytes);
        self.left = left.ok_or_else(|| damaged(offset, "a page is part of more than one other"))?;
        let mut page = vec![0; usize::try_from(bytes).unwrap_or(0)];
        read(self.file, offset, &mut page)?;
        Ok((offset, page))
    }
}

/// A page of a tree.
struct Node<'p> {
    bytes: &'p [u8],
    widths: Widths,
}

impl<'p> Node<'p> {
    fn count(&self) -> usize {
        let count = self.bytes.get(2..4).and_then(|bytes| <[u8; 2]>::try_from(bytes).ok());
        count.map_or(0, |count| usize::from(u16::from_le_bytes(count)))
    }

    /// An offset within the page that is written in it.
    fn end_at(&self, at: usize) -> Option<usize> {
        let bytes = self.bytes.get(at..at.checked_add(4)?)?;
        usize::try_from(u32::from_le_bytes(bytes.try_into().ok()?)).ok()
    }

    /// What the checksum covers: up to the end of the last row or key.
    fn used(&self) -> Option<&'p [u8]> {
        let last = self.count().checked_sub(1)?;
        let end = match self.bytes.first() {
            Some(&LEAF) => self.value_end(last)?,
            Some(&BRANCH) => {
                let keys = 8 + 24 * (last + 2);
                match self.widths.key {
                    Some(width) => keys.checked_add(width.checked_mul(last + 1)?)?,
                    None => self.end_at(keys + 4 * last)?,
                }
            }
            _ => return None,
        };
        self.bytes.get(..end)
    }

    /// Where the n-th key of a leaf ends.
    fn key_end(&self, n: usize) -> Option<usize> {
        match self.widths.key {
            Some(width) => self.keys().checked_add(width.checked_mul(n + 1)?),
            None => self.end_at(4 + 4 * n),
        }
    }

    fn value_end(&self, n: usize) -> Option<usize> {
        match self.widths.value {
            Some(width) => {
                let keys = self.key_end(self.count().checked_sub(1)?)?;
                keys.checked_add(width.checked_mul(n + 1)?)
            }
            None => {
                let ends_of_keys = if self.widths.key.is_none() { 4 * self.count() } else { 0 };
                self.end_at(4 + ends_of_keys + 4 * n)
            }
        }
    }

    /// Where the keys of a leaf begin, after the ends of those and of values that have no width.
    fn keys(&self) -> usize {
        let ends = [self.widths.key, self.widths.value].iter().filter(|w| w.is_none()).count();
        4 + 4 * self.count() * ends
    }

    /// The rows of a leaf, as far as they lie within it.
    fn rows(&self) -> impl Iterator<Item = (&'p [u8], &'p [u8])> {
        let count = self.count();
        let row = move |n: usize| {
            let key = if n == 0 { self.keys() } else { self.key_end(n - 1)? };
            let value = if n == 0 { self.key_end(count - 1)? } else { self.value_end(n - 1)? };
            let (key, value) = (key..self.key_end(n)?, value..self.value_end(n)?);
            Some((self.bytes.get(key)?, self.bytes.get(value)?))
        };
        (0..count).filter_map(row)
    }

    /// The children of a branch, as far as they lie within it.
    fn children(&self) -> impl Iterator<Item = Page> {
        let count = self.count() + 1;
        let sums = Cursor::new(self.bytes.get(8..).unwrap_or_default());
        let numbers = Cursor::new(self.bytes.get(8 + 16 * count..).unwrap_or_default());
        let mut at = (sums, numbers);
        (0..count).map_while(move |_| {
            let sum = u128::from_le_bytes(at.0.array()?);
            Some(Page { number: at.1.u64()?, sum })
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use proptest::prelude::*;
    use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition, TableHandle};

    use super::*;
    use crate::catalog::backend::{Closable, FileBackend};
    use crate::disk::{Access, Disk, SimDisk};

    const TEXTS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("texts");
    const NUMBERS: TableDefinition<'_, u64, u64> = TableDefinition::new("numbers");
    const PARTS: TableDefinition<'_, (u64, u32), &[u8]> = TableDefinition::new("parts");

    type Rows = BTreeMap<Vec<u8>, Vec<u8>>;

    /// A transaction: rows that are written, and those that are removed.
    #[derive(Clone, Debug)]
    struct Change {
        rows: Vec<(u16, usize)>,
        removed: Vec<u16>,
    }

    fn changes() -> impl Strategy<Value = Vec<Change>> {
        let len = prop_oneof![4 => 0..100usize, 1 => 3000..70_000usize];
        let rows = prop::collection::vec((0..400u16, len), 0..60);
        let change = (rows, prop::collection::vec(0..400u16, 0..20));
        prop::collection::vec(change.prop_map(|(rows, removed)| Change { rows, removed }), 1..6)
    }

    fn content(n: u16, len: usize) -> Vec<u8> {
        vec![n.to_le_bytes()[0]; len]
    }

    /// A database after some transactions, left as by a crash or closed.
    fn database(changes: &[Change], closed: bool) -> (SimDisk, [Rows; 3]) {
        let disk = SimDisk::new();
        let shared: Arc<dyn Disk> = Arc::new(disk.clone());
        let file = shared.open(Name::Catalog, Access::Create).unwrap();
        let database =
            Database::builder().create_with_backend(FileBackend::new(Closable::new(file))).unwrap();
        for change in changes {
            let mut transaction = database.begin_write().unwrap();
            transaction.set_two_phase_commit(true);
            {
                let mut texts = transaction.open_table(TEXTS).unwrap();
                let mut numbers = transaction.open_table(NUMBERS).unwrap();
                let mut parts = transaction.open_table(PARTS).unwrap();
                for &(n, len) in &change.rows {
                    let name = format!("{n}-{}", "x".repeat(usize::from(n % 50)));
                    texts.insert(name.as_str(), content(n, len % 500).as_slice()).unwrap();
                    numbers.insert(u64::from(n), len as u64).unwrap();
                    parts.insert((u64::from(n), 3), content(n, len).as_slice()).unwrap();
                }
                for &n in &change.removed {
                    numbers.remove(u64::from(n)).unwrap();
                    parts.remove((u64::from(n), 3)).unwrap();
                }
            }
            transaction.commit().unwrap();
        }
        let left = disk.crash_all_kept();
        let mut rows = [const { Rows::new() }; 3];
        let read = database.begin_read().unwrap();
        for row in read.open_table(TEXTS).unwrap().iter().unwrap() {
            let (key, value) = row.unwrap();
            rows[0].insert(key.value().as_bytes().to_vec(), value.value().to_vec());
        }
        for row in read.open_table(NUMBERS).unwrap().iter().unwrap() {
            let (key, value) = row.unwrap();
            rows[1]
                .insert(key.value().to_le_bytes().to_vec(), value.value().to_le_bytes().to_vec());
        }
        for row in read.open_table(PARTS).unwrap().iter().unwrap() {
            let (key, value) = row.unwrap();
            let (sequence, part) = key.value();
            let key = [&sequence.to_le_bytes()[..], &part.to_le_bytes()].concat();
            rows[2].insert(key, value.value().to_vec());
        }
        drop((read, database));
        (if closed { disk } else { left }, rows)
    }

    /// All that a file holds, and how many flaws it has.
    fn read_all(disk: &SimDisk) -> (Result<[Rows; 3]>, usize) {
        let mut flaws = 0;
        let mut flaw = |_| {
            flaws += 1;
            Ok(())
        };
        let file = disk.open(Name::Catalog, Access::Read).unwrap();
        let rows = Tree::open(&*file, &mut flaw).and_then(|mut tree| {
            let mut rows = [const { Rows::new() }; 3];
            for table in tree.tables()? {
                let names = [TEXTS.name(), NUMBERS.name(), PARTS.name()];
                // What is damaged may have any name.
                let Some(place) = names.iter().position(|name| *name == table.name) else {
                    continue;
                };
                tree.rows(&table, &mut |row| {
                    rows[place].insert(row.key.to_vec(), row.value.to_vec());
                    Ok(())
                })?;
            }
            tree.check_system()?;
            Ok(rows)
        });
        (rows, flaws)
    }

    #[test]
    fn every_flipped_bit_of_the_header_is_told_or_changes_nothing() {
        let change = Change { rows: vec![(7, 80)], removed: vec![] };
        for closed in [false, true] {
            let (disk, expected) = database(&[change.clone(), change.clone()], closed);
            let file =
                disk.contents().into_iter().find(|(name, _)| *name == Name::Catalog).unwrap();
            let mut told = 0;
            // The byte that says which of two commits is the last shows by the mark.
            for at in (0..HEADER_BYTES).filter(|at| *at != 9) {
                for bit in 0..8 {
                    let mut damaged = file.1.clone();
                    damaged[at] ^= 1 << bit;
                    let (rows, flaws) = read_all(&SimDisk::of([(Name::Catalog, damaged)]));
                    told += usize::from(rows.is_err() || flaws > 0);
                    assert!(flaws > 0 || rows.is_err() || rows.unwrap() == expected, "{at}");
                }
            }
            assert!(told > 1000, "{told}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn it_reads_what_redb_reads(changes in changes(), closed: bool) {
            let (disk, expected) = database(&changes, closed);
            let (rows, flaws) = read_all(&disk);
            prop_assert_eq!(flaws, 0);
            prop_assert!(rows.unwrap() == expected);
        }

        /// What is damaged is told, or of no account; and what is read then takes no more memory and
        /// time than the file is worth.
        #[test]
        fn a_flipped_bit_is_told_or_changes_nothing(
            changes in changes(),
            closed: bool,
            places in prop::collection::vec((any::<prop::sample::Index>(), 0..8u8), 1..40),
        ) {
            let (disk, expected) = database(&changes, closed);
            let file = disk.contents().into_iter().find(|(name, _)| *name == Name::Catalog).unwrap();
            for (place, bit) in places {
                let mut damaged = file.1.clone();
                *place.get_mut(&mut damaged) ^= 1 << bit;
                if damaged[9] != file.1[9] {
                    // The commit before, perhaps: that shows by the mark.
                    continue;
                }
                let (rows, flaws) = read_all(&SimDisk::of([(Name::Catalog, damaged)]));
                // What is wrong with the header is an error at once.
                prop_assert!(flaws > 0 || rows.is_err() || rows.is_ok_and(|rows| rows == expected));
            }
        }
    }
}
