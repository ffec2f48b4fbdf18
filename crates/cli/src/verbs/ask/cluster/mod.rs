//! `cluster`: pages with nearly the same content, and the one that leads them.

mod asked;
mod changes;
mod counts;
mod help;
mod lines;
#[cfg(feature = "parquet")]
mod parquet;

use std::io::{BufWriter, Write};
use std::iter::Take;
use std::path::PathBuf;

use clap::Args;
use simkeep::cluster::{BySize, ClusteredPage, Clustering, Clusters, PageCluster};
use simkeep::{Page, Reader, Snapshot, Time};
use simkeep_formats::escape;

use crate::exit::{Exit, Failure, say};
use crate::input::limit::Limit;
use crate::input::spelling;
use crate::output::json::Saw;
use crate::output::progress::watched;
use crate::output::row_file::{RowFile, cannot};
use crate::output::table::{Table, left, right};
use crate::output::words::{count, many, took_no_part};
use crate::output::{Output, write_object};
use crate::{Common, time};
use changes::Span;
use help::HELP;
use lines::{OfCluster, OfPage, One, Whole};

pub(crate) use asked::Asked;
pub(crate) use lines::Line;

/// Group near-duplicate pages, each group with a leader
///
/// Prints the number of pages and clusters, then one line per cluster, the largest first: its
/// pages, their distances from the leader, when the leader was first seen, and the leader's URL.
#[derive(Args)]
#[command(after_long_help = HELP)]
pub(crate) struct Cluster {
    /// Show only the cluster of this page
    #[arg(conflicts_with_all = ["members", "by_page", "balls", "components", "since", "output", "limit", "min_size"])]
    url: Option<String>,
    #[command(flatten)]
    asked: Asked,
    /// Leave out clusters of fewer pages
    #[arg(long, value_name = "PAGES", default_value_t = 2)]
    min_size: u64,
    /// Clusters to list, 0 for none [default: 100; all with --by-page or -o]
    #[arg(long, value_name = "COUNT|all", value_parser = Limit::or_none)]
    limit: Option<Limit>,
    /// List the pages of each cluster
    #[arg(long, conflicts_with = "by_page")]
    members: bool,
    /// List pages in SURT order, each with its leader
    #[arg(long, conflicts_with = "limit")]
    by_page: bool,
    /// List pages whose leader changed since this time
    #[arg(long, value_name = "TIME", value_parser = time::parse, allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["at", "members", "by_page", "limit", "balls", "components", "output", "min_size"])]
    since: Option<Time>,
    /// With --since, the later time [default: now]
    #[arg(long, value_name = "TIME", value_parser = time::parse, allow_hyphen_values = true)]
    #[arg(requires = "since")]
    until: Option<Time>,
    /// Count the neighbours of each page at each distance
    #[arg(long, conflicts_with_all = ["members", "by_page", "limit", "components", "output", "rule", "min_size"])]
    balls: bool,
    /// With --balls, a file of lines "URL<tab>label"
    #[arg(long, value_name = "FILE", requires = "balls")]
    labels: Option<PathBuf>,
    /// Count the connected components of near pages
    #[arg(long, conflicts_with_all = ["members", "by_page", "limit", "output", "rule", "min_size"])]
    components: bool,
    /// Write to this file, as JSON lines (.zst, .gz) or .parquet
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The message if no page takes part.
const NONE_COMPARED: &str = "no page has a fingerprint to compare; see simkeep scan";

/// Clusters that are listed without a limit.
const LISTED: usize = 100;

impl Cluster {
    pub(crate) fn run(self, common: &Common, output: &mut Output) -> Result<Exit, Failure> {
        let reader = common.read()?;
        let snapshot = reader.snapshot();
        let asked = self.asked.clustering(&snapshot, None)?;
        let epoch = self.asked.epoch(&snapshot)?;
        if self.balls {
            let labels = self.labels.as_deref().map_or_else(|| Ok(Vec::new()), counts::labels)?;
            return counts::balls(&snapshot, (&asked, &labels), epoch, common.json, output);
        }
        if self.components {
            return counts::components(&snapshot, &asked, epoch, common.json, output);
        }
        if let Some(since) = self.since {
            let span = Span::new(since, self.until)?;
            return changes::changes(&snapshot, (&asked, span), epoch, common.json, output);
        }
        if let Some(url) = &self.url {
            return self.one(url, (&reader, &snapshot, &asked), common, output);
        }
        // Before minutes are spent on what cannot be written.
        let file = self.output.as_deref().map(RowFile::create).transpose()?;
        let clusters = watched(|progress| asked.run(&snapshot, progress))?;
        match file {
            Some(file) => {
                let written = self.write(file, &clusters, &reader)?;
                if common.json {
                    output.object(&Line::Whole(self.whole(&clusters, &reader)))?;
                } else {
                    output.line(&self.said(&clusters, epoch))?;
                    output.line(&written)?;
                }
            }
            None if common.json => {
                self.objects(&clusters, &reader, output.writer())?;
            }
            None => {
                output.summary(&self.said(&clusters, epoch))?;
                self.lines(&clusters, common, output)?;
                if clusters.is_empty() {
                    output.note(NONE_COMPARED)?;
                }
            }
        }
        Ok(if clusters.is_empty() { Exit::Nothing } else { Exit::Done })
    }

