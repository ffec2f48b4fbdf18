//! `dedup`: what to drop of a corpus, in whose favour, and the corpus without it.

mod filter;
mod help;
mod lines;
mod lists;
mod options;
mod sample;
mod summary;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use simkeep::cluster::{Candidates, Clusters};
use simkeep::{Classes, Reader};

use crate::Common;
use crate::exit::{Exit, Failure, say};
use crate::output::Output;
use crate::output::json::Saw;
use crate::output::progress::{counted, watched};
use crate::output::table::{Table, left, right};
use crate::output::visit;
use crate::output::words::{count, many, took_no_part};
use filter::Filter;
use lines::{Listed, Whole};
use sample::Sample;
use summary::Summary;

pub(crate) use lines::Line;
pub(crate) use options::Dedup;

/// Within how many bits fingerprints propose what texts decide: as a rule these find all but one in
/// fifty of the texts with a resemblance of 0.8.
const WIDE: u32 = 10;

/// What is said where all is kept, since no text of the corpus is one that is in force.
const NONE_COMPARED: &str = "no text was compared: none has words, and the digest of what the store has \
                             in force; see --url-key and --text-key";

/// Pages that are listed without a limit.
const LISTED: usize = 100;

impl Dedup {
    pub(crate) fn run(self, common: &Common, output: &mut Output) -> Result<Exit, Failure> {
        // Before minutes are spent on what cannot be written.
        let mut filter = self.to.as_deref().map(|to| Filter::new(&self, to)).transpose()?;
        let lists = self.is_plan_wanted().then(|| lists::Files::create(&self)).transpose()?;
        let reader = common.read()?;
        let snapshot = reader.snapshot();
        let asked = self.asked.clustering(&snapshot, self.resemblance.map(|_| WIDE))?;
        let (clusters, compared) = match (self.resemblance, &mut filter) {
            (Some(resemblance), Some(filter)) => {
                let candidates = watched(|progress| Candidates::of(&snapshot, &asked, progress))?;
                let compared = filter.sketch(&candidates)?;
                if compared == 0 && !candidates.is_empty() {
                    say(NONE_COMPARED);
                }
                let clusters = watched(|progress| candidates.clusters(resemblance, progress))?;
                (clusters, Some(compared))
            }
            _ => (watched(|progress| asked.run(&snapshot, progress))?, None),
        };
        let epoch = visit::epoch(snapshot.epochs(), clusters.epoch())?;
        let open = self.open.clone().unwrap_or_default();
        let dropped = clusters.count_dropped(&open)?;
        if common.json {
            let whole = self.whole(&clusters, dropped, compared, &reader);
            output.object(&Line::Whole(whole))?;
        } else {
            output.line(&self.said((&clusters, epoch), dropped, compared))?;
        }
        if let Some(lists) = lists {
            self.plan((&clusters, epoch), &open, lists, common, output)?;
        }
        if let Some(filter) = filter {
            let started = Instant::now();
            let filtered = filter.run(&clusters, &open)?.answer(started.elapsed());
            if common.json {
                output.object(&Line::Filtered(filtered))?;
            } else {
                filtered.lines().iter().try_for_each(|line| output.line(line))?;
            }
            return Ok(Exit::Done);
        }
        Ok(if dropped == 0 { Exit::Nothing } else { Exit::Done })
    }

    /// Whether all pages that are dropped are gone through; a filter can do without.
    fn is_plan_wanted(&self) -> bool {
        let files = [&self.output, &self.drop_list, &self.keep_list];
        self.filter.is_empty()
            || self.limit.is_some()
            || self.sample.is_some()
            || files.iter().any(|file| file.is_some())
    }

    /// The whole, in words.
    fn said(
        &self,
        (clusters, epoch): (&Clusters, &str),
        dropped: u64,
        compared: Option<u64>,
    ) -> String {
        let alike = self.resemblance.zip(compared).map(|(share, compared)| {
            format!(" and {share} alike by {}", many(compared, "text", "texts"))
        });
        format!(
            "{}, within {}{}, {} leads: {} to keep, {} to drop{}",
            many(clusters.pages(), "page", "pages"),
            many(clusters.k().into(), "bit", "bits"),
            alike.unwrap_or_default(),
            self.asked.rule,
            count(clusters.pages() - dropped),
            count(dropped),
            took_no_part(clusters.without_fingerprint(), epoch),
        )
    }

