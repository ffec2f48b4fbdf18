//! A scan: all pages of a snapshot in SURT order.

use super::page_range::{PageRange, Start};
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use crate::bug::{Bug, OrBug};
use crate::engine::component::{
    Component, ComponentId, PageSlice, PageWithChanges, entries_across, page_with_changes_across,
};
use crate::engine::epochs::{Epochs, check_live};
use crate::engine::live_segment::LiveSegment;
use crate::engine::memtable::Memtable;
use crate::engine::results::{History, Page};
use crate::engine::snapshot::{Snapshot, fold};
use crate::error::{Error, Result};
use crate::page::{Classes, Content, Entry, Epoch, PageHead, Prefix, surt};
use crate::segment::{PageCursor, PageMerge, PageStream, RecordLocation};

/// An iterator over pages in SURT order, from [`Snapshot::scan`](crate::Snapshot::scan).
///
/// Reads lazily. Takes memory for the unsealed pages under the prefix and one page of each segment.
/// The iterator ends after an error.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// store.observe(Observation::gone("https://example.com/", Time::now()))?;
/// for page in store.snapshot().scan(None) {
///     println!("{}", page?.url);
/// }
/// # Ok(())
/// # }
/// ```
pub struct Scan {
    snapshot: Snapshot,
    /// The key and the URL before which the scan ends; `None` if the scan ends after the last page.
    end: Option<(Vec<u8>, String)>,
    /// The pages of the components, the oldest component first.
    pages: PageMerge<ComponentScan>,
    failed: Option<Error>,
}

impl fmt::Debug for Scan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scan").field("snapshot", &self.snapshot).finish_non_exhaustive()
    }
}

/// The pages of a component.
enum ComponentScan {
    Segment { number: u32, live: Arc<LiveSegment>, cursor: PageCursor },
    Memtable(MemtablePages),
}

/// The location of a page in a component: its number in a memtable, or its record.
enum ComponentPage {
    Segment(RecordLocation),
    Memtable(u32),
}

/// The pages of a memtable, with the key and the URL of the next page.
struct MemtablePages {
    id: ComponentId,
    memtable: Arc<Memtable>,
    rest: std::vec::IntoIter<u32>,
    next: Option<u32>,
    key: Vec<u8>,
    url: String,
}

/// The start of a scan with its SURT key.
struct KeyedStart<'a> {
    key: Vec<u8>,
    url: &'a str,
    is_read: bool,
}

impl<'a> From<Start<'a>> for KeyedStart<'a> {
    fn from(start: Start<'a>) -> KeyedStart<'a> {
        let (url, is_read) = match start {
            Start::At(url) => (url, true),
            Start::After(url) => (url, false),
        };
        KeyedStart { key: surt::key_of(url), url, is_read }
    }
}

impl KeyedStart<'_> {
    /// Whether a page comes before the first page to read.
    fn is_behind(&self, key: &[u8], url: &str) -> bool {
        match (key, url).cmp(&(&self.key, self.url)) {
            Ordering::Less => true,
            Ordering::Equal => !self.is_read,
            Ordering::Greater => false,
        }
    }
}

/// The prefix and the start of a stream.
type StreamBounds<'a> = (Option<&'a Prefix>, Option<&'a KeyedStart<'a>>);

impl MemtablePages {
    fn new(
        id: ComponentId,
        memtable: &Arc<Memtable>,
        (prefix, start): StreamBounds<'_>,
        sequence: u64,
    ) -> MemtablePages {
        let inner = memtable.read();
        let mut pages = match prefix {
            Some(prefix) => inner.under(prefix, sequence),
            None => inner.order(None),
        };
        if let Some(start) = start {
            let is_passed = |number: &u32| {
                let of = inner.page(*number).url();
                start.is_behind(&surt::key_of(of), of)
            };
            pages.drain(..pages.partition_point(is_passed));
        }
        drop(inner);
        let (memtable, rest) = (Arc::clone(memtable), pages.into_iter());
        let (key, url) = (Vec::new(), String::new());
        let mut pages = MemtablePages { id, memtable, rest, next: None, key, url };
        pages.advance();
        pages
    }

    fn advance(&mut self) {
        self.next = self.rest.next();
        if let Some(number) = self.next {
            let inner = self.memtable.read();
            self.url.clear();
            self.url.push_str(inner.page(number).url());
            drop(inner);
            self.key.clear();
            surt::key(&self.url, &mut self.key);
        }
    }
}

