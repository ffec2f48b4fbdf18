//! Page ranges, which select the pages of a scan, and splits of a range among several readers.

use crate::bug::OrBug;
use crate::engine::component::Component;
use crate::engine::snapshot::Snapshot;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::page::{Prefix, surt};

/// The number of sampled pages for each range. `SAMPLES_MAX` is the limit for all ranges, apart
/// from a few pages per range.
const SAMPLES: u64 = 32;
const SAMPLES_MAX: u64 = 1 << 18;
/// The maximum number of ranges.
const RANGES_MAX: usize = 1 << 16;

/// A range of pages in SURT order: all pages or the pages under a prefix, optionally only from one
/// URL to another. An `Option<&Prefix>` converts to a range; `None` is all pages.
///
/// The URLs need not be URLs of stored pages.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use simkeep::query::PageRange;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// for url in ["https://a.example/", "https://b.example/", "https://c.example/"] {
///     store.observe(Observation::gone(url, Time::now()))?;
/// }
/// let range = PageRange::all().start_after("https://a.example/").end_before("https://c.example/");
/// assert_eq!(store.snapshot().scan(range).count(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct PageRange<'a> {
    pub(super) under: Option<&'a Prefix>,
    pub(super) start: Option<Start<'a>>,
    /// The URL before which the range ends.
    pub(super) to: Option<&'a str>,
    /// The first key, and the first key past the end. The start of the range also applies.
    pub(super) keys: Option<(&'a [u8], &'a [u8])>,
}

