//! Decisions about single pages: the value of a visit, the reason, and the due time.

use super::decision::{Decision, NewPage, Reason};
use super::due::Due;
use super::learned::LearnedPriors;
use super::pages_by_score::ScoredPage;
use super::rows::ComponentRow;
use super::rules::Rule;
use super::score::{Score, ScoreCache, ScoreInput, Scorer, VisitStatus, weight};
use super::sources::RowSource;
use crate::bug::OrBug;
use crate::engine::component::PageWithChanges;
use crate::engine::lookup::Lookup;
use crate::engine::results::Page;
use crate::engine::snapshot::Snapshot;
use crate::error::{Error, Result};
use crate::recrawl::{Belief, Interval, RecentComparisons};
use crate::segment::{ScheduleRow, host_slot, seconds, url_hash};
use crate::time::Time;

/// A [`Due`] query with the snapshot and the scorer that it runs with.
pub(super) struct DueContext {
    pub(super) snapshot: Snapshot,
    pub(super) due: Due,
    pub(super) scorer: Scorer,
}

/// A page that was read, with the inputs of its score.
pub(super) struct LoadedPage<'a> {
    pub(super) lookup: Lookup<'a>,
    pub(super) changing: PageWithChanges,
    row: ScheduleRow,
    recent: RecentComparisons,
    pub(super) rule: &'a Rule,
    changed: Option<u64>,
}

impl LoadedPage<'_> {
    fn facts(&self, led: bool) -> ScoreInput<'_> {
        let LoadedPage { lookup, row, recent, rule, changed, .. } = self;
        ScoreInput { hash: lookup.hash, row, recent, rule, changed: *changed, led }
    }
}

impl DueContext {
    pub(super) fn new(snapshot: &Snapshot, due: Due) -> Result<DueContext> {
        let seed = snapshot.view.seed;
        // Hints and priors are found by seeded hashes. With the seed of another store they would
        // match wrong pages or none.
        if due.hints.as_ref().is_some_and(|hints| !hints.are_for(seed)) {
            let what = "the hints were made with another store; make them with this store";
            return Err(Error::invalid_argument(what));
        }
        let learned = match &due.learned {
            Some(learned) if !learned.is_for(seed) => {
                let what = "the priors were learned from another store; learn them from this store";
                return Err(Error::invalid_argument(what));
            }
            Some(learned) => learned.clone(),
            None => LearnedPriors::kept(snapshot)?,
        };
        let scorer = Scorer::new(&due, learned);
        Ok(DueContext { snapshot: snapshot.clone(), due, scorer })
    }

    /// Computes the plan's value of a page without visits, in a store with seed `seed`.
    pub(super) fn new_page(due: &Due, url: &str, seed: u64) -> Result<NewPage> {
        let what = "a plan has learned, and has a threshold";
        let (learned, threshold) = due.learned.clone().zip(due.threshold).or_bug(what)?;
        let (scorer, mut scores) = (Scorer::new(due, learned), ScoreCache::of(1));
        // The row has no last visit, so the time since the last visit is passed to `value_since`
        // instead.
        let row = ScheduleRow::of_new(host_slot(url, seed));
        let (recent, rule) = (RecentComparisons::default(), due.rules.of(url));
        let hash = url_hash(url, seed);
        let facts =
            ScoreInput { hash, row: &row, recent: &recent, rule, changed: None, led: false };
        let belief = &scorer.belief(facts, &mut scores);
        Ok(NewPage {
            value: scorer.value_since(facts, due.largest().seconds(), belief)?,
            rate: belief.rate(),
            weight: weight(&facts),
            every: scorer.every(facts, threshold, belief),
        })
    }

    /// Reads a page by URL; `None` if the page is unknown.
    pub(super) fn load<'a>(&'a self, url: &'a str) -> Result<Option<LoadedPage<'a>>> {
        let Snapshot { view, sequence, .. } = &self.snapshot;
        let lookup = Lookup::new(url, view.seed);
        let changing = view.page_with_changes(&lookup, *sequence)?;
        Ok(changing.map(|changing| self.looked(lookup, changing)))
    }

    /// Reads a page that [`PagesByScore`](super::pages_by_score::PagesByScore) returned.
    pub(super) fn load_scored<'a>(&'a self, coming: &'a ScoredPage) -> Result<LoadedPage<'a>> {
        let Snapshot { view, sequence, .. } = &self.snapshot;
        let lookup = Lookup::new(&coming.url, view.seed);
        // The location saves the lookup by hash in the newest component.
        let changing = view.page_with_changes_at(coming.location, &lookup, *sequence)?;
        let changing = changing.ok_or_else(|| unknown(&coming.url))?;
        Ok(self.looked(lookup, changing))
    }

