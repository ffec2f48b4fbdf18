//! Weights and classes that pages are given without a visit.

use std::ffi::c_char;

use simkeep::{Answer, GiveOutcome, Giving as CrateGiving, Observation, Request, Store, Time};

use crate::abi::{self, plain};
use crate::argument;
use crate::call::{done, found};
use crate::failure::{Failure, Result};
use crate::open::store::{StoreHandle, open};
use crate::write::observe::at_row;
use crate::write::visit::{SIMKEEP_HAS_CLASS, SIMKEEP_HAS_WEIGHT};

/// What a page is given from a time on. Set all to 0, then what there is, with the bits of it in `has`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Giving {
    /// The page. Read only by the call that is given it.
    pub url: *const c_char,
    /// Its length in bytes.
    pub url_len: usize,
    /// From when on, in milliseconds since 1970.
    pub time_ms: i64,
    /// The weight: finite and positive.
    pub weight: f64,
    /// Which of the two there are: `SIMKEEP_HAS_WEIGHT`, `SIMKEEP_HAS_CLASS`, or both.
    pub has: u32,
    /// The class.
    pub page_class: u32,
}

plain!(Giving, up to page_class);

/// What can be given.
const KNOWN: u32 = SIMKEEP_HAS_WEIGHT | SIMKEEP_HAS_CLASS;

impl Giving {
    /// What is given as simkeep takes it: a weight, a class, or both.
    fn requests<'a>(&self) -> Result<impl Iterator<Item = CrateGiving<'a>> + use<'a>> {
        let url = abi::text(self.url, self.url_len, "url")?;
        if self.has & !KNOWN != 0 || self.has & KNOWN == 0 {
            let what = "it must be SIMKEEP_HAS_WEIGHT, SIMKEEP_HAS_CLASS, or both";
            return Err(Failure::argument("has", what));
        }
        let (time, weight, class) = (argument::time(self.time_ms)?, self.weight, self.page_class);
        let is_there = |bit| self.has & bit != 0;
        let weight = is_there(SIMKEEP_HAS_WEIGHT).then(|| Observation::weighed(url, time, weight));
        let class = is_there(SIMKEEP_HAS_CLASS).then(|| Observation::classed(url, time, class));
        Ok(weight.into_iter().chain(class))
    }
}

/// Gives many pages weights or classes, without a visit: that is no change of a page. If one of them is
/// invalid none is stored, and `simkeep_error_row` says which. `size` is `sizeof *givings`. `missing`
/// gets how many of them are of pages that the store does not know, of which nothing is stored; it may
/// be NULL. Any thread. Costs what `simkeep_observe_batch` does, without searches.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_give_batch(
    store: *mut StoreHandle,
    givings: *const Giving,
    count: usize,
    size: usize,
    missing: *mut u64,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_give_batch", error, || {
        let store = open(store)?;
        let givings = abi::structures(givings, count, size, "givings")?;
        let unknown = batch(store, &givings)?;
        if missing.is_null() { Ok(()) } else { abi::put(missing, unknown, "missing") }
    })
}

/// Gives, and says of how many givings the page is not known.
fn batch(store: &Store, givings: &[Giving]) -> Result<u64> {
    let (mut requests, mut rows) = (Vec::new(), Vec::new());
    for (row, giving) in givings.iter().enumerate() {
        for request in giving.requests().map_err(|failure| failure.at(row))? {
            requests.push(Request::Give(request));
            rows.push(row);
        }
    }
    let answers = store.request_batch(&requests);
    let answers =
        answers.map_err(|error| at_row(store, error, rows.iter().copied().zip(&requests)))?;
    let mut missing: Vec<usize> = Vec::new();
    for (row, answer) in rows.iter().zip(answers) {
        if answer == Answer::Given(GiveOutcome::Missing) {
            missing.push(*row);
        }
    }
    missing.dedup();
    Ok(missing.len() as u64)
}

/// Gives a page one thing.
fn give<'a>(
    function: &'static str,
    store: *mut StoreHandle,
    (url, url_len, time_ms): (*const c_char, usize, i64),
    error: *mut *mut Failure,
    giving: impl FnOnce(&'a str, Time) -> CrateGiving<'a>,
) -> i32 {
    found(function, error, || {
        let outcome =
            open(store)?.give(giving(abi::text(url, url_len, "url")?, argument::time(time_ms)?))?;
        Ok((outcome != GiveOutcome::Missing).then_some(()))
    })
}

/// Gives a page a weight from a time on, in milliseconds since 1970: how important it is, finite and
/// positive. That is neither a visit nor a change. `SIMKEEP_NONE` if the page is not known, and nothing
/// was stored. Any thread. Costs what `simkeep_observe` does, without a search.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_give_weight(
    store: *mut StoreHandle,
    url: *const c_char,
    url_len: usize,
    time_ms: i64,
    weight: f64,
    error: *mut *mut Failure,
) -> i32 {
    give("simkeep_give_weight", store, (url, url_len, time_ms), error, |url, time| {
        Observation::weighed(url, time, weight)
    })
}

/// Gives a page a class from a time on, in milliseconds since 1970, as `simkeep_give_weight` gives a
/// weight. What a class means is up to whoever gives it.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_give_class(
    store: *mut StoreHandle,
    url: *const c_char,
    url_len: usize,
    time_ms: i64,
    page_class: u32,
    error: *mut *mut Failure,
) -> i32 {
    give("simkeep_give_class", store, (url, url_len, time_ms), error, |url, time| {
        Observation::classed(url, time, page_class)
    })
}
