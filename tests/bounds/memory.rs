//! Numbers in files are not trusted: whatever lengths and counts a damaged or hostile store declares
//! behind valid checksums, nothing allocates memory in proportion to them.

use simkeep_testing::depth::up_to;
use simkeep_testing::sound;
use std::fs;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use simkeep::disk::{Disk, FileName, RealDisk, SimDisk};
use simkeep::repair::{RepairOptions, repair};
use simkeep::verify::{VerifyOptions, verify};
use simkeep::{Epoch, Options, Progress, Query, Reader, Snapshot, Store};

use simkeep_testing::allocator::{lock_measurement, peak_allocated_bytes};
use simkeep_testing::forge::catalog::{ForgedCatalog, ForgedFrame};
use simkeep_testing::forge::golden::{SEGMENTS, agreeing, files, golden};
use simkeep_testing::forge::segment::{ForgedSection, ForgedSegment};

/// All files together have less than 200 KB.
const BYTES_MAX: usize = 48 << 20;

/// Values that differ from every count and length in these files.
const HUGE: [u64; 5] = [u64::MAX, (1 << 30) - 1, 1 << 40, (1 << 62) - 1, (1 << 32) - 1];

/// The values that are tried: at least one that overflows every sum, and one that is plausible.
fn huge() -> impl Iterator<Item = u64> {
    HUGE.into_iter().take(up_to(5).max(2))
}

fn options() -> Options {
    Options::default().background(false).memtable_observations(16)
}

/// Opens, reads, checks and repairs; the results do not matter here.
fn use_all(what: &str, files: Vec<(FileName, Vec<u8>)>) {
    let disk = || -> Arc<dyn Disk> { Arc::new(SimDisk::of(files.iter().cloned())) };
    let ((), most) = peak_allocated_bytes(|| use_each(&disk));
    assert!(most < BYTES_MAX, "{what}: {most} bytes");
}

fn use_each(disk: &dyn Fn() -> Arc<dyn Disk>) {
    let read = |view: &Snapshot| {
        let _ = view.scan(None).try_for_each(|page| view.history(&page?.url).map(drop));
        for k in [3, 64] {
            let _ = view.search(&Query::new(0, k).epoch(Epoch::from_number(1)));
        }
    };
    if let Ok(reader) = Reader::open(disk()) {
        read(&reader.snapshot());
        let _ = reader.stats();
    }
    if let Ok(store) = Store::open(disk(), options()) {
        read(&store.snapshot());
        let _ = store.stats();
        let _ = store.merge(&Progress::default());
        let _ = sound(&store);
    }
    let _ = verify(disk(), VerifyOptions::default());
    let options = RepairOptions::default().memory_bytes(1 << 20);
    let _ = repair(disk(), Arc::new(SimDisk::new()), options.keep_forgotten(true));
}

fn huge_segments() {
    for id in SEGMENTS {
        let sound = golden(FileName::Segment(id));
        let len = sound.len();
        // The fields of the trailer: the place and length of the table, the number of sections and of
        // roots.
        for field in [16, 24, 32, 40] {
            for value in huge() {
                let mut file = sound.clone();
                file[len - 64 + field..][..8].copy_from_slice(&value.to_le_bytes());
                let sum = crc32fast::hash(&file[len - 64..len - 4]).to_le_bytes();
                file[len - 4..].copy_from_slice(&sum);
                let what = format!("segment {id}, {value} in the trailer at {field}");
                use_all(&what, files(&agreeing(id, &sound), Some((id, &file))));
            }
        }
        // The numbers of the table, and the places and lengths of its sections.
        let segment = ForgedSegment::read(&sound);
        let entries = (0..segment.sections.len() + 1).flat_map(|s| [136 + 24 * s, 144 + 24 * s]);
        for at in (0..16).map(|number| number * 8).chain(entries) {
            for value in huge() {
                let file = segment.write_with(|table| {
                    table[at..at + 8].copy_from_slice(&value.to_le_bytes());
                });
                let what = format!("segment {id}, {value} in the table at {at}");
                use_all(&what, files(&agreeing(id, &file), Some((id, &file))));
            }
        }
        // The first number of each section: counts, lengths and places of any meaning.
        for section in 0..segment.sections.len() {
            for value in huge() {
                let mut segment = segment.clone();
                let changed = &mut segment.sections[section];
                let number: Vec<u8> = match changed.tag[0] {
                    1 | 7 => varint(value),
                    _ => value.to_le_bytes().to_vec(),
                };
                let len = number.len().min(changed.bytes.len());
                changed.bytes[..len].copy_from_slice(&number[..len]);
                let file = segment.write();
                let what = format!("segment {id}, {value} in its section {section}");
                use_all(&what, files(&agreeing(id, &file), Some((id, &file))));
            }
        }
    }
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push((value & 0x7f) as u8);
    out
}

