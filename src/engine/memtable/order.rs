//! The pages of a memtable in SURT order.

use super::page::{MemtablePage, PageColumns};
use crate::page::{Prefix, surt};
use crate::sort::{Keyed, sort_by_digits};

/// A page and the position of its SURT key, for sorting.
struct KeyedPage {
    digit: u64,
    start: usize,
    end: usize,
    number: u32,
}

impl Keyed for KeyedPage {
    #[expect(clippy::indexing_slicing, reason = "the map has the key")]
    fn key<'k>(&self, keys: &'k [u8]) -> &'k [u8] {
        &keys[self.start..self.end]
    }

    fn digit(&self) -> u64 {
        self.digit
    }

    fn set_digit(&mut self, digit: u64) {
        self.digit = digit;
    }
}

/// The numbers of the pages under a prefix, or of all pages, in SURT order. Reads all pages, and
/// temporarily takes the memory of their keys.
#[expect(clippy::indexing_slicing, reason = "the key of a page is the last of all keys")]
pub(super) fn order(pages: &PageColumns, prefix: Option<&Prefix>) -> Vec<u32> {
    let (mut keys, mut order) = (Vec::new(), Vec::new());
    if prefix.is_none() {
        keys.reserve(pages.url_bytes() + pages.url_bytes() / 8);
        order.reserve(pages.len() as usize);
    }
    for page in pages.iter() {
        let start = keys.len();
        surt::key(page.url(), &mut keys);
        if prefix.is_none_or(|prefix| prefix.contains(&keys[start..])) {
            let (end, number) = (keys.len(), page.number());
            order.push(KeyedPage { digit: 0, start, end, number });
        } else {
            // Only keys under the prefix stay in memory.
            keys.truncate(start);
        }
    }
    let url = |keyed: &KeyedPage| pages.page(keyed.number).url();
    // Compares keys eight bytes at a time. URLs decide only between equal keys.
    sort_by_digits(&keys, &mut order, &|a, b| url(a).cmp(url(b)));
    order.into_iter().map(|keyed| keyed.number).collect()
}

/// All pages in SURT order, for sequential reading.
#[expect(clippy::indexing_slicing, reason = "the range ends with the order")]
pub(super) fn in_order(pages: &PageColumns) -> impl Iterator<Item = MemtablePage<'_>> {
    /// The number of pages ahead of which to prefetch the page itself, and its contents.
    const AHEAD: (usize, usize) = (8, 4);
    let order = order(pages, None);
    (0..order.len()).map(move |at| {
        if let Some(ahead) = order.get(at + AHEAD.0) {
            // Pages are stored in order of arrival, so in SURT order each access is a jump in
            // memory.
            pages.page(*ahead).prefetch_page();
        }
        if let Some(ahead) = order.get(at + AHEAD.1) {
            pages.page(*ahead).prefetch();
        }
        pages.page(order[at])
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::MemtableContents;
    use super::*;
    use crate::url::check_url;

    fn check(mut urls: Vec<String>) {
        urls.sort();
        urls.dedup();
        let mut inner = MemtableContents::default();
        for (sequence, url) in (1..).zip(&urls) {
            inner.add_page(sequence, url, sequence, false, &[]).unwrap();
        }
        let key = |url: &str| {
            let mut key = Vec::new();
            surt::key(url, &mut key);
            key
        };
        let order = inner.order(None);
        let found: Vec<&str> = order.iter().map(|n| inner.page(*n).url()).collect();
        urls.sort_by_cached_key(|url| (key(url), url.clone()));
        assert_eq!(found, urls);
    }

    /// A trap for crawlers: every page leads to a page that is a little deeper.
    #[test]
    fn keys_with_growing_common_prefixes_are_sorted() {
        let urls = (0..1000).map(|n| format!("http://x.example/{}b", "a".repeat(8 * n)));
        check(urls.collect());
    }

    proptest! {
        /// The keys have long common prefixes, are prefixes of other keys, or are equal.
        #[test]
        fn order_matches_keys_and_urls(
            parts in prop::collection::vec(prop::collection::vec(0usize..6, 0..12), 0..120),
        ) {
            const PARTS: [&str; 6] = ["a", "abcdefgh", "/", "/a/long/part/of/a/path", "%00", "."];
            let urls = parts
                .iter()
                .map(|parts| parts.iter().map(|part| PARTS[*part]).collect::<String>())
                .flat_map(|rest| [format!("http://x.example/{rest}"), format!("HTTP://x.example/{rest}")])
                .filter(|url| check_url(url).is_ok());
            check(urls.collect());
        }
    }
}
