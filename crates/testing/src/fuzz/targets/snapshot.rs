//! A reader that cannot follow an active writer reads a changed `SNAPSHOT`. If it is damaged, the
//! answers are the same or errors. If it is hostile, with a valid checksum, any answers are
//! allowed, but no panic, no hang and no large allocation.
//!
//! The first byte modulo 3 selects the change: 0 changes bytes of the file; 1 truncates it first; 2
//! changes bytes, or takes the rest of the input as everything after the header, and recomputes the
//! checksum.

use simkeep::Reader;
use simkeep::disk::{FileName, LockMode};

use crate::disks::changing_catalog_disk;
use crate::fuzz::ask::{check_same_reader, read_all};
use crate::fuzz::input::{FuzzInput, patch};
use crate::fuzz::store::{SNAPSHOT, disk, golden, on};

/// The bytes of the header, which the length in it does not count.
const HEADER_BYTES: usize = 16;

/// Runs one input.
pub fn run(data: &[u8]) {
    let mut input = FuzzInput(data);
    let mut file = SNAPSHOT.to_vec();
    let mode = input.u8() % 3;
    match mode {
        0 => patch(&mut file, &mut input),
        1 => {
            file.truncate(input.u32() as usize % SNAPSHOT.len());
            patch(&mut file, &mut input);
        }
        _ => {
            file.truncate(SNAPSHOT.len() - 4);
            if input.u8() & 1 == 0 {
                patch(&mut file[HEADER_BYTES..], &mut input);
            } else {
                file.truncate(HEADER_BYTES);
                file.extend_from_slice(input.0);
            }
            let len = (file.len() - HEADER_BYTES) as u32;
            file[12..16].copy_from_slice(&len.to_le_bytes());
            let sum = crc32fast::hash(&file);
            file.extend_from_slice(&sum.to_le_bytes());
        }
    }
    let files = golden().into_iter().map(|(name, bytes)| match name {
        FileName::Snapshot => (name, file.clone()),
        _ => (name, bytes),
    });
    let disk = disk(files);
    let _writer = on(&disk).lock(FileName::Lock, LockMode::Exclusive).unwrap();
    match Reader::open(changing_catalog_disk(&disk)) {
        Ok(reader) if mode == 2 => read_all(&reader),
        Ok(reader) => check_same_reader(&reader, &disk),
        Err(_) => {}
    }
}
