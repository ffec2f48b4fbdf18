//! Pages that are due, the best first.

use std::collections::HashMap;
use std::fmt;

use super::asked::Asked;
use super::by_rows::ByRows;
use super::by_scan::ByScan;
use super::options::Due;
use super::score::{Scorer, Worked};
use crate::error::Result;
use crate::page::{Head, surt};
use crate::recrawl::{Prior, Rate};
use crate::segment::{Row, host_slot};
use crate::store::answer::Page;
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
    /// How often it is believed to change.
    pub rate: Rate,
    /// How much it matters.
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
    /// How many of each host were.
    hosts: HashMap<Vec<u8>, usize>,
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
        let scorer = Scorer::new(&due, Prior::default());
        let (left, by_order) = (due.budget, due.policy.is_by_order());
        let asked = Asked { snapshot: snapshot.clone(), due, scorer };
        let pages = if by_order {
            InOrder::ByScan(ByScan::default())
        } else {
            InOrder::ByRows(ByRows::new(&asked)?)
        };
        Ok(Reading { asked, pages, worked: Worked::default(), left, hosts: HashMap::new() })
    }

    fn next(&mut self) -> Result<Option<DuePage>> {
        let Reading { asked, pages, left, .. } = self;
        while *left > 0 {
            // Of a host that is full others are passed over.
            let wanted = if asked.due.per_host == usize::MAX { *left } else { usize::MAX };
            let next = match pages {
                InOrder::ByRows(pages) => pages.next(asked, wanted)?,
                InOrder::ByScan(pages) => pages.next(asked, wanted)?,
            };
            let Some((url, head)) = next else { return Ok(None) };
            if has_room(&mut self.hosts, &url, asked.due.per_host) {
                *left -= 1;
                return page(asked, &url, &head, &mut self.worked).map(Some);
            }
        }
        Ok(None)
    }
}

/// Whether a page is among so many of its host, of which it is counted.
fn has_room(hosts: &mut HashMap<Vec<u8>, usize>, url: &str, per_host: usize) -> bool {
    if per_host == usize::MAX {
        return true;
    }
    let mut host = Vec::new();
    surt::host(url, &mut host);
    let of_host = hosts.entry(host).or_default();
    let room = *of_host < per_host;
    *of_host += usize::from(room);
    room
}

/// A page as it is returned.
fn page(asked: &Asked, url: &str, head: &Head, worked: &mut Worked) -> Result<DuePage> {
    let Asked { snapshot, scorer, .. } = asked;
    let row = Row::new(Some(head), 0, host_slot(url, snapshot.view.seed));
    let value = scorer.value(&row, &head.recent(), worked)?;
    let rate = scorer.belief(row.code, worked).rate();
    let page = Page::new(url, head, &snapshot.view.epochs);
    Ok(DuePage { page, value, rate, weight: row.weight() })
}
