//! The ranks of pages among those of other stores.

use simkeep::cluster::{Clustering, RankedPage, RankedPages, Ranking};
use simkeep::{Epoch, Error, Observation, Options, Prefix, Progress, Store};
use simkeep_testing::{ms, on};

fn create() -> Store {
    Store::create(on(&simkeep::disk::SimDisk::new()), Options::default()).unwrap()
}

fn ranked(store: &Store, asked: &Clustering) -> Vec<RankedPage> {
    let pages = RankedPages::of(&store.snapshot(), asked, &Progress::default()).unwrap();
    pages.collect::<simkeep::Result<_>>().unwrap()
}

#[test]
fn ranking_can_be_cancelled() {
    let store = create();
    for page in ["http://a.b/1", "http://a.b/2"] {
        store.observe(Observation::content(page, ms(1), 1, Epoch::from_number(0))).unwrap();
    }
    let view = store.snapshot();
    let of = |rule: &str, progress: &Progress| {
        let asked = Clustering::within(0).rule(rule.parse::<Ranking>().unwrap());
        RankedPages::of(&view, &asked, progress)
    };
    let progress = Progress::default();
    let mut pages = of("first-seen", &progress).unwrap();
    assert!(pages.next().unwrap().is_ok());
    progress.cancel();
    assert!(matches!(pages.next(), Some(Err(Error::Cancelled))));
    assert!(pages.next().is_none());
    // This rule reads all pages first.
    assert!(matches!(of("canonical", &progress), Err(Error::Cancelled)));
}

#[test]
fn pages_of_several_stores_rank_like_those_of_one() {
    let all = create();
    let stores = [create(), create()];
    for n in 0..400_usize {
        let scheme = ["http", "https", "HTTP"][n % 3];
        let url = format!("{scheme}://{}.example/{}", n % 7, "x".repeat(n % 11));
        let fingerprint = n as u64 % 5;
        let at = (n * 7919 % 50) as i64;
        for store in [&all, &stores[n % 7 % 2]] {
            store
                .observe(Observation::content(&url, ms(at), fingerprint, Epoch::from_number(0)))
                .unwrap();
        }
    }
    for rule in
        ["first-seen", "newest", "https,shortest-url", "weight", "shortest-url,newest", "canonical"]
    {
        let asked = Clustering::within(0).rule(rule.parse::<Ranking>().unwrap());
        let mut pages: Vec<RankedPage> =
            stores.iter().flat_map(|store| ranked(store, &asked)).collect();
        let of_all = ranked(&all, &asked);
        assert_eq!(pages.len(), of_all.len());
        pages.sort_by(|one, other| one.rank.cmp(&other.rank));
        let mut same = of_all.clone();
        same.sort_by(|one, other| one.rank.cmp(&other.rank));
        assert_eq!(pages, same);
        // The first page of each fingerprint leads.
        let clusters = asked.run(&all.snapshot(), &Progress::default()).unwrap();
        for cluster in clusters.by_size(1).unwrap() {
            let cluster = cluster.unwrap();
            let first =
                pages.iter().find(|page| Some(page.fingerprint) == cluster.fingerprint).unwrap();
            assert_eq!(first.url, cluster.leader, "{rule}");
        }
    }
    let asked = Clustering::within(0).under("3.example".parse::<Prefix>().unwrap());
    let under = ranked(&all, &asked);
    assert!(!under.is_empty() && under.iter().all(|page| page.url.contains("://3.example/")));
    let keys: Vec<Vec<u8>> = ranked(&all, &Clustering::within(0))
        .iter()
        .map(|page| simkeep::inspect::surt_key(&page.url))
        .collect();
    assert!(keys.is_sorted());
}
