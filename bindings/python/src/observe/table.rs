//! Tables of observations in Arrow: columns named like arguments.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;
use simkeep::{Digest, Epoch, Time, Weight};

use crate::convert::arg::{self, Arg, optional};
use crate::convert::word;
use crate::observe::row::CheckedVisit;
use crate::observe::visit_result::{HtmlSource, ResultArguments, VisitResult};
use crate::streams::arrow::ArrowChunks;
use crate::streams::column::{ImportedColumn, only_column};

/// The columns of a chunk by name. A missing column has no value in any row.
#[derive(Default)]
struct VisitTable {
    url: Option<ImportedColumn>,
    at: Option<ImportedColumn>,
    seen: Option<ImportedColumn>,
    to: Option<ImportedColumn>,
    text: Option<ImportedColumn>,
    html: Option<ImportedColumn>,
    encoding: Option<ImportedColumn>,
    fingerprint: Option<ImportedColumn>,
    epoch: Option<ImportedColumn>,
    digest: Option<ImportedColumn>,
    status: Option<ImportedColumn>,
    modified: Option<ImportedColumn>,
    etag: Option<ImportedColumn>,
    canonical: Option<ImportedColumn>,
    bytes: Option<ImportedColumn>,
    conditional: Option<ImportedColumn>,
    weight: Option<ImportedColumn>,
    class_: Option<ImportedColumn>,
    /// The time of all visits, if no column has times.
    time: Option<Time>,
    rows: usize,
    /// The number of earlier rows.
    before: u64,
}

/// The names of columns, if they differ from the arguments.
#[derive(Clone, Debug, Default)]
pub(crate) struct VisitColumnNames {
    url: Option<String>,
    text: Option<String>,
    html: Option<String>,
    at: Option<VisitTimes>,
}

/// The times of the visits of a table.
#[derive(Clone, Debug)]
enum VisitTimes {
    /// A column with this name. If there is no such column, the name itself is parsed as a time.
    Named(String),
    /// A single time for all visits.
    Time(Time),
}

impl VisitColumnNames {
    /// Creates the names from arguments.
    pub(crate) fn new(
        url: Option<&Bound<'_, PyAny>>,
        text: Option<&Bound<'_, PyAny>>,
        html: Option<&Bound<'_, PyAny>>,
        at: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<VisitColumnNames> {
        let name =
            |arg, given| optional(given, |name| Ok(arg::text(Arg::new(arg), name)?.to_owned()));
        let at = optional(at, |at| {
            if at.is_instance_of::<PyString>() {
                return Ok(VisitTimes::Named(arg::text(Arg::new("at"), at)?.to_owned()));
            }
            arg::time(Arg::new("at"), at).map(VisitTimes::Time)
        })?;
        Ok(VisitColumnNames {
            url: name("url", url)?,
            text: name("text", text)?,
            html: name("html", html)?,
            at,
        })
    }

    /// Whether no names are set.
    pub(crate) fn are_usual(&self) -> bool {
        matches!(self, VisitColumnNames { url: None, text: None, html: None, at: None })
    }

    /// Returns the argument for a column name, if any.
    fn argument<'a>(&self, name: &'a str) -> Option<&'a str> {
        let named = |column: &Option<String>| column.as_deref() == Some(name);
        let is_at = matches!(&self.at, Some(VisitTimes::Named(at)) if at == name);
        Some(match name {
            _ if named(&self.url) => "url",
            _ if named(&self.text) => "text",
            _ if named(&self.html) => "html",
            _ if is_at => "at",
            "url" if self.url.is_some() => return None,
            "text" if self.text.is_some() => return None,
            "html" if self.html.is_some() => return None,
            "at" if self.at.is_some() => return None,
            usual => usual,
        })
    }
}

/// Returns the rows of the chunks.
pub(crate) fn rows(
    chunks: ArrowChunks,
    columns: VisitColumnNames,
) -> impl Iterator<Item = PyResult<CheckedVisit>> {
    let mut before = 0;
    let tables = chunks.map(move |chunk| {
        let table = VisitTable::new(&chunk?, &columns, before)?;
        before += table.rows as u64;
        PyResult::Ok(table)
    });
    tables.flat_map(|table| {
        let (table, failed) = match table {
            Ok(table) => (Some(table), None),
            Err(e) => (None, Some(Err(e))),
        };
        let rows =
            table.into_iter().flat_map(|table| (0..table.rows).map(move |row| table.row(row)));
        failed.into_iter().chain(rows)
    })
}

