//! A segment taken apart and put together again with checksums that hold: see `format/segment.md`.

const HEAD_BYTES: usize = 64;
const TRAILER_BYTES: usize = 64;
const NUMBERS: usize = 10;
const BLOCK_BYTES: usize = 4096;
const SUMS: u16 = 15;

/// A section: the first eight bytes of its entry, and what it holds.
#[derive(Clone, Debug)]
pub struct Section {
    pub tag: [u8; 8],
    pub bytes: Vec<u8>,
}

/// What a segment holds, without its checksums.
#[derive(Clone, Debug)]
pub struct Segment {
    pub id: u64,
    pub numbers: [u64; NUMBERS],
    /// All but the checksums.
    pub sections: Vec<Section>,
}

fn word<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes[at..at + N].try_into().unwrap()
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(word(bytes, at))
}

fn block_sums(id: u64, tag: [u8; 8], bytes: &[u8]) -> Vec<u8> {
    let sum = |(number, block): (u64, &[u8])| {
        let mut sum = crc32fast::Hasher::new();
        sum.update(&id.to_le_bytes());
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

impl Segment {
    /// Of a file that is sound.
    pub fn read(file: &[u8]) -> Segment {
        let trailer = &file[file.len() - TRAILER_BYTES..];
        let table = &file[u64_at(trailer, 16) as usize..];
        let entry = |i: usize| {
            let entry = &table[NUMBERS * 8 + i * 24..];
            let (start, len) = (u64_at(entry, 8) as usize, u64_at(entry, 16) as usize);
            Section { tag: word(entry, 0), bytes: file[start..start + len].to_vec() }
        };
        let sections = (0..u64_at(trailer, 32) as usize).map(entry);
        Segment {
            id: u64_at(trailer, 8),
            numbers: std::array::from_fn(|i| u64_at(table, i * 8)),
            sections: sections.filter(|s| s.tag != Section::sums(Vec::new()).tag).collect(),
        }
    }

    /// As a file whose checksums hold, whatever it says.
    pub fn write(&self) -> Vec<u8> {
        self.write_with(|_| {})
    }

    /// The same; `table` may change the table before its checksums are made.
    pub fn write_with(&self, table: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut file = b"simkseg\0\x01\0\0\0\0\0\0\0".to_vec();
        file.extend(self.id.to_le_bytes());
        file.resize(HEAD_BYTES - 4, 0);
        let mut file = with_sum(file);
        let sums =
            self.sections.iter().flat_map(|s| block_sums(self.id, s.tag, &s.bytes)).collect();
        let sums = Section::sums(sums);
        let mut entries: Vec<u8> = self.numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        for section in self.sections.iter().chain([&sums]) {
            file.resize(file.len().next_multiple_of(64), 0);
            entries.extend(section.tag);
            entries.extend((file.len() as u64).to_le_bytes());
            entries.extend((section.bytes.len() as u64).to_le_bytes());
            file.extend(&section.bytes);
        }
        file.resize(file.len().next_multiple_of(64), 0);
        let roots = block_sums(self.id, sums.tag, &sums.bytes);
        let counts = [self.sections.len() as u64 + 1, roots.len() as u64 / 4];
        entries.extend(roots);
        table(&mut entries);
        let mut trailer = b"simkend\0".to_vec();
        for number in [self.id, file.len() as u64, entries.len() as u64, counts[0], counts[1], 0] {
            trailer.extend(number.to_le_bytes());
        }
        trailer.extend(crc32fast::hash(&entries).to_le_bytes());
        file.extend(entries);
        file.extend(with_sum(trailer));
        file
    }
}

impl Section {
    fn sums(bytes: Vec<u8>) -> Section {
        let mut tag = [0; 8];
        tag[..2].copy_from_slice(&SUMS.to_le_bytes());
        Section { tag, bytes }
    }
}

/// The numbers of a file's table, if it has one; nothing is checked.
pub fn numbers(file: &[u8]) -> Option<[u64; NUMBERS]> {
    let trailer = file.get(file.len().checked_sub(TRAILER_BYTES)?..)?;
    let table = file.get(usize::try_from(u64_at(trailer, 16)).ok()?..)?;
    (table.len() >= NUMBERS * 8).then(|| std::array::from_fn(|i| u64_at(table, i * 8)))
}
