//! Epochs: begun with their tables, restated, compared within, ended.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::sync::Arc;

use simkeep::df::{Counter, Table};
use simkeep::disk::{Disk as _, Fault, Name, OpKind, SimDisk, Strikes};
use simkeep::fingerprint::{Frequencies as _, Recipe};
use simkeep::integrity::{RepairOptions, repair};
use simkeep::load::{LoadEpochs, LoadOptions};
use simkeep::{
    Digest, Epoch, Error, HistoryEntry, Observation, Origin, Progress, Query, Reader,
    RestateOutcome, Restatement, SameBy, Store, Verdict, Versions,
};

use simkeep_testing::disks::HookDisk;
use simkeep_testing::{choice, digest, names, on, open, small, sound};

const URL: &str = "https://example.com/";

fn create(disk: &SimDisk) -> Store {
    Store::create(on(disk), small()).unwrap()
}

/// What makes fingerprints by a table of these texts.
fn weighed(texts: &[&str]) -> Origin {
    let recipe: Recipe = "words-idf".parse().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("words.df");
    let mut counter = Counter::new(&recipe, &path, 1 << 20).unwrap();
    texts.iter().for_each(|text| counter.add(text).unwrap());
    counter.freeze(1).unwrap();
    Origin::new(recipe).table(Table::open(&path).unwrap()).unwrap()
}

fn some() -> Origin {
    weighed(&["the red house", "the green house", "the blue car"])
}

fn plain(recipe: &str) -> Origin {
    Origin::new(recipe.parse().unwrap())
}

/// The tables of document frequencies that are on a disk.
fn tables(disk: &SimDisk) -> Vec<Name> {
    let of_tables =
        |name: &Name| matches!(name, Name::Df(_) | Name::DfNew(_) | Name::DfScratch(..));
    disk.contents().into_iter().map(|(name, _)| name).filter(of_tables).collect()
}

#[test]
fn a_table_lives_as_long_as_its_epoch() {
    let disk = SimDisk::new();
    let store = create(&disk);
    let origin = some();
    let id = origin.frequencies().unwrap().id();
    let epoch = store.begin_epoch(&origin).unwrap();
    assert_eq!((epoch, store.newest_epoch()), (Epoch::from_number(1), Epoch::from_number(1)));
    assert_eq!(store.begin_epoch(&origin).unwrap(), epoch);
    assert_eq!(store.snapshot().epochs()[1].name, format!("words1-sqrt-idf/1 df:{id:016x}"));
    assert_eq!(tables(&disk), [Name::Df(1)]);
    // The table is the store's own, and makes the same fingerprints.
    let found = store.snapshot().origin(epoch).unwrap().unwrap();
    assert_eq!(found.frequencies().unwrap().documents(), 3);
    let of = |origin: &Origin| origin.fingerprinter().unwrap().of_text("the red car").unwrap();
    let fingerprint = of(&origin);
    assert_eq!(of(&found), fingerprint);
    assert_eq!(
        store.snapshot().origin(Epoch::from_number(0)).unwrap().map(|origin| origin.name()),
        None
    );

    store.observe(Observation::content(URL, 1, fingerprint, epoch)).unwrap();
    store.seal().unwrap();
    let reader = Reader::open(on(&disk)).unwrap();
    assert_eq!(of(&reader.snapshot().origin(epoch).unwrap().unwrap()), fingerprint);
    store.close().unwrap();
    let store = open(&disk, small());
    assert_eq!(tables(&disk), [Name::Df(1)]);
    assert_eq!(of(&store.snapshot().origin(epoch).unwrap().unwrap()), fingerprint);

    let next = store.begin_epoch(&plain("strict")).unwrap();
    let Err(Error::EpochInUse { url, .. }) = store.end_epoch(epoch, 0) else { panic!() };
    assert_eq!(url, URL);
    assert_eq!(store.restate(Restatement::new(URL, 1, 7, next)).unwrap(), RestateOutcome::Stored);
    store.end_epoch(epoch, 0).unwrap();
    assert_eq!(tables(&disk), []);
    assert!(matches!(store.snapshot().origin(epoch), Err(Error::EndedEpoch(_))));
    assert!(matches!(store.begin_epoch(&origin), Err(Error::EndedEpoch(_))));
    sound(&store).unwrap();
    store.close().unwrap();
    let store = open(&disk, small());
    assert!(store.snapshot().epochs()[1].ended);
    sound(&store).unwrap();
}

