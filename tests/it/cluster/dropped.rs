//! What becomes of a page, by its URL, is what the list of all pages says.

use simkeep::Snapshot;
use simkeep::cluster::{Clusters, Fate};
use simkeep_testing::clusters::Found;

/// Holds what is said of each page against the list of all that are clustered.
pub(super) fn check(view: &Snapshot, clusters: &Clusters, found: &[Found]) {
    let dropped = clusters.dropped().unwrap();
    let follow = found.iter().filter(|page| page.url != page.leader).count();
    assert_eq!((dropped.len(), dropped.is_empty()), (follow as u64, follow == 0));
    for page in found {
        let kept_for = dropped.kept_for(&page.url).unwrap();
        match dropped.fate(&page.url).unwrap() {
            Fate::Dropped { .. } => {
                let kept = kept_for.unwrap();
                assert_eq!((&kept.url, kept.distance), (&page.leader, page.distance));
                assert_ne!(page.url, page.leader);
            }
            fate => {
                assert_eq!((fate, kept_for), (Fate::Kept, None), "{page:?}");
                assert_eq!(page.url, page.leader);
            }
        }
    }
    // Pages that are in no cluster, such as those that are gone; and such as no one has seen.
    let known = view.scan(None).map(|page| page.unwrap().url);
    for url in known.filter(|url| found.iter().all(|page| page.url != *url)) {
        assert_eq!(dropped.fate(&url).unwrap(), Fate::Kept);
        assert_eq!(dropped.kept_for(&url).unwrap(), None);
    }
    assert_eq!(dropped.fate("http://nobody.example/").unwrap(), Fate::Unknown);
    assert!(dropped.fate("no\u{7f}url").is_err());
}
