//! What workloads begin with: the same bytes in every run, so that a number is enough to see a failure
//! again. A store that is created has a seed of its own for its hashes, so none is created here.

use std::sync::LazyLock;

use simkeep::Scope;
use simkeep::disk::{Name, SimDisk};

use crate::catalog::{Catalog, EpochRow};
use crate::support::model::Model;
use crate::support::pages::URLS;
use crate::support::{EPOCHS, choice, observation, open, small};

/// The catalog of an empty store with both epochs, with the settings of the golden one.
static EMPTY: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let golden = include_bytes!("../../format/golden/v1/catalog.redb");
    let settings = Catalog::read(golden).settings;
    let epochs = (0..).zip(EPOCHS).map(|(count, name)| EpochRow::new(count, name)).collect();
    let mut catalog = Catalog { settings, epochs, ..Catalog::default() };
    *catalog.setting("url_hash_bits") = if cfg!(feature = "narrow-hash") { 8 } else { 64 };
    *catalog.setting("next_segment") = 1;
    catalog.write()
});

/// A disk with an empty store, as a writer leaves it.
pub(crate) fn empty() -> SimDisk {
    let disk = SimDisk::of([(Name::Catalog, EMPTY.clone())]);
    drop(open(&disk, small()));
    settled(&disk)
}

/// A store to begin with, and what it holds: an empty one, or one with two segments, something
/// forgotten and a journal.
pub(crate) fn beginnings() -> [(SimDisk, Model); 2] {
    let (full, mut model) = (empty(), Model::default());
    let store = open(&full, small());
    let mut random = choice(1);
    for seals in 0..3 {
        for time in 0..4 {
            let observation = observation(&mut random, 6, seals * 10 + time);
            store.observe(observation).unwrap();
            model.observe(&observation, 3);
        }
        match seals {
            0 => store.seal().unwrap(),
            1 => {
                store.forget(Scope::Url(URLS[1])).unwrap();
                model.forget(|url| url == URLS[1]);
                store.seal().unwrap();
            }
            _ => {}
        }
    }
    drop(store);
    [(empty(), Model::default()), (settled(&full), model)]
}

/// The same files, all of them durable.
fn settled(disk: &SimDisk) -> SimDisk {
    SimDisk::of(disk.contents())
}
