//! `history`: the visits of a page, and what each meant.

use clap::Args;
use serde_json::Value;
use simkeep::{EpochInfo, HistoryEntry, SameBy, Snapshot, Verdict};

use super::exit::{Exit, Failure, say};
use super::output::Output;
use super::{Common, spelling, time, visit, words};
use simkeep_archive::escape;

/// Print all visits of a page, and what each meant after those before it
///
/// One line per visit: time, HTTP status, fingerprint (- for content that has none, such as a text
/// too short to tell from others), digest, and the verdict: new, same (and how that is known), changed
/// by a number of bits and about how much that is, reverted to an earlier version, gone, failed, or not
/// modified though no content was ever seen. Fingerprints restated in another epoch follow their visit.
/// If the store has several epochs, a line ends with that of its fingerprint. A visit with which the
/// server said when the page was modified tells it, and weights have lines of their own.
#[derive(Args)]
#[command(after_long_help = "Examples:
  simkeep history https://example.com/terms
  simkeep history https://example.com/terms --as-of 2024-05-01
  simkeep history https://example.com/terms --json

With --json, a line has the keys that `simkeep export` writes, and \"verdict\"; with it \"by\" for the
same (digest, fingerprint or word), and for a change of what has no fingerprint (digest); \"distance\" in bits where it is known, with its \"band\" (none,
minor, moderate or major) and \"changed\", from what share of the words to what share that means; and
\"to\", the time of the version that a page reverted to.

Of a text of fewer than 100 words a distance means little.

Exits with 1 if the page is not known, or had no version in force at the time asked for.")]
pub(super) struct History {
    /// The page: its URL, byte by byte as it was observed
    url: String,
    /// Print only the visit that found the version in force at this time: 2024-05-01 (its first moment
    /// in UTC), '2024-05-01 12:00', '3d ago', yesterday, RFC 3339, or seconds since 1970
    #[arg(long, value_name = "TIME", value_parser = time::parse, allow_hyphen_values = true)]
    as_of: Option<i64>,
}

/// What an entry meant.
fn told(entry: &HistoryEntry) -> String {
    match entry {
        HistoryEntry::Visit { verdict, meaning: Some(meaning), .. } => {
            format!("{verdict}: {meaning}")
        }
        HistoryEntry::Visit { verdict: Verdict::Changed { .. }, .. } if is_by_digest(entry) => {
            "changed (digest; it has no fingerprint)".to_owned()
        }
        HistoryEntry::Visit { verdict, meaning: None, .. } => verdict.to_string(),
        HistoryEntry::Restated(_) => "restated in another epoch".to_owned(),
        HistoryEntry::Weighed(weighed) => format!("weight {}", weighed.weight),
    }
}

/// Whether what an entry meant goes by its digest alone, for want of a fingerprint.
fn is_by_digest(entry: &HistoryEntry) -> bool {
    let content = entry.entry().content();
    content.is_some_and(|content| content.fingerprint.is_none() && content.digest.is_some())
}

impl History {
    pub(super) fn run(self, common: &Common, output: &mut Output) -> Result<Exit, Failure> {
        let store = common.read()?.snapshot();
        match self.as_of {
            Some(time) => self.version(&store, time, common.json, output),
            None => self.visits(&store, common.json, output),
        }
    }

    fn visits(&self, store: &Snapshot, json: bool, output: &mut Output) -> Result<Exit, Failure> {
        let history = store.history(&self.url)?;
        if history.is_empty() {
            say(&spelling::unknown(store, &self.url)?);
            return Ok(Exit::Nothing);
        }
        let epochs = store.epochs();
        for entry in &history {
            if json {
                output.object(&self.object(entry, epochs)?)?;
            } else {
                let of = entry.entry().content().filter(|_| epochs.len() > 1);
                let of = of.map(|content| visit::epoch(epochs, content.epoch)).transpose()?;
                let of = of.map(|name| format!("  [{}]", escape::whole(name))).unwrap_or_default();
                let modified = entry.visit().and_then(|(visit, _)| visit.modified);
                let modified = modified.map(|ms| format!("; modified {}", time::format(ms)));
                let modified = modified.unwrap_or_default();
                let row = visit::row(&entry.entry());
                output.line(&format!("{row}  {}{modified}{of}", told(entry)))?;
            }
        }
        Ok(Exit::Done)
    }

    fn object(&self, entry: &HistoryEntry, epochs: &[EpochInfo]) -> simkeep::Result<Value> {
        let mut object = visit::object(&self.url, &entry.entry(), epochs)?;
        let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
        let Some((_, verdict)) = entry.visit() else {
            return Ok(object.into());
        };
        put("verdict", words::verdict_key(verdict).into());
        match verdict {
            Verdict::Same(by) => {
                put("by", words::same_by_key(by).into());
            }
            Verdict::Reverted { to, .. } => {
                put("to", time::format(to).into());
            }
            Verdict::Changed { .. } if is_by_digest(entry) => {
                put("by", words::same_by_key(SameBy::Digest).into());
            }
            _ => {}
        }
        if let HistoryEntry::Visit { meaning: Some(meaning), .. } = entry {
            put("distance", meaning.distance.into());
            put("band", meaning.band.name().into());
            put("changed", words::changed(meaning));
        }
        Ok(object.into())
    }

    fn version(
        &self,
        store: &Snapshot,
        time: i64,
        json: bool,
        output: &mut Output,
    ) -> Result<Exit, Failure> {
        let Some(found) = store.as_of(&self.url, time)? else {
            let when = time::format(time);
            say(&format!(
                "{} had no version in force at {when}: not known then, or gone",
                self.url
            ));
            return Ok(Exit::Nothing);
        };
        if json {
            output.object(&visit::object(&self.url, &found.into(), store.epochs())?.into())?;
        } else {
            output.line(&visit::row(&found.into()))?;
        }
        Ok(Exit::Done)
    }
}
