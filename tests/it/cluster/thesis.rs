//! Examples from the thesis and from lectures.

use simkeep::cluster::{Clustering, RankingRule};
use simkeep::disk::SimDisk;
use simkeep::{Observation, Options};
use simkeep_testing::{create, ms};

use super::by_page;

/// S. Seshasai, 2.6.2: B is 3 bits from A, C is 1 bit from A, and B and C are 4 bits apart.
#[test]
fn leader_decides_whether_three_texts_form_one_cluster() {
    let fingerprints = [("a", 0b0000), ("b", 0b0111), ("c", 0b1000)];
    let clusters = |leads: &str| {
        let store = create(&SimDisk::new(), Options::default());
        let epoch = store.change_epoch();
        for (page, fingerprint) in fingerprints {
            let url = format!("https://{page}.example/");
            let time = if page == leads { 1 } else { 2 };
            store.observe(Observation::content(&url, ms(time), fingerprint, epoch)).unwrap();
        }
        let pages = by_page(&store.snapshot(), &Clustering::within(3).rule(RankingRule::FirstSeen));
        let letter = |url: &str| url.as_bytes()[8] as char;
        let all = pages.iter().map(|page| [letter(&page.url), letter(&page.leader)]);
        all.map(String::from_iter).collect::<Vec<_>>()
    };
    assert_eq!(clusters("a"), ["aa", "ba", "ca"]);
    assert_eq!(clusters("b"), ["ab", "bb", "cc"]);
    assert_eq!(clusters("c"), ["ac", "bb", "cc"]);
}
