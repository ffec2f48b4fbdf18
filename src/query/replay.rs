//! The pages of a store as they were seen, for simulated crawls.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::engine::snapshot::Snapshot;
use crate::error::{Error, Result};
use crate::page::{Entry, EpochInfo, Prefix, ReplayedPage, surt};
use crate::time::Time;

/// The pages of a store for a simulated crawl, from [`Snapshot::replay`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Replay {
    /// The pages, in SURT order.
    pub pages: Vec<ReplayedPage>,
    /// How many pages there are that have had content, of which these are a part.
    pub of: u64,
    /// The time of the first visit to any of those, which is day 0, in milliseconds since 1970.
    pub first: Time,
    /// The time of the last one.
    pub last: Time,
}

/// What is kept of a page until it is known when day 0 is.
struct Kept {
    /// Its place in SURT order.
    place: u64,
    host: u32,
    entries: Vec<Entry>,
}

impl Snapshot {
    /// The pages that have had content, with their histories, to be crawled again by
    /// [`crawl`](crate::recrawl::simulate::crawl); under a prefix, if one is given. Of more than
    /// `pages_max` those are chosen whose URLs have the least hashes.
    ///
    /// A return to an earlier version counts for `return_share` of a change: in a store that is
    /// [`Changes::RETURN_SHARE`](crate::Changes::RETURN_SHARE).
    ///
    /// Takes the time of a [`scan`](Snapshot::scan) with all visits, and some 100 bytes of memory for
    /// each visit of a page that is chosen.
    ///
    /// ```
    /// use simkeep::recrawl::Policy;
    /// use simkeep::recrawl::simulate::{Budget, Decider, Span, crawl};
    /// use simkeep::{Changes, Observation, Options, Store, Time};
    /// use std::time::Duration;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let dir = tempfile::tempdir()?;
    /// let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let (start, epoch) = (Time::from_ms(1_700_000_000_000)?, store.change_epoch());
    /// for day in 0..100 {
    ///     let time = start + day * Duration::from_secs(86_400);
    ///     store.observe(Observation::content("https://example.com/", time, 7, epoch))?;
    ///     let often = 0xff << (day / 10);
    ///     store.observe(Observation::content("https://example.com/news", time, often, epoch))?;
    /// }
    /// let replay = store.snapshot().replay(None, 1_000, Changes::RETURN_SHARE)?;
    /// let (budget, span) = (Budget::every(10.0)?, Span::new(1.0, 30.0, 99.0)?);
    /// let figures = crawl(&replay.pages, budget, span, Decider::policy(Policy::VALUE), &mut || {})?;
    /// assert!(figures.freshness > 0.5);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if what it touches is damaged, and [`Error::Option`] if the share is not from
    /// 0 to 1.
    pub fn replay(
        &self,
        prefix: Option<&Prefix>,
        pages_max: usize,
        return_share: f64,
    ) -> Result<Replay> {
        if !(0.0..=1.0).contains(&return_share) {
            return Err(Error::Option { name: "return_share", takes: "from 0 to 1" });
        }
        let (mut kept, mut of, mut hosts) = (BTreeMap::new(), 0, Hosts::default());
        let (mut first, mut last) = (Time(i64::MAX), Time(i64::MIN));
        let mut scan = self.scan(prefix);
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
            kept.insert((hash, of), Kept { place: of, host, entries });
            of += 1;
            if kept.len() > pages_max {
                kept.pop_last();
            }
        }
        let (first, last) = if of == 0 { (Time(0), Time(0)) } else { (first, last) };
        let epochs: Arc<[EpochInfo]> = self.epochs().into();
        let mut kept: Vec<Kept> = kept.into_values().collect();
        kept.sort_unstable_by_key(|page| page.place);
        let page = |page: Kept| {
            ReplayedPage::new((page.host, return_share), first, &page.entries, &epochs)
        };
        Ok(Replay { pages: kept.into_iter().filter_map(page).collect(), of, first, last })
    }
}

/// Numbers for the hosts, whose pages are neighbours.
#[derive(Default)]
struct Hosts {
    last: Vec<u8>,
    number: u32,
}

impl Hosts {
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
