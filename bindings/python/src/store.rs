//! A store that is open for writing.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use simkeep::{Error, Options, Request};

use crate::answers::Outcomes;
use crate::arg::{self, Arg};
use crate::error::{self, OrRaise};
use crate::integrity::{BackedUp, Verified};
use crate::long::long;
use crate::open::{self, Open};
use crate::options::options;
use crate::origin::Origin;
use crate::outcome::Outcome;
use crate::progress::{self, Progress};
use crate::publishing::{Publication, publish_options};
use crate::reader::Snapshot;
use crate::row::{Ready, Row, given};
use crate::scope::Scope;
use crate::stats::{Compacted, Forgotten, Merged, Stats};
use crate::value::FromRust;
use crate::value::no_pickle;
use crate::view::{Source, View};
use crate::what::What;
use crate::word::Stored;
use crate::{epoch, giving, load};

/// A store that is open for writing.
///
/// Threads may share it; what they observe at the same time becomes durable together. It belongs to
/// the process that opened it: in a forked one every call raises `ForkedError`. Close it, or use it
/// in a `with` statement.
#[pyclass(frozen, extends = View, module = "simkeep")]
pub(crate) struct Store {
    pub(crate) open: Arc<Open>,
}

impl Store {
    fn opened(
        py: Python<'_>,
        path: PathBuf,
        keywords: Option<&Bound<'_, PyDict>>,
        opens: fn(PathBuf, Options) -> simkeep::Result<simkeep::Store>,
    ) -> PyResult<Py<Store>> {
        let options = options(keywords)?;
        let store = py.detach(|| opens(path.clone(), options)).or_raise(py)?;
        Store::of(py, store, path)
    }

    pub(crate) fn of(py: Python<'_>, store: simkeep::Store, path: PathBuf) -> PyResult<Py<Store>> {
        let open = Arc::new(Open::new(store, path));
        let view = View::new(Source::Store(Arc::clone(&open)));
        Py::new(py, PyClassInitializer::from(view).add_subclass(Store { open }))
    }

    /// Makes a call on the store while others may run.
    pub(crate) fn call<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&simkeep::Store) -> simkeep::Result<T> + Send,
    ) -> PyResult<T> {
        let store = self.open.store(py)?;
        py.detach(|| {
            let answer = call(&store);
            // It may be the last handle, if another thread has closed it.
            drop(store);
            answer
        })
        .or_raise(py)
    }

    /// Observes one visit.
    fn observe_row(&self, py: Python<'_>, row: Row) -> PyResult<Outcome> {
        let makers = &self.open.makers;
        let outcome = self.call(py, |store| {
            let ready = makers.of(&store.snapshot())?.ready(row)?;
            store.observe(ready.observation())
        })?;
        Outcome::from_rust(py, outcome)
    }
}

/// How many pages an epoch may leave behind; of `None` any number.
fn left(given: &Bound<'_, PyAny>) -> PyResult<u64> {
    if given.is_none() { Ok(u64::MAX) } else { arg::count(Arg::new("left"), given) }
}

