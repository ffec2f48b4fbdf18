//! Entity tags: kept for the current content only, and not at all if the store keeps none.

use simkeep::disk::SimDisk;
use simkeep::load::LoadOptions;
use simkeep::{ETag, Entry, Epoch, Error, Observation, Store};
use simkeep_testing::{create, ms, open, small};

const URL: &str = "https://example.com/";

fn content(time: i64) -> Observation<'static> {
    Observation::content(URL, ms(time), 7, Epoch::from_number(0))
}

/// The entity tag of the page, and the number of entity tags in its history.
fn etag(store: &Store) -> (Option<String>, usize) {
    let snapshot = store.snapshot();
    let kept = snapshot.observations(None).map(Result::unwrap);
    let count = kept.filter(|(_, entry)| entry.etag().is_some()).count();
    (snapshot.latest(URL).unwrap().unwrap().etag.map(|etag| etag.to_string()), count)
}

#[test]
fn etag_is_kept_for_the_current_content_only() {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    let kept = |etag: &str| (Some(etag.to_owned()), 1);
    store.observe(content(1).etag(b"\"a\"")).unwrap();
    assert_eq!(etag(&store), kept("\"a\""));
    // Content is not compared: a visit that sees content without an entity tag ends the old one.
    store.observe(content(2)).unwrap();
    assert_eq!(etag(&store).0, None);
    store.observe(content(3).etag(b"\"b\"")).unwrap();
    store.observe(Observation::failed(URL, ms(4)).etag(b"\"x\"")).unwrap();
    assert_eq!(etag(&store).0, kept("\"b\"").0);
    // A "not modified" response keeps the entity tag, and its own one replaces it.
    store.observe(Observation::not_modified(URL, ms(5))).unwrap();
    assert_eq!(etag(&store).0, kept("\"b\"").0);
    store.observe(Observation::not_modified(URL, ms(6)).etag(b"W/\"c\"")).unwrap();
    store.seal().unwrap();
    assert_eq!(etag(&store), kept("W/\"c\""));
    let headers = || store.snapshot().latest(URL).unwrap().unwrap().conditional_headers();
    store.observe(Observation::not_modified(URL, ms(7)).modified(ms(0))).unwrap();
    assert_eq!(headers().len(), 2);
    store.observe(Observation::gone(URL, ms(8))).unwrap();
    assert_eq!(etag(&store).0, None);
    // A page that is gone has no content that could be unmodified.
    assert_eq!(headers(), []);
}

/// The fields of an observation are public, so the methods that set them cannot be the only check.
#[test]
fn etag_and_target_of_an_error_replace_nothing() {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    store.observe(content(1).etag(b"\"a\"").canonical("/c")).unwrap();
    for mut error in [Observation::failed(URL, ms(2)), Observation::gone(URL, ms(1))] {
        error.etag = Some(b"\"e\"");
        error.target = Some("/e");
        store.observe(error).unwrap();
    }
    let mut not_modified = Observation::not_modified(URL, ms(3));
    not_modified.target = Some("/n");
    store.observe(not_modified).unwrap();
    assert_eq!(etag(&store), (Some("\"a\"".to_owned()), 1));
    let page = store.snapshot().latest(URL).unwrap().unwrap();
    assert_eq!(page.target.as_deref(), Some("https://example.com/c"));
}

#[test]
fn long_etags_are_left_out_and_unsendable_ones_are_refused() {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    let long = [b'x'; ETag::BYTES_MAX + 1];
    store.observe(content(1).etag(&long)).unwrap();
    assert_eq!(etag(&store), (None, 0));
    store.observe(content(2).etag(&long[1..])).unwrap();
    assert_eq!(etag(&store).1, 1);
    for wrong in ["\"a\"\r\nX: y", "a\nb", "a\0b", "\r"] {
        let refused = store.observe(content(3).etag(wrong.as_bytes()));
        assert!(matches!(refused, Err(Error::InvalidArgument(_))), "{wrong:?}");
    }
    assert_eq!(etag(&store).1, 1);
}

#[test]
fn store_without_validators_keeps_no_etags() {
    let (disk, other) = (SimDisk::new(), SimDisk::new());
    let with = create(&disk, small());
    with.observe(content(1).etag(b"\"a\"").weight(2.0)).unwrap();
    let without = create(&other, small().validators(false));
    without.observe(content(1).etag(b"\"a\"").weight(2.0)).unwrap();
    assert_eq!(etag(&without), (None, 0));
    // Neither a copy of the other store nor an operation that only has an entity tag brings one.
    without.copy_from(&with.snapshot(), LoadOptions::default()).unwrap();
    for entry in with.snapshot().observations(None) {
        let (url, entry): (_, Entry) = entry.unwrap();
        without.write_batch(&[simkeep::Operation::of(&url, entry)]).unwrap();
    }
    assert_eq!(etag(&without), (None, 0));
    without.close().unwrap();
    // A store that keeps entity tags may be opened without, and the stored ones stay.
    with.close().unwrap();
    let again = open(&disk, small().validators(false));
    assert_eq!(etag(&again).1, 1);
    again.observe(content(2).etag(b"\"b\"")).unwrap();
    assert_eq!(etag(&again).0, None);
}
