//! Epochs that a load begins: all of them, or none.

use std::sync::Arc;

use simkeep::disk::{FileName, OpKind, SimDisk};
use simkeep::load::{LoadEpochs, LoadOptions};
use simkeep::{Epoch, Error, Observation, Progress, Reader, Role, Store};

use super::{URL, create, some, tables, with_weight};
use simkeep_testing::disks::HookDisk;
use simkeep_testing::{ms, names, on, small, sound};

#[test]
fn epochs_of_a_failed_load_are_not_registered() {
    let disk = SimDisk::new();
    let store = create(&disk);
    let other = create(&SimDisk::new());
    other.begin_epoch(&some(), Role::Both).unwrap();
    other.observe(Observation::content(URL, ms(1), 7, Epoch::from_number(1))).unwrap();
    let before = (store.snapshot().epochs().to_vec(), disk.contents());
    let failing = |fails_at: i64| {
        let epochs = LoadEpochs::default();
        let renumbered = epochs.of(&other.snapshot()).unwrap()[1];
        let made = epochs.origin(&with_weight(&["a boat", "the boat"]), Role::Both).unwrap();
        let observations = (0..=fails_at).map(|time| match time {
            _ if time == fails_at => Err(Error::input("the cable was pulled")),
            time if time % 2 == 0 => Ok(Observation::content(URL, ms(time), 7, renumbered)),
            time => Ok(Observation::content(URL, ms(time), 7, epochs.named("x", Role::Both)?)
                .also(9, made)),
        });
        let load = LoadOptions::default().memory_bytes(1 << 16).epochs(epochs.clone());
        store.load(observations, load).unwrap_err();
    };
    for fails_at in [0, 1, 2, 5000] {
        failing(fails_at);
        assert_eq!((store.snapshot().epochs(), disk.contents() == before.1), (&before.0[..], true));
    }
    // Stopped after everything is written, or by a full disk.
    let cancelled = Progress::default();
    let hook = cancelled.clone();
    let hooked = HookDisk::new(on(&disk), move |kind, name| {
        if matches!((kind, name), (OpKind::Rename(_), Some(FileName::SegmentNew(_)))) {
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
    assert_eq!(tables(&disk), [FileName::Df(1)]);
    sound(&store).unwrap();
}

#[test]
fn epoch_begun_during_a_load_does_not_clash() {
    let disk = SimDisk::new();
    let store = create(&disk);
    let epochs = LoadEpochs::default();
    let all = ["b", "a", "c", "one"];
    let observations = (0..400usize).map(|n| {
        if n == 200 {
            // During the load, and with a name that the load uses as well.
            let (beside, a) = (
                store.register_epoch("beside", Role::Both)?,
                store.register_epoch("a", Role::Both)?,
            );
            assert_eq!((beside, a), (Epoch::from_number(1), Epoch::from_number(2)));
            store.observe(Observation::content(URL, ms(1000), 8, beside))?;
            assert_eq!(names(store.snapshot().epochs()), ["one", "beside", "a"]);
            let reader = Reader::open(on(&disk))?;
            assert_eq!(reader.snapshot().epochs(), store.snapshot().epochs());
            let early =
                store.observe(Observation::content(URL, ms(1), 1, epochs.named("b", Role::Both)?));
            assert!(matches!(early, Err(Error::UnknownEpoch(_))));
        }
        // Each time has contents in all epochs, in any order.
        let (time, name) = ((n / 8) as i64, all[(n * 7 + n / 4) % 4]);
        let visit = Observation::content(URL, ms(time), 7, epochs.named(name, Role::Both)?);
        Ok(if n % 3 == 0 && name != "c" {
            visit.also(9, epochs.named("c", Role::Both)?)
        } else {
            visit
        })
    });
    let load = LoadOptions::default().memory_bytes(1 << 16).epochs(epochs.clone());
    let loaded = store.load(observations, load).unwrap();
    assert_eq!(names(&loaded.begun), ["b", "c"]);
    assert_eq!(names(store.snapshot().epochs()), ["one", "beside", "a", "b", "c"]);
    assert_eq!(store.change_epoch(), Epoch::from_number(4));
    // As if each visit had been observed.
    let expected = create(&SimDisk::new());
    let number = |name| {
        let first = ["beside", "a", "b", "c"]
            .map(|name| expected.register_epoch(name, Role::Both).unwrap());
        assert_eq!(first.map(Epoch::count), [1, 2, 3, 4]);
        expected.register_epoch(name, Role::Both).unwrap()
    };
    expected.observe(Observation::content(URL, ms(1000), 8, number("beside"))).unwrap();
    for n in 0..400usize {
        let (time, name) = ((n / 8) as i64, all[(n * 7 + n / 4) % 4]);
        let visit = Observation::content(URL, ms(time), 7, number(name));
        let also = n % 3 == 0 && name != "c";
        let visit = if also { visit.also(9, number("c")) } else { visit };
        expected.observe(visit).unwrap();
    }
    assert_eq!(store.history(URL).unwrap(), expected.history(URL).unwrap());
    sound(&store).unwrap();
    // A load knows only the epochs of its own options.
    let strange = [Ok(Observation::content(URL, ms(1), 1, epochs.named("d", Role::Both).unwrap()))];
    let strange = store.load(strange, LoadOptions::default()).unwrap_err();
    assert!(strange.to_string().contains("is not registered"), "{strange}");
}

#[test]
fn empty_load_begins_its_epochs_and_ended_epochs_are_refused() {
    let store = create(&SimDisk::new());
    let epochs = LoadEpochs::default();
    epochs.named("two", Role::Both).unwrap();
    let nothing = || std::iter::empty::<simkeep::Result<Observation<'_>>>();
    let loaded = store.load(nothing(), LoadOptions::default().epochs(epochs.clone())).unwrap();
    assert_eq!((names(&loaded.begun), loaded.observations), (vec!["two"], 0));
    let again = store.load(nothing(), LoadOptions::default().epochs(epochs.clone())).unwrap();
    assert_eq!(again.begun, []);
    store.end_epoch(Epoch::from_number(0), 0).unwrap();
    epochs.named("one", Role::Both).unwrap();
    let refused = store.load(nothing(), LoadOptions::default().epochs(epochs.clone()));
    assert!(matches!(refused, Err(Error::EndedEpoch(name)) if name == "one"));
    assert!(epochs.named("", Role::Both).is_err() && epochs.named("\n", Role::Both).is_err());
    // One exists already.
    assert!((2..1 << 15).all(|n| epochs.named(&format!("e{n}"), Role::Both).is_ok()));
    assert!(epochs.named("one more", Role::Both).is_err());
}

/// A load that asks for an epoch in another role is refused. Epochs copied from another store do
/// not ask for a role.
#[test]
fn load_cannot_change_the_role_of_an_epoch() {
    let store = create(&SimDisk::new());
    store.register_epoch("near", Role::Near).unwrap();
    let nothing = || std::iter::empty::<simkeep::Result<Observation<'_>>>();
    let epochs = LoadEpochs::default();
    let number = epochs.named("near", Role::Both).unwrap();
    assert!(matches!(epochs.named("near", Role::Near), Err(Error::InvalidArgument(_))));
    assert_eq!(epochs.named("near", Role::Both).unwrap(), number);
    let refused = store.load(nothing(), LoadOptions::default().epochs(epochs)).unwrap_err();
    let same = store.register_epoch("near", Role::Both).unwrap_err();
    assert!(refused.to_string().contains("role near"), "{refused}");
    assert_eq!(refused.to_string(), same.to_string());
    let other = create(&SimDisk::new());
    other.register_epoch("near", Role::Change).unwrap();
    other.register_epoch("more", Role::Near).unwrap();
    let epochs = LoadEpochs::default();
    epochs.of(&other.snapshot()).unwrap();
    epochs.named("near", Role::Near).unwrap();
    store.load(nothing(), LoadOptions::default().epochs(epochs)).unwrap();
    let roles: Vec<Role> = store.snapshot().epochs().iter().map(|info| info.role).collect();
    assert_eq!(roles, [Role::Both, Role::Near, Role::Near]);
}
