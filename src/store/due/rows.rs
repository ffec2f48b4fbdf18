//! The rows of all components side by side, in order of hash: each page once, with its newest row.

use super::sources::{Of, Source};
use crate::bug::OrBug;
use crate::error::Result;
use crate::segment::{Row, RowCursor, RowOf};
use crate::sort::Tournament;

/// A page, and the component with its newest row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) hash: u64,
    pub(super) component: usize,
    /// Its place in SURT order there.
    pub(super) page: u32,
    pub(super) row: Row,
}

/// The rows of a component that are left.
struct Stream<'s> {
    source: &'s Source,
    rows: Rows<'s>,
    next: Option<RowOf>,
}

enum Rows<'s> {
    Segment(RowCursor<'s>),
    Memtable(std::slice::Iter<'s, RowOf>),
}

impl<'s> Stream<'s> {
    fn new(source: &'s Source, first: u64, last: u64) -> Result<Stream<'s>> {
        let rows = match &source.of {
            Of::Segment(live) => Rows::Segment(RowCursor::new(&live.segment, first, last)?),
            Of::Memtable { rows, .. } => {
                let from = rows.partition_point(|row| row.hash < first);
                let upto = rows.partition_point(|row| row.hash <= last);
                let some = rows.get(from..upto).or_bug("a part ends after it begins")?;
                Rows::Memtable(some.iter())
            }
        };
        let mut stream = Stream { source, rows, next: None };
        stream.advance()?;
        Ok(stream)
    }

    #[inline]
    fn advance(&mut self) -> Result<()> {
        loop {
            self.next = match &mut self.rows {
                Rows::Segment(rows) => rows.next()?,
                Rows::Memtable(rows) => rows.next().copied(),
            };
            if self.next.is_none_or(|next| self.source.sees(next.page)) {
                return Ok(());
            }
        }
    }
}

/// Each page whose hash is in a range, once, with its newest row; an iterator.
///
/// Reads hashes and rows from front to end, and no page, unless hashes of two pages are equal.
pub(super) struct EachPage<'s> {
    sources: &'s [Source],
    streams: Vec<Stream<'s>>,
    tournament: Tournament,
    /// The pages of the hash that was met last, if several rows had it.
    of_one_hash: Vec<Found>,
}

impl<'s> EachPage<'s> {
    /// Those with hashes from `first` to `last`.
    pub(super) fn new(sources: &'s [Source], first: u64, last: u64) -> Result<EachPage<'s>> {
        let streams = sources.iter().map(|source| Stream::new(source, first, last));
        let streams = streams.collect::<Result<Vec<_>>>()?;
        let tournament = Tournament::new(streams.len(), |a, b| precedes(&streams, a, b));
        Ok(EachPage { sources, streams, tournament, of_one_hash: Vec::new() })
    }

    #[inline]
    fn find(&mut self) -> Result<Option<Found>> {
        loop {
            if let Some(found) = self.of_one_hash.pop() {
                return Ok(Some(found));
            }
            let Some(found) = self.pop()? else { return Ok(None) };
            if self.comes_next(found.hash) {
                self.settle(found)?;
            } else if found.row.known {
                return Ok(Some(found));
            }
        }
    }

    /// The first of the next rows of all components.
    #[inline]
    fn pop(&mut self) -> Result<Option<Found>> {
        let component = self.tournament.winner();
        let Some(stream) = self.streams.get_mut(component) else { return Ok(None) };
        let Some(RowOf { hash, page, row }) = stream.next else { return Ok(None) };
        stream.advance()?;
        self.tournament.replay(|a, b| precedes(&self.streams, a, b));
        Ok(Some(Found { hash, component, page, row }))
    }

    /// Whether the next row has this hash.
    #[inline]
    fn comes_next(&self, hash: u64) -> bool {
        let next = self.streams.get(self.tournament.winner()).and_then(|stream| stream.next);
        next.is_some_and(|next| next.hash == hash)
    }

    /// Finds the pages that rows of one hash are of, which come in order of their components.
    #[inline(never)]
    fn settle(&mut self, first: Found) -> Result<()> {
        let mut equal = vec![first];
        while self.comes_next(first.hash) {
            equal.extend(self.pop()?);
        }
        if is_one_page(&equal) {
            self.of_one_hash.extend(equal.pop());
            return Ok(());
        }
        let mut by_url = Vec::with_capacity(equal.len());
        for found in equal {
            by_url.push((source_of(self.sources, found.component)?.url(found.page)?, found));
        }
        // Of each URL the newest component is the last. The last page is the first to be returned.
        by_url.sort_by(|(a, of_a), (b, of_b)| (b, of_a.component).cmp(&(a, of_b.component)));
        let pages = by_url.chunk_by(|(a, _), (b, _)| a == b);
        let newest = pages.filter_map(|rows| rows.last().map(|(_, found)| *found));
        self.of_one_hash.extend(newest.filter(|found| found.row.known));
        Ok(())
    }
}

impl Iterator for EachPage<'_> {
    type Item = Result<Found>;

    #[inline]
    fn next(&mut self) -> Option<Result<Found>> {
        self.find().transpose()
    }
}

/// Whether the next row of stream `a` comes before that of stream `b`. Of one hash, the streams come in
/// their order; those that have ended come last.
#[inline]
#[expect(clippy::indexing_slicing, reason = "contestants are numbers of streams")]
fn precedes(streams: &[Stream<'_>], a: usize, b: usize) -> bool {
    match (streams[a].next, streams[b].next) {
        (Some(of_a), Some(of_b)) => (of_a.hash, a) < (of_b.hash, b),
        (of_a, _) => of_a.is_some(),
    }
}

/// Whether several rows of one hash are known to be of one page.
///
/// Each page that is known has one row at least that tells of all of its visits alone: its *first*. What
/// newer components forgot was left out, and a row that knows of no page may be the end of any. So if
/// each knows a page, one alone is a first, and no component has two, there is one page.
fn is_one_page(equal: &[Found]) -> bool {
    let two_of_one = equal.array_windows().any(|[a, b]| a.component == b.component);
    let firsts = equal.iter().filter(|found| found.row.first).count();
    firsts == 1 && !two_of_one && equal.iter().all(|found| found.row.known)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_page_has_one_first_row_and_none_that_knows_of_no_page() {
        let none = Row::default();
        let (mut first, mut later) = (none, none);
        (first.known, first.first, later.known) = (true, true, true);
        let is_one = |rows: &[(usize, Row)]| {
            let found = |(component, row): &(usize, Row)| Found {
                component: *component,
                hash: 7,
                page: 0,
                row: *row,
            };
            is_one_page(&rows.iter().map(found).collect::<Vec<_>>())
        };
        assert!(is_one(&[(0, first), (1, later), (3, later)]));
        // Two pages, or one that was forgotten in between.
        assert!(!is_one(&[(0, first), (1, first)]));
        assert!(!is_one(&[(0, first), (0, later)]));
        // A page and what ended another, or itself.
        assert!(!is_one(&[(0, first), (1, none)]));
        // What is left of two, of which one was forgotten.
        assert!(!is_one(&[(0, later), (1, later)]));
    }
}
