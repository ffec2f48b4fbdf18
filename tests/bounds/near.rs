//! Stores in which nearly every page has a leader.

use std::time::{Duration, Instant};

use simkeep::disk::SimDisk;
use simkeep::due::{Due, LearnedPriors};
use simkeep::load::LoadOptions;
use simkeep::{Epoch, Observation};
use simkeep_testing::allocator::{lock_measurement, peak_allocated_bytes};
use simkeep_testing::depth::up_to;
use simkeep_testing::{create, ms, small};

/// All pages have the same content, or each content is on two pages.
#[test]
fn near_duplicates_of_leaders_wait_in_bounded_memory() {
    let _alone = lock_measurement();
    let pages = up_to(40_000).max(10_000);
    for contents in [1, pages / 2] {
        let store = create(&SimDisk::new(), small());
        let url = |n: u64| format!("https://host{}.example/{n}", n % 100);
        let urls: Vec<String> = (0..pages).map(url).collect();
        let fingerprint = |n: u64| (n % contents).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let epoch = Epoch::from_number(0);
        let visits = urls.iter().zip(0..).map(|(url, n)| {
            let time = i64::try_from(n).unwrap() * 1000;
            Ok(Observation::content(url, ms(time), fingerprint(n), epoch))
        });
        store.load(visits, LoadOptions::default()).unwrap();
        let view = store.snapshot();
        let now = 100 * 86_400_000;
        LearnedPriors::of(&view).unwrap();
        let count = |due: &Due| {
            let (mut led, mut all) = (0, 0);
            for page in view.due(due) {
                led += u64::from(page.unwrap().near.is_some());
                all += 1;
            }
            (all, led)
        };
        // Memory that does not depend on the limit: the results.
        let (_, little) = peak_allocated_bytes(|| count(&Due::new(ms(now), 1).memory_bytes(0)));
        let due = Due::new(ms(now), usize::MAX).memory_bytes(1 << 20);
        let since = Instant::now();
        let (found, bytes) = peak_allocated_bytes(|| count(&due));
        let time = since.elapsed();
        eprintln!("{time:?} and {} KiB for {found:?}, {} KiB for one", bytes >> 10, little >> 10);
        assert_eq!(found, (pages, pages - contents));
        // Candidates are held twice while they are merged.
        assert!(bytes < little + (3 << 20), "{bytes}");
        let patience = if cfg!(debug_assertions) { 40 } else { 4 };
        assert!(time < Duration::from_secs(4) * patience, "{time:?}");
    }
}
