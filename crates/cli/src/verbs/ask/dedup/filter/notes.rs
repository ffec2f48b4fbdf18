//! Notes from the first pass over a corpus: which documents have the text that was compared.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use simkeep::cluster::PageLocation;
use xxhash_rust::xxh3::xxh3_64;

/// The bytes of a note in the scratch file: the hash of the document, and the location of its page.
/// Zeros mean that there is no note.
const NOTE_BYTES: usize = 16;
/// The number of notes of one corpus file that lie side by side in the scratch file. Regions that
/// are never written take no space.
const REGION: u64 = 64 << 10;
/// The number of notes that are read together.
const TOGETHER: usize = 4 << 10;
const _: () = assert!(REGION.is_multiple_of(TOGETHER as u64));

/// Notes on the lines or rows of several files, in an unnamed scratch file: 16 bytes for each.
pub(super) struct DocumentNotes {
    scratch: File,
    /// The number of regions in use.
    used: AtomicU64,
    /// For each file, the numbers of its regions, in the order of its documents.
    files: Vec<Mutex<Vec<u64>>>,
}

/// A note on a document whose text is the compared text of a page: the location of the page, and a
/// hash of the bytes that were read.
#[derive(Clone, Copy)]
pub(super) struct DocumentNote {
    hash: u64,
    place: PageLocation,
}

impl DocumentNote {
    pub(super) fn of(read: &[u8], place: PageLocation) -> DocumentNote {
        DocumentNote { hash: hash(read), place }
    }

    /// The location of the page, if `read` has the bytes that the note is about.
    pub(super) fn place(self, read: &[u8]) -> Option<PageLocation> {
        (self.hash == hash(read)).then_some(self.place)
    }

    fn to_bytes(self) -> [u8; NOTE_BYTES] {
        let mut bytes = [0; NOTE_BYTES];
        let (hash, place) = bytes.split_at_mut(8);
        hash.copy_from_slice(&self.hash.to_le_bytes());
        place.copy_from_slice(&self.place.to_bits().to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<DocumentNote> {
        let (hash, place) = bytes.split_first_chunk()?;
        let (hash, place) = (u64::from_le_bytes(*hash), u64::from_le_bytes(place.try_into().ok()?));
        (hash != 0).then_some(DocumentNote { hash, place: PageLocation::from_bits(place) })
    }
}

/// The hash of some bytes; never 0.
fn hash(read: &[u8]) -> u64 {
    xxh3_64(read).max(1)
}

impl DocumentNotes {
    /// Creates empty notes for `files` files, with the scratch file in `folder`.
    pub(super) fn new(folder: &Path, files: usize) -> io::Result<DocumentNotes> {
        let files = (0..files).map(|_| Mutex::default()).collect();
        Ok(DocumentNotes {
            scratch: tempfile::tempfile_in(folder)?,
            used: AtomicU64::new(0),
            files,
        })
    }

    /// Adds notes on consecutive documents of a file. `first` is the number of the first document.
    pub(super) fn put(
        &self,
        file: usize,
        first: u64,
        notes: &[Option<DocumentNote>],
    ) -> io::Result<()> {
        let (mut number, mut rest) = (first, notes);
        while !rest.is_empty() {
            let left = usize::try_from(REGION - number % REGION).unwrap_or(usize::MAX);
            let (these, later) = rest.split_at(left.min(rest.len()));
            if these.iter().any(Option::is_some) {
                let bytes =
                    these.iter().map(|note| note.map_or([0; NOTE_BYTES], DocumentNote::to_bytes));
                let bytes: Vec<u8> = bytes.flatten().collect();
                self.scratch.write_all_at(&bytes, self.make_place(file, number)?)?;
            }
            number += these.len() as u64;
            rest = later;
        }
        Ok(())
    }

    /// The offset of a document's note. Assigns a region if there is none yet.
    fn make_place(&self, file: usize, number: u64) -> io::Result<u64> {
        let mut regions = self.files.get(file).ok_or(io::ErrorKind::InvalidInput)?.lock();
        let nth = usize::try_from(number / REGION).map_err(|_| io::ErrorKind::FileTooLarge)?;
        while regions.len() <= nth {
            regions.push(self.used.fetch_add(1, Ordering::Relaxed));
        }
        let region = regions.get(nth).ok_or(io::ErrorKind::InvalidInput)?;
        Ok((region * REGION + number % REGION) * NOTE_BYTES as u64)
    }

    /// The offset of a document's note; `None` if its region is not assigned.
    fn place(&self, file: usize, number: u64) -> io::Result<Option<u64>> {
        let regions = self.files.get(file).ok_or(io::ErrorKind::InvalidInput)?.lock();
        let nth = usize::try_from(number / REGION).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let region = regions.get(nth);
        Ok(region.map(|region| (region * REGION + number % REGION) * NOTE_BYTES as u64))
    }

    /// The notes on a file, for reading in order.
    pub(super) fn of(&self, file: usize) -> FileNotes<'_> {
        FileNotes { notes: self, file, first: 0, bytes: Vec::new() }
    }
}

/// The notes on the documents of a file.
pub(super) struct FileNotes<'n> {
    notes: &'n DocumentNotes,
    file: usize,
    /// The number of the first note in the buffer.
    first: u64,
    bytes: Vec<u8>,
}

