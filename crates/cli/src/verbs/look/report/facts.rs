//! The data that a report shows.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::Ordering;

use simkeep::cluster::{Balls, Cluster, Clustering, Clusters};
use simkeep::due::Survey;
use simkeep::inspect::{Census, HostRequests, Overview, RequestCounts, RequestSurvey};
use simkeep::mirror::{MirrorQuery, Mirrors};
use simkeep::{Query, Reader, Snapshot};

use super::attention::{Attention, TopList};
use crate::exit::VerbError;
use crate::output::progress::{counted, with_progress_bar};
use crate::time;

/// The maximum distance of the search for a nearest page, in bits. Larger distances are slow to
/// search, and pages that far apart have nothing in common.
pub(super) const FARTHEST: u32 = 8;

/// No labels for the count of balls.
const NO_LABELS: [(&str, &str); 0] = [];

/// The maximum number of items in each list of the largest.
pub(super) const LARGEST: usize = 20;

/// The data that a report shows.
pub(super) struct ReportFacts {
    pub(super) name: String,
    pub(super) made: String,
    pub(super) overview: Overview,
    pub(super) catalog_bytes: u64,
    pub(super) census: Census,
    pub(super) survey: Survey,
    pub(super) attention: Attention,
    pub(super) requests: RequestFacts,
    pub(super) clusters: ClusterFacts,
    /// The balls for each distance up to that of the clusters.
    pub(super) balls: Vec<Balls>,
    pub(super) mirrors: Mirrors,
    /// The number of sampled pages by the distance in bits to their nearest other page. The last
    /// element counts pages without another page within [`FARTHEST`].
    pub(super) nearest: Vec<u64>,
    /// The largest distances of a minor and of a moderate change, in bits.
    pub(super) bands: (u32, u32),
}

/// What requests transferred and saved.
pub(super) struct RequestFacts {
    pub(super) totals: RequestCounts,
    /// The hosts that ignore most conditional requests, by the number of ignored requests.
    pub(super) ignoring: TopList<HostRequests, LARGEST>,
}

/// The clusters of a store.
pub(super) struct ClusterFacts {
    pub(super) pages: u64,
    pub(super) clusters: u64,
    pub(super) k: u32,
    /// The number of clusters with 1 page, 2 to 3 pages, 4 to 7 pages, and so on.
    pub(super) sizes: Vec<u64>,
    pub(super) largest: Vec<Cluster>,
}

impl ReportFacts {
    /// Collects the data. Reads all pages several times.
    pub(super) fn of(store: &Path, reader: &Reader) -> Result<ReportFacts, VerbError> {
        let snapshot = reader.snapshot();
        let census = with_progress_bar(|progress| Census::of(&snapshot, progress))?;
        let epoch = snapshot.epochs().iter().find(|info| info.epoch == snapshot.change_epoch());
        let clusters =
            with_progress_bar(|progress| Clustering::default().run(&snapshot, progress))?;
        Ok(ReportFacts {
            attention: Attention::of(&snapshot, &clusters, census.pages)?,
            name: store.to_string_lossy().into_owned(),
            made: time::to_second(simkeep::Time::now()),
            overview: Overview::of(&snapshot)?,
            catalog_bytes: reader.stats()?.catalog_bytes,
            nearest: nearest(&snapshot, &census)?,
            census,
            requests: RequestFacts::of(&snapshot)?,
            survey: Survey::of(&snapshot)?,
            clusters: ClusterFacts::of(&clusters)?,
            balls: with_progress_bar(|progress| {
                Balls::of(&snapshot, &Clustering::default(), NO_LABELS, progress)
            })?,
            mirrors: with_progress_bar(|progress| {
                MirrorQuery::new().limit(LARGEST).run(&snapshot, progress)
            })?,
            bands: epoch.map_or((0, 0), |info| (info.bands.minor, info.bands.moderate)),
        })
    }
}

impl RequestFacts {
    fn of(snapshot: &Snapshot) -> Result<RequestFacts, VerbError> {
        let mut facts =
            RequestFacts { totals: RequestCounts::default(), ignoring: TopList::default() };
        let survey = RequestSurvey::default().copies(true);
        with_progress_bar(|progress| {
            survey.run(snapshot, progress, |host| {
                facts.totals += host.counts;
                if host.counts.honored().is_some_and(|share| share < 0.5) {
                    facts.ignoring.add(host.counts.conditional_unchanged, || host);
                }
                ControlFlow::Continue(())
            })
        })?;
        Ok(facts)
    }
}

impl ClusterFacts {
    fn of(clusters: &Clusters) -> Result<ClusterFacts, VerbError> {
        Ok(ClusterFacts {
            pages: clusters.pages(),
            clusters: clusters.len(),
            k: clusters.k(),
            sizes: clusters.sizes().to_vec(),
            largest: clusters.by_size(2)?.take(LARGEST).collect::<Result<_, _>>()?,
        })
    }
}

/// Searches the nearest other page of each sampled page, and counts the distances.
fn nearest(snapshot: &Snapshot, census: &Census) -> Result<Vec<u64>, VerbError> {
    let mut counts = vec![0; FARTHEST as usize + 2];
    let all = census.sample.len() as u64;
    counted("pages searched", all, |done| {
        for page in &census.sample {
            let query = Query::new(page.fingerprint, FARTHEST).epoch(census.fingerprints.epoch);
            let found = snapshot.search(&query.limit(1).exclude(page.url.as_str()))?;
            let bits = found.near.first().map_or(FARTHEST + 1, |near| near.distance);
            counts.iter_mut().skip(bits as usize).take(1).for_each(|count| *count += 1);
            done.fetch_add(1, Ordering::Relaxed);
        }
        Ok(counts)
    })
}
