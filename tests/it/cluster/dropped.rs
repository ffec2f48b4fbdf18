//! The fate of a page by its URL matches the list of all pages.

use simkeep::cluster::{ClusteredPage, Clusters, Fate};
use simkeep::{Classes, Snapshot};
use simkeep_testing::clusters::MemberPage;

/// Sets of open classes: those that tests use, and of unclassed pages.
const OPEN: [&[Option<u32>]; 5] =
    [&[], &[None], &[Some(0)], &[Some(2), Some(1), None], &[Some(0), Some(1), Some(2), None]];

/// Compares the fate of each page with the list of all clustered pages, for one of these sets.
pub(super) fn check(view: &Snapshot, clusters: &Clusters, found: &[MemberPage]) {
    let open = OPEN[found.len() % OPEN.len()];
    let set = Classes::of(open.iter().copied().flatten());
    let set = if open.contains(&None) { set.and_unclassed() } else { set };
    let yields = |page: &MemberPage| {
        let is_alike = page.class == page.leader_class || open.contains(&page.leader_class);
        page.url != page.leader && is_alike
    };
    let dropped = clusters.dropped(&set).unwrap();
    let follow = found.iter().filter(|page| yields(page)).count();
    assert_eq!((dropped.len(), dropped.is_empty()), (follow as u64, follow == 0));
    assert_eq!(clusters.count_dropped(&set).unwrap(), follow as u64);
    let pages: Vec<ClusteredPage> = clusters.by_page(1).unwrap().map(Result::unwrap).collect();
    assert!(pages.iter().map(|page| page.yields(&set)).eq(found.iter().map(yields)));
    for page in found {
        let kept_for = dropped.kept_for(&page.url).unwrap();
        match dropped.fate(&page.url).unwrap() {
            Fate::Dropped { .. } => {
                let kept = kept_for.unwrap();
                assert_eq!((&kept.url, kept.distance), (&page.leader, page.distance));
                assert!(yields(page), "{page:?}, {set}");
            }
            fate => {
                assert_eq!((fate, kept_for), (Fate::Kept, None), "{page:?}");
                assert!(!yields(page), "{page:?}, {set}");
            }
        }
    }
    // Pages that are in no cluster: gone and unknown ones.
    let known = view.scan(None).map(|page| page.unwrap().url);
    for url in known.filter(|url| found.iter().all(|page| page.url != *url)) {
        assert_eq!(dropped.fate(&url).unwrap(), Fate::Kept);
        assert_eq!(dropped.kept_for(&url).unwrap(), None);
    }
    assert_eq!(dropped.fate("http://nobody.example/").unwrap(), Fate::Unknown);
    assert!(dropped.fate("no\u{7f}url").is_err());
}
