//! Limits of finding aliases: memory for one site of any size, and time for pages with hostile URLs.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use simkeep::alias::{AliasQuery, AliasRule, AliasSite, AliasTotals};
use simkeep::load::LoadOptions;
use simkeep::{Epoch, Observation, Progress, Result, Store};
use simkeep_testing::allocator::{lock_measurement, peak_allocated_bytes};
use simkeep_testing::depth::up_to;
use simkeep_testing::{choice, ms, small};

/// A store on disk with these pages, each with a fingerprint derived from a number.
fn loaded(pages: impl Iterator<Item = (String, u64)>) -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::create(dir.path().join("store"), small()).unwrap();
    let pages: Vec<(String, u64)> = pages.collect();
    let epoch = Epoch::from_number(0);
    let observations = pages.iter().map(|(url, content)| {
        Result::Ok(Observation::content(url, ms(0), choice(*content)(u64::MAX), epoch))
    });
    store.load(observations, LoadOptions::default()).unwrap();
    (dir, store)
}

fn found(store: &Store, asked: &AliasQuery) -> (AliasTotals, Vec<AliasSite>) {
    let (mut sites, view) = (Vec::new(), store.snapshot());
    let summary = asked.run(&view, &Progress::default(), |site| {
        sites.push(site);
        ControlFlow::Continue(())
    });
    (summary.unwrap(), sites)
}

/// Memory in addition to the table of a site: the scan, names and examples.
const BESIDE_BYTES: usize = 24 << 20;

#[test]
fn large_site_is_sampled_within_its_memory_limit() {
    const PAGES: u64 = 100_000;
    let _alone = lock_measurement();
    let pages = (0..PAGES).flat_map(|page| {
        let url = format!("https://large.example/some/path/of/page?id={page}");
        [(format!("{url}&sid=1"), page), (url, page)]
    });
    let (_dir, store) = loaded(pages);
    for (memory, halved) in [(512 << 20, false), (12 << 20, true), (4 << 20, true)] {
        let asked = AliasQuery::default().memory_bytes(memory);
        let start = Instant::now();
        let ((summary, sites), most) = peak_allocated_bytes(|| found(&store, &asked));
        println!("{memory} allowed, {most} taken, {:?}", start.elapsed());
        assert!(most < memory + BESIDE_BYTES, "{most} of {memory}");
        assert_eq!((summary.pages, summary.sampled), (2 * PAGES, u64::from(halved)));
        let [site] = &sites[..] else { panic!("{sites:?}") };
        // `id` distinguishes pages, so no rule names it.
        let [sid] = &site.rules[..] else { panic!("{site:?}") };
        assert_eq!(sid.rule, AliasRule::Parameter("sid".to_owned()));
        assert_eq!((sid.near, site.sampled < 1.0), (sid.pairs, halved));
        let all = sid.pairs as f64 / site.sampled;
        assert!((all / PAGES as f64 - 1.0).abs() < 0.1, "{all}");
    }
}

/// The longest URLs, with as many parameters as fit, all with different names.
#[test]
fn urls_with_a_thousand_parameters_cost_linear_time() {
    let _alone = lock_measurement();
    let all = up_to(4000).max(500);
    let pages = (0..all).map(|page| {
        let parameters: Vec<String> =
            (0..1000).map(|n| format!("{:06x}", choice(page * 1000 + n)(1 << 24))).collect();
        let url = format!("https://hostile.example/{page:04}?{}", parameters.join("&"));
        assert!(url.len() < 8192);
        (url, page)
    });
    let (_dir, store) = loaded(pages);
    let asked = AliasQuery::default().all(true).memory_bytes(16 << 20);
    let start = Instant::now();
    let ((summary, sites), most) = peak_allocated_bytes(|| found(&store, &asked));
    println!("{most} taken, {:?} for {all} pages", start.elapsed());
    assert!(most < (16 << 20) + BESIDE_BYTES, "{most}");
    // About 100 to 300 µs each.
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    assert_eq!((summary.pages, sites.len()), (all, 0));
}
