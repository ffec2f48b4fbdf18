//! The interface of a simulated page.

use crate::recrawl::error::Result;
use crate::recrawl::{
    Change, Comparison, HALVED_AT, Likelihood, Pseudocounts, RecentComparisons, irregular,
};

/// A page of a simulation: its versions over time, and the notes of a crawler about visits to the
/// page.
///
/// Versions are numbered from 0 in chronological order. Two versions may be equal, if the page
/// returns to an earlier version.
///
/// ```
/// use simkeep::recrawl::simulate::{ChangeProcess, Notes, Rates, SimulatedPage};
/// # fn main() -> simkeep::Result<()> {
/// let page = &Rates::Flat { pages: 1 }.draw(ChangeProcess::Constant, 1, 100.0)?[0];
/// // A crawler discovers the page on day 0, and visits it on day 50.
/// let now = page.starts().iter().filter(|start| **start <= 50.0).count() - 1;
/// let mut notes = page.found(0.0, 0);
/// page.visited(&mut notes, 50.0, now)?;
/// assert_eq!(notes.comparisons(), 1);
/// assert_eq!(page.difference(0, now).same, now == 0);
/// # Ok(())
/// # }
/// ```
pub trait SimulatedPage: Sync {
    /// A crawler's notes about its visits.
    type VisitNotes: Notes;

    /// Returns the number of the page's host. Only the equality of hosts matters.
    fn host(&self) -> u32;

    /// Returns the change rate, if known.
    fn per_day(&self) -> Option<f64>;

    /// Returns the day from which each version is current, in ascending order. The last version is
    /// current to the end. On the first day of the list a crawler discovers and visits the page,
    /// without using its budget.
    fn starts(&self) -> &[f64];

    /// Compares the version that a crawler saw with the current version.
    fn difference(&self, held: usize, now: usize) -> VersionDifference;

    /// Returns the number of relevant changes up to a version.
    fn changes(&self, version: usize) -> u64;

    /// Notes the first visit.
    fn found(&self, day: f64, version: usize) -> Self::VisitNotes;

    /// Notes a later visit.
    ///
    /// # Errors
    ///
    /// Defined by the implementation of the page.
    fn visited(&self, notes: &mut Self::VisitNotes, day: f64, version: usize) -> Result<()>;
}

/// The difference between two versions of a page.
///
/// ```
/// use simkeep::recrawl::simulate::{ChangeProcess, Rates, SimulatedPage};
/// # fn main() -> simkeep::Result<()> {
/// let pages = Rates::Flat { pages: 20 }.draw(ChangeProcess::Constant, 1, 1_000.0)?;
/// let page = pages.iter().find(|page| page.starts().len() > 1).unwrap();
/// assert!(page.difference(0, 0).same);
/// let difference = page.difference(0, 1); // between two unrelated contents
/// assert_eq!((difference.same, difference.near, difference.divergence), (false, false, 0.5));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VersionDifference {
    /// Whether the contents of the two versions are the same.
    pub same: bool,
    /// Whether there is at most a minor difference.
    pub near: bool,
    /// The fraction of 64 bits in which the fingerprints of the two versions differ.
    pub divergence: f64,
}

/// A crawler's notes about its visits to a page. The notes are the input of the decision about the
/// next visit.
///
/// ```
/// use simkeep::recrawl::simulate::{ChangeProcess, Notes, Rates, SimulatedPage};
/// # fn main() -> simkeep::Result<()> {
/// let page = &Rates::Flat { pages: 1 }.draw(ChangeProcess::Constant, 1, 100.0)?[0];
/// let mut notes = page.found(0.0, 0);
/// page.visited(&mut notes, 10.0, 0)?; // finds the same version again
/// assert!(notes.recent().changes().eq([false]));
/// assert!(notes.estimate()? > 0.0);
/// # Ok(())
/// # }
/// ```
pub trait Notes: Send {
    /// Returns the number of comparisons.
    fn comparisons(&self) -> u64;

    /// Returns the likelihood of each rate.
    fn likelihood(&self) -> Likelihood;

    /// Returns the last comparisons in order.
    fn recent(&self) -> RecentComparisons;

    /// Estimates the rate by [`irregular`](crate::recrawl::irregular) with both halves.
    ///
    /// # Errors
    ///
    /// The errors of [`irregular`](crate::recrawl::irregular).
    fn estimate(&self) -> Result<f64>;
}

/// All comparisons of a page.
///
/// ```
/// use simkeep::recrawl::simulate::{ChangeProcess, Comparisons, Notes, Rates, SimulatedPage};
/// # fn main() -> simkeep::Result<()> {
/// let page = &Rates::Flat { pages: 1 }.draw(ChangeProcess::Constant, 1, 100.0)?[0];
/// let mut notes: Comparisons = page.found(0.0, 0);
/// for day in [10.0, 20.0] {
///     page.visited(&mut notes, day, 0)?;
/// }
/// assert_eq!((notes.comparisons(), notes.recent().quiet_days()), (2, 20.0));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Comparisons {
    last_day: f64,
    held: usize,
    all: Vec<Comparison>,
    likelihood: Likelihood,
    recent: RecentComparisons,
    /// The number of comparisons in the likelihood. Halving counts half of them.
    counted: u32,
}

impl Comparisons {
    /// Starts with the discovery of the page.
    pub(super) fn new(day: f64, version: usize) -> Comparisons {
        let (likelihood, recent) = (Likelihood::flat(), RecentComparisons::default());
        Comparisons {
            last_day: day,
            held: version,
            all: Vec::new(),
            likelihood,
            recent,
            counted: 0,
        }
    }

    /// Adds a visit that finds a version. Visits at the same time make no comparison.
    pub(super) fn add(&mut self, day: f64, version: usize) -> Result<()> {
        if day > self.last_day {
            let change = if version == self.held { Change::None } else { Change::Undated };
            let comparison = Comparison::new(day - self.last_day, change)?;
            self.likelihood.add(comparison, 1.0)?;
            self.recent.push(comparison);
            self.all.push(comparison);
            self.counted += 1;
            // As a store does, so that a page that begins to behave differently is recognized.
            if self.counted == HALVED_AT {
                self.counted /= 2;
                self.likelihood.halve();
            }
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

    fn recent(&self) -> RecentComparisons {
        self.recent
    }

    fn estimate(&self) -> Result<f64> {
        irregular(&self.all, Pseudocounts::Both)
    }
}
