//! Merges the pages of several components into one stream, and resolves one page across them.

use std::ops::ControlFlow;

use crate::bug::{Bug, OrBug};
use crate::error::Result;
use crate::sort::Tournament;

/// The pages of one component, in SURT order.
pub(crate) trait PageStream {
    /// The data of a page in the component.
    type Page;

    /// Returns the SURT key and the URL of the next page; `None` after the last page.
    fn next_place(&self) -> Option<(&[u8], &[u8])>;

    /// Returns the data of the next page, and advances.
    fn take(&mut self) -> Result<Self::Page>;
}

/// Merges pages in SURT order. Each page occurs once, with the data of every component.
pub(crate) struct PageMerge<S: PageStream> {
    streams: Vec<S>,
    tournament: Tournament,
    key: Vec<u8>,
    url: Vec<u8>,
    /// The data of the current page by stream number, in order of the streams.
    here: Vec<(usize, S::Page)>,
}

impl<S: PageStream> PageMerge<S> {
    /// Creates a merge that is positioned before the first page.
    pub(crate) fn new(streams: Vec<S>) -> PageMerge<S> {
        let tournament = Tournament::new(streams.len(), &mut |a, b| precedes(&streams, a, b));
        PageMerge { streams, tournament, key: Vec::new(), url: Vec::new(), here: Vec::new() }
    }

    /// Advances to the next page; `false` after the last page. After an error the state is
    /// undefined.
    #[expect(clippy::indexing_slicing, reason = "contestants are numbers of streams")]
    pub(crate) fn advance(&mut self) -> Result<bool> {
        self.here.clear();
        let PageMerge { streams, tournament, key, url, here } = self;
        let mut number = tournament.winner();
        // The winner has ended. A stream that has ended loses to all other streams, so all streams
        // have ended.
        let Some(place) = streams.get(number).and_then(S::next_place) else { return Ok(false) };
        // Key and URL are copied, since `take` advances the stream and overwrites them.
        key.clear();
        key.extend_from_slice(place.0);
        url.clear();
        url.extend_from_slice(place.1);
        loop {
            here.push((number, streams[number].take()?));
            // Streams with the same page win one after another in their order, so `here` ascends by
            // number.
            tournament.replay(|a, b| precedes(streams, a, b));
            number = tournament.winner();
            if streams[number].next_place().is_none_or(|(_, next)| next != url.as_slice()) {
                return Ok(true);
            }
        }
    }

    /// Returns all streams, in order.
    pub(crate) fn streams(&self) -> &[S] {
        &self.streams
    }

    /// Returns the SURT key of the current page.
    pub(crate) fn key(&self) -> &[u8] {
        &self.key
    }

    /// Returns the URL of the current page.
    pub(crate) fn url(&self) -> Result<&str, Bug> {
        std::str::from_utf8(&self.url).ok().or_bug("a page whose key is known has a URL in UTF-8")
    }

    /// Returns the numbers of the streams that have the current page, with their data.
    pub(crate) fn here(&self) -> &[(usize, S::Page)] {
        &self.here
    }

    /// Returns all streams, the last stream first. A stream with the current page comes with its
    /// data of the page.
    pub(crate) fn newest_first(&self) -> impl Iterator<Item = (&S, Option<&S::Page>)> {
        // Both lists ascend by number, so one pass from the back pairs them.
        let mut here = self.here.iter().rev().peekable();
        self.streams.iter().enumerate().rev().map(move |(number, stream)| {
            let page = here.next_if(|(of, _)| *of == number);
            (stream, page.map(|(_, page)| page))
        })
    }
}

/// Whether the next page of stream `a` comes before the next page of stream `b`. If both streams
/// have the same page, stream order decides; exhausted streams come last.
#[expect(clippy::indexing_slicing, reason = "contestants are numbers of streams")]
fn precedes<S: PageStream>(streams: &[S], a: usize, b: usize) -> bool {
    match (streams[a].next_place(), streams[b].next_place()) {
        // Compares keys first, then URLs, because two URLs may have the same key.
        (Some(of_a), Some(of_b)) => (of_a, a) < (of_b, b),
        (of_a, _) => of_a.is_some(),
    }
}

