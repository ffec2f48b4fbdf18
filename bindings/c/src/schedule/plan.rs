//! How a number of visits a day is spent for ever.

use std::ffi::c_char;

use simkeep::due;

use crate::abi;
use crate::call::{any_thread, done, free, make};
use crate::failure::Failure;
use crate::open::snapshot::{self, SnapshotHandle};
use crate::schedule::decisions::Decisions;
use crate::structure::structure;

/// A plan. Nothing changes it: any thread may use it.
#[derive(Debug)]
pub struct Plan {
    of: due::Plan,
}

const _: () = any_thread::<due::Plan>();

structure! {
    /// What comes of a plan.
    pub struct PlanNumbers, up to rarely_visited, from of: &due::Plan {
        per_day: f64 = of.per_day(),
        /// The visits a day that this comes to.
        visits_per_day: f64 = of.visits_per_day(),
        /// A page is due when a visit is worth this. It is infinite if there are too few visits.
        threshold: f64 = of.threshold(),
        /// For how much of the time a page is expected to be as it was last seen, from 0 to 1.
        freshness: f64 = of.freshness(),
        /// How many pages there are; of more than a million estimated.
        pages: f64 = of.pages(),
        rarely_visited: f64 = of.rarely_visited(),
    }
}

structure! {
    /// What a page is worth that nobody has visited.
    pub struct NewPage, up to every_s, from of: &due::NewPage {
        /// What a visit is worth, to be compared with the values of decisions.
        value: f64,
        /// How many times a day it is believed to change, by the pages of its host.
        per_day: f64 = of.rate.per_day,
        /// It changes less often than this with a probability of 5 %.
        per_day_low: f64 = of.rate.low,
        /// It changes more often than this with a probability of 5 %.
        per_day_high: f64 = of.rate.high,
        weight: f64,
        /// After how many seconds it is going to be visited again.
        every_s: u64 = of.every.seconds(),
    }
}

impl Plan {
    pub(crate) fn new(of: due::Plan) -> Plan {
        Plan { of }
    }
}

/// The plan of a handle.
pub(crate) fn of(plan: &Plan) -> &due::Plan {
    &plan.of
}

/// Copies what comes of a plan to where `numbers` points. `size` is `sizeof(simkeep_plan_numbers)`. Any
/// thread; costs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_plan_get(
    plan: *const Plan,
    numbers: *mut PlanNumbers,
    size: usize,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_plan_get", error, || {
        let told = PlanNumbers::new(&abi::handle(plan, "plan")?.of);
        abi::put_structure(numbers, size, &told, "numbers")
    })
}

/// Says what a page is worth that nobody has visited, where `new_page` points. `size` is
/// `sizeof(simkeep_new_page)`. Any thread. Reads nothing of the store.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_plan_of_new(
    plan: *const Plan,
    url: *const c_char,
    url_len: usize,
    new_page: *mut NewPage,
    size: usize,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_plan_of_new", error, || {
        let of = &abi::handle(plan, "plan")?.of;
        abi::room(new_page, size, "new_page")?;
        let new = of.of_new(abi::text(url, url_len, "url")?)?;
        abi::put_structure(new_page, size, &NewPage::new(&new), "new_page")
    })
}

/// Decides about one page by a plan, as `simkeep_snapshot_due` with that plan would. What it gives has
/// one decision, or none for an unknown page. The caller frees it with `simkeep_decisions_free`. Any
/// thread. Costs reading one record, and a search.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_snapshot_decide(
    snapshot: *const SnapshotHandle,
    url: *const c_char,
    url_len: usize,
    plan: *const Plan,
    error: *mut *mut Failure,
) -> Option<Box<Decisions>> {
    make("simkeep_snapshot_decide", error, || {
        let (snapshot, process) = snapshot::open(snapshot)?;
        let plan = &abi::handle(plan, "plan")?.of;
        let decision = plan.decide(snapshot, abi::text(url, url_len, "url")?)?;
        Decisions::found(decision.into_iter().collect(), process)
    })
}

/// Frees a plan. Does nothing for NULL. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_plan_free(plan: Option<Box<Plan>>) {
    free("simkeep_plan_free", plan);
}
