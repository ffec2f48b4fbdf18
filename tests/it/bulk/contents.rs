//! The contents of a store after loads, with earlier and forgotten pages, and from another store.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use simkeep::disk::{Dir, Disk, SimDisk};
use simkeep::load::{LoadOptions, Loaded};
use simkeep::{
    Content, Entry, Epoch, HistoryEntry, Observation, Operation, Progress, Restated, Scope, Seen,
    Stage, Store, Visit,
};
use simkeep_testing::compare::{check_counts, check_store, dump};
use simkeep_testing::depth::deep;
use simkeep_testing::disks::HookDisk;
use simkeep_testing::model::Model;
use simkeep_testing::pages::{PREFIXES, URLS};
use simkeep_testing::{create, ms, names, on, open, small, sound};

use super::{little, load, many, some};

#[derive(Clone, Debug)]
enum BulkStep {
    Observe(u64, usize),
    Load(u64, usize),
    Seal,
    Merge,
    ForgetUrl(usize),
    ForgetPrefix(usize),
    Reopen,
}

fn step() -> impl Strategy<Value = BulkStep> {
    prop_oneof![
        3 => (any::<u64>(), 0usize..40).prop_map(|(seed, count)| BulkStep::Observe(seed, count)),
        4 => (any::<u64>(), 0usize..150).prop_map(|(seed, count)| BulkStep::Load(seed, count)),
        1 => Just(BulkStep::Seal),
        1 => Just(BulkStep::Merge),
        1 => (0..URLS.len()).prop_map(BulkStep::ForgetUrl),
        1 => (0..PREFIXES.len()).prop_map(BulkStep::ForgetPrefix),
        1 => Just(BulkStep::Reopen),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(u32::try_from(deep(400)).unwrap()))]

    /// Split in any way, with observations before and after, and forgetting in between.
    #[test]
    fn load_equals_observing_the_same_visits(
        steps in prop::collection::vec(step(), 1..10),
        segment_pages in prop_oneof![Just(1u64 << 29), 1u64..8],
    ) {
        let mut disk = SimDisk::new();
        let mut store = create(&disk, small());
        let mut model = Model::default();
        for (step, time) in steps.into_iter().zip((0..).step_by(50)) {
            match step {
                BulkStep::Observe(seed, count) => {
                    let batch = some(seed, count, time);
                    store.write_batch(&batch).unwrap();
                    batch.iter().for_each(|r| drop(model.request(r, 3)));
                }
                BulkStep::Load(seed, count) => {
                    let batch = some(seed, count, time);
                    let (pages, visits) = (model.page_count(), model.visit_count());
                    model.load(&batch);
                    let options = little().segment_pages(segment_pages);
                    let loaded = store.load(batch.iter().map(Ok), options).unwrap();
                    prop_assert_eq!(loaded.observations, batch.len() as u64);
                    prop_assert_eq!(loaded.visits, model.visit_count() - visits);
                    prop_assert_eq!(loaded.new_pages, model.page_count() - pages);
                }
                BulkStep::Seal => store.seal().unwrap(),
                BulkStep::Merge => drop(store.merge(&Progress::default()).unwrap()),
                BulkStep::ForgetUrl(url) => {
                    store.forget(Scope::Url(URLS[url])).unwrap();
                    model.forget(|u| u == URLS[url]);
                }
                BulkStep::ForgetPrefix(n) => {
                    store.forget(Scope::Prefix(PREFIXES[n].prefix())).unwrap();
                    model.forget(|u| PREFIXES[n].covers(u));
                }
                BulkStep::Reopen => {
                    drop(store);
                    disk = disk.crash_synced_only();
                    store = open(&disk, small());
                }
            }
            check_counts(&store, &model);
        }
        check_store(&store, &model);
        sound(&store).unwrap();
        store.merge(&Progress::default()).unwrap();
        check_store(&store, &model);
        sound(&store).unwrap();
    }
}

#[test]
fn load_in_little_memory_merges_in_levels() {
    let disk = SimDisk::new();
    drop(create(&disk, small()));
    let all = many(3000, 0);
    let (progress, stages) = (Progress::default(), Arc::new(Mutex::new(BTreeSet::new())));
    let (seen, into) = (progress.clone(), Arc::clone(&stages));
    let hooked = HookDisk::new(on(&disk), move |_, _| {
        into.lock().unwrap().insert(seen.stage());
    });
    let store = Store::open(Arc::new(hooked), small()).unwrap();
    stages.lock().unwrap().clear();
    let loaded = store.load(all.iter().map(Ok), little().progress(progress)).unwrap();
    let stages = stages.lock().unwrap().clone();
    assert_eq!(stages, BTreeSet::from([Stage::Gathering, Stage::Merging, Stage::Writing]));
    let other = create(&SimDisk::new(), small());
    let much = other.load(all.iter().map(Ok), LoadOptions::default()).unwrap();
    assert_eq!(loaded, much);
    assert_eq!((loaded.pages, loaded.segments), (3000, 1));
    let mut model = Model::default();
    all.iter().for_each(|(url, visit)| model.insert(url, visit.clone()));
    assert!(dump(&store.snapshot()).unwrap() == model);
    assert!(dump(&other.snapshot()).unwrap() == model);
    sound(&store).unwrap();
    check_counts(&store, &model);
    // Only the files of the store are left: lock, catalog, and the segment.
    assert_eq!(disk.list(Dir::Segments).unwrap().len(), 1);
}

