//! `dedup`: lists duplicates to drop, or writes a corpus without them.

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

use crate::CommonArgs;
use crate::exit::{Exit, VerbError, print_message};
use crate::input::limit::Limit;
use crate::output::Output;
use crate::output::json::StoreState;
use crate::output::progress::{counted, with_progress_bar};
use crate::output::table::{TextTable, left, right};
use crate::output::visit;
use crate::output::words::{WITHOUT_DIGEST, count, many, skipped_pages_note};
use filter::CorpusFilter;
use lines::{DedupOverview, DedupPage};
use sample::PairSample;
use summary::DedupSummary;

pub(crate) use lines::DedupLine;
pub(crate) use options::DedupArgs;

/// The distance in bits within which texts are compared. As a rule, it misses one in fifty pairs of
/// texts with a resemblance of 0.8.
const WIDE: u32 = 10;

/// The note if all pages are kept because no text of the corpus belongs to current content.
const NONE_COMPARED: &str = "no text was compared: no document has words and the digest of current \
                             content in the store; check --url-key and --text-key";

/// The maximum number of pages to list by default.
const LISTED: usize = 100;

/// The warning that some texts were not compared, because the files lack the text of the kept page.
fn without_kept_text(texts: u64) -> String {
    format!(
        "{} could not be compared with the page that would be kept, because the files do not have \
         the text of this page; give the earlier files, too",
        many(texts, "text", "texts"),
    )
}

/// The note that no page is dropped, with advice that helps.
fn nothing_dropped(clusters: &Clusters, epoch: &str) -> String {
    let (pages, without) = (clusters.pages(), clusters.without_fingerprint());
    match (pages, clusters.fingerprints()) {
        (0, _) if without == 0 => {
            "no page is dropped, because there is no page to compare".to_owned()
        }
        (_, 0) => format!(
            "no page is dropped, because no page has a fingerprint in the epoch {epoch}{}; simkeep \
             ingest makes fingerprints of texts, and --epoch selects another epoch (see simkeep \
             epoch list)",
            if pages > 0 { ", and no two contents have one digest" } else { "" },
        ),
        _ => "no page is dropped; a larger -k also drops pages that differ more".to_owned(),
    }
}

