//! The histories of pages.

use std::ffi::c_char;

use simkeep::Time;

use crate::abi;
use crate::call::{done, found, free, getters, make};
use crate::failure::Failure;
use crate::open::snapshot::{self, SnapshotHandle};
use crate::read::entry::Entry;

/// The entries of a page's history, in order of time. Immutable, so any thread may read them.
#[derive(Debug)]
pub struct Entries {
    entries: Vec<Entry>,
    /// The texts to which entries point. A text does not move as long as the history exists.
    _texts: Vec<Box<[u8]>>,
}

impl Entries {
    /// Converts the history of the page with this URL.
    pub(crate) fn new(url: &str, history: &[simkeep::HistoryEntry]) -> Entries {
        let one = |entry| {
            let text = Entry::text(url, entry);
            (Entry::of(entry, &text), text)
        };
        let (entries, texts) = history.iter().map(one).unzip();
        Entries { entries, _texts: texts }
    }
}

/// Reads all visits of a page in order, each with its verdict, which takes the earlier visits into
/// account. The result has no entries for an unknown page. Free the result with
/// `simkeep_entries_free`. Any thread. Costs reading the page's record in each segment that has
/// one.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_snapshot_history(
    snapshot: *const SnapshotHandle,
    url: *const c_char,
    url_len: usize,
    error: *mut *mut Failure,
) -> Option<Box<Entries>> {
    make("simkeep_snapshot_history", error, || {
        let snapshot = snapshot::open(snapshot)?.0;
        let url = abi::text(url, url_len, "url")?;
        Ok(Entries::new(url, &snapshot.history(url)?))
    })
}

/// Copies the visit whose content was current at a time, in milliseconds since 1970, to where
/// `entry` points. The visit has no verdict. `SIMKEEP_NONE` if the page was unknown or gone at that
/// time. `size` is `sizeof(simkeep_entry)`. Any thread. Costs reading the page's record in each
/// segment that has one.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_snapshot_as_of(
    snapshot: *const SnapshotHandle,
    url: *const c_char,
    url_len: usize,
    time_ms: i64,
    entry: *mut Entry,
    size: usize,
    error: *mut *mut Failure,
) -> i32 {
    found("simkeep_snapshot_as_of", error, || {
        let snapshot = snapshot::open(snapshot)?.0;
        abi::check_put_structure(entry, size, "entry")?;
        let (url, time) = (abi::text(url, url_len, "url")?, Time::from_ms_unchecked(time_ms));
        let put = |visit| abi::put_structure(entry, size, &Entry::of_visit(&visit), "entry");
        snapshot.as_of(url, time)?.map(put).transpose()
    })
}

getters! {
    entries: Entries;

    /// Returns the number of entries; 0 for NULL, and for an unknown page. Any thread; costs
    /// nothing.
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
        let found = found.ok_or_else(|| {
            Failure::argument("nth", "it must be less than the number of entries")
        })?;
        abi::put_structure(entry, size, found, "entry")
    })
}

/// Frees a history. Does nothing for NULL. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_entries_free(entries: Option<Box<Entries>>) {
    free("simkeep_entries_free", entries);
}
