//! A catalog with any rows and valid checksums; see `format/catalog.md`.

use redb::{Database, ReadableDatabase, ReadableTable, StorageBackend, TableDefinition};
use simkeep::disk::{Access, Disk, DiskFile, FileName, SimDisk};

const SETTINGS: TableDefinition<'_, &str, u64> = TableDefinition::new("settings");
const SEGMENTS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("segments");
const EPOCHS: TableDefinition<'_, u32, &[u8]> = TableDefinition::new("epochs");
const SESSIONS: TableDefinition<'_, u64, (u64, u64, u64)> = TableDefinition::new("sessions");
const JOURNALS: [TableDefinition<'_, (u64, u32), &[u8]>; 2] =
    [TableDefinition::new("journal_a"), TableDefinition::new("journal_b")];

/// The bytes of a frame's part, except for the last part.
const PART_BYTES: usize = 65_280;

/// The rows of a catalog.
#[derive(Clone, Debug, Default)]
pub struct ForgedCatalog {
    pub settings: Vec<(String, u64)>,
    /// Number, first operation, last operation, bytes of the file, checksum of its trailer.
    pub segments: Vec<[u64; 5]>,
    pub epochs: Vec<ForgedEpoch>,
    /// Number; last operation and last change before; the random number.
    pub sessions: Vec<[u64; 4]>,
    pub journals: [Vec<ForgedFrame>; 2],
}

/// The row of an epoch.
#[derive(Clone, Debug)]
pub struct ForgedEpoch {
    /// The key: the number of older epochs.
    pub count: u32,
    /// Its number. The low 24 bits are the count; the upper 8 are the number of reserved bits.
    pub number: u32,
    /// 1: it has ended; 2: it has only the role change; 4: it has only the role near.
    pub flags: u32,
    /// The number of visits in the store when it began.
    pub begun: u64,
    /// The largest distances of minor and of moderate changes.
    pub bands: [u32; 2],
    pub name: Vec<u8>,
}

impl ForgedEpoch {
    /// The row of a live epoch that began before all visits and reserves no bits.
    pub fn new(count: u32, name: &str) -> ForgedEpoch {
        let name = name.as_bytes().to_vec();
        ForgedEpoch { count, number: count, flags: 0, begun: 0, bands: [3, 10], name }
    }

    fn read(count: u32, row: &[u8]) -> ForgedEpoch {
        ForgedEpoch {
            count,
            number: u32_at(row, 0),
            flags: u32_at(row, 4),
            begun: u64::from_le_bytes(row[8..16].try_into().unwrap()),
            bands: [u32_at(row, 16), u32_at(row, 20)],
            name: row[24..row.len() - 4].to_vec(),
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut out = [self.number, self.flags].map(u32::to_le_bytes).concat();
        out.extend(self.begun.to_le_bytes());
        out.extend(self.bands.map(u32::to_le_bytes).concat());
        out.extend(&self.name);
        out.extend(crc32fast::hash(&out).to_le_bytes());
        out
    }
}

fn u32_at(row: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(row[at..at + 4].try_into().unwrap())
}

/// A frame of the journal.
#[derive(Clone, Debug)]
pub struct ForgedFrame {
    pub first: u64,
    pub count: u32,
    pub operations: Vec<u8>,
}

impl ForgedFrame {
    fn bytes(&self) -> Vec<u8> {
        let mut out = self.first.to_le_bytes().to_vec();
        out.extend(self.count.to_le_bytes());
        out.extend((self.operations.len() as u32).to_le_bytes());
        let mut sum = crc32fast::Hasher::new();
        sum.update(&out);
        sum.update(&self.operations);
        out.extend(sum.finalize().to_le_bytes());
        out.extend(&self.operations);
        out
    }
}

#[derive(Debug)]
struct ForgedBackend(Box<dyn DiskFile>);

impl StorageBackend for ForgedBackend {
    fn len(&self) -> std::io::Result<u64> {
        self.0.size()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> std::io::Result<()> {
        self.0.read_at(offset, out)
    }

    fn set_len(&self, len: u64) -> std::io::Result<()> {
        self.0.set_len(len)
    }

    fn sync_data(&self) -> std::io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> std::io::Result<()> {
        self.0.write_at(offset, data)
    }
}

fn database(disk: &SimDisk, access: Access) -> Database {
    let backend = ForgedBackend(disk.open(FileName::Catalog, access).unwrap());
    Database::builder().set_cache_size(1 << 20).create_with_backend(backend).unwrap()
}

impl ForgedCatalog {
    /// Reads a sound file.
    pub fn read(file: &[u8]) -> ForgedCatalog {
        let disk = SimDisk::of([(FileName::Catalog, file.to_vec())]);
        // After the database is dropped, nothing more is read.
        let database = database(&disk, Access::Write);
        let read = database.begin_read().unwrap();
        let mut catalog = ForgedCatalog::default();
        for row in read.open_table(SETTINGS).unwrap().iter().unwrap() {
            let (key, value) = row.unwrap();
            catalog.settings.push((key.value().to_owned(), value.value()));
        }
        for row in read.open_table(SEGMENTS).unwrap().iter().unwrap() {
            let (_, value) = row.unwrap();
            let (words, _) = value.value().as_chunks::<8>();
            let mut row = std::array::from_fn(|i| u64::from_le_bytes(words[i]));
            // The checksum of the trailer, followed by the checksum of the row.
            row[4] &= u64::from(u32::MAX);
            catalog.segments.push(row);
        }
        for row in read.open_table(EPOCHS).unwrap().iter().unwrap() {
            let (key, value) = row.unwrap();
            catalog.epochs.push(ForgedEpoch::read(key.value(), value.value()));
        }
        if let Ok(table) = read.open_table(SESSIONS) {
            for row in table.iter().unwrap() {
                let (key, value) = row.unwrap();
                let (sequence, changes, nonce) = value.value();
                catalog.sessions.push([key.value(), sequence, changes, nonce]);
            }
        }
        for (frames, table) in catalog.journals.iter_mut().zip(JOURNALS) {
            let Ok(table) = read.open_table(table) else { continue };
            for row in table.iter().unwrap() {
                let (key, value) = row.unwrap();
                let value = value.value();
                assert_eq!(key.value().1, 0, "the golden frames have one part each");
                let count = u32::from_le_bytes(value[8..12].try_into().unwrap());
                let operations = value[20..].to_vec();
                frames.push(ForgedFrame { first: key.value().0, count, operations });
            }
        }
        catalog
    }

    /// Matches the URL hashes of this process: nearly all collide if `SIMKEEP_NARROW_HASHES` is
    /// set.
    pub fn narrow(&mut self) {
        if std::env::var_os("SIMKEEP_NARROW_HASHES").is_some() {
            *self.setting("url_hash_bits") = 8;
        }
    }

    /// The value of a setting.
    pub fn setting(&mut self, name: &str) -> &mut u64 {
        &mut self.settings.iter_mut().find(|(key, _)| key == name).unwrap().1
    }

    /// The catalog as a file.
    pub fn write(&self) -> Vec<u8> {
        let disk = SimDisk::new();
        let database = database(&disk, Access::Create);
        let write = database.begin_write().unwrap();
        {
            let mut settings = write.open_table(SETTINGS).unwrap();
            for (key, value) in &self.settings {
                settings.insert(key.as_str(), value).unwrap();
            }
            let mut segments = write.open_table(SEGMENTS).unwrap();
            for row in &self.segments {
                let mut bytes: Vec<u8> = row.iter().flat_map(|word| word.to_le_bytes()).collect();
                bytes.truncate(36);
                bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
                segments.insert(row[0], bytes.as_slice()).unwrap();
            }
            let mut epochs = write.open_table(EPOCHS).unwrap();
            for epoch in &self.epochs {
                epochs.insert(epoch.count, epoch.bytes().as_slice()).unwrap();
            }
            let mut sessions = write.open_table(SESSIONS).unwrap();
            for [number, sequence, changes, nonce] in &self.sessions {
                sessions.insert(number, (*sequence, *changes, *nonce)).unwrap();
            }
            for (frames, table) in self.journals.iter().zip(JOURNALS) {
                let mut table = write.open_table(table).unwrap();
                for frame in frames {
                    for (part, bytes) in (0..).zip(frame.bytes().chunks(PART_BYTES)) {
                        table.insert((frame.first, part), bytes).unwrap();
                    }
                }
            }
        }
        write.commit().unwrap();
        drop(database);
        let file = disk.contents().into_iter().find(|(name, _)| *name == FileName::Catalog);
        file.unwrap().1
    }
}
