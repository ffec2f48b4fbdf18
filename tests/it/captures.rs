//! The first capture of a content, which an archive refers to.

use simkeep::disk::SimDisk;
use simkeep::{Content, Digest, Error, Observation, Role, Seen, Store, Visit};
use simkeep_testing::{create, digest, ms, open, small};

fn refers_to(store: &Store, seen: Observation<'_>) -> Option<(i64, String)> {
    let capture = store.observe(seen).unwrap().refers_to;
    capture.map(|capture| (capture.time.as_ms(), capture.url))
}

/// Other pages with an equal fingerprint do not hide a page that had the content in the past.
#[test]
fn past_capture_is_found_behind_near_pages() {
    for is_sealed in [false, true] {
        let disk = SimDisk::new();
        let store = create(&disk, small().near_limit(1));
        let epoch = store.change_epoch();
        let seen = |url, time, fingerprint, content| {
            Observation::content(url, ms(time), fingerprint, epoch).digest(digest(content))
        };
        let z = "https://z.example/";
        store.observe(seen(z, 1, 7, 9)).unwrap();
        store.observe(seen(z, 2, !7, 8)).unwrap();
        for (time, content, url) in [(3, 1, "https://a.example/"), (4, 2, "https://b.example/")] {
            store.observe(seen(url, time, 7, content)).unwrap();
        }
        if is_sealed {
            store.seal().unwrap();
        }
        let found = refers_to(&store, seen("https://q.example/", 5, 7, 9));
        assert_eq!(found, Some((1, z.to_owned())), "{is_sealed}");
        // A forgotten page has no captures.
        store.forget(simkeep::Scope::Url(z)).unwrap();
        assert_eq!(refers_to(&store, seen("https://r.example/", 6, 7, 9)).unwrap().0, 5);
    }
}

/// A page that the search in the older epoch leaves out has captures, too.
#[test]
fn capture_is_found_whatever_the_fingerprint_in_the_newest_epoch() {
    for is_sealed in [false, true] {
        let store = create(&SimDisk::new(), small());
        let old = store.change_epoch();
        let new = store.register_epoch("other", Role::Near).unwrap();
        let seen = |url, time, of_new: u64| {
            Observation::content(url, ms(time), 7, old).also(of_new, new).digest(digest(1))
        };
        let first = "https://first.example/";
        store.observe(seen(first, 1, 0)).unwrap();
        if is_sealed {
            store.seal().unwrap();
        }
        let found = refers_to(&store, seen("https://later.example/", 2, !0));
        assert_eq!(found, Some((1, first.to_owned())), "{is_sealed}");
    }
}

#[test]
fn only_earlier_captures_count() {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    let epoch = store.change_epoch();
    let seen = |url, time| Observation::content(url, ms(time), None, epoch).digest(digest(1));
    let (a, b) = ("https://a.example/", "https://b.example/");
    assert_eq!(refers_to(&store, seen(a, 10)), None);
    assert_eq!(refers_to(&store, seen(a, 10)), None);
    // A late visit is earlier than the known capture.
    assert_eq!(refers_to(&store, seen(b, 5)), None);
    assert_eq!(refers_to(&store, seen(a, 20)), Some((5, b.to_owned())));
    assert_eq!(refers_to(&store, seen(b, 5)), None);
    // Redirects and content without a digest are no captures.
    let bare = Observation::content(a, ms(30), None, epoch);
    assert_eq!(refers_to(&store, bare), None);
    let redirect = |time| Observation::redirect(a, ms(time), "/b");
    assert_eq!(refers_to(&store, redirect(40)), None);
    assert_eq!(refers_to(&store, redirect(50)), None);
}

#[test]
fn first_captures_need_searches() {
    let disk = SimDisk::new();
    create(&disk, small()).close().unwrap();
    let options = || small().near_limit(0);
    let refused = Store::open(std::sync::Arc::new(disk.clone()), options());
    assert!(matches!(refused, Err(Error::InvalidOption { name: "near_limit", .. })));
    let store = open(&disk, options().refers_to(false));
    let epoch = store.change_epoch();
    let seen = Observation::content("https://a.example/", ms(1), 7, epoch).digest(digest(1));
    assert_eq!(refers_to(&store, seen), None);
}

/// Digests are found by their first 8 bytes, and compared as a whole.
#[test]
fn digests_with_one_key_are_different_contents() {
    for is_sealed in [false, true] {
        let disk = SimDisk::new();
        let store = create(&disk, small());
        let epoch = store.change_epoch();
        let content = |last: u8| {
            let mut bytes = [7; 16];
            bytes[15] = last;
            let digest = Some(Digest(bytes));
            Content { fingerprint: None, digest, epoch }
        };
        let observe = |url: &str, time, last| {
            let seen = Seen::Content(content(last));
            store.observe(Observation::of(url, Visit::new(ms(time), seen))).unwrap()
        };
        // Two pages make a list, and a third one is alone with its digest.
        for (time, last, url) in [(1, 1, "https://a.example/"), (2, 1, "https://b.example/")] {
            observe(url, time, last);
        }
        observe("https://c.example/", 3, 2);
        if is_sealed {
            store.seal().unwrap();
        }
        let of = |last| store.snapshot().by_digest(&content(last), 10).unwrap();
        assert_eq!([1, 2, 3].map(|last| of(last).pages.len()), [2, 1, 0], "{is_sealed}");
        for (last, copies) in [(1, 2), (2, 1), (3, 0)] {
            let outcome = observe("https://d.example/", 9 + i64::from(last), last);
            assert_eq!((outcome.copies.len(), outcome.near.len()), (copies, 0), "{is_sealed}");
            assert_eq!(outcome.refers_to.is_some(), copies > 0, "{is_sealed}");
        }
    }
}