#[test]
fn an_epoch_that_has_ended_gets_no_table_of_another_store() {
    let (disk, origin) = (SimDisk::new(), some());
    let (store, other) = (create(&disk), create(&SimDisk::new()));
    let ended = store.begin_epoch(&origin).unwrap();
    store.register_epoch("after").unwrap();
    store.end_epoch(ended, 0).unwrap();
    other.begin_epoch(&origin).unwrap();
    let before = store.snapshot().epochs().to_vec();
    let loaded = store.copy_from(&other.snapshot(), LoadOptions::default()).unwrap();
    assert_eq!((store.snapshot().epochs().to_vec(), loaded.begun), (before, vec![]));
    assert_eq!(tables(&disk), []);
    // One that lives does.
    let disk = SimDisk::new();
    let copy = create(&disk);
    let loaded = copy.copy_from(&other.snapshot(), LoadOptions::default()).unwrap();
    assert_eq!(loaded.begun, other.snapshot().epochs()[1..]);
    assert_eq!(tables(&disk), [Name::Df(1)]);
}

#[test]
fn the_epochs_of_a_load_that_comes_to_nothing_never_were() {
    let disk = SimDisk::new();
    let store = create(&disk);
    let other = create(&SimDisk::new());
    other.begin_epoch(&some()).unwrap();
    other.observe(Observation::content(URL, 1, 7, Epoch::from_number(1))).unwrap();
    let before = (store.snapshot().epochs().to_vec(), disk.contents());
    let failing = |fails_at: i64| {
        let epochs = LoadEpochs::default();
        let renumbered = epochs.of(&other.snapshot()).unwrap()[1];
        let made = epochs.origin(&weighed(&["a boat", "the boat"])).unwrap();
        let observations = (0..=fails_at).map(|time| match time {
            _ if time == fails_at => Err(Error::input("the cable was pulled")),
            time if time % 2 == 0 => Ok(Observation::content(URL, time, 7, renumbered)),
            time => Ok(Observation::content(URL, time, 7, epochs.named("x")?).also(9, made)),
        });
        let load = LoadOptions::default().memory_bytes(1 << 16).epochs(epochs.clone());
        store.load(observations, load).unwrap_err();
    };
    for fails_at in [0, 1, 2, 5000] {
        failing(fails_at);
        assert_eq!((store.snapshot().epochs(), disk.contents() == before.1), (&before.0[..], true));
    }
    // Broken off when all is written, or for want of room.
    let cancelled = Progress::default();
    let hook = cancelled.clone();
    let hooked = HookDisk::new(on(&disk), move |kind, name| {
        if matches!((kind, name), (OpKind::Rename(_), Some(Name::SegmentNew(_)))) {
            hook.cancel();
        }
    });
    drop(store);
    let store = Store::open(Arc::new(hooked), small()).unwrap();
    let done = store.copy_from(&other.snapshot(), LoadOptions::default().progress(cancelled));
    assert!(matches!(done, Err(Error::Cancelled)), "{done:?}");
    assert_eq!((store.snapshot().epochs().to_vec(), tables(&disk)), (before.0.clone(), vec![]));
    let used: usize = disk.contents().iter().map(|(_, bytes)| bytes.len()).sum();
    for more in [100, 200, 400, 600, 800] {
        disk.set_capacity_bytes(Some(used as u64 + more));
        let done = store.copy_from(&other.snapshot(), LoadOptions::default());
        assert!(done.is_err(), "{more} bytes are enough");
        assert_eq!((store.snapshot().epochs().to_vec(), tables(&disk)), (before.0.clone(), vec![]));
    }
    disk.set_capacity_bytes(None);
    let loaded = store.copy_from(&other.snapshot(), LoadOptions::default()).unwrap();
    assert_eq!(
        (loaded.begun, store.snapshot().epochs()),
        (vec![other.snapshot().epochs()[1].clone()], other.snapshot().epochs())
    );
    assert_eq!(tables(&disk), [Name::Df(1)]);
    sound(&store).unwrap();
}

