//! The interface of a simulated page.

use crate::recrawl::error::Result;
use crate::recrawl::{Change, Comparison, Halves, Likelihood, Recent, irregular};

/// A page of a simulation: its versions over time, and what a crawler learns from visits.
///
/// Versions are numbered from 0 in chronological order. Two of them may be equal, if the page
/// returns to an earlier one.
pub trait Page: Sync {
    /// A crawler's notes about its visits.
    type Notes: Notes;

    /// Returns the host of the page. Only equality matters.
    fn host(&self) -> u32;

    /// Returns the change rate, if it is known.
    fn per_day(&self) -> Option<f64>;

    /// Returns the day from which each version is current, in ascending order. The last version is
    /// current to the end. On the first of these days a crawler discovers and visits the page,
    /// without using its budget.
    fn starts(&self) -> &[f64];

    /// Compares the version that a crawler saw with the current one.
    fn difference(&self, held: usize, now: usize) -> Difference;

    /// Returns the number of relevant changes up to a version.
    fn changes(&self, version: usize) -> u64;

    /// Notes the first visit.
    fn found(&self, day: f64, version: usize) -> Self::Notes;

    /// Notes a later visit.
    ///
    /// # Errors
    ///
    /// Defined by the implementation.
    fn visited(&self, notes: &mut Self::Notes, day: f64, version: usize) -> Result<()>;
}

/// The difference between two versions of a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Whether their content is the same.
    pub same: bool,
    /// Whether there is no difference or a minor one.
    pub near: bool,
    /// The fraction of 64 bits in which their fingerprints differ.
    pub divergence: f64,
}

/// A crawler's notes about its visits to a page, from which it decides about the next one.
pub trait Notes: Send {
    /// Returns the number of comparisons.
    fn comparisons(&self) -> u64;

    /// Returns the likelihood of each rate.
    fn likelihood(&self) -> Likelihood;

    /// Returns the last comparisons in order.
    fn recent(&self) -> Recent;

    /// Estimates the rate by [`irregular`](crate::recrawl::irregular) with both halves.
    ///
    /// # Errors
    ///
    /// The errors of [`irregular`](crate::recrawl::irregular).
    fn estimate(&self) -> Result<f64>;
}

/// All comparisons of a page.
#[derive(Clone, Debug)]
pub struct Comparisons {
    last_day: f64,
    held: usize,
    all: Vec<Comparison>,
    likelihood: Likelihood,
    recent: Recent,
}

impl Comparisons {
    /// Starts with the discovery of the page.
    pub(super) fn new(day: f64, version: usize) -> Comparisons {
        let (likelihood, recent) = (Likelihood::flat(), Recent::default());
        Comparisons { last_day: day, held: version, all: Vec::new(), likelihood, recent }
    }

    /// Adds a visit that finds a version. Visits at the same time make no comparison.
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