    /// The cluster of one page.
    fn one(
        &self,
        url: &str,
        (reader, snapshot, asked): (&Reader, &Snapshot, &Clustering),
        common: &Common,
        output: &mut Output,
    ) -> Result<Exit, Failure> {
        let Some(found) = PageCluster::of(snapshot, asked, url)? else {
            let is_known =
                |page: &Page| self.asked.classes.as_ref().is_none_or(|c| c.have(page.class));
            say(&match snapshot.latest(url)?.filter(is_known) {
                None => spelling::unknown(snapshot, url, is_known)?,
                Some(_) => {
                    "this page has no text in force whose fingerprint can be compared".to_owned()
                }
            });
            return Ok(Exit::Nothing);
        };
        if common.json {
            output.object(&Line::One(One::of(&found, Saw::of(reader))))?;
            return Ok(Exit::Done);
        }
        let clock = common.clock();
        output.summary(&format!(
            "{} within {}, led since {}",
            many(found.cluster.pages, "page", "pages"),
            many(found.cluster.max_distance.into(), "bit", "bits"),
            clock.show(found.cluster.first_seen),
        ))?;
        let mut table = Table::new([right("bits"), left("URL")]);
        for page in &found.pages {
            table.row([page.distance.to_string(), escape::whole(&page.url)], output)?;
        }
        table.end(output)?;
        if !found.complete {
            output.note("too many pages are near it to search around each: list all clusters")?;
        }
        Ok(Exit::Done)
    }

    /// The clusters as a whole, in words.
    fn said(&self, clusters: &Clusters, epoch: &str) -> String {
        format!(
            "{}, {}, within {}, {} leads: {}, {} of two pages or more{}",
            many(clusters.pages(), "page", "pages"),
            many(clusters.fingerprints(), "fingerprint", "fingerprints"),
            many(clusters.k().into(), "bit", "bits"),
            self.asked.rule,
            many(clusters.len(), "cluster", "clusters"),
            count(clusters.multi_page_clusters()),
            took_no_part(clusters.without_fingerprint(), epoch),
        )
    }

    /// The clusters as a whole, for programs.
    fn whole(&self, clusters: &Clusters, reader: &Reader) -> Whole {
        Whole::of(clusters, self.asked.rule.to_string(), Saw::of(reader))
    }

    /// How many clusters are listed.
    fn listed(&self) -> usize {
        let all = self.by_page || self.output.is_some();
        self.limit.map_or(if all { usize::MAX } else { LISTED }, Limit::count)
    }

