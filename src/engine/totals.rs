//! What a store knows, in numbers.

use std::fmt;

use crate::layout::Delta;
use crate::page::{Entry, PageState};

/// How much of what there is a store knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    /// Pages with a visit.
    pub(crate) pages: u64,
    /// Those visits.
    pub(crate) visits: u64,
    /// Pages of which a content is in force.
    pub(crate) in_force: u64,
    /// Pages that are gone.
    pub(crate) gone: u64,
}

impl Counted {
    /// That to which all changes come together; `None` if that is impossible.
    pub(crate) fn of(sum: Delta) -> Option<Counted> {
        let Delta { pages, visits, in_force, gone } = sum;
        let counted = Counted {
            pages: pages.try_into().ok()?,
            visits: visits.try_into().ok()?,
            in_force: in_force.try_into().ok()?,
            gone: gone.try_into().ok()?,
        };
        let seen = counted.in_force.checked_add(counted.gone)?;
        (seen <= counted.pages).then_some(counted)
    }
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counted { pages, visits, in_force, gone } = self;
        write!(f, "{pages} pages, {in_force} in force and {gone} gone, with {visits} visits")
    }
}

/// What a page is in these numbers, of which so many visits are known.
pub(crate) fn page_counted(state: PageState, visits: i64) -> Delta {
    Delta {
        pages: i64::from(state != PageState::Unknown),
        visits,
        in_force: i64::from(state == PageState::InForce),
        gone: i64::from(state == PageState::Gone),
    }
}

/// What an entry adds that makes of a page what it is after.
pub(crate) fn entry_counted((before, after): (PageState, PageState), entry: &Entry) -> Delta {
    let (before, after) = (page_counted(before, 0), page_counted(after, 0));
    Delta {
        pages: after.pages - before.pages,
        visits: i64::from(entry.is_visit()),
        in_force: after.in_force - before.in_force,
        gone: after.gone - before.gone,
    }
}
