//! Loads: the caller's thread runs what gives the observations, another one stores them.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use simkeep::load::{LoadOptions, Loaded};
use simkeep::{Error, Result, Store};

use crate::arg::{self, Arg, optional};
use crate::arrow;
use crate::error::OrRaise;
use crate::long::{PAUSE, thread_error};
use crate::makers::Makers;
use crate::observation;
use crate::progress::{self, Progress};
use crate::row::{Ready, Row};
use crate::table;

/// How many rows are handed on together.
const ROWS: usize = 1024;
/// How many such lots may wait.
const LOTS: usize = 4;

/// What is handed on.
enum Lot {
    Rows(Vec<Row>),
    /// There are no more: without it a load that is broken off would store what came before.
    End,
}

/// The settings of a load.
pub(crate) fn options(
    memory_bytes: Option<&Bound<'_, PyAny>>,
    segment_pages: Option<&Bound<'_, PyAny>>,
    progress: Option<&Bound<'_, Progress>>,
) -> PyResult<LoadOptions> {
    let mut options = LoadOptions::default().progress(progress::given(progress));
    if let Some(bytes) = optional(memory_bytes, |v| arg::size(Arg::new("memory_bytes"), v))? {
        options.memory_bytes = bytes;
    }
    if let Some(pages) = optional(segment_pages, |v| arg::count(Arg::new("segment_pages"), v))? {
        options.segment_pages = pages;
    }
    Ok(options)
}

/// What gives observations.
fn each<'py>(given: &Bound<'py, PyAny>) -> PyResult<Box<dyn Iterator<Item = PyResult<Row>> + 'py>> {
    let arg = Arg::new("observations");
    let expected = "an iterable of Observations or dicts, or a table";
    if let Some(chunks) = arrow::chunks(arg, given)? {
        return Ok(Box::new(table::rows(chunks)));
    }
    if given.is_instance_of::<PyString>() || given.is_instance_of::<PyDict>() {
        return Err(arg.type_error(expected, given));
    }
    let all = given.try_iter().map_err(|_| arg.type_error(expected, given))?;
    Ok(Box::new((0..).zip(all).map(|(number, one)| observation::row(&one?, number))))
}

/// All rows.
pub(crate) fn rows(given: &Bound<'_, PyAny>) -> PyResult<Vec<Row>> {
    each(given)?.collect()
}

/// Loads observations.
pub(crate) fn load(
    py: Python<'_>,
    store: &Store,
    makers: &Makers,
    given: &Bound<'_, PyAny>,
    options: LoadOptions,
) -> PyResult<Loaded> {
    let rows = each(given)?;
    let progress = options.progress.clone();
    thread::scope(|scope| {
        let (send, lots) = sync_channel(LOTS);
        let name = "simkeep-load".to_owned();
        let thread = thread::Builder::new()
            .name(name)
            .spawn_scoped(scope, move || store.load(Taken::new(lots, makers), options))
            .map_err(thread_error)
            .or_raise(py)?;
        let given = give(py, rows, &send);
        if given.is_err() {
            progress.cancel();
        }
        // Without its end, where that was not given.
        drop(send);
        let mut signal = Ok(());
        while !thread.is_finished() {
            py.detach(|| thread::park_timeout(PAUSE / 10));
            if signal.is_ok() {
                signal = py.check_signals();
                if signal.is_err() {
                    progress.cancel();
                }
            }
        }
        let loaded = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        given?;
        signal?;
        loaded.or_raise(py)
    })
}

/// Hands on all rows, and the end; or until nobody takes them any more.
fn give(
    py: Python<'_>,
    rows: impl Iterator<Item = PyResult<Row>>,
    send: &SyncSender<Lot>,
) -> PyResult<()> {
    let mut lot = Vec::with_capacity(ROWS);
    for row in rows {
        lot.push(row?);
        if lot.len() == ROWS && !hand_on(py, send, Lot::Rows(std::mem::take(&mut lot)))? {
            return Ok(());
        }
    }
    if hand_on(py, send, Lot::Rows(lot))? {
        hand_on(py, send, Lot::End)?;
    }
    Ok(())
}

/// Hands on a lot. Returns whether anybody takes it.
fn hand_on(py: Python<'_>, send: &SyncSender<Lot>, mut lot: Lot) -> PyResult<bool> {
    loop {
        lot = match send.try_send(lot) {
            Ok(()) => return Ok(true),
            Err(TrySendError::Disconnected(_)) => return Ok(false),
            Err(TrySendError::Full(lot)) => lot,
        };
        py.detach(|| thread::park_timeout(PAUSE / 50));
        py.check_signals()?;
    }
}

/// The observations, as the load takes them.
struct Taken<'m> {
    lots: Receiver<Lot>,
    makers: &'m Makers,
    rows: std::vec::IntoIter<Row>,
    ended: bool,
}

impl<'m> Taken<'m> {
    fn new(lots: Receiver<Lot>, makers: &'m Makers) -> Taken<'m> {
        Taken { lots, makers, rows: Vec::new().into_iter(), ended: false }
    }
}

impl Iterator for Taken<'_> {
    type Item = Result<Ready>;

    fn next(&mut self) -> Option<Result<Ready>> {
        loop {
            if let Some(row) = self.rows.next() {
                return Some(self.makers.ready(row));
            }
            if self.ended {
                return None;
            }
            match self.lots.recv() {
                Ok(Lot::Rows(rows)) => self.rows = rows.into_iter(),
                Ok(Lot::End) => self.ended = true,
                // Whoever gave them was stopped.
                Err(_) => {
                    self.ended = true;
                    return Some(Err(Error::Cancelled));
                }
            }
        }
    }
}
