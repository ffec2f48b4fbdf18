//! The minwise hash of a document, without features that too many documents have.

use super::frequencies::{Frequencies, look_up};
use super::minwise::Minwise;
use super::ratio::Ratio;
use super::recipe::Recipe;
use crate::bug::OrBug;
use crate::fingerprint::error::{FingerprintError, Result};

/// The number of features that are looked up together.
const LOOKED_UP: usize = 1024;

/// Computes the minwise hashes of documents, one after another.
#[derive(Clone, Debug)]
pub(super) struct MinwiseBuilder {
    /// The minimum share of documents for a feature to be left out.
    leave_out: Option<Ratio>,
    pub(super) minwise: Minwise,
    /// Queued features that would change the hash unless too many documents have them.
    waiting: Vec<u64>,
    frequencies: Vec<u64>,
    /// Whether looking up queued features failed, so that the text has no fingerprint.
    has_failed: bool,
}

impl MinwiseBuilder {
    pub(super) fn new(recipe: &Recipe) -> MinwiseBuilder {
        MinwiseBuilder {
            leave_out: recipe.leave_out,
            minwise: Minwise::with_seed(recipe.seed),
            waiting: Vec::new(),
            frequencies: Vec::new(),
            has_failed: false,
        }
    }

    /// Adds the next features.
    #[inline]
    pub(super) fn add(&mut self, features: &[u64], table: Option<&dyn Frequencies>) {
        if self.leave_out.is_none() {
            features.iter().for_each(|feature| self.minwise.add(*feature));
            return;
        }
        if self.has_failed {
            return;
        }
        let wanted = features.iter().copied().filter(|feature| self.minwise.wants(*feature));
        self.waiting.extend(wanted);
        if self.waiting.len() >= LOOKED_UP {
            self.has_failed = self.take_waiting(table).is_err();
        }
    }

    /// Processes the rest of a text.
    pub(super) fn complete(&mut self, table: Option<&dyn Frequencies>) -> Result<()> {
        // A look-up that failed before fails again here and returns its error.
        self.take_waiting(table)?;
        if self.has_failed {
            let what = "the table of document frequencies failed, and worked at the next attempt; make \
                 the fingerprint again";
            return Err(FingerprintError::Invalid(what.to_owned()));
        }
        Ok(())
    }

    /// Looks up the queued features, and adds the features that the recipe does not leave out.
    fn take_waiting(&mut self, table: Option<&dyn Frequencies>) -> Result<()> {
        let MinwiseBuilder { leave_out, minwise, waiting, frequencies, .. } = self;
        // Without a share, no feature is queued.
        let Some(share) = *leave_out else { return Ok(()) };
        let table = table.or_bug("a recipe that leaves features out has a table")?;
        look_up(table, waiting, frequencies)?;
        let documents = table.documents();
        for (feature, documents_with) in waiting.drain(..).zip(&*frequencies) {
            if !share.is_reached(*documents_with, documents) {
                minwise.add(feature);
            }
        }
        Ok(())
    }

    /// Returns the fingerprint, and resets.
    pub(super) fn finish(&mut self) -> u64 {
        self.waiting.clear();
        self.has_failed = false;
        self.minwise.finish()
    }
}
