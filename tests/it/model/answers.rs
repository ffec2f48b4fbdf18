//! Answers to large batches, and answers at their limit.

use simkeep::disk::SimDisk;
use simkeep::{Epoch, Observation, Query, Seen, Versions};

use simkeep_testing::compare::{check_counts, check_outcome, check_page, check_search, dump};
use simkeep_testing::model::Model;
use simkeep_testing::{choice, create, digest, ms, observation, small, sound};

/// One part of a large batch is looked up while another is applied, on several threads, with seals and
/// merges in between.
#[test]
fn large_batch_answers_like_its_entries_one_by_one() {
    for (background, memtable_observations) in [(false, 700), (true, 300), (false, 100_000)] {
        let options = small().background(background).memtable_observations(memtable_observations);
        let store = create(&SimDisk::new(), options);
        let mut model = Model::default();
        let mut choice = choice(u64::from(background));
        let pages: Vec<String> =
            (0..150).map(|i| format!("http://example.com/{}/{i}", i % 7)).collect();
        for round in 0..2_i64 {
            let batch: Vec<Observation> = (0..2_600)
                .map(|i| {
                    let page = usize::try_from(choice(pages.len() as u64)).unwrap();
                    let mut visit = observation(&mut choice, 1, round * 100 + i / 26).visit;
                    if let Seen::Content(content) = &mut visit.seen {
                        let moved = 0xff << (choice(6) * 8);
                        content.fingerprint = content.fingerprint.map(|f| f ^ moved);
                    }
                    Observation::of(&pages[page], visit)
                })
                .collect();
            let found = store.observe_batch(&batch).unwrap();
            for (found, observation) in found.iter().zip(&batch) {
                check_outcome(found, &model.observe(observation, 3), 1000);
            }
        }
        check_counts(&store, &model);
        assert!(dump(&store.snapshot()).unwrap() == model);
        for page in &pages {
            check_page(&store.snapshot(), &model, page);
        }
        sound(&store).unwrap();
    }
}

#[test]
fn answers_are_limited_and_marked_incomplete() {
    const PAGES: usize = 40;
    let pages: Vec<String> = (0..PAGES).map(|i| format!("http://example.com/{i:02}")).collect();
    for sealed in [false, true] {
        for limit in [1, 2, 5, PAGES - 1, PAGES, 100] {
            let disk = SimDisk::new();
            let options = small().near_limit(limit).memtable_observations(1000);
            let store = create(&disk, options);
            let mut model = Model::default();
            let mut see = |url, fingerprint, n| {
                let seen = Observation::content(url, ms(7), fingerprint, Epoch::from_number(0))
                    .digest(digest(n));
                let expected = model.observe(&seen, 3);
                let found = store.observe(seen).unwrap();
                check_outcome(&found, &expected, limit);
                found
            };
            // Nearly all pages are copies of one. The last four are near it, the first of them at
            // distance 0.
            for (i, page) in pages.iter().enumerate() {
                let near = i.saturating_sub(PAGES - 4);
                let different = if i >= PAGES - 4 { 2 } else { 1 };
                see(page, (1 << near) >> 1, different);
            }
            if sealed {
                store.seal().unwrap();
            }
            let found = see("http://example.org/", 0, 1);
            assert_eq!(found.copies.len(), limit.min(PAGES - 4));
            assert_eq!(found.near.len(), limit.min(4));
            assert_eq!(found.complete, limit >= PAGES - 4);
            for versions in [Versions::InForce, Versions::Ever] {
                let query =
                    Query::new(0, 3).epoch(Epoch::from_number(0)).limit(limit).versions(versions);
                check_search(&store.snapshot(), &model, &query);
            }
        }
    }
}
