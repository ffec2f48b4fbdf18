//! Messages about the input. The first ones are printed, the rest are counted.

use crate::output::words::count;
use simkeep_formats::BrokenRecord;

/// The maximum number of messages to print.
const NAMED: u64 = 20;

/// Messages of one kind.
pub(crate) struct ComplaintLog {
    /// The consequence, for each message.
    consequence: &'static str,
    /// The text after the number of messages that were not printed.
    more: &'static str,
    count: u64,
}

impl ComplaintLog {
    /// Broken records, which are skipped.
    pub(crate) fn broken() -> ComplaintLog {
        ComplaintLog { consequence: "skipped", more: "broken records were skipped", count: 0 }
    }

    /// Broken documents, which are kept when a corpus is copied.
    pub(crate) fn kept() -> ComplaintLog {
        ComplaintLog {
            consequence: "copied unchanged",
            more: "broken documents were copied unchanged",
            count: 0,
        }
    }

    /// Digests that do not match their content.
    pub(crate) fn wrong() -> ComplaintLog {
        ComplaintLog {
            consequence: "the computed digest is used",
            more: "digests were wrong",
            count: 0,
        }
    }

    /// The number of messages, printed or not.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Counts a message. Returns its text, unless the limit is reached.
    pub(crate) fn add(&mut self, BrokenRecord { at, why }: &BrokenRecord) -> Option<String> {
        self.count += 1;
        (self.count <= NAMED).then(|| format!("{at}: {why}; {}", self.consequence))
    }

    /// The closing message with the number of messages that were not printed, if any.
    pub(crate) fn suppressed_message(&self) -> Option<String> {
        let unnamed = self.count.checked_sub(NAMED).filter(|unnamed| *unnamed > 0)?;
        Some(format!("{} more {}", count(unnamed), self.more))
    }
}
