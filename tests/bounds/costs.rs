//! Queries on unusual stores cost only a few times more: with very many epochs, copies with long
//! histories, or a page with very many visits.

use std::time::Duration;

use simkeep::disk::SimDisk;
use simkeep::inspect::Overview;
use simkeep::load::LoadOptions;
use simkeep::{Durability, Observation, Options, Reader, Role, Store};
use simkeep_testing::allocator::lock_measurement;
use simkeep_testing::{digest, ms, on};

use super::hostile::quickest;

fn options() -> Options {
    Options::default().durability(Durability::OnFlush)
}

/// The cost of opening a store with a segment that has this number of epochs.
fn opening(epochs: u32) -> Duration {
    let disk = SimDisk::new();
    let store = Store::create(on(&disk), options()).unwrap();
    let load = LoadOptions::default();
    let epoch = |n| load.epochs.named(&format!("e{n}"), Role::Both).unwrap();
    let pages: Vec<_> = (0..epochs).map(|n| (format!("http://{n}.example/"), epoch(n))).collect();
    let visits = pages.iter().map(|(url, epoch)| Ok(Observation::content(url, ms(5), 7, *epoch)));
    store.load(visits, load).unwrap();
    drop(store);
    quickest(3, || {
        let reader = Reader::open(on(&disk)).unwrap();
        assert_eq!(Overview::of(&reader.snapshot()).unwrap().fingerprints, u64::from(epochs));
    })
}

/// 24 times as many epochs would take hundreds of times as long if a section were searched among all of
/// them.
#[test]
fn opening_takes_time_linear_in_epochs() {
    let _alone = lock_measurement();
    let (few, many) = (opening(500), opening(12_000));
    eprintln!("500 epochs: {few:?}; 12,000: {many:?}");
    assert!(many < 150 * few + Duration::from_millis(20), "{few:?} became {many:?}");
}

/// The cost of one more visit to each of 40 mirrors with a number of visits, whose content first changed
/// once and then alternated.
fn visit_of_mirrors(visits: i64, with_digests: bool) -> Duration {
    const MIRRORS: i64 = 40;
    let store = Store::create(on(&SimDisk::new()), options()).unwrap();
    let epoch = store.change_epoch();
    let urls: Vec<String> = (0..MIRRORS).map(|n| format!("http://{n}.example/")).collect();
    let visit = |url, time: i64, is_first: bool| {
        let seen = if is_first { 0x0123_4567_89ab_cdef } else { !0x0123_4567_89ab_cdef };
        let visit = Observation::content(url, ms(time), seen, epoch);
        if with_digests { visit.digest(digest(u8::from(is_first))) } else { visit }
    };
    let all = (0..visits).flat_map(|n| urls.iter().map(move |url| (url, n)));
    let all = all.map(|(url, n)| Ok(visit(url, 1000 * n, n < visits / 2)));
    store.load(all, LoadOptions::default()).unwrap();
    let mut next = visits;
    quickest(8, || {
        let batch: Vec<_> = urls.iter().map(|url| visit(url, 1000 * next, next % 2 == 0)).collect();
        let since = if next % 2 == 0 { 0 } else { 1000 * (visits / 2) };
        for outcome in store.observe_batch(&batch).unwrap() {
            let found = outcome.copies.iter().map(|copy| copy.first);
            assert!(
                found.chain(outcome.near.iter().map(|near| near.first)).all(|of| of == ms(since))
            );
        }
        next += 1;
    })
}

#[test]
fn copies_with_long_histories_are_observed_as_fast_as_others() {
    let _alone = lock_measurement();
    for with_digests in [false, true] {
        let [few, many] = [16, 2000].map(|visits| visit_of_mirrors(visits, with_digests));
        eprintln!("digests: {with_digests}; 16 visits: {few:?}, 2,000: {many:?}");
        assert!(many < 8 * few + Duration::from_millis(2), "{few:?} became {many:?}");
    }
}

/// The cost of reading a page with this number of unsealed visits.
fn latest(visits: i64) -> Duration {
    let store = Store::create(on(&SimDisk::new()), options()).unwrap();
    let (url, epoch) = ("http://one.example/", store.change_epoch());
    let visit =
        |n: i64| Observation::content(url, ms(1000 * n), (n / 3).cast_unsigned() << 7, epoch);
    for from in (0..visits).step_by(1000) {
        store.observe_batch(&(from..from + 1000).map(visit).collect::<Vec<_>>()).unwrap();
    }
    quickest(20, || {
        (0..20).for_each(|_| {
            let page = store.snapshot().latest(url).unwrap().unwrap();
            assert_eq!(page.visits, visits.cast_unsigned());
        });
    })
}

#[test]
fn unsealed_page_with_many_visits_is_read_as_fast() {
    let _alone = lock_measurement();
    let [few, many] = [1000, 32_000].map(latest);
    eprintln!("1,000 visits: {few:?}, 32,000: {many:?}");
    assert!(many < 6 * few + Duration::from_millis(1), "{few:?} became {many:?}");
}
