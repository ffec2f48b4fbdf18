//! The original that `observe` returns, compared with clusters.

use simkeep::cluster::{Clustering, RankingRule};
use simkeep::disk::SimDisk;
use simkeep::{Digest, Observation, Options, OriginalBy, Store};
use simkeep_testing::depth::deep;
use simkeep_testing::{choice, create, ms};

use super::by_page;

fn store(options: Options) -> Store {
    create(&SimDisk::new(), options.near_distance(Some(3)))
}

#[test]
fn original_is_named_with_its_evidence() {
    let store = store(Options::default());
    let epoch = store.change_epoch();
    let digest = |n: u8| Digest([n; 16]);
    let seen = |url, time, fingerprint, digest| {
        let seen = Observation::content(url, ms(time), fingerprint, epoch).digest(digest);
        let outcome = store.observe(seen).unwrap();
        outcome.original.map(|of| (of.url, of.distance, of.by))
    };
    let a = |distance, by| Some(("http://a.example/".to_owned(), distance, by));
    assert_eq!(seen("http://a.example/", 1, 0b0, digest(1)), None);
    assert_eq!(seen("http://b.example/", 2, 0b0, digest(1)), a(0, OriginalBy::Digest));
    assert_eq!(seen("http://c.example/", 3, 0b0, digest(2)), a(0, OriginalBy::Fingerprint));
    assert_eq!(seen("http://d.example/", 4, 0b111, digest(3)), a(3, OriginalBy::Near));
    // Seen again, it is still the first; so is a page that was seen before it.
    assert_eq!(seen("http://a.example/", 9, 0b0, digest(1)), None);
    assert_eq!(seen("http://e.example/", 0, 0b0, digest(1)), None);
    let e = Some(("http://e.example/".to_owned(), 0, OriginalBy::Digest));
    assert_eq!(seen("http://a.example/", 10, 0b0, digest(1)), e);
    // Once it has other content, it is no original any more.
    assert_eq!(seen("http://e.example/", 11, u64::MAX, digest(9)), None);
    assert_eq!(seen("http://a.example/", 12, 0b0, digest(1)), None);
}

#[test]
fn rule_of_the_store_selects_the_original() {
    let store = store(
        Options::default()
            .rule([RankingRule::Https, RankingRule::ShortestUrl].into_iter().collect()),
    );
    let epoch = store.change_epoch();
    for url in ["http://a.example/", "https://b.example/long", "https://c.example/"] {
        store.observe(Observation::content(url, ms(1), 7, epoch)).unwrap();
    }
    let seen = Observation::content("https://d.example/long", ms(0), 7, epoch);
    let original = store.observe(seen).unwrap().original.unwrap();
    assert_eq!(original.url, "https://c.example/");
}

/// A page may have an original that has another original, which is not near it. A leader has no
/// original.
#[test]
fn few_originals_have_an_original_themselves() {
    let (mut yields, mut all) = (0, 0);
    for seed in 0..deep(200) {
        let mut choose = choice(seed);
        let store = store(Options::default());
        let epoch = store.change_epoch();
        let mut originals = Vec::new();
        for time in 0..200 {
            let url = format!("http://h{time:03}.example/");
            let centre = choice(choose(40))(u64::MAX);
            let print = (0..choose(4)).fold(centre, |near, _| near ^ 1 << choose(64));
            let outcome =
                store.observe(Observation::content(&url, ms(time), print, epoch)).unwrap();
            assert!(outcome.complete, "nothing is too much of so few");
            originals.push(outcome.original.map(|of| of.url));
        }
        let clusters = by_page(&store.snapshot(), &Clustering::within(3));
        for (page, original) in clusters.iter().zip(&originals) {
            let Some(original) = original else {
                assert_eq!(page.url, page.leader, "what yields to none leads");
                continue;
            };
            let of = clusters.iter().find(|other| other.url == *original).unwrap();
            all += 1;
            yields += u64::from(of.url != of.leader);
        }
    }
    assert!(all > 0 && yields > 0, "{yields} of {all}");
    assert!(yields < all / 2, "{yields} of {all} originals yield to others");
    println!("{yields} of {all} originals yield to others");
}

#[test]
fn first_of_many_copies_is_named_or_answer_is_incomplete() {
    let store = store(Options::default().memtable_observations(2_000));
    let epoch = store.change_epoch();
    let pages = deep(50_000).min(1_000_000);
    let url = |n: u64| format!("http://h{:07}.example/", n.wrapping_mul(7_919_993) % 10_000_000);
    let first = url(0);
    for from in (0..pages).step_by(500) {
        let urls: Vec<String> = (from..pages.min(from + 500)).map(url).collect();
        let seen = (from..).zip(&urls).map(|(time, url)| {
            let time = i64::try_from(time).unwrap();
            Observation::content(url, ms(time), 7, epoch).digest(Digest([7; 16]))
        });
        let seen: Vec<Observation<'_>> = seen.collect();
        for (outcome, url) in store.observe_batch(&seen).unwrap().into_iter().zip(&urls) {
            let is_first = outcome.original.as_ref().is_some_and(|of| of.url == first);
            assert!(is_first || !outcome.complete || *url == first, "{url}: {outcome:?}");
        }
    }
}
