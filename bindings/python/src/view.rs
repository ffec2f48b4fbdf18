//! What can be asked of a store, in whatever way it is open.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use simkeep::query::{Histories, PageRange, Stale, count_without_fingerprint};
use simkeep::{Origin, Prefix, Query, Snapshot};

use crate::arg::{self, Arg};
use crate::columns::Kind;
use crate::epoch::EpochInfo;
use crate::error::OrRaise;
use crate::explain::Explanation;
use crate::fork::Birth;
use crate::history::{HistoryEntry, Visit};
use crate::long::long;
use crate::matches::Matches;
use crate::open::Open;
use crate::outcome::Meaning;
use crate::page::Page;
use crate::progress::{self, Progress};
use crate::query::{self, Given, Keywords};
use crate::reading::Reading;
use crate::stream::{Item, Iterated, Stream};
use crate::typed::Tuple;
use crate::value::FromRust;
use crate::{due, pairs, prints};

/// What can be asked of a store: what `Store`, `Reader` and `Snapshot` have in common.
///
/// Each question is answered from a snapshot of the moment, and waits for no writer. A page is found in
/// some microseconds, whatever the size of the store.
#[pyclass(subclass, frozen, module = "simkeep")]
pub(crate) struct View {
    source: Source,
}

/// Where snapshots come from.
pub(crate) enum Source {
    Store(Arc<Open>),
    Reader(Arc<Reading>),
    Snapshot {
        snapshot: Snapshot,
        /// The process of the store that it is of; of a reader's any will do.
        birth: Option<Birth>,
    },
}

impl View {
    pub(crate) fn new(source: Source) -> View {
        View { source }
    }

    /// What is there now.
    pub(crate) fn now(&self, py: Python<'_>) -> PyResult<Snapshot> {
        match &self.source {
            Source::Store(open) => Ok(open.store(py)?.snapshot()),
            Source::Reader(reading) => reading.snapshot(py),
            Source::Snapshot { snapshot, birth } => {
                birth.map_or(Ok(()), |birth| birth.check(py))?;
                Ok(snapshot.clone())
            }
        }
    }

    /// The process that alone may read it, if not any.
    pub(crate) fn birth(&self) -> Option<Birth> {
        match &self.source {
            Source::Store(open) => Some(open.birth),
            Source::Reader(_) => None,
            Source::Snapshot { birth, .. } => *birth,
        }
    }

    /// The process that alone may read both, if not any.
    pub(crate) fn birth_with(&self, other: &View) -> Option<Birth> {
        self.birth().or_else(|| other.birth())
    }
}