fn huge_catalogs() {
    let sound = ForgedCatalog::read(&golden(FileName::Catalog));
    let check = |what: String, change: &dyn Fn(&mut ForgedCatalog)| {
        let mut catalog = sound.clone();
        change(&mut catalog);
        use_all(&what, files(&catalog, None));
    };
    for value in huge() {
        for setting in 0..sound.settings.len() {
            check(format!("setting {setting} is {value}"), &|c| c.settings[setting].1 = value);
        }
        for row in 0..sound.segments.len() {
            for word in 0..5 {
                check(format!("word {word} of row {row} is {value}"), &|c| {
                    c.segments[row][word] = value;
                });
            }
        }
        let narrow = u32::try_from(value).unwrap_or(u32::MAX);
        check(format!("an epoch has the count {narrow}"), &|c| c.epochs[1].count = narrow);
        check(format!("an epoch has the number {narrow}"), &|c| c.epochs[1].number = narrow);
        check(format!("an epoch began after {value} visits"), &|c| c.epochs[1].begun = value);
        for frame in 0..sound.journals[0].len() {
            check(format!("frame {frame} has {narrow} operations"), &|c| {
                c.journals[0][frame].count = narrow;
            });
            check(format!("frame {frame} begins at {value}"), &|c| {
                c.journals[0][frame].first = value;
            });
        }
        // Operations of every kind with a huge first number, and the fields after the URL of a new page.
        let first = sound.segments.last().unwrap()[2] + 1;
        let url = b"http://a/";
        let head = [&[28, 9][..], url, &[0], &varint(value), &varint(value)].concat();
        let visits = [&[5, 9][..], url, &varint(value)].concat();
        let starts = (0..32u8).map(|tag| [&[tag][..], &varint(value)].concat());
        for operations in starts.chain([head, visits]) {
            let what = format!("an operation {operations:?}");
            check(what, &|c| {
                c.journals = [
                    vec![ForgedFrame { first, count: 1, operations: operations.clone() }],
                    Vec::new(),
                ];
            });
        }
    }
}

#[test]
fn memory_does_not_grow_with_numbers_read_from_a_file() {
    let _alone = lock_measurement();
    huge_segments();
    huge_catalogs();
}

/// A store whose newest segment has other content, whose length agrees with the catalog.
struct SparseStore {
    dir: tempfile::TempDir,
    file: fs::File,
    id: u64,
}

impl SparseStore {
    /// Creates a sparse segment of `len` bytes, with only its head written. Returns `None` if files
    /// cannot be that long.
    fn new(len: u64) -> Option<SparseStore> {
        let dir = tempfile::tempdir().unwrap();
        let id = SEGMENTS[2];
        let sound = golden(FileName::Segment(id));
        let mut catalog = agreeing(id, &sound);
        catalog.segments.iter_mut().filter(|row| row[0] == id).for_each(|row| row[3] = len);
        fs::create_dir(dir.path().join("segments")).unwrap();
        for (name, content) in files(&catalog, None) {
            fs::write(dir.path().join(name.to_string()), content).unwrap();
        }
        let path = dir.path().join(FileName::Segment(id).to_string());
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_len(64).unwrap();
        if let Err(error) = file.set_len(len) {
            eprintln!("skipped: a file of {len} bytes ({error})");
            return None;
        }
        Some(SparseStore { dir, file, id })
    }

    /// Writes a trailer with a valid checksum, preceded by as much of a table.
    fn end(&self, table: &[u8], table_len: u64, sections: u64, roots: u64) {
        let at = self.file.metadata().unwrap().len() - 64;
        self.file.write_all_at(table, at - table_len).unwrap();
        let mut trailer = b"simkend\0".to_vec();
        for number in [self.id, at - table_len, table_len, sections, roots, 0] {
            trailer.extend(number.to_le_bytes());
        }
        trailer.extend(crc32fast::hash(table).to_le_bytes());
        trailer.extend(crc32fast::hash(&trailer).to_le_bytes());
        self.file.write_all_at(&trailer, at).unwrap();
    }

    fn check(&self, what: &str) {
        let disk = || -> Arc<dyn Disk> { Arc::new(RealDisk::new(self.dir.path())) };
        let since = Instant::now();
        let ((), most) = peak_allocated_bytes(|| use_each(&disk));
        eprintln!("{what}: {:?}, {} KiB", since.elapsed(), most >> 10);
        assert!(most < 64 << 20, "{what}: {most} bytes");
    }
}

const TIB: u64 = 1 << 40;

