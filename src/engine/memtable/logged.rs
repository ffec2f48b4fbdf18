//! The operations of a memtable, one by one.

use super::{Inner, PageOf};
use crate::layout::Delta;
use crate::page::{Entry, Prefix};

/// An operation in a memtable.
pub(crate) enum Logged<'a> {
    /// A page got an entry.
    Entry(PageOf<'a>, Entry),
    /// A page was forgotten, with its contribution to the totals.
    Page(PageOf<'a>, Delta),
    /// A prefix was forgotten, with the contribution of its pages to the totals.
    Prefix(&'a Prefix, Delta),
}

/// A forgotten page or prefix, and the operation that forgot it.
#[derive(Debug)]
pub(super) struct Forgotten {
    pub(super) sequence: u64,
    pub(super) known: Delta,
    pub(super) what: What,
}

#[derive(Debug)]
pub(super) enum What {
    /// The page with a number.
    Page(u32),
    Prefix(Prefix),
}

impl Inner {
    /// The operation with a sequence number; `None` if it is not in this memtable. Costs two binary
    /// searches.
    pub(crate) fn logged(&self, sequence: u64) -> Option<Logged<'_>> {
        if let Some((number, entry)) = self.pages.entry_of(sequence) {
            return Some(Logged::Entry(self.page(number), entry));
        }
        // Operations are appended in order, so both lists ascend by sequence number.
        let at = self.forgotten.binary_search_by_key(&sequence, |forgotten| forgotten.sequence);
        let Forgotten { known, what, .. } = self.forgotten.get(at.ok()?)?;
        Some(match what {
            What::Page(number) => Logged::Page(self.page(*number), *known),
            What::Prefix(prefix) => Logged::Prefix(prefix, *known),
        })
    }
}
