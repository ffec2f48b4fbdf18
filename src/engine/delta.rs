//! The change of a store's totals by operations.

use crate::layout::Delta;
use crate::page::{Entry, PageState};

/// The contribution of a page to the totals, by its state and its number of visits.
pub(crate) fn page_delta(state: PageState, visits: i64) -> Delta {
    Delta {
        pages: i64::from(state != PageState::Unknown),
        visits,
        in_force: i64::from(state == PageState::InForce),
        gone: i64::from(state == PageState::Gone),
    }
}

/// The change of the totals by an entry that changes the state of its page.
pub(crate) fn entry_delta((before, after): (PageState, PageState), entry: &Entry) -> Delta {
    let (before, after) = (page_delta(before, 0), page_delta(after, 0));
    Delta {
        pages: after.pages - before.pages,
        visits: i64::from(entry.is_visit()),
        in_force: after.in_force - before.in_force,
        gone: after.gone - before.gone,
    }
}