    /// Returns the last comparisons of a page, which are not in its row. Reads the page only if the
    /// policy of its rule depends on the order of comparisons.
    pub(super) fn recent(
        &self,
        source: &RowSource,
        found: &ComponentRow,
        rule: &Rule,
    ) -> Result<RecentComparisons> {
        if !self.scorer.policy(rule).0.is_by_order() {
            return Ok(RecentComparisons::default());
        }
        let Snapshot { view, sequence, .. } = &self.snapshot;
        let url = source.url(found.page)?;
        let lookup = Lookup::of(&url, found.hash);
        let page = view.page_with_changes_at(source.location(found.page)?, &lookup, *sequence)?;
        let PageWithChanges { head, changes } = page.ok_or_else(|| unknown(&url))?;
        Ok(changes.recent(head.first, head.last.time))
    }

    fn looked<'a>(&'a self, lookup: Lookup<'a>, changing: PageWithChanges) -> LoadedPage<'a> {
        let DueContext { snapshot: Snapshot { view, .. }, due, scorer } = self;
        let (url, PageWithChanges { head, changes }) = (lookup.url, &changing);
        // The row is derived from the record, but rounded in the way of a stored row, so that both
        // have the same score.
        let row = ScheduleRow::new(Some(head), changes, 0, host_slot(url, view.seed));
        let recent = changes.recent(head.first, head.last.time);
        let rule = due.rules.get(due.rules.number_of(url));
        let changed = scorer.changed(&row, rule, url);
        LoadedPage { lookup, changing, row, recent, rule, changed }
    }

    /// Returns the score of a page that is led by another page.
    pub(super) fn score_of_led(
        &self,
        of: &LoadedPage<'_>,
        scores: &mut ScoreCache,
    ) -> Result<Score> {
        // A page without a score would not come up. If the record has no score, row and record
        // disagree.
        self.scorer.score(of.facts(true), scores)?.ok_or_else(|| differs(of.lookup.url))
    }

    /// Returns the decision about a page, given the page that leads it.
    pub(super) fn decide(
        &self,
        of: LoadedPage<'_>,
        leader: Option<String>,
        scores: &mut ScoreCache,
    ) -> Result<Decision> {
        let DueContext { snapshot, due, scorer } = self;
        let facts = of.facts(leader.is_some());
        let LoadedPage { lookup, changing, rule, changed, .. } = &of;
        let head = &changing.head;
        let last = seconds(head.last.time);
        let belief = &scorer.belief(facts, scores);
        let (every, date) = match due.threshold {
            Some(threshold) => {
                let (every, after) = scorer.date(facts, threshold, belief);
                (Some(every), time_of(last.saturating_add(after)))
            }
            None => (None, None),
        };
        let reason = match scorer.visit_status(facts) {
            VisitStatus::NotYet(min) => Reason::NotYet { min },
            VisitStatus::BackingOff(seconds) => {
                let until = time_of(last.saturating_add(seconds)).unwrap_or(Time::MAX);
                Reason::LeftAlone { until }
            }
            VisitStatus::Overdue { after, .. } => Reason::Overdue { after },
            // Times since a visit saturate at 0, so a visit in the future would otherwise look like
            // a visit at `now`.
            VisitStatus::Since(_) if head.last.time > due.now => Reason::Ahead,
            VisitStatus::Since(_) => match changed.and_then(time_of) {
                Some(changed) => Reason::Hinted { changed },
                None => Reason::Worth,
            },
        };
        Ok(Decision {
            page: Page::new(lookup.url, changing, &snapshot.view.epochs),
            value: scorer.value(facts, belief)?,
            rate: belief.rate(),
            weight: weight(&facts),
            due: date,
            every,
            rule: rule.under.clone(),
            near: leader,
            reason,
        })
    }
}

/// Converts [`seconds`] to milliseconds since 1970; `None` after the latest possible time of a
/// visit.
fn time_of(seconds: u64) -> Option<Time> {
    let time = Time::from_ms_unchecked(
        i64::try_from(seconds.saturating_mul(1000)).ok()?.checked_add(Time::MIN.as_ms())?,
    );
    (time <= Time::MAX).then_some(time)
}

impl Scorer {
    /// Returns the interval between successful visits for a threshold, and the seconds from the
    /// last visit (successful or failed) until the page is due.
    fn date(&self, of: ScoreInput<'_>, threshold: f64, belief: &Belief) -> (Interval, u64) {
        let every = self.every(of, threshold, belief);
        // `every` runs from the last visit that did not fail, `after` from the last visit, failed
        // or not.
        let failing = of.row.failing_seconds().unwrap_or(0);
        let after = every.seconds().saturating_sub(failing).max(self.backoff_seconds(of.row));
        let min = of.rule.min.map_or(0, Interval::seconds);
        (every, after.max(min))
    }
}

/// Returns the error that the row and the record of a page imply different values.
pub(super) fn differs(url: &str) -> Error {
    Error::corrupt("segments", 0, format!("the schedule row of {url} does not match its record"))
}

pub(super) fn unknown(url: &str) -> Error {
    Error::corrupt(
        "segments",
        0,
        format!("the schedule has a row for {url}, but the page has no record"),
    )
}
