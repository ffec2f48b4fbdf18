//! Plans for the use of a number of visits a day in the long run.

use std::ffi::c_char;

use simkeep::due;

use crate::abi;
use crate::call::{assert_thread_safe, done, free, make};
use crate::failure::Failure;
use crate::open::snapshot::{self, SnapshotHandle};
use crate::schedule::decisions::Decisions;
use crate::structure::structure;

/// A plan. Immutable, so any thread may use it.
#[derive(Debug)]
pub struct Plan {
    of: due::Plan,
}

const _: () = assert_thread_safe::<due::Plan>();

structure! {
    /// Summary figures of a plan.
    pub struct PlanNumbers, up to rarely_visited, from of: &due::Plan {
        per_day: f64 = of.per_day(),
        /// The resulting visits a day.
        visits_per_day: f64 = of.visits_per_day(),
        /// The value of a visit at which a page is due. The threshold is infinite if there are too
        /// few visits.
        threshold: f64 = of.threshold(),
        /// The expected fraction of time for which a page is unchanged since its last visit, from 0
        /// to 1.
        freshness: f64 = of.freshness(),
        /// The number of pages. Above a million, the number is an estimate.
        pages: f64 = of.pages(),
        rarely_visited: f64 = of.rarely_visited(),
    }
}

structure! {
    /// The values of a page without visits.
    pub struct NewPage, up to every_s, from of: &due::NewPage {
        /// The value of a visit, comparable with the values of decisions.
        value: f64,
        /// The estimated number of changes a day, from the pages of its host.
        per_day: f64 = of.rate.per_day,
        /// The bound below which the change rate lies with a probability of 5 %.
        per_day_low: f64 = of.rate.low,
        /// The bound above which the change rate lies with a probability of 5 %.
        per_day_high: f64 = of.rate.high,
        weight: f64,
        /// The seconds between visits.
        every_s: u64 = of.every.seconds(),
    }
}

impl Plan {
    pub(crate) fn new(of: due::Plan) -> Plan {
        Plan { of }
    }
}

/// Returns the plan of a handle.
pub(crate) fn of(plan: &Plan) -> &due::Plan {
    &plan.of
}

/// Copies the summary figures of a plan to where `numbers` points. `size` is
/// `sizeof(simkeep_plan_numbers)`. Any thread; costs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_plan_get(
    plan: *const Plan,
    numbers: *mut PlanNumbers,
    size: usize,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_plan_get", error, || {
        let figures = PlanNumbers::new(&abi::handle(plan, "plan")?.of);
        abi::put_structure(numbers, size, &figures, "numbers")
    })
}

/// Copies the values of a page without visits to where `new_page` points. `size` is
/// `sizeof(simkeep_new_page)`. Any thread. Reads no data of the store.
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
        abi::check_put_structure(new_page, size, "new_page")?;
        let new = of.of_new(abi::text(url, url_len, "url")?)?;
        abi::put_structure(new_page, size, &NewPage::new(&new), "new_page")
    })
}

/// Decides about a single page by a plan. The decision equals the decision of
/// `simkeep_snapshot_due` with this plan. The result has one decision, or no decision for an
/// unknown page. Free the result with `simkeep_decisions_free`. Any thread. Costs reading one
/// record, and a search.
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
