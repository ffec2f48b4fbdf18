//! Pages that threads lease, visit and release: each page has one holder at a time.

use simkeep_testing::ms;
use std::collections::BTreeSet;
use std::sync::Mutex;

use shuttle::rand::Rng;
use shuttle::thread;
use simkeep::due::Due;
use simkeep::{Epoch, Observation};

use super::{busy, explore, pause, start, url};

const PAGES: u64 = 5;
const NOW: i64 = 30 * 86_400_000;

/// No page has two holders, and none is visited again right after a visit.
#[test]
fn each_page_is_leased_by_one_thread_and_visited_once() {
    explore(|disk| {
        let store = start(&disk, busy());
        let visit = |page: &str, time| {
            store.observe(Observation::content(page, ms(time), 7, Epoch::from_number(0))).unwrap();
        };
        (0..PAGES).for_each(|page| visit(&url(page), 0));
        // This is no lock of the scheduler: no thread waits while holding it.
        let with_somebody = Mutex::new(BTreeSet::new());
        let lease_two = || store.lease_due(&Due::new(ms(NOW), 2), "1d".parse().unwrap()).unwrap();
        let work = || {
            loop {
                let leased = lease_two();
                for page in &leased {
                    let url = &page.page.url;
                    assert_eq!(page.page.last.time, ms(0), "{url} was visited already");
                    assert!(with_somebody.lock().unwrap().insert(url.clone()), "{url} is leased");
                }
                for page in &leased {
                    let url = &page.page.url;
                    pause();
                    let is_given_up = shuttle::rand::thread_rng().gen_range(0..4) == 0;
                    assert!(with_somebody.lock().unwrap().remove(url));
                    if is_given_up {
                        assert!(store.release(url).unwrap());
                    } else {
                        visit(url, NOW);
                    }
                }
                if leased.is_empty() {
                    return;
                }
            }
        };
        thread::scope(|scope| {
            (0..3).for_each(|_| drop(scope.spawn(work)));
        });
        // Visits the pages that were released last.
        work();
        for page in 0..PAGES {
            assert_eq!(store.history(&url(page)).unwrap().len(), 2);
        }
        assert!(lease_two().is_empty());
        store.close().unwrap();
    });
}
