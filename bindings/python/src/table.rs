//! Tables of observations, as Arrow has them: rows of columns that are named like arguments.

use std::collections::HashMap;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use simkeep::{Digest, Epoch, Weight};

use crate::arg::Arg;
use crate::arrow::Chunks;
use crate::column::Column;
use crate::row::{Html, Row, What};

/// What columns there may be.
const NAMES: [&str; 13] = [
    "url",
    "at",
    "seen",
    "text",
    "html",
    "encoding",
    "fingerprint",
    "epoch",
    "digest",
    "status",
    "modified",
    "weight",
    "class_",
];

/// The columns of a chunk.
struct Table {
    columns: HashMap<&'static str, Column>,
    rows: usize,
    /// How many rows came before.
    before: u64,
}

/// The rows of what has come.
pub(crate) fn rows(chunks: Chunks) -> impl Iterator<Item = PyResult<Row>> {
    let mut before = 0;
    let tables = chunks.map(move |chunk| {
        let table = Table::new(&chunk?, before)?;
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

impl Table {
    fn new(chunk: &ArrayRef, before: u64) -> PyResult<Table> {
        let DataType::Struct(fields) = chunk.data_type() else {
            let message =
                format!("observations must be a table, not an array of {}", chunk.data_type());
            return Err(PyTypeError::new_err(message));
        };
        let chunk = chunk.as_struct();
        let mut columns = HashMap::new();
        for (field, array) in fields.iter().zip(chunk.columns()) {
            let name = if field.name() == "class" { "class_" } else { field.name() };
            let Some(name) = NAMES.iter().find(|known| **known == name) else {
                let message = format!("there is no column {:?} of observations", field.name());
                return Err(PyValueError::new_err(message));
            };
            let column = Column::new(array.clone(), Arg::new(name), before);
            if columns.insert(*name, column).is_some() {
                return Err(PyValueError::new_err(format!("the column {name} is there twice")));
            }
        }
        for name in ["url", "at"] {
            if !columns.contains_key(name) {
                return Err(PyValueError::new_err(format!("the column {name} is missing")));
            }
        }
        Ok(Table { columns, rows: chunk.len(), before })
    }

    /// What is in a column.
    fn get<'t, T>(
        &'t self,
        name: &str,
        row: usize,
        get: impl FnOnce(&'t Column, usize) -> PyResult<Option<T>>,
    ) -> PyResult<Option<T>> {
        self.columns.get(name).map_or(Ok(None), |column| get(column, row))
    }

    fn text(&self, name: &str, row: usize) -> PyResult<Option<&str>> {
        self.get(name, row, Column::text)
    }

    fn whole(&self, name: &str, row: usize, max: u64) -> PyResult<Option<u64>> {
        self.get(name, row, |column, row| column.whole(row, max))
    }

    /// A row of the whole.
    fn at(&self, row: usize) -> u64 {
        self.before + row as u64
    }

    fn row(&self, row: usize) -> PyResult<Row> {
        let null = |name: &'static str| Arg::row(name, self.at(row)).wrong("is null");
        let digest = self.get("digest", row, Column::bytes)?.map(|bytes| {
            <[u8; 16]>::try_from(bytes).map(Digest).map_err(|_| {
                let what = format!("must be 16 bytes, not {}", bytes.len());
                Arg::row("digest", self.at(row)).wrong(what)
            })
        });
        let weight = self.get("weight", row, Column::float)?.map(Weight::from);
        if weight.is_some_and(|weight| !weight.is_sound()) {
            let what = "must be finite and greater than 0";
            return Err(Arg::row("weight", self.at(row)).wrong(what));
        }
        Ok(Row {
            url: self.text("url", row)?.ok_or_else(|| null("url"))?.to_owned(),
            time: self.get("at", row, Column::time)?.ok_or_else(|| null("at"))?,
            what: self.what(row)?,
            digest: digest.transpose()?,
            status: self.whole("status", row, u64::from(u16::MAX))?.and_then(|v| v.try_into().ok()),
            modified: self.get("modified", row, Column::time)?,
            weight,
            class: self.whole("class_", row, u64::from(u32::MAX))?.and_then(|v| v.try_into().ok()),
        })
    }

    /// What a visit found. What excludes what is the same as for a row that is a dictionary: see
    /// `row.rs`.
    fn what(&self, row: usize) -> PyResult<What> {
        let wrong = |name, what: &str| Err(Arg::row(name, self.at(row)).wrong(what));
        let (text, html) = (self.text("text", row)?, self.html(row)?);
        let fingerprint = self.get("fingerprint", row, Column::fingerprint)?;
        let epoch = self.whole("epoch", row, u64::from(u32::MAX))?;
        let epoch = epoch.and_then(|epoch| epoch.try_into().ok()).map(Epoch::from_number);
        let encoding = self.text("encoding", row)?;
        let parts = [text.is_some(), html.is_some(), fingerprint.is_some()];
        let seen = match self.text("seen", row)? {
            None | Some("content") => None,
            Some("not-modified") => Some(What::NotModified),
            Some("gone") => Some(What::Gone),
            Some("failed") => Some(What::Failed),
            Some(other) => {
                let one = "must be one of content, not-modified, gone, failed, not";
                return wrong("seen", &format!("{one} {other:?}"));
            }
        };
        if let Some(what) = seen {
            if parts.contains(&true) || epoch.is_some() {
                let none = "is no content, so there is no text, html, fingerprint or epoch";
                return wrong("seen", none);
            }
            return Ok(what);
        }
        if parts.into_iter().filter(|some| *some).count() > 1 {
            return wrong("text", "excludes html and fingerprint, and these exclude each other");
        }
        if encoding.is_some() && !matches!(html, Some(Html::Bytes(_))) {
            return wrong("encoding", "is for html as bytes");
        }
        if epoch.is_some() && (text.is_some() || html.is_some()) {
            return wrong("epoch", "is for fingerprints, not for text or html");
        }
        if let Some(text) = text {
            return Ok(What::Text(text.to_owned()));
        }
        if let Some(html) = html {
            return Ok(What::Html(html, encoding.map(str::to_owned)));
        }
        let digest = self.get("digest", row, Column::bytes)?;
        if fingerprint.is_none() && epoch.is_none() && digest.is_none() {
            let missing = "is missing: give text, html, or a fingerprint; for content without one, its \
                 epoch or digest";
            return wrong("text", missing);
        }
        Ok(What::Content { fingerprint, epoch, also: None })
    }

    fn html(&self, row: usize) -> PyResult<Option<Html>> {
        Ok(match self.columns.get("html") {
            Some(column) if column.is_binary() => {
                column.bytes(row)?.map(|bytes| Html::Bytes(bytes.to_vec()))
            }
            Some(column) => column.text(row)?.map(|text| Html::Text(text.to_owned())),
            None => None,
        })
    }
}
