//! The pages of a memtable in SURT order.

use super::{Inner, PageOf};
use crate::page::surt;
use crate::search::prefetch_value;

/// A page and where its SURT key is, to be sorted.
struct Keyed {
    /// Bytes that decide most comparisons.
    decisive: u64,
    start: usize,
    end: usize,
    number: u32,
}

impl Inner {
    /// The numbers of the pages whose keys are `within`, in SURT order.
    pub(crate) fn order(&self, within: impl Fn(&[u8]) -> bool) -> Vec<u32> {
        let mut keys = Vec::new();
        let mut order: Vec<Keyed> = Vec::with_capacity(self.pages.len());
        for page in self.pages() {
            let start = keys.len();
            surt::key(page.url(), &mut keys);
            if within(keys.get(start..).unwrap_or(&[])) {
                order.push(Keyed { decisive: 0, start, end: keys.len(), number: page.number });
            } else {
                keys.truncate(start);
            }
        }
        // Keys are alike at their beginning; the eight bytes after what all share tell most apart.
        let key = |keyed: &Keyed| keys.get(keyed.start..keyed.end).unwrap_or(&[]);
        let first = order.first().map_or(&[][..], key);
        let shared = order.iter().fold(first, |shared, keyed| {
            let same = shared.iter().zip(key(keyed)).take_while(|(a, b)| a == b).count();
            shared.get(..same).unwrap_or(&[])
        });
        let skipped = shared.len();
        for keyed in &mut order {
            let mut decisive = [0; 8];
            let rest = keys.get(keyed.start + skipped..keyed.end).unwrap_or(&[]);
            decisive.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            keyed.decisive = u64::from_be_bytes(decisive);
        }
        let url = |keyed: &Keyed| self.page(keyed.number).map(|page| page.url());
        order.sort_unstable_by(|a, b| {
            let whole = || key(a).cmp(key(b)).then_with(|| url(a).cmp(&url(b)));
            a.decisive.cmp(&b.decisive).then_with(whole)
        });
        order.into_iter().map(|keyed| keyed.number).collect()
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
