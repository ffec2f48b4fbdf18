//! A snapshot's pages in ranges, for as many readers.

use super::observations::Observations;
use super::scan::{Range, Scan, Start};
use crate::bug::OrBug;
use crate::engine::component::Component;
use crate::engine::snapshot::Snapshot;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::page::{Prefix, surt};

/// How many pages are looked at for each range, and in all, but for a few a range.
const SAMPLES: u64 = 32;
const SAMPLES_MAX: u64 = 1 << 18;
/// The most ranges.
const RANGES_MAX: usize = 1 << 16;

impl Snapshot {
    /// Splits all pages, or those under a prefix, into ranges of about as many pages each: at most
    /// `ranges` of them, 65,536 at most. Returns the URLs at which all but the first begin, in SURT
    /// order; [`scan_between`](Snapshot::scan_between) reads a range.
    ///
    /// Looks at some 32 pages a range, spread over all segments, of more than 8,192 ranges at fewer;
    /// keeps their URLs in memory, and sorts what is not sealed. Ranges may differ by a tenth or two; a
    /// page that is in several segments counts as often.
    ///
    /// ```
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// for page in 0..100 {
    ///     store.observe(Observation::gone(&format!("https://example.com/{page:02}"), Time::now()))?;
    /// }
    /// let snapshot = store.snapshot();
    /// let splits = snapshot.splits(None, 4)?;
    /// assert_eq!(splits.len(), 3);
    /// let from = [None].into_iter().chain(splits.iter().map(|url| Some(url.as_str())));
    /// let to = splits.iter().map(|url| Some(url.as_str())).chain([None]);
    /// let pages = from.zip(to).map(|(from, to)| snapshot.scan_between(None, from, to).count());
    /// assert_eq!(pages.collect::<Vec<_>>(), [25, 25, 25, 25]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if what it touches is damaged.
    pub fn splits(&self, under: Option<&Prefix>, ranges: usize) -> Result<Vec<String>> {
        self.poison_on_bug(|| splits(self, under, ranges))
    }

    /// The pages from a URL on, up to another one, which is not among them; from the first, and to the
    /// last, if there is none. Of these only those under a prefix, if there is one. Whether there are
    /// pages with these URLs does not matter. In SURT order, and at the cost of
    /// [`scan`](Snapshot::scan).
    ///
    /// # Errors
    ///
    /// An item is [`Error::Corrupt`] if what it touches is damaged; then the iterator ends.
    pub fn scan_between(
        &self,
        under: Option<&Prefix>,
        from: Option<&str>,
        to: Option<&str>,
    ) -> Scan {
        Scan::new(self, Range { under, start: from.map(Start::At), to, keys: None })
    }

    /// Every entry of the pages that [`scan_between`](Snapshot::scan_between) reads, as
    /// [`observations`](Snapshot::observations) returns them for all pages.
    ///
    /// # Errors
    ///
    /// An item is [`Error::Corrupt`] if what it touches is damaged; then the iterator ends.
    pub fn observations_between(
        &self,
        under: Option<&Prefix>,
        from: Option<&str>,
        to: Option<&str>,
    ) -> Observations {
        Observations::of(self.scan_between(under, from, to))
    }
}

fn splits(snapshot: &Snapshot, under: Option<&Prefix>, ranges: usize) -> Result<Vec<String>> {
    let view = &snapshot.view;
    view.check()?;
    let ranges = ranges.clamp(1, RANGES_MAX);
    let (mut segments, mut memtables, mut pages) = (Vec::new(), Vec::new(), 0);
    for component in view.components() {
        match component {
            Component::Segment(_, live) => {
                let segment = &live.segment;
                let of = match under.map(Prefix::range) {
                    Some((from, to)) => segment.lower_bound(from)?..segment.lower_bound(to)?,
                    None => 0..segment.numbers().pages,
                };
                pages += of.end - of.start;
                segments.push((segment, of));
            }
            Component::Memtable(_, memtable) => {
                let in_order = memtable.read().order(under);
                pages += in_order.len() as u64;
                memtables.push((memtable, in_order));
            }
        }
    }
    // One of so many pages is looked at, in each component.
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
    // Nothing comes before the first page, of a store with fewer pages than ranges.
    let first = sample.first().map(|(_, url)| url);
    splits.retain(|url| Some(url) != first);
    Ok(splits)
}

#[expect(clippy::cast_possible_truncation, reason = "simkeep is for 64-bit systems only")]
fn place(number: u64) -> usize {
    number as usize
}
