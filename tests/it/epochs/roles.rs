//! Two concurrent recipes: one for changes, one for near-duplicates.

use simkeep::disk::SimDisk;
use simkeep::fingerprint::{Band, Bands};
use simkeep::load::LoadOptions;
use simkeep::query::{FingerprintPairs, StalePages};
use simkeep::repair::{RepairOptions, repair};
use simkeep::{
    Distance, Epoch, EpochOptions, Error, Observation, Progress, Query, Reader, Restatement, Role,
    SameBy, Store, Verdict,
};
use simkeep_testing::{choice, digest, ms, on, small, sound};

use super::{URL, create, plain};

const CHANGE: Epoch = Epoch::from_number(0);

/// A store whose first epoch is for changes, since another one is for near-duplicates.
fn two(disk: &SimDisk) -> (Store, Epoch) {
    let store = create(disk);
    let near = store.register_epoch("near/1", Role::Near).unwrap();
    assert_eq!((store.change_epoch(), store.snapshot().near_epoch()), (CHANGE, near));
    (store, near)
}

#[test]
fn verdicts_and_near_pages_use_their_own_epochs() {
    let (store, near) = two(&SimDisk::new());
    let seen = |url, time, change: u64, other: u64| {
        let of = Observation::content(url, ms(time), change, CHANGE).also(other, near);
        store.observe(of.digest(digest(u8::try_from(time).unwrap()))).unwrap()
    };
    seen("https://a.example/", 1, 0, 0);
    // Near only by the fingerprints for changes, and then only by the others.
    assert!(seen("https://b.example/", 2, 0b1, u64::MAX).near.is_empty());
    let outcome = seen("https://c.example/", 3, u64::MAX, 0b11);
    let found: Vec<_> = outcome.near.iter().map(|n| (n.url.as_str(), n.distance)).collect();
    assert_eq!(found, [("https://a.example/", 2)]);
    // The distance is that of the change epoch; a change in the other epoch alone is none.
    let changed = seen("https://a.example/", 4, 0b111, 0);
    let distance = Some(Distance { bits: 3, epoch: CHANGE });
    assert_eq!(changed.verdict, Verdict::Changed { distance });
    let same = seen("https://a.example/", 5, 0b111, 0xff);
    assert_eq!(same.verdict, Verdict::Same(SameBy::Fingerprint));
    // Without a fingerprint in the change epoch, only digests are compared.
    let alone = Observation::content("https://a.example/", ms(6), 0xff, near).digest(digest(6));
    assert_eq!(store.observe(alone).unwrap().verdict, Verdict::Changed { distance: None });
    for sealed in [false, true] {
        if sealed {
            store.seal().unwrap();
            store.merge(&Progress::default()).unwrap();
        }
        let urls = |query: &Query| {
            let found = store.snapshot().search(query).unwrap().near.into_iter();
            found.map(|near| near.url).collect::<Vec<_>>()
        };
        // A search uses the near epoch by default; each can be named.
        assert_eq!(urls(&Query::new(0b11, 0)), ["https://c.example/"]);
        assert_eq!(urls(&Query::new(0b1, 0).epoch(CHANGE)), ["https://b.example/"]);
        let page = store.snapshot().latest("https://b.example/").unwrap().unwrap();
        assert_eq!(page.content.unwrap().epoch, CHANGE);
        let contents: Vec<_> = page.contents.iter().map(|c| (c.epoch, c.fingerprint)).collect();
        assert_eq!(contents, [(near, Some(u64::MAX)), (CHANGE, Some(0b1))]);
        let mut pairs = Vec::new();
        let sink = std::sync::Mutex::new(&mut pairs);
        let all = |found: &[simkeep::query::NearPair]| {
            sink.lock().unwrap().extend(found.iter().map(|pair| (pair.left, pair.right)));
            std::ops::ControlFlow::Continue(())
        };
        FingerprintPairs::selected_by(&Query::new(0, 6))
            .run(&store.snapshot(), &Progress::default(), all)
            .unwrap();
        assert_eq!(pairs, [(0b11, 0xff)]);
        sound(&store).unwrap();
    }
}

