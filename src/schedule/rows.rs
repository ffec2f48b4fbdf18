//! The rows of all components, by parts of all hashes; and which of them is the newest of its page.

use super::newest::{Newest, Standing};
use super::sources::Source;
use crate::bug::OrBug;
use crate::error::Result;
use crate::segment::{Row, Rows};

/// Rows of a part, about: few enough to stay near the processor while they are compared.
const PART_ROWS: u64 = 4096;

/// A page, and a component that has a row of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) hash: u64,
    pub(super) component: usize,
    /// Its place in SURT order there.
    pub(super) page: u32,
    pub(super) row: Row,
}

/// The rows that all components have of some hashes.
pub(super) struct Part<'s> {
    sources: &'s [Source],
    /// Of each component, the oldest first.
    rows: Vec<Rows<'s>>,
    newest: Option<Newest>,
}

/// All rows with hashes from `first` to `last`, in parts.
///
/// Reads hashes and rows from front to end, and no page.
pub(super) fn parts(
    sources: &[Source],
    first: u64,
    last: u64,
) -> impl Iterator<Item = Result<Part<'_>>> {
    let pages: u64 = sources.iter().map(Source::all_pages).sum();
    let hashes = u128::from(last - first) + 1;
    let rows = (u128::from(pages) * hashes) >> 64;
    let parts = (rows / u128::from(PART_ROWS)).max(1);
    #[expect(clippy::cast_possible_truncation, reason = "less than there are hashes")]
    let from = move |part: u128| first + (hashes * part / parts) as u64;
    (0..parts).map(move |part| {
        let upto = if part + 1 == parts { last } else { from(part + 1) - 1 };
        let rows = sources.iter().map(|source| source.rows(from(part), upto));
        let rows = rows.collect::<Result<Vec<_>>>()?;
        let newest = Newest::new(sources, &rows);
        Ok(Part { sources, rows, newest })
    })
}

impl<'s> Part<'s> {
    /// The rows of each component, the oldest first.
    pub(super) fn rows(&self) -> impl Iterator<Item = (usize, &Rows<'s>)> {
        self.rows.iter().enumerate()
    }

    /// Whether the row of a page is the newest one, so that it counts.
    ///
    /// Reads no URL, unless hashes of two pages are equal.
    #[inline]
    pub(super) fn is_newest(&self, found: &Found) -> Result<bool> {
        let newest = self.newest.as_ref();
        match newest.map(|newest| newest.location(found.component, found.hash)) {
            None | Some(Standing::Newest) => Ok(true),
            Some(Standing::Superseded) => Ok(false),
            Some(Standing::Unclear) => self.is_newest_of_several(found),
        }
    }

    /// Whether it is known that the row of a page is not the newest one.
    #[inline]
    pub(super) fn is_superseded(&self, component: usize, hash: u64) -> bool {
        let newest = self.newest.as_ref();
        newest.is_some_and(|newest| newest.location(component, hash) == Standing::Superseded)
    }

    /// Whether no newer component has a row of the page.
    fn is_newest_of_several(&self, Found { hash, component, page, .. }: &Found) -> Result<bool> {
        let url = source_of(self.sources, *component)?.url(*page)?;
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

/// Passes on each page whose hash is from `first` to `last`, once, with its newest row.
pub(super) fn each_page(
    sources: &[Source],
    first: u64,
    last: u64,
    mut take: impl FnMut(Found) -> Result<()>,
) -> Result<()> {
    for part in parts(sources, first, last) {
        let part = part?;
        for ((component, rows), source) in part.rows().zip(sources) {
            for at in 0..rows.len() {
                let (hash, page, row) = (rows.hash(at), rows.page(at), rows.row(at)?);
                let found = Found { hash, component, page, row };
                if row.known && source.sees(page) && part.is_newest(&found)? {
                    take(found)?;
                }
            }
        }
    }
    Ok(())
}

/// The first and the last hash of one of so many parts of all that are at most `last`.
#[expect(clippy::cast_possible_truncation, reason = "a part of all hashes is one of 64 bits")]
pub(super) fn part_of(last: u64, part: usize, parts: usize) -> (u64, u64) {
    let all = u128::from(last) + 1;
    let from = |part: usize| all * part as u128 / parts as u128;
    (from(part) as u64, (from(part + 1) - 1) as u64)
}

/// A component.
pub(super) fn source_of(sources: &[Source], component: usize) -> Result<&Source> {
    Ok(sources.get(component).or_bug("what is found is of one of the components")?)
}
