//! A changed segment. If it is damaged, the answers are the same or errors. If it is hostile, with
//! valid checksums, any answers are allowed, but no panic, no hang and no large allocation.
//!
//! The first byte selects the change, and the rest its details:
//!
//! | bits | meaning |
//! |---|---|
//! | 1 and 2 | the segment of the golden store; 3 is the last one, as is 2 |
//! | 4 and 8 | 0: bytes change; 4: the file is cut; 8: sections change, sums are valid; 12: table too |
//! | 16 | hostile: the segment alone, without its neighbours and the journal |
//! | 32 | hostile: enough additional fingerprints to justify cells, and cells |

use std::ops::ControlFlow;

use simkeep::disk::FileName;
use simkeep::inspect::DumpQuery;
use simkeep::{Error, Store};

use crate::forge::catalog::ForgedCatalog;
use crate::forge::segment::{ForgedSection, ForgedSegment, checksum, numbers};
use crate::fuzz::ask::{check_same, query_and_write};
use crate::fuzz::input::{FuzzInput, patch};
use crate::fuzz::store::{CATALOG, SEGMENTS, disk, golden, open};

/// The maximum number of dumped lines to examine.
const LINES_MAX: usize = 50_000;

/// Runs one input.
pub fn run(data: &[u8]) {
    let mut input = FuzzInput(data);
    let mode = input.u8();
    let (id, bytes) = SEGMENTS[usize::from(mode & 3).min(2)];
    let mut file = bytes.to_vec();
    match mode >> 2 & 3 {
        0 => {
            patch(&mut file, &mut input);
            damaged(id, file);
        }
        1 => {
            file.truncate(input.u32() as usize % bytes.len());
            patch(&mut file, &mut input);
            damaged(id, file);
        }
        2 => {
            let mut segment = segment(&file, mode & 32 != 0);
            splice(&mut segment, &mut input);
            hostile(id, segment.write(), mode & 16 != 0);
        }
        _ => {
            let mut segment = segment(&file, mode & 32 != 0);
            let mut first = FuzzInput(input.string());
            splice(&mut segment, &mut first);
            let file = segment.write_with(|table| patch(table, &mut input));
            hostile(id, file, mode & 16 != 0);
        }
    }
}

/// A segment to change, with cells if `cells` is set.
fn segment(file: &[u8], cells: bool) -> ForgedSegment {
    let segment = ForgedSegment::read(file);
    if cells { segment.with_cells(8_000) } else { segment }
}

fn damaged(id: u64, file: Vec<u8>) {
    let files = golden().into_iter().map(|(name, bytes)| match name {
        FileName::Segment(of) if of == id => (name, file.clone()),
        _ => (name, bytes),
    });
    if let Ok(store) = open(&disk(files)) {
        check_same(&store);
    }
}

/// Changes a segment's numbers and sections: replaces some bytes of a section by others, which may
/// change its length.
fn splice(segment: &mut ForgedSegment, input: &mut FuzzInput<'_>) {
    while !input.is_empty() {
        let what = input.u8();
        let count = segment.sections.len().max(1);
        match (what >> 5, segment.sections.get_mut(usize::from(what & 31) % count)) {
            (0, _) => {
                let number = usize::from(what) % segment.numbers.len();
                segment.numbers[number] = input.u64();
            }
            (1, Some(section)) => section.tag[input.below(8)] = input.u8(),
            (2, Some(section)) => {
                let section = ForgedSection { tag: section.tag, bytes: input.string().to_vec() };
                segment.sections.push(section);
            }
            (3, Some(_)) => {
                segment.sections.remove(usize::from(what & 31) % count);
            }
            (_, Some(section)) => {
                let at = usize::from(input.u16()) % (section.bytes.len() + 1);
                let lengths = input.u8();
                let new = input.bytes(usize::from(lengths & 15));
                // Usually, the section keeps its length.
                let old = match lengths >> 4 {
                    old @ 1..8 => usize::from(old) * 2,
                    _ => new.len(),
                };
                let end = (at + old).min(section.bytes.len());
                section.bytes.splice(at..end, new.iter().copied());
            }
            (_, None) => return,
        }
    }
}

/// Puts the segment into a store whose catalog agrees with it.
fn hostile(id: u64, file: Vec<u8>, alone: bool) {
    let Some([first, last, ..]) = numbers(&file) else { return };
    let mut catalog = ForgedCatalog::read(CATALOG);
    if alone {
        catalog.segments.retain(|row| row[0] == id);
        catalog.journals = Default::default();
    }
    for row in &mut catalog.segments {
        if row[0] == id {
            *row = [id, first, last, file.len() as u64, checksum(&file)];
        }
    }
    let rows = catalog.segments.iter().map(|row| row[0]);
    let mut files = vec![(FileName::Catalog, catalog.write())];
    for (of, bytes) in SEGMENTS.iter().filter(|(of, _)| rows.clone().any(|row| row == *of)) {
        let bytes = if *of == id { file.clone() } else { bytes.to_vec() };
        files.push((FileName::Segment(*of), bytes));
    }
    if let Ok(store) = open(&disk(files)) {
        dump(&store, id);
        query_and_write(&store);
    }
}

/// Dumps the segment. Each line begins at the end of the previous one, whatever the bytes are.
fn dump(store: &Store, id: u64) {
    let (mut at, mut left) = (0, LINES_MAX);
    let dumped = DumpQuery::all().run(&store.snapshot(), id, |line| {
        assert_eq!(line.offset, at, "{line}");
        (at, left) = (at + line.len, left - 1);
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(!matches!(dumped, Err(Error::Bug(_))), "{dumped:?}");
}
