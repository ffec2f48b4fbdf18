//! Long lists of pages that have, or had, the fingerprint of a search: no search reads a whole list.

use simkeep::disk::SimDisk;
use simkeep::{Epoch, Observation, Options, Prefix, Progress, Query, Scope, Store, Versions};
use simkeep_testing::depth::deep;
use simkeep_testing::{choice, digest, ms, on};

use super::{create, fill, fill_later, hot, url};

#[test]
fn list_of_changed_pages_ends_the_search_as_incomplete() {
    for sealed in [false, true] {
        let store = hot(5000, sealed);
        let changed: Vec<u64> = (0..5000).map(|i| if i == 4999 { 7 } else { !7 }).collect();
        fill_later(&store, &changed);
        if sealed {
            store.seal().unwrap();
        }
        let matches = store.snapshot().near(7, 3).unwrap();
        assert_eq!((matches.near.len(), matches.complete), (0, false));
        // A higher limit examines more pages.
        let matches = store.snapshot().search(&Query::new(7, 3).limit(5000)).unwrap();
        assert_eq!((matches.near.len(), matches.complete), (1, true));
        assert_eq!(matches.near[0].url, url(49, 4999));
        store.seal().unwrap();
        store.merge(&Progress::default()).unwrap();
        let matches = store.snapshot().near(7, 3).unwrap();
        assert_eq!((matches.near.len(), matches.complete), (1, true), "merged");
    }
}

#[test]
fn list_of_forgotten_pages_ends_the_search_as_incomplete() {
    for sealed in [false, true] {
        let store = hot(3000, sealed);
        store.forget(Scope::Prefix(Prefix::parse("example").unwrap())).unwrap();
        let matches = store.snapshot().near(7, 0).unwrap();
        assert_eq!((matches.near.len(), matches.complete), (0, false));
        let matches = store.snapshot().search(&Query::new(7, 0).limit(3000)).unwrap();
        assert_eq!((matches.near.len(), matches.complete), (0, true));
    }
}

#[test]
fn pages_elsewhere_do_not_limit_a_search_under_a_prefix() {
    let center = 0x0123_4567_89ab_cdef;
    // 20,000 different fingerprints within 4 bits of it, which their pages no longer have.
    let flipped = |i: u64, block: u64| 1 << (block * 16 + (i >> (block * 4)) % 16);
    let differ = |i| (0..4).map(|block| flipped(i, block)).sum::<u64>();
    let once: Vec<u64> = (0..20_000).map(|i| center ^ differ(i)).collect();
    let store = create(Options::default().memtable_observations(1 << 20));
    fill(&store, &once);
    fill_later(&store, &vec![!center; once.len()]);
    let kept = "http://kept.example/";
    store.observe(Observation::content(kept, ms(5), center ^ 0x1f, Epoch::from_number(0))).unwrap();
    store.seal().unwrap();
    store.merge(&Progress::default()).unwrap();
    let query = Query::new(center, 5).limit(1);
    let under = query.clone().under(Prefix::parse("kept.example").unwrap());
    let matches = store.snapshot().search(&under).unwrap();
    assert_eq!((matches.near.len(), matches.complete), (1, true));
    assert_eq!(matches.near[0].url, kept);
    // The search of all pages is incomplete, whether or not it finds the page.
    let matches = store.snapshot().search(&query).unwrap();
    assert!(!matches.complete);
    assert!(matches.near.iter().all(|near| near.url == kept));
}

#[test]
fn prefix_is_found_in_a_long_list_without_a_scan() {
    for sealed in [false, true] {
        let store = hot(20_000, sealed);
        let query = Query::new(7, 0).limit(100);
        let matches = store
            .snapshot()
            .search(&query.clone().under(Prefix::parse("host-150.example").unwrap()));
        let matches = matches.unwrap();
        if sealed {
            assert!(matches.complete);
            assert_eq!(matches.near.len(), 100);
            assert!(matches.near.iter().all(|near| near.url.contains("host-150")));
        } else {
            // In memory, lists are scanned as far as a search goes.
            assert!(!matches.complete);
        }
        let matches = store.snapshot().search(&query).unwrap();
        assert_eq!((matches.near.len(), matches.complete), (100, false));
        assert_eq!(matches.near[99].url, url(0, 99));
    }
}