#[pymethods]
impl Store {
    /// Opens the store in a directory, for writing.
    ///
    /// Costs the time to read the journal, at most a second, whatever the size of the store. Raises
    /// `NotAStoreError` where there is none, and `LockedError` if somebody else has it open.
    #[staticmethod]
    #[pyo3(signature = (path, **options: "Unpack[_types.Options]"))]
    fn open(
        py: Python<'_>,
        path: PathBuf,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<Store>> {
        Store::opened(py, path, options, simkeep::Store::open)
    }

    /// Creates a store in a new or empty directory, and opens it.
    ///
    /// Raises `ExistsError` if there is a store already.
    #[staticmethod]
    #[pyo3(signature = (path, **options: "Unpack[_types.Options]"))]
    fn create(
        py: Python<'_>,
        path: PathBuf,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<Store>> {
        Store::opened(py, path, options, simkeep::Store::create)
    }

    /// Opens the store, or creates it if there is none.
    #[staticmethod]
    #[pyo3(signature = (path, **options: "Unpack[_types.Options]"))]
    fn open_or_create(
        py: Python<'_>,
        path: PathBuf,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<Store>> {
        Store::opened(py, path, options, simkeep::Store::open_or_create)
    }

    /// Reports one visit that saw content, and says what the page is now, and which others are like
    /// it.
    ///
    /// The content is a `text`; or `html`, as `str` or as `bytes` with the `encoding` that the
    /// server named, or its Content-Type as it came, several joined by commas; or a `fingerprint`
    /// made elsewhere, of an `epoch` (by default that which verdicts go by), with that of another
    /// epoch as `also=(fingerprint, epoch)`. Of fewer than eight words no fingerprint is made. See
    /// `text_epochs` for stores that take no text.
    ///
    /// `digest` is any 16 bytes that name the exact content; `status` the HTTP status; `modified`
    /// when the server said that the page was last modified; `weight` and `class_` hold until
    /// others are given. With a digest alone no search finds the page any more: of what is the same
    /// as before, give the fingerprint that it had.
    ///
    /// Durable when it returns, unless the store was opened otherwise. Costs some microseconds, and
    /// a share of a commit: two or three syncs for all calls that wait at the same time.
    #[pyo3(signature = (
        url: "str", at: "Time", *, text: "str | None" = None, html: "_types.Html | None" = None,
        encoding: "str | None" = None, fingerprint: "SupportsIndex | None" = None,
        epoch: "int | None" = None, also: "tuple[SupportsIndex | None, int] | None" = None,
        digest: "bytes | bytearray | None" = None, status: "int | None" = None,
        modified: "Time | None" = None, weight: "float | None" = None, class_: "int | None" = None
    ))]
    fn observe<'py>(
        &self,
        py: Python<'py>,
        url: &Bound<'py, PyAny>,
        at: &Bound<'py, PyAny>,
        text: Option<&Bound<'py, PyAny>>,
        html: Option<&Bound<'py, PyAny>>,
        encoding: Option<&Bound<'py, PyAny>>,
        fingerprint: Option<&Bound<'py, PyAny>>,
        epoch: Option<&Bound<'py, PyAny>>,
        also: Option<&Bound<'py, PyAny>>,
        digest: Option<&Bound<'py, PyAny>>,
        status: Option<&Bound<'py, PyAny>>,
        modified: Option<&Bound<'py, PyAny>>,
        weight: Option<&Bound<'py, PyAny>>,
        class_: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Outcome> {
        let given = given! {
            url, at, text, html, encoding, fingerprint, epoch, also, digest, status, modified, weight, class_
        };
        self.observe_row(py, Row::new(&given, Arg::new("url"))?)
    }

    /// Reports a visit to which the server answered that nothing was modified.
    ///
    /// Keywords: those of `gone`, `digest` and `modified`.
    #[pyo3(signature = (url: "str", at: "Time", **known: "Unpack[_types.NotModified]"))]
    fn not_modified<'py>(
        &self,
        py: Python<'py>,
        url: &Bound<'py, PyAny>,
        at: &Bound<'py, PyAny>,
        known: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Outcome> {
        self.observe_row(py, Row::of_keywords((url, at), known, What::NotModified)?)
    }

    /// Reports a visit that found a redirect to a target, which may be relative to the page.
    ///
    /// A redirect ends what the page held before, and is the same until it leads elsewhere. It is a
    /// copy of nothing and near nothing.
    ///
    /// Keywords: those of `gone`.
    #[pyo3(signature = (url: "str", at: "Time", to: "str", **known: "Unpack[_types.Word]"))]
    fn redirect<'py>(
        &self,
        py: Python<'py>,
        url: &Bound<'py, PyAny>,
        at: &Bound<'py, PyAny>,
        to: &Bound<'py, PyAny>,
        known: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Outcome> {
        self.observe_row(py, Row::of_keywords((url, at), known, What::redirect(to)?)?)
    }

    /// Reports a visit that found the page gone.
    ///
    /// Keywords: `status`, `weight`, `class_`.
    #[pyo3(signature = (url: "str", at: "Time", **known: "Unpack[_types.Word]"))]
    fn gone<'py>(
        &self,
        py: Python<'py>,
        url: &Bound<'py, PyAny>,
        at: &Bound<'py, PyAny>,
        known: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Outcome> {
        self.observe_row(py, Row::of_keywords((url, at), known, What::Gone)?)
    }

