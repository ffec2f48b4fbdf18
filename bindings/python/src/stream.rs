//! Iterators over what is in a store, that can be closed.

use std::collections::VecDeque;
use std::marker::PhantomData;
use std::sync::Arc;

use parking_lot::Mutex;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::{PyClass, PyClassInitializer};
use simkeep::query::NearPair;
use simkeep::{Entry, Error, History, Page, Result, alias, cluster, inspect};

use crate::aliases::AliasSite;
use crate::batches::Batches;
use crate::cluster_changes::ClusterChange;
use crate::clustered::{Cluster, ClusteredPage, RankedPage};
use crate::columns::Kind;
use crate::differences::{Difference, ExactDifference};
use crate::due::Decision;
use crate::error::OrRaise;
use crate::fork::Birth;
use crate::history::HistoryEntry;
use crate::join::JoinedPair;
use crate::journal::Operation;
use crate::matches::{PagePair, Pair};
use crate::page::{Page as PageValue, StalePage};
use crate::segment::DumpLine;
use crate::typed::output_type;
use crate::value::FromRust;
use crate::{history, shares};

/// The most items that are read ahead.
const AHEAD_MAX: usize = 64;

/// One item.
pub(crate) enum Item {
    Page(Box<Page>),
    Entry(Arc<str>, Entry),
    History(String, History),
    Stale(simkeep::query::StalePage),
    Due(Box<simkeep::due::Decision>),
    Fingerprint(u64),
    Pair(NearPair),
    PagePair(simkeep::query::PagePair),
    Cluster(Box<cluster::Cluster>),
    ClusteredPage(Box<cluster::ClusteredPage>),
    ClusterChange(Box<cluster::ClusterChange>),
    AliasSite(Box<alias::AliasSite>),
    Difference(Box<simkeep::query::Difference>),
    ExactDifference(Box<simkeep::query::ExactDifference>),
    DumpLine(Box<inspect::DumpLine>),
    Operation(Box<inspect::Operation>),
    Joined(simkeep::join::Pair),
    Hand(simkeep::join::Hand),
    Ranked(cluster::RankedPage),
}

impl<'py> IntoPyObject<'py> for Item {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;
    // The type variable of the class `Stream`.
    output_type!("builtins", "_T_co");

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(match self {
            Item::Page(page) => object::<PageValue, _>(py, *page)?,
            Item::Entry(url, entry) => {
                (&*url, history::Entry::from_rust(py, entry)?).into_pyobject(py)?.into_any()
            }
            Item::History(url, history) => {
                (url, Vec::<HistoryEntry>::from_rust(py, history)?).into_pyobject(py)?.into_any()
            }
            Item::Stale(stale) => object::<StalePage, _>(py, stale)?,
            Item::Due(decision) => object::<Decision, _>(py, *decision)?,
            Item::Fingerprint(fingerprint) => fingerprint.into_pyobject(py)?.into_any(),
            Item::Pair(pair) => object::<Pair, _>(py, pair)?,
            Item::PagePair(pair) => object::<PagePair, _>(py, pair)?,
            Item::Cluster(of) => object::<Cluster, _>(py, *of)?,
            Item::ClusteredPage(page) => object::<ClusteredPage, _>(py, *page)?,
            Item::ClusterChange(of) => object::<ClusterChange, _>(py, *of)?,
            Item::AliasSite(site) => object::<AliasSite, _>(py, *site)?,
            Item::Difference(of) => object::<Difference, _>(py, *of)?,
            Item::ExactDifference(of) => object::<ExactDifference, _>(py, *of)?,
            Item::DumpLine(line) => object::<DumpLine, _>(py, *line)?,
            Item::Operation(of) => object::<Operation, _>(py, *of)?,
            Item::Joined(pair) => object::<JoinedPair, _>(py, pair)?,
            Item::Ranked(of) => object::<RankedPage, _>(py, of)?,
            Item::Hand(of) => shares::hand(py, of)?,
        })
    }
}

/// A value of a class of Python.
fn object<'py, C, T>(py: Python<'py>, of: T) -> PyResult<Bound<'py, PyAny>>
where
    C: FromRust<T> + PyClass + Into<PyClassInitializer<C>>,
{
    Ok(Bound::new(py, C::from_rust(py, of)?)?.into_any())
}

/// Where items come from.
pub(crate) trait Source: Send {
    /// The next items, as many as that or a few more. Waits no longer than `long::PAUSE`.
    fn next(&mut self, most: usize) -> Result<Step>;
}

/// Items that are taken by the first that asks for them; others are told why they get none.
pub(crate) trait Unread: Send + Sync {
    /// Whether they are still there.
    fn check(&self) -> Result<(), &'static str>;

    /// Takes them.
    fn take(&self) -> Result<Box<dyn Source>, &'static str>;
}