impl VisitTable {
    /// Creates the columns of a chunk. Columns with other names are ignored.
    fn new(chunk: &ArrayRef, columns: &VisitColumnNames, before: u64) -> PyResult<VisitTable> {
        let DataType::Struct(fields) = chunk.data_type() else {
            let message =
                format!("observations must be a table, not an array of {}", chunk.data_type());
            return Err(PyTypeError::new_err(message));
        };
        let chunk = chunk.as_struct();
        let mut table = VisitTable { rows: chunk.len(), before, ..VisitTable::default() };
        for (field, array) in fields.iter().zip(chunk.columns()) {
            let argument = columns.argument(field.name());
            let Some((name, column)) = argument.and_then(|name| table.column(name)) else {
                continue;
            };
            if column.is_some() {
                return Err(PyValueError::new_err(format!("the column {name} occurs twice")));
            }
            *column =
                Some(ImportedColumn::new(only_column(Arc::clone(array)), Arg::new(name), before));
        }
        table.check(columns)?;
        Ok(table)
    }

    /// Checks that named and mandatory columns exist.
    fn check(&mut self, columns: &VisitColumnNames) -> PyResult<()> {
        let named = [
            ("url", &columns.url, &self.url),
            ("text", &columns.text, &self.text),
            ("html", &columns.html, &self.html),
        ];
        for (argument, name, column) in named {
            if let (Some(name), None) = (name, column) {
                let message = format!("there is no column {name:?}, which {argument}= names");
                return Err(PyValueError::new_err(message));
            }
        }
        if self.url.is_none() {
            let message = "there is no column url: name the column of URLs with url=";
            return Err(PyValueError::new_err(message));
        }
        self.time = match (&columns.at, &self.at) {
            (Some(VisitTimes::Time(time)), _) => Some(*time),
            (_, Some(_)) => None,
            (Some(VisitTimes::Named(at)), None) => {
                let time = simkeep_formats::time(at).map(Time::from_ms_unchecked);
                let message = || format!("at is {at:?}, which is neither a column nor a time");
                Some(time.ok_or_else(|| PyValueError::new_err(message()))?)
            }
            (None, None) => {
                let message = "there is no column at: name the column of times with at=, or give one \
                               time for all visits";
                return Err(PyValueError::new_err(message));
            }
        };
        Ok(())
    }

    /// Returns the field of a column, and its name.
    fn column(&mut self, name: &str) -> Option<(&'static str, &mut Option<ImportedColumn>)> {
        Some(match name {
            "url" => ("url", &mut self.url),
            "at" => ("at", &mut self.at),
            "seen" => ("seen", &mut self.seen),
            "to" => ("to", &mut self.to),
            "text" => ("text", &mut self.text),
            "html" => ("html", &mut self.html),
            "encoding" => ("encoding", &mut self.encoding),
            "fingerprint" => ("fingerprint", &mut self.fingerprint),
            "epoch" => ("epoch", &mut self.epoch),
            "digest" => ("digest", &mut self.digest),
            "status" => ("status", &mut self.status),
            "modified" => ("modified", &mut self.modified),
            "etag" => ("etag", &mut self.etag),
            "canonical" => ("canonical", &mut self.canonical),
            "bytes" => ("bytes", &mut self.bytes),
            "conditional" => ("conditional", &mut self.conditional),
            "weight" => ("weight", &mut self.weight),
            "class_" | "class" => ("class_", &mut self.class_),
            _ => return None,
        })
    }

    /// Returns the index of a row in the whole table.
    fn at(&self, row: usize) -> u64 {
        self.before + row as u64
    }

