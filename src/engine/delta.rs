//! What operations add to the totals of a store.

use crate::layout::Delta;
use crate::page::{Entry, PageState};

/// What a page in this state with this many visits adds to the totals.
pub(crate) fn page_delta(state: PageState, visits: i64) -> Delta {
    Delta {
        pages: i64::from(state != PageState::Unknown),
        visits,
        in_force: i64::from(state == PageState::InForce),
        gone: i64::from(state == PageState::Gone),
    }
}

/// What an entry adds that makes of a page what it is after.
pub(crate) fn entry_delta((before, after): (PageState, PageState), entry: &Entry) -> Delta {
    let (before, after) = (page_delta(before, 0), page_delta(after, 0));
    Delta {
        pages: after.pages - before.pages,
        visits: i64::from(entry.is_visit()),
        in_force: after.in_force - before.in_force,
        gone: after.gone - before.gone,
    }
}