    /// Reports a visit that failed. The content in force stays in force.
    ///
    /// Keywords: those of `gone`.
    #[pyo3(signature = (url: "str", at: "Time", **known: "Unpack[_types.Word]"))]
    fn failed<'py>(
        &self,
        py: Python<'py>,
        url: &Bound<'py, PyAny>,
        at: &Bound<'py, PyAny>,
        known: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Outcome> {
        self.observe_row(py, Row::of_keywords((url, at), known, What::Failed)?)
    }

    /// Reports many visits, each judged after those before it.
    ///
    /// They are `Observation`s, or dictionaries with the arguments of `observe` as keys, and
    /// perhaps `seen`; or a table that has `__arrow_c_stream__`, with columns of these names. They
    /// become durable together, and cost much less than single calls. If one of them is invalid,
    /// none is stored.
    #[pyo3(signature = (observations: "_types.Rows"))]
    fn observe_batch<'py>(
        &self,
        py: Python<'py>,
        observations: &Bound<'py, PyAny>,
    ) -> PyResult<Outcomes> {
        drop(self.open.store(py)?); // What is closed says that, and not what is wrong with a row.
        let makers = self.call(py, |store| self.open.makers.of(&store.snapshot()))?;
        let ready = load::ready(py, &makers, observations)?;
        let (several, mut at_fault) = (ready.len() > 1, None);
        let outcomes = self.call(py, |store| {
            // They go when this ends, and not when the interpreter waits for that.
            let ready = ready;
            if !Arc::ptr_eq(&makers, &self.open.makers.of(&store.snapshot())?) {
                return Err(Error::Misuse(
                    "an epoch began or ended while observations were given; nothing was stored"
                        .to_owned(),
                ));
            }
            let observations: Vec<_> = ready.iter().map(Ready::observation).collect();
            store.observe_batch(&observations).inspect_err(|_| {
                let view = store.snapshot();
                let mut requests = observations.iter().map(|seen| Request::from(*seen));
                at_fault = requests.position(|request| request.check(&view).is_err());
            })
        });
        outcomes.map(Outcomes).map_err(|e| match at_fault {
            Some(row) if several => error::in_row(py, e, row),
            _ => e,
        })
    }

    /// Forgets everything observed so far of a page, or of all pages under a `prefix`; with a host
    /// or a path also of the pages that would be under it without the user in their URL.
    ///
    /// It is hidden from every answer at once. Its bytes leave the files when merges reach them.
    #[pyo3(signature = (url: "str | None" = None, *, prefix: "str | None" = None))]
    fn forget<'py>(
        &self,
        py: Python<'py>,
        url: Option<&Bound<'py, PyAny>>,
        prefix: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Forgotten> {
        let scope = Scope::new("forget", url, prefix)?;
        Forgotten::from_rust(py, self.call(py, |store| store.forget(scope.of()))?)
    }

    /// Forgets, and rewrites every file that has bytes of what is forgotten.
    ///
    /// Costs a rewrite of each segment with such pages. Ctrl-C ends it; then the pages may be
    /// forgotten, with some of their bytes left: purge again.
    #[pyo3(signature = (url: "str | None" = None, *, prefix: "str | None" = None, progress=None))]
    fn purge<'py>(
        &self,
        py: Python<'py>,
        url: Option<&Bound<'py, PyAny>>,
        prefix: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, Progress>>,
    ) -> PyResult<Forgotten> {
        let (store, scope) = (self.open.store(py)?, Scope::new("purge", url, prefix)?);
        let progress = progress::given(progress);
        Forgotten::from_rust(py, long(py, &progress, || store.purge(scope.of(), &progress))?)
    }

    /// Makes everything durable. Only with `durability="flush"` there is anything to do.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.call(py, simkeep::Store::flush)
    }

    /// Writes what is in memory as a segment. It happens by itself in time.
    fn seal(&self, py: Python<'_>) -> PyResult<()> {
        self.call(py, simkeep::Store::seal)
    }

    /// Merges all segments into one. It happens by itself in time.
    ///
    /// Costs reading and writing the store. Ctrl-C ends it, and leaves the store as it was.
    #[pyo3(signature = (*, progress=None))]
    fn merge(&self, py: Python<'_>, progress: Option<&Bound<'_, Progress>>) -> PyResult<Merged> {
        let (store, progress) = (self.open.store(py)?, progress::given(progress));
        let merged: simkeep::Merged = long(py, &progress, || store.merge(&progress))?;
        Merged::from_rust(py, merged)
    }

    /// Makes the store as small as it can be.
    ///
    /// Costs reading and writing the store, and as much room once more meanwhile. Ctrl-C ends it.
    #[pyo3(signature = (*, progress=None))]
    fn compact(
        &self,
        py: Python<'_>,
        progress: Option<&Bound<'_, Progress>>,
    ) -> PyResult<Compacted> {
        let (store, progress) = (self.open.store(py)?, progress::given(progress));
        Compacted::from_rust(py, long(py, &progress, || store.compact(&progress))?)
    }

    /// Waits until there is nothing to do in the background.
    fn wait_idle(&self, py: Python<'_>) -> PyResult<()> {
        self.call(py, simkeep::Store::wait_idle)
    }

    /// Sizes of the store. Reads no table.
    fn stats(&self, py: Python<'_>) -> PyResult<Stats> {
        let stats = self.call(py, simkeep::Store::stats)?;
        Stats::from_rust(py, stats)
    }

    /// Checks the store while it works: reads all of it, and names every flaw.
    ///
    /// `rate` is the most bytes to read per second. Damage is part of the answer, and raises
    /// nothing. Ctrl-C ends it.
    #[pyo3(signature = (
        *, rate: "int | None" = None, flaws_max: "int | None" = None, progress=None
    ))]
    fn verify<'py>(
        &self,
        py: Python<'py>,
        rate: Option<&Bound<'py, PyAny>>,
        flaws_max: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, Progress>>,
    ) -> PyResult<Verified> {
        let store = self.open.store(py)?;
        let options = crate::integrity::verify_options(rate, flaws_max, progress)?;
        let progress = options.progress.clone();
        Verified::from_rust(py, long(py, &progress, || store.verify(options))?)
    }

    /// Makes a backup of the store in another directory, or adds to it what is new. Ctrl-C ends it.
    #[pyo3(signature = (path, *, copy=false, progress=None))]
    fn backup(
        &self,
        py: Python<'_>,
        path: PathBuf,
        copy: bool,
        progress: Option<&Bound<'_, Progress>>,
    ) -> PyResult<BackedUp> {
        let (store, progress) = (self.open.store(py)?, progress::given(progress));
        let options = simkeep::integrity::BackupOptions::default().copy(copy);
        let options = options.progress(progress.clone());
        BackedUp::from_rust(py, long(py, &progress, || store.backup(path, options))?)
    }

    /// Seals everything, and publishes it in a directory as a generation, which a `Reader` opens.
    ///
    /// Takes the keywords of `publish`, and costs what it does. Ctrl-C ends it.
    #[pyo3(signature = (
        to, *, keep: "int | None" = None, grace: "_types.Seconds | None" = None, copy=false,
        check_kept=false, progress=None
    ))]
    fn publish<'py>(
        &self,
        py: Python<'py>,
        to: PathBuf,
        keep: Option<&Bound<'py, PyAny>>,
        grace: Option<&Bound<'py, PyAny>>,
        copy: bool,
        check_kept: bool,
        progress: Option<&Bound<'py, Progress>>,
    ) -> PyResult<Publication> {
        let (store, progress) = (self.open.store(py)?, progress::given(progress));
        let options = publish_options(keep, grace, (copy, check_kept), &progress)?;
        Publication::from_rust(py, long(py, &progress, || store.publish(to, options))?)
    }

    /// Registers an epoch of fingerprints that are made elsewhere, by name, and returns its number.
    ///
    /// A known name costs nothing.
    #[pyo3(signature = (
        name: "str", *, role: "_types.EpochRole | None" = None,
        bands: "_types.EpochBands | None" = None
    ))]
    fn register_epoch<'py>(
        &self,
        py: Python<'py>,
        name: &Bound<'py, PyAny>,
        role: Option<&Bound<'py, PyAny>>,
        bands: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<u32> {
        let (name, terms) = (arg::text(Arg::new("name"), name)?, epoch::terms(role, bands)?);
        Ok(self.call(py, |store| store.register_epoch(name, terms))?.number())
    }

    /// Begins an epoch of fingerprints that simkeep makes, and returns its number.
    ///
    /// From then on it is the newest of its role. Its table of document frequencies is copied into
    /// the store.
    #[pyo3(signature = (
        origin, *, role: "_types.EpochRole | None" = None, bands: "_types.EpochBands | None" = None
    ))]
    fn begin_epoch<'py>(
        &self,
        py: Python<'py>,
        origin: &Bound<'py, Origin>,
        role: Option<&Bound<'py, PyAny>>,
        bands: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<u32> {
        let (origin, terms) = (&origin.get().0, epoch::terms(role, bands)?);
        Ok(self.call(py, |store| store.begin_epoch(origin, terms))?.number())
    }

    /// Ends an epoch for good.
    ///
    /// At most `left` pages may be left behind without a fingerprint that is compared; `None` is
    /// for any number.
    #[pyo3(signature = (epoch: "int", *, left: "int | None" = 0))]
    fn end_epoch<'py>(
        &self,
        py: Python<'py>,
        epoch: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = left)] left: u64,
    ) -> PyResult<()> {
        let epoch = arg::epoch(Arg::new("epoch"), epoch)?;
        self.call(py, |store| store.end_epoch(epoch, left))
    }

    /// Gives the content that a page had at a time a fingerprint in another epoch.
    ///
    /// Neither a visit nor a change of the page.
    ///
    /// The answer is `"stored"`, `"known"`, or `"missing"` if there was no such content.
    #[pyo3(signature = (
        url: "str", at: "Time", fingerprint: "SupportsIndex | None", epoch: "int", *,
        digest: "bytes | bytearray | None" = None
    ))]
    fn restate<'py>(
        &self,
        py: Python<'py>,
        url: &Bound<'py, PyAny>,
        at: &Bound<'py, PyAny>,
        fingerprint: &Bound<'py, PyAny>,
        epoch: &Bound<'py, PyAny>,
        digest: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Stored> {
        let restatement = giving::restatement((url, at), (fingerprint, epoch), digest)?;
        self.call(py, |store| store.restate(restatement)).map(Stored::from)
    }

    /// Gives a page a weight or a class from a time on, without a visit.
    ///
    /// The answer is `"stored"`, `"known"`, or `"missing"` for a page that is not known.
    #[pyo3(signature = (
        url: "str", at: "Time", *, weight: "float | None" = None, class_: "int | None" = None
    ))]
    fn give<'py>(
        &self,
        py: Python<'py>,
        url: &Bound<'py, PyAny>,
        at: &Bound<'py, PyAny>,
        weight: Option<&Bound<'py, PyAny>>,
        class_: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Stored> {
        let giving = giving::giving((url, at), weight, class_)?;
        self.call(py, |store| store.give(giving)).map(Stored::from)
    }

    /// A moment of the store, which answers as it is now, whatever comes later.
    fn snapshot(&self, py: Python<'_>) -> PyResult<Py<Snapshot>> {
        let store = self.open.store(py)?;
        Snapshot::of(py, store.snapshot(), Some(self.open.birth))
    }

    /// Where the store is.
    #[getter]
    fn path(&self) -> PathBuf {
        self.open.path.clone()
    }

    /// Whether it was closed.
    #[getter]
    fn closed(&self) -> bool {
        self.open.is_closed()
    }

    /// Makes everything durable, ends the background work and releases the lock. May be called twice.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.open.close(py)
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (
        _class: "type[BaseException] | None" = None, raised: "BaseException | None" = None,
        _traceback: "TracebackType | None" = None
    ))]
    fn __exit__<'py>(
        &self,
        py: Python<'py>,
        _class: Option<&Bound<'py, PyAny>>,
        raised: Option<&Bound<'py, PyAny>>,
        _traceback: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        self.open.leave(py, raised.filter(|raised| !raised.is_none()))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let path = open::shown(py, &self.open.path)?;
        let state = if self.open.is_closed() { " closed" } else { "" };
        Ok(format!("<simkeep.Store {path}{state}>"))
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(no_pickle("Store", "open a Reader of its path, which can be"))
    }
}
