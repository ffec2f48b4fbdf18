//! A trace of a page: all stored data about it, with the locations.

use std::ops::ControlFlow;

use super::surt;
use crate::engine::component::{ComponentId, PageSlice};
use crate::engine::lookup::Lookup;
use crate::engine::results::{History, Page};
use crate::engine::snapshot::Snapshot;
use crate::error::Result;
use crate::url::check_url;

/// All stored data about a page, with the locations.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use simkeep::inspect::Trace;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let url = "https://example.com/terms";
/// store.observe(Observation::gone(url, Time::now()))?;
/// let trace = Trace::of(&store.snapshot(), url)?.unwrap();
/// assert_eq!((trace.surt.as_str(), trace.records.len()), ("com,example)/terms", 1));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Trace {
    /// The current state of the page.
    pub page: Page,
    /// The SURT of the page, by which pages are sorted, for example `com,example)/terms`.
    pub surt: String,
    /// The hash of the page's URL, by which the store finds the page. Each store has a different
    /// seed.
    pub hash: u64,
    /// The locations of data about the page, the newest first.
    pub records: Vec<PageRecord>,
    /// The page's visits with their verdicts.
    pub history: History,
}

impl Trace {
    /// Traces a page; `None` if the page is unknown. Reads the page's record in each segment that
    /// has the page. Takes memory for the page's visits.
    ///
    /// ```
    /// use simkeep::inspect::Trace;
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let url = "https://example.com/";
    /// store.observe(Observation::gone(url, Time::from_ms(0)?))?;
    /// store.seal()?;
    /// store.observe(Observation::failed(url, Time::from_ms(5)?))?;
    /// let trace = Trace::of(&store.snapshot(), url)?.expect("the page is known");
    /// assert_eq!((trace.records.len(), trace.history.len()), (2, 2));
    /// assert_eq!(trace.records[0].segment, None);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Url`](crate::Error::Url), or [`Error::Corrupt`](crate::Error::Corrupt) if
    /// the trace reads damaged data.
    pub fn of(snapshot: &Snapshot, url: &str) -> Result<Option<Trace>> {
        check_url(url)?;
        let Some(page) = snapshot.latest(url)? else { return Ok(None) };
        let lookup = Lookup::new(url, snapshot.view().seed);
        let mut records = Vec::new();
        snapshot.view().each_part(&lookup, snapshot.sequence(), |part| {
            records.extend(record(snapshot, part)?);
            Ok(ControlFlow::Continue(()))
        })?;
        let (surt, hash) = (surt::of_key(lookup.key()), lookup.hash);
        Ok(Some(Trace { page, surt, hash, records, history: snapshot.history(url)? }))
    }
}

/// A location of data about a page.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use simkeep::inspect::Trace;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let url = "https://example.com/";
/// store.observe(Observation::gone(url, Time::from_ms(1_000)?))?;
/// store.seal()?;
/// store.observe(Observation::gone(url, Time::from_ms(2_000)?))?;
/// let records = Trace::of(&store.snapshot(), url)?.unwrap().records;
/// // The second visit is in the journal, the first one in a segment.
/// assert!(records[0].segment.is_none() && records[1].segment.is_some());
/// assert_eq!((records[0].entries, records[1].is_first), (1, true));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageRecord {
    /// The number of the segment; `None` for the journal.
    pub segment: Option<u64>,
    /// The number of the page in the segment or the journal, in the order of the segment.
    pub number: u32,
    /// Bytes of the page's record; `None` in the journal.
    pub bytes: Option<u64>,
    /// The number of entries in this location: visits, restatements, weights and classes.
    pub entries: usize,
    /// Whether the page's data begins in this location: data in older segments does not count.
    pub is_first: bool,
}

fn record(snapshot: &Snapshot, part: &PageSlice<'_>) -> Result<Option<PageRecord>> {
    let Some(location) = part.location() else { return Ok(None) };
    let (mut segment, mut bytes) = (None, None);
    if let ComponentId::Segment(number) = location.component
        && let Some(live) = snapshot.view().segments.get(number as usize)
    {
        segment = Some(live.segment.id());
        let record = live.segment.page(location.page, &mut Vec::new())?;
        bytes = Some(record.len() as u64);
    }
    let (entries, is_first) = (part.entries()?.len(), part.is_first());
    Ok(Some(PageRecord { segment, number: location.page, bytes, entries, is_first }))
}
