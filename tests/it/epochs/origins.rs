//! What makes the fingerprints of content that is observed now.

use simkeep::disk::SimDisk;
use simkeep::{Epoch, Role, Store};

use super::{create, plain, some};

const FIRST: Epoch = Epoch::from_number(0);

fn named(store: &Store) -> Vec<(Epoch, String)> {
    let origins = store.snapshot().origins().unwrap();
    origins.into_iter().map(|(epoch, origin)| (epoch, origin.name())).collect()
}

#[test]
fn the_epoch_in_use_comes_first_and_the_one_before_while_it_lives() {
    let store = create(&SimDisk::new());
    let [(FIRST, first)] = &named(&store)[..] else { panic!("one epoch") };
    let strict = store.begin_epoch(&plain("strict"), Role::Both).unwrap();
    let weighed = store.begin_epoch(&some(), Role::Both).unwrap();
    assert_eq!(named(&store), [(weighed, some().name()), (strict, plain("strict").name())]);
    store.end_epoch(strict, 0).unwrap();
    assert_eq!(named(&store), [(weighed, some().name()), (FIRST, first.clone())]);
    store.end_epoch(FIRST, 0).unwrap();
    assert_eq!(named(&store), [(weighed, some().name())]);
}

#[test]
fn epochs_of_one_role_each_come_as_verdicts_and_near_duplicates_go_by_them() {
    let store = create(&SimDisk::new());
    let near = store.begin_epoch(&plain("near"), Role::Near).unwrap();
    let change = store.begin_epoch(&plain("strict"), Role::Change).unwrap();
    let expected = [(change, plain("strict").name()), (near, plain("near").name())];
    assert_eq!(named(&store), expected);
}

#[test]
fn what_is_made_elsewhere_is_left_out() {
    let store = create(&SimDisk::new());
    let mine = store.register_epoch("mine/1", Role::Change).unwrap();
    assert_eq!(store.change_epoch(), mine);
    assert_eq!(named(&store), [(FIRST, simkeep::fingerprint::RECIPE.to_owned())]);
    store.register_epoch("mine/2", Role::Near).unwrap();
    assert_eq!(named(&store), []);
}
