//! `repair` saves everything that it does not report as lost, and nothing else.

use std::sync::atomic::{AtomicUsize, Ordering};

use simkeep::disk::{FileName, SimDisk};
use simkeep::repair::{RepairOptions, Repaired, repair};
use simkeep::verify::{VerifyOptions, verify};
use simkeep::{Error, Observation, Progress, Reader, Role, Scope, Store};

use super::check::each;
use super::stores::{SoundStore, operations, sections};
use simkeep_testing::compare::dump;
use simkeep_testing::depth::deep;
use simkeep_testing::model::Model;
use simkeep_testing::pages::{PREFIXES, SurtPosition};
use simkeep_testing::sample::fill;
use simkeep_testing::{choice, create, ms, on, rerun_hint, small};

/// The results of repairs.
#[derive(Debug, Default)]
pub(crate) struct RepairCounts {
    tried: AtomicUsize,
    whole: AtomicUsize,
    refused: AtomicUsize,
    withheld: AtomicUsize,
}

fn add(count: &AtomicUsize, yes: bool) {
    count.fetch_add(usize::from(yes), Ordering::Relaxed);
}

/// Whether a loss explains that a visit of this page is missing.
fn explains(repaired: &Repaired, place: &SurtPosition) -> bool {
    repaired.lost.iter().any(|loss| {
        let after = loss.after_url.as_ref().is_none_or(|after| SurtPosition::of(after) < *place);
        let before =
            loss.before_url.as_ref().is_none_or(|before| *place < SurtPosition::of(before));
        loss.pages.is_none() || (after && before)
    })
}

/// Repairs a store, and compares the result with the original.
pub(crate) fn check(
    disk: &SimDisk,
    sound: &SoundStore,
    counts: &RepairCounts,
) -> (Repaired, Reader) {
    let before = disk.changes();
    let repair = |keep: bool| {
        let to = SimDisk::new();
        let options = RepairOptions::default().memory_bytes(1 << 20);
        repair(on(disk), on(&to), options.keep_forgotten(keep)).map(|repaired| (repaired, to))
    };
    let repaired = match repair(false) {
        Err(Error::AmbiguousRepair { .. }) => None,
        done => Some(done.unwrap()),
    };
    add(&counts.refused, repaired.is_none());
    let kept = repaired.is_none();
    let (repaired, to) = repaired.unwrap_or_else(|| repair(true).unwrap());
    assert_eq!(disk.changes(), before, "the damaged store was written to");
    let verified = verify(on(&to), VerifyOptions::default()).unwrap().sound().unwrap();
    assert_eq!((verified.pages, verified.visits), (repaired.pages, repaired.visits));
    let reader = Reader::open(on(&to)).unwrap();
    let found = dump(&reader.snapshot()).unwrap();
    let was = &sound.answers.0;
    let allowed = if kept { &sound.ever } else { was };
    for (place, visits) in found.pages() {
        for visit in visits {
            assert!(allowed.has(place, visit), "{visit:?} of {} was not there", place.url);
        }
    }
    let mut missing = 0;
    for (place, visits) in was.pages() {
        for visit in visits.iter().filter(|visit| !found.has(place, visit)) {
            assert!(explains(&repaired, place), "{visit:?} of {}: {repaired:#?}", place.url);
            missing += u64::from(visit.is_visit());
        }
    }
    if repaired.lost.iter().all(|loss| loss.pages.is_some()) && repaired.withheld_pages == 0 {
        assert!(missing <= repaired.lost_visits, "{missing}: {repaired:#?}");
    }
    if repaired.is_whole() {
        assert!(found == *was, "all was saved, and it is not the same");
    }
    add(&counts.tried, true);
    add(&counts.whole, repaired.is_whole());
    add(&counts.withheld, repaired.withheld_pages > 0);
    (repaired, reader)
}

/// Damages a file: its bits, its sectors, or its end.
fn damaged(content: &[u8], choice: &mut impl FnMut(u64) -> u64) -> Vec<u8> {
    let mut content = content.to_vec();
    let len = content.len() as u64;
    let mut at = |most: u64| usize::try_from(choice(most)).unwrap();
    match at(8) {
        0 => content.truncate(at(len)),
        kind @ 1..=3 => {
            let size = if kind == 1 { 4096 } else { 512 };
            let start = at(len) / size * size;
            let end = content.len().min(start + size);
            content[start..end].fill(0);
        }
        _ => {
            for _ in 0..=at(3) {
                content[at(len)] ^= 1 << at(8);
            }
        }
    }
    content
}

fn runs() -> usize {
    usize::try_from(deep(1000)).unwrap()
}

