//! `export`: everything that was observed, for `ingest` or for other programs.

use clap::Args;
use simkeep::{Epoch, Seen, Visit};

use super::exit::{Exit, Failure};
use super::output::Output;
use super::{Common, visit};

/// Print every observation as a JSON object a line
///
/// Pages in the order of the reversed host name (SURT), visits in order of time. `simkeep ingest`
/// reads it back. The output depends on nothing but what was observed.
#[derive(Args)]
#[command(after_long_help = "Examples:
  simkeep export > crawl.jsonl
  simkeep export | simkeep ingest - --store copy.simkeep

Keys, in this order, absent where there is nothing to say:
  url
  t            RFC 3339 in UTC, with milliseconds if they are not zero
  fingerprint  16 hexadecimal digits
  digest       32 hexadecimal digits
  epoch        the name of what made the fingerprint
  status       the HTTP status
  seen         \"not-modified\", \"gone\" or \"failed\"; without it, content was")]
pub(super) struct Export {
    #[command(flatten)]
    common: Common,
}

impl Export {
    pub(super) fn run(self, output: &mut Output) -> Result<Exit, Failure> {
        let snapshot = self.common.read()?.snapshot();
        let names = ByName::new(snapshot.epochs());
        for page in snapshot.scan(None) {
            let url = page?.url;
            let history = snapshot.history(&url)?;
            let mut visits: Vec<Visit> = history.iter().map(|v| names.renumber(v.visit)).collect();
            visits.sort_unstable();
            for visit in visits {
                output.object(&visit::object(&url, &visit, &names.sorted).into())?;
            }
        }
        Ok(Exit::Done)
    }
}

/// Epochs numbered in the order of their names.
///
/// Visits that differ in nothing but their epoch stand in the order of its number, and a store that
/// is made of an export numbers epochs as they come.
struct ByName {
    sorted: Vec<String>,
    /// The place among those of each epoch, by its number in the store.
    places: Vec<u32>,
}

impl ByName {
    fn new(epochs: &[String]) -> ByName {
        let mut sorted = epochs.to_vec();
        sorted.sort_unstable();
        let places = epochs
            .iter()
            .map(|name| {
                let before = sorted.partition_point(|other| other < name);
                u32::try_from(before).unwrap_or(u32::MAX)
            })
            .collect();
        ByName { sorted, places }
    }

    fn renumber(&self, mut visit: Visit) -> Visit {
        if let Seen::Content(content) = &mut visit.seen {
            let number = usize::try_from(content.epoch.0).unwrap_or(usize::MAX);
            content.epoch = Epoch(self.places.get(number).copied().unwrap_or(u32::MAX));
        }
        visit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visits_of_two_epochs_stand_in_the_order_of_the_names() {
        let names = ByName::new(&["b", "c", "a"].map(String::from));
        assert_eq!(names.sorted, ["a", "b", "c"]);
        let numbers = [0, 1, 2].map(|number| {
            let content = simkeep::Content { fingerprint: 0, digest: None, epoch: Epoch(number) };
            let visit = Visit { time: 0, seen: Seen::Content(content), status: None };
            names.renumber(visit).seen.content().map(|c| c.epoch.0)
        });
        assert_eq!(numbers, [Some(1), Some(2), Some(0)]);
    }
}
