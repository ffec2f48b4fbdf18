//! The pages of a memtable under a prefix.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::order::order;
use super::page::PageColumns;
use crate::bug::{Bug, OrBug};
use crate::page::{Prefix, surt};
use crate::process::ProcessId;
use crate::sync::{LockRank, RankedMutex};

/// The pages by key, for queries about prefixes. The order is built at the first such query, and
/// updated at later queries, so observing alone costs nothing.
#[derive(Debug)]
pub(super) struct KeyIndex {
    order: RankedMutex<OrderedKeys>,
    process: ProcessId,
    /// The number of bytes of used memory.
    bytes: AtomicUsize,
}

#[derive(Debug, Default)]
struct OrderedKeys {
    /// The keys with page numbers.
    pages: BTreeSet<(Vec<u8>, u32)>,
    /// The number of pages added so far.
    upto: u32,
    /// Pages that were removed and came back.
    again: Vec<u32>,
}

impl Default for KeyIndex {
    fn default() -> Self {
        let order = RankedMutex::new(LockRank::MemtableOrder, OrderedKeys::default());
        KeyIndex { order, process: ProcessId::default(), bytes: AtomicUsize::default() }
    }
}

impl KeyIndex {
    pub(super) fn memory_bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The numbers of the pages under a prefix, in SURT order, without removed pages. Costs a few
    /// binary searches for each page added since the last call.
    pub(super) fn under(&self, pages: &PageColumns, prefix: &Prefix) -> Vec<u32> {
        let mut ordered = match self.order.try_lock() {
            // After a fork, the thread that holds the lock does not exist, and never releases it.
            None if !self.process.is_current() => return order(pages, Some(prefix)),
            None => self.order.lock(),
            Some(ordered) => ordered,
        };
        let grown = ordered.catch_up(pages);
        // The writer reads the number of bytes for each operation (`is_full`), and must not wait
        // for the order's lock.
        self.bytes.fetch_add(grown, Ordering::Relaxed);
        let mut found: Vec<_> = ordered.pages.range(range_of(prefix)).collect();
        // Pages with equal keys are ordered by URL.
        let url = |number: u32| pages.page(number).url();
        found.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| url(a.1).cmp(url(b.1))));
        found.into_iter().map(|(_, number)| *number).collect()
    }

    /// Adds a removed page again.
    pub(super) fn put_back(&mut self, number: u32) {
        self.order.get_mut().again.push(number);
    }

    /// Removes the pages under a prefix. Costs a few binary searches for each of these pages, and
    /// for each page added since the last call.
    pub(super) fn take_out(
        &mut self,
        pages: &PageColumns,
        prefix: &Prefix,
    ) -> Result<Vec<u32>, Bug> {
        let order = self.order.get_mut();
        let grown = order.catch_up(pages);
        let range = range_of(prefix);
        let out: Vec<_> = order.pages.range(range).cloned().collect();
        // A page is removed once for each time that it came, so forgetting stays cheap in total.
        out.iter().for_each(|page| _ = order.pages.remove(page));
        let gone: usize = out.iter().map(bytes_of).sum();
        let bytes = self.bytes.get_mut();
        *bytes = (*bytes + grown)
            .checked_sub(gone)
            .or_bug("the removed bytes are at most the counted bytes")?;
        Ok(out.into_iter().map(|(_, number)| number).collect())
    }
}

impl OrderedKeys {
    /// Adds the pages that came since the last call. Returns the number of their bytes.
    fn catch_up(&mut self, pages: &PageColumns) -> usize {
        let new = self.upto..pages.len();
        self.upto = new.end;
        let keyed = new.chain(std::mem::take(&mut self.again));
        let keyed = keyed.map(|n| (surt::key_of(pages.page(n).url()), n));
        let mut keyed: Vec<_> = keyed.collect();
        let bytes = keyed.iter().map(bytes_of).sum();
        if keyed.len() > self.pages.len() / 8 {
            // The keys are sorted first, so that they are inserted one after the other.
            self.pages.append(&mut keyed.into_iter().collect());
        } else {
            self.pages.extend(keyed.drain(..));
        }
        bytes
    }
}

/// The approximate number of bytes of an entry, including its share of a tree that is not full.
fn bytes_of((key, _): &(Vec<u8>, u32)) -> usize {
    key.len() + 2 * size_of::<(Vec<u8>, u32)>()
}

fn range_of(prefix: &Prefix) -> std::ops::Range<(Vec<u8>, u32)> {
    let (start, end) = prefix.range();
    (start.to_vec(), 0)..(end.to_vec(), 0)
}