#[test]
fn page_with_very_many_visits_loads_as_one_page() {
    let store = create(&SimDisk::new(), small());
    let visits = (0..5000i64).map(|n| {
        let (time, print) = ((n * 7919) % 5000, (n % 13).cast_unsigned());
        Ok(Observation::content("http://a.example/", ms(time), print, Epoch::from_number(0)))
    });
    let loaded = store.load(visits, little()).unwrap();
    assert_eq!((loaded.pages, loaded.visits), (1, 5000));
    assert_eq!(store.history("http://a.example/").unwrap().len(), 5000);
    sound(&store).unwrap();
}

#[test]
fn loading_again_changes_nothing() {
    let store = create(&SimDisk::new(), small());
    let all = some(3, 200, 0);
    let first = load(&store, &all).unwrap();
    let before = store.stats().unwrap();
    let again = load(&store, &all).unwrap();
    let mut nothing = Loaded::default();
    nothing.observations = first.observations;
    assert_eq!(again, nothing);
    assert_eq!(store.stats().unwrap(), before);
}

#[test]
fn reloading_pages_with_one_visit_changes_nothing() {
    let store = create(&SimDisk::new(), small());
    let urls: Vec<String> = (0..100).map(|page| format!("http://h{page}.example/")).collect();
    let visit = |url| Observation::content(url, ms(1_000), 7, Epoch::from_number(0)).into();
    let all: Vec<Operation<'_>> = urls.iter().map(|url| visit(url)).collect();
    assert_eq!(load(&store, &all).unwrap().visits, 100);
    for _ in 0..2 {
        let again = load(&store, &all).unwrap();
        assert_eq!((again.visits, again.new_pages), (0, 0));
        assert_eq!(store.stats().unwrap().visits, 100);
    }
    assert_eq!(store.history(&urls[0]).unwrap().len(), 1);
}

#[test]
fn pages_loaded_after_a_forget_are_visible() {
    let mut model = Model::default();
    let store = create(&SimDisk::new(), small());
    let all = some(4, 100, 0);
    for (round, prefix) in [0, 2, 7].into_iter().enumerate() {
        load(&store, &all).unwrap();
        model.load(&all);
        check_store(&store, &model);
        let forgotten = store.forget(Scope::Prefix(PREFIXES[prefix].prefix())).unwrap();
        assert_eq!(forgotten, model.forget(|u| PREFIXES[prefix].covers(u)));
        assert!(forgotten.pages > 0);
        if round == 1 {
            store.seal().unwrap();
        }
    }
    load(&store, &all).unwrap();
    model.load(&all);
    check_store(&store, &model);
    store.purge(Scope::Prefix(PREFIXES[1].prefix()), &Progress::default()).unwrap();
    model.forget(|u| PREFIXES[1].covers(u));
    check_store(&store, &model);
    sound(&store).unwrap();
}

#[test]
fn a_store_is_loaded_into_another() {
    let source = create(&SimDisk::new(), small());
    source.write_batch(&some(5, 100, 0)).unwrap();
    load(&source, &some(6, 100, 60)).unwrap();
    source.forget(Scope::Url(URLS[3])).unwrap();
    source.write_batch(&some(7, 30, 120)).unwrap();
    let model = dump(&source.snapshot()).unwrap();
    // Equal numbers for the epochs, and different ones.
    let same = create(&SimDisk::new(), small());
    let loaded = same.load(source.snapshot().observations(None), little()).unwrap();
    assert_eq!(loaded.visits, model.visit_count());
    check_store(&same, &model);
    let other = Store::create(on(&SimDisk::new()), small().epoch("two".into()));
    let other = other.unwrap();
    let copied = other.copy_from(&source.snapshot(), little()).unwrap();
    // Other numbers in another order may need another number of bytes.
    let mut expected = loaded;
    expected.bytes = copied.bytes;
    expected.begun = other.snapshot().epochs()[1..].to_vec();
    assert_eq!(copied, expected);
    assert_eq!(names(other.snapshot().epochs()), ["two", "one"]);
    for url in URLS {
        let number = |epoch: Epoch| Epoch::from_number(1 - epoch.number());
        let turned = |entry: Entry| match entry {
            // A redirect belongs to no epoch.
            Entry::Visit(visit @ Visit { seen: Seen::Content(content), .. })
                if !content.is_redirect() =>
            {
                let content = Content { epoch: number(content.epoch), ..content };
                Entry::Visit(Visit { seen: Seen::Content(content), ..visit })
            }
            Entry::Restated(restated) => {
                Entry::Restated(Restated { epoch: number(restated.epoch), ..restated })
            }
            visit => visit,
        };
        let entries = |store: &Store| -> BTreeSet<Entry> {
            store.history(url).unwrap().iter().map(HistoryEntry::entry).collect()
        };
        let expected: BTreeSet<Entry> = entries(&source).into_iter().map(turned).collect();
        assert_eq!(entries(&other), expected);
    }
    sound(&other).unwrap();
}