impl ComponentScan {
    fn new(
        component: Component<'_>,
        (prefix, start): StreamBounds<'_>,
        sequence: u64,
    ) -> Result<ComponentScan> {
        let (number, live) = match component {
            Component::Segment(number, live) => (number, live),
            Component::Memtable(id, memtable) => {
                let pages = MemtablePages::new(id, memtable, (prefix, start), sequence);
                return Ok(ComponentScan::Memtable(pages));
            }
        };
        let first = prefix.map(|prefix| prefix.range().0);
        let first = first.into_iter().chain(start.map(|start| start.key.as_slice()));
        let from = first.max().map_or(Ok(0), |start| live.segment.lower_bound(start))?;
        let mut cursor = PageCursor::new(Arc::clone(&live.segment), from)?;
        let mut more = cursor.advance()?;
        if let Some(start) = start {
            while more && start.is_behind(cursor.key(), cursor.url()?) {
                more = cursor.advance()?;
            }
        }
        Ok(ComponentScan::Segment { number, live: Arc::clone(live), cursor })
    }

    /// The data that a component has about a page at a location, as of an operation.
    fn page(&self, taken: Option<&ComponentPage>, sequence: u64) -> Result<PageSlice<'_>> {
        Ok(match self {
            ComponentScan::Segment { number, live, cursor } => {
                let page = match taken {
                    Some(ComponentPage::Segment(place)) => Some(cursor.taken_page(place)?),
                    _ => None,
                };
                PageSlice::Segment { number: *number, live, page }
            }
            ComponentScan::Memtable(MemtablePages { id, memtable, .. }) => {
                let inner = memtable.read();
                let page = match taken {
                    Some(ComponentPage::Memtable(number)) => Some(*number),
                    _ => None,
                };
                let page = page.filter(|number| inner.page(*number).is_here(sequence));
                PageSlice::Memtable { id: *id, inner, page, sequence }
            }
        })
    }
}

impl PageStream for ComponentScan {
    type Page = ComponentPage;

    fn next_place(&self) -> Option<(&[u8], &[u8])> {
        match self {
            ComponentScan::Segment { cursor, .. } => cursor.next_place(),
            ComponentScan::Memtable(MemtablePages { next, key, url, .. }) => {
                next.map(|_| (key.as_slice(), url.as_bytes()))
            }
        }
    }

    fn take(&mut self) -> Result<ComponentPage> {
        match self {
            ComponentScan::Segment { cursor, .. } => cursor.take().map(ComponentPage::Segment),
            ComponentScan::Memtable(pages) => {
                let number = pages
                    .next
                    .or_bug("a page is taken only after the stream returned its place")?;
                pages.advance();
                Ok(ComponentPage::Memtable(number))
            }
        }
    }
}

impl Scan {
    /// Creates a scan of no pages, optionally with an error to report.
    pub(crate) fn none(snapshot: &Snapshot, failed: Option<Error>) -> Scan {
        let pages = PageMerge::new(Vec::new());
        Scan { snapshot: snapshot.clone(), end: None, pages, failed }
    }

