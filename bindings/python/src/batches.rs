//! Columns for whoever reads Arrow: objects with `__arrow_c_stream__`.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::arrow;
use crate::columns::{Kind, of_items, schema_of};
use crate::fork::Birth;
use crate::stream::{Source, Step, Unread};

/// How many rows a batch of a stream has, about.
const ROWS: usize = 4096;

/// A table in Arrow's form, for what reads that: pyarrow, polars, pandas, DuckDB.
///
/// One that a store is read for is read once, batch by batch, as far as whoever reads it goes: by the first
/// that asks for a row. To ask for its columns reads nothing.
#[pyclass(frozen, module = "simkeep")]
pub(crate) struct Batches {
    rows: Rows,
}

enum Rows {
    Whole(RecordBatch),
    Lazy { unread: Arc<dyn Unread>, kind: Kind, signed: bool, birth: Option<Birth> },
}

impl Batches {
    /// A table that is there.
    pub(crate) fn whole(batch: Result<RecordBatch, ArrowError>) -> PyResult<Batches> {
        let batch = batch.map_err(|e| PyValueError::new_err(e.to_string()))?;
        Ok(Batches { rows: Rows::Whole(batch) })
    }

    /// A table that is made of items as it is read.
    pub(crate) fn lazy(
        unread: Arc<dyn Unread>,
        kind: Kind,
        signed: bool,
        birth: Option<Birth>,
    ) -> Batches {
        Batches { rows: Rows::Lazy { unread, kind, signed, birth } }
    }
}

#[pymethods]
impl Batches {
    /// A stream of Arrow data, in a capsule.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface allows to leave a wish alone.
        let _ = requested_schema;
        match &self.rows {
            Rows::Whole(batch) => {
                let batches = [Ok(batch.clone())].into_iter();
                arrow::capsule(py, Box::new(Whole { schema: batch.schema(), batches }))
            }
            Rows::Lazy { unread, kind, signed, birth } => {
                birth.map_or(Ok(()), |birth| birth.check(py))?;
                unread.check().map_err(PyValueError::new_err)?;
                let (unread, schema) = (Some(Arc::clone(unread)), schema_of(*kind, *signed));
                let (kind, signed, birth) = (*kind, *signed, *birth);
                let lazy = Lazy { unread, source: None, kind, signed, schema, birth };
                arrow::capsule(py, Box::new(lazy))
            }
        }
    }
}

/// A table that is there.
struct Whole {
    schema: SchemaRef,
    batches: std::array::IntoIter<Result<RecordBatch, ArrowError>, 1>,
}

impl Iterator for Whole {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batches.next()
    }
}

impl RecordBatchReader for Whole {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// A table that is made as it is read. Whoever reads it may be detached from the interpreter, or not.
struct Lazy {
    /// Until the first row is asked for: DuckDB takes a stream twice, first for the columns alone.
    unread: Option<Arc<dyn Unread>>,
    source: Option<Box<dyn Source>>,
    kind: Kind,
    signed: bool,
    schema: SchemaRef,
    birth: Option<Birth>,
}

impl Lazy {
    fn read(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let refused = |e: String| ArrowError::ExternalError(e.into());
        if self.birth.is_some_and(|birth| !birth.is_here()) {
            return Err(refused(simkeep::Error::Forked.to_string()));
        }
        if let Some(unread) = self.unread.take() {
            self.source = Some(unread.take().map_err(|why| refused(why.to_owned()))?);
        }
        loop {
            let Some(source) = &mut self.source else { return Ok(None) };
            match source.next(ROWS) {
                Ok(Step::Some(items)) => return of_items(self.kind, self.signed, &items).map(Some),
                Ok(Step::Waiting) => {
                    if let Some(Err(e)) = Python::try_attach(|py| py.check_signals()) {
                        self.source = None;
                        return Err(refused(e.to_string()));
                    }
                }
                Ok(Step::End) => {
                    self.source = None;
                    return Ok(None);
                }
                Err(e) => {
                    self.source = None;
                    return Err(refused(e.to_string()));
                }
            }
        }
    }
}

impl Iterator for Lazy {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

impl RecordBatchReader for Lazy {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
