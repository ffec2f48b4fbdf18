//! A segment that is taken apart and reassembled with valid checksums; see `format/segment.md`.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Mutex;

use simkeep::query::{BucketLayout, Shape};
use simkeep::search::{
    PopcountHistogram, Resources, TableColumn, TableSink, build_index, canonical_key,
};

const HEAD_BYTES: usize = 64;
const TRAILER_BYTES: usize = 64;
const NUMBERS: usize = 16;
const BLOCK_BYTES: usize = 4096;
const FINGERPRINTS: u16 = 9;
const SHARDS: u16 = 10;
const SHAPE: u16 = 11;
const POSTINGS: u16 = 12;
const LISTS: u16 = 13;
const BUCKETS: u16 = 14;
const REST: u16 = 15;
const CELLS: u16 = 16;
const FURTHER: u16 = 17;
const ORDINALS: u16 = 18;
const SUMS: u16 = 19;

/// A section: the first eight bytes of its table entry, and its content.
#[derive(Clone, Debug)]
pub struct ForgedSection {
    pub tag: [u8; 8],
    pub bytes: Vec<u8>,
}

/// The content of a segment, without checksums.
#[derive(Clone, Debug)]
pub struct ForgedSegment {
    /// The format version in the file. Another version is rejected before anything is read.
    pub version: [u8; 4],
    pub id: u64,
    pub store: u64,
    pub nonce: u64,
    pub numbers: [u64; NUMBERS],
    /// All sections except the checksums.
    pub sections: Vec<ForgedSection>,
}

fn word<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes[at..at + N].try_into().unwrap()
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(word(bytes, at))
}

fn block_sums(nonce: u64, tag: [u8; 8], bytes: &[u8]) -> Vec<u8> {
    let sum = |(number, block): (u64, &[u8])| {
        let mut sum = crc32fast::Hasher::new();
        sum.update(&nonce.to_le_bytes());
        sum.update(&tag);
        sum.update(&number.to_le_bytes());
        sum.update(block);
        sum.finalize().to_le_bytes()
    };
    (0..).zip(bytes.chunks(BLOCK_BYTES)).flat_map(sum).collect()
}

fn with_sum(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    bytes
}

impl ForgedSegment {
    /// Reads a sound file.
    pub fn read(file: &[u8]) -> ForgedSegment {
        let trailer = &file[file.len() - TRAILER_BYTES..];
        let table = &file[u64_at(trailer, 16) as usize..];
        let entry = |i: usize| {
            let entry = &table[NUMBERS * 8 + i * 24..];
            let (start, len) = (u64_at(entry, 8) as usize, u64_at(entry, 16) as usize);
            ForgedSection { tag: word(entry, 0), bytes: file[start..start + len].to_vec() }
        };
        let sections = (0..u64_at(trailer, 32) as usize).map(entry);
        ForgedSegment {
            version: word(file, 8),
            id: u64_at(trailer, 8),
            store: u64_at(file, 24),
            nonce: u64_at(trailer, 48),
            numbers: std::array::from_fn(|i| u64_at(table, i * 8)),
            sections: sections.filter(|s| s.tag != ForgedSection::sums(Vec::new()).tag).collect(),
        }
    }

    /// Adds `more` fingerprints to the first epoch, as if page 0 had had them before, and replaces
    /// its tables by cells. No golden segment is large enough to have cells.
    pub fn with_cells(self, more: u64) -> ForgedSegment {
        // So few cells that many of them overflow into further lines.
        self.with_shape(more, |n| Shape::Cells { count: n / 18 + 1 })
    }