impl DedupArgs {
    pub(crate) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        let started = Instant::now();
        // Creates the output files before the work, so that a bad path fails early.
        let mut filter = (!self.filter.is_empty()).then(|| CorpusFilter::new(&self)).transpose()?;
        let lists = self.is_plan_wanted().then(|| lists::DedupFiles::create(&self)).transpose()?;
        let reader = common.read()?;
        let snapshot = reader.snapshot();
        let asked = self.asked.clustering(&snapshot, self.resemblance.map(|_| WIDE))?;
        let (clusters, compared) = match (self.resemblance, &mut filter) {
            (Some(resemblance), Some(filter)) => {
                let candidates =
                    with_progress_bar(|progress| Candidates::of(&snapshot, &asked, progress))?;
                let compared = filter.sketch(&candidates)?;
                if compared == 0 && !candidates.is_empty() {
                    print_message(NONE_COMPARED);
                }
                let without = candidates.uncompared()?;
                if without > 0 {
                    print_message(&without_kept_text(without));
                }
                let clusters =
                    with_progress_bar(|progress| candidates.clusters(resemblance, progress))?;
                (clusters, Some(compared))
            }
            _ => (with_progress_bar(|progress| asked.run(&snapshot, progress))?, None),
        };
        self.asked.weight_warning(&clusters).into_iter().for_each(print_message);
        let epoch = visit::epoch(snapshot.epochs(), clusters.epoch())?;
        let open = self.open.clone().unwrap_or_default();
        let dropped = clusters.count_dropped(&open)?;
        if common.json {
            let whole = self.whole(&clusters, dropped, compared, &reader);
            output.object(&DedupLine::Whole(whole))?;
        } else {
            let said = self.summary_text((&clusters, epoch), dropped, compared);
            if self.is_table() { output.summary(&said)? } else { output.line(&said)? }
        }
        if let Some(lists) = lists {
            self.plan((&clusters, epoch), &open, lists, common, output)?;
        }
        if let Some((filter, to)) = filter.zip(self.to.as_deref()) {
            let filtered = filter.run(to, &clusters, &open)?.answer(started.elapsed());
            if common.json {
                output.object(&DedupLine::Filtered(filtered))?;
            } else {
                filtered.lines().iter().try_for_each(|line| output.line(line))?;
            }
            return Ok(Exit::Done);
        }
        if dropped > 0 {
            return Ok(Exit::Done);
        }
        if !common.json {
            output.note(&nothing_dropped(&clusters, epoch))?;
        }
        Ok(Exit::Nothing)
    }

    /// Whether to list all dropped pages. Copies alone do not need the list.
    fn is_plan_wanted(&self) -> bool {
        let files = [&self.output, &self.drop_list, &self.keep_list];
        self.to.is_none()
            || self.limit.is_some()
            || self.sample.is_some()
            || files.iter().any(|file| file.is_some())
    }

    /// Whether rows are printed, and not only a summary.
    fn is_table(&self) -> bool {
        self.to.is_none() && self.limit.is_none_or(|limit| limit.count() > 0)
    }

    /// The summary, in words.
    fn summary_text(
        &self,
        (clusters, epoch): (&Clusters, &str),
        dropped: u64,
        compared: Option<u64>,
    ) -> String {
        let alike = self.resemblance.zip(compared).map(|(share, compared)| {
            format!(" with a resemblance of at least {share} ({})", many(compared, "text", "texts"))
        });
        let without = clusters.without_fingerprint();
        let kept = if without > 0 { "; such pages are kept" } else { "" };
        format!(
            "{}, compared within {}{}, leaders by {}: {} to keep, {} to drop{}{kept}",
            many(clusters.pages(), "page", "pages"),
            many(clusters.k().into(), "bit", "bits"),
            alike.unwrap_or_default(),
            self.asked.rule,
            count(clusters.pages() - dropped),
            count(dropped),
            skipped_pages_note(without, epoch, WITHOUT_DIGEST),
        )
    }

    /// The summary, for JSON.
    fn whole(
        &self,
        clusters: &Clusters,
        dropped: u64,
        compared: Option<u64>,
        reader: &Reader,
    ) -> DedupOverview {
        let (rule, by_text) = (self.asked.rule.to_string(), (self.resemblance, compared));
        DedupOverview::of(clusters, dropped, by_text, rule, StoreState::of(reader))
    }

    /// The maximum number of pages to list.
    fn listed(&self, common: &CommonArgs) -> usize {
        let all = if common.json { usize::MAX } else { LISTED };
        match (self.sample, self.to.is_none()) {
            (Some(_), _) => 0,
            (None, true) => self.limit.map_or(all, Limit::count),
            (None, false) => self.limit.map_or(0, Limit::count),
        }
    }

    /// Reads all pages once: lists them, writes them to files, and counts them.
    fn plan(
        &self,
        (clusters, epoch): (&Clusters, &str),
        open: &Classes,
        mut files: lists::DedupFiles,
        common: &CommonArgs,
        out: &mut Output,
    ) -> Result<(), VerbError> {
        let mut lists = files.begin()?;
        let mut sample = self.sample.map(|size| PairSample::new(size, self.seed));
        let (mut summary, mut listed) = (DedupSummary::new(clusters.k()), self.listed(common));
        let mut table = self.table();
        // Without a list of kept pages, clusters of one page are not needed.
        let (pages_min, pages) = match self.keep_list {
            Some(_) => (1, clusters.pages()),
            // The leaders of several pages, and all other pages of their clusters.
            None => (2, clusters.multi_page_clusters() + clusters.pages() - clusters.len()),
        };
        let shown = out.is_terminal() && listed > 0;
        let mut pass = |done: &AtomicU64| -> Result<(), VerbError> {
            for page in clusters.by_page(pages_min)? {
                let page = page?;
                done.fetch_add(1, Ordering::Relaxed);
                let Some(of) = DedupPage::of(&page, open) else {
                    lists.keep(&page.url)?;
                    continue;
                };
                match &of {
                    DedupPage::Kept(of) => {
                        lists.keep(of.url)?;
                        summary.keep();
                    }
                    DedupPage::Dropped(of) => {
                        lists.drop(of)?;
                        summary.add(of);
                        sample.iter_mut().for_each(|sample| sample.add(of));
                    }
                }
                if listed > 0 {
                    listed -= 1;
                    DedupArgs::list(of, &mut table, common, out)?;
                }
            }
            Ok(())
        };
        // On a terminal, a progress bar would garble the lines.
        match shown {
            true => pass(&AtomicU64::new(0))?,
            false => counted("pages", pages, pass)?,
        }
        for pair in sample.into_iter().flat_map(PairSample::pairs) {
            DedupArgs::list(DedupPage::Dropped(pair.of()), &mut table, common, out)?;
        }
        table.end_unless_empty(out)?;
        lists.end()?;
        let written = files.put()?;
        if let Some(advice) = self.resemblance.is_none().then(|| summary.advice(epoch)).flatten() {
            print_message(&advice);
        }
        if common.json {
            out.object(&DedupLine::Summary(summary.answer()))?;
            return Ok(());
        }
        for line in summary.lines().into_iter().chain(written) {
            if self.is_table() { out.summary(&line)? } else { out.line(&line)? }
        }
        Ok(())
    }

    fn table(&self) -> TextTable {
        let alike = self.resemblance.map(|_| right("alike"));
        let rest = [left("reason"), right("pages"), left("URL"), left("kept")];
        TextTable::new([right("bits")].into_iter().chain(alike).chain(rest))
    }

    fn list(
        of: DedupPage<'_>,
        table: &mut TextTable,
        common: &CommonArgs,
        output: &mut Output,
    ) -> Result<(), VerbError> {
        if common.json {
            return Ok(output.object(&DedupLine::Page(of))?);
        }
        Ok(table.cells(of.cells(), output)?)
    }
}
