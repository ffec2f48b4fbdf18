//! What is asked, and what is decided about a page by it.

use super::decision::{Decision, Reason};
use super::options::Due;
use super::plan::NewPage;
use super::score::{Facts, Scorer, Stands, weight};
use super::worked::Worked;
use crate::bug::OrBug;
use crate::error::{Error, Result};
use crate::page::{TIME_MAX, TIME_MIN};
use crate::recrawl::{Interval, Recent};
use crate::segment::{Row, host_slot, seconds, url_hash};
use crate::store::answer::Page;
use crate::store::component::Changing;
use crate::store::lookup::Lookup;
use crate::store::snapshot::Snapshot;

/// A question, and what it takes to answer it.
pub(super) struct Asked {
    pub(super) snapshot: Snapshot,
    pub(super) due: Due,
    pub(super) scorer: Scorer,
}

impl Asked {
    pub(super) fn new(snapshot: &Snapshot, due: Due) -> Result<Asked> {
        let seed = snapshot.view.seed;
        if due.hints.as_ref().is_some_and(|hints| !hints.are_for(seed)) {
            let what = "the hints are for pages of another store; make them with this one";
            return Err(Error::misuse(what));
        }
        let learned = match &due.learned {
            Some(learned) if !learned.is_for(seed) => {
                let what = "what was learned is of another store; learn it from this one";
                return Err(Error::misuse(what));
            }
            Some(learned) => learned.clone(),
            None => snapshot.learned()?,
        };
        let scorer = Scorer::new(&due, learned);
        Ok(Asked { snapshot: snapshot.clone(), due, scorer })
    }

    /// What a page is worth by a plan that nobody has visited, in a store with this seed.
    pub(super) fn of_new(due: &Due, url: &str, seed: u64) -> Result<NewPage> {
        let what = "a plan has learned, and has a threshold";
        let (learned, threshold) = due.learned.clone().zip(due.threshold).or_bug(what)?;
        let (scorer, mut worked) = (Scorer::new(due, learned), Worked::of_few());
        let row = Row::of_new(host_slot(url, seed));
        let (recent, rule) = (Recent::default(), due.rules.of(url));
        let hash = url_hash(url, seed);
        let facts = Facts { hash, row: &row, recent: &recent, rule, changed: None };
        let value = scorer.value_since(facts, due.largest().seconds(), 0.0, &mut worked)?;
        Ok(NewPage {
            value: value.or_bug("no value is less than nothing")?,
            rate: scorer.belief(facts, &mut worked).rate(),
            weight: weight(facts),
            every: scorer.every(facts, threshold, &mut worked),
        })
    }

    /// What is decided about a page; none if it is not known.
    pub(super) fn decide(&self, url: &str, worked: &mut Worked) -> Result<Option<Decision>> {
        let Asked { snapshot, due, scorer } = self;
        let Snapshot { view, sequence, .. } = snapshot;
        let lookup = Lookup::new(url, view.seed);
        let Some(changing) = view.changing(&lookup, *sequence)? else { return Ok(None) };
        let Changing { head, changes } = &changing;
        let row = Row::new(Some(head), changes, 0, host_slot(url, view.seed));
        let recent = changes.recent(head.first, head.last.time);
        let rule = due.rules.get(due.rules.number_of(url));
        let changed = scorer.changed(&row, rule, url);
        let facts = Facts { hash: lookup.hash, row: &row, recent: &recent, rule, changed };
        let last = seconds(head.last.time);
        let (every, date) = match due.threshold {
            Some(threshold) => {
                let (every, after) = scorer.date(facts, threshold, worked)?;
                (Some(every), time_of(last.saturating_add(after)))
            }
            None => (None, None),
        };
        let reason = match scorer.stands(facts) {
            Stands::NotYet(min) => Reason::NotYet { min },
            Stands::LeftAlone(seconds) => {
                let until = time_of(last.saturating_add(seconds)).unwrap_or(TIME_MAX);
                Reason::LeftAlone { until }
            }
            Stands::Overdue { after, .. } => Reason::Overdue { after },
            Stands::Since(_) if head.last.time > due.now => Reason::Ahead,
            Stands::Since(_) => match changed.and_then(time_of) {
                Some(changed) => Reason::Hinted { changed },
                None => Reason::Worth,
            },
        };
        Ok(Some(Decision {
            page: Page::new(url, &changing, &view.epochs),
            value: scorer.value(facts, worked)?,
            rate: scorer.belief(facts, worked).rate(),
            weight: weight(facts),
            due: date,
            every,
            rule: rule.under.clone(),
            reason,
        }))
    }
}

/// The time of so many [`seconds`], in milliseconds since 1970; none past all that a visit can have.
fn time_of(seconds: u64) -> Option<i64> {
    let time = i64::try_from(seconds.saturating_mul(1000)).ok()?.checked_add(TIME_MIN)?;
    (time <= TIME_MAX).then_some(time)
}

impl Scorer {
    /// How long after a visit a page is due by a threshold; and how many seconds after its last one,
    /// which may have failed.
    fn date(&self, of: Facts<'_>, threshold: f64, worked: &mut Worked) -> Result<(Interval, u64)> {
        let every = self.every(of, threshold, worked);
        let failing = of.row.failing_seconds().unwrap_or(0);
        let after = every.seconds().saturating_sub(failing).max(self.left_alone(of.row));
        let min = of.rule.min.map_or(0, Interval::seconds);
        Ok((every, after.max(min)))
    }
}
