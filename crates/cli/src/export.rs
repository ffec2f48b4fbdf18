//! `export`: everything that was observed, for `ingest` or for other programs.

use std::collections::BTreeSet;

use clap::Args;
use serde_json::{Map, Value};
use simkeep::{Content, Entry, Epoch, EpochInfo, Error, Restated, Role, Seen, Snapshot, Visit};

use super::exit::{Exit, Failure};
use super::output::Output;
use super::{Common, visit};

/// Print every observation as a line of JSON
///
/// Pages are in the order of the reversed host name (SURT), visits in order of time. `simkeep
/// ingest` and `load` read it back. The output depends only on what was observed.
#[derive(Args)]
#[command(after_long_help = "Examples:
  simkeep export > crawl.jsonl
  simkeep export | simkeep ingest - --store copy.simkeep

Keys, in this order, absent where there is nothing to say:
  url
  t            RFC 3339 in UTC, with milliseconds if they are not zero
  fingerprint  16 hexadecimal digits; null for content that has none
  digest       32 hexadecimal digits: of what came (see `simkeep ingest --help`), or as it was given
  epoch        the name of what made the fingerprint
  status       the HTTP status
  modified     when the page was last modified, as the server said (Last-Modified)
  weight       how important the page is from this time on, 1 if that was never said; a line with
               this alone is no visit
  seen         \"not-modified\", \"gone\" or \"failed\"; without it, content was; \"restated\": the content
               of this time and digest has this fingerprint, or none, in another epoch

The first lines are of the epochs that there is content of, the oldest first: the name of each as
\"epoch\", its \"role\" if that is not both, and its bands, \"minor\" and \"moderate\". By these lines
`ingest` and `load` know a whole export, and take its epochs into a new store.")]
pub(super) struct Export {}

impl Export {
    pub(super) fn run(self, common: &Common, output: &mut Output) -> Result<Exit, Failure> {
        let snapshot = common.read()?.snapshot();
        let names = ByName::new(snapshot.epochs());
        // Their order matters: what is of the newest is in force.
        for info in used(&snapshot)? {
            output.object(&described(info).into())?;
        }
        for page in snapshot.scan(None) {
            let url = page?.url;
            let history = snapshot.history(&url)?;
            let entries = history.iter().map(|entry| names.renumber(entry.entry()));
            let mut entries: Vec<Entry> = entries.collect::<simkeep::Result<_>>()?;
            entries.sort_unstable();
            // A page that was not visited yet is not weighed, so what weighs it comes behind a visit.
            let first = entries.iter().position(Entry::is_visit);
            if let Some(front) = first.and_then(|first| entries.get_mut(..=first)) {
                front.rotate_right(1);
            }
            for entry in entries {
                output.object(&visit::object(&url, &entry, &names.sorted)?.into())?;
            }
        }
        Ok(Exit::Done)
    }
}

/// An epoch by its name and terms.
fn described(info: &EpochInfo) -> Map<String, Value> {
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
    put("epoch", info.name.as_str().into());
    if info.role != Role::Both {
        put("role", info.role.to_string().into());
    }
    put("minor", info.bands.minor.into());
    put("moderate", info.bands.moderate.into());
    object
}

/// The epochs that have ended, and those that there is content of.
fn used(snapshot: &Snapshot) -> simkeep::Result<Vec<&EpochInfo>> {
    let epochs = snapshot.epochs().iter();
    let empty = |info: &&EpochInfo| !info.ended && snapshot.fingerprints(info.epoch) == 0;
    let mut unused: BTreeSet<Epoch> = epochs.filter(empty).map(|info| info.epoch).collect();
    // All of an epoch's contents may be such as have no fingerprint.
    let mut observations = snapshot.observations();
    while !unused.is_empty()
        && let Some(observation) = observations.next()
    {
        if let Some(content) = observation?.1.content() {
            unused.remove(&content.epoch);
        }
    }
    Ok(snapshot.epochs().iter().filter(|info| !unused.contains(&info.epoch)).collect())
}

/// Epochs numbered in the order of their names: visits that differ in nothing but their epoch stand in
/// the order of its number.
struct ByName {
    sorted: Vec<EpochInfo>,
    /// The place among those of each epoch, by its number in the store.
    places: Vec<u32>,
}

impl ByName {
    fn new(epochs: &[EpochInfo]) -> ByName {
        let mut sorted = epochs.to_vec();
        sorted.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        let place = |info: &EpochInfo| sorted.partition_point(|other| other.name < info.name);
        let places = epochs.iter().map(|info| u32::try_from(place(info)).unwrap_or(u32::MAX));
        let places = places.collect();
        for (number, info) in (0..).zip(&mut sorted) {
            info.epoch = Epoch::from_number(number);
        }
        ByName { sorted, places }
    }

    fn renumber(&self, mut entry: Entry) -> simkeep::Result<Entry> {
        if let Entry::Visit(Visit { seen: Seen::Content(Content { epoch, .. }), .. })
        | Entry::Restated(Restated { epoch, .. }) = &mut entry
        {
            let place = self.places.get(epoch.count() as usize);
            *epoch = Epoch::from_number(*place.ok_or(Error::UnknownEpoch(epoch.number()))?);
        }
        Ok(entry)
    }
}

#[cfg(test)]
mod tests {
    use simkeep::{Options, Store};

    use super::*;

    #[test]
    fn visits_of_two_epochs_stand_in_the_order_of_the_names() {
        let dir = tempfile::tempdir().unwrap();
        let options = Options::default().epoch("b".into());
        let store = Store::create(dir.path().join("store"), options).unwrap();
        let b = store.change_epoch();
        let [c, a] = ["c", "a"].map(|name| store.register_epoch(name, Role::Both).unwrap());
        let names = ByName::new(store.snapshot().epochs());
        let sorted: Vec<_> = names.sorted.iter().map(|info| info.name.as_str()).collect();
        assert_eq!(sorted, ["a", "b", "c"]);
        let numbers = [b, c, a].map(|epoch| {
            let content = Content { fingerprint: Some(0), digest: None, epoch };
            let visit =
                Visit { time: 0, seen: Seen::Content(content), status: None, modified: None };
            names.renumber(visit.into()).unwrap().content().map(|c| c.epoch.number())
        });
        assert_eq!(numbers, [Some(1), Some(2), Some(0)]);
    }
}
