//! Pages that are due, the best first.

use std::fmt;

use super::by_rows::ByRows;
use super::by_scan::ByScan;
use super::decide::Asked;
use super::decision::Decision;
use super::hosts::Hosts;
use super::options::Due;
use super::worked::Worked;
use crate::error::{Error, Result};
use crate::store::snapshot::Snapshot;

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

    fn find(&mut self) -> Result<Option<Decision>> {
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
    type Item = Result<Decision>;

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
        let by_order = due.is_by_order();
        let bounded = due.per_host != usize::MAX
            || due.rules.all().iter().any(|rule| rule.per_host.is_some());
        let left = due.budget;
        let asked = Asked::new(snapshot, due)?;
        let pages = if by_order {
            InOrder::ByScan(ByScan::default())
        } else {
            InOrder::ByRows(ByRows::new(&asked)?)
        };
        let (worked, hosts) = (Worked::default(), Hosts::default());
        Ok(Reading { asked, pages, worked, left, bounded, hosts })
    }

    fn next(&mut self) -> Result<Option<Decision>> {
        let Reading { asked, pages, left, bounded, .. } = self;
        while *left > 0 {
            // Of a host that is full others are passed over.
            let wanted = if *bounded { usize::MAX } else { *left };
            let next = match pages {
                InOrder::ByRows(pages) => pages.next(asked, wanted)?,
                InOrder::ByScan(pages) => pages.next(asked, wanted)?,
            };
            let Some(url) = next else { return Ok(None) };
            let rule = asked.due.rules.number_of(&url);
            if self.hosts.have_room(&url, rule, &asked.due) {
                *left -= 1;
                let decision = asked.decide(&url, &mut self.worked)?;
                let unknown = || {
                    let what = format!("a row says that {url} is known");
                    Error::corrupt("segments", 0, what)
                };
                return decision.ok_or_else(unknown).map(Some);
            }
        }
        Ok(None)
    }
}
