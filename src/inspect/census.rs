//! What a store has, counted in one pass over all its pages.

use std::cmp::Reverse;

use super::periods::Periods;
use super::sample::{Drawn, Sample};
use super::verdict_counts::VerdictCounts;
use crate::engine::answer::History;
use crate::engine::snapshot::Snapshot;
use crate::engine::totals::Totals;
use crate::error::Result;
use crate::page::{Content, Epoch, Head, PageState, Verdict, surt};
use crate::progress::{Progress, Stage};
use crate::query::scan::Scan;
use crate::time::Time;

/// Hosts that are named.
const HOSTS: usize = 20;

/// What a store has, counted page by page.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Census {
    /// Pages that are known.
    pub pages: u64,
    /// Pages with content in force.
    pub in_force: u64,
    /// Pages that are gone.
    pub gone: u64,
    /// Pages whose content was never seen.
    pub never: u64,
    /// Visits to all pages.
    pub visits: u64,
    /// When the earliest visit was; `None` without visits.
    pub first: Option<Time>,
    /// When the latest visit was; `None` without visits.
    pub last: Option<Time>,
    /// Hosts that have pages; URLs without one count as one for each scheme.
    pub hosts: u64,
    /// The hosts with most pages, the largest first: twenty, if there are so many.
    pub largest_hosts: Vec<HostCensus>,
    /// The fingerprints by which near-duplicates are sought.
    pub fingerprints: FingerprintCensus,
    /// Pages that have such a fingerprint now, drawn by a hash of their URLs: ten thousand, or all.
    pub sample: Vec<SampledPage>,
    /// How many visits found the page so many bits away from the version before: of 0 bits first, of 64
    /// last.
    pub distances: Vec<u64>,
    /// How many pages changed at what share of their visits that could tell: at none, and up to a tenth,
    /// two tenths and so on, in eleven numbers.
    pub changing: [u64; 11],
    /// How long each period is, in milliseconds.
    pub period: i64,
    /// What visits found by when they were, in order of time: at most 400 periods.
    pub periods: Vec<Period>,
    /// What visits found that are in none of the periods: one in a thousand at either end, or one of at
    /// least twenty, whose times are so far from all others that most periods would be empty.
    pub outside: VerdictCounts,
}

impl Census {
    /// Counts what the store has, in one pass over all its pages and visits. Memory does not grow with
    /// them: some 64 MiB, ten thousand URLs, and what one page has. The progress counts pages.
    ///
    /// ```
    /// use simkeep::inspect::Census;
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Observation, Options, Progress, Store, Time};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let epoch = store.change_epoch();
    /// for page in ["https://example.com/a", "https://example.com/b"] {
    ///     store.observe(Observation::content(page, Time::now(), 7, epoch))?;
    /// }
    /// let census = Census::of(&store.snapshot(), &Progress::default())?;
    /// assert_eq!((census.pages, census.hosts), (2, 1));
    /// assert_eq!(census.fingerprints.commonest, Some((7, 2)));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`](crate::Error::Corrupt) if what it touches is damaged,
    /// [`Error::Cancelled`](crate::Error::Cancelled) if the progress was.
    pub fn of(snapshot: &Snapshot, progress: &Progress) -> Result<Census> {
        let pages = Totals::of(snapshot)?.pages;
        progress.start(Stage::Counting, Some(pages))?;
        let mut counting = Counting::new(snapshot.near_epoch());
        let mut scan = Scan::all(snapshot);
        while let Some(page) = scan.next_told() {
            let (url, history, head) = page?;
            counting.page(&url, &history, &head);
            progress.check()?;
            progress.pass(1);
        }
        Ok(counting.finish())
    }
}

/// A page that was drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SampledPage {
    /// The page.
    pub url: String,
    /// The fingerprint of its content, with reserved bits set to 0.
    pub fingerprint: u64,
}

/// What visits found in a period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Period {
    /// When it begins, in milliseconds since 1970.
    pub from: Time,
    /// What its visits found.
    pub verdicts: VerdictCounts,
}

