//! Clusters of pages.

mod bad_input;
mod canonical;
mod dropped;
mod old_ways;
mod original;
mod ranked;
mod texts;
mod thesis;
mod worlds;

use simkeep::cluster::Clustering;
use simkeep::{Progress, Snapshot};
use simkeep_testing::clusters::MemberPage;

/// All pages with their leaders, in SURT order; looking them up by URL gives the same.
fn by_page(view: &Snapshot, asked: &Clustering) -> Vec<MemberPage> {
    let clusters = asked.run(view, &Progress::default()).unwrap();
    let found: Vec<MemberPage> =
        clusters.by_page(1).unwrap().map(|page| MemberPage::from(&page.unwrap())).collect();
    dropped::check(view, &clusters, &found);
    found
}
