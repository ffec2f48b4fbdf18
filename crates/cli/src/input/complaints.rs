//! Complaints about the input: the first are named, the rest are counted.

use crate::output::words::count;
use simkeep_formats::Broken;

/// Complaints that are named.
const NAMED: u64 = 20;

/// Complaints of one kind.
pub(crate) struct Named {
    /// What becomes of what is complained about.
    consequence: &'static str,
    /// What there were more of.
    more: &'static str,
    count: u64,
}

impl Named {
    /// Records that cannot be read.
    pub(crate) fn broken() -> Named {
        Named { consequence: "skipped", more: "broken records were skipped", count: 0 }
    }

    /// Documents that cannot be read, of a corpus that is written anew.
    pub(crate) fn kept() -> Named {
        Named { consequence: "kept as it is", more: "broken documents were kept", count: 0 }
    }

    /// Digests that do not match their content.
    pub(crate) fn wrong() -> Named {
        Named { consequence: "its own is used", more: "digests were wrong", count: 0 }
    }

    /// How many there were.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Counts one; what is to be said of it, unless very much has been said.
    pub(crate) fn add(&mut self, Broken { at, why }: &Broken) -> Option<String> {
        self.count += 1;
        (self.count <= NAMED).then(|| format!("{at}: {why}; {}", self.consequence))
    }

    /// What is to be said at the end of those that were not named.
    pub(crate) fn rest(&self) -> Option<String> {
        let unnamed = self.count.checked_sub(NAMED).filter(|unnamed| *unnamed > 0)?;
        Some(format!("{} more {}", count(unnamed), self.more))
    }
}
