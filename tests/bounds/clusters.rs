//! Clusters stay within their memory limit for any number of pages, and leave no files behind. Dense
//! clusters and chains cost little more than the same number of random pages.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use simkeep::cluster::{Candidacy, Candidates, Clustering};
use simkeep::fingerprint::BitSketcher;
use simkeep::load::LoadOptions;
use simkeep::query::FingerprintPairs;
use simkeep::{Epoch, Error, Observation, Progress, Query, Result, Snapshot, Store};
use simkeep_testing::allocator::{lock_measurement, peak_allocated_bytes};
use simkeep_testing::depth::up_to;
use simkeep_testing::{choice, ms, small};

const MEMORY_BYTES: usize = 4 << 20;

/// Memory in addition to the limit: buffers of scratch files, frames, and a block of each segment.
const BESIDE_BYTES: usize = 28 << 20;

/// A store of pages with these fingerprints, ranked in this order.
fn store(dir: &Path, fingerprints: impl Iterator<Item = u64>) -> Store {
    let store = Store::create(dir.join("store"), small()).unwrap();
    let pages: Vec<(String, u64)> = fingerprints
        .enumerate()
        .map(|(n, print)| (format!("https://host{}.example/some/path/{n}", n % 97), print))
        .collect();
    let seen = (0..).zip(&pages).map(|(time, (url, print))| {
        Result::Ok(Observation::content(url, ms(time), *print, Epoch::from_number(0)))
    });
    store.load(seen, LoadOptions::default().segment_pages(1 << 20)).unwrap();
    store
}

/// Three in ten of the fingerprints are near others.
fn strangers(pages: u64) -> impl Iterator<Item = u64> {
    (0..pages).map(|page| {
        let of = if page % 10 < 3 { page / 100 } else { page };
        let mut choose = choice(of);
        choose(u64::MAX) ^ if page % 10 < 3 { 1 << (page % 64) } else { 0 }
    })
}

fn asked(k: u32, scratch: &Path) -> Clustering {
    Clustering::within(k).memory_bytes(MEMORY_BYTES).scratch(Some(scratch.to_owned()))
}

/// Returns the peak memory of clustering `pages` pages and listing the clusters in each order.
fn most(pages: u64) -> usize {
    let dir = tempfile::tempdir().unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let store = store(dir.path(), strangers(pages));
    let view = store.snapshot();
    let (count, most) = peak_allocated_bytes(|| {
        let clusters = asked(3, scratch.path()).run(&view, &Progress::default()).unwrap();
        assert_eq!(clusters.pages(), pages);
        assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0, "files have no names");
        assert_eq!(clusters.by_page(1).unwrap().map(Result::unwrap).count() as u64, pages);
        assert_eq!(clusters.by_cluster(1).unwrap().map(Result::unwrap).count() as u64, pages);
        clusters.by_size(1).unwrap().map(Result::unwrap).count() as u64
    });
    assert!(count > pages / 2, "{count}");
    most
}

#[test]
fn clusters_stay_within_their_memory_limit() {
    let _alone = lock_measurement();
    let [few, many] = [60_000, 240_000].map(most);
    assert!(few < MEMORY_BYTES + BESIDE_BYTES, "{few}");
    assert!(many < MEMORY_BYTES + BESIDE_BYTES, "{many} for 240,000 pages, {few} for 60,000");
}