/// The data that one component has about a page.
pub(crate) trait PagePart {
    /// Whether the component's record of the page ends the history, so that older components do not
    /// count; `None` without a record.
    fn record_ends(&self) -> Option<bool>;

    /// Whether a tombstone of the component covers the page with this SURT key.
    fn covers<'k>(&self, key: impl FnOnce() -> &'k [u8]) -> bool;
}

/// Passes the data of components about a page to `take`. The newest component comes first, and the
/// component where the page was forgotten comes last. The function follows the four steps of "A
/// page across components" in `format/README.md`. `take` breaks when it needs no more data. `key`
/// is called only if there are tombstones.
///
/// Returns the last component that counts; `None` if even older components would count.
pub(crate) fn page_across<'k, P: PagePart, E>(
    key: impl Fn() -> &'k [u8],
    newest_first: impl IntoIterator<Item = Result<P, E>>,
    mut take: impl FnMut(&P) -> Result<ControlFlow<()>, E>,
) -> Result<Option<P>, E> {
    for part in newest_first {
        let part = part?;
        // The record comes before the tombstones, because tombstones hide only older components.
        if let Some(ends) = part.record_ends()
            && (take(&part)?.is_break() || ends)
        {
            return Ok(Some(part));
        }
        if part.covers(&key) {
            return Ok(Some(part));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::page::surt;

    /// Keys and URLs in descending order, so that the next one is last.
    struct PageList(Vec<(Vec<u8>, String)>);

    impl PageStream for PageList {
        type Page = String;

        fn next_place(&self) -> Option<(&[u8], &[u8])> {
            self.0.last().map(|(key, url)| (key.as_slice(), url.as_bytes()))
        }

        fn take(&mut self) -> Result<String> {
            Ok(self.0.pop().unwrap().1)
        }
    }

    proptest! {
        #[test]
        fn each_page_is_merged_once_from_all_lists(
            lists in prop::collection::vec(prop::collection::btree_set(0u8..40, 0..20), 0..9),
        ) {
            // Every other URL has the same key as the previous URL.
            let url = |n: u8| format!("{}://h{}.example/", ["http", "HTTP"][usize::from(n % 2)], n / 2);
            let place = |n: u8| (surt::key_of(&url(n)), url(n));
            let list = |pages: &std::collections::BTreeSet<u8>| {
                let mut places: Vec<_> = pages.iter().map(|n| place(*n)).collect();
                places.sort_by(|a, b| b.cmp(a));
                PageList(places)
            };
            let mut expected: Vec<_> = lists.iter().flatten().map(|n| place(*n)).collect();
            expected.sort();
            expected.dedup();
            let mut merge = PageMerge::new(lists.iter().map(list).collect());
            for (key, url) in expected {
                prop_assert!(merge.advance().unwrap());
                prop_assert_eq!((merge.key(), merge.url().unwrap()), (key.as_slice(), url.as_str()));
                let has = |pages: &std::collections::BTreeSet<u8>| {
                    pages.iter().any(|n| place(*n).1 == url)
                };
                let numbers: Vec<usize> = (0..lists.len()).filter(|n| has(&lists[*n])).collect();
                let found: Vec<usize> = merge.here().iter().map(|(number, _)| *number).collect();
                prop_assert_eq!(found, numbers);
                prop_assert!(merge.here().iter().all(|(_, page)| *page == url));
                let newest_first = merge.newest_first().map(|(_, page)| page.is_some());
                let has: Vec<bool> = lists.iter().rev().map(has).collect();
                prop_assert_eq!(newest_first.collect::<Vec<_>>(), has);
            }
            prop_assert!(!merge.advance().unwrap());
        }
    }
}