    fn row(&self, row: usize) -> PyResult<CheckedVisit> {
        let null = |name: &'static str| Arg::row(name, self.at(row)).wrong("is null");
        let digest = get(&self.digest, row, ImportedColumn::bytes)?.map(|bytes| {
            <[u8; 16]>::try_from(bytes).map(Digest).map_err(|_| {
                let what = format!("must be 16 bytes, not {}", bytes.len());
                Arg::row("digest", self.at(row)).wrong(what)
            })
        });
        let weight = get(&self.weight, row, ImportedColumn::float)?.map(Weight::from);
        if weight.is_some_and(|weight| !weight.is_sound()) {
            let what = "must be finite and greater than 0";
            return Err(Arg::row("weight", self.at(row)).wrong(what));
        }
        Ok(CheckedVisit {
            url: get(&self.url, row, ImportedColumn::text)?.ok_or_else(|| null("url"))?.to_owned(),
            time: match self.time {
                Some(time) => time,
                None => get(&self.at, row, ImportedColumn::time)?.ok_or_else(|| null("at"))?,
            },
            what: self.what(row, digest.is_some())?,
            digest: digest.transpose()?,
            status: get(&self.status, row, whole(u16::MAX))?,
            modified: get(&self.modified, row, ImportedColumn::time)?,
            etag: self.etag(row)?,
            canonical: get(&self.canonical, row, ImportedColumn::text)?.map(str::to_owned),
            bytes: get(&self.bytes, row, whole(u64::MAX))?,
            conditional: get(&self.conditional, row, ImportedColumn::flag)?.unwrap_or(false),
            weight,
            class: get(&self.class_, row, whole(u32::MAX))?,
        })
    }

    fn etag(&self, row: usize) -> PyResult<Option<Vec<u8>>> {
        let etag = get(&self.etag, row, ImportedColumn::bytes)?;
        etag.map(|etag| arg::sendable(Arg::row("etag", self.at(row)), etag.to_vec())).transpose()
    }

    /// Returns the result of a visit.
    fn what(&self, row: usize, digest: bool) -> PyResult<VisitResult> {
        let seen = get(&self.seen, row, ImportedColumn::text)?.map(|seen| {
            word::Seen::named(seen).ok_or_else(|| {
                let names = word::Seen::values();
                Arg::row("seen", self.at(row))
                    .wrong(format!("must be one of {names}, not {seen:?}"))
            })
        });
        let parts = ResultArguments {
            seen: seen.transpose()?,
            to: get(&self.to, row, ImportedColumn::text)?,
            text: get(&self.text, row, ImportedColumn::text)?.map(Cow::Borrowed),
            html: self.html(row)?,
            encoding: get(&self.encoding, row, ImportedColumn::text)?,
            fingerprint: get(&self.fingerprint, row, ImportedColumn::fingerprint)?,
            epoch: get(&self.epoch, row, whole(u32::MAX))?.map(Epoch::from_number),
            also: None,
            digest,
        };
        // A null in a column of fingerprints means content without a fingerprint, for example a
        // short text.
        if self.fingerprint.is_some() && parts.is_empty() {
            return Ok(VisitResult::Content { fingerprint: None, epoch: None, also: None });
        }
        let name = if self.html.is_some() && self.text.is_none() { "html" } else { "text" };
        if (self.text.is_some() || self.html.is_some()) && parts.is_empty() {
            let what = "is missing: drop rows without content first, for example with drop_nulls of polars";
            return Err(PyTypeError::new_err(format!("{} {what}", Arg::row(name, self.at(row)))));
        }
        parts.what(Arg::row("seen", self.at(row)))
    }

    fn html(&self, row: usize) -> PyResult<Option<HtmlSource>> {
        Ok(match &self.html {
            Some(column) if column.is_binary() => {
                column.bytes(row)?.map(|bytes| HtmlSource::Bytes(bytes.to_vec()))
            }
            Some(column) => column.text(row)?.map(|text| HtmlSource::Text(text.to_owned())),
            None => None,
        })
    }
}

/// Returns the value in a column, if the column exists.
fn get<'t, T>(
    column: &'t Option<ImportedColumn>,
    row: usize,
    get: impl FnOnce(&'t ImportedColumn, usize) -> PyResult<Option<T>>,
) -> PyResult<Option<T>> {
    column.as_ref().map_or(Ok(None), |column| get(column, row))
}

/// Returns an integer up to `max`.
fn whole<T: Copy + Into<u64> + TryFrom<u64>>(
    max: T,
) -> impl FnOnce(&ImportedColumn, usize) -> PyResult<Option<T>> {
    move |column, row| {
        let found = column.whole(row, max.into())?;
        let fits = |found| T::try_from(found).map_err(|_| column.value_error(row, "is too large"));
        found.map(fits).transpose()
    }
}
