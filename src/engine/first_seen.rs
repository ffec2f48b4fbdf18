//! The time when a page was first seen with its content. Among pages with equal content, the page
//! that was seen first is the original.

use crate::error::{Error, Result};
use crate::page::{Content, Entry, InForceContents, PageHead, is_of_version};
use crate::time::Time;

/// The time since when a page has its content in force.
pub(crate) enum InForceSince {
    /// The time is known from the head.
    Known(Time),
    /// The time requires the entries. This case is rare, so it is boxed.
    Unread(Box<FirstSeenLookup>),
}

/// The input for a search in the entries: the content in force, and the first visit as a lower
/// bound.
pub(crate) struct FirstSeenLookup {
    in_force: InForceContents,
    first: Time,
}

impl InForceSince {
    pub(crate) fn of(head: &PageHead) -> InForceSince {
        match head.in_force_since() {
            Some(time) => InForceSince::Known(time),
            None => {
                let (in_force, first) = (head.in_force(), head.first);
                InForceSince::Unread(Box::new(FirstSeenLookup { in_force, first }))
            }
        }
    }

    /// Returns the time. Unless the time is known, calls `first_seen` for the earliest entry with a
    /// content in force.
    pub(crate) fn resolve(
        &self,
        first_seen: impl FnOnce(&[Content]) -> Result<Option<Time>>,
    ) -> Result<Time> {
        match self {
            InForceSince::Known(time) => Ok(*time),
            // A restatement with an earlier time is not a visit.
            InForceSince::Unread(of) => {
                Ok(require_first_seen(first_seen(&of.in_force)?)?.max(of.first))
            }
        }
    }

    /// Whether the time is known from the head.
    pub(crate) fn is_known(&self) -> bool {
        matches!(self, InForceSince::Known(_))
    }

    /// A lower bound of the time: the time itself if known, otherwise the time of the first visit.
    pub(crate) fn earliest(&self) -> Time {
        match self {
            InForceSince::Known(time) => *time,
            InForceSince::Unread(of) => of.first,
        }
    }
}

/// The time when a page with these entries was first seen with its content in force.
///
/// # Errors
///
/// [`Error::Corrupt`] if no entry has the content.
pub(crate) fn first_seen(entries: &[Entry], is_it: impl Fn(&Content) -> bool) -> Result<Time> {
    let has_it = |entry: &&Entry| entry.content().as_ref().is_some_and(&is_it);
    require_first_seen(entries.iter().find(has_it).map(Entry::time))
}

/// Checks that an entry has a content in force, and returns the time of the entry.
///
/// # Errors
///
/// [`Error::Corrupt`] if no entry has such a content.
fn require_first_seen(first: Option<Time>) -> Result<Time> {
    let what = "the content in force on a page occurs in none of its entries";
    first.ok_or_else(|| Error::corrupt("segments", 0, what))
}

/// The time when a page with this head was first seen with its content in force; not before the
/// page's first visit. Reads the page's entries unless the head is enough.
pub(crate) fn since(head: &PageHead, entries: &dyn Fn() -> Result<Vec<Entry>>) -> Result<Time> {
    InForceSince::of(head).resolve(|in_force| {
        first_seen(&entries()?, |content| is_of_version(in_force, content)).map(Some)
    })
}
