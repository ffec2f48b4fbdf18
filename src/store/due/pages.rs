//! Pages that are due, the best first.

use std::fmt;

use super::asked::Asked;
use super::by_rows::ByRows;
use super::by_scan::ByScan;
use super::hosts::Hosts;
use super::options::Due;
use super::rules::RuleNumber;
use super::score::{Facts, Scorer, Worked, weight};
use crate::bug::OrBug;
use crate::error::{Error, Result};
use crate::page::Head;
use crate::recrawl::{Prior, Rate};
use crate::segment::{Row, host_slot};
use crate::store::answer::Page;
use crate::store::lookup::Lookup;
use crate::store::snapshot::Snapshot;

/// A page that is due.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DuePage {
    /// The page.
    pub page: Page,
    /// What the [policy](crate::recrawl::Policy) makes of it. By the crawl value that is what a visit is
    /// worth: the days for which it makes the page fresh, times its weight.
    pub value: f64,
    /// How often it is believed to change: see [`Snapshot::due`](crate::Snapshot::due).
    pub rate: Rate,
    /// How much it matters: its weight, with the factor of its rule.
    pub weight: f64,
}

/// An iterator over pages that are due, from [`Snapshot::due`](crate::Snapshot::due). It ends after an
/// error.
pub struct DuePages {
    snapshot: Snapshot,
    state: State,
}

enum State {
    /// Nothing was read yet.
    New(Due),
    Reading(Box<Reading>),
    Ended,
}

/// The pages that are still to be returned.
struct Reading {
    asked: Asked,
    pages: InOrder,
    worked: Worked,
    /// How many may still be returned.
    left: usize,
    /// Whether some hosts have a bound.
    bounded: bool,
    hosts: Hosts,
}

/// All pages, the best first.
enum InOrder {
    ByRows(ByRows),
    ByScan(ByScan),
}

impl fmt::Debug for DuePages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DuePages").field("snapshot", &self.snapshot).finish_non_exhaustive()
    }
}

impl DuePages {
    pub(in crate::store) fn new(snapshot: &Snapshot, due: &Due) -> DuePages {
        DuePages { snapshot: snapshot.clone(), state: State::New(due.clone()) }
    }

    fn find(&mut self) -> Result<Option<DuePage>> {
        self.snapshot.view.check()?;
        if let State::New(due) = &self.state {
            let reading = Reading::new(&self.snapshot, due.clone())?;
            self.state = State::Reading(Box::new(reading));
        }
        match &mut self.state {
            State::Reading(reading) => reading.next(),
            State::New(_) | State::Ended => Ok(None),
        }
    }
}

impl Iterator for DuePages {
    type Item = Result<DuePage>;

    fn next(&mut self) -> Option<Self::Item> {
        let found = self.find();
        if !matches!(found, Ok(Some(_))) {
            self.state = State::Ended;
        }
        self.snapshot.heed(|| found).transpose()
    }
}

impl Reading {
    fn new(snapshot: &Snapshot, due: Due) -> Result<Reading> {
        if due.hints.as_ref().is_some_and(|hints| !hints.are_for(snapshot.view.seed)) {
            return Err(Error::misuse(
                "the hints are for pages of another store; make them with this one",
            ));
        }
        let scorer = Scorer::new(&due, Prior::default());
        let rules = due.rules.all();
        let policies = rules.iter().filter_map(|rule| rule.policy).chain([due.policy]);
        let by_order = policies.into_iter().any(|policy| policy.is_by_order());
        let bounded =
            due.per_host != usize::MAX || rules.iter().any(|rule| rule.per_host.is_some());
        let left = due.budget;
        let asked = Asked { snapshot: snapshot.clone(), due, scorer };
        let pages = if by_order {
            InOrder::ByScan(ByScan::default())
        } else {
            InOrder::ByRows(ByRows::new(&asked)?)
        };
        Ok(Reading {
            asked,
            pages,
            worked: Worked::default(),
            left,
            bounded,
            hosts: Hosts::default(),
        })
    }

    fn next(&mut self) -> Result<Option<DuePage>> {
        let Reading { asked, pages, left, bounded, .. } = self;
        while *left > 0 {
            // Of a host that is full others are passed over.
            let wanted = if *bounded { usize::MAX } else { *left };
            let next = match pages {
                InOrder::ByRows(pages) => pages.next(asked, wanted)?,
                InOrder::ByScan(pages) => pages.next(asked, wanted)?,
            };
            let Some((url, head)) = next else { return Ok(None) };
            let rule = asked.due.rules.number_of(&url);
            if self.hosts.have_room(&url, rule, &asked.due) {
                *left -= 1;
                return page(asked, &url, &head, rule, &mut self.worked).map(Some);
            }
        }
        Ok(None)
    }
}

/// A page as it is returned.
fn page(
    asked: &Asked,
    url: &str,
    head: &Head,
    rule: RuleNumber,
    worked: &mut Worked,
) -> Result<DuePage> {
    let Asked { snapshot, scorer, due } = asked;
    let row = Row::new(Some(head), 0, host_slot(url, snapshot.view.seed));
    let (recent, rule) = (head.recent(), due.rules.get(rule));
    let changed = scorer.changed(&row, rule, url);
    let facts = Facts { row: &row, recent: &recent, rule, changed };
    let value = scorer.value(facts, worked)?;
    let rate = scorer.belief(row.code, worked).rate();
    let known = snapshot.view.changing(&Lookup::new(url, snapshot.view.seed), snapshot.sequence)?;
    let known = known.or_bug("a page that is due is known")?;
    let page = Page::new(url, &known, &snapshot.view.epochs);
    Ok(DuePage { page, value, rate, weight: weight(facts) })
}
