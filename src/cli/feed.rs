//! The thread that reads the input and makes fingerprints of texts.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::JoinHandle;

use arrayvec::ArrayVec;
use simkeep::fingerprint::Fingerprinter;
use simkeep::{Digest, Origin};

use super::exit::Failure;
use super::input::{Broken, Captured, Claim, Input, Item, Payload, Record, Source};
use super::reading::Reading;

/// Entries that may wait. They hold no texts, so this bounds the memory.
const WAITING: usize = 2048;

/// A record that is ready to be observed.
pub(super) struct Entry {
    pub(super) url: String,
    /// Milliseconds since 1970.
    pub(super) time: i64,
    pub(super) status: Option<u16>,
    pub(super) digest: Option<Digest>,
    /// What an archive declares it to be.
    pub(super) claim: Option<Box<Claim>>,
    pub(super) found: Found,
}

impl Entry {
    /// That what an archive declares is not so.
    pub(super) fn wrong(&self) -> Option<&Broken> {
        self.claim.as_ref()?.wrong.as_ref()
    }
}

/// What a record found.
pub(super) enum Found {
    /// Content; these are the fingerprints that were made of its text, by each origin.
    Texts(ArrayVec<u64, 2>),
    /// Content with a fingerprint made elsewhere, and by what if the record says so.
    Ready(u64, Option<String>),
    /// A fingerprint more of content that was seen before, and by what it was made.
    Restated(u64, String),
    NotModified,
    Gone,
    Failed,
    /// The content of an earlier record, of this URL and time if they are known.
    Revisit(Option<String>, Option<i64>),
}

/// What comes out of the input.
pub(super) enum Fed {
    Entry(Entry),
    Broken(Broken),
    /// The name of an epoch, older than those whose names come after.
    Epoch(String),
    /// A record of this kind has nothing to say of a page.
    Passed(&'static str),
    /// Content that is no text.
    Binary(Captured),
}

/// The reading thread.
pub(super) struct Feed {
    /// What was read, in order; ends with the input.
    pub(super) entries: Receiver<Fed>,
    thread: JoinHandle<()>,
    bytes: Arc<AtomicU64>,
}

impl Feed {
    /// Begins to read, and to make fingerprints of texts by each of these origins. The thread ends when
    /// all is read, or when nobody takes what it reads.
    ///
    /// The store may stand in a folder that is read; its own files are no pages.
    pub(super) fn start(
        sources: Vec<Source>,
        reading: Reading,
        store: &Path,
        origins: Vec<Origin>,
    ) -> Result<Feed, Failure> {
        let input = Input::new(sources).except(store).zstd_window(reading.zstd_window());
        let bytes = input.progress();
        let (sender, entries) = sync_channel(WAITING);
        let read = move || {
            let fingerprinters = origins.iter().map(Origin::fingerprinter);
            // Each has all that it needs.
            let mut fingerprinters: Vec<_> = fingerprinters.filter_map(Result::ok).collect();
            for item in input {
                if sender.send(prepare(item, &mut fingerprinters)).is_err() {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("simkeep-read".into()).spawn(read);
        let thread = thread.map_err(|e| Failure::Other(format!("cannot start a thread: {e}")))?;
        Ok(Feed { entries, thread, bytes })
    }

    /// Bytes that were read so far, as they stand in the files.
    pub(super) fn bytes_read(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Makes sure that the input came to its end.
    pub(super) fn finish(self) -> Result<(), Failure> {
        self.thread.join().map_err(|_| {
            Failure::Other("the reader failed before the end of the input; this is a bug".into())
        })
    }
}

fn prepare(item: Item, fingerprinters: &mut [Fingerprinter<'_>]) -> Fed {
    let Record { url, time, payload, digest, claim, status, epoch } = match item {
        Item::Record(record) => record,
        Item::Broken(broken) => return Fed::Broken(broken),
        Item::Passed(kind) => return Fed::Passed(kind),
        Item::Binary(captured) => return Fed::Binary(captured),
        Item::Epoch(name) => return Fed::Epoch(name),
    };
    let found = match payload {
        Payload::Text(document) => {
            match fingerprinters.iter_mut().map(|f| f.of(&document)).collect() {
                Ok(fingerprints) => Found::Texts(fingerprints),
                Err(error) => return Fed::Broken(Broken { at: url, why: error.to_string() }),
            }
        }
        Payload::Ready { fingerprint } => Found::Ready(fingerprint, epoch.map(String::from)),
        Payload::Restated { fingerprint } => {
            Found::Restated(fingerprint, epoch.map(String::from).unwrap_or_default())
        }
        Payload::NotModified => Found::NotModified,
        Payload::Gone => Found::Gone,
        Payload::Failed => Found::Failed,
        Payload::Revisit { refers_to, refers_time } => Found::Revisit(refers_to, refers_time),
    };
    Fed::Entry(Entry { url, time, status, digest, claim, found })
}