    /// The whole, for programs.
    fn whole(
        &self,
        clusters: &Clusters,
        dropped: u64,
        compared: Option<u64>,
        reader: &Reader,
    ) -> Whole {
        let (rule, by_text) = (self.asked.rule.to_string(), (self.resemblance, compared));
        Whole::of(clusters, dropped, by_text, rule, Saw::of(reader))
    }

    /// How many pages are listed.
    fn listed(&self, common: &Common) -> usize {
        let all = if common.json { usize::MAX } else { LISTED };
        match (self.sample, self.filter.is_empty()) {
            (Some(_), _) => 0,
            (None, true) => self.limit.unwrap_or(all),
            (None, false) => self.limit.unwrap_or(0),
        }
    }

    /// Goes through the pages: lists them, writes them, and sums them up.
    fn plan(
        &self,
        (clusters, epoch): (&Clusters, &str),
        open: &Classes,
        mut files: lists::Files,
        common: &Common,
        out: &mut Output,
    ) -> Result<(), Failure> {
        let mut lists = files.begin()?;
        let mut sample = self.sample.map(|size| Sample::new(size, self.seed));
        let (mut summary, mut listed) = (Summary::new(clusters.k()), self.listed(common));
        let mut table = self.table();
        // Without a list of what is kept, clusters of one page say nothing.
        let (pages_min, pages) = match self.keep_list {
            Some(_) => (1, clusters.pages()),
            // Those that lead several pages, and all that are led.
            None => (2, clusters.multi_page_clusters() + clusters.pages() - clusters.len()),
        };
        let shown = out.is_terminal() && listed > 0;
        let mut pass = |done: &AtomicU64| -> Result<(), Failure> {
            for page in clusters.by_page(pages_min)? {
                let page = page?;
                done.fetch_add(1, Ordering::Relaxed);
                let Some(of) = Listed::of(&page, open) else {
                    lists.keep(&page.url)?;
                    continue;
                };
                match &of {
                    Listed::Kept(of) => {
                        lists.keep(of.url)?;
                        summary.keep();
                    }
                    Listed::Dropped(of) => {
                        lists.drop(of)?;
                        summary.add(of);
                        sample.iter_mut().for_each(|sample| sample.add(of));
                    }
                }
                if listed > 0 {
                    listed -= 1;
                    Dedup::list(of, &mut table, common, out)?;
                }
            }
            Ok(())
        };
        // No progress on a terminal that shows lines: it would garble them.
        match shown {
            true => pass(&AtomicU64::new(0))?,
            false => counted("pages", pages, pass)?,
        }
        for pair in sample.into_iter().flat_map(Sample::pairs) {
            Dedup::list(Listed::Dropped(pair.of()), &mut table, common, out)?;
        }
        table.end(out)?;
        lists.end()?;
        let written = files.put()?;
        if let Some(advice) = self.resemblance.is_none().then(|| summary.advice(epoch)).flatten() {
            say(&advice);
        }
        if common.json {
            out.object(&Line::Summary(summary.answer()))?;
            return Ok(());
        }
        let lines = summary.lines().into_iter().chain(written);
        lines.into_iter().try_for_each(|line| Ok(out.line(&line)?))
    }

    fn table(&self) -> Table {
        let alike = self.resemblance.map(|_| right("alike"));
        let rest = [left("reason"), right("pages"), left("URL"), left("kept")];
        Table::new([right("bits")].into_iter().chain(alike).chain(rest))
    }

    fn list(
        of: Listed<'_>,
        table: &mut Table,
        common: &Common,
        output: &mut Output,
    ) -> Result<(), Failure> {
        if common.json {
            return Ok(output.object(&Line::Page(of))?);
        }
        Ok(table.cells(of.cells(), output)?)
    }
}
