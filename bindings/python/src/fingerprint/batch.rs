//! Fingerprints of many texts at once, on all cores.

use std::panic::resume_unwind;
use std::thread;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use simkeep::Result;
use simkeep::fingerprint::Document;

use crate::convert::arg::{self, Arg};
use crate::convert::error::OrRaise;
use crate::convert::sequence;
use crate::convert::typed::{GetItemResult, Iter};
use crate::fingerprint::fingerprinter::Fingerprinter;
use crate::streams::arrow::{self, ArrowChunks};
use crate::streams::batches::Batches;
use crate::streams::column::ImportedColumn;
use crate::streams::columns::{Bits, columns};

/// The maximum number of bytes of texts between two checks for signals: some ten milliseconds of
/// work.
const BYTES: usize = 4 << 20;

/// The fingerprints of many texts, in order, with `None` for each text of fewer than eight words, and
/// for each null or `None`.
///
/// As Arrow data, the result is a table with the column `fingerprint`.
#[pyclass(frozen, sequence, module = "simkeep")]
pub(crate) struct Fingerprints {
    pub(crate) prints: Vec<Option<u64>>,
    /// The name of the recipe.
    recipe: String,
    /// The end of the name of each epoch with these fingerprints.
    pub(crate) epoch_name_end: String,
}

#[pymethods]
impl Fingerprints {
    fn __len__(&self) -> usize {
        self.prints.len()
    }

    fn __iter__(slf: &Bound<'_, Self>) -> PyResult<Iter<Option<u64>>> {
        sequence::iter(slf.as_any())
    }

    fn __getitem__(
        &self,
        index: &Bound<'_, PyAny>,
    ) -> PyResult<GetItemResult<Option<u64>, Vec<Option<u64>>>> {
        sequence::item(index, &self.prints, |print| Ok(*print))
    }

    /// The name of the recipe that made the fingerprints.
    #[getter]
    fn recipe(&self) -> &str {
        &self.recipe
    }

    /// The column `fingerprint`. With `signed=True` the type of the column is `int64`, bit for bit.
    #[pyo3(signature = (*, signed=false))]
    fn batches(&self, py: Python<'_>, signed: bool) -> PyResult<Batches> {
        Batches::whole(py.detach(|| {
            columns! {
                for print in &self.prints, signed;
                fingerprint: Option<Bits> = *print,
            }
        }))
    }

    /// The data of `batches`, as a stream of Arrow data in a capsule.
    #[pyo3(signature = (requested_schema: "object" = None) -> "CapsuleType")]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let batches = Bound::new(py, self.batches(py, false)?)?;
        batches.call_method1("__arrow_c_stream__", (requested_schema,))
    }

    fn __repr__(&self) -> String {
        format!("<simkeep.Fingerprints of {} by {}>", self.prints.len(), self.recipe)
    }
}

/// Computes the fingerprints of many texts with `Fingerprinter.of_page`, in order.
///
/// The texts may come from an iterable of `str`, or from a column of strings with
/// `__arrow_c_stream__`. The fingerprint of a null or `None` is `None`. The texts are copied. Runs on
/// all cores. Ctrl-C ends the call.
///
/// With polars, `df.with_columns(pl.DataFrame(simkeep.fingerprint_batch(df["text"])))` adds the
/// column `fingerprint` to a data frame.
///
/// To compare the fingerprints with the fingerprints of a store, use the store's recipe:
/// `recipe=store.origin(store.near_epoch)`. `near_batch` and `pairs_with` raise `EpochError` for
/// fingerprints of another recipe.
#[pyfunction]
#[pyo3(signature = (
    texts: "Iterable[str | None] | _types.ArrowStream | _types.ArrowArray", *,
    recipe: "str | Origin | None" = None, table=None
))]
pub(crate) fn fingerprint_batch<'py>(
    py: Python<'py>,
    texts: &Bound<'py, PyAny>,
    recipe: Option<&Bound<'py, PyAny>>,
    table: Option<&Bound<'py, crate::fingerprint::df::FrequencyTable>>,
) -> PyResult<Fingerprints> {
    let maker = Fingerprinter::new(py, recipe, table)?;
    let texts = all(Arg::new("texts"), texts)?;
    let mut prints = Vec::with_capacity(texts.len());
    let mut rest = &texts[..];
    while !rest.is_empty() {
        let mut bytes = 0;
        let some = rest.iter().take_while(|text| {
            let fits = bytes < BYTES;
            bytes += text.as_ref().map_or(0, String::len);
            fits
        });
        let (now, then) = rest.split_at(some.count());
        prints.extend(py.detach(|| made(&maker, now)).or_raise(py)?);
        py.check_signals()?;
        rest = then;
    }
    let (recipe, epoch_name_end) = (maker.recipe(), maker.epoch_name_end());
    Ok(Fingerprints { prints, recipe, epoch_name_end })
}

/// Copies the texts.
fn all(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<Vec<Option<String>>> {
    let expected = "an iterable of str, or a column of strings";
    if given.is_instance_of::<PyString>() || given.is_instance_of::<PyBytes>() {
        return Err(arg.type_error(expected, given));
    }
    if let Some(chunks) = arrow::chunks(arg, given)? {
        return of_chunks(arg, chunks);
    }
    let texts = given.try_iter().map_err(|_| arg.type_error(expected, given))?;
    let texts = (0..).zip(texts);
    let content = |row, text: &Bound<'_, PyAny>| Ok(arg::content(arg.at(row), text)?.into_owned());
    texts.map(|(row, text)| arg::optional(Some(&text?), |text| content(row, text))).collect()
}

fn of_chunks(arg: Arg, chunks: ArrowChunks) -> PyResult<Vec<Option<String>>> {
    let mut texts = Vec::new();
    for chunk in chunks {
        let column = ImportedColumn::new(chunk?, arg, texts.len() as u64);
        for row in 0..column.len() {
            texts.push(column.text(row)?.map(str::to_owned));
        }
    }
    Ok(texts)
}

/// Computes the fingerprints of texts on all cores.
fn made(maker: &Fingerprinter, texts: &[Option<String>]) -> Result<Vec<Option<u64>>> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(texts.len());
    let each = texts.len().div_ceil(threads.max(1)).max(1);
    thread::scope(|scope| {
        let some = |texts: &[Option<String>]| {
            maker.made(|maker| {
                let texts = texts.iter().map(Option::as_deref);
                texts
                    .map(|text| text.map_or(Ok(None), |t| maker.of_page(&Document::new(t))))
                    .collect()
            })
        };
        let mut parts = texts.chunks(each);
        let own = parts.next().unwrap_or_default();
        let others: Vec<_> = parts.map(|part| scope.spawn(move || some(part))).collect();
        let mut all: Vec<_> = some(own)?;
        for other in others {
            let prints: Result<Vec<_>, _> =
                other.join().unwrap_or_else(|panic| resume_unwind(panic));
            all.extend(prints?);
        }
        Ok(all)
    })
}
