//! Shows a site: all pages under a prefix.

use std::collections::HashMap;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use simkeep::{Corruption, Epoch, Error, Page, Prefix, Query, Snapshot};

use crate::common::CommonArgs;
use crate::exit::{Exit, VerbError, print_message};
use crate::output::Output;
use crate::output::json::{FileFlaw, StoreState, Time};
use crate::output::words::{self, count, many};
use crate::time::TimeFormat;
use simkeep_formats::escape;

/// Show a site's pages, visits, changes and copies
///
/// Reads all pages under the prefix, and searches the rest of the store for each of their distinct
/// fingerprints, up to a million fingerprints. In a damaged store it counts the pages before the
/// damage and says so.
#[derive(Args)]
pub(super) struct InspectHostArgs {
    /// The site: a domain, host or path
    prefix: Prefix,
}

/// Counts of the pages of a site, of their visits, and of copies.
#[derive(Serialize, JsonSchema)]
pub(crate) struct HostDetails<'a> {
    /// The prefix of the site's pages.
    under: String,
    pages: u64,
    /// Pages with current content.
    pages_in_force: u64,
    /// Pages that are gone.
    pages_gone: u64,
    visits: u64,
    /// Visits that could be compared with an earlier visit.
    comparisons: u64,
    /// Comparisons that found more than a minor change.
    changes: u64,
    /// Comparisons that found an earlier version of the page.
    returns: u64,
    /// The time of the earliest visit; null without pages.
    first: Option<Time>,
    /// The time of the latest visit; null without pages.
    last: Option<Time>,
    /// The number of distinct fingerprints.
    fingerprints: u64,
    /// Pages of the site whose fingerprint another page of the site has, too.
    copies_within: u64,
    /// Pages of the site whose fingerprint a page outside of the site has, too.
    copies_elsewhere: u64,
    /// Whether the counts of copies cover all fingerprints.
    complete: bool,
    /// The damage that ended the counts, which cover only the pages before it; null without damage.
    flaw: Option<FileFlaw<'a>>,
    saw: StoreState,
}

/// The maximum number of distinct fingerprints to keep.
const KEPT: usize = 1 << 20;

/// The counts so far.
#[derive(Default)]
struct PrefixCounts {
    pages: u64,
    in_force: u64,
    gone: u64,
    visits: u64,
    comparisons: u64,
    changes: u64,
    returns: u64,
    first: Option<simkeep::Time>,
    last: Option<simkeep::Time>,
    /// The number of pages by fingerprint.
    fingerprints: HashMap<u64, u64>,
    /// Whether there were more distinct fingerprints than [`KEPT`].
    is_cut: bool,
}

impl PrefixCounts {
    fn add(&mut self, page: &Page, fingerprint: Option<u64>) {
        self.pages += 1;
        self.in_force += u64::from(page.content.is_some());
        self.gone += u64::from(page.gone);
        self.visits += page.visits;
        self.comparisons += u64::from(page.changes.comparisons());
        self.changes += u64::from(page.changes.changes());
        self.returns += u64::from(page.changes.returns());
        self.first = Some(self.first.map_or(page.first, |first| first.min(page.first)));
        self.last = Some(self.last.map_or(page.last.time, |last| last.max(page.last.time)));
        let Some(fingerprint) = fingerprint else { return };
        let is_full = self.fingerprints.len() == KEPT;
        match self.fingerprints.get_mut(&fingerprint) {
            Some(pages) => *pages += 1,
            None if is_full => self.is_cut = true,
            None => drop(self.fingerprints.insert(fingerprint, 1)),
        }
    }
}

impl PrefixCounts {
    /// Adds all pages under a prefix.
    fn take(&mut self, snapshot: &Snapshot, prefix: &Prefix, epoch: Epoch) -> simkeep::Result<()> {
        for page in snapshot.scan(Some(prefix)) {
            let page = page?;
            let own = page.contents.iter().find(|content| content.epoch == epoch);
            self.add(&page, own.and_then(|content| content.compared()));
        }
        Ok(())
    }

    /// Counts the pages whose fingerprints pages outside of the site have, too.
    fn seek(&self, snapshot: &Snapshot, epoch: Epoch, elsewhere: &mut u64) -> simkeep::Result<()> {
        for (fingerprint, pages) in &self.fingerprints {
            // If the search finds one page more than the site has, at least one page is outside.
            let limit = usize::try_from(*pages).unwrap_or(usize::MAX).saturating_add(1);
            let query = Query::new(*fingerprint, 0).epoch(epoch).limit(limit);
            *elsewhere += u64::from(snapshot.search(&query)?.near.len() as u64 > *pages) * pages;
        }
        Ok(())
    }
}

