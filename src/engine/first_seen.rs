//! When a page was first seen with a content: of pages with one content, who had it first.

use crate::error::{Error, Result};
use crate::page::{Content, Entry, Head, InForce, is_of_version};
use crate::time::Time;

/// Since when a page has what it has in force.
pub(crate) enum Since {
    /// Its head tells.
    Known(Time),
    /// Its entries tell. That is seldom, so there is no room for it in each.
    Unread(Box<Unread>),
}

/// What tells of entries since when a page has what it has in force: since it was seen with that, but
/// not before its first visit.
pub(crate) struct Unread {
    in_force: InForce,
    first: Time,
}

impl Since {
    pub(crate) fn of(head: &Head) -> Since {
        match head.in_force_since() {
            Some(time) => Since::Known(time),
            None => {
                let (in_force, first) = (head.in_force(), head.first);
                Since::Unread(Box::new(Unread { in_force, first }))
            }
        }
    }

    /// When it was. Unless the head told, asks when an entry first had one of the contents that are in
    /// force.
    pub(crate) fn ask(
        &self,
        first_seen: impl FnOnce(&[Content]) -> Result<Option<Time>>,
    ) -> Result<Time> {
        match self {
            Since::Known(time) => Ok(*time),
            // What was restated of times before that is no visit.
            Since::Unread(of) => Ok(found(first_seen(&of.in_force)?)?.max(of.first)),
        }
    }

    /// Whether the head told.
    pub(crate) fn is_known(&self) -> bool {
        matches!(self, Since::Known(_))
    }

    /// A time before which it was not: when it was, or that of the first visit.
    pub(crate) fn earliest(&self) -> Time {
        match self {
            Since::Known(time) => *time,
            Since::Unread(of) => of.first,
        }
    }
}

/// When a page with these entries was first seen with a content that it has in force.
///
/// # Errors
///
/// [`Error::Corrupt`] if none of them has it.
pub(crate) fn first_seen(entries: &[Entry], is_it: impl Fn(&Content) -> bool) -> Result<Time> {
    let has_it = |entry: &&Entry| entry.content().as_ref().is_some_and(&is_it);
    found(entries.iter().find(has_it).map(Entry::time))
}

/// When an entry first had a content that is in force.
///
/// # Errors
///
/// [`Error::Corrupt`] if none has it.
fn found(first: Option<Time>) -> Result<Time> {
    let what = "a page has a content in force that no entry of it has";
    first.ok_or_else(|| Error::corrupt("segments", 0, what))
}

/// When a page with this head was first seen with what it has in force; not before its first visit.
/// Reads its entries unless the head tells.
pub(crate) fn since(head: &Head, entries: impl FnOnce() -> Result<Vec<Entry>>) -> Result<Time> {
    Since::of(head).ask(|in_force| {
        first_seen(&entries()?, |content| is_of_version(in_force, content)).map(Some)
    })
}