/// The start of a scan.
#[derive(Clone, Copy, Debug)]
pub(super) enum Start<'a> {
    /// At this URL, or at the first page after it.
    At(&'a str),
    /// At the first page after this URL.
    After(&'a str),
}

impl<'a> From<Option<&'a Prefix>> for PageRange<'a> {
    fn from(under: Option<&'a Prefix>) -> PageRange<'a> {
        PageRange { under, ..PageRange::default() }
    }
}

impl<'a> From<&'a Prefix> for PageRange<'a> {
    fn from(under: &'a Prefix) -> PageRange<'a> {
        PageRange::from(Some(under))
    }
}

impl<'a> PageRange<'a> {
    /// All pages.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// use simkeep::query::PageRange;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// # let epoch = store.change_epoch();
    /// # let pages = [(1, "terms", 0b0), (2, "terms?print=1", 0b1), (3, "about", !0)];
    /// # for (ms, path, fingerprint) in pages {
    /// #     let url = format!("https://example.com/{path}");
    /// #     store.observe(Observation::content(&url, Time::from_ms(ms)?, fingerprint, epoch))?;
    /// # }
    /// // The store has three pages.
    /// assert_eq!(store.snapshot().scan(PageRange::all()).count(), 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn all() -> PageRange<'a> {
        PageRange::default()
    }

    /// Only pages under a prefix.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Prefix, Store, Time};
    /// use simkeep::query::PageRange;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// # let epoch = store.change_epoch();
    /// # let pages = [(1, "terms", 0b0), (2, "terms?print=1", 0b1), (3, "about", !0)];
    /// # for (ms, path, fingerprint) in pages {
    /// #     let url = format!("https://example.com/{path}");
    /// #     store.observe(Observation::content(&url, Time::from_ms(ms)?, fingerprint, epoch))?;
    /// # }
    /// // The store has `/about`, `/terms` and `/terms?print=1`.
    /// let terms = Prefix::parse("example.com/terms")?;
    /// assert_eq!(store.snapshot().scan(PageRange::all().under(&terms)).count(), 2);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn under(self, prefix: impl Into<Option<&'a Prefix>>) -> PageRange<'a> {
        PageRange { under: prefix.into(), ..self }
    }

    /// Starts at a URL. The range includes the URL.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// use simkeep::query::PageRange;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// # let epoch = store.change_epoch();
    /// # let pages = [(1, "terms", 0b0), (2, "terms?print=1", 0b1), (3, "about", !0)];
    /// # for (ms, path, fingerprint) in pages {
    /// #     let url = format!("https://example.com/{path}");
    /// #     store.observe(Observation::content(&url, Time::from_ms(ms)?, fingerprint, epoch))?;
    /// # }
    /// // The store has `/about`, `/terms` and `/terms?print=1`.
    /// let range = PageRange::all().start_at("https://example.com/terms");
    /// assert_eq!(store.snapshot().scan(range).count(), 2);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn start_at(self, url: impl Into<Option<&'a str>>) -> PageRange<'a> {
        PageRange { start: url.into().map(Start::At), ..self }
    }

    /// Starts after a URL, for example after the last URL of an interrupted scan.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// use simkeep::query::PageRange;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// # let epoch = store.change_epoch();
    /// # let pages = [(1, "terms", 0b0), (2, "terms?print=1", 0b1), (3, "about", !0)];
    /// # for (ms, path, fingerprint) in pages {
    /// #     let url = format!("https://example.com/{path}");
    /// #     store.observe(Observation::content(&url, Time::from_ms(ms)?, fingerprint, epoch))?;
    /// # }
    /// // Continues after the last page, as after an interruption.
    /// let (mut last, mut pages): (Option<String>, u64) = (None, 0);
    /// loop {
    ///     let range = PageRange::all().start_after(last.as_deref());
    ///     let Some(page) = store.snapshot().scan(range).next() else { break };
    ///     last = Some(page?.url);
    ///     pages += 1;
    /// }
    /// assert_eq!(pages, 3);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn start_after(self, url: impl Into<Option<&'a str>>) -> PageRange<'a> {
        PageRange { start: url.into().map(Start::After), ..self }
    }

    /// Ends before a URL.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// use simkeep::query::PageRange;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// # let epoch = store.change_epoch();
    /// # let pages = [(1, "terms", 0b0), (2, "terms?print=1", 0b1), (3, "about", !0)];
    /// # for (ms, path, fingerprint) in pages {
    /// #     let url = format!("https://example.com/{path}");
    /// #     store.observe(Observation::content(&url, Time::from_ms(ms)?, fingerprint, epoch))?;
    /// # }
    /// // The store has `/about`, `/terms` and `/terms?print=1`.
    /// let range = PageRange::all().end_before("https://example.com/terms");
    /// let urls = store.snapshot().scan(range).map(|page| Ok(page?.url));
    /// assert_eq!(urls.collect::<simkeep::Result<Vec<_>>>()?, ["https://example.com/about"]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn end_before(self, url: impl Into<Option<&'a str>>) -> PageRange<'a> {
        PageRange { to: url.into(), ..self }
    }

    /// Limits the range to SURT keys from `from` to `to`. `to` is excluded.
    pub(crate) fn keys(self, from: &'a [u8], to: &'a [u8]) -> PageRange<'a> {
        PageRange { keys: Some((from, to)), ..self }
    }

    /// The first key, and the first key past the end, if the range is limited. Several pages may
    /// have the same key as a URL that limits the range. For these pages the URLs decide which are
    /// in range, not the keys.
    fn bounds(&self) -> (Option<Vec<u8>>, Option<Vec<u8>>) {
        let PageRange { under, start, to, keys } = *self;
        let starts = [
            under.map(|prefix| prefix.range().0.to_vec()),
            start.map(|(Start::At(url) | Start::After(url))| surt::key_of(url)),
            keys.map(|(from, _)| from.to_vec()),
        ];
        let ends = [
            under.map(|prefix| prefix.range().1.to_vec()),
            to.map(surt::key_of),
            keys.map(|(_, to)| to.to_vec()),
        ];
        (starts.into_iter().flatten().max(), ends.into_iter().flatten().min())
    }

    /// Splits the range into at most `ranges` ranges (and at most 65,536) with approximately equal
    /// numbers of pages.
    ///
    /// Returns the URLs at which all ranges but the first begin, in SURT order. Limit the scan of
    /// each range by [`start_at`](PageRange::start_at) and [`end_before`](PageRange::end_before).
    ///
    /// Samples about 32 pages per range, spread over all segments; fewer for more than 8,192
    /// ranges. The URLs of sampled pages are kept in memory, and unsealed pages are sorted. The
    /// ranges may differ in size by ten or twenty percent. A page in several segments counts once
    /// for each segment.
    ///
    /// ```
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::query::PageRange;
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// for page in 0..100 {
    ///     store.observe(Observation::gone(&format!("https://example.com/{page:02}"), Time::now()))?;
    /// }
    /// let snapshot = store.snapshot();
    /// let splits = PageRange::all().split(&snapshot, 4)?;
    /// assert_eq!(splits.len(), 3);
    /// let starts = [None].into_iter().chain(splits.iter().map(|url| Some(url.as_str())));
    /// let ends = splits.iter().map(|url| Some(url.as_str())).chain([None]);
    /// let ranges = starts.zip(ends).map(|(from, to)| PageRange::all().start_at(from).end_before(to));
    /// let pages = ranges.map(|range| snapshot.scan(range).count());
    /// assert_eq!(pages.collect::<Vec<_>>(), [25, 25, 25, 25]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if the split reads damaged data.
    pub fn split(&self, snapshot: &Snapshot, ranges: usize) -> Result<Vec<String>> {
        snapshot.poison_on_bug(|| split(snapshot, self, ranges))
    }
}

