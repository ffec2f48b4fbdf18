//! The rows of all components by ranges of hashes, and the decision which row of a page is the
//! newest.

use super::sources::RowSource;
use crate::bug::OrBug;
use crate::error::Result;
use crate::segment::{RowFlags, ScheduleRow, ScheduleRows};

/// The approximate number of rows in a part. The number is small enough that the rows stay in the
/// CPU cache.
const PART_ROWS: u64 = 4096;

/// A row of a page in one component.
#[derive(Clone, Copy, Debug)]
pub(super) struct ComponentRow {
    pub(super) hash: u64,
    pub(super) component: usize,
    /// The number of the page in SURT order in the component.
    pub(super) page: u32,
    pub(super) row: ScheduleRow,
}

/// The rows of all components in a range of hashes.
pub(super) struct RowRange<'s> {
    sources: &'s [RowSource],
    /// The rows of each component, the oldest component first.
    rows: Vec<ScheduleRows<'s>>,
    newest: Option<NewestRows>,
}

/// Returns all rows with hashes from `first` to `last`, in parts.
///
/// Reads hashes and rows sequentially. Reads no pages.
pub(super) fn parts(
    sources: &[RowSource],
    first: u64,
    last: u64,
) -> impl Iterator<Item = Result<RowRange<'_>>> {
    let pages: u64 = sources.iter().map(RowSource::all_pages).sum();
    // 128 bits, because a full range has 2^64 hashes, and the products below are larger. Hashes are
    // uniform, so the number of rows in a range is estimated and not counted.
    let hashes = u128::from(last - first) + 1;
    let rows = (u128::from(pages) * hashes) >> 64;
    let parts = (rows / u128::from(PART_ROWS)).max(1);
    #[expect(clippy::cast_possible_truncation, reason = "an index below the number of hashes")]
    let from = move |part: u128| first + (hashes * part / parts) as u64;
    (0..parts).map(move |part| {
        // The last part ends at `last`, so that rounding loses no hash.
        let upto = if part + 1 == parts { last } else { from(part + 1) - 1 };
        let rows = sources.iter().map(|source| source.rows(from(part), upto));
        let rows = rows.collect::<Result<Vec<_>>>()?;
        let newest = NewestRows::new(sources, &rows);
        Ok(RowRange { sources, rows, newest })
    })
}

impl<'s> RowRange<'s> {
    /// Returns the rows of each component, the oldest first.
    pub(super) fn rows(&self) -> impl Iterator<Item = (usize, &ScheduleRows<'s>)> {
        self.rows.iter().enumerate()
    }

    /// Whether a row is the newest row of its page, so that it counts.
    ///
    /// Reads URLs only if the hashes of rows cannot decide.
    #[inline]
    pub(super) fn is_newest(&self, found: &ComponentRow) -> Result<bool> {
        let newest = self.newest.as_ref();
        match newest.map(|newest| newest.location(found.component, found.hash)) {
            None | Some(RowStatus::Newest) => Ok(true),
            Some(RowStatus::Superseded) => Ok(false),
            Some(RowStatus::Unclear) => self.is_newest_of_several(found),
        }
    }

    /// Whether the row is known not to be the newest of its page. Reads no URL.
    #[inline]
    pub(super) fn is_superseded(&self, component: usize, hash: u64) -> bool {
        let newest = self.newest.as_ref();
        newest.is_some_and(|newest| newest.location(component, hash) == RowStatus::Superseded)
    }

