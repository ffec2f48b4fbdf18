//! A census of a store: counts from one pass over all its pages.

use std::cmp::Reverse;

use super::periods::Periods;
use super::sample::{FingerprintSample, PageSample};
use super::verdict_counts::VerdictCounts;
use crate::engine::results::History;
use crate::engine::snapshot::Snapshot;
use crate::engine::totals::StoreTotals;
use crate::error::Result;
use crate::page::{Content, Epoch, PageHead, PageState, Verdict, surt};
use crate::progress::{Progress, Stage};
use crate::query::scan::Scan;
use crate::time::Time;

/// The maximum number of hosts in [`Census::largest_hosts`].
const HOSTS: usize = 20;

/// Counts of a store, page by page.
///
/// ```
/// # use simkeep::{Observation, Options, Progress, Store, Time};
/// use simkeep::inspect::Census;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// store.observe(Observation::gone("https://example.com/", Time::now()))?;
/// let census = Census::of(&store.snapshot(), &Progress::default())?;
/// assert_eq!((census.pages, census.gone, census.hosts), (1, 1, 1));
/// for host in &census.largest_hosts {
///     println!("{}: {} pages, {} visits", host.host, host.pages, host.visits);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Census {
    /// Known pages.
    pub pages: u64,
    /// Pages with current content.
    pub in_force: u64,
    /// Pages that are gone.
    pub gone: u64,
    /// Pages whose content was never seen.
    pub never: u64,
    /// Visits to all pages.
    pub visits: u64,
    /// The time of the earliest visit; `None` without visits.
    pub first: Option<Time>,
    /// The time of the latest visit; `None` without visits.
    pub last: Option<Time>,
    /// The number of hosts with pages; URLs without a host count as one host for each scheme.
    pub hosts: u64,
    /// The twenty hosts with the most pages, in descending order of pages.
    pub largest_hosts: Vec<HostCensus>,
    /// The fingerprints of the epoch for near-duplicates.
    pub fingerprints: FingerprintCensus,
    /// A sample of the pages that have a fingerprint of the epoch for near-duplicates now: the ten
    /// thousand pages whose URLs have the smallest hashes, or all pages.
    pub sample: Vec<SampledPage>,
    /// The number of visits by Hamming distance to the previous version, from 0 to 64 bits.
    pub distances: Vec<u64>,
    /// The number of pages by share of changes among their comparable visits: no change, up to a
    /// tenth, up to two tenths and so on, in eleven numbers.
    pub changing: [u64; 11],
    /// The length of each period, in milliseconds.
    pub period: i64,
    /// The results of visits by period, in order of time: at most 400 periods.
    pub periods: Vec<Period>,
    /// The results of visits outside of all periods. Outliers are left out if most periods would
    /// otherwise be empty. Outliers are at most one visit in a thousand at either end, or one visit
    /// if there are at least twenty.
    pub outside: VerdictCounts,
}

impl Census {
    /// Counts a store in one pass over all its pages and visits. Memory does not grow with the
    /// store: about 64 MiB, ten thousand URLs, and the history of one page. The progress counts
    /// pages.
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
    /// [`Error::Corrupt`](crate::Error::Corrupt) if the census reads damaged data,
    /// [`Error::Cancelled`](crate::Error::Cancelled) if the progress is cancelled.
    pub fn of(snapshot: &Snapshot, progress: &Progress) -> Result<Census> {
        let pages = StoreTotals::of(snapshot)?.pages;
        progress.start(Stage::Counting, Some(pages))?;
        let mut counting = CensusBuilder::new(snapshot.near_epoch());
        let mut scan = Scan::all(snapshot);
        while let Some(page) = scan.next_with_verdicts() {
            let (url, history, head) = page?;
            counting.page(&url, &history, &head);
            progress.check()?;
            progress.pass(1);
        }
        Ok(counting.finish())
    }
}

