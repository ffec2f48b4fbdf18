//! Sectors that lost their contents, or have those of others.

use simkeep::disk::FileName;

use super::check::{DamageCounts, OpenModes, check, each};
use super::stores::{SoundStore, live_bytes, with_older_catalog};
use simkeep_testing::depth::deep;
use simkeep_testing::{choice, rerun_hint};

/// A file with one or two wrong sectors.
struct DamagedFile {
    name: FileName,
    what: String,
    content: Vec<u8>,
}

fn sector(content: &[u8], size: usize, number: usize) -> std::ops::Range<usize> {
    number * size..content.len().min((number + 1) * size)
}

/// Replaces a sector with one of another file, as far as both have data.
fn put(content: &mut [u8], size: usize, number: usize, other: &[u8], from: usize) {
    let (to, from) = (sector(content, size, number), sector(other, size, from));
    for (to, from) in to.zip(from) {
        content[to] = other[from];
    }
}

/// Sectors that are zeroed, or exchanged with each other and with those of other files of the same kind.
fn damages(sound: &SoundStore, name: FileName, others: &[&[u8]]) -> Vec<DamagedFile> {
    let content = sound.file(name);
    let mut damages = Vec::new();
    let mut choice = choice(7);
    let mut add = |what: String, damaged: Vec<u8>| {
        if damaged != content {
            damages.push(DamagedFile { name, what, content: damaged });
        }
    };
    for size in [512, 4096] {
        let count = content.len().div_ceil(size);
        for number in 0..count {
            let mut zeroed = content.to_vec();
            zeroed[sector(content, size, number)].fill(0);
            add(format!("sector {number} of {size} bytes is zero"), zeroed);
            let anywhere = usize::try_from(choice(count as u64)).unwrap();
            for with in [number + 1, anywhere].into_iter().filter(|with| *with < count) {
                let mut swapped = content.to_vec();
                put(&mut swapped, size, number, content, with);
                add(format!("sector {number} of {size} bytes is that of {with}"), swapped.clone());
                put(&mut swapped, size, with, content, number);
                add(format!("sectors {number} and {with} of {size} bytes are swapped"), swapped);
            }
            for other in others {
                let mut stale = content.to_vec();
                put(&mut stale, size, number, other, number);
                add(format!("sector {number} of {size} bytes is that of another file"), stale);
            }
        }
    }
    damages
}

fn check_all(sound: &SoundStore, damages: &[DamagedFile], counts: &DamageCounts) {
    // A sample of very many.
    let every = (damages.len() / usize::try_from(deep(500)).unwrap()).max(1);
    let damages: Vec<&DamagedFile> = damages.iter().step_by(every).collect();
    let what = |n: usize| {
        let DamagedFile { name, what, .. } = damages[n];
        format!("{name} of the {} store: {what}", sound.what)
    };
    each(damages.len(), what, |n| {
        let DamagedFile { name, ref content, .. } = *damages[n];
        let disk = sound.with(name, content.clone());
        let found = check(&disk, name, sound, OpenModes::nth(n), counts);
        if name != FileName::Catalog {
            let was = sound.file(name);
            let live = live_bytes(was);
            let covered =
                live.iter().zip(was).zip(content).any(|((live, was), is)| *live && was != is);
            assert!(found || !covered, "not found");
        }
    });
}

#[test]
fn c3_bad_sectors_in_segments_are_detected_or_harmless() {
    let _again = rerun_hint();
    let counts = DamageCounts::default();
    for sound in [SoundStore::killed(), SoundStore::golden(), SoundStore::large()] {
        for name in sound.segments() {
            let others = sound.segments().into_iter().filter(|other| *other != name);
            let others: Vec<&[u8]> = others.map(|other| sound.file(other)).collect();
            check_all(&sound, &damages(&sound, name, &others), &counts);
        }
    }
    counts.say("damages of sectors of segments");
}

#[test]
fn c3_bad_sectors_in_a_catalog_are_detected_or_harmless() {
    let _again = rerun_hint();
    let counts = DamageCounts::default();
    let (gone_on, older) = with_older_catalog();
    check_all(&gone_on, &damages(&gone_on, FileName::Catalog, &[&older]), &counts);
    let (closed, killed) = (SoundStore::closed(), SoundStore::killed());
    let stale = killed.file(FileName::Catalog);
    check_all(&closed, &damages(&closed, FileName::Catalog, &[stale]), &counts);
    counts.say("damages of sectors of catalogs");
}
