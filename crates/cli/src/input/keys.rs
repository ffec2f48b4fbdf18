//! Options that name the keys of other JSON formats.

use clap::Args;
use simkeep_formats::{DocumentKeys, KeyPath};

use crate::time;

/// The keys of texts in other JSON formats.
#[derive(Args, Clone)]
pub(crate) struct InputKeyArgs {
    /// Key that has the URL or name, such as metadata.id [default: url]
    #[arg(long, value_name = "KEY", help_heading = HEADING)]
    url_key: Option<KeyPath>,
    /// Key that has the text [default: text]
    #[arg(long, value_name = "KEY", help_heading = HEADING)]
    text_key: Option<KeyPath>,
    /// Key that has the time [default: t]
    #[arg(long, value_name = "KEY", help_heading = HEADING)]
    time_key: Option<KeyPath>,
    /// Time of texts without a time
    #[arg(long, value_name = "TIME", value_parser = time::parse, allow_hyphen_values = true)]
    #[arg(help_heading = HEADING)]
    at: Option<simkeep::Time>,
}

const HEADING: &str = "JSON lines and tables with other keys";

impl InputKeyArgs {
    /// The keys, if any option was given.
    pub(crate) fn keys(&self) -> Option<DocumentKeys> {
        let InputKeyArgs { url_key, text_key, time_key, at } = self;
        let is_said = at.is_some() || [url_key, text_key, time_key].iter().any(|key| key.is_some());
        let mut keys = DocumentKeys::default();
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