/// What came.
pub(crate) enum Step {
    Some(Vec<Item>),
    /// Nothing yet.
    Waiting,
    End,
}

/// Items that the crate iterates over.
pub(crate) struct Iterated<I, F> {
    items: I,
    make: F,
    /// Met behind items that come first.
    failed: Option<Error>,
}

impl<I, F> Iterated<I, F> {
    pub(crate) fn new(items: I, make: F) -> Self {
        Iterated { items, make, failed: None }
    }
}

impl<I, T, F> Source for Iterated<I, F>
where
    I: Iterator<Item = Result<T>> + Send,
    F: Fn(T) -> Item + Send,
{
    fn next(&mut self, most: usize) -> Result<Step> {
        let mut items = Vec::with_capacity(most);
        if let Some(e) = self.failed.take() {
            return Err(e);
        }
        for item in self.items.by_ref().take(most) {
            match item {
                Ok(item) => items.push((self.make)(item)),
                Err(e) => {
                    self.failed = Some(e);
                    break;
                }
            }
        }
        match self.failed.take_if(|_| items.is_empty()) {
            Some(e) => Err(e),
            None if items.is_empty() => Ok(Step::End),
            None => Ok(Step::Some(items)),
        }
    }
}

/// Where a stream stands.
enum State {
    /// Nobody is reading.
    Ready(Box<dyn Source>),
    /// A thread is reading.
    Busy,
    /// It was read to its end.
    Ended,
    /// It is read as a table.
    Taken,
    Closed,
}

const BUSY: &str = "another thread is reading this stream";
const TAKEN: &str = "this was read already, or is being read";
const CLOSED: &str = "this stream is closed";

/// An iterator over what a store holds or finds.
///
/// It keeps the snapshot that it reads until it ends or is closed; a `with` statement closes it.
#[pyclass(frozen, generic, subclass, module = "simkeep")]
pub(crate) struct Stream {
    inner: Arc<Mutex<Inner>>,
    /// What its columns are, if it has any.
    kind: Option<Kind>,
    /// In which process it is read, if not in any.
    birth: Option<Birth>,
}

struct Inner {
    state: State,
    ahead: VecDeque<Item>,
    /// How many to read next.
    most: usize,
}

impl Stream {
    pub(crate) fn new(
        source: impl Source + 'static,
        kind: Option<Kind>,
        birth: Option<Birth>,
    ) -> Stream {
        let state = State::Ready(Box::new(source));
        let inner = Inner { state, ahead: VecDeque::new(), most: 1 };
        Stream { inner: Arc::new(Mutex::new(inner)), kind, birth }
    }
}

#[pymethods]
impl Stream {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Item>> {
        if let Some(birth) = self.birth {
            birth.check(py)?;
        }
        loop {
            let (mut source, most) = {
                let mut inner = self.inner.lock();
                if let Some(item) = inner.ahead.pop_front() {
                    drop(inner);
                    return Ok(Some(item));
                }
                let most = inner.most;
                match std::mem::replace(&mut inner.state, State::Busy) {
                    State::Ready(source) => (source, most),
                    State::Busy => return Err(PyValueError::new_err(BUSY)),
                    over @ (State::Ended | State::Taken | State::Closed) => {
                        inner.state = over;
                        return Ok(None);
                    }
                }
            };
            let (step, source) = py.detach(|| {
                let step = source.next(most);
                (step, source)
            });
            let left = self.take(step, source);
            match left {
                Left::Ahead => {}
                Left::Waiting => {
                    if let Err(e) = py.check_signals() {
                        self.close(py);
                        return Err(e);
                    }
                }
                Left::Over(over, source) => {
                    py.detach(|| drop(source));
                    return over.or_raise(py).map(|()| None);
                }
            }
        }
    }

    /// Ends the iteration, and lets go of what it reads. May be called twice.
    fn close(&self, py: Python<'_>) {
        let state = {
            let mut inner = self.inner.lock();
            inner.ahead.clear();
            std::mem::replace(&mut inner.state, State::Closed)
        };
        py.detach(|| drop(state));
    }

    /// What is left, as columns for whoever reads Arrow, and ends the iteration.
    ///
    /// Fingerprints are `int64`, bit for bit, with `signed=True`.
    #[pyo3(signature = (*, signed=false))]
    fn batches(&self, signed: bool) -> PyResult<Batches> {
        let kind = self.columns()?;
        let rest = rest(&mut self.inner.lock()).map_err(PyValueError::new_err)?;
        Ok(Batches::lazy(Arc::new(Mutex::new(Some(rest))), kind, signed, self.birth))
    }

