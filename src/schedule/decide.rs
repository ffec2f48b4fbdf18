//! Decisions about single pages: the value of a visit, the reason, and the due time.

use super::decision::{Decision, NewPage, Reason};
use super::due::Due;
use super::in_order::Coming;
use super::learned::Learned;
use super::rows::ComponentRow;
use super::rules::Rule;
use super::score::{Facts, Score, ScoreCache, Scorer, Stands, weight};
use super::sources::Source;
use crate::bug::OrBug;
use crate::engine::answer::Page;
use crate::engine::component::Changing;
use crate::engine::lookup::Lookup;
use crate::engine::snapshot::Snapshot;
use crate::error::{Error, Result};
use crate::recrawl::{Belief, Interval, Recent};
use crate::segment::{Row, host_slot, seconds, url_hash};
use crate::time::Time;

/// A [`Due`] query with the snapshot and the scorer that it runs with.
pub(super) struct Asked {
    pub(super) snapshot: Snapshot,
    pub(super) due: Due,
    pub(super) scorer: Scorer,
}

/// A page that was read, with the inputs of its score.
pub(super) struct Looked<'a> {
    pub(super) lookup: Lookup<'a>,
    pub(super) changing: Changing,
    row: Row,
    recent: Recent,
    pub(super) rule: &'a Rule,
    changed: Option<u64>,
}

impl Looked<'_> {
    fn facts(&self, led: bool) -> Facts<'_> {
        let Looked { lookup, row, recent, rule, changed, .. } = self;
        Facts { hash: lookup.hash, row, recent, rule, changed: *changed, led }
    }
}

impl Asked {
    pub(super) fn new(snapshot: &Snapshot, due: Due) -> Result<Asked> {
        let seed = snapshot.view.seed;
        // Hints and priors are found by seeded hashes. With the seed of another store they would
        // match wrong pages or none.
        if due.hints.as_ref().is_some_and(|hints| !hints.are_for(seed)) {
            let what = "the hints are for pages of another store; make them with this one";
            return Err(Error::invalid_argument(what));
        }
        let learned = match &due.learned {
            Some(learned) if !learned.is_for(seed) => {
                let what = "the priors were learned from another store; learn them from this one";
                return Err(Error::invalid_argument(what));
            }
            Some(learned) => learned.clone(),
            None => Learned::kept(snapshot)?,
        };
        let scorer = Scorer::new(&due, learned);
        Ok(Asked { snapshot: snapshot.clone(), due, scorer })
    }

    /// Computes the plan's value of a page without visits, in a store with seed `seed`.
    pub(super) fn of_new(due: &Due, url: &str, seed: u64) -> Result<NewPage> {
        let what = "a plan has learned, and has a threshold";
        let (learned, threshold) = due.learned.clone().zip(due.threshold).or_bug(what)?;
        let (scorer, mut scores) = (Scorer::new(due, learned), ScoreCache::of(1));
        // The row has no last visit, so the time since the last visit is passed to `value_since`
        // instead.
        let row = Row::of_new(host_slot(url, seed));
        let (recent, rule) = (Recent::default(), due.rules.of(url));
        let hash = url_hash(url, seed);
        let facts = Facts { hash, row: &row, recent: &recent, rule, changed: None, led: false };
        let belief = &scorer.belief(facts, &mut scores);
        Ok(NewPage {
            value: scorer.value_since(facts, due.largest().seconds(), belief)?,
            rate: belief.rate(),
            weight: weight(&facts),
            every: scorer.every(facts, threshold, belief),
        })
    }

    /// Reads a page by URL; `None` if the page is unknown.
    pub(super) fn look<'a>(&'a self, url: &'a str) -> Result<Option<Looked<'a>>> {
        let Snapshot { view, sequence, .. } = &self.snapshot;
        let lookup = Lookup::new(url, view.seed);
        let changing = view.changing(&lookup, *sequence)?;
        Ok(changing.map(|changing| self.looked(lookup, changing)))
    }

    /// Reads a page that [`InOrder`](super::in_order::InOrder) returned.
    pub(super) fn look_at<'a>(&'a self, coming: &'a Coming) -> Result<Looked<'a>> {
        let Snapshot { view, sequence, .. } = &self.snapshot;
        let lookup = Lookup::new(&coming.url, view.seed);
        // The location saves the lookup by hash in the newest component.
        let changing = view.changing_at(coming.location, &lookup, *sequence)?;
        let changing = changing.ok_or_else(|| unknown(&coming.url))?;
        Ok(self.looked(lookup, changing))
    }

