//! Sets weights and classes of pages without a visit.

use std::ffi::c_char;

use simkeep::{
    Operation, OperationResult, PropertyOutcome, PropertyUpdate as CrateUpdate, Store, Time,
};

use crate::abi::{self, plain};
use crate::argument;
use crate::call::{done, found};
use crate::failure::{Failure, Result};
use crate::open::store::{StoreHandle, open};
use crate::write::observe::at_row;
use crate::write::visit::{SIMKEEP_HAS_CLASS, SIMKEEP_HAS_WEIGHT};

/// Properties of a page from a time on. Set all fields to 0, then set the required fields, with
/// their bits in `has`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct PropertyUpdate {
    /// The URL of the page. Read only during a call.
    pub url: *const c_char,
    /// The length of `url` in bytes.
    pub url_len: usize,
    /// The time from which on the properties apply, in milliseconds since 1970.
    pub time_ms: i64,
    /// The weight: finite and positive.
    pub weight: f64,
    /// The properties that are set: `SIMKEEP_HAS_WEIGHT`, `SIMKEEP_HAS_CLASS`, or both.
    pub has: u32,
    /// The class.
    pub page_class: u32,
}

plain!(PropertyUpdate, up to page_class);

/// The supported properties.
const KNOWN: u32 = SIMKEEP_HAS_WEIGHT | SIMKEEP_HAS_CLASS;

impl PropertyUpdate {
    /// Converts to the crate's updates: a weight, a class, or both.
    fn requests<'a>(&self) -> Result<impl Iterator<Item = CrateUpdate<'a>> + use<'a>> {
        let url = abi::text(self.url, self.url_len, "url")?;
        if self.has & !KNOWN != 0 || self.has & KNOWN == 0 {
            let what = "it must be SIMKEEP_HAS_WEIGHT, SIMKEEP_HAS_CLASS, or both";
            return Err(Failure::argument("has", what));
        }
        let (time, weight, class) = (argument::time(self.time_ms)?, self.weight, self.page_class);
        let is_there = |bit| self.has & bit != 0;
        let weight = is_there(SIMKEEP_HAS_WEIGHT).then(|| CrateUpdate::weight(url, time, weight));
        let class = is_there(SIMKEEP_HAS_CLASS).then(|| CrateUpdate::class(url, time, class));
        Ok(weight.into_iter().chain(class))
    }
}

/// Sets weights or classes of many pages, without a visit. Properties do not change a page. If one
/// element is invalid, no property is stored, and `simkeep_error_row` is its index. `size` is the
/// `sizeof` of an element. `missing` receives the number of elements for unknown pages, for which
/// nothing is stored, and may be NULL. Any thread. Costs as much as `simkeep_observe_batch`,
/// without searches.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_set_property_batch(
    store: *mut StoreHandle,
    updates: *const PropertyUpdate,
    count: usize,
    size: usize,
    missing: *mut u64,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_set_property_batch", error, || {
        let store = open(store)?;
        let updates = abi::structures(updates, count, size, "updates")?;
        let unknown = batch(store, &updates)?;
        if missing.is_null() { Ok(()) } else { abi::put(missing, unknown, "missing") }
    })
}

/// Sets properties, and returns the number of unknown pages.
fn batch(store: &Store, updates: &[PropertyUpdate]) -> Result<u64> {
    let (mut requests, mut rows) = (Vec::new(), Vec::new());
    for (row, update) in updates.iter().enumerate() {
        for request in update.requests().map_err(|failure| failure.at(row))? {
            requests.push(Operation::SetProperty(request));
            rows.push(row);
        }
    }
    let answers = store.write_batch(&requests);
    let answers =
        answers.map_err(|error| at_row(store, error, rows.iter().copied().zip(&requests)))?;
    let mut missing: Vec<usize> = Vec::new();
    for (row, answer) in rows.iter().zip(answers) {
        if answer == OperationResult::PropertySet(PropertyOutcome::Missing) {
            missing.push(*row);
        }
    }
    missing.dedup();
    Ok(missing.len() as u64)
}

/// Sets one property of a page.
fn set<'a>(
    function: &'static str,
    store: *mut StoreHandle,
    (url, url_len, time_ms): (*const c_char, usize, i64),
    error: *mut *mut Failure,
    update: impl FnOnce(&'a str, Time) -> CrateUpdate<'a>,
) -> i32 {
    found(function, error, || {
        let outcome = open(store)?
            .set_property(update(abi::text(url, url_len, "url")?, argument::time(time_ms)?))?;
        Ok((outcome != PropertyOutcome::Missing).then_some(()))
    })
}

/// Sets the weight of a page from a time on, in milliseconds since 1970; finite and positive.
/// Setting a weight is neither a visit nor a change of the page. `SIMKEEP_NONE` if the page is
/// unknown; then no weight was stored. Any thread. Costs as much as `simkeep_observe`, without a
/// search.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_set_weight(
    store: *mut StoreHandle,
    url: *const c_char,
    url_len: usize,
    time_ms: i64,
    weight: f64,
    error: *mut *mut Failure,
) -> i32 {
    set("simkeep_set_weight", store, (url, url_len, time_ms), error, |url, time| {
        CrateUpdate::weight(url, time, weight)
    })
}

/// Sets the class of a page from a time on, in milliseconds since 1970, like `simkeep_set_weight`.
/// The caller defines the meaning of a class.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_set_class(
    store: *mut StoreHandle,
    url: *const c_char,
    url_len: usize,
    time_ms: i64,
    page_class: u32,
    error: *mut *mut Failure,
) -> i32 {
    set("simkeep_set_class", store, (url, url_len, time_ms), error, |url, time| {
        CrateUpdate::class(url, time, page_class)
    })
}