fn split(snapshot: &Snapshot, range: &PageRange<'_>, ranges: usize) -> Result<Vec<String>> {
    let view = &snapshot.view;
    view.check()?;
    let (from, to) = range.bounds();
    let is_in_range = |key: &[u8]| {
        from.as_deref().is_none_or(|from| from <= key) && to.as_deref().is_none_or(|to| key < to)
    };
    let ranges = ranges.clamp(1, RANGES_MAX);
    let (mut segments, mut memtables, mut pages) = (Vec::new(), Vec::new(), 0);
    for component in view.components() {
        match component {
            Component::Segment(_, live) => {
                let segment = &live.segment;
                let bound = |key: &Vec<u8>| segment.lower_bound(key);
                let start = from.as_ref().map(bound).transpose()?.unwrap_or(0);
                let end = to.as_ref().map(bound).transpose()?.unwrap_or(segment.numbers().pages);
                let of = start..end.max(start);
                pages += of.end - of.start;
                segments.push((segment, of));
            }
            Component::Memtable(_, memtable) => {
                let inner = memtable.read();
                let mut in_order = inner.order(range.under);
                in_order.retain(|page| is_in_range(&surt::key_of(inner.page(*page).url())));
                pages += in_order.len() as u64;
                memtables.push((memtable, in_order));
            }
        }
    }
    // In each component, one of every `step` pages is sampled.
    let samples = (SAMPLES_MAX / ranges as u64).min(SAMPLES);
    let step = place(pages / (ranges as u64 * samples)).max(1);
    let (mut sample, mut bytes) = (Vec::new(), Vec::new());
    for (segment, of) in segments {
        for page in (of.start + step as u64 / 2..of.end).step_by(step) {
            let page = u32::try_from(page).ok().or_bug("a segment has fewer than 2^32 pages")?;
            segment.page(page, &mut bytes)?;
            let url = segment.text(&bytes)?;
            sample.push((surt::key_of(url), url.to_owned()));
        }
    }
    for (memtable, in_order) in memtables {
        let inner = memtable.read();
        for page in in_order.iter().skip(step / 2).step_by(step) {
            let url = inner.page(*page).url();
            sample.push((surt::key_of(url), url.to_owned()));
        }
    }
    sample.sort_unstable();
    sample.dedup();
    let at = |range: usize| sample.get(range * sample.len() / ranges);
    let mut splits: Vec<String> = (1..ranges).filter_map(at).map(|(_, url)| url.clone()).collect();
    splits.dedup();
    // In a store with fewer pages than ranges, drops the empty range before the first page.
    let first = sample.first().map(|(_, url)| url);
    splits.retain(|url| Some(url) != first);
    Ok(splits)
}

#[expect(clippy::cast_possible_truncation, reason = "simkeep is for 64-bit systems only")]
fn place(number: u64) -> usize {
    number as usize
}
