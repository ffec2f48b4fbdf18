//! `cluster`: groups of near-duplicate pages, each with a leader.

mod arguments;
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
use simkeep::cluster::{ClusteredPage, Clustering, Clusters, ClustersBySize, PageCluster};
use simkeep::{Page, Reader, Snapshot, Time};
use simkeep_formats::escape;

use crate::exit::{Exit, VerbError, print_message};
use crate::input::limit::Limit;
use crate::input::spelling;
use crate::output::json::StoreState;
use crate::output::progress::with_progress_bar;
use crate::output::row_file::{RowFile, write_error};
use crate::output::table::{TextTable, left, right};
use crate::output::words::{WITHOUT_DIGEST, count, many, skipped_pages_note};
use crate::output::{Output, write_object};
use crate::{CommonArgs, time};
use changes::ChangePeriod;
use help::HELP;
use lines::{ClusterPage, ClusterResult, ClustersSummary, PageClusterResult};

pub(crate) use arguments::ClusteringArgs;
pub(crate) use lines::ClusterLine;

/// Group near-duplicate pages, each group with a leader
///
/// Prints the number of pages and clusters, then one line per cluster, the largest first: its
/// pages, their distances from the leader, when the leader was first seen, and the leader's URL.
#[derive(Args)]
#[command(after_long_help = HELP)]
pub(crate) struct ClusterArgs {
    /// Show only the cluster of this page
    #[arg(conflicts_with_all = ["members", "by_page", "balls", "components", "since", "output", "limit", "min_size"])]
    url: Option<String>,
    #[command(flatten)]
    asked: ClusteringArgs,
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
const NONE_COMPARED: &str =
    "no page has a fingerprint or a digest to compare; simkeep scan lists the pages";

/// The maximum number of clusters to list by default.
const LISTED: usize = 100;

impl ClusterArgs {
    pub(crate) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
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
            let span = ChangePeriod::new(since, self.until)?;
            return changes::changes(&snapshot, (&asked, span), epoch, common.json, output);
        }
        if let Some(url) = &self.url {
            return self.print_page_cluster(url, (&reader, &snapshot, &asked), common, output);
        }
        // Creates the output file before the work, so that a bad path fails early.
        let file = self.output.as_deref().map(RowFile::create).transpose()?;
        let clusters = with_progress_bar(|progress| asked.run(&snapshot, progress))?;
        self.asked.weight_warning(&clusters).into_iter().for_each(print_message);
        match file {
            Some(file) => {
                let written = self.write(file, &clusters, &reader)?;
                if common.json {
                    output.object(&ClusterLine::Whole(self.whole(&clusters, &reader)))?;
                } else {
                    output.line(&self.summary_text(&clusters, epoch))?;
                    output.line(&written)?;
                }
            }
            None if common.json => {
                self.objects(&clusters, &reader, output.writer())?;
            }
            None => {
                output.summary(&self.summary_text(&clusters, epoch))?;
                self.lines(&clusters, common, output)?;
                if clusters.is_empty() {
                    output.note(NONE_COMPARED)?;
                }
            }
        }
        Ok(if clusters.is_empty() { Exit::Nothing } else { Exit::Done })
    }

    /// Prints the cluster of one page.
    fn print_page_cluster(
        &self,
        url: &str,
        (reader, snapshot, asked): (&Reader, &Snapshot, &Clustering),
        common: &CommonArgs,
        output: &mut Output,
    ) -> Result<Exit, VerbError> {
        let Some(found) = PageCluster::of(snapshot, asked, url)? else {
            let is_known =
                |page: &Page| self.asked.classes.as_ref().is_none_or(|c| c.contains(page.class));
            print_message(&match snapshot.latest(url)?.filter(is_known) {
                None => spelling::unknown(snapshot, url, is_known)?,
                Some(_) => {
                    "the current content of this page has no fingerprint and no digest that \
                     can be compared"
                        .to_owned()
                }
            });
            return Ok(Exit::Nothing);
        };
        if common.json {
            output
                .object(&ClusterLine::One(PageClusterResult::of(&found, StoreState::of(reader))))?;
            return Ok(Exit::Done);
        }
        let clock = common.clock();
        output.summary(&format!(
            "{} within {} of the leader, which was first seen at {}",
            many(found.cluster.pages, "page", "pages"),
            many(found.cluster.max_distance.into(), "bit", "bits"),
            clock.show(found.cluster.first_seen),
        ))?;
        let mut table = TextTable::new([right("bits"), left("URL")]);
        for page in &found.pages {
            table
                .row([page.distance.to_string(), escape::escape_untruncated(&page.url)], output)?;
        }
        table.end(output)?;
        if !found.complete {
            output.note(
                "the cluster may be incomplete, since too many pages are near this page; list all \
                 clusters instead",
            )?;
        }
        Ok(Exit::Done)
    }

    /// The summary of all clusters, in words.
    fn summary_text(&self, clusters: &Clusters, epoch: &str) -> String {
        format!(
            "{}, {}, compared within {}, leaders by {}: {}, {} of two pages or more{}",
            many(clusters.pages(), "page", "pages"),
            many(clusters.fingerprints(), "fingerprint", "fingerprints"),
            many(clusters.k().into(), "bit", "bits"),
            self.asked.rule,
            many(clusters.len(), "cluster", "clusters"),
            count(clusters.multi_page_clusters()),
            skipped_pages_note(clusters.without_fingerprint(), epoch, WITHOUT_DIGEST),
        )
    }

    /// The summary of all clusters, for JSON.
    fn whole(&self, clusters: &Clusters, reader: &Reader) -> ClustersSummary {
        ClustersSummary::of(clusters, self.asked.rule.to_string(), StoreState::of(reader))
    }

    /// The maximum number of clusters to list.
    fn listed(&self) -> usize {
        let all = self.by_page || self.output.is_some();
        self.limit.map_or(if all { usize::MAX } else { LISTED }, Limit::count)
    }

    /// Iterates over the pages of the listed clusters, in the order that the user asked for.
    fn pages<'c>(
        &self,
        clusters: &'c Clusters,
    ) -> Result<impl Iterator<Item = simkeep::Result<ClusteredPage>> + use<'c>, VerbError> {
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

    /// Iterates over the listed clusters, the largest first.
    fn clusters<'c>(&self, clusters: &'c Clusters) -> Result<Take<ClustersBySize<'c>>, VerbError> {
        Ok(clusters.by_size(self.min_size)?.take(self.listed()))
    }

    /// Whether the output lists pages instead of clusters.
    fn is_of_pages(&self) -> bool {
        self.members || self.by_page
    }

    fn objects(
        &self,
        clusters: &Clusters,
        reader: &Reader,
        to: &mut impl Write,
    ) -> Result<u64, VerbError> {
        write_object(to, &ClusterLine::Whole(self.whole(clusters, reader)))?;
        let mut lines = 1;
        if self.is_of_pages() {
            for page in self.pages(clusters)? {
                write_object(to, &ClusterLine::Page(ClusterPage::from(&page?)))?;
                lines += 1;
            }
        } else {
            for cluster in self.clusters(clusters)? {
                write_object(to, &ClusterLine::Cluster(ClusterResult::from(&cluster?)))?;
                lines += 1;
            }
        }
        Ok(lines)
    }

    /// Prints clusters or pages for people.
    fn lines(
        &self,
        clusters: &Clusters,
        common: &CommonArgs,
        output: &mut Output,
    ) -> Result<(), VerbError> {
        let within =
            |distance: u32| if distance == 0 { "0".into() } else { format!("0 to {distance}") };
        if self.by_page {
            let columns = [right("bits"), right("pages"), left("URL"), left("leader")];
            let mut table = TextTable::new(columns);
            for page in self.pages(clusters)? {
                let page = page?;
                let [url, leader] =
                    [&page.url, &page.leader].map(|url| escape::escape_untruncated(url));
                let leader = if page.is_leader() { "-".to_owned() } else { leader };
                table.row([page.distance.to_string(), count(page.pages), url, leader], output)?;
            }
            return Ok(table.end(output)?);
        }
        if self.members {
            let mut table = TextTable::new([right("pages"), right("bits"), left("URL")]);
            for page in self.pages(clusters)? {
                let page = page?;
                let pages = if page.is_leader() { count(page.pages) } else { String::new() };
                table.row(
                    [pages, page.distance.to_string(), escape::escape_untruncated(&page.url)],
                    output,
                )?;
            }
            return Ok(table.end_unless_empty(output)?);
        }
        let clock = common.clock();
        let seen = left(clock.heading("first seen"));
        let mut table = TextTable::new([right("pages"), right("within"), seen, left("leader")]);
        for cluster in self.clusters(clusters)? {
            let cluster = cluster?;
            let (seen, leader) =
                (clock.show(cluster.first_seen), escape::escape_untruncated(&cluster.leader));
            table
                .row([count(cluster.pages), within(cluster.max_distance), seen, leader], output)?;
        }
        Ok(table.end_unless_empty(output)?)
    }

    /// Writes a file and returns a message about it.
    fn write(
        &self,
        mut file: RowFile,
        clusters: &Clusters,
        reader: &Reader,
    ) -> Result<String, VerbError> {
        let written = self.rows(clusters, reader, &mut file);
        file.rows = written.map_err(|failure| match failure {
            VerbError::Output(e) => write_error(&file.shown, e),
            other => other,
        })?;
        file.put()
    }

    /// Writes a Parquet table or lines of JSON. Returns the number of rows or lines.
    fn rows(
        &self,
        clusters: &Clusters,
        reader: &Reader,
        to: &mut RowFile,
    ) -> Result<u64, VerbError> {
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
