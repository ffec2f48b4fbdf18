//! A frozen table.

use byteorder::{ByteOrder, LittleEndian};
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3Default;

use super::destination::TableDestination;
use super::frame::{
    ENTRY_BYTES, HEAD_BYTES, START_BYTES, SUM_BYTES, TRAILER_BYTES, TableFlaw, TableFrame, VERSION,
    leading, parse_head,
};
use crate::bug::OrBug;
use crate::cpu::prefetch_at;
use crate::disk::{Access, Disk, DiskFile, FileMap, FileName, NewFile};
use crate::error::{Error, Result};
use crate::fingerprint::{FingerprintError, Frequencies};
use crate::layout::{le_u64, to_usize};

/// The number of bytes to read and sum at a time.
const CHUNK_BYTES: u64 = 1 << 20;

/// The number of hashes that are looked up concurrently, so that their memory accesses overlap.
const SIDE_BY_SIDE: usize = 16;

/// The maximum number of attempts to open a table that is being replaced.
const ATTEMPTS: usize = 100;

/// The maximum number of entries that are searched linearly, after bisection.
const WALKED_MAX: usize = 8;

/// A frozen table of document frequencies: a file, read as a map.
///
/// The file has twelve bytes for each term and one byte for the directory. The table takes no
/// memory except for the system's page cache. A lookup touches two cache lines; batched lookups
/// overlap their memory accesses.
///
/// ```no_run
/// use simkeep::{df::FrequencyTable, fingerprint::Frequencies};
/// let table = FrequencyTable::open("crawl.df")?;
/// println!("{} terms in {} documents", table.terms(), table.documents());
/// # Ok::<(), simkeep::Error>(())
/// ```
pub struct FrequencyTable {
    map: FileMap,
    frame: TableFrame,
    id: u64,
}

impl fmt::Debug for FrequencyTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Table({:016x}: {} terms)", self.id, self.terms())
    }
}