impl InspectHostArgs {
    pub(super) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        let reader = common.read()?;
        let snapshot = reader.snapshot();
        let epoch = snapshot.near_epoch();
        let mut counts = PrefixCounts::default();
        let mut flaw = damage(counts.take(&snapshot, &self.prefix, epoch))?;
        if let Some(flaw) = flaw.take_if(|_| counts.pages == 0) {
            return Err(Error::Corrupt(flaw).into());
        }
        if counts.pages == 0 {
            print_message(&format!("no page is known under {}", self.prefix));
            return Ok(Exit::Nothing);
        }
        let copied = counts.fingerprints.values().filter(|pages| **pages > 1);
        let (within, mut elsewhere) = (copied.sum(), 0);
        flaw = flaw.or(damage(counts.seek(&snapshot, epoch, &mut elsewhere))?);
        let exit = if flaw.is_some() { Exit::Damaged } else { Exit::Done };
        let site = InspectedSite { prefix: &self.prefix, counts, within, elsewhere, flaw };
        if common.json {
            output.object(&site.answer(StoreState::of(&reader)))?;
        } else {
            site.print(&common.clock(), output)?;
        }
        Ok(exit)
    }
}

/// A site with at least one page.
struct InspectedSite<'a> {
    prefix: &'a Prefix,
    counts: PrefixCounts,
    /// Pages of the site whose fingerprint another page of the site has, too.
    within: u64,
    /// Pages of the site whose fingerprint a page outside of the site has, too.
    elsewhere: u64,
    /// The damage that ended the counts; only the pages before it are counted.
    flaw: Option<Corruption>,
}

impl InspectedSite<'_> {
    /// The counts for JSON.
    fn answer(&self, saw: StoreState) -> HostDetails<'_> {
        let InspectedSite { prefix, counts, within, elsewhere, flaw } = self;
        HostDetails {
            under: prefix.to_string(),
            pages: counts.pages,
            pages_in_force: counts.in_force,
            pages_gone: counts.gone,
            visits: counts.visits,
            comparisons: counts.comparisons,
            changes: counts.changes,
            returns: counts.returns,
            first: counts.first.map(Time),
            last: counts.last.map(Time),
            fingerprints: counts.fingerprints.len() as u64,
            copies_within: *within,
            copies_elsewhere: *elsewhere,
            complete: !counts.is_cut && flaw.is_none(),
            flaw: flaw.as_ref().map(FileFlaw::from),
            saw,
        }
    }

    /// Prints the counts for people.
    fn print(&self, clock: &TimeFormat, output: &mut Output) -> Result<(), VerbError> {
        output.line(&self.prefix.to_string())?;
        for (name, number, remark) in self.figures(clock) {
            let line = format!("  {name:<14}{:>13}    {remark}", count(number));
            output.line(line.trim_end())?;
        }
        if self.counts.is_cut {
            output.note("copies are counted for the first million fingerprints only")?;
        }
        if let Some(flaw) = &self.flaw {
            let flaw = escape::escape_untruncated(&flaw.to_string());
            output.note(&format!("{flaw}; only the pages before this damage are counted"))?;
        }
        Ok(())
    }

    /// The name of each count, the number, and a remark.
    fn figures(&self, clock: &TimeFormat) -> [(&'static str, u64, String); 7] {
        let InspectedSite { counts, within, elsewhere, .. } = self;
        let span = counts.first.zip(counts.last).map(|(first, last)| {
            clock.heading(&format!("{} to {}", clock.show(first), clock.show(last)))
        });
        let of_compared = |number: u64| {
            let share = number as f64 / counts.comparisons.max(1) as f64 * 100.0;
            let all = many(counts.comparisons, "comparison", "comparisons");
            format!("{} % of {all}", words::amount(share))
        };
        let states =
            format!("with content {} · gone {}", count(counts.in_force), count(counts.gone));
        let changes = format!("more than minor: {}", of_compared(counts.changes));
        let returns = format!("to an earlier version: {}", of_compared(counts.returns));
        let different = counts.fingerprints.len() as u64;
        let copies = "pages with the same fingerprint as another page here";
        let copied = "pages with the same fingerprint as a page elsewhere";
        [
            ("pages", counts.pages, states),
            ("visits", counts.visits, span.unwrap_or_default()),
            ("changes", counts.changes, changes),
            ("returns", counts.returns, returns),
            ("fingerprints", different, "different fingerprints".to_owned()),
            ("copies", *within, copies.to_owned()),
            ("elsewhere", *elsewhere, copied.to_owned()),
        ]
    }
}

/// Returns the damage that ended a call; passes other errors on.
fn damage(done: simkeep::Result<()>) -> simkeep::Result<Option<Corruption>> {
    match done {
        Ok(()) => Ok(None),
        Err(Error::Corrupt(flaw)) => Ok(Some(flaw)),
        Err(error) => Err(error),
    }
}