/// Returns the peak memory of clustering by texts, where one fingerprint in ten has nine near it.
fn most_for_texts(pages: u64) -> usize {
    let dir = tempfile::tempdir().unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let fingerprints = (0..pages).map(|page| choice(page / 10)(u64::MAX) ^ 1 << (page % 64));
    let store = store(dir.path(), fingerprints);
    let view = store.snapshot();
    let urls: Vec<String> = view.scan(None).map(|page| page.unwrap().url).collect();
    let mut sketcher = BitSketcher::new();
    let (count, most) = peak_allocated_bytes(|| {
        let asked = asked(3, scratch.path());
        let candidates = Candidates::of(&view, &asked, &Progress::default()).unwrap();
        assert_eq!(u64::from(candidates.len()), pages);
        for (page, url) in urls.iter().enumerate() {
            let Candidacy::Candidate { location: place, .. } = candidates.candidacy(url).unwrap()
            else {
                panic!("{url} has pages near it");
            };
            let sketch = sketcher.of_text(&format!("one two three four five six {}", page % 7));
            candidates.add(place, sketch).unwrap();
        }
        let clusters = candidates.clusters(0.9, &Progress::default()).unwrap();
        clusters.by_page(1).unwrap().map(Result::unwrap).count() as u64
    });
    assert_eq!(count, pages);
    most
}

#[test]
fn clustering_by_text_stays_within_its_memory_limit() {
    let _alone = lock_measurement();
    let pages = up_to(80_000).max(10_000);
    let [few, many] = [pages / 4, pages].map(most_for_texts);
    assert!(few < MEMORY_BYTES + BESIDE_BYTES, "{few}");
    assert!(many < MEMORY_BYTES + BESIDE_BYTES, "{many} for {pages} pages, {few} for a quarter");
}

#[test]
fn missing_scratch_directory_is_named() {
    let _alone = lock_measurement();
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path(), strangers(60_000));
    let nowhere = dir.path().join("nowhere");
    let refused = asked(3, &nowhere).memory_bytes(0).run(&store.snapshot(), &Progress::default());
    let Err(error @ Error::Io { .. }) = refused else { panic!("{refused:?}") };
    let error = error.to_string();
    assert!(error.contains("a scratch file in") && error.contains("nowhere"), "{error}");
}

/// The time of clustering.
fn took(view: &Snapshot, k: u32) -> Duration {
    let scratch = tempfile::tempdir().unwrap();
    let start = Instant::now();
    let clusters = asked(k, scratch.path()).run(view, &Progress::default()).unwrap();
    assert!(!clusters.is_empty());
    start.elapsed()
}

#[test]
fn dense_clusters_and_chains_cost_little_more_than_random_pages() {
    let _alone = lock_measurement();
    let pages = up_to(8_000).max(4_000);
    let of = |k: u32, fingerprints: Box<dyn Iterator<Item = u64>>| {
        let dir = tempfile::tempdir().unwrap();
        let store = store(dir.path(), fingerprints);
        let view = store.snapshot();
        let least = (0..3).map(|_| took(&view, k)).min().unwrap();
        (least, dir, view)
    };
    let even = |k| of(k, Box::new((0..pages).map(|n| choice(n)(u64::MAX)))).0;
    let mut choose = choice(7);
    let mut at = choose(u64::MAX);
    let walk: Vec<u64> = (0..pages)
        .map(|_| {
            at ^= 1 << choose(64);
            at
        })
        .collect();
    let centre = choose(u64::MAX);
    let ball: Vec<u64> =
        (0..pages).map(|_| (0..4).fold(centre, |near, _| near ^ 1 << choose(64))).collect();
    let equal = of(3, Box::new((0..pages).map(|_| 7))).0;
    let [even_3, walk] = [even(3), of(3, Box::new(walk.into_iter())).0];
    assert!(equal < 10 * even_3, "{equal:?} for equal ones, {even_3:?} for others");
    assert!(walk < 10 * even_3, "{walk:?} for a walk, {even_3:?} for others");
    let (ball, _dir, view) = of(8, Box::new(ball.into_iter()));
    let start = Instant::now();
    FingerprintPairs::selected_by(&Query::new(0, 8))
        .run(&view, &Progress::default(), |_| ControlFlow::Continue(()))
        .unwrap();
    let join = start.elapsed();
    assert!(10 * ball < join, "{ball:?} for clusters, {join:?} for all pairs");
}
