//! Groups of pages: front-coded URLs, then the records.

use arrayvec::ArrayVec;

use crate::layout::{Cursor, GROUP_LEN, GROUP_PAGES, put_varint};
use crate::page::surt;

/// Packs pages into groups.
#[derive(Default)]
pub(super) struct GroupWriter {
    count: u64,
    last_url: Vec<u8>,
    heads: Vec<u8>,
    records: Vec<u8>,
}

impl GroupWriter {
    /// Whether a page comes after the last page. Costs two SURT keys.
    pub(super) fn precedes(&self, url: &str) -> bool {
        let last = String::from_utf8_lossy(&self.last_url);
        // No page has an empty URL, so an empty last URL means that this page is the first.
        last.is_empty() || (surt::key_of(&last), &*last) < (surt::key_of(url), url)
    }

    /// Adds a page; `record` appends its record.
    #[expect(clippy::indexing_slicing, reason = "the shared prefix is no longer than either URL")]
    pub(super) fn push(&mut self, url: &str, record: impl FnOnce(&mut Vec<u8>)) {
        let url = url.as_bytes();
        // The first URL of a group is stored whole, so that a group can be read without other
        // groups.
        let shared = if self.count == 0 { 0 } else { alike(url, &self.last_url) };
        let suffix = &url[shared..];
        put_varint(&mut self.heads, shared as u64);
        put_varint(&mut self.heads, suffix.len() as u64);
        // Heads and records are collected separately, because a lookup reads all heads but only one
        // record.
        let start = self.records.len();
        record(&mut self.records);
        put_varint(&mut self.heads, (self.records.len() - start) as u64);
        self.heads.extend_from_slice(suffix);
        self.last_url.clear();
        self.last_url.extend_from_slice(url);
        self.count += 1;
    }

    /// Whether the group must be flushed before another page.
    pub(super) fn is_full(&self) -> bool {
        self.count == GROUP_PAGES
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Appends the packed group, and begins the next group.
    pub(super) fn flush(&mut self, out: &mut Vec<u8>) {
        put_varint(out, self.count);
        put_varint(out, self.heads.len() as u64);
        out.extend_from_slice(&self.heads);
        out.extend_from_slice(&self.records);
        self.count = 0;
        self.heads.clear();
        self.records.clear();
    }
}

/// A packed group, read page by page.
#[derive(Clone, Copy)]
pub(super) struct PageGroup<'a> {
    pub(super) left: u64,
    pub(super) heads: Cursor<'a>,
    pub(super) records: Cursor<'a>,
}

impl<'a> PageGroup<'a> {
    /// Parses a group of `pages` pages.
    pub(super) fn parse(bytes: &'a [u8], pages: u64) -> Option<Self> {
        let mut cursor = Cursor::new(bytes);
        let left = cursor.varint().filter(|&n| n == pages)?;
        let heads = cursor.count()?;
        let heads = Cursor::new(cursor.take(heads)?);
        Some(PageGroup { left, heads, records: cursor })
    }

    /// Writes the next page's URL into `url`, and returns its record.
    #[inline]
    pub(super) fn next(&mut self, url: &mut Vec<u8>) -> Option<&'a [u8]> {
        let (shared, suffix, record) = self.head()?;
        if shared > url.len() {
            return None;
        }
        url.truncate(shared);
        url.extend_from_slice(suffix);
        self.records.take(record)
    }

    /// Skips `before` pages. Writes the URL of the next page into `url`, and returns its record.
    ///
    /// Copies only bytes of the page's URL: its own suffix, and the parts of earlier suffixes that
    /// the URL shares.
    #[expect(
        clippy::indexing_slicing,
        reason = "no URL shares more with the one before than that has: checked for each"
    )]
    pub(super) fn skip(&mut self, before: u64, url: &mut Vec<u8>) -> Option<&'a [u8]> {
        // Never overflows: `head` fails after the last page of the group, and `parse` limits a
        // group to 16 pages.
        let mut suffixes: ArrayVec<(usize, &[u8]), GROUP_LEN> = ArrayVec::new();
        let (mut len, mut records) = (0, 0_usize);
        for _ in 0..before {
            let (shared, suffix, record) = self.head()?;
            if shared > len {
                return None;
            }
            len = shared + suffix.len();
            suffixes.push((shared, suffix));
            records = records.checked_add(record)?;
        }
        let (shared, suffix, record) = self.head()?;
        if shared > len {
            return None;
        }
        url.clear();
        url.reserve_exact(shared + suffix.len());
        // These zeros are all overwritten below, since the first page of a group shares no bytes.
        url.resize(shared, 0);
        url.extend_from_slice(suffix);
        // From the last page backwards: each byte comes from the newest suffix that covers it. Most
        // suffixes are covered by later suffixes and are not copied.
        let mut wanted = shared;
        for &(shared, suffix) in suffixes.iter().rev() {
            if shared < wanted {
                url[shared..wanted].copy_from_slice(&suffix[..wanted - shared]);
                wanted = shared;
            }
        }
        self.records.take(records)?;
        self.records.take(record)
    }

    /// Returns the next page's head: the length of the prefix shared with the previous URL, the
    /// suffix, and the length of the record.
    #[inline]
    fn head(&mut self) -> Option<(usize, &'a [u8], usize)> {
        self.left = self.left.checked_sub(1)?;
        let [shared, suffix, record] = self.heads.varints()?;
        let suffix = self.heads.take(usize::try_from(suffix).ok()?)?;
        Some((usize::try_from(shared).ok()?, suffix, usize::try_from(record).ok()?))
    }

    /// Skips `before` pages. Returns the record of the next page, and whether its URL is `url`.
    /// Assembles no URL.
    #[expect(clippy::indexing_slicing, reason = "the common prefix is no longer than `url`")]
    pub(super) fn find(&mut self, before: u64, url: &[u8]) -> Option<(&'a [u8], bool)> {
        // The length of the current URL, and the length of its common prefix with `url`.
        let (mut len, mut same) = (0, 0);
        for left in (0..=before).rev() {
            let (shared, suffix, record) = self.head()?;
            if shared > len {
                return None;
            }
            // If this URL shares more than the matching prefix with the previous URL, it also
            // shares the mismatch, and its suffix does not matter.
            if shared <= same {
                same = shared + alike(suffix, &url[shared..]);
            }
            len = shared + suffix.len();
            // Takes a slice of the record. Does not touch the memory of other pages' records.
            let record = self.records.take(record)?;
            if left == 0 {
                return Some((record, same == len && len == url.len()));
            }
        }
        None
    }
}

/// Returns the length of the common prefix of two byte strings.
pub(crate) fn alike(a: &[u8], b: &[u8]) -> usize {
    let words = a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0);
    let mut same = 0;
    for (x, y) in words {
        let difference = u64::from_le_bytes(*x) ^ u64::from_le_bytes(*y);
        if difference != 0 {
            // Words are read as little-endian, so the lowest byte that differs is the first byte
            // that differs.
            return same + (difference.trailing_zeros() / 8) as usize;
        }
        same += 8;
    }
    let rest = a.iter().zip(b).skip(same);
    same + rest.take_while(|(x, y)| x == y).count()
}