/// What is counted of a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostCensus {
    /// The host; of URLs without one their scheme and a colon.
    pub host: String,
    /// Its pages.
    pub pages: u64,
    /// Visits to them.
    pub visits: u64,
    /// What these found.
    pub verdicts: VerdictCounts,
}

/// What is counted of the fingerprints of an epoch that pages have now.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FingerprintCensus {
    /// The number of the epoch.
    pub epoch: Epoch,
    /// Pages that have one.
    pub pages: u64,
    /// Pages whose content has none.
    pub without: u64,
    /// Pages by how many bits of their fingerprint are 1: none first, all 64 last.
    pub popcounts: Vec<u64>,
    /// How many pages have a 1 in each of the 64 bits, the lowest first.
    pub ones: Vec<u64>,
    /// Pages by the highest eight bits of their fingerprint, in 256 numbers.
    pub values: Vec<u64>,
    /// What share of the different fingerprints is counted in what follows: 1 if there are at most a
    /// million, and otherwise that of a sample that is drawn by a hash.
    pub share: f64,
    /// Different fingerprints that are counted.
    pub distinct: u64,
    /// How many of those counted have a 1 in each of the 64 bits, the lowest first.
    pub distinct_ones: Vec<u64>,
    /// How many of those counted are on so many pages: on 1, on 2 or 3, on 4 to 7 and so on.
    pub shared: Vec<u64>,
    /// The fingerprint that is on most pages, and on how many. `None` if there is none, or if only a
    /// sample was counted: that may lack it.
    pub commonest: Option<(u64, u64)>,
}

impl FingerprintCensus {
    /// About how many different fingerprints there are: exactly, if all were counted.
    pub fn different(&self) -> u64 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let all = (self.distinct as f64 / self.share).round() as u64;
        all
    }

    /// Whether what is counted by fingerprint is that of a sample.
    pub fn is_sampled(&self) -> bool {
        self.share < 1.0
    }
}

/// What is counted so far.
struct Counting {
    census: Census,
    sample: Sample,
    drawn: Drawn,
    periods: Periods,
    key: Vec<u8>,
    /// The host that is counted, as keys begin, and what there is of it.
    host: Vec<u8>,
    of_host: HostCensus,
}

impl Counting {
    fn new(epoch: Epoch) -> Counting {
        let fingerprints = FingerprintCensus {
            epoch,
            pages: 0,
            without: 0,
            popcounts: vec![0; 65],
            ones: vec![0; 64],
            values: vec![0; 256],
            share: 1.0,
            distinct: 0,
            distinct_ones: vec![0; 64],
            shared: Vec::new(),
            commonest: None,
        };
        let census = Census {
            pages: 0,
            in_force: 0,
            gone: 0,
            never: 0,
            visits: 0,
            first: None,
            last: None,
            hosts: 0,
            largest_hosts: Vec::new(),
            fingerprints,
            sample: Vec::new(),
            distances: vec![0; 65],
            changing: [0; 11],
            period: 0,
            periods: Vec::new(),
            outside: VerdictCounts::default(),
        };
        Counting {
            census,
            sample: Sample::default(),
            drawn: Drawn::default(),
            periods: Periods::default(),
            key: Vec::new(),
            host: Vec::new(),
            of_host: HostCensus::default(),
        }
    }

    fn page(&mut self, url: &str, history: &History, head: &Head) {
        self.of_its_host(url);
        let census = &mut self.census;
        census.pages += 1;
        census.visits += head.visits;
        census.first = Some(census.first.map_or(head.first, |first| first.min(head.first)));
        census.last = Some(census.last.map_or(head.last.time, |last| last.max(head.last.time)));
        let contents = head.in_force();
        match PageState::of(Some(head)) {
            PageState::InForce => census.in_force += 1,
            PageState::Gone => census.gone += 1,
            PageState::Unseen | PageState::Unknown => census.never += 1,
        }
        if !contents.is_empty() {
            let epoch = census.fingerprints.epoch;
            let own = contents.iter().find(|content| content.epoch == epoch);
            match own.and_then(Content::compared) {
                None => census.fingerprints.without += 1,
                Some(fingerprint) => self.fingerprint(url, fingerprint),
            }
        }
        self.history(history);
        self.of_host.pages += 1;
        self.of_host.visits += head.visits;
    }

