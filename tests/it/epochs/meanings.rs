//! The meaning of a distance follows from the recipe of its epoch.

use super::{URL, create, plain};
use simkeep::disk::SimDisk;
use simkeep::fingerprint::{Band, Meaning, Recipe};
use simkeep::{Distance, Epoch, HistoryEntry, Observation, Origin, Outcome, Role, Store};
use simkeep_testing::ms;

fn recipe(name: &str) -> Recipe {
    name.parse().unwrap()
}

fn observe(store: &Store, observation: Observation<'_>) -> Outcome {
    store.observe(observation).unwrap()
}

/// The meanings of the visits of a page in its history.
fn meanings(store: &Store) -> Vec<Option<Meaning>> {
    let meaning = |entry: HistoryEntry| match entry {
        HistoryEntry::Visit { meaning, .. } => Some(meaning),
        HistoryEntry::Restated(_) | HistoryEntry::Property(_) => None,
    };
    store.history(URL).unwrap().into_iter().filter_map(meaning).collect()
}

#[test]
fn distance_is_interpreted_by_the_recipe_of_its_epoch() {
    let store = create(&SimDisk::new());
    let old = store.begin_epoch(&plain("strict"), Role::Both).unwrap();
    let new = store.begin_epoch(&plain("near"), Role::Both).unwrap();
    let both =
        |time, in_new, in_old| Observation::content(URL, ms(time), in_new, new).also(in_old, old);
    assert_eq!(observe(&store, Observation::content(URL, ms(1), 0, old)).meaning, None);
    // Only the older epoch has both contents.
    let changed = observe(&store, both(2, 0xff00, 0b11));
    assert_eq!(changed.verdict.distance(), Some(Distance { bits: 2, epoch: old }));
    let expected = recipe("strict").meaning(2);
    assert_eq!(changed.meaning, Some(expected));
    assert_eq!(changed.to_string(), format!("changed by 2 bits: {expected}"));
    // Both have both epochs, and the newer one counts.
    let changed = observe(&store, both(3, 0xffff, 0b11));
    assert_eq!(changed.verdict.distance(), Some(Distance { bits: 8, epoch: new }));
    assert_eq!(changed.meaning, Some(recipe("near").meaning(8)));
    assert_ne!(recipe("near").meaning(8), recipe("strict").meaning(8));
    let expected = [None, Some(recipe("strict").meaning(2)), Some(recipe("near").meaning(8))];
    assert_eq!(meanings(&store), expected);
    for (epoch, name) in [(old, "strict"), (new, "near")] {
        assert_eq!(store.snapshot().meaning(epoch, 5), recipe(name).meaning(5));
    }
}

#[test]
fn external_fingerprints_have_the_default_bands() {
    let store = create(&SimDisk::new());
    let epoch = store.register_epoch("made elsewhere", Role::Both).unwrap();
    observe(&store, Observation::content(URL, ms(1), 0, epoch));
    let changed = observe(&store, Observation::content(URL, ms(2), 0b111, epoch));
    assert_eq!(changed.meaning, Some(Meaning::ready_made(3)));
    let snapshot = store.snapshot();
    assert_eq!(snapshot.meaning(Epoch::from_number(77), 3), Meaning::ready_made(3));
}

#[test]
fn reserved_bits_do_not_count_in_the_meaning() {
    let store = create(&SimDisk::new());
    let half = Recipe::DEFAULT.reserved(32);
    let epoch = store.begin_epoch(&Origin::new(half), Role::Both).unwrap();
    observe(&store, Observation::content(URL, ms(1), 0, epoch));
    let changed = observe(&store, Observation::content(URL, ms(2), 0xff_0000_001f, epoch));
    let meaning = changed.meaning.unwrap();
    assert_eq!((meaning, meaning.distance), (half.meaning(5), 5));
    // With 64 bits they would be moderate.
    assert_eq!(meaning.band, Band::Major);
}

#[test]
fn returning_page_is_reported_with_its_distance() {
    let store = create(&SimDisk::new());
    let epoch = store.begin_epoch(&Origin::new(Recipe::DEFAULT), Role::Both).unwrap();
    observe(&store, Observation::content(URL, ms(1000), 0, epoch));
    assert_eq!(observe(&store, Observation::gone(URL, ms(2000))).to_string(), "gone");
    let back = observe(&store, Observation::content(URL, ms(3000), 0, epoch));
    assert_eq!(back.meaning, Some(Recipe::DEFAULT.meaning(0)));
    let expected = "1970-01-01T00:00:03Z: reverted to the version of 1970-01-01T00:00:01Z, 0 bits from the \
         previous version: no change that the fingerprint shows, at most some 0.3 % of its words";
    assert_eq!(store.history(URL).unwrap()[2].to_string(), expected);
}
