//! `report`: a store as a page that people look at.

mod chapters;
mod figure;
mod page;
mod ticks;

use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use simkeep::cluster::{Balls, Cluster, Clustering};
use simkeep::due::Survey;
use simkeep::inspect::{Census, Overview};
use simkeep::mirrors::{Mirroring, Mirrors};
use simkeep::{Query, Snapshot};

use crate::common::{Bare, Common, read};
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::output::json::Saw;
use crate::output::progress::{counted, watched};
use crate::output::temporary::{Beside, place_of};
use crate::output::words::bytes;
use crate::time;

/// Write a report of a store: one HTML file with figures
///
/// How its fingerprints are spread, how pages change and when, how near pages are to each other, which
/// hosts have most, which pages could be left out in favour of others, where the space goes. Each figure
/// says what one sees, and what would be bad. The file needs nothing else, has no script, and loads
/// nothing.
///
/// It reads all pages a few times, in bounded memory, searches for the nearest page to each of a sample,
/// and joins all pages with those near them: where very many are near each other, that takes longest. It
/// finds mirrors, too: where folders repeat, as in /d/d/d/x, some 14 microseconds a page.
#[derive(Args)]
#[command(after_long_help = "Examples:
  simkeep report crawl.simkeep -o report.html

The file is put in its place when it is whole; before that, what was there stays.

With --json, \"file\" and \"bytes\". What the figures are drawn of, `simkeep inspect --deep --json` prints.")]
pub(crate) struct Report {
    #[command(flatten)]
    bare: Bare,
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// The farthest that a nearest page is looked for, in bits: beyond, searches become slow, and mean
/// nothing.
const FARTHEST: u32 = 8;

/// What balls are counted without.
const NO_LABELS: [(&str, &str); 0] = [];

/// Clusters and mirrors that are named.
const LARGEST: usize = 20;

/// What a report is drawn of.
struct Facts {
    name: String,
    made: String,
    overview: Overview,
    catalog_bytes: u64,
    census: Census,
    survey: Survey,
    clusters: ClusterFacts,
    /// Of each distance up to that of the clusters.
    balls: Vec<Balls>,
    mirrors: Mirrors,
    /// How many of the sampled pages have their nearest other page so many bits away, and last how many
    /// have none within the farthest.
    nearest: Vec<u64>,
    /// Up to which distance a change is minor, and up to which moderate.
    bands: (u32, u32),
}

/// The clusters of a store.
struct ClusterFacts {
    pages: u64,
    clusters: u64,
    k: u32,
    /// How many clusters have 1 page, 2 or 3, 4 to 7, and so on.
    sizes: Vec<u64>,
    largest: Vec<Cluster>,
}

/// The report that was written.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Answer<'a> {
    file: &'a str,
    /// The size of the file.
    file_bytes: u64,
    saw: Saw,
}

impl Report {
    pub(crate) fn run(self, common: &Common, output: &mut Output) -> Result<Exit, Failure> {
        let store = common.store_of(&self.bare)?;
        let reader = read(&store)?;
        let cannot = |e| Failure::Other(format!("cannot write {}: {e}", self.output.display()));
        // Before the work, whether there is a place for what it makes.
        let place = place_of(&self.output).map_err(cannot)?;
        let mut file = Beside::create(&place).map_err(cannot)?;
        let snapshot = reader.snapshot();
        let census = watched(|progress| Census::of(&snapshot, progress))?;
        let epoch = snapshot.epochs().iter().find(|info| info.epoch == snapshot.change_epoch());
        let facts = Facts {
            name: store.to_string_lossy().into_owned(),
            made: time::to_second(simkeep::Time::now()),
            overview: Overview::of(&snapshot)?,
            catalog_bytes: reader.stats()?.catalog_bytes,
            nearest: nearest(&snapshot, &census)?,
            census,
            survey: Survey::of(&snapshot)?,
            clusters: clusters(&snapshot)?,
            balls: watched(|progress| {
                Balls::of(&snapshot, &Clustering::default(), NO_LABELS, progress)
            })?,
            mirrors: watched(|progress| Mirroring::new().limit(LARGEST).run(&snapshot, progress))?,
            bands: epoch.map_or((0, 0), |info| (info.bands.minor, info.bands.moderate)),
        };
        let page = page::html(&facts);
        file.write_all(page.as_bytes()).map_err(cannot)?;
        file.put(&place).map_err(cannot)?;
        let size = page.len() as u64;
        if common.json {
            let file = self.output.to_string_lossy();
            output.object(&Answer { file: &file, file_bytes: size, saw: Saw::of(&reader) })?;
        } else {
            let file = simkeep_formats::escape::whole(&self.output.to_string_lossy());
            output.line(&format!("{file}: {}", bytes(size)))?;
        }
        Ok(Exit::Done)
    }
}

/// The clusters of the pages in force.
fn clusters(snapshot: &Snapshot) -> Result<ClusterFacts, Failure> {
    let found = watched(|progress| Clustering::default().run(snapshot, progress))?;
    let largest = found.by_size(2)?.take(LARGEST).collect::<Result<_, _>>()?;
    Ok(ClusterFacts {
        pages: found.pages(),
        clusters: found.len(),
        k: found.k(),
        sizes: found.sizes().to_vec(),
        largest,
    })
}

/// How far the nearest other page is from each page of a sample.
fn nearest(snapshot: &Snapshot, census: &Census) -> Result<Vec<u64>, Failure> {
    let mut counts = vec![0; FARTHEST as usize + 2];
    let all = census.sample.len() as u64;
    counted("pages searched", all, |done| {
        for page in &census.sample {
            let query = Query::new(page.fingerprint, FARTHEST).epoch(census.fingerprints.epoch);
            let found = snapshot.search(&query.limit(1).except(page.url.as_str()))?;
            let bits = found.near.first().map_or(FARTHEST + 1, |near| near.distance);
            counts.iter_mut().skip(bits as usize).take(1).for_each(|count| *count += 1);
            done.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
        Ok(counts)
    })
}