impl FrequencyTable {
    /// Opens the table in a file. Reads and checks the whole file: 0.1 s for 10 million terms.
    ///
    /// ```
    /// use simkeep::Error;
    /// use simkeep::df::FrequencyTable;
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("notes.txt");
    /// # std::fs::write(&path, "These are notes, and not a table of document frequencies.").unwrap();
    /// assert!(matches!(FrequencyTable::open(&path), Err(Error::NotATable { .. })));
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::NotATable`] if the file is not a table, [`Error::Corrupt`] if it is damaged,
    /// [`Error::Version`] if a newer simkeep wrote it, [`Error::Io`] if it cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<FrequencyTable> {
        let to = TableDestination::file(path.as_ref())?;
        FrequencyTable::open_on(&*to.disk, to.number).map_err(|e| to.error(e))
    }

    /// Opens the table with a number.
    pub(crate) fn open_on(disk: &dyn Disk, number: u64) -> Result<FrequencyTable> {
        FrequencyTable::open_as(disk, FileName::Df(number))
    }

    /// Opens the table in a file with the given name.
    pub(crate) fn open_as(disk: &dyn Disk, name: FileName) -> Result<FrequencyTable> {
        for _ in 0..ATTEMPTS {
            let file = disk.open(name, Access::Read).map_err(|e| Error::io("open", name, e))?;
            let (frame, id) = check(&*file, name)?;
            let map = disk.map(name).map_err(|e| Error::io("map", name, e))?;
            // Another table may have been renamed to this name since; the checksum detects it.
            let same = map.last_chunk() == Some(&le_u64(id));
            if !same || map.len() as u64 != frame.file_len() {
                continue;
            }
            map.ask_for_huge_pages(0..map.len());
            let table = FrequencyTable { map, frame, id };
            return match table.flaw() {
                None => Ok(table),
                Some((at, what)) => Err(Error::corrupt(name, at as u64, what)),
            };
        }
        let busy = "the file was replaced again and again; try again later";
        let busy = std::io::Error::new(std::io::ErrorKind::ResourceBusy, busy);
        Err(Error::io("open", name, busy))
    }

    /// Opens the table with a number on a disk, such as a simulated one.
    ///
    /// # Errors
    ///
    /// The errors of [`FrequencyTable::open`].
    #[cfg(feature = "internals")]
    pub fn on(disk: &dyn Disk, number: u64) -> Result<FrequencyTable> {
        FrequencyTable::open_on(disk, number)
    }

    /// Copies the table to a number on another disk: completely, or not at all.
    pub(crate) fn copy_to(&self, disk: &Arc<dyn Disk>, number: u64) -> Result<()> {
        let mut file = NewFile::create(Arc::clone(disk), FileName::DfNew(number))?;
        for chunk in self.as_bytes().chunks(1 << 20) {
            file.append(chunk)?;
        }
        file.finish(FileName::Df(number))?;
        Ok(())
    }

    /// The bytes of the file. [`open`](FrequencyTable::open) accepts a copy of these bytes in
    /// another file as the same table.
    pub fn as_bytes(&self) -> &[u8] {
        &self.map
    }

    /// The identity of the table: its checksum, the XXH3-64 of everything before the checksum.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The number of features in the table.
    pub fn terms(&self) -> u64 {
        self.frame.terms
    }

    /// The minimum number of documents of a feature, and the number of rarer features that were
    /// left out. Such features count as unknown: they weigh as if one document had them, and are
    /// never left out as common.
    pub fn left_out(&self) -> (u32, u64) {
        (self.frame.least, self.frame.left_out)
    }

    /// The length of the file in bytes.
    pub fn bytes(&self) -> u64 {
        self.frame.file_len()
    }

    /// Iterates over the hashes of all features in ascending order, with the number of documents of
    /// each feature.
    ///
    /// ```
    /// use simkeep::df::FrequencyCounter;
    /// use simkeep::fingerprint::Recipe;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("crawl.df");
    /// let mut counter = FrequencyCounter::new(&Recipe::words(1), &path, 64 << 20)?;
    /// counter.add("the red house")?;
    /// counter.add("the car")?;
    /// let table = counter.freeze(1)?;
    /// let mut documents: Vec<u32> = table.iter().map(|(_, documents)| documents).collect();
    /// documents.sort();
    /// assert_eq!(documents, [1, 1, 1, 2]); // "the" is in both
    /// # Ok(())
    /// # }
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        self.entries().iter().map(entry)
    }

    /// The number of documents with a feature; 0 if the feature is not in the table.
    ///
    /// ```
    /// # use simkeep::df::FrequencyCounter;
    /// # use simkeep::fingerprint::Recipe;
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("crawl.df");
    /// let recipe: Recipe = "words-idf".parse()?;
    /// let mut counter = FrequencyCounter::new(&recipe, &path, 64 << 20)?;
    /// counter.add("the red house")?;
    /// let table = counter.freeze(1)?;
    /// assert!(table.iter().all(|(hash, documents)| table.frequency(hash) == documents));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn frequency(&self, hash: u64) -> u32 {
        self.find(hash, self.range(hash))
    }

    #[expect(clippy::indexing_slicing, reason = "the map is as long as the trailer says")]
    fn entries(&self) -> &[[u8; ENTRY_BYTES]] {
        self.map[HEAD_BYTES..self.directory_at()].as_chunks().0
    }

    /// The start of the entries of each slot.
    #[expect(clippy::indexing_slicing, reason = "the map is as long as the trailer says")]
    fn starts(&self) -> &[[u8; START_BYTES]] {
        self.map[self.directory_at()..self.map.len() - TRAILER_BYTES].as_chunks().0
    }

    #[expect(clippy::cast_possible_truncation, reason = "the offset lies in the map")]
    fn directory_at(&self) -> usize {
        self.frame.directory() as usize
    }

    /// The slot of a hash: its leading bits.
    fn place(&self, hash: u64) -> usize {
        leading(hash, self.frame.bits)
    }

    /// The entries of the slot of a hash.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "the directory has each place, and an end")]
    fn range(&self, hash: u64) -> Range<usize> {
        let (starts, place) = (self.starts(), self.place(hash));
        let at = |place: usize| LittleEndian::read_u32(&starts[place]) as usize;
        at(place)..at(place + 1)
    }

    /// Searches for a hash among entries.
    #[inline]
    #[expect(
        clippy::indexing_slicing,
        reason = "opening checked that the directory leads to entries"
    )]
    fn find(&self, hash: u64, range: Range<usize>) -> u32 {
        let mut entries = &self.entries()[range];
        while entries.len() > WALKED_MAX {
            let (lower, upper) = entries.split_at(entries.len() / 2);
            let upper_is_it = upper.first().is_some_and(|first| entry(first).0 <= hash);
            entries = if upper_is_it { upper } else { lower };
        }
        let found = entries.iter().map(entry).find(|entry| entry.0 == hash);
        found.map_or(0, |entry| entry.1)
    }

    /// Returns a contradiction inside the table. The table has a valid checksum, so simkeep did not
    /// write it if it has a contradiction.
    #[expect(
        clippy::indexing_slicing,
        reason = "each range ends within the entries, which is checked"
    )]
    fn flaw(&self) -> Option<(usize, &'static str)> {
        let (entries, starts) = (self.entries(), self.starts());
        let last = starts.last().map(|last| LittleEndian::read_u32(last) as usize);
        if starts.len() != (1 << self.frame.bits) + 1 || last != Some(entries.len()) {
            return Some((
                self.directory_at(),
                "the directory ends before or after the last entry",
            ));
        }
        let mut before = None;
        let mut at = 0;
        for (place, start) in starts.iter().enumerate() {
            let end = LittleEndian::read_u32(start) as usize;
            if end < at || end > entries.len() {
                let at = self.directory_at() + place * START_BYTES;
                return Some((at, "the directory is not in order"));
            }
            while at < end {
                let (hash, frequency) = entry(&entries[at]);
                let here = place.checked_sub(1) == Some(self.place(hash));
                let ascends = before.is_none_or(|before| before < hash);
                let possible = frequency > 0 && u64::from(frequency) <= self.frame.documents;
                if !(here && ascends && possible) {
                    return Some((
                        HEAD_BYTES + at * ENTRY_BYTES,
                        "an entry is not in order, or its count is impossible",
                    ));
                }
                (before, at) = (Some(hash), at + 1);
            }
        }
        None
    }
}

