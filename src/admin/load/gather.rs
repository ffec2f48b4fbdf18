//! Gathering of observations in memory. When memory is full, another thread sorts and writes them
//! as a run, while gathering continues.

use std::sync::Arc;

use super::runs::{RunWriter, SortedRuns, sort_tail};
use crate::bug::OrBug;
use crate::cpu::prefetch;
use crate::disk::{Disk, FileName};
use crate::error::Result;
use crate::layout::{Cursor, put_varint};
use crate::page::{Entry, Operation, surt};
use crate::segment::{PackedEntries, put_entries};
use crate::sort::{Keyed, sort_by_digits};
use crate::sync::mpsc::{Receiver, Sender, channel};

/// The maximum number of bytes to gather: offsets are 32 bits wide.
const GATHERED_BYTES_MAX: usize = 3 << 30;

/// The first runs are shorter than the longest run by a factor of 2^`FIRST_RUN_SHIFT`. So the
/// writer starts early, and few observations are unwritten when the last one arrives.
const FIRST_RUN_SHIFT: u32 = 3;

/// The number of runs after which the length of a run doubles.
const RUNS_PER_LENGTH: u32 = 8;

/// Observations in memory, in order of arrival.
#[derive(Debug, Default)]
struct ObservationBuffer {
    /// The concatenated observations: each has its SURT key, the length of its URL, the URL, and
    /// the packed visit.
    bytes: Vec<u8>,
    places: Vec<BufferedObservation>,
}

/// The position of an observation, for sorting.
#[derive(Debug)]
struct BufferedObservation {
    digit: u64,
    start: u32,
    key_len: u32,
}

impl Keyed for BufferedObservation {
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "the map has the key")]
    fn key<'k>(&self, keys: &'k [u8]) -> &'k [u8] {
        let start = self.start as usize;
        &keys[start..start + self.key_len as usize]
    }

    #[inline]
    fn digit(&self) -> u64 {
        self.digit
    }

    #[inline]
    fn set_digit(&mut self, digit: u64) {
        self.digit = digit;
    }
}

impl BufferedObservation {
    /// The URL and the packed entry.
    #[expect(
        clippy::indexing_slicing,
        clippy::expect_used,
        reason = "the entry and the URL follow the key in memory"
    )]
    #[inline]
    fn parts<'b>(&self, bytes: &'b [u8]) -> (&'b [u8], &'b [u8]) {
        let mut cursor = Cursor::new(&bytes[self.start as usize + self.key_len as usize..]);
        let url = cursor.count().and_then(|len| cursor.take(len)).expect("a URL is behind its key");
        (url, cursor.rest())
    }
}

impl ObservationBuffer {
    fn bytes_used(&self) -> usize {
        self.bytes.len() + size_of_val(self.places.as_slice())
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.places.clear();
    }

    fn push(&mut self, operation: &Operation<'_>) {
        self.push_entry(operation.url(), &operation.entry());
        for entry in operation.extra_entries() {
            self.push_entry(operation.url(), &entry);
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "at most 3 GiB are gathered, and an observation has a few KiB"
    )]
    fn push_entry(&mut self, url: &str, entry: &Entry) {
        let start = self.bytes.len();
        surt::key(url, &mut self.bytes);
        let key_len = self.bytes.len() - start;
        put_varint(&mut self.bytes, url.len() as u64);
        self.bytes.extend_from_slice(url.as_bytes());
        put_entries(&mut self.bytes, std::slice::from_ref(entry));
        let (start, key_len) = (start as u32, key_len as u32);
        self.places.push(BufferedObservation { digit: 0, start, key_len });
    }