#[test]
fn copies_are_found_in_a_long_list_of_others() {
    let options = Options::default().background(false).near_limit(3);
    let store = Store::create(on(&SimDisk::new()), options).unwrap();
    let observe = |page: usize, n| {
        let url = url(page / 100, page);
        let seen = Observation::content(&url, ms(5), 7, Epoch::from_number(0)).digest(digest(n));
        store.observe(seen).unwrap()
    };
    for page in 0..4000 {
        observe(page, if page % 1999 == 1500 { 9 } else { u8::from(page % 2 == 1) });
    }
    store.seal().unwrap();
    let outcome = observe(9999, 9);
    let copies: Vec<&str> = outcome.copies.iter().map(|copy| &*copy.url).collect();
    assert_eq!(copies, [url(15, 1500), url(34, 3499)]);
    assert_eq!(outcome.near.len(), 3);
}

#[test]
fn copies_hide_no_other_page_in_a_list() {
    for seed in 0..deep(200) {
        let mut choose = choice(seed);
        let options = Options::default().background(false).near_limit(2_000);
        let store = Store::create(on(&SimDisk::new()), options).unwrap();
        let (mut copies, mut others) = (Vec::new(), Vec::new());
        let mut observe = |page: usize, of: Option<u8>| {
            let url = url(page / 100, page);
            let seen = Observation::content(&url, ms(5), 7, Epoch::from_number(0));
            let seen = of.map_or(seen, |n| seen.digest(digest(n)));
            store.observe(seen).unwrap();
            if of == Some(1) { copies.push(url) } else { others.push(url) }
        };
        let mut page = 100;
        while page < 400 {
            let of = [Some(0), Some(1), Some(2), None][usize::try_from(choose(4)).unwrap()];
            let longest = 1 << choose(7);
            let run = 1 + usize::try_from(choose(longest)).unwrap();
            (page..page + run).for_each(|page| observe(page, of));
            page += run;
            if choose(8) == 0 {
                store.seal().unwrap();
            }
        }
        let seen = Observation::content("http://z.example/", ms(9), 7, Epoch::from_number(0));
        let outcome = store.observe(seen.digest(digest(1))).unwrap();
        let found: Vec<&str> = outcome.copies.iter().map(|copy| &*copy.url).collect();
        assert_eq!(found, copies, "seed {seed}");
        let found: Vec<&str> = outcome.near.iter().map(|near| &*near.url).collect();
        assert_eq!(found, others, "seed {seed}");
        assert!(outcome.complete);
    }
}

/// In any place, and with any number of pages with its fingerprint.
#[test]
fn excluded_page_is_not_found() {
    let url = |page: u64| format!("http://example.com/{page}");
    let store = create(Options::default());
    for page in 0..3 {
        store
            .observe(Observation::content(&url(page), ms(1), page, Epoch::from_number(0)))
            .unwrap();
    }
    for sealed in [false, true] {
        let query = Query::new(1, 3).exclude(url(1));
        let found: Vec<String> = store
            .snapshot()
            .search(&query)
            .unwrap()
            .near
            .into_iter()
            .map(|near| near.url)
            .collect();
        assert_eq!(found, [url(0), url(2)], "sealed: {sealed}");
        // A limit of one suffices for one other page.
        let one = store.snapshot().search(&Query::new(1, 0).limit(1).exclude(url(1))).unwrap();
        assert!(one.near.is_empty() && one.complete, "sealed: {sealed}");
        store.seal().unwrap();
    }
}

/// The number of versions of a page does not affect other pages.
#[test]
fn versions_of_an_excluded_page_hide_no_other_page() {
    let (own, other) = ("http://own.example/", "http://other.example/");
    let store = create(Options::default());
    let epoch = Epoch::from_number(0);
    for time in 0..900_i64 {
        // All within 3 bits of 0, and different from the previous one.
        let fingerprint = 1 << (time % 19) | 1 << (20 + time % 17) | 1 << (40 + time % 13);
        store.observe(Observation::content(own, ms(time), fingerprint, epoch)).unwrap();
    }
    store.observe(Observation::content(other, ms(1), 0b1111 << 60, epoch)).unwrap();
    for sealed in [false, true] {
        let query = Query::new(0, 4).versions(Versions::Ever).limit(16).exclude(own);
        let matches = store.snapshot().search(&query).unwrap();
        let found: Vec<&str> = matches.near.iter().map(|near| near.url.as_str()).collect();
        assert_eq!((found.as_slice(), matches.complete), (&[other][..], true), "sealed: {sealed}");
        store.seal().unwrap();
    }
}