    /// What is left, as a stream of Arrow data in a capsule.
    ///
    /// Whoever asks for a row takes it, and ends the iteration.
    #[pyo3(signature = (requested_schema: "object" = None) -> "CapsuleType")]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let unread: Arc<dyn Unread> = Arc::<Mutex<Inner>>::clone(&self.inner);
        let batches = Bound::new(py, Batches::lazy(unread, self.columns()?, false, self.birth))?;
        batches.call_method1("__arrow_c_stream__", (requested_schema,))
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_raised: "object"))]
    fn __exit__(&self, py: Python<'_>, _raised: &Bound<'_, PyAny>) {
        self.close(py);
    }
}

impl Stream {
    /// What its columns are.
    fn columns(&self) -> PyResult<Kind> {
        self.kind.ok_or_else(|| PyTypeError::new_err("such a stream has no columns"))
    }
}

/// Whether somebody can take what is left.
fn check(inner: &Inner) -> Result<(), &'static str> {
    match inner.state {
        State::Ready(_) | State::Ended => Ok(()),
        State::Busy => Err(BUSY),
        State::Taken => Err(TAKEN),
        State::Closed => Err(CLOSED),
    }
}

/// What is left, for whoever reads it from now on.
fn rest(inner: &mut Inner) -> Result<Rest, &'static str> {
    check(inner)?;
    let then = match std::mem::replace(&mut inner.state, State::Taken) {
        State::Ready(source) => Some(source),
        _ => None,
    };
    Ok(Rest { ahead: std::mem::take(&mut inner.ahead).into(), then })
}

/// A stream that nobody goes on with yet.
impl Unread for Mutex<Inner> {
    fn check(&self) -> Result<(), &'static str> {
        check(&self.lock())
    }

    fn take(&self) -> Result<Box<dyn Source>, &'static str> {
        Ok(Box::new(rest(&mut self.lock())?))
    }
}

/// What a stream has left to batches.
impl Unread for Mutex<Option<Rest>> {
    fn check(&self) -> Result<(), &'static str> {
        self.lock().as_ref().map(|_| ()).ok_or(TAKEN)
    }

    fn take(&self) -> Result<Box<dyn Source>, &'static str> {
        Ok(Box::new(self.lock().take().ok_or(TAKEN)?))
    }
}

/// What is left of a stream.
struct Rest {
    ahead: Vec<Item>,
    then: Option<Box<dyn Source>>,
}

impl Source for Rest {
    fn next(&mut self, most: usize) -> Result<Step> {
        if !self.ahead.is_empty() {
            return Ok(Step::Some(std::mem::take(&mut self.ahead)));
        }
        self.then.as_mut().map_or(Ok(Step::End), |then| then.next(most))
    }
}

/// A stream of `T`.
pub(crate) struct StreamOf<T>(Stream, PhantomData<fn() -> T>);

impl<T> From<Stream> for StreamOf<T> {
    fn from(stream: Stream) -> StreamOf<T> {
        StreamOf(stream, PhantomData)
    }
}

impl<'py, T: IntoPyObject<'py>> IntoPyObject<'py> for StreamOf<T> {
    type Target = Stream;
    type Output = Bound<'py, Stream>;
    type Error = PyErr;
    output_type!(pyo3::type_hint_subscript!(
        <Stream as IntoPyObject<'py>>::OUTPUT_TYPE,
        T::OUTPUT_TYPE
    ));

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, Stream>> {
        Bound::new(py, self.0)
    }
}

/// What is left of a read.
enum Left {
    /// Items.
    Ahead,
    /// Nothing yet.
    Waiting,
    /// The end, with the source to be let go of.
    Over(Result<()>, Box<dyn Source>),
}

impl Stream {
    /// Takes what was read, and the source back.
    fn take(&self, step: Result<Step>, source: Box<dyn Source>) -> Left {
        let mut inner = self.inner.lock();
        // It may have been closed meanwhile.
        if !matches!(inner.state, State::Busy) {
            return Left::Over(Ok(()), source);
        }
        match step {
            Ok(Step::Some(items)) => {
                inner.ahead.extend(items);
                inner.most = (inner.most * 2).min(AHEAD_MAX);
                inner.state = State::Ready(source);
                Left::Ahead
            }
            Ok(Step::Waiting) => {
                inner.state = State::Ready(source);
                Left::Waiting
            }
            Ok(Step::End) => {
                inner.state = State::Ended;
                Left::Over(Ok(()), source)
            }
            Err(e) => {
                inner.state = State::Ended;
                Left::Over(Err(e), source)
            }
        }
    }
}

/// What it reads goes while others may run: a join has a thread that must end first.
impl Drop for Stream {
    fn drop(&mut self) {
        // What reads it as a table goes on.
        let Some(inner) = Arc::get_mut(&mut self.inner) else { return };
        if let State::Ready(source) = std::mem::replace(&mut inner.get_mut().state, State::Closed) {
            // Where the interpreter is gone, it goes by itself.
            let _ = Python::try_attach(|py| py.detach(|| drop(source)));
        }
    }
}