#[test]
fn an_epoch_that_begins_beside_a_load_and_those_of_the_load_do_not_meet() {
    let disk = SimDisk::new();
    let store = create(&disk);
    let epochs = LoadEpochs::default();
    let all = ["b", "a", "c", "one"];
    let observations = (0..400usize).map(|n| {
        if n == 200 {
            // Meanwhile, and by a name that the load has as well.
            let (beside, a) = (store.register_epoch("beside")?, store.register_epoch("a")?);
            assert_eq!((beside, a), (Epoch::from_number(1), Epoch::from_number(2)));
            store.observe(Observation::content(URL, 1000, 8, beside))?;
            assert_eq!(names(store.snapshot().epochs()), ["one", "beside", "a"]);
            let reader = Reader::open(on(&disk))?;
            assert_eq!(reader.snapshot().epochs().len(), 1);
            let early = store.observe(Observation::content(URL, 1, 1, epochs.named("b")?));
            assert!(matches!(early, Err(Error::UnknownEpoch(_))));
        }
        // One time has contents of all of them, told in any order.
        let (time, name) = ((n / 8) as i64, all[(n * 7 + n / 4) % 4]);
        let visit = Observation::content(URL, time, 7, epochs.named(name)?);
        Ok(if n % 3 == 0 && name != "c" { visit.also(9, epochs.named("c")?) } else { visit })
    });
    let load = LoadOptions::default().memory_bytes(1 << 16).epochs(epochs.clone());
    let loaded = store.load(observations, load).unwrap();
    assert_eq!(names(&loaded.begun), ["b", "c"]);
    assert_eq!(names(store.snapshot().epochs()), ["one", "beside", "a", "b", "c"]);
    assert_eq!(store.newest_epoch(), Epoch::from_number(4));
    // As if each had been observed.
    let expected = create(&SimDisk::new());
    let number = |name| {
        let first = ["beside", "a", "b", "c"].map(|name| expected.register_epoch(name).unwrap());
        assert_eq!(first.map(Epoch::count), [1, 2, 3, 4]);
        expected.register_epoch(name).unwrap()
    };
    expected.observe(Observation::content(URL, 1000, 8, number("beside"))).unwrap();
    for n in 0..400usize {
        let (time, name) = ((n / 8) as i64, all[(n * 7 + n / 4) % 4]);
        let visit = Observation::content(URL, time, 7, number(name));
        let also = n % 3 == 0 && name != "c";
        let visit = if also { visit.also(9, number("c")) } else { visit };
        expected.observe(visit).unwrap();
    }
    assert_eq!(store.history(URL).unwrap(), expected.history(URL).unwrap());
    sound(&store).unwrap();
    // A load of its own is told what it named, and no other.
    let strange = [Ok(Observation::content(URL, 1, 1, epochs.named("d").unwrap()))];
    let strange = store.load(strange, LoadOptions::default()).unwrap_err();
    assert!(strange.to_string().contains("is not registered"), "{strange}");
}

#[test]
fn a_load_of_nothing_begins_its_epochs_and_one_of_an_ended_epoch_is_refused() {
    let store = create(&SimDisk::new());
    let epochs = LoadEpochs::default();
    epochs.named("two").unwrap();
    let nothing = || std::iter::empty::<simkeep::Result<Observation<'_>>>();
    let loaded = store.load(nothing(), LoadOptions::default().epochs(epochs.clone())).unwrap();
    assert_eq!((names(&loaded.begun), loaded.observations), (vec!["two"], 0));
    let again = store.load(nothing(), LoadOptions::default().epochs(epochs.clone())).unwrap();
    assert_eq!(again.begun, []);
    store.end_epoch(Epoch::from_number(0), 0).unwrap();
    epochs.named("one").unwrap();
    let refused = store.load(nothing(), LoadOptions::default().epochs(epochs.clone()));
    assert!(matches!(refused, Err(Error::EndedEpoch(name)) if name == "one"));
    assert!(epochs.named("").is_err() && epochs.named("\n").is_err());
    // There is one already.
    assert!((2..1 << 15).all(|n| epochs.named(&format!("e{n}")).is_ok()));
    assert!(epochs.named("one more").is_err());
}

