//! A changed catalog. If it is damaged, the answers are the same or errors. If it is hostile, with
//! valid checksums, any answers are allowed, but no panic, no hang and no large allocation. A
//! repair of either store makes a sound store.
//!
//! The first byte modulo 4 selects the change: 0 changes bytes of the file; 1 truncates it first; 2
//! changes rows and frames; 3 takes the rest of the input as one frame of the journal.

use std::panic::PanicHookInfo;

use simkeep::Reader;
use simkeep::disk::{FileName, LockMode, SimDisk};
use simkeep::repair::{RepairOptions, repair};

use crate::forge::catalog::{ForgedCatalog, ForgedEpoch, ForgedFrame};
use crate::fuzz::ask::{check_same, check_same_reader, query_and_write};
use crate::fuzz::input::{FuzzInput, patch};
use crate::fuzz::store::{CATALOG, LOCK, SEGMENTS, disk, golden, on, open};
use crate::sound;

/// Whether a panic comes from redb, which panics on damaged files. The store turns these panics into
/// errors; nothing else may panic.
pub fn is_of_redb(panic: &PanicHookInfo<'_>) -> bool {
    let file = panic.location().map_or("", |at| at.file());
    file.contains("redb-") || file.contains("/library/")
}

/// Runs one input.
pub fn run(data: &[u8]) {
    let mut input = FuzzInput(data);
    let mode = input.u8() % 4;
    let mut file = CATALOG.to_vec();
    match mode {
        0 => {
            patch(&mut file, &mut input);
            damaged(file);
        }
        1 => {
            file.truncate(input.u32() as usize % CATALOG.len());
            patch(&mut file, &mut input);
            damaged(file);
        }
        2 => {
            let mut catalog = ForgedCatalog::read(&file);
            change(&mut catalog, &mut input);
            hostile(&catalog);
        }
        _ => {
            let mut catalog = ForgedCatalog::read(&file);
            let count = u32::from(input.u8());
            let first = catalog.segments.last().map_or(1, |row| row[2] + 1);
            let frame = ForgedFrame { first, count, operations: input.0.to_vec() };
            catalog.journals = [vec![frame], Vec::new()];
            hostile(&catalog);
        }
    }
}

fn files(catalog: &[u8]) -> impl Iterator<Item = (FileName, Vec<u8>)> {
    golden().into_iter().map(|(name, bytes)| match name {
        FileName::Catalog => (name, catalog.to_vec()),
        _ => (name, bytes),
    })
}

fn damaged(file: Vec<u8>) {
    let disk = disk(files(&file));
    if let Ok(reader) = Reader::open(on(&disk)) {
        check_same_reader(&reader, &disk);
    }
    {
        let _writer = on(&disk).lock(FileName::Lock, LockMode::Exclusive).unwrap();
        if let Ok(reader) = Reader::open(on(&disk)) {
            assert!(!reader.fell_back());
            check_same_reader(&reader, &disk);
        }
    }
    repaired(&disk);
    if let Ok(store) = open(&disk) {
        check_same(&store);
    }
}

/// Checks that a repair which does not refuse a damaged store makes a sound store.
fn repaired(from: &SimDisk) {
    let to = SimDisk::new();
    let options = RepairOptions::default().keep_forgotten(true);
    if repair(on(from), on(&to), options).is_ok() {
        sound(&open(&to).unwrap()).unwrap();
    }
}

/// Changes rows, and frames with their counts.
fn change(catalog: &mut ForgedCatalog, input: &mut FuzzInput<'_>) {
    while !input.is_empty() {
        match input.below(12) {
            0 => {
                let setting = input.below(catalog.settings.len());
                catalog.settings[setting].1 = input.u64();
            }
            1 => {
                let row = input.below(SEGMENTS.len());
                let word = input.below(5);
                let value = input.u64();
                if let Some(row) = catalog.segments.get_mut(row) {
                    row[word] = value;
                }
            }
            2 => {
                let row = input.below(SEGMENTS.len());
                if row < catalog.segments.len() {
                    catalog.segments.remove(row);
                }
            }
            3 => {
                let row = ForgedEpoch::new(catalog.epochs.len() as u32, "");
                catalog.epochs.push(ForgedEpoch { name: input.string().to_vec(), ..row });
            }
            4 => epoch(catalog, input).count = u32::from(input.u8()),
            5 => catalog.journals.swap(0, 1),
            9 => epoch(catalog, input).number = input.u32(),
            10 => {
                let row = epoch(catalog, input);
                (row.flags, row.begun) = (u32::from(input.u8()), input.u64());
            }
            11 => epoch(catalog, input).name = input.string().to_vec(),
            what => {
                let (journal, frame) = (input.below(2), input.u8());
                let frames = &mut catalog.journals[journal];
                let count = frames.len().max(1);
                let Some(frame) = frames.get_mut(usize::from(frame) % count) else { continue };
                match what {
                    6 => frame.first = frame.first.wrapping_add(input.u64()),
                    7 => frame.count = input.u32(),
                    _ => {
                        let at = usize::from(input.u16()) % (frame.operations.len() + 1);
                        let lengths = input.u8();
                        let new = input.bytes(usize::from(lengths & 15));
                        let old = match lengths >> 4 {
                            old @ 1..8 => usize::from(old) * 2,
                            _ => new.len(),
                        };
                        let end = (at + old).min(frame.operations.len());
                        frame.operations.splice(at..end, new.iter().copied());
                    }
                }
            }
        }
    }
}

/// The row of an epoch.
fn epoch<'c>(catalog: &'c mut ForgedCatalog, input: &mut FuzzInput<'_>) -> &'c mut ForgedEpoch {
    let row = input.below(catalog.epochs.len());
    &mut catalog.epochs[row]
}

fn hostile(catalog: &ForgedCatalog) {
    let root = [(FileName::Catalog, catalog.write()), (FileName::Lock, LOCK[..8].to_vec())];
    let segments = || SEGMENTS.iter().map(|(id, bytes)| (FileName::Segment(*id), bytes.to_vec()));
    let disk = disk(root.into_iter().chain(segments()));
    drop(Reader::open(on(&disk)));
    // The header is overwritten, so the repair reads the catalog page by page.
    let mut file = catalog.write();
    file[..4096].fill(0);
    let headless = segments().chain([(FileName::Catalog, file)]);
    repaired(&SimDisk::of(headless));
    if let Ok(store) = open(&disk) {
        query_and_write(&store);
    }
}
