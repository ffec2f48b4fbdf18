//! The initial states of workloads: equal in every run, so that a number reproduces a failure.

use simkeep::Scope;
use simkeep::disk::SimDisk;

use simkeep_testing::model::Model;
use simkeep_testing::pages::URLS;
use simkeep_testing::{choice, create, open, request, small};

/// A disk with an empty store, as a writer leaves it.
pub(crate) fn empty() -> SimDisk {
    let disk = SimDisk::new();
    drop(create(&disk, small()));
    settled(&disk)
}

/// An initial store and its contents: an empty one, or one with two segments, forgotten pages and a
/// journal.
pub(crate) fn beginnings() -> [(SimDisk, Model); 2] {
    let (full, mut model) = (empty(), Model::default());
    let store = open(&full, small());
    let mut random = choice(1);
    for seals in 0..3 {
        for time in 0..4 {
            let request = request(&mut random, 6, seals * 10 + time);
            store.write_batch(std::slice::from_ref(&request)).unwrap();
            model.request(&request, 3);
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

/// A disk with these files, all of them durable.
fn settled(disk: &SimDisk) -> SimDisk {
    SimDisk::of(disk.contents())
}
