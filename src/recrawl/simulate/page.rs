//! What a simulation asks of a page.

use crate::recrawl::error::Result;
use crate::recrawl::{Change, Comparison, Halves, Likelihood, Recent, irregular};

/// A page of a simulation: what happens to it, and what a crawler learns of that.
///
/// Its versions have numbers, from 0 on, in the order in which they are in force. Two of them may be
/// equal, if the page returns to an earlier one.
pub trait Page: Sync {
    /// What a crawler keeps of its visits.
    type Notes: Notes;

    /// The host that it is of. Only whether two are equal matters.
    fn host(&self) -> u32;

    /// The rate at which it changes, if that is known.
    fn per_day(&self) -> Option<f64>;

    /// The day from which each version is in force, in ascending order. The last one is so to the end.
    /// On the first of these days a crawler finds the page, and visits it: that is not of its budget.
    fn starts(&self) -> &[f64];

    /// How a version that a crawler has seen differs from one that is in force.
    fn difference(&self, held: usize, now: usize) -> Difference;

    /// How many changes there were up to a version, of those that a crawler should not miss.
    fn changes(&self, version: usize) -> u64;

    /// Notes down the first visit.
    fn found(&self, day: f64, version: usize) -> Self::Notes;

    /// Notes down a visit after others.
    ///
    /// # Errors
    ///
    /// As its implementation says.
    fn visited(&self, notes: &mut Self::Notes, day: f64, version: usize) -> Result<()>;
}

/// How two versions of a page differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Whether they are the same content.
    pub same: bool,
    /// Whether the difference is none or minor.
    pub near: bool,
    /// The share of 64 bits in which their fingerprints differ.
    pub divergence: f64,
}

/// What a crawler keeps of its visits to a page, to decide on the next one.
pub trait Notes: Send {
    /// How many comparisons there were.
    fn comparisons(&self) -> u64;

    /// How likely each rate makes them.
    fn likelihood(&self) -> Likelihood;

    /// The last of them in their order.
    fn recent(&self) -> Recent;

    /// The rate by [`irregular`](crate::recrawl::irregular) with both halves.
    ///
    /// # Errors
    ///
    /// As that has.
    fn estimate(&self) -> Result<f64>;
}

/// All comparisons of a page, as they are.
#[derive(Clone, Debug)]
pub struct Comparisons {
    last_day: f64,
    held: usize,
    all: Vec<Comparison>,
    likelihood: Likelihood,
    recent: Recent,
}

impl Comparisons {
    /// The page is found.
    pub(super) fn new(day: f64, version: usize) -> Comparisons {
        let (likelihood, recent) = (Likelihood::flat(), Recent::default());
        Comparisons { last_day: day, held: version, all: Vec::new(), likelihood, recent }
    }

    /// A visit finds a version. Visits at one time are no comparison.
    pub(super) fn add(&mut self, day: f64, version: usize) -> Result<()> {
        if day > self.last_day {
            let change = if version == self.held { Change::None } else { Change::Undated };
            let comparison = Comparison::new(day - self.last_day, change)?;
            self.likelihood.add(comparison, 1.0)?;
            self.recent.push(comparison);
            self.all.push(comparison);
        }
        (self.last_day, self.held) = (day, version);
        Ok(())
    }
}

impl Notes for Comparisons {
    fn comparisons(&self) -> u64 {
        self.all.len() as u64
    }

    fn likelihood(&self) -> Likelihood {
        self.likelihood.clone()
    }

    fn recent(&self) -> Recent {
        self.recent
    }

    fn estimate(&self) -> Result<f64> {
        irregular(&self.all, Halves::Both)
    }
}