#[test]
fn a_lost_table_is_told_of_and_can_be_given_again() {
    let disk = SimDisk::new();
    let store = create(&disk);
    let (one, other) = (some(), weighed(&["a boat", "the boat"]));
    let epoch = store.begin_epoch(&one).unwrap();
    disk.remove(Name::Df(1)).unwrap();
    sound(&store).unwrap();
    assert!(matches!(store.snapshot().origin(epoch), Err(Error::NoTable { .. })));
    let why = store.snapshot().origin(epoch).unwrap_err().to_string();
    assert!(why.contains("0000000001.df") && why.contains("once more"), "{why}");
    assert_eq!(store.begin_epoch(&one).unwrap(), epoch);
    assert!(store.snapshot().origin(epoch).unwrap().is_some());
    // Another table under its name is not taken for it.
    store.begin_epoch(&other).unwrap();
    let contents = disk.contents();
    let bytes = |wanted| contents.iter().find(|(name, _)| *name == wanted).unwrap().1.clone();
    sound(&store).unwrap();
    let files = contents.iter().filter(|(name, _)| *name != Name::Df(1)).cloned();
    let swapped = SimDisk::of(files.chain([(Name::Df(1), bytes(Name::Df(2)))]));
    store.close().unwrap();
    let reader = Reader::open(on(&swapped)).unwrap();
    assert!(matches!(reader.snapshot().origin(epoch), Err(Error::Corrupt(_))));
    let verified = simkeep::integrity::verify(on(&swapped), Default::default()).unwrap();
    assert_eq!(verified.flaws.len(), 1, "{verified:?}");
    assert_eq!(verified.flaws[0].file, "0000000001.df");
}

#[test]
fn the_power_may_go_while_an_epoch_begins_or_ends() {
    let origin = some();
    let (mut begun, mut ended) = (0, 0);
    for stop in 1.. {
        let disk = SimDisk::new();
        let store = create(&disk);
        store.observe(Observation::content(URL, 1, 7, Epoch::from_number(0))).unwrap();
        disk.fail(Fault {
            strikes: Strikes::Changes,
            nth: stop,
            kind: ErrorKind::Other,
            lasting: true,
        });
        let first = store.begin_epoch(&origin);
        let second = store.begin_epoch(&plain("strict"));
        let ending = first.as_ref().map(|first| store.end_epoch(*first, 0));
        for seed in 0..20 {
            let disk = disk.crash(&mut choice(stop * 100 + seed));
            let store = open(&disk, small());
            let epochs = store.snapshot().epochs().to_vec();
            assert!(first.is_err() || epochs.len() > 1, "{epochs:?}");
            assert!(second.is_err() || epochs.len() > 2, "{epochs:?}");
            assert!(epochs.len() <= 3);
            let ended_here = epochs.get(1).is_some_and(|info| info.ended);
            assert!(ended_here || !matches!(ending, Ok(Ok(()))));
            let has_table = epochs.len() > 1 && !ended_here;
            assert_eq!(tables(&disk), if has_table { vec![Name::Df(1)] } else { vec![] });
            if has_table {
                begun += 1;
                assert!(store.snapshot().origin(Epoch::from_number(1)).unwrap().is_some());
            }
            ended += u32::from(ended_here);
            sound(&store).unwrap();
            assert_eq!(store.latest(URL).unwrap().unwrap().visits, 1);
        }
        if matches!(ending, Ok(Ok(()))) {
            break;
        }
    }
    assert!(begun > 100 && ended > 20, "{begun} and {ended}");
}

#[test]
fn a_full_disk_refuses_an_epoch_and_nothing_else() {
    let disk = SimDisk::new();
    let store = create(&disk);
    let used: u64 = disk.contents().iter().map(|(_, bytes)| bytes.len() as u64).sum();
    disk.set_capacity_bytes(Some(used + 10));
    let full = store.begin_epoch(&some()).unwrap_err();
    assert!(full.to_string().contains("make room"), "{full}");
    disk.set_capacity_bytes(None);
    assert_eq!(names(store.snapshot().epochs()), ["one"]);
    store.observe(Observation::content(URL, 1, 7, Epoch::from_number(0))).unwrap();
    assert_eq!(store.begin_epoch(&some()).unwrap(), Epoch::from_number(1));
}

