//! The origins of fingerprints that are made now.

use simkeep::disk::SimDisk;
use simkeep::fingerprint::Recipe;
use simkeep::{Epoch, Observation, Origin, Role, Store};
use simkeep_testing::{ms, on, small};

use super::{plain, some};

const FIRST: Epoch = Epoch::from_number(0);

/// A store whose first epoch has the default recipe.
fn store() -> Store {
    let epoch = Origin::new(Recipe::DEFAULT).name();
    Store::create(on(&SimDisk::new()), small().epoch(epoch)).unwrap()
}

fn named(store: &Store) -> Vec<(Epoch, String)> {
    let origins = Origin::in_use(&store.snapshot()).unwrap();
    origins.into_iter().map(|(epoch, origin)| (epoch, origin.name())).collect()
}

#[test]
fn epoch_in_use_comes_first_then_its_predecessor() {
    let store = store();
    let first = (FIRST, store.snapshot().epochs()[0].name.clone());
    assert_eq!(named(&store), std::slice::from_ref(&first));
    let strict = store.begin_epoch(&plain("strict"), Role::Both).unwrap();
    let weighed = store.begin_epoch(&some(), Role::Both).unwrap();
    assert_eq!(named(&store), [(weighed, some().name()), (strict, plain("strict").name())]);
    store.end_epoch(strict, 0).unwrap();
    assert_eq!(named(&store), [(weighed, some().name()), first]);
    store.end_epoch(FIRST, 0).unwrap();
    assert_eq!(named(&store), [(weighed, some().name())]);
}

#[test]
fn change_epoch_comes_before_near_epoch() {
    let store = store();
    let near = store.begin_epoch(&plain("near"), Role::Near).unwrap();
    let change = store.begin_epoch(&plain("strict"), Role::Change).unwrap();
    let expected = [(change, plain("strict").name()), (near, plain("near").name())];
    assert_eq!(named(&store), expected);
}

#[test]
fn external_epochs_are_left_out() {
    let store = store();
    let mine = store.register_epoch("mine/1", Role::Change).unwrap();
    assert_eq!(store.change_epoch(), mine);
    assert_eq!(named(&store), [(FIRST, store.snapshot().epochs()[0].name.clone())]);
    store.register_epoch("mine/2", Role::Near).unwrap();
    assert!(named(&store).is_empty());
}

#[test]
fn earlier_recipe_version_is_compared_but_makes_no_fingerprints() {
    let name = "words2-sqrt-reserved8/1";
    let store = Store::create(on(&SimDisk::new()), small().epoch(name.to_owned())).unwrap();
    let (info, strict) = (store.snapshot().epochs()[0].clone(), plain("strict"));
    // The name still determines distances.
    assert_eq!(info.epoch.mask(), u64::MAX >> 8);
    assert_eq!(info.bands, Recipe::DEFAULT.reserved(8).bands());
    for refused in
        [Origin::of(&store.snapshot(), info.epoch).err(), Origin::in_use(&store.snapshot()).err()]
    {
        let refused = refused.unwrap().to_string();
        for said in [name, "words2-sqrt-reserved8/2", "begin a new epoch"] {
            assert!(refused.contains(said), "{refused}");
        }
    }
    let new = store.begin_epoch(&strict, Role::Both).unwrap();
    assert_eq!(named(&store), [(new, strict.name())]);
    // The previous epoch may still find near-duplicates; no fingerprints are made for it.
    let store = Store::create(on(&SimDisk::new()), small().epoch(name.to_owned())).unwrap();
    let change = store.begin_epoch(&strict, Role::Change).unwrap();
    assert_eq!(named(&store), [(change, strict.name())]);
}

/// The numbers of the text epochs of a new store, whose first epoch has the first name.
fn text_epochs(names: &[&str]) -> Result<Vec<u32>, String> {
    let (first, others) = names.split_first().unwrap();
    let store = Store::create(on(&SimDisk::new()), small().epoch((*first).to_owned())).unwrap();
    for name in others {
        store.register_epoch(name, Role::Both).unwrap();
    }
    let epochs = Origin::text_epochs(&store.snapshot()).map_err(|e| e.to_string())?;
    Ok(epochs.iter().map(|epoch| epoch.number()).collect())
}

#[test]
fn texts_use_only_own_recipes_and_extractor() {
    let ours = "html/3 words2-sqrt/2";
    for (names, expected) in [
        (&[ours][..], &[0][..]),
        (&["words2-sqrt/2"], &[0]),
        (&["words2-sqrt/2", ours], &[1, 0]),
        (&["mine/1", ours, "mine/1 words2-sqrt/2"], &[]),
        (&["mine/1", ours], &[1]),
        (&["html/2 words2-sqrt/1", ours], &[1]),
        (&[ours, "html/2 words2-sqrt/2"], &[]),
        (&["html/3 words2-sqrt/1"], &[]),
        (&["html/3 words1-sqrt-idf/2"], &[]),
        (&["mine/1"], &[]),
        (&["mine/1 words2-sqrt/2"], &[]),
    ] {
        match text_epochs(names) {
            Ok(epochs) => assert_eq!(epochs, expected, "{names:?}"),
            Err(why) => {
                assert!(expected.is_empty(), "{names:?}: {why}");
                // The error names the epoch of the store, and the one to begin.
                let last = names.last().unwrap();
                assert!(why.contains(last) && why.contains(ours), "{names:?}: {why}");
            }
        }
    }
}

#[test]
fn text_epoch_with_pages_continues_next_to_an_external_one() {
    let store = store();
    let mine = store.register_epoch("mine/1", Role::Both).unwrap();
    store.observe(Observation::content("http://a/", ms(1), 7, mine)).unwrap();
    Origin::text_epochs(&store.snapshot()).unwrap_err();
    store.observe(Observation::content("http://b/", ms(1), 7, FIRST)).unwrap();
    assert_eq!(Origin::text_epochs(&store.snapshot()).unwrap(), [FIRST]);
}
