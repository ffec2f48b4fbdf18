//! The pages to visit next, and plans for visits.

use std::ffi::c_char;

use simkeep::due;

use crate::abi;
use crate::argument::interval;
use crate::call::{done, found, make};
use crate::failure::Failure;
use crate::open::snapshot::{self, SnapshotHandle};
use crate::open::store::{StoreHandle, open, process};
use crate::schedule::decisions::Decisions;
use crate::schedule::due_query::{DueQuery, read};
use crate::schedule::plan::Plan;

/// Finds the most valuable pages to visit, the best first. Get the pages by
/// `simkeep_decisions_next`. Free the result with `simkeep_decisions_free`. Any thread. The first
/// page costs reading 28 bytes for each page of the store; each further page costs some
/// microseconds.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_snapshot_due(
    snapshot: *const SnapshotHandle,
    due_query: *const DueQuery,
    error: *mut *mut Failure,
) -> Option<Box<Decisions>> {
    make("simkeep_snapshot_due", error, || {
        let (snapshot, process) = snapshot::open(snapshot)?;
        Decisions::lazy(snapshot.due(&read(due_query)?), process)
    })
}

/// Leases the pages that `simkeep_snapshot_due` finds, except pages already leased and pages with
/// no value. A lease ends when the page is observed or released, or when the `now_ms` of a later
/// call is more than `lease_s` seconds after the `now_ms` of this call. Leases are in memory only:
/// after a reopen no page is leased. Free the result with `simkeep_decisions_free`. Any thread;
/// concurrent calls get different pages. Costs as much as `simkeep_snapshot_due`.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_lease_due(
    store: *mut StoreHandle,
    due_query: *const DueQuery,
    lease_s: u64,
    error: *mut *mut Failure,
) -> Option<Box<Decisions>> {
    make("simkeep_lease_due", error, || {
        let (of, process) = (open(store)?, process(store)?);
        let lease = interval(lease_s, "lease_s")?;
        Decisions::found(of.lease_due(&read(due_query)?, lease)?, Some(process))
    })
}

/// Ends the lease of a page that was not visited, so that it can be leased again. `SIMKEEP_NONE` if
/// it was not leased. Any thread; costs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_release(
    store: *mut StoreHandle,
    url: *const c_char,
    url_len: usize,
    error: *mut *mut Failure,
) -> i32 {
    found("simkeep_release", error, || {
        let had = open(store)?.release(abi::text(url, url_len, "url")?)?;
        Ok(had.then_some(()))
    })
}

/// Returns the recent number of visits a day, as input for a plan. Counts visits to pages under the
/// prefix of `due_query`, in the 28 days up to the latest visit, or since the first visit in the
/// store. Any thread. Costs reading 28 bytes for each page, twice, and the histories of up to
/// 131,072 pages.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_snapshot_pace(
    snapshot: *const SnapshotHandle,
    due_query: *const DueQuery,
    per_day: *mut f64,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_snapshot_pace", error, || {
        let snapshot = snapshot::open(snapshot)?.0;
        abi::check_put(per_day, "per_day")?;
        abi::put(per_day, (read(due_query)?).pace(snapshot)?, "per_day")
    })
}

/// Plans the use of a number of visits a day in the long run, with the policy, prefix and rules of
/// `due_query`; the budget and the hints are ignored. The plan uses the visits known now, so make a
/// new plan regularly, for example once a day. Free the result with `simkeep_plan_free`. Any
/// thread. Costs reading 28 bytes for each page, up to a second for a million pages.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_snapshot_plan(
    snapshot: *const SnapshotHandle,
    due_query: *const DueQuery,
    per_day: f64,
    error: *mut *mut Failure,
) -> Option<Box<Plan>> {
    make("simkeep_snapshot_plan", error, || {
        let snapshot = snapshot::open(snapshot)?.0;
        Ok(Plan::new(due::Plan::of(snapshot, &read(due_query)?, per_day)?))
    })
}