#[test]
fn an_ended_epoch_takes_and_finds_nothing_and_its_tables_go_with_merges() {
    let disk = SimDisk::new();
    let store = create(&disk);
    let (one, two) = (Epoch::from_number(0), store.register_epoch("two").unwrap());
    assert!(matches!(store.end_epoch(two, 0), Err(Error::Misuse(_))), "the newest");
    assert!(matches!(store.end_epoch(Epoch::from_number(7), 0), Err(Error::UnknownEpoch(7))));
    let urls: Vec<String> = (0..10).map(|page| format!("{URL}{page}")).collect();
    for (time, url) in (1..).zip(&urls) {
        store.observe(Observation::content(url, time, 7, one).digest(digest(1))).unwrap();
    }
    store.seal().unwrap();
    for (time, url) in (1..).zip(&urls).take(8) {
        assert_eq!(
            store.restate(Restatement::new(url, time, 9, two)).unwrap(),
            RestateOutcome::Stored
        );
    }
    store.seal().unwrap();
    assert!(matches!(store.end_epoch(one, 1), Err(Error::EpochInUse { .. })));
    let near = |versions| {
        let query = Query::new(7, 0).epoch(one).versions(versions);
        store.search(&query).map(|found| found.near.len())
    };
    assert_eq!((near(Versions::InForce).unwrap(), near(Versions::Ever).unwrap()), (2, 10));
    store.end_epoch(one, 2).unwrap();
    store.end_epoch(one, 0).unwrap();
    for refused in [near(Versions::InForce), near(Versions::Ever)] {
        assert!(matches!(refused, Err(Error::EndedEpoch(name)) if name == "one"));
    }
    let late = Observation::content(URL, 100, 7, one);
    assert!(matches!(store.observe(late), Err(Error::EndedEpoch(_))));
    let also = Observation::content(URL, 100, 7, two).also(7, one);
    assert!(matches!(store.observe(also), Err(Error::EndedEpoch(_))));
    assert!(matches!(
        store.restate(Restatement::new(&urls[0], 1, 7, one)),
        Err(Error::EndedEpoch(_))
    ));
    assert!(matches!(store.register_epoch("one"), Err(Error::EndedEpoch(_))));
    sound(&store).unwrap();
    assert!(store.snapshot().fingerprints(one) > 0);
    store.merge(&Progress::default()).unwrap();
    assert_eq!((store.snapshot().fingerprints(one), store.snapshot().fingerprints(two)), (0, 1));
    sound(&store).unwrap();
    // Histories keep what they had, and pages that were left behind are known to be stale.
    assert_eq!(store.history(&urls[0]).unwrap().len(), 2);
    let stale: Vec<_> = store.snapshot().stale(None).map(|page| page.unwrap().url).collect();
    assert_eq!(stale, urls[8..]);
    assert_eq!(
        store.restate(Restatement::new(&urls[8], 9, 9, two)).unwrap(),
        RestateOutcome::Stored
    );
    assert_eq!(store.near(9, 0).unwrap().near.len(), 9);
    // What was observed in it goes into another store all the same.
    let copy = create(&SimDisk::new());
    copy.copy_from(&store.snapshot(), LoadOptions::default().memory_bytes(8 << 20)).unwrap();
    assert_eq!(copy.history(&urls[0]).unwrap(), store.history(&urls[0]).unwrap());
    assert_eq!(names(copy.snapshot().epochs()), ["one", "two"]);
}

