//! A changed table of document frequencies. If it is damaged, the answers are the same or errors.
//! If it is hostile, with a valid checksum, any answers are allowed, but no panic, no hang and no
//! large allocation.
//!
//! The first byte modulo 3 selects the change: 0 changes bytes of the file; 1 truncates it first; 2
//! changes bytes, or takes the rest of the input as everything between head and trailer, and
//! recomputes the checksum.

use simkeep::df::{FrequencyTable, TableComparison};
use simkeep::disk::FileName;
use simkeep::fingerprint::{Fingerprinter, Frequencies as _};

use crate::fuzz::input::{FuzzInput, patch};
use crate::fuzz::store::disk;

const TABLE: &[u8] = include_bytes!("../../../../../format/golden/words.df");

const HEAD_BYTES: usize = 64;
const TRAILER_BYTES: usize = 320;
const SUM_BYTES: usize = 8;

/// Runs one input.
pub fn run(data: &[u8]) {
    let mut input = FuzzInput(data);
    let mut file = TABLE.to_vec();
    let mode = input.u8() % 3;
    match mode {
        0 => patch(&mut file, &mut input),
        1 => {
            file.truncate(input.u32() as usize % TABLE.len());
            patch(&mut file, &mut input);
        }
        _ => {
            if input.u8() & 1 == 0 {
                patch(&mut file[HEAD_BYTES..], &mut input);
            } else {
                // The input also sets the number of terms and of slots.
                let trailer = file.split_off(file.len() - TRAILER_BYTES);
                file.truncate(HEAD_BYTES);
                let (terms, bits) = (input.u8(), input.u8());
                file.extend_from_slice(input.0);
                let at = file.len();
                file.extend_from_slice(&trailer);
                file[at + 16] = terms;
                file[at + 36] = bits;
            }
            let at = file.len() - SUM_BYTES;
            let sum = xxhash_rust::xxh3::xxh3_64(&file[..at]);
            file[at..].copy_from_slice(&sum.to_le_bytes());
        }
    }
    let same = file == TABLE;
    let Ok(table) = FrequencyTable::on(&disk([(FileName::Df(1), file)]), 1) else {
        assert!(!same, "a sound table is refused");
        return;
    };
    assert!(mode == 2 || same, "damage went unnoticed");
    let entries: Vec<(u64, u32)> = table.iter().collect();
    assert_eq!(entries.len() as u64, table.terms());
    assert!(entries.is_sorted_by(|a, b| a.0 < b.0));
    for (hash, documents) in entries {
        assert_eq!(table.frequency(hash), documents);
        assert!(u64::from(documents) <= table.documents());
    }
    for hash in [0, 1, u64::MAX, 1 << 63] {
        table.frequency(hash);
    }
    let compared = TableComparison::of(&table, &table);
    assert_eq!((compared.first_only, compared.second_only), (0, 0));
    let recipe = format!("{}-sqrt-idf/2", table.features()).parse();
    if let Ok(recipe) = recipe
        && let Ok(mut fingerprinter) = Fingerprinter::with_frequencies(&recipe, &table)
    {
        fingerprinter.of_text("the red house and the plane").unwrap();
    }
}
