//! The operations of a memtable, one by one.

use super::{MemtableContents, MemtablePage};
use crate::layout::Delta;
use crate::page::{Entry, Prefix};

/// An operation in a memtable.
pub(crate) enum MemtableOperation<'a> {
    /// A page got an entry.
    Entry(MemtablePage<'a>, &'a Entry),
    /// A page was forgotten, with its contribution to the totals.
    Page(MemtablePage<'a>, Delta),
    /// A prefix was forgotten, with the contribution of its pages to the totals.
    Prefix(&'a Prefix, Delta),
}

/// A forgotten page or prefix, and the operation that forgot it.
#[derive(Debug)]
pub(super) struct ForgetOperation {
    pub(super) sequence: u64,
    pub(super) known: Delta,
    pub(super) target: ForgetTarget,
}

#[derive(Debug)]
pub(super) enum ForgetTarget {
    /// A page, by its number.
    Page(u32),
    Prefix(Prefix),
}

impl MemtableContents {
    /// The operation with a sequence number; `None` if it is not in this memtable. Costs two binary
    /// searches.
    pub(crate) fn operation_at(&self, sequence: u64) -> Option<MemtableOperation<'_>> {
        if let Some((number, entry)) = self.pages.entry_of(sequence) {
            return Some(MemtableOperation::Entry(self.page(number), entry));
        }
        // Operations are appended in order, so both lists ascend by sequence number.
        let at = self.forgotten.binary_search_by_key(&sequence, |forgotten| forgotten.sequence);
        let ForgetOperation { known, target: what, .. } = self.forgotten.get(at.ok()?)?;
        Some(match what {
            ForgetTarget::Page(number) => MemtableOperation::Page(self.page(*number), *known),
            ForgetTarget::Prefix(prefix) => MemtableOperation::Prefix(prefix, *known),
        })
    }
}
