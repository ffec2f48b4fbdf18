//! Columns in Arrow format: objects with `__arrow_c_stream__`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::call::fork::ForkCheck;
use crate::call::long::PAUSE;
use crate::streams::arrow;
use crate::streams::source::StreamStep;

/// The approximate number of rows in a batch of a stream.
const ROWS: usize = 4096;

/// Rows that arrive in batches.
pub(crate) trait RowBatches: Send {
    /// Returns the next rows: `most` rows, or a few more. Waits no longer than `long::PAUSE`.
    fn next(&mut self, most: usize) -> Result<StreamStep<RecordBatch>, ArrowError>;
}

/// Rows that the first consumer takes; other consumers get an error.
pub(crate) trait UnreadRows: Send + Sync {
    /// Returns a batch without rows, which has the columns.
    fn empty(&self, signed: bool) -> Result<RecordBatch, ArrowError>;

    /// Checks whether the rows are still available.
    fn check(&self) -> Result<(), &'static str>;

    /// Takes the rows. With `signed`, fingerprints are signed, bit for bit.
    fn take(&self, signed: bool) -> Result<Box<dyn RowBatches>, &'static str>;
}

/// A table in Arrow format, for pyarrow, polars, pandas, DuckDB.
///
/// A table that reads a store can be read once, batch by batch and lazily, by the first consumer
/// that requests a row. Requesting the columns of a table reads no data.
#[pyclass(frozen, module = "simkeep")]
pub(crate) struct Batches {
    of: BatchesSource,
}

enum BatchesSource {
    Whole(RecordBatch),
    Lazy { unread: Arc<dyn UnreadRows>, signed: bool, schema: SchemaRef, birth: Option<ForkCheck> },
}

fn raised(e: &ArrowError) -> PyErr {
    PyValueError::new_err(e.to_string())
}

impl Batches {
    /// Creates a table that is already in memory.
    pub(crate) fn whole(batch: Result<RecordBatch, ArrowError>) -> PyResult<Batches> {
        Ok(Batches { of: BatchesSource::Whole(batch.map_err(|e| raised(&e))?) })
    }

    /// Creates a table that is built from items while it is read.
    pub(crate) fn lazy(
        unread: Arc<dyn UnreadRows>,
        signed: bool,
        birth: Option<ForkCheck>,
    ) -> PyResult<Batches> {
        let schema = unread.empty(signed).map_err(|e| raised(&e))?.schema();
        Ok(Batches { of: BatchesSource::Lazy { unread, signed, schema, birth } })
    }
}

#[pymethods]
impl Batches {
    /// A stream of Arrow data, in a capsule.
    #[pyo3(signature = (requested_schema: "object" = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface allows ignoring the requested schema.
        let _ = requested_schema;
        match &self.of {
            BatchesSource::Whole(batch) => {
                let batches = [Ok(batch.clone())].into_iter();
                arrow::capsule(py, Box::new(SingleBatchReader { schema: batch.schema(), batches }))
            }
            BatchesSource::Lazy { unread, signed, schema, birth } => {
                birth.map_or(Ok(()), |birth| birth.check(py))?;
                unread.check().map_err(PyValueError::new_err)?;
                let lazy = LazyBatchReader {
                    unread: Some(Arc::clone(unread)),
                    rows: None,
                    signed: *signed,
                    schema: Arc::clone(schema),
                    birth: *birth,
                    looked: Instant::now(),
                };
                arrow::capsule(py, Box::new(lazy))
            }
        }
    }
}

/// A table in memory.
struct SingleBatchReader {
    schema: SchemaRef,
    batches: std::array::IntoIter<Result<RecordBatch, ArrowError>, 1>,
}

impl Iterator for SingleBatchReader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batches.next()
    }
}

impl RecordBatchReader for SingleBatchReader {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// A table that is built while it is read. The consumer of the table may or may not be attached to
/// the interpreter.
struct LazyBatchReader {
    /// The rows, until the first row is requested. DuckDB takes a stream twice, first for the
    /// columns alone.
    unread: Option<Arc<dyn UnreadRows>>,
    rows: Option<Box<dyn RowBatches>>,
    signed: bool,
    schema: SchemaRef,
    birth: Option<ForkCheck>,
    /// The time of the last check for signals.
    looked: Instant,
}

/// Creates an error for a consumer of Arrow. In C an error is a text that ends with its first NUL.
pub(crate) fn refused(e: impl std::fmt::Display) -> ArrowError {
    ArrowError::ExternalError(e.to_string().replace('\0', "\u{fffd}").into())
}

impl LazyBatchReader {
    fn read(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        if self.birth.is_some_and(|birth| !birth.is_current_process()) {
            return Err(refused(simkeep::Error::Forked));
        }
        if let Some(unread) = &self.unread {
            // Only attached threads may take the lock: see `fork.rs`.
            let taken = Python::try_attach(|_| unread.take(self.signed))
                .unwrap_or(Err("the Python interpreter has ended"));
            self.rows = Some(taken.map_err(refused)?);
            self.unread = None;
        }
        loop {
            if self.looked.elapsed() >= PAUSE {
                self.look()?;
            }
            let Some(rows) = &mut self.rows else { return Ok(None) };
            match rows.next(ROWS) {
                Ok(StreamStep::Some(batch)) => return Ok(Some(batch)),
                Ok(StreamStep::Waiting) => {}
                Ok(StreamStep::End) => {
                    self.rows = None;
                    return Ok(None);
                }
                Err(e) => {
                    self.rows = None;
                    return Err(e);
                }
            }
        }
    }

    /// Checks for signals, and ends the table if a signal raises an exception.
    fn look(&mut self) -> Result<(), ArrowError> {
        let raised = Python::try_attach(|py| {
            let raised = py.check_signals().err()?;
            // Printing runs Python, which would raise the pending exception again.
            let error = refused(&raised);
            // The consumer replaces this error with its own, so Ctrl-C is raised again afterwards.
            if raised.is_instance_of::<PyKeyboardInterrupt>(py) {
                let again = py.import("_thread").and_then(|m| m.call_method0("interrupt_main"));
                return Some(again.err().map_or(error, refused));
            }
            Some(error)
        });
        self.looked = Instant::now();
        match raised.flatten() {
            Some(error) => {
                self.rows = None;
                Err(error)
            }
            None => Ok(()),
        }
    }
}

impl Iterator for LazyBatchReader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        // The caller is C, which no panic may reach.
        catch_unwind(AssertUnwindSafe(|| self.read().transpose())).unwrap_or_else(|_| {
            self.rows = None;
            Some(Err(refused("simkeep panicked, which is a bug in simkeep; please report it")))
        })
    }
}

impl RecordBatchReader for LazyBatchReader {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