/// A length in a file is no reason to allocate memory, even if the file is as long, since sparse files
/// cost nothing.
#[test]
fn memory_does_not_grow_with_a_sparse_file() {
    let _alone = lock_measurement();
    let Some(sparse) = SparseStore::new(TIB) else { return };
    // The whole file is the table: only sections, or only roots.
    let most = TIB - 128 - 80;
    sparse.end(&[], 80 + most / 24 * 24, most / 24, 0);
    sparse.check("a table of 1 TiB of sections");
    sparse.end(&[], 80 + most, 0, most / 4);
    sparse.check("a table of 1 TiB of roots");
    // A size that might be read nevertheless.
    sparse.end(&[], 80 + (3 << 30), (3 << 30) / 24, 0);
    sparse.check("a table of 3 GiB");
}

/// The section table is valid, but declares a long section. All of it is read, so it is shorter than the
/// file above.
#[test]
fn memory_does_not_grow_with_a_sparse_section() {
    let _alone = lock_measurement();
    let sound = ForgedSegment::read(&golden(FileName::Segment(SEGMENTS[2])));
    for kind in [1, 8] {
        let len = |section: &ForgedSection| match section.tag[0] {
            tag if tag == kind => 1 << 30,
            _ => section.bytes.len() as u64,
        };
        let blocks: u64 = sound.sections.iter().map(|s| len(s).div_ceil(4096)).sum();
        let sums = ([19, 0, 0, 0, 0, 0, 0, 0], 4 * blocks);
        let mut table: Vec<u8> = sound.numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        let mut start = 64;
        for (tag, len) in sound.sections.iter().map(|s| (s.tag, len(s))).chain([sums]) {
            table.extend(tag);
            table.extend(u64::to_le_bytes(start));
            table.extend(u64::to_le_bytes(len));
            start = (start + len).next_multiple_of(64);
        }
        let roots = (4 * blocks).div_ceil(4096);
        table.resize(table.len() + usize::try_from(4 * roots).unwrap(), 0);
        // The table is where the last section ends.
        let Some(sparse) = SparseStore::new(start + table.len() as u64 + 64) else { return };
        sparse.end(&table, table.len() as u64, sound.sections.len() as u64 + 1, roots);
        sparse.check(&format!("a section of kind {kind} of 1 GiB"));
    }
}

/// A million empty sections, with valid checksums.
#[test]
fn a_million_empty_sections_open_within_a_second() {
    let _alone = lock_measurement();
    let id = SEGMENTS[2];
    let sound = ForgedSegment::read(&golden(FileName::Segment(id)));
    let kinds: [&[u8]; 3] = [&[8], &[8, 9, 10, 11, 12], &[13]];
    let many = up_to(1_000_000);
    for (kinds, epochs) in [(kinds[0], many), (kinds[1], many / 5), (kinds[2], 0)] {
        let mut segment = sound.clone();
        for n in 0..many / kinds.len() {
            let epoch = u32::try_from(n.min(epochs)).unwrap().to_le_bytes();
            let tag = |kind: &u8| [*kind, 0, 0, 0, epoch[0], epoch[1], epoch[2], epoch[3]];
            let section = |kind| ForgedSection { tag: tag(kind), bytes: Vec::new() };
            segment.sections.extend(kinds.iter().map(section));
        }
        let file = segment.write();
        let files = files(&agreeing(id, &file), Some((id, &file)));
        let disk = || -> Arc<dyn Disk> { Arc::new(SimDisk::of(files.iter().cloned())) };
        let (read, write) = (disk(), disk());
        let since = Instant::now();
        let (reader, time) = (Reader::open(read), since.elapsed());
        let since = Instant::now();
        let (store, time_to_write) = (Store::open(write, options()), since.elapsed());
        let what = format!("of kinds {kinds:?}: {time:?} to read, {time_to_write:?} to write");
        eprintln!("{what}: {:?}, {:?}", reader.err(), store.err());
        let most = Duration::from_secs(1);
        assert!(time < most && time_to_write < most, "{what}");
    }
}

/// The size of a page of redb follows from its number, and may be 4 GiB and more.
#[test]
fn memory_does_not_grow_with_the_redb_page_order() {
    let _alone = lock_measurement();
    let sound = ForgedCatalog::read(&golden(FileName::Catalog)).write();
    // The roots of both slots, and the upper five bits of their numbers.
    for slot in [64, 192] {
        for root in [slot + 8, slot + 40] {
            for order in 8..32 {
                let mut file = sound.clone();
                file[root + 7] = order << 3;
                let sum = xxhash_rust::xxh3::xxh3_128(&file[slot..slot + 112]).to_le_bytes();
                file[slot + 112..slot + 128].copy_from_slice(&sum);
                let mut files = files(&ForgedCatalog::read(&sound), None);
                files[0].1 = file;
                use_all(&format!("a page of 2^{order} times 4096 bytes"), files);
            }
        }
    }
}