    /// Creates a scan of a range.
    pub(crate) fn new<'a>(snapshot: &Snapshot, range: impl Into<PageRange<'a>>) -> Scan {
        let range = range.into();
        let scan = snapshot.poison_on_bug(|| Scan::begin(snapshot, range));
        scan.unwrap_or_else(|e| Scan::none(snapshot, Some(e)))
    }

    fn begin(snapshot: &Snapshot, range: PageRange<'_>) -> Result<Scan> {
        let Snapshot { view, sequence, .. } = snapshot;
        view.check()?;
        let PageRange { under, start, to, keys } = range;
        let first =
            || keys.map(|(key, _)| KeyedStart { key: key.to_vec(), url: "", is_read: true });
        let start = start.map(KeyedStart::from).or_else(first);
        let mut streams = Vec::new();
        for component in view.components().filter(|component| !component.is_untouched()) {
            streams.push(ComponentScan::new(component, (under, start.as_ref()), *sequence)?);
            if under.is_some_and(|prefix| component.hides_all(prefix, *sequence)) {
                break;
            }
        }
        streams.reverse();
        let end = under.map(|prefix| (prefix.range().1.to_vec(), String::new()));
        let to = to.map(|url| (surt::key_of(url), url.to_owned()));
        let past = keys.map(|(_, key)| (key.to_vec(), String::new()));
        let end = end.into_iter().chain(to).chain(past).min();
        Ok(Scan { end, pages: PageMerge::new(streams), ..Scan::none(snapshot, None) })
    }

    /// The parts of the current page in the components, the newest component first.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Result<PageSlice<'_>>> {
        let sequence = self.snapshot.sequence;
        self.pages.newest_first().map(move |(stream, taken)| stream.page(taken, sequence))
    }

    /// The SURT key of the current page.
    pub(crate) fn key(&self) -> &[u8] {
        self.pages.key()
    }

    /// The URL of the current page.
    pub(crate) fn url(&self) -> Result<&str, Bug> {
        self.pages.url()
    }

    /// The epochs of the snapshot.
    pub(crate) fn epochs(&self) -> &Epochs {
        &self.snapshot.view.epochs
    }

    /// Moves to the next page of any component, visible or not; returns false after the last page.
    fn advance(&mut self) -> Result<bool> {
        self.snapshot.view.check()?;
        if !self.pages.advance()? {
            return Ok(false);
        }
        let Some((key, url)) = &self.end else { return Ok(true) };
        Ok(match self.pages.key().cmp(key) {
            Ordering::Less => true,
            Ordering::Equal => self.pages.url()? < url.as_str(),
            Ordering::Greater => false,
        })
    }

    /// Calls `read` for the following pages, and returns its first result.
    fn find<T>(&mut self, mut read: impl FnMut(&Scan) -> Result<Option<T>>) -> Result<Option<T>> {
        while self.advance()? {
            if let Some(found) = read(self)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    pub(crate) fn next_with<T>(
        &mut self,
        read: impl FnMut(&Scan) -> Result<Option<T>>,
    ) -> Option<Result<T>> {
        let found = match self.failed.take() {
            Some(e) => Err(e),
            None => self.find(read),
        };
        if found.is_err() {
            self.pages = PageMerge::new(Vec::new());
        }
        self.snapshot.poison_on_bug(|| found).transpose()
    }

    /// Creates a scan of all pages.
    pub(crate) fn all(snapshot: &Snapshot) -> Scan {
        Scan::new(snapshot, None)
    }

    /// The next page with its visits and their verdicts, and its head.
    pub(crate) fn next_with_verdicts(&mut self) -> Option<Result<(String, History, PageHead)>> {
        let (url, entries) = match self.next_entries()? {
            Ok(page) => page,
            Err(e) => return Some(Err(e)),
        };
        let (history, head) = fold(&entries, &self.snapshot.view.epochs);
        let head = head.or_bug("each page with entries has a visit");
        Some(self.snapshot.poison_on_bug(|| Ok((url, history, head?))))
    }

    /// The next page with its change statistics.
    pub(crate) fn next_with_changes(&mut self) -> Option<Result<(String, PageWithChanges)>> {
        self.next_with(|scan| {
            let epochs = scan.epochs();
            let page = page_with_changes_across(|| scan.key(), || scan.parts(), epochs)?;
            page.map(|page| Ok((scan.url()?.to_owned(), page))).transpose()
        })
    }

    /// The next page with its entries, in order.
    pub(crate) fn next_entries(&mut self) -> Option<Result<(String, Vec<Entry>)>> {
        self.next_with(|scan| {
            let entries = entries_across(|| scan.key(), scan.parts())?;
            Ok((!entries.is_empty()).then_some((scan.url()?.to_owned(), entries)))
        })
    }
}

impl Iterator for Scan {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_with_changes()?;
        Some(next.map(|(url, page)| Page::new(&url, &page, &self.snapshot.view.epochs)))
    }
}

/// Counts the pages whose current content has no fingerprint of an epoch, so that no search in the
/// epoch finds the pages.
///
/// Such a page redirects, is not text, has a text that is too short, or was not
/// [restated](crate::Store::restate) in the epoch. With `Some(classes)`, counts only pages of these
/// classes. Costs a [scan](crate::Snapshot::scan).
///
/// ```
/// use simkeep::query::count_without_fingerprint;
/// # use simkeep::{Observation, Options, Store, Time};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let epoch = store.change_epoch();
/// store.observe(Observation::content("https://example.com/", Time::now(), None, epoch))?;
/// assert_eq!(count_without_fingerprint(&store.snapshot(), epoch, None)?, 1);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`Error::UnknownEpoch`], [`Error::EndedEpoch`], [`Error::Corrupt`] if the scan reads damaged
/// data.
pub fn count_without_fingerprint(
    snapshot: &Snapshot,
    epoch: Epoch,
    classes: Option<&Classes>,
) -> Result<u64> {
    check_live(snapshot.epochs(), epoch)?;
    let has = |c: &Content| c.epoch == epoch && c.fingerprint.is_some();
    let is_meant = |page: &Page| classes.is_none_or(|classes| classes.contains(page.class));
    let is_without =
        |page: &Page| page.content.is_some() && !page.contents.iter().any(has) && is_meant(page);
    let pages = snapshot.scan(None).map(|page| page.map(|page| u64::from(is_without(&page))));
    pages.sum()
}