    /// Writes all observations as a run. Returns the number of its entries, without duplicates.
    fn write_run(&mut self, runs: &mut RunWriter) -> Result<u64> {
        /// How many entries ahead the memory is prefetched.
        const AHEAD: usize = 8;
        let ObservationBuffer { bytes, places } = self;
        sort_by_digits(bytes, places, &|a, b| a.parts(bytes).0.cmp(b.parts(bytes).0));
        let (mut entries, mut packed) = (Vec::new(), Vec::new());
        let (mut at, mut written) = (0, 0);
        while let Some(first) = places.get(at) {
            if let Some(later) = places.get(at + AHEAD) {
                let from = later.start as usize;
                // The last observation may be shorter than 128 bytes.
                prefetch(bytes.get(from..from + 128).unwrap_or(&[]));
            }
            let (url, _) = first.parts(bytes);
            entries.clear();
            while let Some(place) = places.get(at) {
                let (other, entry) = place.parts(bytes);
                if other != url {
                    break;
                }
                let entry = PackedEntries::new(Cursor::new(entry), 1).next().flatten();
                entries.push(entry.or_bug("each packed entry can be unpacked")?);
                at += 1;
            }
            sort_tail(&mut entries, 0);
            packed.clear();
            put_entries(&mut packed, &entries);
            runs.push(first.key(bytes), url, entries.len(), &packed)?;
            written += entries.len() as u64;
        }
        runs.end_run()?;
        Ok(written)
    }
}

/// Gathers observations. Its other half, the writer, runs on a thread of its own.
pub(super) struct Gatherer {
    gathered: ObservationBuffer,
    /// The size of the current run and of the longest run, in bytes.
    bytes: usize,
    bytes_max: usize,
    /// The number of runs that were passed to the writer.
    runs: u32,
    full: Sender<ObservationBuffer>,
    empty: Receiver<ObservationBuffer>,
}

/// Writes runs.
pub(super) struct RunSorter {
    full: Receiver<ObservationBuffer>,
    empty: Sender<ObservationBuffer>,
}

/// Creates both halves, which take `memory_bytes` together.
pub(super) fn pair(memory_bytes: usize) -> (Gatherer, RunSorter) {
    let (to_writer, full) = channel();
    let (to_gatherer, empty) = channel();
    // The gathered run, the run being written, and some memory for the writing itself.
    let bytes_max = (memory_bytes / 32 * 15).min(GATHERED_BYTES_MAX);
    // The channels pass only two buffers, so no queue grows.
    let _ = to_gatherer.send(ObservationBuffer::default());
    let gathered = ObservationBuffer::default();
    let bytes = bytes_max >> FIRST_RUN_SHIFT;
    let gatherer = Gatherer { gathered, bytes, bytes_max, runs: 0, full: to_writer, empty };
    (gatherer, RunSorter { full, empty: to_gatherer })
}

impl Gatherer {
    /// Adds an observation. An error means that the writer has ended, and [`RunSorter::run`] returns
    /// the reason.
    #[inline]
    pub(super) fn push(&mut self, operation: &Operation<'_>) -> Result<(), WriterEnded> {
        if self.gathered.bytes_used() >= self.bytes {
            self.pass_on()?;
        }
        self.gathered.push(operation);
        Ok(())
    }

    fn pass_on(&mut self) -> Result<(), WriterEnded> {
        let empty = self.empty.recv().map_err(|_| WriterEnded)?;
        let full = std::mem::replace(&mut self.gathered, empty);
        self.runs += 1;
        if self.runs.is_multiple_of(RUNS_PER_LENGTH) {
            self.bytes = (2 * self.bytes).min(self.bytes_max);
        }
        self.full.send(full).map_err(|_| WriterEnded)
    }

    /// Passes the remaining observations to the writer.
    pub(super) fn finish(mut self) -> Result<(), WriterEnded> {
        if self.gathered.places.is_empty() { Ok(()) } else { self.pass_on() }
    }
}

/// The error if the writer has ended.
#[derive(Debug)]
pub(super) struct WriterEnded;

impl RunSorter {
    /// Writes runs until the gatherer ends. Returns the runs, and the number of their visits.
    pub(super) fn run(self, disk: &Arc<dyn Disk>, name: FileName) -> Result<(SortedRuns, u64)> {
        let (mut runs, mut visits) = (RunWriter::new(disk, name)?, 0);
        for mut gathered in self.full {
            visits += gathered.write_run(&mut runs)?;
            gathered.clear();
            // The gatherer may have ended already.
            let _ = self.empty.send(gathered);
        }
        Ok((runs.finish()?, visits))
    }
}
