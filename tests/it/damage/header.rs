//! A catalog header that selects the commit before the last.

use simkeep::disk::{FileName, SimDisk};
use simkeep::load::LoadOptions;
use simkeep::repair::{RepairOptions, repair};
use simkeep::verify::{VerifyOptions, verify};
use simkeep::{Error, Observation, Progress, Reader, Role, Store};

use simkeep_testing::compare::dump;
use simkeep_testing::pages::URLS;
use simkeep_testing::sample::sample;
use simkeep_testing::{create, ms, on, open, small};

/// The last commit; a repair restores all of it.
type LastCommit = (&'static str, fn(&Store));

const LAST: [LastCommit; 5] = [
    ("an observation", |store| drop(store.observe(Observation::gone(URLS[0], ms(9_000))).unwrap())),
    ("a seal", |store| store.seal().unwrap()),
    ("a merge", |store| _ = store.merge(&Progress::default()).unwrap()),
    ("an epoch", |store| _ = store.register_epoch("three", Role::Both).unwrap()),
    ("a load", |store| {
        let gone = Observation::gone(URLS[1], ms(9_000));
        store.load([Ok(gone)], LoadOptions::default()).unwrap();
    }),
];

#[test]
fn c3_header_that_selects_the_previous_commit_is_detected() {
    for (what, act) in LAST {
        let disk = SimDisk::new();
        let store = create(&disk, small());
        sample(&store);
        act(&store);
        let expected = dump(&store.snapshot()).unwrap();
        let mut files = disk.contents();
        let catalog = files.iter_mut().find(|(name, _)| *name == FileName::Catalog).unwrap();
        catalog.1[9] ^= 1;
        let damaged = || SimDisk::of(files.iter().cloned());

        let disk = damaged();
        let verified = verify(on(&disk), VerifyOptions::default()).unwrap();
        assert!(verified.flaws.iter().any(|f| f.file == "catalog.redb"), "{what}: {verified:?}");
        let is_named = |e: Error| matches!(e, Error::Corrupt(flaw) if flaw.file == "catalog.redb");
        assert!(is_named(Reader::open(on(&disk)).unwrap_err()), "{what}");
        for _ in 0..2 {
            assert!(is_named(Store::open(on(&disk), small()).unwrap_err()), "{what}");
        }
        assert!(disk.contents() == files, "{what}: an open that was refused wrote something");

        let to = SimDisk::new();
        let repaired = repair(on(&disk), on(&to), RepairOptions::default()).unwrap();
        assert!(dump(&open(&to, small()).snapshot()).unwrap() == expected, "{what}");
        assert!(repaired.lost.is_empty(), "{what}: {:?}", repaired.lost);
    }
}
