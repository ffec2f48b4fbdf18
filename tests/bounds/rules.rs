//! A million rules.

use std::time::{Duration, Instant};

use simkeep::disk::SimDisk;
use simkeep::due::{Due, Rule, Rules};
use simkeep::load::LoadOptions;
use simkeep::{Observation, Prefix};
use simkeep_testing::allocator::{lock_measurement, peak_allocated_bytes};
use simkeep_testing::{create, ms, small};

#[test]
fn a_million_rules_are_matched_fast_in_bounded_memory() {
    const RULES: usize = 1_000_000;
    let _alone = lock_measurement();
    let text = |nth: usize| format!("host{}.example/section{}", nth / 10, nth % 10);
    let rule = |nth| Rule::under(Prefix::parse(&text(nth)).unwrap()).weight(nth as f64 + 1.0);
    let since = Instant::now();
    let (rules, bytes) = peak_allocated_bytes(|| Rules::new((0..RULES).map(rule)).unwrap());
    eprintln!("{RULES} rules: {:?}, {} bytes each while sorting", since.elapsed(), bytes / RULES);
    assert!(bytes < 640 * RULES, "{bytes}");

    let asked = 100_000;
    let since = Instant::now();
    for nth in (0..asked).map(|nth| nth * (RULES / asked)) {
        let url = format!("https://{}/page", text(nth));
        assert_eq!(rules.of(&url).weight, nth as f64 + 1.0);
    }
    let each = since.elapsed() / u32::try_from(asked).unwrap();
    eprintln!("{each:?} for a page");
    let patience = if cfg!(debug_assertions) { 40 } else { 4 };
    assert!(each < Duration::from_micros(10) * patience, "{each:?}");
}

#[test]
fn a_million_rules_are_looked_up_fast_in_a_store() {
    const RULES: u64 = 1_000_000;
    let _alone = lock_measurement();
    let text = |nth: u64| format!("host{nth}.example/section");
    let weight = |nth: u64| [0.5, 2.0, 1024.0][(nth % 3) as usize];
    let rule = |nth| Rule::under(Prefix::parse(&text(nth)).unwrap()).weight(weight(nth));
    let rules = Rules::new((0..RULES).map(rule)).unwrap();
    let store = create(&SimDisk::new(), small());
    let urls =
        (0..100).map(|nth| nth * 10_001 % RULES).map(|nth| format!("https://{}/x", text(nth)));
    let urls: Vec<String> = urls.collect();
    let visits = urls.iter().map(|url| Ok(Observation::gone(url, ms(0))));
    store.load(visits, LoadOptions::default()).unwrap();
    store.observe(Observation::gone("https://host0.example/other", ms(0))).unwrap();

    let since = Instant::now();
    let due = Due::new(ms(86_400_000), usize::MAX).rules(&rules);
    let (found, bytes) = peak_allocated_bytes(|| {
        store.snapshot().due(&due).map(|page| page.unwrap()).collect::<Vec<_>>()
    });
    let time = since.elapsed();
    eprintln!("{time:?} and {} KiB for {} pages", bytes >> 10, found.len());
    assert_eq!(found.len(), 101);
    for page in found {
        let of_rule = |nth: &str| nth.parse().map_or(1.0, weight);
        let host = page.page.url.strip_prefix("https://host").unwrap().split_once(".example/");
        let expected =
            host.filter(|(_, path)| *path == "section/x").map_or(1.0, |of| of_rule(of.0));
        assert_eq!(page.weight, expected, "{}", page.page.url);
    }
    let patience = if cfg!(debug_assertions) { 40 } else { 4 };
    assert!(time < Duration::from_millis(100) * patience, "{time:?}");
    assert!(bytes < 4 << 20, "{bytes}");
}

#[test]
fn nested_rules_take_no_longer_per_page() {
    let _alone = lock_measurement();
    let deepest = 4000;
    let path = |depth: usize| format!("example.com{}", "/x".repeat(depth));
    let rule = |depth| Rule::under(Prefix::parse(&path(depth)).unwrap()).weight(depth as f64);
    let rules = Rules::new((1..=deepest).map(rule)).unwrap();
    let beside = format!("https://{}/y", path(1));
    let time = |url: &str| {
        let since = Instant::now();
        (0..1000).for_each(|_| assert!(rules.of(url).weight >= 1.0));
        since.elapsed()
    };
    assert_eq!(rules.of(&beside).weight, 1.0);
    assert_eq!(rules.of(&format!("https://{}/y", path(deepest))).weight, deepest as f64);
    // Checking each rule near the page would take forty times as long.
    let (beside, elsewhere) = (time(&beside), time("https://example.org/"));
    assert!(beside < 20 * elsewhere + Duration::from_millis(2), "{beside:?} {elsewhere:?}");
}