/// A sampled page.
///
/// ```
/// # use simkeep::{Observation, Options, Progress, Store, Time};
/// use simkeep::inspect::Census;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// # let epoch = store.change_epoch();
/// # let pages = [(1, "terms", 0b0), (2, "terms?print=1", 0b1), (3, "about", !0)];
/// # for (ms, path, fingerprint) in pages {
/// #     let url = format!("https://example.com/{path}");
/// #     store.observe(Observation::content(&url, Time::from_ms(ms)?, fingerprint, epoch))?;
/// # }
/// let census = Census::of(&store.snapshot(), &Progress::default())?;
/// for page in &census.sample {
///     println!("{:016x} {}", page.fingerprint, page.url);
/// }
/// assert_eq!(census.sample.len(), 3); // all pages of a small store
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SampledPage {
    /// The URL of the page.
    pub url: String,
    /// The fingerprint of the page's content, with reserved bits set to 0.
    pub fingerprint: u64,
}

/// The results of the visits in a period.
///
/// ```
/// # use simkeep::{Observation, Options, Progress, Store, Time};
/// use simkeep::inspect::Census;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let url = "https://example.com/";
/// for day in 0..3 {
///     store.observe(Observation::failed(url, Time::from_ms(day * 86_400_000)?))?;
/// }
/// let census = Census::of(&store.snapshot(), &Progress::default())?;
/// for period in &census.periods {
///     println!("{}: {} visits failed", period.from, period.verdicts.failed);
/// }
/// assert_eq!(census.periods.iter().map(|period| period.verdicts.failed).sum::<u64>(), 3);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Period {
    /// The beginning of the period, in milliseconds since 1970.
    pub from: Time,
    /// The results of the visits in the period.
    pub verdicts: VerdictCounts,
}

/// Counts of a host.
///
/// ```
/// # use simkeep::{Observation, Options, Progress, Store, Time};
/// use simkeep::inspect::Census;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// for url in ["https://example.com/a", "https://example.com/b", "https://example.org/"] {
///     store.observe(Observation::gone(url, Time::now()))?;
/// }
/// let census = Census::of(&store.snapshot(), &Progress::default())?;
/// let largest = &census.largest_hosts[0];
/// assert_eq!((largest.host.as_str(), largest.pages), ("example.com", 2));
/// assert_eq!(largest.verdicts.gone, 2);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostCensus {
    /// The name of the host; for URLs without a host, the scheme and a colon.
    pub host: String,
    /// The number of pages of the host.
    pub pages: u64,
    /// The number of visits to the host's pages.
    pub visits: u64,
    /// The results of visits to the host's pages.
    pub verdicts: VerdictCounts,
}

/// Counts of the fingerprints that pages have now, in one epoch.
///
/// ```
/// # use simkeep::{Observation, Options, Progress, Store, Time};
/// use simkeep::inspect::Census;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let epoch = store.change_epoch();
/// for (path, fingerprint) in [("a", 0b111), ("b", 0b111), ("c", 0b1)] {
///     let url = format!("https://example.com/{path}");
///     store.observe(Observation::content(&url, Time::now(), fingerprint, epoch))?;
/// }
/// let fingerprints = Census::of(&store.snapshot(), &Progress::default())?.fingerprints;
/// assert_eq!((fingerprints.pages, fingerprints.distinct), (3, 2));
/// assert_eq!((fingerprints.popcounts[3], fingerprints.ones[0]), (2, 3)); // in pages
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FingerprintCensus {
    /// The number of the epoch.
    pub epoch: Epoch,
    /// Pages with a fingerprint.
    pub pages: u64,
    /// Pages whose content has no fingerprint.
    pub without: u64,
    /// Pages by the number of 1 bits in their fingerprint: 65 counts, from 0 bits to 64.
    pub popcounts: Vec<u64>,
    /// For each of the 64 bits, lowest first, the number of pages whose fingerprint has this bit
    /// set.
    pub ones: Vec<u64>,
    /// Pages by the highest eight bits of their fingerprint: 256 counts.
    pub values: Vec<u64>,
    /// The share of all distinct fingerprints that are counted below: 1 up to a million
    /// fingerprints, and above it the share of a sample by hash.
    pub share: f64,
    /// The number of distinct fingerprints counted.
    pub distinct: u64,
    /// For each of the 64 bits, lowest first, the number of counted fingerprints that have this bit
    /// set.
    pub distinct_ones: Vec<u64>,
    /// Counted fingerprints by their number of pages: 1, 2 to 3, 4 to 7 and so on.
    pub shared: Vec<u64>,
    /// The fingerprint with the most pages, and the number of these pages. `None` if there is no
    /// fingerprint, or if only a sample was counted, because a sample may lack this fingerprint.
    pub commonest: Option<(u64, u64)>,
}