/// A version has a fingerprint in each epoch, and counts once.
#[test]
fn page_returns_to_its_last_eight_versions_in_any_epochs() {
    for epochs in [1, 2, 3] {
        let disk = SimDisk::new();
        let (mut store, near) = two(&disk);
        let third = store.register_epoch("third", Role::Change).unwrap();
        let mut choice = choice(epochs);
        let versions: Vec<[u64; 3]> = (0..9).map(|_| [0; 3].map(|_| choice(u64::MAX))).collect();
        let mut time = 0;
        let mut see = |store: &Store, version: usize| {
            time += 1;
            let [one, two, three] = versions[version];
            let seen = Observation::content(URL, ms(time), one, CHANGE);
            let seen = if epochs > 1 { seen.also(two, near) } else { seen };
            let verdict = store.observe(seen).unwrap().verdict;
            if epochs > 2 {
                store.restate(Restatement::new(URL, ms(time), three, third)).unwrap();
            }
            verdict
        };
        // Nine versions, of which the first drops out. Then each of the others again, the oldest
        // first, so that all are among the last eight.
        let changed = |verdict| matches!(verdict, Verdict::New | Verdict::Changed { .. });
        assert!((0..9).all(|version| changed(see(&store, version))));
        for (round, how) in [(0, "memory"), (1, "a segment"), (2, "merged"), (3, "opened again")] {
            for version in 1..9 {
                let verdict = see(&store, version);
                let back = matches!(verdict, Verdict::Reverted { to, .. } if to > ms(round * 8));
                assert!(back, "{epochs} epochs, {version} in {how}: {verdict:?}");
            }
            match round {
                0 => store.seal().unwrap(),
                1 => drop(store.merge(&Progress::default()).unwrap()),
                _ => {
                    store.close().unwrap();
                    store = Store::open(on(&disk), small()).unwrap();
                }
            }
        }
        assert!(changed(see(&store, 0)), "the ninth is forgotten");
        sound(&store).unwrap();
    }
}

#[test]
fn epoch_keeps_its_role_and_each_role_stays_filled() {
    let disk = SimDisk::new();
    let (store, near) = two(&disk);
    let roles = |store: &Store| {
        let snapshot = store.snapshot();
        snapshot.epochs().iter().map(|info| (info.role, info.ended)).collect::<Vec<_>>()
    };
    assert_eq!(store.register_epoch("near/1", Role::Near).unwrap(), near);
    for role in [Role::Both, Role::Change] {
        let refused = store.register_epoch("near/1", role).unwrap_err();
        assert!(refused.to_string().contains("role"), "{refused}");
    }
    assert!(
        matches!(store.end_epoch(CHANGE, u64::MAX), Err(Error::InvalidArgument(_))),
        "the last for change"
    );
    let strict = store.begin_epoch(&plain("strict"), Role::Change).unwrap();
    assert_eq!((store.change_epoch(), store.snapshot().near_epoch()), (strict, near));
    // A page with a fingerprint in the new epoch of its role is not stale.
    let seen = Observation::content(URL, ms(1), 7, CHANGE).also(9, near);
    store.observe(seen).unwrap();
    assert!(matches!(store.end_epoch(CHANGE, 0), Err(Error::EpochInUse { .. })));
    assert_eq!(StalePages::of(&store.snapshot(), near, None).count(), 0);
    assert_eq!(StalePages::of(&store.snapshot(), strict, None).count(), 1);
    store.restate(Restatement::new(URL, ms(1), 5, strict)).unwrap();
    store.end_epoch(CHANGE, 0).unwrap();
    let expected = [(Role::Both, true), (Role::Near, false), (Role::Change, false)];
    assert_eq!(roles(&store), expected);
    for epoch in [strict, near] {
        assert!(
            matches!(store.end_epoch(epoch, u64::MAX), Err(Error::InvalidArgument(_))),
            "the last"
        );
    }
    // A copy has the same roles, and so has the store after a crash.
    let other_disk = SimDisk::new();
    let other = Store::create(on(&other_disk), small().epoch("other".to_owned())).unwrap();
    other.copy_from(&store.snapshot(), LoadOptions::default()).unwrap();
    assert_eq!(roles(&other)[1..], expected);
    drop(store);
    let crashed = disk.crash_synced_only();
    assert_eq!(roles(&Store::open(on(&crashed), small()).unwrap()), expected);
}

