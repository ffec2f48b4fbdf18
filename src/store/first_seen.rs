//! When a page was first seen with a content: of pages with one content, who had it first.

use crate::error::{Error, Result};
use crate::page::{Content, Entry, Head, is_of_version};

/// When a page with these entries was first seen with a content that it has in force.
///
/// # Errors
///
/// [`Error::Corrupt`] if none of them has it.
pub(super) fn first_seen(entries: &[Entry], is_it: impl Fn(&Content) -> bool) -> Result<i64> {
    let has_it = |entry: &&Entry| entry.content().as_ref().is_some_and(&is_it);
    let first = entries.iter().find(has_it).map(Entry::time);
    let what = "a page has a content in force that no entry of it has";
    first.ok_or_else(|| Error::corrupt("segments", 0, what))
}

/// When a page with this head was first seen with what it has in force; not before its first visit.
/// Reads its entries unless the head tells.
pub(super) fn since(head: &Head, entries: impl FnOnce() -> Result<Vec<Entry>>) -> Result<i64> {
    if head.in_force_seen() == Some(head.first) {
        return Ok(head.first);
    }
    let in_force = head.in_force();
    let is_it = |content: &Content| is_of_version(&in_force, content);
    // What was restated of times before that is no visit.
    Ok(first_seen(&entries()?, is_it)?.max(head.first))
}