    /// Whether no newer component has a row of the page; compares URLs.
    fn is_newest_of_several(
        &self,
        ComponentRow { hash, component, page, .. }: &ComponentRow,
    ) -> Result<bool> {
        let url = source_of(self.sources, *component)?.url(*page)?;
        // Components are in order of age, so only the components after this one can have a newer
        // row.
        for (rows, source) in self.rows.iter().zip(self.sources).skip(component + 1) {
            for other in rows.with(*hash).map(|at| rows.page(at)) {
                if source.sees(other) && source.url(other)? == url {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

/// Calls `take` once for each page with a hash from `first` to `last`, with the newest row of the
/// page.
pub(super) fn each_page(
    sources: &[RowSource],
    first: u64,
    last: u64,
    mut take: impl FnMut(ComponentRow) -> Result<()>,
) -> Result<()> {
    for part in parts(sources, first, last) {
        let part = part?;
        for ((component, rows), source) in part.rows().zip(sources) {
            for at in 0..rows.len() {
                let (hash, page, row) = (rows.hash(at), rows.page(at), rows.row(at)?);
                let found = ComponentRow { hash, component, page, row };
                // An unknown row is no page, but it may supersede older rows of a page.
                if row.known && source.sees(page) && part.is_newest(&found)? {
                    take(found)?;
                }
            }
        }
    }
    Ok(())
}

/// Returns the first and the last hash of a range: part number `part` of `parts` equal ranges up to
/// `last`.
#[expect(clippy::cast_possible_truncation, reason = "a part of all hashes is one of 64 bits")]
pub(super) fn part_of(last: u64, part: usize, parts: usize) -> (u64, u64) {
    // If `last` is the greatest hash, there are 2^64 hashes, a number that needs more than 64 bits.
    let all = u128::from(last) + 1;
    let from = |part: usize| all * part as u128 / parts as u128;
    (from(part) as u64, (from(part + 1) - 1) as u64)
}

/// Returns a component.
pub(super) fn source_of(sources: &[RowSource], component: usize) -> Result<&RowSource> {
    Ok(sources.get(component).or_bug("each hit belongs to one of the components")?)
}

/// An index of the rows of a part by hash, which decides for most rows without reading URLs.
///
/// Each known page has at least one *first* row, whose record holds all visits that the page had
/// when the record was written. Forgotten rows of older components are left out, and a row of an
/// unknown page may end any page. So all rows of a hash belong to one page under three conditions:
/// all rows belong to known pages, exactly one row is a first row, and no component has two rows of
/// the hash.
#[derive(Debug)]
pub(super) struct NewestRows {
    /// An open-addressing table; slots with `rows == 0` are free.
    hashes: Vec<HashSlot>,
}

/// The rows of a hash.
#[derive(Clone, Copy, Debug, Default)]
struct HashSlot {
    hash: u64,
    /// The newest component with a row of the hash.
    component: u32,
    /// The number of rows. The number saturates.
    rows: u16,
    firsts: u8,
    /// Whether a row belongs to an unknown page, or a component has two rows.
    is_doubtful: bool,
}

/// Whether a row is the newest of its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowStatus {
    /// The row is the newest.
    Newest,
    /// A newer row of the page exists.
    Superseded,
    /// Only the URLs can decide.
    Unclear,
}

impl NewestRows {
    /// Indexes the rows of all components, the oldest first. `None` for a single component, since
    /// all rows of a single component are the newest.
    pub(super) fn new(sources: &[RowSource], rows: &[ScheduleRows<'_>]) -> Option<NewestRows> {
        if sources.len() < 2 {
            return None;
        }
        let all: usize = rows.iter().map(ScheduleRows::len).sum();
        // The table is at most half full, so probing ends at a free slot after few steps.
        let places = (2 * all).next_power_of_two();
        let mut newest = NewestRows { hashes: vec![HashSlot::default(); places] };
        for ((component, rows), source) in rows.iter().enumerate().zip(sources) {
            // Rows of forgotten pages are left out. Otherwise they would count as second first
            // rows, and URLs would have to decide.
            for at in (0..rows.len()).filter(|at| source.sees(rows.page(*at))) {
                newest.add(component, rows.hash(at), rows.flags(at));
            }
        }
        Some(newest)
    }

    fn add(&mut self, component: usize, hash: u64, row: RowFlags) {
        let place = self.place(hash);
        #[expect(clippy::indexing_slicing, reason = "each index is below the length")]
        let of = &mut self.hashes[place];
        #[expect(clippy::cast_possible_truncation, reason = "there are fewer components than 2^32")]
        let component = component as u32;
        // Components are added in order of age, so the last added component is the newest. Two rows
        // with one hash in one component belong to two pages.
        let is_second = of.rows > 0 && of.component == component;
        *of = HashSlot {
            hash,
            component,
            rows: of.rows.saturating_add(1),
            firsts: of.firsts.saturating_add(row.first.into()),
            is_doubtful: of.is_doubtful || is_second || !row.known,
        };
    }

    /// Returns whether an indexed row of a component is the newest.
    #[inline]
    pub(super) fn location(&self, component: usize, hash: u64) -> RowStatus {
        #[expect(clippy::indexing_slicing, reason = "each index is below the length")]
        let of = &self.hashes[self.place(hash)];
        // A single row has no newer row that supersedes it, whatever its flags.
        if of.rows == 1 {
            RowStatus::Newest
        } else if of.is_doubtful || of.firsts != 1 {
            RowStatus::Unclear
        } else if of.component as usize == component {
            RowStatus::Newest
        } else {
            RowStatus::Superseded
        }
    }

    /// Returns the slot of a hash, or the free slot for it.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "each index is below the length")]
    fn place(&self, hash: u64) -> usize {
        let last = self.hashes.len() - 1;
        // Linear probing. The hashes of a part share their upper bits, so hashes are multiplied
        // first.
        let mut place = (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & last;
        while self.hashes[place].rows > 0 && self.hashes[place].hash != hash {
            place = (place + 1) & last;
        }
        place
    }
}

#[cfg(test)]
mod newest_tests {
    use super::*;

    #[test]
    fn page_has_one_first_row() {
        let none = RowFlags { known: false, first: false };
        let [first, later] = [true, false].map(|first| RowFlags { known: true, first });
        let location = |rows: &[(usize, RowFlags)], of: usize| {
            let mut newest = NewestRows { hashes: vec![HashSlot::default(); 16] };
            rows.iter().for_each(|(component, row)| newest.add(*component, 7, *row));
            newest.add(of, 8, first);
            assert_eq!(newest.location(of, 8), RowStatus::Newest);
            newest.location(of, 7)
        };
        let one = [(0, first), (1, later), (3, later)];
        assert_eq!(location(&one, 3), RowStatus::Newest);
        assert_eq!([0, 1].map(|of| location(&one, of)), [RowStatus::Superseded; 2]);
        let several: [&[(usize, RowFlags)]; 5] = [
            // Two pages, or one page that was forgotten in between.
            &[(0, first), (1, first)],
            &[(0, first), (0, later)],
            // A page, and a row that ended this page or another page.
            &[(0, first), (1, none)],
            // Two pages, one of which was forgotten.
            &[(0, later), (1, later)],
            &[(0, later), (1, first), (1, later)],
        ];
        for rows in several {
            assert_eq!(location(rows, 0), RowStatus::Unclear);
        }
    }
}
