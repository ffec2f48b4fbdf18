//! No page, one page, equal pages, unrelated pages; ended epochs, extreme distances, and a full disk.

use simkeep::cluster::{Balls, Clustering, ConnectedComponents, PageCluster};
use simkeep::disk::SimDisk;
use simkeep::{Epoch, Error, Observation, Options, Progress, Role, Store};
use simkeep_testing::{create, ms};

use super::by_page;

fn store(fingerprints: impl IntoIterator<Item = u64>) -> Store {
    let store = create(&SimDisk::new(), Options::default());
    let epoch = store.change_epoch();
    let urls: Vec<(String, u64)> = fingerprints
        .into_iter()
        .enumerate()
        .map(|(n, fingerprint)| (format!("https://example.com/{n:05}"), fingerprint))
        .collect();
    let seen = urls.iter().map(|(url, f)| Observation::content(url, ms(1), *f, epoch));
    let seen: Vec<Observation<'_>> = seen.collect();
    store.observe_batch(&seen).unwrap();
    store
}

#[test]
fn clustering_works_for_no_page_and_one_page() {
    let progress = Progress::default();
    for k in [0, 3, 64] {
        let asked = Clustering::within(k);
        let none = store([]).snapshot();
        let clusters = asked.run(&none, &progress).unwrap();
        assert!(clusters.is_empty() && clusters.by_size(0).unwrap().next().is_none());
        assert_eq!(
            (clusters.largest(), clusters.multi_page_clusters(), clusters.pages()),
            (0, 0, 0)
        );
        assert_eq!(Balls::of(&none, &asked, [("a", "b")], &progress).unwrap()[0].average(), None);
        assert_eq!(ConnectedComponents::of(&none, &asked, &progress).unwrap().components, 0);
        assert_eq!(PageCluster::of(&none, &asked, "https://example.com/").unwrap(), None);
        assert_eq!(by_page(&store([5]).snapshot(), &asked)[0].pages, 1);
        let alike = by_page(&store([5; 3000]).snapshot(), &asked);
        assert!(alike.iter().all(|page| page.leader == "https://example.com/00000"));
    }
    let apart = store([0, u64::MAX, 0xffff_ffff]).snapshot();
    assert_eq!(by_page(&apart, &Clustering::within(31)).iter().map(|p| p.pages).max(), Some(1));
    assert_eq!(by_page(&apart, &Clustering::within(64))[2].pages, 3);
    assert_eq!(Clustering::within(99).run(&apart, &progress).unwrap().k(), 64);
    assert_eq!(Clustering::default().run(&apart, &progress).unwrap().k(), 3);
}

#[test]
fn ended_or_unknown_epoch_is_refused() {
    let store = store([1]);
    let unknown = Clustering::within(3).epoch(Epoch::from_number(9));
    let refused = unknown.run(&store.snapshot(), &Progress::default());
    assert!(matches!(refused, Err(Error::UnknownEpoch(9))), "{refused:?}");
    let old = store.change_epoch();
    store.register_epoch("another", Role::Both).unwrap();
    store.end_epoch(old, u64::MAX).unwrap();
    let ended = PageCluster::of(
        &store.snapshot(),
        &Clustering::within(3).epoch(old),
        "https://example.com/00000",
    );
    assert!(matches!(ended, Err(Error::EndedEpoch(_))), "{ended:?}");
}

#[test]
fn cancellation_is_reported_and_small_input_needs_no_scratch() {
    let store = store((0..5000_u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    let progress = Progress::default();
    progress.cancel();
    let cancelled = Clustering::within(3).run(&store.snapshot(), &progress);
    assert!(matches!(cancelled, Err(Error::Cancelled)), "{cancelled:?}");
    let nowhere = Clustering::within(3).memory_bytes(0).scratch(Some("/nowhere/at/all".into()));
    // This little data fits into the smallest memory.
    nowhere.run(&store.snapshot(), &Progress::default()).unwrap();
}
