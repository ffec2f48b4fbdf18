//! The URLs that were found, and that nobody has visited yet.

use super::page_range::PageRange;
use super::scan::Scan;
use crate::engine::component::FoundState;
use crate::engine::lookup::Lookup;
use crate::engine::snapshot::Snapshot;
use crate::error::Result;
use crate::layout::UrlList;
use crate::page::Found;
use crate::segment::FoundFacts;
use crate::time::Time;

/// A URL that waits for its first visit.
///
/// ```
/// # use simkeep::{Found, Options, Store, Time};
/// use simkeep::query::WaitingUrl;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let (url, time) = ("https://example.com/", Time::from_ms(1_700_000_000_000)?);
/// store.discover(&[Found::new(url, time).weight(2.0)])?;
/// let waiting = WaitingUrl::get(&store.snapshot(), url)?.expect("it waits");
/// assert_eq!((waiting.time, waiting.weight), (time, 2.0));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WaitingUrl {
    /// The URL.
    pub url: String,
    /// The earliest time at which it was found, in whole seconds.
    pub time: Time,
    /// Its largest weight, rounded.
    pub weight: f64,
}

impl WaitingUrl {
    pub(crate) fn new(url: &str, facts: FoundFacts) -> WaitingUrl {
        WaitingUrl { url: url.to_owned(), time: facts.time(), weight: facts.weight() }
    }

    /// Returns a URL if it waits for its first visit. Costs a probe of a filter in each segment, and a
    /// lookup in some.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`](crate::Error::Corrupt) if the lookup reads damaged data.
    pub fn get(snapshot: &Snapshot, url: &str) -> Result<Option<WaitingUrl>> {
        snapshot.poison_on_bug(|| {
            let Snapshot { view, sequence, .. } = snapshot;
            view.check()?;
            match view.found(&Lookup::new(url, view.seed), *sequence)? {
                FoundState::Waiting(facts) => Ok(Some(WaitingUrl::new(url, facts))),
                FoundState::Unknown | FoundState::Page => Ok(None),
            }
        })
    }

    /// Returns the URL as it can be [found](crate::Store::discover) in another store.
    pub fn found(&self) -> Found<'_> {
        Found::new(&self.url, self.time).weight(self.weight)
    }
}

/// An iterator over the URLs that wait for their first visit, in SURT order, from [`FoundUrls::of`].
///
/// Reads lazily. Takes memory for the URLs that are in no segment yet. The iterator ends after an
/// error.
///
/// ```
/// # use simkeep::{Found, Observation, Options, Store, Time};
/// use simkeep::query::FoundUrls;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let now = Time::now();
/// store.discover(&["https://example.com/b", "https://example.com/a"].map(|url| Found::new(url, now)))?;
/// store.observe(Observation::gone("https://example.com/b", now))?; // visited
/// let urls: Vec<_> = FoundUrls::of(&store.snapshot(), None).collect::<simkeep::Result<_>>()?;
/// assert_eq!((urls.len(), urls[0].url.as_str()), (1, "https://example.com/a"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct FoundUrls(Scan);

impl FoundUrls {
    /// Iterates over the waiting URLs of a range, such as all (`None`) or those under a prefix. Costs a
    /// lookup for each URL.
    pub fn of<'a>(snapshot: &Snapshot, range: impl Into<PageRange<'a>>) -> FoundUrls {
        FoundUrls(Scan::of_list(snapshot, UrlList::Found, range.into()))
    }
}

impl Iterator for FoundUrls {
    type Item = Result<WaitingUrl>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next_with(|scan| {
            let (url, Snapshot { view, sequence, .. }) = (scan.url()?, scan.snapshot());
            match view.found(&Lookup::new(url, view.seed), *sequence)? {
                FoundState::Waiting(facts) => Ok(Some(WaitingUrl::new(url, facts))),
                FoundState::Unknown | FoundState::Page => Ok(None),
            }
        })
    }
}
