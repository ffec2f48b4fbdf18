//! Truncated, extended, missing and swapped files.

use simkeep::disk::{FileName, SimDisk};

use super::check::{DamageCounts, OpenModes, check, each};
use super::stores::{SoundStore, with_older_catalog};
use simkeep_testing::depth::every;
use simkeep_testing::rerun_hint;

/// The tried lengths of a file: all of a small file; of others many, and all near a multiple of a
/// sector.
fn lengths(len: usize) -> Vec<usize> {
    let step = (len / 1_000).max(1);
    let near = |at: &usize| at.is_multiple_of(step) || (at + 1) % 512 <= 2;
    (0..len).filter(|at| len < 8_000 || near(at)).step_by(every()).collect()
}

fn cut(sound: &SoundStore, name: FileName, counts: &DamageCounts) {
    let content = sound.file(name);
    let lengths = lengths(content.len());
    let what = |n: usize| format!("{name} of the {} store, {} bytes", sound.what, lengths[n]);
    each(lengths.len(), what, |n| {
        let disk = sound.with(name, content[..lengths[n]].to_vec());
        let found = check(&disk, name, sound, OpenModes::nth(n), counts);
        // At its end a catalog may have empty pages.
        assert!(found || name == FileName::Catalog, "not found");
    });
}

#[test]
fn truncated_file_is_an_error_that_names_it() {
    let _again = rerun_hint();
    let counts = DamageCounts::default();
    for sound in [SoundStore::killed(), SoundStore::closed(), SoundStore::golden()] {
        for name in sound.segments() {
            if sound.what != "closed" {
                cut(&sound, name, &counts);
            }
        }
        cut(&sound, FileName::Catalog, &counts);
    }
    counts.say("cuts of files");
}

#[test]
fn extended_segment_is_an_error_that_names_it() {
    let _again = rerun_hint();
    let (sound, counts) = (SoundStore::killed(), DamageCounts::default());
    for name in sound.segments() {
        for more in [1, 8, 64, 512, 4096] {
            let grown = [sound.file(name), &vec![0; more]].concat();
            assert!(check(&sound.with(name, grown), name, &sound, OpenModes::Both, &counts));
        }
    }
}

#[test]
fn missing_or_swapped_segment_is_an_error_that_names_it() {
    let _again = rerun_hint();
    let (sound, counts) = (SoundStore::killed(), DamageCounts::default());
    let [one, two] = sound.segments()[..] else { panic!() };
    let without = SimDisk::of(sound.files.iter().filter(|(name, _)| *name != one).cloned());
    assert!(check(&without, one, &sound, OpenModes::Both, &counts));
    let exchanged = sound.with(two, sound.file(one).to_vec());
    assert!(check(&exchanged, two, &sound, OpenModes::Both, &counts));
}

#[test]
fn older_catalog_with_newer_files_is_detected() {
    let _again = rerun_hint();
    let (sound, older) = with_older_catalog();
    let disk = sound.with(FileName::Catalog, older);
    assert!(check(&disk, FileName::Catalog, &sound, OpenModes::Both, &DamageCounts::default()));
}
