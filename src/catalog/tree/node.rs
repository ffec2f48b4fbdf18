//! A page of a tree: rows, or references to child pages.

use super::page::{RedbPageRef, Widths};
use crate::layout::Cursor;
use byteorder::{ByteOrder, LittleEndian};
use std::ops::Range;

const LEAF: u8 = 1;
const BRANCH: u8 = 2;

/// The position of a row in its page.
pub(super) struct RowRanges {
    pub(super) key: Range<usize>,
    pub(super) value: Range<usize>,
}

/// A page of a tree.
#[derive(Clone, Copy)]
pub(super) struct RedbNode<'p> {
    pub(super) bytes: &'p [u8],
    pub(super) widths: Widths,
}

impl<'p> RedbNode<'p> {
    /// Whether the page has rows.
    pub(super) fn is_leaf(&self) -> bool {
        self.bytes.first() == Some(&LEAF)
    }

    /// Whether the page has child pages.
    pub(super) fn is_branch(&self) -> bool {
        self.bytes.first() == Some(&BRANCH)
    }

    /// The number of rows, or of keys that separate the page's children.
    #[expect(clippy::indexing_slicing, reason = "a page has thousands of bytes")]
    pub(super) fn count(&self) -> usize {
        LittleEndian::read_u16(&self.bytes[2..4]).into()
    }

    /// Reads an offset within the page.
    fn end_at(&self, at: usize) -> Option<usize> {
        let bytes = self.bytes.get(at..at.checked_add(4)?)?;
        usize::try_from(Cursor::new(bytes).u32()?).ok()
    }

    /// The bytes that the checksum covers: up to the end of the last row or key.
    pub(super) fn used(&self) -> Option<&'p [u8]> {
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

    /// The end of the n-th key of a leaf.
    fn key_end(&self, n: usize) -> Option<usize> {
        match self.widths.key {
            Some(width) => self.keys().checked_add(width.checked_mul(n + 1)?),
            None => self.end_at(4 + 4 * n),
        }
    }

    /// The end of the n-th value of a leaf.
    pub(super) fn value_end(&self, n: usize) -> Option<usize> {
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

    /// The end of a leaf's keys; `None` if the leaf has no keys.
    pub(super) fn keys_end(&self) -> Option<usize> {
        self.key_end(self.count().checked_sub(1)?)
    }

    /// The start of a leaf's keys, after the table of the ends of keys and values without fixed
    /// width.
    fn keys(&self) -> usize {
        let ends = [self.widths.key, self.widths.value].iter().filter(|w| w.is_none()).count();
        4 + 4 * self.count() * ends
    }

    /// The rows of a leaf; `None` for a row that exceeds the page.
    pub(super) fn rows(&self) -> impl Iterator<Item = Option<(&'p [u8], &'p [u8])>> + use<'p> {
        let bytes = self.bytes;
        self.places().map(move |row| {
            let RowRanges { key, value } = row?;
            Some((bytes.get(key)?, bytes.get(value)?))
        })
    }

    /// The position of the key and the value of each row of a leaf, as the leaf states it.
    pub(super) fn places(self) -> impl Iterator<Item = Option<RowRanges>> + use<'p> {
        let count = self.count();
        let row = move |n: usize| {
            let key = if n == 0 { self.keys() } else { self.key_end(n - 1)? };
            let value = if n == 0 { self.key_end(count - 1)? } else { self.value_end(n - 1)? };
            Some(RowRanges { key: key..self.key_end(n)?, value: value..self.value_end(n)? })
        };
        (0..count).map(row)
    }

    /// An upper bound of the keys in a branch's n-th child, if all keys have one width; `None` for
    /// the last child.
    pub(super) fn bound(&self, n: usize) -> Option<&'p [u8]> {
        let (width, count) = (self.widths.key?, self.count());
        let at = (n < count).then_some(8 + 24 * (count + 1))?.checked_add(n.checked_mul(width)?)?;
        self.bytes.get(at..at.checked_add(width)?)
    }

    /// The children of a branch that lie within the page. A sound branch has all its children
    /// within the page, because its checksum covers the bytes after them.
    pub(super) fn children(&self) -> impl Iterator<Item = RedbPageRef> {
        let count = self.count() + 1;
        let sums = Cursor::new(self.bytes.get(8..).unwrap_or_default());
        let numbers = Cursor::new(self.bytes.get(8 + 16 * count..).unwrap_or_default());
        let mut at = (sums, numbers);
        (0..count).map_while(move |_| {
            let sum = at.0.u128()?;
            Some(RedbPageRef { number: at.1.u64()?, sum })
        })
    }
}
