//! The histories of pages.

use crate::abi;
use crate::call::{done, free, getters};
use crate::entry::Entry;
use crate::failure::Failure;

/// The entries of a page's history, in order of time. Nothing changes it: any thread may read it.
#[derive(Debug)]
pub struct Entries {
    entries: Vec<Entry>,
}

impl Entries {
    pub(crate) fn new(history: &[simkeep::HistoryEntry]) -> Entries {
        Entries { entries: history.iter().map(Entry::of).collect() }
    }
}

getters! {
    entries: Entries;

    /// How many entries there are; 0 for NULL, and of an unknown page. Any thread; costs nothing.
    fn simkeep_entries_count -> usize = entries.entries.len();
}

/// Copies entry `nth`, from 0, to where `entry` points. `size` is `sizeof(simkeep_entry)`. Any thread;
/// costs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_entries_get(
    entries: *const Entries,
    nth: usize,
    entry: *mut Entry,
    size: usize,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_entries_get", error, || {
        let found = abi::handle(entries, "entries")?.entries.get(nth);
        let found =
            found.ok_or_else(|| Failure::argument("nth", "there are not so many entries"))?;
        abi::put_structure(entry, size, found, "entry")
    })
}

/// Frees a history. Does nothing for NULL. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_entries_free(entries: Option<Box<Entries>>) {
    free("simkeep_entries_free", entries);
}