#[inline]
fn entry(bytes: &[u8; ENTRY_BYTES]) -> (u64, u32) {
    (LittleEndian::read_u64(&bytes[..8]), LittleEndian::read_u32(&bytes[8..]))
}

impl Frequencies for FrequencyTable {
    fn features(&self) -> &str {
        &self.frame.features
    }

    fn documents(&self) -> u64 {
        self.frame.documents
    }

    fn frequencies(&self, hashes: &[u64], out: &mut Vec<u64>) -> Result<(), FingerprintError> {
        let directory = self.frame.directory();
        for hashes in hashes.chunks(SIDE_BY_SIDE) {
            for hash in hashes {
                prefetch_at(&self.map, directory + (self.place(*hash) * START_BYTES) as u64);
            }
            let mut ranges: [Range<usize>; SIDE_BY_SIDE] = Default::default();
            for (range, hash) in ranges.iter_mut().zip(hashes) {
                *range = self.range(*hash);
                for entry in [range.start, range.end.saturating_sub(1)] {
                    prefetch_at(&self.map, (HEAD_BYTES + entry * ENTRY_BYTES) as u64);
                }
            }
            let found = ranges.into_iter().zip(hashes);
            out.extend(found.map(|(range, hash)| u64::from(self.find(*hash, range))));
        }
        Ok(())
    }
}

/// Reads a whole file, and returns its frame and its checksum. The file is read instead of mapped,
/// because an unreadable medium fails a read, but kills a process that maps the file.
fn check(file: &dyn DiskFile, name: FileName) -> Result<(TableFrame, u64)> {
    let flawed = |flaw| match flaw {
        TableFlaw::Version(found) => {
            Error::Version { file: name.to_string(), found, reads: VERSION }
        }
        TableFlaw::Damage(at, what) => Error::corrupt(name, at, what),
        TableFlaw::Foreign(why) => Error::NotATable { file: name.to_string(), why: why.to_owned() },
    };
    let cannot = |e| Error::io("read", name, e);
    let len = file.size().map_err(cannot)?;
    let body = len.saturating_sub(SUM_BYTES as u64);
    let mut bytes = vec![0; to_usize(len.min(HEAD_BYTES as u64))];
    file.read_at(0, &mut bytes).map_err(cannot)?;
    parse_head(&bytes).map_err(flawed)?;
    if len < (HEAD_BYTES + TRAILER_BYTES) as u64 {
        return Err(Error::corrupt(
            name,
            len,
            "the file is too short to have a trailer: it was cut short",
        ));
    }
    bytes.resize(TRAILER_BYTES, 0);
    file.read_at(len - TRAILER_BYTES as u64, &mut bytes).map_err(cannot)?;
    let frame = TableFrame::parse(&bytes, len).map_err(flawed)?;
    let sum = LittleEndian::read_u64(
        bytes.last_chunk::<SUM_BYTES>().or_bug("a trailer ends with a checksum")?,
    );
    let mut hash = Xxh3Default::new();
    let mut at = 0;
    while at < body {
        let chunk = (body - at).min(CHUNK_BYTES);
        bytes.resize(chunk as usize, 0);
        file.read_at(at, &mut bytes).map_err(cannot)?;
        hash.update(&bytes);
        at += chunk;
    }
    let found = hash.digest();
    if found != sum {
        let what = format!("checksum: expected {sum:016x}, found {found:016x}");
        return Err(Error::corrupt(name, body, what));
    }
    Ok((frame, sum))
}
