//! The pages of a memtable in SURT order.

use super::{Inner, PageOf};
use crate::page::surt;
use crate::search::prefetch_value;

/// A page and where its SURT key is, to be sorted.
struct Keyed {
    /// Of keys that are alike up to some byte, the bytes after it, the first one on top.
    digit: u64,
    start: usize,
    end: usize,
    number: u32,
}

/// Keys in fewer than this are compared whole.
const FEW: usize = 8;

impl Inner {
    /// The numbers of the pages whose keys are `within`, in SURT order.
    pub(crate) fn order(&self, within: impl Fn(&[u8]) -> bool) -> Vec<u32> {
        let mut keys = Vec::with_capacity(self.urls.len() + self.urls.len() / 8);
        let mut order: Vec<Keyed> = Vec::with_capacity(self.pages.len());
        for page in self.pages() {
            let start = keys.len();
            surt::key(page.url(), &mut keys);
            if within(keys.get(start..).unwrap_or(&[])) {
                order.push(Keyed { digit: 0, start, end: keys.len(), number: page.number });
            } else {
                keys.truncate(start);
            }
        }
        self.sort(&keys, &mut order, 0);
        order.into_iter().map(|keyed| keyed.number).collect()
    }

    /// Sorts pages whose keys are alike in their first `alike` bytes: by the eight bytes after what
    /// they all share, then those that are the same so far in the same way.
    fn sort(&self, keys: &[u8], order: &mut [Keyed], alike: usize) {
        let key = |keyed: &Keyed| keys.get(keyed.start..keyed.end).unwrap_or(&[]);
        let url = |keyed: &Keyed| self.page(keyed.number).map(|page| page.url());
        let rest = |keyed: &Keyed| keys.get(keyed.start + alike..keyed.end).unwrap_or(&[]);
        let whole = |a: &Keyed, b: &Keyed| key(a).cmp(key(b)).then_with(|| url(a).cmp(&url(b)));
        let first = order.first().map_or(&[][..], rest);
        let shared = order.iter().skip(1).fold(first, |shared, keyed| {
            let same = shared.iter().zip(rest(keyed)).take_while(|(a, b)| a == b).count();
            shared.get(..same).unwrap_or(&[])
        });
        let alike = alike + shared.len();
        let ends = |keyed: &Keyed| keyed.end - keyed.start <= alike + size_of::<u64>();
        for keyed in &mut *order {
            let mut digit = [0; 8];
            let rest = keys.get(keyed.start + alike..keyed.end).unwrap_or(&[]);
            digit.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            keyed.digit = u64::from_be_bytes(digit);
        }
        order.sort_unstable_by_key(|keyed| keyed.digit);
        for same in order.chunk_by_mut(|a, b| a.digit == b.digit).filter(|same| same.len() > 1) {
            // A key that ends is no longer told from one that goes on with zeros.
            if same.len() < FEW || same.iter().any(ends) {
                same.sort_unstable_by(whole);
            } else {
                self.sort(keys, same, alike + size_of::<u64>());
            }
        }
    }

    /// All pages in SURT order, to be read one after another.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = PageOf<'_>> {
        /// How many pages ahead the processor is told what will be read: of a page, and of what
        /// belongs to it.
        const AHEAD: (usize, usize) = (8, 4);
        let order = self.order(|_| true);
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

    proptest! {
        /// Keys that begin alike for long, that end where others go on, and that are the same.
        #[test]
        fn the_order_is_that_of_keys_and_urls(
            parts in prop::collection::vec(prop::collection::vec(0usize..6, 0..12), 0..120),
        ) {
            const PARTS: [&str; 6] = ["a", "abcdefgh", "/", "/a/long/part/of/a/path", "%00", "."];
            let mut inner = Inner::default();
            let mut urls: Vec<String> = parts
                .iter()
                .map(|parts| parts.iter().map(|part| PARTS[*part]).collect::<String>())
                .flat_map(|rest| [format!("http://x.example/{rest}"), format!("HTTP://x.example/{rest}")])
                .filter(|url| check_url(url).is_ok())
                .collect();
            urls.sort();
            urls.dedup();
            for (sequence, url) in (1..).zip(&urls) {
                inner.add_page(sequence, url, sequence, false, &[]);
            }
            let key = |url: &str| {
                let mut key = Vec::new();
                surt::key(url, &mut key);
                key
            };
            let order = inner.order(|_| true);
            let found: Vec<&str> = order.iter().map(|n| inner.page(*n).unwrap().url()).collect();
            urls.sort_by_cached_key(|url| (key(url), url.clone()));
            prop_assert_eq!(found, urls);
        }
    }
}
