//! Closable iterators over the content of a store.

use std::marker::PhantomData;
use std::sync::Arc;
use std::vec::IntoIter;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use parking_lot::Mutex;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use simkeep::Result;

use crate::call::fork::ForkCheck;
use crate::convert::error::OrRaise;
use crate::convert::typed::output_type;
use crate::convert::value::FromRust;
use crate::streams::batches::{Batches, RowBatches, UnreadRows, refused};
use crate::streams::columns::BatchFunction;
use crate::streams::source::{StreamSource, StreamStep};

/// The maximum number of items that are read ahead.
const AHEAD_MAX: usize = 64;

/// An item of a stream.
pub(crate) trait StreamItem: Send + Sized + 'static {
    /// The Python type.
    type Object: FromRust<Self> + for<'py> IntoPyObject<'py>;

    /// The table rows of items, if they have any.
    const TABLE: Option<BatchFunction<Self>> = None;
}

/// The state of a stream.
enum StreamState<T> {
    /// No thread is reading.
    Ready(Box<dyn StreamSource<T>>),
    /// A thread is reading.
    Busy,
    /// The stream was read to its end.
    Ended,
    /// The stream is being read as a table.
    Taken,
    Closed,
}

const BUSY: &str = "another thread is reading this stream";
const TAKEN: &str = "this was read already, or is being read";
const CLOSED: &str = "this stream is closed";

/// An iterator over the content of a store or the results of a query.
///
/// A stream keeps its snapshot until the stream ends or is closed. A `with` statement closes the
/// stream.
#[pyclass(frozen, generic, subclass, module = "simkeep")]
pub(crate) struct Stream {
    inner: Arc<dyn ErasedStream>,
    /// The process in which the stream can be read; `None` for any process.
    birth: Option<ForkCheck>,
}

struct StreamInner<T> {
    state: StreamState<T>,
    ahead: IntoIter<T>,
    /// The number of items to read next.
    most: usize,
}

impl Stream {
    pub(crate) fn new<T: StreamItem>(
        source: impl StreamSource<T> + 'static,
        birth: Option<ForkCheck>,
    ) -> Stream {
        let state = StreamState::Ready(Box::new(source));
        let inner = StreamInner { state, ahead: IntoIter::default(), most: 1 };
        Stream { inner: Arc::new(Mutex::new(inner)), birth }
    }
}

#[pymethods]
impl Stream {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<NextItem<'py>>> {
        if let Some(birth) = self.birth {
            birth.check(py)?;
        }
        Ok(self.inner.next(py)?.map(NextItem))
    }

    /// Ends the iteration, and releases its source. May be called twice.
    fn close(&self, py: Python<'_>) {
        self.inner.close(py);
    }

    /// The remaining items as Arrow columns; ends the iteration.
    ///
    /// With `signed=True`, fingerprints have the type `int64`, bit for bit.
    #[pyo3(signature = (*, signed=false))]
    fn batches(&self, signed: bool) -> PyResult<Batches> {
        Batches::lazy(self.inner.rest()?, signed, self.birth)
    }

    /// The remaining items as a stream of Arrow data in a capsule.
    ///
    /// The first consumer that requests a row takes the items, and ends the iteration.
    #[pyo3(signature = (requested_schema: "object" = None) -> "CapsuleType")]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let unread = Arc::clone(&self.inner).unread()?;
        let batches = Bound::new(py, Batches::lazy(unread, false, self.birth)?)?;
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

/// The source of a stream is dropped while other threads may run, since a join has a thread that
/// must end first.
impl Drop for Stream {
    fn drop(&mut self) {
        // A table that reads the stream continues.
        if Arc::get_mut(&mut self.inner).is_some() {
            // Without an interpreter, the source is dropped directly.
            let _ = Python::try_attach(|py| self.inner.close(py));
        }
    }
}

/// The next item of a stream.
struct NextItem<'py>(Bound<'py, PyAny>);

impl<'py> IntoPyObject<'py> for NextItem<'py> {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;
    // The type variable of the class `Stream`.
    output_type!("builtins", "_T_co");

    fn into_pyobject(self, _py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.0)
    }
}

/// A stream of `T`.
pub(crate) struct StreamOf<T>(Stream, PhantomData<fn() -> T>);