#[pymethods]
impl View {
    /// Finds pages near a fingerprint: nearest first, then in SURT order; exact for every k.
    ///
    /// `k` is the largest distance in bits, 0 to 64; by default that within which the store takes
    /// pages for near-duplicates. Usually takes some microseconds.
    ///
    /// Keywords: `limit`, the most pages to name (16; `None` for all); `under`, a prefix; `but`, a
    /// URL to leave out; `classes`; `epoch`; one of `at` (versions in force at a time), `seen`
    /// (versions seen between two times) and `ever=True` (every version); `budget`, how long it may
    /// take; `fingerprints`, how many of a crowd are compared.
    // Keywords that have names need no dictionary, and this is called often.
    #[expect(clippy::too_many_arguments, reason = "they are keywords")]
    #[pyo3(signature = (
        fingerprint: "SupportsIndex", k: "int | None" = None, *,
        limit: "int | None" = Given::default(), under: "str | None" = Given::default(),
        but: "str | None" = Given::default(),
        classes: "Iterable[int | None] | None" = Given::default(),
        epoch: "int | None" = Given::default(), at: "Time | None" = Given::default(),
        seen: "tuple[Time, Time] | None" = Given::default(), ever: "bool" = Given::default(),
        budget: "_types.Seconds | None" = Given::default(), fingerprints: "int" = Given::default()
    ))]
    fn near<'py>(
        &self,
        py: Python<'py>,
        fingerprint: &Bound<'py, PyAny>,
        k: Option<&Bound<'py, PyAny>>,
        limit: Given<'py>,
        under: Given<'py>,
        but: Given<'py>,
        classes: Given<'py>,
        epoch: Given<'py>,
        at: Given<'py>,
        seen: Given<'py>,
        ever: Given<'py>,
        budget: Given<'py>,
        fingerprints: Given<'py>,
    ) -> PyResult<Matches> {
        let snapshot = self.now(py)?;
        let fingerprint = arg::fingerprint(Arg::new("fingerprint"), fingerprint)?;
        let query = Query::new(fingerprint, query::distance(k, &snapshot)?);
        let threads = Given::default();
        #[rustfmt::skip]
        let keywords = Keywords {
            limit, under, but, classes, epoch, at, seen, ever, budget, fingerprints, threads,
        };
        let query = keywords.of(query)?;
        Matches::from_rust(py, py.detach(|| snapshot.search(&query)).or_raise(py)?)
    }

    /// Finds the pages nearest to a fingerprint, however far away they are.
    ///
    /// Costs up to three times as much as a search within the distance of the farthest.
    ///
    /// Takes the keywords of `near` but `limit`.
    #[pyo3(signature = (fingerprint: "SupportsIndex", count: "int", **like: "Unpack[_types.Near]"))]
    fn nearest<'py>(
        &self,
        py: Python<'py>,
        fingerprint: &Bound<'py, PyAny>,
        count: &Bound<'py, PyAny>,
        like: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Matches> {
        let snapshot = self.now(py)?;
        let fingerprint = arg::fingerprint(Arg::new("fingerprint"), fingerprint)?;
        let count = arg::size(Arg::new("count"), count)?;
        let query = query::with(Query::nearest(fingerprint, count), like)?.limit(count);
        Matches::from_rust(py, py.detach(|| snapshot.search(&query)).or_raise(py)?)
    }

    /// Explains how a search runs, and what it costs. Costs about three searches.
    ///
    /// Takes the arguments of `near`.
    #[pyo3(signature = (
        fingerprint: "SupportsIndex", k: "int | None" = None, **like: "Unpack[_types.Near]"
    ))]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        fingerprint: &Bound<'py, PyAny>,
        k: Option<&Bound<'py, PyAny>>,
        like: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Explanation> {
        let snapshot = self.now(py)?;
        let fingerprint = arg::fingerprint(Arg::new("fingerprint"), fingerprint)?;
        let query = query::with(Query::new(fingerprint, query::distance(k, &snapshot)?), like)?;
        let explained =
            py.detach(|| simkeep::query::Explanation::of(&snapshot, &query)).or_raise(py)?;
        Explanation::from_rust(py, explained)
    }

    /// All visits of a page in order, each with what it meant after those before it.
    ///
    /// What was restated and given stands among them. Empty for an unknown page.
    #[pyo3(signature = (url: "str"))]
    fn history<'py>(
        &self,
        py: Python<'py>,
        url: &Bound<'py, PyAny>,
    ) -> PyResult<Vec<HistoryEntry>> {
        let (snapshot, url) = (self.now(py)?, arg::url(Arg::new("url"), url)?);
        FromRust::from_rust(py, py.detach(|| snapshot.history(url)).or_raise(py)?)
    }

    /// The visit whose content was in force at a time; `None` if the page was unknown then, or gone.
    #[pyo3(signature = (url: "str", at: "Time"))]
    fn as_of<'py>(
        &self,
        py: Python<'py>,
        url: &Bound<'py, PyAny>,
        at: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Visit>> {
        let (snapshot, url) = (self.now(py)?, arg::url(Arg::new("url"), url)?);
        let at = arg::time(Arg::new("at"), at)?;
        let visit = py.detach(|| snapshot.as_of(url, at)).or_raise(py)?;
        FromRust::from_rust(py, visit)
    }

    /// The current state of a page; `None` for an unknown one.
    #[pyo3(signature = (url: "str"))]
    fn latest<'py>(&self, py: Python<'py>, url: &Bound<'py, PyAny>) -> PyResult<Option<Page>> {
        let (snapshot, url) = (self.now(py)?, arg::url(Arg::new("url"), url)?);
        let page = py.detach(|| snapshot.latest(url)).or_raise(py)?;
        FromRust::from_rust(py, page)
    }

    /// All pages, or those under a prefix, in SURT order, in which all pages of a host are
    /// neighbours.
    ///
    /// With `start` and `end` only those from this URL on, and before that one. Reads lazily, some
    /// microseconds a page.
    #[pyo3(signature = (
        under: "str | None" = None, *, start: "str | None" = None, end: "str | None" = None
    ) -> "Stream[Page]")]
    fn scan<'py>(
        &self,
        py: Python<'py>,
        under: Option<&Bound<'py, PyAny>>,
        start: Option<&Bound<'py, PyAny>>,
        end: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Stream> {
        let snapshot = self.now(py)?;
        let (under, [start, end]) = range(under, [start, end])?;
        let scan = py.detach(|| {
            snapshot.scan(PageRange::all().under(under.as_ref()).start_at(start).end_before(end))
        });
        let items = Iterated::new(scan, |page| Item::Page(Box::new(page)));
        Ok(Stream::new(items, Some(Kind::Pages), self.birth()))
    }

    /// Every observation of all pages, or of those under a prefix, in SURT order, with its URL.
    ///
    /// With `start` and `end` only of the pages from this URL on, and before that one; with
    /// `in_force=True` only what is in force. Reads lazily.
    #[pyo3(signature = (
        under: "str | None" = None, *, start: "str | None" = None, end: "str | None" = None,
        in_force=false
    ) -> "Stream[tuple[str, Visit | Restated | Given]]")]
    fn observations<'py>(
        &self,
        py: Python<'py>,
        under: Option<&Bound<'py, PyAny>>,
        start: Option<&Bound<'py, PyAny>>,
        end: Option<&Bound<'py, PyAny>>,
        in_force: bool,
    ) -> PyResult<Stream> {
        let snapshot = self.now(py)?;
        let (under, [start, end]) = range(under, [start, end])?;
        let all = py.detach(|| {
            snapshot.observations(
                PageRange::all().under(under.as_ref()).start_at(start).end_before(end),
            )
        });
        let all = if in_force { all.in_force() } else { all };
        let items = Iterated::new(all, |(url, entry)| Item::Entry(url, entry));
        Ok(Stream::new(items, Some(Kind::Observations), self.birth()))
    }

    /// Splits all pages, or those under a prefix, into ranges of about as many pages each, for
    /// several readers.
    ///
    /// There are at most `ranges` of them. Returns the URLs at which all but the first begin, for
    /// `scan` and `observations`. Looks at some 32 pages a range.
    #[pyo3(signature = (ranges: "int", *, under: "str | None" = None))]
    fn splits<'py>(
        &self,
        py: Python<'py>,
        ranges: &Bound<'py, PyAny>,
        under: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Vec<String>> {
        let snapshot = self.now(py)?;
        let ranges = arg::size(Arg::new("ranges"), ranges)?;
        let (under, _) = range(under, [None; 2])?;
        py.detach(|| PageRange::all().under(under.as_ref()).split(&snapshot, ranges)).or_raise(py)
    }

    /// The history of every page, or of those under a prefix, in SURT order, with its URL. Reads
    /// lazily.
    #[pyo3(signature = (
        under: "str | None" = None
    ) -> "Stream[tuple[str, list[Judged | Restated | Given]]]")]
    fn histories<'py>(
        &self,
        py: Python<'py>,
        under: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Stream> {
        let snapshot = self.now(py)?;
        let under = arg::optional(under, |under| arg::prefix(Arg::new("under"), under))?;
        let all = py.detach(|| Histories::of(&snapshot, under.as_ref()));
        let items = Iterated::new(all, |(url, history)| Item::History(url, history));
        Ok(Stream::new(items, None, self.birth()))
    }

    /// Pages whose version in force has a fingerprint, but none of this epoch: those to restate.
    ///
    /// If `after` is given, those that come after this URL in SURT order.
    #[pyo3(signature = (epoch: "int", *, after: "str | None" = None) -> "Stream[StalePage]")]
    fn stale<'py>(
        &self,
        py: Python<'py>,
        epoch: &Bound<'py, PyAny>,
        after: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Stream> {
        let snapshot = self.now(py)?;
        let epoch = arg::epoch(Arg::new("epoch"), epoch)?;
        let after = after.filter(|after| !after.is_none());
        let after = after.map(|after| arg::url(Arg::new("after"), after)).transpose()?;
        let stale = py.detach(|| Stale::of(&snapshot, epoch, after));
        Ok(Stream::new(Iterated::new(stale, Item::Stale), None, self.birth()))
    }

    /// The pages of which a visit is worth most at a time, the best first, each with the decision
    /// on it.
    ///
    /// At most `budget` of them; `None` is for any number. Reads lazily.
    ///
    /// Keywords: `policy`, what puts pages in order ("value"); `under`, a prefix; `per_host`, the
    /// most of each host; `largest_interval`, after which an unvisited page comes first (365 days);
    /// `rules` for the pages under prefixes; `hints`, of when pages changed; `plan`, which gives
    /// each page a date; `learned`, what pages are believed to change like; `memory_bytes`, for the
    /// pages that are chosen (64 MiB).
    #[pyo3(signature = (
        now: "Time", budget: "int | None", **like: "Unpack[_types.Due]"
    ) -> "Stream[Decision]")]
    fn due<'py>(
        &self,
        py: Python<'py>,
        now: &Bound<'py, PyAny>,
        budget: &Bound<'py, PyAny>,
        like: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Stream> {
        let snapshot = self.now(py)?;
        let asked = due::asked(py, (now, budget), like)?;
        let pages = py.detach(|| snapshot.due(&asked));
        let items = Iterated::new(pages, |decision| Item::Due(Box::new(decision)));
        Ok(Stream::new(items, None, self.birth()))
    }

    /// All different fingerprints that pages have, each once, in no particular order.
    ///
    /// Reads all fingerprints on all cores, and waits for whoever reads them. It ends when the
    /// iterator is closed.
    ///
    /// Takes the keywords `epoch`, `under`, `but`, `classes`, `at`, `seen`, `ever` and `threads` of
    /// `near`.
    #[pyo3(signature = (*, progress=None, **like: "Unpack[_types.Pairs]") -> "Stream[int]")]
    fn all_fingerprints<'py>(
        &self,
        py: Python<'py>,
        progress: Option<&Bound<'py, Progress>>,
        like: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Stream> {
        let snapshot = self.now(py)?;
        let query = query::with(Query::new(0, 0), like)?;
        let all = pairs::fingerprints(snapshot, query, progress::given(progress)).or_raise(py)?;
        Ok(Stream::new(all, Some(Kind::Fingerprints), Some(Birth::now())))
    }

    /// All pairs of different fingerprints of pages within k bits of each other, in no particular
    /// order.
    ///
    /// A join of all fingerprints, which runs on all cores in 256 MiB, and waits for whoever reads
    /// the pairs. It ends when the iterator is closed.
    ///
    /// Takes the keywords `epoch`, `under`, `but`, `classes`, `at`, `seen`, `ever` and `threads` of
    /// `near`.
    #[pyo3(signature = (
        k: "int | None" = None, *, progress=None, **like: "Unpack[_types.Pairs]"
    ) -> "Stream[Pair]")]
    fn all_pairs<'py>(
        &self,
        py: Python<'py>,
        k: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, Progress>>,
        like: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Stream> {
        let snapshot = self.now(py)?;
        let query = query::with(Query::new(0, query::distance(k, &snapshot)?), like)?;
        let join =
            pairs::of_fingerprints(snapshot, query, progress::given(progress)).or_raise(py)?;
        Ok(Stream::new(join, Some(Kind::Pairs), Some(Birth::now())))
    }

    /// All pairs of one of these fingerprints and a different one of a page within k bits of it.
    ///
    /// They come in no particular order, and once for each of the given that is in it. No page need
    /// have a given one. Takes fingerprints as `near_batch` does.
    ///
    /// Costs a search for each, on all cores, and waits for whoever reads the pairs. It ends when
    /// the iterator is closed. As many as there are in all are better joined by `all_pairs`.
    #[pyo3(signature = (
        fingerprints: "Iterable[SupportsIndex] | _types.ArrowStream | _types.ArrowArray", /,
        k: "int | None" = None, *, progress=None, **like: "Unpack[_types.Pairs]"
    ) -> "Stream[Pair]")]
    fn pairs_with<'py>(
        &self,
        py: Python<'py>,
        fingerprints: &Bound<'py, PyAny>,
        k: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, Progress>>,
        like: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Stream> {
        let snapshot = self.now(py)?;
        let query = query::with(Query::new(0, query::distance(k, &snapshot)?), like)?;
        let given = prints::fingerprints(Arg::new("fingerprints"), fingerprints)?;
        let pairs = pairs::with(snapshot, given, query, progress::given(progress)).or_raise(py)?;
        Ok(Stream::new(pairs, Some(Kind::Pairs), Some(Birth::now())))
    }

    /// Pairs of pages with fingerprints within k bits of each other, in no particular order.
    ///
    /// By default each fingerprint stands for its first page, and pages with equal ones are not
    /// paired.
    ///
    /// Keywords: `equal=True` pairs pages with the same fingerprint, too; `each`, how many pages of
    /// each fingerprint are paired with others (1; `None` for all); `epoch`, `under`, `classes`.
    #[pyo3(signature = (
        k: "int | None" = None, *, progress=None, **like: "Unpack[_types.PagePairs]"
    ) -> "Stream[PagePair]")]
    fn page_pairs<'py>(
        &self,
        py: Python<'py>,
        k: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, Progress>>,
        like: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Stream> {
        let snapshot = self.now(py)?;
        let asked = query::pairs(query::distance(k, &snapshot)?, like)?;
        let join = pairs::of_pages(snapshot, asked, progress::given(progress)).or_raise(py)?;
        Ok(Stream::new(join, Some(Kind::PagePairs), Some(Birth::now())))
    }

    /// All epochs, by number.
    fn epochs(&self, py: Python<'_>) -> PyResult<Vec<EpochInfo>> {
        FromRust::from_rust(py, self.now(py)?.epochs().to_vec())
    }

    /// The number of the epoch that verdicts and their distances go by.
    #[getter]
    fn change_epoch(&self, py: Python<'_>) -> PyResult<u32> {
        Ok(self.now(py)?.change_epoch().number())
    }

    /// The number of the epoch that near-duplicates are sought by.
    #[getter]
    fn near_epoch(&self, py: Python<'_>) -> PyResult<u32> {
        Ok(self.now(py)?.near_epoch().number())
    }

    /// The number of the last operation that is seen.
    #[getter]
    fn sequence(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.now(py)?.sequence())
    }

    /// In how many bits fingerprints of near-duplicates differ at most, in an epoch.
    ///
    /// By default in the one that they are sought by.
    #[pyo3(signature = (epoch: "int | None" = None))]
    fn near_distance(&self, py: Python<'_>, epoch: Option<&Bound<'_, PyAny>>) -> PyResult<u32> {
        let snapshot = self.now(py)?;
        let epoch = arg::optional(epoch, |epoch| arg::epoch(Arg::new("epoch"), epoch))?;
        Ok(snapshot.near_distance(epoch.unwrap_or_else(|| snapshot.near_epoch())))
    }

    /// What a distance means in an epoch; by default in the one that verdicts go by.
    #[pyo3(signature = (distance: "int", *, epoch: "int | None" = None))]
    fn meaning<'py>(
        &self,
        py: Python<'py>,
        distance: &Bound<'py, PyAny>,
        epoch: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Meaning> {
        let snapshot = self.now(py)?;
        let distance = arg::distance(Arg::new("distance"), distance)?;
        let epoch = arg::optional(epoch, |epoch| arg::epoch(Arg::new("epoch"), epoch))?;
        let epoch = epoch.unwrap_or_else(|| snapshot.change_epoch());
        FromRust::from_rust(py, snapshot.meaning(epoch, distance))
    }

    /// The numbers of the epochs in which the text of a page gets a fingerprint, at most two.
    ///
    /// The page comes as HTML or as the text that a reader sees. `MisuseError` if there is none such: it
    /// names the epoch of the store, and the one to begin. Reads nothing.
    fn text_epochs(&self, py: Python<'_>) -> PyResult<Tuple<u32>> {
        let epochs = Origin::text_epochs(&self.now(py)?).or_raise(py)?;
        Tuple::new(py, epochs.iter().map(|epoch| epoch.number()))
    }

    /// How many pages have content in force that no search of an epoch finds. Costs a scan.
    #[pyo3(signature = (epoch: "int", *, classes: "Iterable[int | None] | None" = None))]
    fn without_fingerprint<'py>(
        &self,
        py: Python<'py>,
        epoch: &Bound<'py, PyAny>,
        classes: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<u64> {
        let snapshot = self.now(py)?;
        let epoch = arg::epoch(Arg::new("epoch"), epoch)?;
        let classes = arg::optional(classes, |v| arg::classes(Arg::new("classes"), v))?;
        py.detach(|| count_without_fingerprint(&snapshot, epoch, classes.as_ref())).or_raise(py)
    }

    /// How many distinct fingerprints of an epoch can be searched.
    ///
    /// One counts once for each segment or memtable that has it. Reads no table.
    #[pyo3(signature = (epoch: "int"))]
    fn fingerprints(&self, py: Python<'_>, epoch: &Bound<'_, PyAny>) -> PyResult<u64> {
        let snapshot = self.now(py)?;
        Ok(snapshot.fingerprints(arg::epoch(Arg::new("epoch"), epoch)?))
    }

    /// Reads the fingerprint tables into memory and checks them, so that searches wait for neither.
    ///
    /// Ctrl-C ends it.
    #[pyo3(signature = (*, progress=None))]
    fn warm_up(&self, py: Python<'_>, progress: Option<&Bound<'_, Progress>>) -> PyResult<()> {
        let snapshot = self.now(py)?;
        let progress = progress::given(progress);
        long(py, &progress, || snapshot.warm_up(&progress))
    }
}

/// Which pages are read: those under a prefix, from a URL on, and before another one; each perhaps.
fn range<'a>(
    under: Option<&Bound<'_, PyAny>>,
    ends: [Option<&'a Bound<'_, PyAny>>; 2],
) -> PyResult<(Option<Prefix>, [Option<&'a str>; 2])> {
    let under = arg::optional(under, |under| arg::prefix(Arg::new("under"), under))?;
    let url = |name, end: Option<&'a Bound<'_, PyAny>>| {
        let end = end.filter(|end| !end.is_none());
        end.map(|end| arg::url(Arg::new(name), end)).transpose()
    };
    let [start, end] = ends;
    Ok((under, [url("start", start)?, url("end", end)?]))
}