impl FingerprintCensus {
    /// The number of distinct fingerprints; an estimate if only a sample was counted.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Progress, Store, Time};
    /// use simkeep::inspect::Census;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// # let epoch = store.change_epoch();
    /// # let pages = [(1, "terms", 0b0), (2, "terms?print=1", 0b1), (3, "about", !0)];
    /// # for (ms, path, fingerprint) in pages {
    /// #     let url = format!("https://example.com/{path}");
    /// #     store.observe(Observation::content(&url, Time::from_ms(ms)?, fingerprint, epoch))?;
    /// # }
    /// let fingerprints = Census::of(&store.snapshot(), &Progress::default())?.fingerprints;
    /// let about = if fingerprints.is_sampled() { "about " } else { "" };
    /// println!("{about}{} different fingerprints", fingerprints.different());
    /// assert_eq!(fingerprints.different(), 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn different(&self) -> u64 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let all = (self.distinct as f64 / self.share).round() as u64;
        all
    }

    /// Whether distinct fingerprints were counted in a sample only.
    pub fn is_sampled(&self) -> bool {
        self.share < 1.0
    }
}

/// The counts so far.
struct CensusBuilder {
    census: Census,
    sample: FingerprintSample,
    page_sample: PageSample,
    periods: Periods,
    key: Vec<u8>,
    /// The current host, as the start of a key. `of_host` has the counts of this host.
    host: Vec<u8>,
    of_host: HostCensus,
}

impl CensusBuilder {
    fn new(epoch: Epoch) -> CensusBuilder {
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
        CensusBuilder {
            census,
            sample: FingerprintSample::default(),
            page_sample: PageSample::default(),
            periods: Periods::default(),
            key: Vec::new(),
            host: Vec::new(),
            of_host: HostCensus::default(),
        }
    }

    fn page(&mut self, url: &str, history: &History, head: &PageHead) {
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
        self.page_sample.add(url, fingerprint);
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
            // At most ten, because a page has no more changes than comparisons.
            let tenth = usize::try_from((changes * 10).div_ceil(compared)).unwrap_or(10);
            count(&mut self.census.changing, tenth, 1);
        }
    }

    /// Switches to the host of a page if it differs from the current host. Pages of one host are
    /// contiguous.
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
            // Hosts with equal numbers of pages stay in SURT order.
            let at = largest.partition_point(|other| other.pages >= host.pages);
            largest.insert(at, host);
            largest.truncate(HOSTS);
        }
    }

    fn finish(mut self) -> Census {
        self.end_host();
        let mut census = self.census;
        (census.period, census.periods, census.outside) = self.periods.finish();
        census.sample = self.page_sample.finish();
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
            // The smaller of equally common fingerprints wins, whatever the order of the sample.
            let order = |(fingerprint, pages): (u64, u64)| (pages, Reverse(fingerprint));
            let most = fingerprints.commonest.map(order);
            if !is_sampled && most.is_none_or(|most| order((fingerprint, pages)) > most) {
                fingerprints.commonest = Some((fingerprint, pages));
            }
        }
        census
    }
}

/// Adds to the count at an index.
fn count(counts: &mut [u64], at: usize, more: u64) {
    counts.iter_mut().skip(at).take(1).for_each(|count| *count += more);
}

fn count_bits(counts: &mut [u64], fingerprint: u64) {
    for (bit, count) in counts.iter_mut().enumerate() {
        *count += fingerprint >> bit & 1;
    }
}
