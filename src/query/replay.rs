//! The pages of a store as input of simulated crawls.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::engine::snapshot::Snapshot;
use crate::error::{Error, Result};
use crate::page::{Entry, EpochInfo, Prefix, ReplayedPage, surt};
use crate::time::Time;

/// The pages of a store for a simulated crawl, from [`Snapshot::replay`].
///
/// ```
/// # use simkeep::{Changes, Observation, Options, Store, Time};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let epoch = store.change_epoch();
/// for (ms, url) in [(1_000, "https://example.com/"), (9_000, "https://example.org/")] {
///     store.observe(Observation::content(url, Time::from_ms(ms)?, 7, epoch))?;
/// }
/// let replay = store.snapshot().replay(None, 1, Changes::RETURN_SHARE)?;
/// assert_eq!((replay.pages.len(), replay.of), (1, 2)); // one of two pages
/// assert_eq!((replay.first, replay.last), (Time::from_ms(1_000)?, Time::from_ms(9_000)?));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Replay {
    /// The pages, in SURT order.
    pub pages: Vec<ReplayedPage>,
    /// The number of pages that have had content. `pages` are a selection of these pages.
    pub of: u64,
    /// The time of the first visit to any page that has had content, selected or not, in
    /// milliseconds since 1970. Day 0 begins at this time.
    pub first: Time,
    /// The time of the last visit to any page that has had content, selected or not.
    pub last: Time,
}

impl Replay {
    /// Selects the pages under a prefix, or all pages; see [`Snapshot::replay`].
    pub(super) fn new(
        snapshot: &Snapshot,
        prefix: Option<&Prefix>,
        pages_max: usize,
        return_share: f64,
    ) -> Result<Replay> {
        if !(0.0..=1.0).contains(&return_share) {
            return Err(Error::InvalidOption { name: "return_share", takes: "from 0 to 1" });
        }
        let (mut kept, mut of, mut hosts) = (BTreeMap::new(), 0, HostNumbers::default());
        let (mut first, mut last) =
            (Time::from_ms_unchecked(i64::MAX), Time::from_ms_unchecked(i64::MIN));
        let mut scan = snapshot.scan(prefix);
        while let Some(page) = scan.next_entries() {
            let (url, entries) = page?;
            let host = hosts.of(&url);
            if !entries.iter().any(|entry| entry.content().is_some()) {
                continue;
            }
            let visits = || entries.iter().filter_map(Entry::visit).map(|visit| visit.time);
            first = first.min(visits().next().unwrap_or(first));
            last = last.max(visits().next_back().unwrap_or(last));
            let hash = xxhash_rust::xxh3::xxh3_64(url.as_bytes());
            kept.insert((hash, of), ReplayCandidate { place: of, host, entries });
            of += 1;
            if kept.len() > pages_max {
                kept.pop_last();
            }
        }
        let (first, last) = if of == 0 {
            (Time::from_ms_unchecked(0), Time::from_ms_unchecked(0))
        } else {
            (first, last)
        };
        let epochs: Arc<[EpochInfo]> = snapshot.epochs().into();
        let mut kept: Vec<ReplayCandidate> = kept.into_values().collect();
        kept.sort_unstable_by_key(|page| page.place);
        let page = |page: ReplayCandidate| {
            ReplayedPage::new((page.host, return_share), first, &page.entries, &epochs)
        };
        Ok(Replay { pages: kept.into_iter().filter_map(page).collect(), of, first, last })
    }
}

/// A selected page, kept until the start of day 0 is known.
struct ReplayCandidate {
    /// The position of the page in SURT order.
    place: u64,
    host: u32,
    entries: Vec<Entry>,
}

/// Numbers the hosts. Pages of one host are contiguous.
#[derive(Default)]
struct HostNumbers {
    last: Vec<u8>,
    number: u32,
}

impl HostNumbers {
    fn of(&mut self, url: &str) -> u32 {
        let mut host = Vec::new();
        surt::host(url, &mut host);
        if host != self.last {
            self.last = host;
            self.number = self.number.wrapping_add(1);
        }
        self.number
    }
}
