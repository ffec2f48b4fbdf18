//! When a page was first seen with a content: of pages with one content, who had it first.

use crate::error::{Error, Result};
use crate::page::{Content, Entry, Head, InForce, Time, is_of_version};

/// Since when a page has what it has in force.
pub(super) enum Since {
    /// Its head tells.
    Told(Time),
    /// Its entries tell. That is seldom, so there is no room for it in each.
    Untold(Box<Untold>),
}

/// What tells of entries since when a page has what it has in force: since it was seen with that, but
/// not before its first visit.
pub(super) struct Untold {
    in_force: InForce,
    first: Time,
}

impl Since {
    pub(super) fn of(head: &Head) -> Since {
        match head.in_force_since() {
            Some(time) => Since::Told(time),
            None => {
                let (in_force, first) = (head.in_force(), head.first);
                Since::Untold(Box::new(Untold { in_force, first }))
            }
        }
    }

    /// When it was. Reads its entries unless the head told.
    pub(super) fn read(&self, entries: impl FnOnce() -> Result<Vec<Entry>>) -> Result<Time> {
        match self {
            Since::Told(time) => Ok(*time),
            Since::Untold(of) => {
                let is_it = |content: &Content| is_of_version(&of.in_force, content);
                // What was restated of times before that is no visit.
                Ok(first_seen(&entries()?, is_it)?.max(of.first))
            }
        }
    }
}

/// When a page with these entries was first seen with a content that it has in force.
///
/// # Errors
///
/// [`Error::Corrupt`] if none of them has it.
pub(super) fn first_seen(entries: &[Entry], is_it: impl Fn(&Content) -> bool) -> Result<Time> {
    let has_it = |entry: &&Entry| entry.content().as_ref().is_some_and(&is_it);
    let first = entries.iter().find(has_it).map(Entry::time);
    let what = "a page has a content in force that no entry of it has";
    first.ok_or_else(|| Error::corrupt("segments", 0, what))
}

/// When a page with this head was first seen with what it has in force; not before its first visit.
/// Reads its entries unless the head tells.
pub(super) fn since(head: &Head, entries: impl FnOnce() -> Result<Vec<Entry>>) -> Result<Time> {
    Since::of(head).read(entries)
}