    fn fingerprint(&mut self, url: &str, fingerprint: u64) {
        let census = &mut self.census.fingerprints;
        census.pages += 1;
        count(&mut census.popcounts, fingerprint.count_ones() as usize, 1);
        count(&mut census.values, (fingerprint >> 56) as usize, 1);
        count_bits(&mut census.ones, fingerprint);
        self.sample.add(fingerprint);
        self.drawn.add(url, fingerprint);
    }

    fn history(&mut self, history: &History) {
        let (mut compared, mut changes) = (0_u64, 0_u64);
        for (visit, verdict) in history.iter().filter_map(|entry| entry.visit()) {
            self.periods.add(visit.time, verdict);
            self.of_host.verdicts.add(verdict);
            if let Some(distance) = verdict.distance() {
                count(&mut self.census.distances, distance.bits as usize, 1);
            }
            let differs = matches!(verdict, Verdict::Changed { .. } | Verdict::Reverted { .. });
            let is_same = matches!(verdict, Verdict::Same(_));
            compared += u64::from(differs || is_same);
            changes += u64::from(differs);
        }
        if compared > 0 {
            // At most ten, as no more visits changed than were compared.
            let tenth = usize::try_from((changes * 10).div_ceil(compared)).unwrap_or(10);
            count(&mut self.census.changing, tenth, 1);
        }
    }

    /// Goes on to the host of a page, if that is another one. Pages of one host follow each other.
    fn of_its_host(&mut self, url: &str) {
        self.key.clear();
        surt::key(url, &mut self.key);
        if self.census.hosts > 0 && surt::host_of(&self.key) == self.host.as_slice() {
            return;
        }
        self.end_host();
        self.census.hosts += 1;
        self.host.clear();
        self.host.extend_from_slice(surt::host_of(&self.key));
        self.of_host.host = surt::host_name(&self.key);
    }

    fn end_host(&mut self) {
        let host = std::mem::take(&mut self.of_host);
        let largest = &mut self.census.largest_hosts;
        if host.pages > 0 {
            // Of hosts that are as large the first in order.
            let at = largest.partition_point(|other| other.pages >= host.pages);
            largest.insert(at, host);
            largest.truncate(HOSTS);
        }
    }

    fn finish(mut self) -> Census {
        self.end_host();
        let mut census = self.census;
        (census.period, census.periods, census.outside) = self.periods.finish();
        census.sample = self.drawn.finish();
        let fingerprints = &mut census.fingerprints;
        fingerprints.share = self.sample.share();
        let is_sampled = fingerprints.is_sampled();
        for (fingerprint, pages) in self.sample.iter() {
            fingerprints.distinct += 1;
            count_bits(&mut fingerprints.distinct_ones, fingerprint);
            let power = pages.max(1).ilog2() as usize;
            if fingerprints.shared.len() <= power {
                fingerprints.shared.resize(power + 1, 0);
            }
            count(&mut fingerprints.shared, power, 1);
            // Of two that are as common the smaller, whatever the order here.
            let order = |(fingerprint, pages): (u64, u64)| (pages, Reverse(fingerprint));
            let most = fingerprints.commonest.map(order);
            if !is_sampled && most.is_none_or(|most| order((fingerprint, pages)) > most) {
                fingerprints.commonest = Some((fingerprint, pages));
            }
        }
        census
    }
}

/// Adds to one of some counts.
fn count(counts: &mut [u64], at: usize, more: u64) {
    counts.iter_mut().skip(at).take(1).for_each(|count| *count += more);
}

fn count_bits(counts: &mut [u64], fingerprint: u64) {
    for (bit, count) in counts.iter_mut().enumerate() {
        *count += fingerprint >> bit & 1;
    }
}