/// An epoch is given its bands as it is given its role, and keeps them.
#[test]
fn epoch_keeps_its_bands() {
    let disk = SimDisk::new();
    let given = Bands { minor: 0, moderate: 64 };
    let options = || small().epoch("first".to_owned()).epoch_bands(Some(given));
    let store = Store::create(on(&disk), options()).unwrap();
    // The bands of the recipe, of external fingerprints, and given ones.
    store.begin_epoch(&plain("default"), Role::Both).unwrap();
    store.register_epoch("mine/1", Role::Both).unwrap();
    let other = Bands { minor: 5, moderate: 5 };
    let options = EpochOptions::from(Role::Both).bands(other);
    let strict = store.begin_epoch(&plain("strict"), options).unwrap();
    let expected = [given, Bands { minor: 2, moderate: 9 }, Bands::EXTERNAL, other];
    let bands = |store: &Store| {
        let snapshot = store.snapshot();
        snapshot.epochs().iter().map(|info| info.bands).collect::<Vec<_>>()
    };
    assert_eq!(bands(&store), expected);
    let found = [0, 1, 5, 6].map(|bits| store.snapshot().meaning(strict, bits).band);
    assert_eq!(found, [Band::None, Band::Minor, Band::Minor, Band::Major]);
    // Requested again without bands or with the same ones, it is the same epoch; other bands are
    // refused.
    assert_eq!(store.begin_epoch(&plain("strict"), Role::Both).unwrap(), strict);
    assert_eq!(store.begin_epoch(&plain("strict"), options).unwrap(), strict);
    let more = |bands| store.register_epoch("mine/1", EpochOptions::from(Role::Both).bands(bands));
    assert!(more(Bands::EXTERNAL).is_ok());
    let refused = more(other).unwrap_err().to_string();
    assert!(refused.contains("minor up to 3 bits, and moderate up to 10"), "{refused}");
    for (minor, moderate) in [(4, 3), (0, 65), (u32::MAX, u32::MAX)] {
        let options = EpochOptions::from(Role::Near).bands(Bands { minor, moderate });
        assert!(matches!(store.register_epoch("new", options), Err(Error::InvalidArgument(_))));
    }
    assert_eq!(bands(&store), expected);
    // A reader, a copy, a repair and a crash do not change the bands.
    store.end_epoch(strict, u64::MAX).unwrap();
    let reader = Reader::open(on(&disk)).unwrap();
    let published = reader.snapshot().epochs().to_vec();
    assert_eq!(published, store.snapshot().epochs());
    let copy = Store::create(on(&SimDisk::new()), small()).unwrap();
    copy.copy_from(&store.snapshot(), LoadOptions::default()).unwrap();
    assert_eq!(bands(&copy)[1..], expected);
    drop(store);
    let repaired = SimDisk::new();
    repair(on(&disk), on(&repaired), RepairOptions::default()).unwrap();
    for disk in [disk.crash_synced_only(), repaired] {
        assert_eq!(bands(&Store::open(on(&disk), small()).unwrap()), expected);
    }
}

/// The distance of near-duplicates is the one that the recipe advises, unless one is set.
#[test]
fn near_pages_are_within_the_distance_of_the_recipe() {
    for (set, expected) in [(None, [true, false]), (Some(6), [true, true]), (Some(4), [false; 2])] {
        let mut options = small();
        options.near_distance = set;
        let store = Store::create(on(&SimDisk::new()), options).unwrap();
        let strict = store.begin_epoch(&plain("strict"), Role::Near).unwrap();
        assert_eq!(store.snapshot().near_distance(strict), set.unwrap_or(5));
        let seen = |url: &str, bits: u64| {
            store.observe(Observation::content(url, ms(1), bits, strict)).unwrap()
        };
        seen("https://a.example/", 0);
        for (bits, is_near) in [0b1_1111_u64, 0b11_1111 << 40].into_iter().zip(expected) {
            let url = format!("https://b.example/{bits}");
            assert_eq!(!seen(&url, bits).near.is_empty(), is_near, "{set:?}: {bits:b}");
        }
    }
}

/// The newer of two epochs can be ended again, and leaves the contents of the other.
#[test]
fn ending_the_newer_epoch_restores_the_older() {
    let (store, near) = two(&SimDisk::new());
    store.observe(Observation::content(URL, ms(1), 7, CHANGE).also(9, near)).unwrap();
    store.observe(Observation::content("https://b.example/", ms(1), 6, near)).unwrap();
    assert!(matches!(store.end_epoch(near, 0), Err(Error::EpochInUse { .. })));
    store.end_epoch(near, 1).unwrap();
    assert_eq!((store.change_epoch(), store.snapshot().near_epoch()), (CHANGE, CHANGE));
    assert_eq!(store.snapshot().near(7, 0).unwrap().near[0].url, URL);
    sound(&store).unwrap();
}
