//! Numbers in files are not believed: whatever a damaged or foreign store says of lengths and counts,
//! with checksums that hold, nothing takes memory in proportion to it.
#![cfg(test)]
#![cfg(not(feature = "narrow-hash"))]

#[path = "../fuzz/src/catalog.rs"]
#[expect(
    unreachable_pub,
    dead_code,
    clippy::cast_possible_truncation,
    reason = "shared with the fuzz targets"
)]
mod catalog;
#[path = "../fuzz/src/segment.rs"]
#[expect(unreachable_pub, dead_code, clippy::cast_possible_truncation, reason = "as above")]
mod segment;

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use catalog::{Catalog, Frame};
use segment::Segment;
use simkeep::disk::{Disk, Name, SimDisk};
use simkeep::{
    Epoch, Options, Query, Reader, RepairOptions, Snapshot, Store, VerifyOptions, repair_on,
    verify_on,
};

/// The system's allocator, which knows how much is taken.
struct Counting;

static TAKEN: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

fn take(bytes: usize) {
    let taken = TAKEN.fetch_add(bytes, Ordering::Relaxed) + bytes;
    MOST.fetch_max(taken, Ordering::Relaxed);
}

#[expect(unsafe_code, reason = "an allocator is unsafe to implement")]
// SAFETY: every call is the system allocator's, with the same arguments.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: the caller's promises are those of this method.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        TAKEN.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// All files together have less than 200 KB.
const BYTES_MAX: usize = 48 << 20;

/// Values that no count and no length in these files has.
const HUGE: [u64; 5] = [u64::MAX, (1 << 62) - 1, 1 << 40, (1 << 32) - 1, (1 << 30) - 1];

const SEGMENTS: [u64; 3] = [3, 7, 8];

fn golden(name: Name) -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("format/golden/v1");
    fs::read(root.join(name.to_string())).unwrap()
}

fn options() -> Options {
    Options { background: false, memtable_observations: 16, ..Options::default() }
}

/// Opens, reads, checks and repairs: what comes of it does not matter here.
fn use_all(what: &str, files: Vec<(Name, Vec<u8>)>) {
    let disk = || -> Arc<dyn Disk> { Arc::new(SimDisk::of(files.iter().cloned())) };
    MOST.store(TAKEN.load(Ordering::Relaxed), Ordering::Relaxed);
    let before = TAKEN.load(Ordering::Relaxed);
    let read = |view: &Snapshot| {
        let _ = view.scan(None).try_for_each(|page| view.history(&page?.url).map(drop));
        for k in [3, 64] {
            let _ = view.search(&Query::new(0, k).epoch(Epoch(1)));
        }
    };
    if let Ok(reader) = Reader::open_on(disk()) {
        read(&reader);
        let _ = reader.stats();
    }
    if let Ok(store) = Store::open_on(disk(), options()) {
        read(&store.snapshot());
        let _ = store.stats();
        let _ = store.merge();
        let _ = store.verify();
    }
    let _ = verify_on(disk(), VerifyOptions::default());
    let options = RepairOptions { memory_bytes: 1 << 20, ..RepairOptions::default() };
    let _ = repair_on(disk(), Arc::new(SimDisk::new()), options.keep_forgotten(true));
    let most = MOST.load(Ordering::Relaxed) - before;
    assert!(most < BYTES_MAX, "{what}: {most} bytes");
}

/// The golden store with another catalog, and with another content of one segment.
fn files(catalog: &Catalog, other: Option<(u64, &[u8])>) -> Vec<(Name, Vec<u8>)> {
    let segments = SEGMENTS.map(|id| match other {
        Some((of, bytes)) if of == id => (Name::Segment(id), bytes.to_vec()),
        _ => (Name::Segment(id), golden(Name::Segment(id))),
    });
    [(Name::Catalog, catalog.write())].into_iter().chain(segments).collect()
}

/// A catalog that agrees with a segment, so that it is not refused for that.
fn agreeing(id: u64, file: &[u8]) -> Catalog {
    let mut catalog = Catalog::read(&golden(Name::Catalog));
    for row in catalog.segments.iter_mut().filter(|row| row[0] == id) {
        let [first, last, ..] = segment::numbers(file).unwrap_or_default();
        *row = [id, first, last, file.len() as u64];
    }
    catalog
}

fn huge_segments() {
    for id in SEGMENTS {
        let sound = golden(Name::Segment(id));
        let len = sound.len();
        // The fields of the trailer: where the table is, how long, how many sections and roots.
        for field in [16, 24, 32, 40] {
            for value in HUGE {
                let mut file = sound.clone();
                file[len - 64 + field..][..8].copy_from_slice(&value.to_le_bytes());
                let sum = crc32fast::hash(&file[len - 64..len - 4]).to_le_bytes();
                file[len - 4..].copy_from_slice(&sum);
                let what = format!("segment {id}, {value} in the trailer at {field}");
                use_all(&what, files(&agreeing(id, &sound), Some((id, &file))));
            }
        }
        // The numbers of the table, and where its sections are and how long.
        let segment = Segment::read(&sound);
        let entries = (0..segment.sections.len() + 1).flat_map(|s| [88 + 24 * s, 96 + 24 * s]);
        for at in (0..10).map(|number| number * 8).chain(entries) {
            for value in HUGE {
                let file = segment.write_with(|table| {
                    table[at..at + 8].copy_from_slice(&value.to_le_bytes());
                });
                let what = format!("segment {id}, {value} in the table at {at}");
                use_all(&what, files(&agreeing(id, &file), Some((id, &file))));
            }
        }
        // The first number of each section: counts, lengths and places, whatever stands there.
        for section in 0..segment.sections.len() {
            for value in HUGE {
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
    let sound = Catalog::read(&golden(Name::Catalog));
    let check = |what: String, change: &dyn Fn(&mut Catalog)| {
        let mut catalog = sound.clone();
        change(&mut catalog);
        use_all(&what, files(&catalog, None));
    };
    for value in HUGE {
        for setting in 0..sound.settings.len() {
            check(format!("setting {setting} is {value}"), &|c| c.settings[setting].1 = value);
        }
        for row in 0..sound.segments.len() {
            for word in 0..4 {
                check(format!("word {word} of row {row} is {value}"), &|c| {
                    c.segments[row][word] = value;
                });
            }
        }
        let narrow = u32::try_from(value).unwrap_or(u32::MAX);
        check(format!("an epoch has the number {narrow}"), &|c| c.epochs[1].0 = narrow);
        for frame in 0..sound.journals[0].len() {
            check(format!("frame {frame} has {narrow} operations"), &|c| {
                c.journals[0][frame].count = narrow;
            });
            check(format!("frame {frame} begins at {value}"), &|c| {
                c.journals[0][frame].first = value;
            });
        }
        // Operations of every kind whose first number is huge, and what follows a new page's URL.
        let first = sound.segments.last().unwrap()[2] + 1;
        let url = b"http://a/";
        let head = [&[28, 9][..], url, &[0], &varint(value), &varint(value)].concat();
        let visits = [&[5, 9][..], url, &varint(value)].concat();
        let starts = (0..32u8).map(|tag| [&[tag][..], &varint(value)].concat());
        for operations in starts.chain([head, visits]) {
            let what = format!("an operation {operations:?}");
            check(what, &|c| {
                c.journals =
                    [vec![Frame { first, count: 1, operations: operations.clone() }], Vec::new()];
            });
        }
    }
}

/// One test, since it counts what the whole process takes.
#[test]
fn memory_does_not_grow_with_numbers_read_from_a_file() {
    huge_segments();
    huge_catalogs();
}
