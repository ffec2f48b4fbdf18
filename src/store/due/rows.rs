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

/// Passes on each page whose hash is from `first` to `last`, once, with its newest row.
///
/// Reads hashes and rows from front to end, and no page, unless hashes of two pages are equal.
pub(super) fn each_page(
    sources: &[Source],
    first: u64,
    last: u64,
    mut take: impl FnMut(Found) -> Result<()>,
) -> Result<()> {
    let streams = sources.iter().map(|source| Stream::new(source, first, last));
    let mut streams = streams.collect::<Result<Vec<_>>>()?;
    let mut tournament = Tournament::new(streams.len(), |a, b| precedes(&streams, a, b));
    let mut equal: Vec<Found> = Vec::new();
    loop {
        let mut number = tournament.winner();
        let Some(stream) = streams.get_mut(number) else { return Ok(()) };
        let Some(RowOf { hash, page, row }) = stream.next else { return Ok(()) };
        stream.advance()?;
        tournament.replay(|a, b| precedes(&streams, a, b));
        let first = Found { hash, component: number, page, row };
        number = tournament.winner();
        let next = streams.get(number).and_then(|stream| stream.next);
        if next.is_none_or(|next| next.hash != hash) {
            if first.row.known {
                take(first)?;
            }
            continue;
        }
        equal.clear();
        equal.push(first);
        while let Some(stream) = streams.get_mut(number)
            && let Some(RowOf { page, row, .. }) = stream.next.filter(|next| next.hash == hash)
        {
            equal.push(Found { hash, component: number, page, row });
            stream.advance()?;
            tournament.replay(|a, b| precedes(&streams, a, b));
            number = tournament.winner();
        }
        settle(sources, &mut equal, &mut take)?;
    }
}

/// Whether the next row of stream `a` comes before that of stream `b`. Of one hash, the streams come in
/// their order; those that have ended come last.
#[expect(clippy::indexing_slicing, reason = "contestants are numbers of streams")]
fn precedes(streams: &[Stream<'_>], a: usize, b: usize) -> bool {
    match (streams[a].next, streams[b].next) {
        (Some(of_a), Some(of_b)) => (of_a.hash, a) < (of_b.hash, b),
        (of_a, _) => of_a.is_some(),
    }
}

/// Passes on the pages that rows of one hash are of, which come in order of their components.
fn settle(
    sources: &[Source],
    equal: &mut Vec<Found>,
    take: &mut impl FnMut(Found) -> Result<()>,
) -> Result<()> {
    if equal.len() > 1 && !is_one_page(equal) {
        let mut by_url = Vec::with_capacity(equal.len());
        for found in equal.drain(..) {
            by_url.push((source_of(sources, found.component)?.url(found.page)?, found));
        }
        // Of each URL the newest component is the last.
        by_url.sort_by(|(a, of_a), (b, of_b)| (a, of_a.component).cmp(&(b, of_b.component)));
        let pages = by_url.chunk_by(|(a, _), (b, _)| a == b);
        let newest = pages.filter_map(|rows| rows.last().map(|(_, found)| *found));
        return newest.filter(|found| found.row.known).try_for_each(take);
    }
    equal.last().copied().filter(|found| found.row.known).map_or(Ok(()), take)
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
