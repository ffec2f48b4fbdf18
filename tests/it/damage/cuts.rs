//! Truncated, extended, missing and swapped files.

use simkeep::disk::{Name, SimDisk};

use super::check::{Counts, Opens, check, each};
use super::stores::{Sound, with_older_catalog};
use simkeep_testing::again;
use simkeep_testing::depth::every;

/// The tried lengths of a file: all of a small file; of others many, and all near a multiple of a
/// sector.
fn lengths(len: usize) -> Vec<usize> {
    let step = (len / 1_000).max(1);
    let near = |at: &usize| at.is_multiple_of(step) || (at + 1) % 512 <= 2;
    (0..len).filter(|at| len < 8_000 || near(at)).step_by(every()).collect()
}

fn cut(sound: &Sound, name: Name, counts: &Counts) {
    let content = sound.file(name);
    let lengths = lengths(content.len());
    let what = |n: usize| format!("{name} of the {} store, {} bytes", sound.what, lengths[n]);
    each(lengths.len(), what, |n| {
        let disk = sound.with(name, content[..lengths[n]].to_vec());
        let found = check(&disk, name, sound, Opens::nth(n), counts);
        // At its end a catalog may have empty pages.
        assert!(found || name == Name::Catalog, "not found");
    });
}

#[test]
fn truncated_file_is_an_error_that_names_it() {
    let _again = again();
    let counts = Counts::default();
    for sound in [Sound::killed(), Sound::closed(), Sound::golden()] {
        for name in sound.segments() {
            if sound.what != "closed" {
                cut(&sound, name, &counts);
            }
        }
        cut(&sound, Name::Catalog, &counts);
    }
    counts.say("cuts of files");
}

#[test]
fn extended_segment_is_an_error_that_names_it() {
    let _again = again();
    let (sound, counts) = (Sound::killed(), Counts::default());
    for name in sound.segments() {
        for more in [1, 8, 64, 512, 4096] {
            let grown = [sound.file(name), &vec![0; more]].concat();
            assert!(check(&sound.with(name, grown), name, &sound, Opens::Both, &counts));
        }
    }
}

#[test]
fn missing_or_swapped_segment_is_an_error_that_names_it() {
    let _again = again();
    let (sound, counts) = (Sound::killed(), Counts::default());
    let [one, two] = sound.segments()[..] else { panic!() };
    let without = SimDisk::of(sound.files.iter().filter(|(name, _)| *name != one).cloned());
    assert!(check(&without, one, &sound, Opens::Both, &counts));
    let exchanged = sound.with(two, sound.file(one).to_vec());
    assert!(check(&exchanged, two, &sound, Opens::Both, &counts));
}

#[test]
fn older_catalog_with_newer_files_is_detected() {
    let _again = again();
    let (sound, older) = with_older_catalog();
    let disk = sound.with(Name::Catalog, older);
    assert!(check(&disk, Name::Catalog, &sound, Opens::Both, &Counts::default()));
}