    /// Adds `more` fingerprints to the first epoch, as if page 0 had had them before, and builds
    /// tables of the shape for the new number of fingerprints.
    pub fn with_shape(mut self, more: u64, shape: impl FnOnce(u32) -> Shape) -> ForgedSegment {
        let kind = |section: &ForgedSection| u16::from_le_bytes(word(&section.tag, 0));
        let Some(column) = self.sections.iter().find(|s| kind(s) == FINGERPRINTS) else {
            return self;
        };
        let epoch: [u8; 4] = word(&column.tag, 4);
        let of_epoch = |s: &ForgedSection, of: u16| kind(s) == of && s.tag[4..] == epoch;
        let postings = self.sections.iter().find(|s| of_epoch(s, POSTINGS));
        let words = postings.into_iter().flat_map(|s| s.bytes.chunks_exact(4));
        let known = column.bytes.chunks_exact(8).map(|f| u64::from_le_bytes(word(f, 0)));
        let mut all: Vec<(u64, [u8; 4])> = known.zip(words.map(|w| word(w, 0))).collect();
        all.extend((1..=more).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15), [0; 4])));
        all.sort_by_key(|entry| canonical_key(entry.0));
        all.dedup_by_key(|(fingerprint, _)| *fingerprint);
        let mut census = PopcountHistogram::default();
        all.iter().for_each(|(fingerprint, _)| census.add(*fingerprint));
        self.numbers[4] += more;

        let read = |start: u32, out: &mut [u64]| {
            for (out, (fingerprint, _)) in out.iter_mut().zip(&all[start as usize..]) {
                *out = *fingerprint;
            }
            Ok(())
        };
        let resources = Resources { memory_bytes: 1 << 20, threads: 1 };
        let shape = shape(all.len() as u32);
        let made = ForgedTables::default();
        let Ok(()) = build_index(shape, all.len() as u32, resources, &read, &made);
        self.sections.retain(|s| kind(s) <= LISTS || s.tag[4..] != epoch);
        for section in &mut self.sections {
            let new: Vec<u8> = match kind(section) {
                _ if section.tag[4..] != epoch => continue,
                FINGERPRINTS => all.iter().flat_map(|(f, _)| f.to_le_bytes()).collect(),
                SHARDS => census.shards().to_bytes().to_vec(),
                SHAPE => numbers_of(shape).map(u32::to_le_bytes).concat(),
                POSTINGS => all.iter().flat_map(|(_, word)| *word).collect(),
                _ => continue,
            };
            section.bytes = new;
        }
        for ((part, kind), bytes) in made.0.into_inner().unwrap() {
            let [[k0, k1], [p0, p1]] = [kind, part].map(u16::to_le_bytes);
            let [e0, e1, e2, e3] = epoch;
            self.sections.push(ForgedSection { tag: [k0, k1, p0, p1, e0, e1, e2, e3], bytes });
        }
        // Sections are ordered by epoch. The tables of an epoch follow its other sections, part by
        // part.
        self.sections.sort_by_key(|section| {
            let part = u16::from_le_bytes(word(&section.tag, 2));
            let epoch = u32::from_le_bytes(word(&section.tag, 4));
            (epoch, if kind(section) > LISTS { part + 1 } else { 0 }, kind(section))
        });
        self
    }

    /// The segment as a file with valid checksums, whatever it contains.
    pub fn write(&self) -> Vec<u8> {
        self.write_with(|_| {})
    }

    /// The segment as a file. `table` may change the table before its checksums are computed.
    pub fn write_with(&self, table: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut file = b"simkseg\0".to_vec();
        file.extend(self.version);
        file.extend([0; 4]);
        for number in [self.id, self.store, self.nonce] {
            file.extend(number.to_le_bytes());
        }
        file.resize(HEAD_BYTES - 4, 0);
        let mut file = with_sum(file);
        let sums =
            self.sections.iter().flat_map(|s| block_sums(self.nonce, s.tag, &s.bytes)).collect();
        let sums = ForgedSection::sums(sums);
        let mut entries: Vec<u8> = self.numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        for section in self.sections.iter().chain([&sums]) {
            file.resize(file.len().next_multiple_of(64), 0);
            entries.extend(section.tag);
            entries.extend((file.len() as u64).to_le_bytes());
            entries.extend((section.bytes.len() as u64).to_le_bytes());
            file.extend(&section.bytes);
        }
        file.resize(file.len().next_multiple_of(64), 0);
        let roots = block_sums(self.nonce, sums.tag, &sums.bytes);
        let counts = [self.sections.len() as u64 + 1, roots.len() as u64 / 4];
        entries.extend(roots);
        table(&mut entries);
        let mut trailer = b"simkend\0".to_vec();
        let table = [file.len() as u64, entries.len() as u64];
        for number in [self.id, table[0], table[1], counts[0], counts[1], self.nonce] {
            trailer.extend(number.to_le_bytes());
        }
        trailer.extend(crc32fast::hash(&entries).to_le_bytes());
        file.extend(entries);
        file.extend(with_sum(trailer));
        file
    }
}

impl ForgedSection {
    fn sums(bytes: Vec<u8>) -> ForgedSection {
        let mut tag = [0; 8];
        tag[..2].copy_from_slice(&SUMS.to_le_bytes());
        ForgedSection { tag, bytes }
    }
}

/// Tables under construction, by part and kind.
#[derive(Default)]
struct ForgedTables(Mutex<BTreeMap<(u16, u16), Vec<u8>>>);

fn numbers_of(shape: Shape) -> [u32; 4] {
    match shape {
        Shape::Column => [0; 4],
        Shape::Rotations(BucketLayout { bits, lines }) => [1, bits, lines, 0],
        Shape::Cells { count } => [2, 0, 0, count],
        _ => unreachable!("no other shape is written"),
    }
}

fn part_and_kind(part: TableColumn) -> (u16, u16) {
    match part {
        TableColumn::Buckets(rotation) => (rotation as u16, BUCKETS),
        TableColumn::Rest(rotation) => (rotation as u16, REST),
        TableColumn::Cells(table) => (table as u16, CELLS),
        TableColumn::Further(table) => (table as u16, FURTHER),
        TableColumn::Ordinals(table) => (table as u16, ORDINALS),
    }
}

impl TableSink for ForgedTables {
    type Error = Infallible;

    fn place(&self, part: TableColumn, _: u64) -> Result<(), Infallible> {
        self.0.lock().unwrap().insert(part_and_kind(part), Vec::new());
        Ok(())
    }

    fn write(&self, part: TableColumn, bytes: &[u8]) -> Result<(), Infallible> {
        let mut made = self.0.lock().unwrap();
        made.entry(part_and_kind(part)).or_default().extend_from_slice(bytes);
        Ok(())
    }

    fn changed(&self) -> Infallible {
        unreachable!("what is in memory is read again as it was")
    }
}

/// The numbers in a file's table, if it has one. Nothing is checked.
pub fn numbers(file: &[u8]) -> Option<[u64; NUMBERS]> {
    let trailer = file.get(file.len().checked_sub(TRAILER_BYTES)?..)?;
    let table = file.get(usize::try_from(u64_at(trailer, 16)).ok()?..)?;
    (table.len() >= NUMBERS * 8).then(|| std::array::from_fn(|i| u64_at(table, i * 8)))
}

/// The last number of a file: the checksum of its trailer, which is also in its catalog row.
pub fn checksum(file: &[u8]) -> u64 {
    let last = file.last_chunk().map_or(0, |last| u32::from_le_bytes(*last));
    last.into()
}