impl FileNotes<'_> {
    /// Returns the note on a document. Costs least if documents are requested in order.
    pub(super) fn get(&mut self, number: u64) -> io::Result<Option<DocumentNote>> {
        if number < self.first || number >= self.first + TOGETHER as u64 || self.bytes.is_empty() {
            self.read(number - number % TOGETHER as u64)?;
        }
        let within =
            usize::try_from(number - self.first).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let note = self.bytes.chunks_exact(NOTE_BYTES).nth(within);
        Ok(DocumentNote::from_bytes(note.ok_or(io::ErrorKind::InvalidInput)?))
    }

    /// Reads notes, beginning with that on document `first`. Bytes that were never written are
    /// zero.
    fn read(&mut self, first: u64) -> io::Result<()> {
        self.first = first;
        self.bytes.clear();
        self.bytes.resize(NOTE_BYTES * TOGETHER, 0);
        let Some(place) = self.notes.place(self.file, first)? else { return Ok(()) };
        let (mut place, mut rest) = (place, &mut self.bytes[..]);
        while !rest.is_empty() {
            match self.notes.scratch.read_at(rest, place) {
                Ok(0) => break,
                Ok(read) => {
                    place += read as u64;
                    rest = rest.get_mut(read..).unwrap_or_default();
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_found_across_regions() {
        let folder = tempfile::tempdir().unwrap();
        let notes = DocumentNotes::new(folder.path(), 3).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let line = |file: usize, number: u64| format!("{file} {number}").into_bytes();
        // Notes in each region and across their borders, and many lines without notes.
        let is_noted = |number: u64| number % 7 < 2 && !(5_000..60_000).contains(&number);
        let count = 2 * REGION + 5_000;
        let step = 3_001;
        let mut runs: Vec<u64> = (0..count).step_by(step).collect();
        runs.reverse();
        for first in runs {
            for file in [2, 0] {
                let run = first..count.min(first + step as u64);
                let place = |number| PageLocation::from_bits(number << 2 | file as u64);
                let run: Vec<Option<DocumentNote>> = run
                    .map(|n| is_noted(n).then(|| DocumentNote::of(&line(file, n), place(n))))
                    .collect();
                notes.put(file, first, &run).unwrap();
            }
        }
        for file in 0..3 {
            let mut noted = notes.of(file);
            for number in 0..count + 100_000 {
                let place = noted.get(number).unwrap().and_then(|n| n.place(&line(file, number)));
                let is_one = file != 1 && number < count && is_noted(number);
                let expected = is_one.then(|| PageLocation::from_bits(number << 2 | file as u64));
                assert_eq!(place, expected, "{file} {number}");
            }
            assert!(noted.get(0).unwrap().is_none_or(|note| note.place(b"another").is_none()));
        }
        assert!(notes.of(3).get(0).is_err());
        assert!(
            notes.put(3, 0, &[Some(DocumentNote::of(b"", PageLocation::from_bits(0)))]).is_err()
        );
    }
}