    /// Returns the last comparisons of a page, which are not in its row. Reads the page only if the
    /// policy of its rule depends on the order of comparisons.
    pub(super) fn recent(
        &self,
        source: &Source,
        found: &ComponentRow,
        rule: &Rule,
    ) -> Result<Recent> {
        if !self.scorer.policy(rule).0.is_by_order() {
            return Ok(Recent::default());
        }
        let Snapshot { view, sequence, .. } = &self.snapshot;
        let url = source.url(found.page)?;
        let lookup = Lookup::of(&url, found.hash);
        let page = view.changing_at(source.location(found.page)?, &lookup, *sequence)?;
        let Changing { head, changes } = page.ok_or_else(|| unknown(&url))?;
        Ok(changes.recent(head.first, head.last.time))
    }

    fn looked<'a>(&'a self, lookup: Lookup<'a>, changing: Changing) -> Looked<'a> {
        let Asked { snapshot: Snapshot { view, .. }, due, scorer } = self;
        let (url, Changing { head, changes }) = (lookup.url, &changing);
        // The row is derived from the record, but rounded in the way of a stored row, so that both
        // have the same score.
        let row = Row::new(Some(head), changes, 0, host_slot(url, view.seed));
        let recent = changes.recent(head.first, head.last.time);
        let rule = due.rules.get(due.rules.number_of(url));
        let changed = scorer.changed(&row, rule, url);
        Looked { lookup, changing, row, recent, rule, changed }
    }

    /// Returns the score of a page that is led by another page.
    pub(super) fn score_of_led(&self, of: &Looked<'_>, scores: &mut ScoreCache) -> Result<Score> {
        // A page without a score would not come up. If the record has no score, row and record
        // disagree.
        self.scorer.score(of.facts(true), scores)?.ok_or_else(|| differs(of.lookup.url))
    }

    /// Returns the decision about a page, given the page that leads it.
    pub(super) fn decide(
        &self,
        of: Looked<'_>,
        leader: Option<String>,
        scores: &mut ScoreCache,
    ) -> Result<Decision> {
        let Asked { snapshot, due, scorer } = self;
        let facts = of.facts(leader.is_some());
        let Looked { lookup, changing, rule, changed, .. } = &of;
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
        let reason = match scorer.stands(facts) {
            Stands::NotYet(min) => Reason::NotYet { min },
            Stands::LeftAlone(seconds) => {
                let until = time_of(last.saturating_add(seconds)).unwrap_or(Time::MAX);
                Reason::LeftAlone { until }
            }
            Stands::Overdue { after, .. } => Reason::Overdue { after },
            // Times since a visit saturate at 0, so a visit in the future would otherwise look like
            // a visit at `now`.
            Stands::Since(_) if head.last.time > due.now => Reason::Ahead,
            Stands::Since(_) => match changed.and_then(time_of) {
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
    let time = Time(i64::try_from(seconds.saturating_mul(1000)).ok()?.checked_add(Time::MIN.0)?);
    (time <= Time::MAX).then_some(time)
}

impl Scorer {
    /// Returns the interval between successful visits for a threshold, and the seconds from the
    /// last visit (successful or failed) until the page is due.
    fn date(&self, of: Facts<'_>, threshold: f64, belief: &Belief) -> (Interval, u64) {
        let every = self.every(of, threshold, belief);
        // `every` runs from the last visit that did not fail, `after` from the last visit, failed
        // or not.
        let failing = of.row.failing_seconds().unwrap_or(0);
        let after = every.seconds().saturating_sub(failing).max(self.left_alone(of.row));
        let min = of.rule.min.map_or(0, Interval::seconds);
        (every, after.max(min))
    }
}

/// Returns the error that the row and the record of a page imply different values.
pub(super) fn differs(url: &str) -> Error {
    Error::corrupt("segments", 0, format!("the row of {url} does not agree with its record"))
}

pub(super) fn unknown(url: &str) -> Error {
    Error::corrupt("segments", 0, format!("there is a row of {url}, but no record"))
}