    /// Pages in the order that is asked for, of no more clusters than are.
    fn pages<'c>(
        &self,
        clusters: &'c Clusters,
    ) -> Result<impl Iterator<Item = simkeep::Result<ClusteredPage>> + use<'c>, Failure> {
        let (by_page, mut left) = (self.by_page, self.listed());
        let pages = match by_page {
            true => clusters.by_page(self.min_size)?,
            false => clusters.by_cluster(self.min_size)?,
        };
        Ok(pages.take_while(move |page| {
            if by_page || !page.as_ref().is_ok_and(ClusteredPage::is_leader) {
                return true;
            }
            let goes_on = left > 0;
            left = left.saturating_sub(1);
            goes_on
        }))
    }

    /// Clusters in the order of their sizes, no more than are listed.
    fn clusters<'c>(&self, clusters: &'c Clusters) -> Result<Take<BySize<'c>>, Failure> {
        Ok(clusters.by_size(self.min_size)?.take(self.listed()))
    }

    /// Whether pages are listed, and not clusters.
    fn is_of_pages(&self) -> bool {
        self.members || self.by_page
    }

    fn objects(
        &self,
        clusters: &Clusters,
        reader: &Reader,
        to: &mut impl Write,
    ) -> Result<u64, Failure> {
        write_object(to, &Line::Whole(self.whole(clusters, reader)))?;
        let mut lines = 1;
        if self.is_of_pages() {
            for page in self.pages(clusters)? {
                write_object(to, &Line::Page(OfPage::from(&page?)))?;
                lines += 1;
            }
        } else {
            for cluster in self.clusters(clusters)? {
                write_object(to, &Line::Cluster(OfCluster::from(&cluster?)))?;
                lines += 1;
            }
        }
        Ok(lines)
    }

    /// Clusters or pages, for people.
    fn lines(
        &self,
        clusters: &Clusters,
        common: &Common,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let within =
            |distance: u32| if distance == 0 { "0".into() } else { format!("0 to {distance}") };
        if self.by_page {
            let columns = [right("bits"), right("pages"), left("URL"), left("leader")];
            let mut table = Table::new(columns);
            for page in self.pages(clusters)? {
                let page = page?;
                let [url, leader] = [&page.url, &page.leader].map(|url| escape::whole(url));
                let leader = if page.is_leader() { "-".to_owned() } else { leader };
                table.row([page.distance.to_string(), count(page.pages), url, leader], output)?;
            }
            return Ok(table.end(output)?);
        }
        if self.members {
            let mut table = Table::new([right("pages"), right("bits"), left("URL")]);
            for page in self.pages(clusters)? {
                let page = page?;
                let pages = if page.is_leader() { count(page.pages) } else { String::new() };
                table.row([pages, page.distance.to_string(), escape::whole(&page.url)], output)?;
            }
            return Ok(table.end(output)?);
        }
        let clock = common.clock();
        let seen = left(clock.heading("first seen"));
        let mut table = Table::new([right("pages"), right("within"), seen, left("leader")]);
        for cluster in self.clusters(clusters)? {
            let cluster = cluster?;
            let (seen, leader) = (clock.show(cluster.first_seen), escape::whole(&cluster.leader));
            table
                .row([count(cluster.pages), within(cluster.max_distance), seen, leader], output)?;
        }
        Ok(table.end(output)?)
    }

    /// Writes a file; returns what is to be said of it.
    fn write(
        &self,
        mut file: RowFile,
        clusters: &Clusters,
        reader: &Reader,
    ) -> Result<String, Failure> {
        let written = self.rows(clusters, reader, &mut file);
        file.rows = written.map_err(|failure| match failure {
            Failure::Output(e) => cannot(&file.shown, e),
            other => other,
        })?;
        file.put()
    }

    /// Writes a table, or lines of JSON. Returns how many there are.
    fn rows(&self, clusters: &Clusters, reader: &Reader, to: &mut RowFile) -> Result<u64, Failure> {
        #[cfg(feature = "parquet")]
        if to.is_table {
            return self.table(clusters, &mut to.file);
        }
        let mut gathered = BufWriter::new(&mut to.file);
        let lines = self.objects(clusters, reader, &mut gathered)?;
        gathered.flush()?;
        Ok(lines)
    }
}