#[test]
fn repair_saves_exactly_what_it_does_not_report_lost() {
    let _again = rerun_hint();
    let counts = RepairCounts::default();
    for (sound, share) in
        [(SoundStore::killed(), 4), (SoundStore::closed(), 2), (SoundStore::large(), 1)]
    {
        let mut names = sound.segments();
        names.push(FileName::Catalog);
        let what = |n: usize| format!("damage {n} of the {} store", sound.what);
        each(runs() * share / 7, what, |n| {
            let name = names[n % names.len()];
            let content = damaged(sound.file(name), &mut choice(n as u64));
            check(&sound.with(name, content), &sound, &counts);
        });
    }
    let number = |count: &AtomicUsize| count.load(Ordering::Relaxed);
    println!(
        "{} repairs: {} saved everything, {} were refused at first, {} left out what may have \
         been forgotten",
        number(&counts.tried),
        number(&counts.whole),
        number(&counts.refused),
        number(&counts.withheld),
    );
    assert!(number(&counts.whole) > 0 && number(&counts.refused) > 0);
}

#[test]
fn sound_store_is_repaired_whole() {
    let _again = rerun_hint();
    for sound in
        [SoundStore::killed(), SoundStore::closed(), SoundStore::golden(), SoundStore::large()]
    {
        let (repaired, _) =
            check(&SimDisk::of(sound.files.clone()), &sound, &RepairCounts::default());
        assert!(repaired.is_whole() && repaired.flaws.is_empty(), "{repaired:#?}");
    }
}

#[test]
fn damaged_indexes_lose_nothing_in_a_repair() {
    let _again = rerun_hint();
    let sound = SoundStore::large();
    for name in sound.segments() {
        // Zeroes the page index, the hashes, and all fingerprint tables.
        let mut content = sound.file(name).to_vec();
        for (kind, range) in sections(&content) {
            if kind != 1 && kind != 8 && kind != 19 {
                content[range].fill(0);
            }
        }
        let (repaired, _) = check(&sound.with(name, content), &sound, &RepairCounts::default());
        assert!(repaired.is_whole(), "{repaired:#?}");
        assert!(!repaired.flaws.is_empty());
    }
}

#[test]
fn store_without_a_catalog_is_rebuilt_from_segments() {
    let _again = rerun_hint();
    let sound = SoundStore::killed();
    // `SNAPSHOT` has the names of the epochs, too.
    for gone in [&[FileName::Catalog][..], &[FileName::Catalog, FileName::Snapshot]] {
        let left = sound.files.iter().filter(|(name, _)| !gone.contains(name));
        let (repaired, _) = check(&SimDisk::of(left.cloned()), &sound, &RepairCounts::default());
        assert_eq!(repaired.lost.len(), 1, "{repaired:#?}");
        let [.., newest] = sound.segments()[..] else { panic!() };
        let after = operations(sound.file(newest)).1 + 1;
        assert!(repaired.lost[0].operations.is_some_and(|(first, last)| {
            first == after && last.is_some_and(|last| last > first)
        }));
        let unnamed: &[&str] = if gone.len() == 1 { &[] } else { &["unknown-0", "unknown-1"] };
        assert_eq!(repaired.unnamed_epochs, unnamed);
    }
}

#[test]
fn repaired_store_has_a_live_epoch() {
    let disk = SimDisk::new();
    let store = Store::create(on(&disk), small()).unwrap();
    let (first, name) = (store.change_epoch(), "the-one-that-lives");
    store.observe(Observation::content("https://a.test/", ms(1), 7, first)).unwrap();
    store.register_epoch(name, Role::Both).unwrap();
    store.end_epoch(first, 1).unwrap();
    // The catalog keeps its previous contents after its last commit.
    for time in 2..5 {
        store.observe(Observation::gone("https://a.test/", ms(time))).unwrap();
        store.flush().unwrap();
    }
    store.close().unwrap();
    // The other epoch leaves no trace.
    let mut files = disk.contents();
    files.retain(|(name, _)| *name != FileName::Snapshot);
    let (_, catalog) = files.iter_mut().find(|(name, _)| *name == FileName::Catalog).unwrap();
    let mut bytes = catalog.to_vec();
    let at = |bytes: &[u8]| bytes.windows(name.len()).position(|w| w == name.as_bytes());
    while let Some(at) = at(&bytes) {
        bytes[at..at + name.len()].fill(0);
    }
    *catalog = bytes;
    let to = SimDisk::new();
    let repaired = repair(on(&SimDisk::of(files)), on(&to), RepairOptions::default()).unwrap();
    assert_eq!(repaired.unnamed_epochs, ["unknown-1"]);
    let saved = Store::open(on(&to), small()).unwrap();
    let epochs = saved.snapshot().epochs().to_vec();
    assert!(epochs[0].ended && !epochs[1].ended && epochs[1].name == "unknown-1", "{epochs:?}");
    assert_eq!(saved.history("https://a.test/").unwrap().len(), 4);
}