impl<T> StreamOf<T> {
    pub(crate) fn new<I: StreamItem<Object = T>>(
        source: impl StreamSource<I> + 'static,
        birth: Option<ForkCheck>,
    ) -> StreamOf<T> {
        StreamOf(Stream::new(source, birth), PhantomData)
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

/// A stream of items whose type is hidden from its user.
trait ErasedStream: Send + Sync {
    /// Returns the next item as a Python object.
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>>;

    fn close(&self, py: Python<'_>);

    /// Takes the remaining items, to be read as a table.
    fn rest(&self) -> PyResult<Arc<dyn UnreadRows>>;

    /// Returns the remaining items as a table, which the first consumer of a row takes.
    fn unread(self: Arc<Self>) -> PyResult<Arc<dyn UnreadRows>>;
}

impl<T: StreamItem> ErasedStream for Mutex<StreamInner<T>> {
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        loop {
            let (mut source, most) = {
                let mut inner = self.lock();
                if let Some(item) = inner.ahead.next() {
                    drop(inner);
                    return T::Object::from_rust(py, item)?.into_bound_py_any(py).map(Some);
                }
                let most = inner.most;
                match std::mem::replace(&mut inner.state, StreamState::Busy) {
                    StreamState::Ready(source) => (source, most),
                    StreamState::Busy => return Err(PyValueError::new_err(BUSY)),
                    over @ (StreamState::Ended | StreamState::Taken | StreamState::Closed) => {
                        inner.state = over;
                        return Ok(None);
                    }
                }
            };
            let (step, source) = py.detach(|| {
                let step = source.next(most);
                (step, source)
            });
            let left = self.lock().put(step, source);
            match left {
                ReadRemainder::Ahead => {}
                ReadRemainder::Waiting => {
                    if let Err(e) = py.check_signals() {
                        self.close(py);
                        return Err(e);
                    }
                }
                ReadRemainder::Over(over, source) => {
                    py.detach(|| drop(source));
                    return over.or_raise(py).map(|()| None);
                }
            }
        }
    }

    fn close(&self, py: Python<'_>) {
        let state = {
            let mut inner = self.lock();
            inner.ahead = IntoIter::default();
            std::mem::replace(&mut inner.state, StreamState::Closed)
        };
        if let StreamState::Ready(source) = state {
            py.detach(|| drop(source));
        }
    }

    fn rest(&self) -> PyResult<Arc<dyn UnreadRows>> {
        let table = table::<T>()?;
        let rest = self.lock().rest().map_err(PyValueError::new_err)?;
        Ok(Arc::new(StreamRows { inner: Arc::new(Mutex::new(rest)), table }))
    }

    fn unread(self: Arc<Self>) -> PyResult<Arc<dyn UnreadRows>> {
        Ok(Arc::new(StreamRows { table: table::<T>()?, inner: self }))
    }
}

/// Returns the function that converts items to rows.
fn table<T: StreamItem>() -> PyResult<BatchFunction<T>> {
    T::TABLE.ok_or_else(|| PyTypeError::new_err("this stream has no columns"))
}

/// The state of a stream after a read.
enum ReadRemainder<T> {
    /// Items were read ahead.
    Ahead,
    /// There is no item yet.
    Waiting,
    /// The stream has ended. The caller drops the source.
    Over(Result<()>, Box<dyn StreamSource<T>>),
}

impl<T> StreamInner<T> {
    /// Stores the result of a read, and returns the source.
    fn put(
        &mut self,
        step: Result<StreamStep<Vec<T>>>,
        source: Box<dyn StreamSource<T>>,
    ) -> ReadRemainder<T> {
        // The stream may have been closed meanwhile.
        if !matches!(self.state, StreamState::Busy) {
            return ReadRemainder::Over(Ok(()), source);
        }
        match step {
            Ok(StreamStep::Some(items)) => {
                self.ahead = items.into_iter();
                self.most = (self.most * 2).min(AHEAD_MAX);
                self.state = StreamState::Ready(source);
                ReadRemainder::Ahead
            }
            Ok(StreamStep::Waiting) => {
                self.state = StreamState::Ready(source);
                ReadRemainder::Waiting
            }
            Ok(StreamStep::End) => {
                self.state = StreamState::Ended;
                ReadRemainder::Over(Ok(()), source)
            }
            Err(e) => {
                self.state = StreamState::Ended;
                ReadRemainder::Over(Err(e), source)
            }
        }
    }

    /// Checks whether the remaining items can be taken.
    fn check(&self) -> Result<(), &'static str> {
        match self.state {
            StreamState::Ready(_) | StreamState::Ended => Ok(()),
            StreamState::Busy => Err(BUSY),
            StreamState::Taken => Err(TAKEN),
            StreamState::Closed => Err(CLOSED),
        }
    }

    /// Takes the remaining items.
    fn rest(&mut self) -> Result<StreamInner<T>, &'static str> {
        self.check()?;
        let state = std::mem::replace(&mut self.state, StreamState::Taken);
        Ok(StreamInner { state, ahead: std::mem::take(&mut self.ahead), most: self.most })
    }
}

/// A stream that is read as a table.
struct StreamRows<T> {
    inner: Arc<Mutex<StreamInner<T>>>,
    table: BatchFunction<T>,
}

impl<T: StreamItem> UnreadRows for StreamRows<T> {
    fn empty(&self, signed: bool) -> Result<RecordBatch, ArrowError> {
        (self.table)(&[], signed)
    }

    fn check(&self) -> Result<(), &'static str> {
        self.inner.lock().check()
    }

    fn take(&self, signed: bool) -> Result<Box<dyn RowBatches>, &'static str> {
        let rest = self.inner.lock().rest()?;
        Ok(Box::new(RemainingRows { rest, table: self.table, signed }))
    }
}

/// The remainder of a stream, read as a table.
struct RemainingRows<T> {
    rest: StreamInner<T>,
    table: BatchFunction<T>,
    signed: bool,
}

impl<T: StreamItem> RowBatches for RemainingRows<T> {
    fn next(&mut self, most: usize) -> Result<StreamStep<RecordBatch>, ArrowError> {
        let batch = |items: &[T]| (self.table)(items, self.signed).map(StreamStep::Some);
        let ahead = std::mem::take(&mut self.rest.ahead);
        if !ahead.as_slice().is_empty() {
            return batch(ahead.as_slice());
        }
        let StreamState::Ready(source) = &mut self.rest.state else { return Ok(StreamStep::End) };
        match source.next(most).map_err(refused)? {
            StreamStep::Some(items) => batch(&items),
            StreamStep::Waiting => Ok(StreamStep::Waiting),
            StreamStep::End => Ok(StreamStep::End),
        }
    }
}
