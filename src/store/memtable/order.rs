//! The pages of a memtable in SURT order.

use super::{Inner, PageOf};
use crate::page::{Prefix, surt};
use crate::search::prefetch_value;

/// A page and where its SURT key is, to be sorted.
struct Keyed {
    /// Of keys that are alike up to some byte, the bytes after it, the first one on top.
    digit: u64,
    start: usize,
    end: usize,
    number: u32,
}

/// Fewer keys than this are compared whole.
const FEW: usize = 8;

/// How often keys are told apart by eight bytes before they are compared whole: keys of strangers
/// decide neither the depth of a stack nor much of the time.
const DIGITS_MAX: usize = 32;

impl Inner {
    /// The numbers of the pages under a prefix, or of all, in SURT order. Takes the memory of their
    /// keys meanwhile.
    pub(crate) fn order(&self, prefix: Option<&Prefix>) -> Vec<u32> {
        let (mut keys, mut order) = (Vec::new(), Vec::new());
        if prefix.is_none() {
            keys.reserve(self.urls.len() + self.urls.len() / 8);
            order.reserve(self.pages.len());
        }
        for page in self.pages() {
            let start = keys.len();
            surt::key(page.url(), &mut keys);
            if prefix.is_none_or(|prefix| prefix.contains(keys.get(start..).unwrap_or(&[]))) {
                order.push(Keyed { digit: 0, start, end: keys.len(), number: page.number });
            } else {
                keys.truncate(start);
            }
        }
        self.sort(&keys, &mut order, 0, DIGITS_MAX);
        order.into_iter().map(|keyed| keyed.number).collect()
    }

    /// Sorts pages whose keys are alike in their first `alike` bytes: by the eight bytes after what
    /// they all share, then those that are the same so far in the same way, `digits` times at most.
    fn sort(&self, keys: &[u8], order: &mut [Keyed], alike: usize, digits: usize) {
        let key = |keyed: &Keyed| keys.get(keyed.start..keyed.end).unwrap_or(&[]);
        let url = |keyed: &Keyed| self.page(keyed.number).map(|page| page.url());
        let after =
            |keyed: &Keyed, alike: usize| keys.get(keyed.start + alike..keyed.end).unwrap_or(&[]);
        let whole = |a: &Keyed, b: &Keyed| key(a).cmp(key(b)).then_with(|| url(a).cmp(&url(b)));
        let first = order.first().map_or(&[][..], |keyed| after(keyed, alike));
        let shared = order.iter().skip(1).fold(first, |shared, keyed| {
            let rest = shared.iter().zip(after(keyed, alike));
            let same = rest.take_while(|(a, b)| a == b).count();
            shared.get(..same).unwrap_or(&[])
        });
        let alike = alike + shared.len();
        let ends = |keyed: &Keyed| keyed.end - keyed.start <= alike + size_of::<u64>();
        for keyed in &mut *order {
            let mut digit = [0; 8];
            digit.iter_mut().zip(after(keyed, alike)).for_each(|(to, from)| *to = *from);
            keyed.digit = u64::from_be_bytes(digit);
        }
        order.sort_unstable_by_key(|keyed| keyed.digit);
        for same in order.chunk_by_mut(|a, b| a.digit == b.digit).filter(|same| same.len() > 1) {
            // A key that ends is no longer told from one that goes on with zeros.
            match digits.checked_sub(1) {
                Some(digits) if same.len() >= FEW && !same.iter().any(ends) => {
                    self.sort(keys, same, alike + size_of::<u64>(), digits);
                }
                _ => same.sort_unstable_by(whole),
            }
        }
    }

    /// All pages in SURT order, to be read one after another.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = PageOf<'_>> {
        /// How many pages ahead the processor is told what will be read: of a page, and of what
        /// belongs to it.
        const AHEAD: (usize, usize) = (8, 4);
        let order = self.order(None);
        (0..order.len()).filter_map(move |at| {
            let page = |at: usize| order.get(at).and_then(|number| self.page(*number));
            if let Some(ahead) = page(at + AHEAD.0) {
                prefetch_value(ahead.page);
            }
            if let Some(ahead) = page(at + AHEAD.1) {
                ahead.prefetch();
            }
            page(at)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::page::check_url;

    fn check(mut urls: Vec<String>) {
        urls.sort();
        urls.dedup();
        let mut inner = Inner::default();
        for (sequence, url) in (1..).zip(&urls) {
            inner.add_page(sequence, url, sequence, false, &[]);
        }
        let key = |url: &str| {
            let mut key = Vec::new();
            surt::key(url, &mut key);
            key
        };
        let order = inner.order(None);
        let found: Vec<&str> = order.iter().map(|n| inner.page(*n).unwrap().url()).collect();
        urls.sort_by_cached_key(|url| (key(url), url.clone()));
        assert_eq!(found, urls);
    }

    /// A trap for crawlers: every page leads to one that is a little deeper.
    #[test]
    fn keys_that_agree_for_longer_and_longer_are_sorted() {
        let urls = (0..1000).map(|n| format!("http://x.example/{}b", "a".repeat(8 * n)));
        check(urls.collect());
    }

    proptest! {
        /// Keys that begin alike for long, that end where others go on, and that are the same.
        #[test]
        fn the_order_is_that_of_keys_and_urls(
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