#[test]
fn newer_of_overlapping_segments_wins() {
    let _again = rerun_hint();
    // Files that a merge and a purge keep for readers, and a crash may keep for good.
    let disk = SimDisk::new();
    let store = create(&disk, small());
    let mut model = Model::default();
    fill(&store, &mut model, 1, 60);
    store.seal().unwrap();
    let before = disk.contents();
    store.merge(&Progress::default()).unwrap();
    let merged = disk.contents();
    store.purge(Scope::Prefix(PREFIXES[0].prefix()), &Progress::default()).unwrap();
    let forgotten = model.forget(|url| PREFIXES[0].covers(url));
    assert!(forgotten.visits > 0);
    store.close().unwrap();
    let mut files = disk.contents();
    files.retain(|(name, _)| *name != FileName::Catalog);
    for (name, content) in before.into_iter().chain(merged) {
        if matches!(name, FileName::Segment(_)) && files.iter().all(|(other, _)| *other != name) {
            files.push((name, content));
        }
    }
    let segments = files.iter().filter(|(name, _)| matches!(name, FileName::Segment(_))).count();
    assert!(segments > 2, "{segments}");
    let to = SimDisk::new();
    let repaired = repair(on(&SimDisk::of(files)), on(&to), RepairOptions::default()).unwrap();
    assert!(dump(&Reader::open(on(&to)).unwrap().snapshot()).unwrap() == model, "{repaired:#?}");
}

#[test]
fn a_missing_segment_is_reported_with_its_operations() {
    let _again = rerun_hint();
    let sound = SoundStore::killed();
    for name in sound.segments() {
        let without = SimDisk::of(sound.files.iter().filter(|(n, _)| *n != name).cloned());
        let (repaired, _) = check(&without, &sound, &RepairCounts::default());
        assert_eq!(repaired.lost.len(), 1);
        assert_eq!(repaired.lost[0].file, name.to_string());
        let (first, last) = operations(sound.file(name));
        assert_eq!(repaired.lost[0].operations, Some((first, Some(last))));
    }
}

#[test]
fn forgotten_pages_stay_forgotten_and_ambiguous_repairs_are_refused() {
    let _again = rerun_hint();
    let sound = SoundStore::killed();
    let name = sound.segments()[1];
    let mut content = sound.file(name).to_vec();
    let tombstones = sections(&content).into_iter().find(|(kind, _)| *kind == 8);
    content[tombstones.unwrap().1.start] ^= 1;
    let disk = sound.with(name, content);
    let to = SimDisk::new();
    let refused = repair(on(&disk), on(&to), RepairOptions::default()).unwrap_err();
    assert!(
        matches!(&refused, Error::AmbiguousRepair { what } if what.contains(&name.to_string()))
    );
    assert!(to.contents().is_empty());
    let (repaired, _) = check(&disk, &sound, &RepairCounts::default());
    assert!(repaired.lost.is_empty(), "no page is lost by that: {repaired:#?}");
}

#[test]
fn store_is_not_repaired_into_an_existing_store() {
    let _again = rerun_hint();
    let sound = SoundStore::killed();
    let (from, to) = (SimDisk::of(sound.files.clone()), SimDisk::of(sound.files.clone()));
    let refused = repair(on(&from), on(&to), RepairOptions::default()).unwrap_err();
    assert!(matches!(refused, Error::StoreExists { .. }), "{refused}");
    assert!(to.contents() == sound.files);
    let nothing = repair(on(&SimDisk::new()), on(&SimDisk::new()), RepairOptions::default());
    assert!(matches!(nothing, Err(Error::NotAStore { .. })));
}

/// All visits that were ever observed in the small store, forgotten or not.
pub(crate) fn ever() -> Model {
    let mut ever = Model::default();
    for (seed, n) in simkeep_testing::sample::SEEDS {
        simkeep_testing::sample::each_request(seed, n, |request| {
            ever.insert_any(&request);
        });
    }
    ever
}

#[test]
fn journal_frames_before_and_after_damage_are_saved() {
    let _again = rerun_hint();
    let sound = SoundStore::closed();
    let [.., newest] = sound.segments()[..] else { panic!() };
    let first = operations(sound.file(newest)).1 + 1;
    let mut content = sound.file(FileName::Catalog).to_vec();
    // All copies of the frame of an operation in the middle: its number, followed by a count of 1.
    let copies = |number: u64| -> Vec<usize> {
        let frame = [&number.to_le_bytes()[..], &1u32.to_le_bytes()].concat();
        let places = content.windows(frame.len()).enumerate();
        places.filter(|(_, bytes)| *bytes == frame).map(|(at, _)| at).collect()
    };
    let number = (first + 3..).take(8).find(|number| !copies(*number).is_empty()).unwrap();
    let places = copies(number);
    places.iter().for_each(|at| content[at + 21] ^= 1);
    let disk = sound.with(FileName::Catalog, content);
    let (repaired, _) = check(&disk, &sound, &RepairCounts::default());
    let [loss, others @ ..] = repaired.lost.as_slice() else { panic!("{repaired:#?}") };
    assert_eq!(loss.operations, Some((number, Some(number))));
    assert_eq!(repaired.damaged_frames, 1);
    // The other losses report no pages, but only what may have been lost with the frame.
    assert!(others.iter().all(|loss| loss.pages == Some(0)), "{repaired:#?}");
    assert!(repaired.lost_visits < 3, "{repaired:#?}");
}