#[test]
fn a_merge_at_rest_takes_away_what_an_epoch_left() {
    let disk = SimDisk::new();
    let options = small().background(true).seal_after(std::time::Duration::from_millis(50));
    let store = Store::create(on(&disk), options).unwrap();
    let two = store.register_epoch("two").unwrap();
    for page in 0..10 {
        store
            .observe(Observation::content(&format!("{URL}{page}"), 1, page, Epoch::from_number(0)))
            .unwrap();
        store.restate(Restatement::new(&format!("{URL}{page}"), 1, page, two)).unwrap();
    }
    store.end_epoch(Epoch::from_number(0), 0).unwrap();
    let start = std::time::Instant::now();
    while store.snapshot().fingerprints(Epoch::from_number(0)) > 0 {
        assert!(start.elapsed().as_secs() < 60);
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

#[test]
fn an_epoch_that_is_not_there_is_refused() {
    let store = create(&SimDisk::new());
    let reserved = store.register_epoch("words2-sqrt-reserved8/1").unwrap();
    assert_eq!((reserved.count(), reserved.mask()), (1, u64::MAX >> 8));
    // The number says which bits count: without them it is none.
    for unknown in [Epoch::from_number(1), Epoch::from_number(2), Epoch::from_number(u32::MAX)] {
        let unknown_epoch = |e: Error| assert!(matches!(e, Error::UnknownEpoch(_)), "{e}");
        let seen = Observation::content(URL, 1, 7, unknown);
        unknown_epoch(store.observe(seen).unwrap_err());
        let also = Observation::content(URL, 1, 7, reserved).also(7, unknown);
        unknown_epoch(store.observe(also).unwrap_err());
        unknown_epoch(store.restate(Restatement::new(URL, 1, 7, unknown)).unwrap_err());
        unknown_epoch(store.search(&Query::new(7, 0).epoch(unknown)).unwrap_err());
        unknown_epoch(store.snapshot().explain(&Query::new(7, 0).epoch(unknown)).unwrap_err());
        unknown_epoch(
            store.snapshot().search_batch(&[7], &Query::new(7, 0).epoch(unknown)).unwrap_err(),
        );
        let loaded = store.load([Ok(seen)], LoadOptions::default());
        assert!(matches!(loaded, Err(Error::Load { nth: 1, .. })));
    }
    let twice = Observation::content(URL, 1, 7, reserved).also(8, reserved);
    assert!(matches!(store.observe(twice), Err(Error::Misuse(_))));
    assert_eq!(store.stats().unwrap().visits, 0);
}

/// Metadata in the leading bits goes into the history and out of every comparison.
#[test]
fn reserved_bits_are_kept_and_not_compared() {
    let disk = SimDisk::new();
    let store = create(&disk);
    let epoch = store.register_epoch("words2-sqrt-reserved8/1").unwrap();
    let mut choice = choice(7);
    let mut all = Vec::new();
    for page in 0..200 {
        let (low, metadata) = (1 << choice(6) | 1 << choice(6), choice(256));
        let fingerprint = low | metadata << 56;
        let url = format!("{URL}{page}");
        let seen = Observation::content(&url, 1, fingerprint, epoch);
        let outcome = store.observe(seen).unwrap();
        let within = |other: &&(String, u64)| ((other.1 ^ low) << 8).count_ones() <= 3;
        assert_eq!(outcome.near.len(), all.iter().filter(within).count());
        all.push((url, fingerprint));
    }
    sound(&store).unwrap();
    store.merge(&Progress::default()).unwrap();
    sound(&store).unwrap();
    for (_, fingerprint) in &all {
        for k in [0, 1, 3, 8] {
            let query = Query::new(*fingerprint, k).epoch(epoch).limit(1000);
            let matches = store.search(&query).unwrap();
            // One of many is answered likewise, whatever its reserved bits are.
            let many = store
                .snapshot()
                .search_batch(&[*fingerprint, fingerprint ^ 7 << 60], &query)
                .unwrap();
            assert_eq!(many, [matches.clone(), matches.clone()]);
            let found: BTreeSet<_> = matches.near.into_iter().map(|near| near.url).collect();
            let near = |other: &&(String, u64)| ((other.1 ^ fingerprint) << 8).count_ones() <= k;
            let expected = all.iter().filter(near).map(|(url, _)| url.clone()).collect();
            assert_eq!(found, expected);
        }
    }
    let (url, fingerprint) = &all[0];
    let other = fingerprint ^ 0x4200_0000_0000_0000;
    let verdict = |time, fingerprint| {
        store.observe(Observation::content(url, time, fingerprint, epoch)).unwrap().verdict
    };
    assert_eq!(verdict(2, other), Verdict::Same(SameBy::Fingerprint));
    assert_eq!(verdict(3, other ^ 1 << 40), Verdict::Changed { distance: Some(1) });
    let kept = store.history(url).unwrap();
    let kept: Vec<u64> = kept.iter().filter_map(|e| e.entry().content()?.fingerprint).collect();
    assert_eq!(kept, [*fingerprint, other, other ^ 1 << 40]);
}

#[test]
fn a_distance_to_the_past_is_true_whichever_epoch_that_has() {
    let store = create(&SimDisk::new());
    let (old, new) = (Epoch::from_number(0), store.register_epoch("two").unwrap());
    let observe = |observation: Observation<'_>| store.observe(observation).unwrap().verdict;
    assert_eq!(observe(Observation::content(URL, 1, 0b0011, old)), Verdict::New);
    let both =
        |time, in_new, in_old| Observation::content(URL, time, in_new, new).also(in_old, old);
    assert_eq!(observe(both(2, 0xff00, 0b0111)), Verdict::Changed { distance: Some(1) });
    // Both have both: the newest counts.
    assert_eq!(observe(both(3, 0xff01, 0b1000)), Verdict::Changed { distance: Some(1) });
    assert_eq!(
        observe(Observation::content(URL, 4, 0xffff, new)),
        Verdict::Changed { distance: Some(7) }
    );
    let alone = observe(Observation::content(URL, 5, 0b0011, old));
    assert_eq!(alone, Verdict::Reverted { to: 1, distance: None });
    // Equal in one epoch is the same, whatever the other says.
    assert_eq!(observe(both(6, 0x1234, 0b0011)), Verdict::Same(SameBy::Fingerprint));
    // Restated, the last one has both.
    assert_eq!(
        store.restate(Restatement::new(URL, 5, 0xf00f, new)).unwrap(),
        RestateOutcome::Stored
    );
    let history = store.history(URL).unwrap();
    let verdicts: Vec<_> = history.iter().filter_map(HistoryEntry::visit).collect();
    assert_eq!(verdicts.len(), 6);
    assert_eq!(verdicts[4].1, Verdict::Reverted { to: 1, distance: Some(8) });
    assert_eq!(store.latest(URL).unwrap().unwrap().visits, 6);
}

#[test]
fn what_was_in_force_is_the_newest_epoch_wherever_a_long_history_is_divided() {
    // Of one time and one digest, with the newer epoch's first in order: they may come to stand in
    // two chunks.
    let of = |time, fingerprint, epoch| {
        Observation::content(URL, time, fingerprint, Epoch::from_number(epoch)).digest(digest(1))
    };
    for before in 50..80 {
        let store = simkeep_testing::create(&SimDisk::new(), small().near_limit(0));
        let all = (0..before).map(|time| of(time, 5, 0)).chain([of(100, 1, 1), of(100, 2, 0)]);
        let later = (200..270).map(|time| of(time, 5, 0));
        store.load(all.chain(later).map(Ok), LoadOptions::default()).unwrap();
        let found = store.as_of(URL, 100).unwrap().unwrap();
        assert_eq!(found, of(100, 1, 1).visit, "with {before} visits before");
    }
}

#[test]
fn what_is_restated_is_no_visit_and_no_change() {
    let store = create(&SimDisk::new());
    let two = store.register_epoch("two").unwrap();
    let seen = |time, n: u8| {
        Observation::content(URL, time, n.into(), Epoch::from_number(0))
            .digest(Digest([n; 16]))
            .status(200)
    };
    let restate = |time, n: u8| {
        let restated = Restatement::new(URL, time, 0xff, two).digest(Digest([n; 16]));
        store.restate(restated).unwrap()
    };
    assert_eq!(restate(1, 1), RestateOutcome::Missing);
    store.observe_batch(&[seen(1, 1), seen(5, 2), seen(5, 3), Observation::gone(URL, 7)]).unwrap();
    assert_eq!(store.snapshot().stale(None).count(), 0, "gone");
    store.observe(Observation::not_modified(URL, 9)).unwrap();
    assert_eq!(store.snapshot().stale(None).count(), 1);
    // No such time, no content then, not that content.
    for (time, n) in [(2, 1), (7, 1), (9, 3), (5, 1)] {
        assert_eq!(restate(time, n), RestateOutcome::Missing);
    }
    assert_eq!(restate(5, 2), RestateOutcome::Stored);
    assert_eq!(restate(5, 2), RestateOutcome::Known);
    assert_eq!(store.snapshot().stale(None).count(), 1, "the other of that time is in force");
    let before = store.latest(URL).unwrap().unwrap();
    // Without a digest the last content of the time is meant.
    assert_eq!(store.restate(Restatement::new(URL, 5, 0xfe, two)).unwrap(), RestateOutcome::Stored);
    assert_eq!(
        store.restate(Restatement::new(URL, 6, 0xfe, two)).unwrap(),
        RestateOutcome::Missing
    );
    let after = store.latest(URL).unwrap().unwrap();
    assert_eq!((after.visits, after.last, after.first), (before.visits, before.last, before.first));
    let content = after.content.unwrap();
    assert_eq!((content.digest, content.fingerprint), (Some(digest(3)), Some(0xfe)));
    let as_of = store.as_of(URL, 5).unwrap().unwrap();
    assert_eq!(as_of.seen.content().unwrap().fingerprint, Some(0xfe));
    assert_eq!(as_of.status, Some(200));
    assert_eq!(store.snapshot().stale(None).count(), 0);
    assert_eq!(store.stats().unwrap().visits, 5);
    store.seal().unwrap();
    assert_eq!(store.stats().unwrap().visits, 5);
    sound(&store).unwrap();
    // Forgotten with its page.
    store.forget(simkeep::Scope::Url(URL)).unwrap();
    assert_eq!(
        store.restate(Restatement::new(URL, 5, 0xfe, two)).unwrap(),
        RestateOutcome::Missing
    );
    assert_eq!(store.stats().unwrap().visits, 0);
}

#[test]
fn an_epoch_with_a_table_is_due_after_so_many_visits() {
    let options = small().epoch_visits(10);
    let store = Store::create(on(&SimDisk::new()), options).unwrap();
    let observe = |epoch, times: std::ops::Range<i64>| {
        for time in times {
            store.observe(Observation::content(URL, time, 7, epoch)).unwrap();
        }
        let stats = store.stats().unwrap();
        (stats.epoch_visits, stats.epoch_due)
    };
    // By a recipe that weighs by no table there is nothing to renew.
    assert_eq!(observe(Epoch::from_number(0), 0..20), (20, false));
    let epoch = store.begin_epoch(&some()).unwrap();
    assert_eq!(observe(epoch, 20..29), (9, false));
    assert_eq!(observe(epoch, 29..30), (10, true));
}

#[test]
fn what_is_restated_does_not_depend_on_what_came_first() {
    let (one, two) = (Epoch::from_number(0), Epoch::from_number(1));
    let both = Observation::content(URL, 8, 1, two).also(0, one);
    let alone = Observation::content(URL, 8, 0, one);
    let histories = [[both, alone], [alone, both]].map(|order| {
        let (disk, to, saved) = (SimDisk::new(), SimDisk::new(), SimDisk::new());
        let (store, copy) = (create(&disk), create(&to));
        for store in [&store, &copy] {
            store.register_epoch("two").unwrap();
        }
        for observation in order {
            store.observe(observation).unwrap();
        }
        copy.copy_from(&store.snapshot(), LoadOptions::default()).unwrap();
        let history = store.history(URL).unwrap();
        assert_eq!(copy.history(URL).unwrap(), history);
        store.close().unwrap();
        assert!(repair(on(&disk), on(&saved), RepairOptions::default()).unwrap().is_whole());
        assert_eq!(open(&saved, small()).history(URL).unwrap(), history);
        history
    });
    assert_eq!(histories[0].len(), 3);
    assert_eq!(histories[0], histories[1]);
}

#[test]
fn a_damaged_table_is_told_of_by_whoever_would_copy_it() {
    let (disk, to) = (SimDisk::new(), SimDisk::new());
    let store = create(&disk);
    store.begin_epoch(&some()).unwrap();
    store.observe(Observation::content(URL, 1, 7, Epoch::from_number(1))).unwrap();
    store.close().unwrap();
    let mut files = disk.contents();
    let table = files.iter_mut().find(|(name, _)| *name == Name::Df(1)).unwrap();
    table.1[100] ^= 1;
    let disk = SimDisk::of(files);
    let reader = Reader::open(on(&disk)).unwrap();
    let copied = create(&SimDisk::new()).copy_from(&reader.snapshot(), LoadOptions::default());
    assert!(matches!(copied, Err(Error::Corrupt(flaw)) if flaw.file == "0000000001.df"));
    let repaired = repair(on(&disk), on(&to), RepairOptions::default()).unwrap();
    assert!(!repaired.is_whole() && repaired.lost[0].file == "0000000001.df", "{repaired:?}");
    assert_eq!((repaired.pages, tables(&to)), (1, vec![]));
}
