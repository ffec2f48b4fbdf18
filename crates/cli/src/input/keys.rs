//! Under which keys others keep texts.

use clap::Args;
use simkeep_formats::{Key, Keys};

use crate::time;

/// Under which keys others keep texts.
#[derive(Args, Clone)]
pub(crate) struct Foreign {
    /// The key of what names a text, in JSON lines that others wrote: "metadata.id" is the "id" within
    /// "metadata" [default: url]
    #[arg(long, value_name = "KEY", help_heading = HEADING)]
    url_key: Option<Key>,
    /// The key of the text [default: text]
    #[arg(long, value_name = "KEY", help_heading = HEADING)]
    text_key: Option<Key>,
    /// The key of the text's time [default: t]
    #[arg(long, value_name = "KEY", help_heading = HEADING)]
    time_key: Option<Key>,
    /// The time of texts that have none
    #[arg(long, value_name = "TIME", value_parser = time::parse, allow_hyphen_values = true)]
    #[arg(help_heading = HEADING)]
    at: Option<simkeep::Time>,
}

const HEADING: &str = "Texts that others keep";

impl Foreign {
    /// The keys, if there was anything said of them.
    pub(crate) fn keys(&self) -> Option<Keys> {
        let Foreign { url_key, text_key, time_key, at } = self;
        let is_said = at.is_some() || [url_key, text_key, time_key].iter().any(|key| key.is_some());
        let mut keys = Keys::default();
        for (key, said) in
            [(&mut keys.url, url_key), (&mut keys.text, text_key), (&mut keys.time, time_key)]
        {
            if let Some(said) = said {
                *key = said.clone();
            }
        }
        keys.at = at.map(simkeep::Time::as_ms);
        is_said.then_some(keys)
    }
}

/// What stands in the long help of the verbs that read them.
macro_rules! help {
    () => {
        "Texts that others keep, each an object with a name and a text, are read where they lie:
  simkeep load corpus.jsonl --url-key id --time-key metadata.date -s c.simkeep

With one of --url-key, --text-key, --time-key and --at, a line of JSON has these three values, and all other
keys are ignored. A name need not be a URL: it is kept as it is, and a whole number in digits. Names of two
corpora may be the same; then one is taken for a later version of the other. Parquet files are read so in any
case: a key is a column, and one within a group is named as in JSON."
    };
}
pub(crate) use help;
