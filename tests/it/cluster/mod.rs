//! Clusters of pages.

mod bad_input;
mod dropped;
mod old_ways;
mod original;
mod ranked;
mod texts;
mod thesis;
mod worlds;

use simkeep::cluster::Clustering;
use simkeep::{Progress, Snapshot};
use simkeep_testing::clusters::Found;

/// All pages with their leaders, in SURT order; looking them up by URL gives the same.
fn by_page(view: &Snapshot, asked: &Clustering) -> Vec<Found> {
    let clusters = asked.run(view, &Progress::default()).unwrap();
    let found: Vec<Found> =
        clusters.by_page(1).unwrap().map(|page| Found::from(&page.unwrap())).collect();
    dropped::check(view, &clusters, &found);
    found
}
