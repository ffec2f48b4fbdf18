//! `forget`: the one verb that takes away.

use clap::{ArgGroup, Args};
use serde_json::json;
use simkeep::{Options, Prefix, Scope, Store};

use super::Common;
use super::exit::{Exit, Failure, say};
use super::gauge::watched;
use super::output::Output;
use super::words::many;
use simkeep_archive::escape;

/// Forget everything known of a page, or of all pages under a prefix
///
/// It disappears from every answer at once. Its bytes leave the files as these are merged; --purge
/// rewrites the files now. Later observations start a new history.
#[derive(Args)]
#[command(group(ArgGroup::new("what").required(true).args(["url", "prefix"])))]
#[command(after_long_help = "Examples:
  simkeep forget https://example.com/private
  simkeep forget --prefix example.com           the domain with all its subdomains
  simkeep forget --prefix example.com/ --purge  that host only, from the files too

Exits with 1 if there was nothing to forget; with --purge that is no failure, since what was
forgotten before is purged as well.")]
pub(super) struct Forget {
    /// The page: its URL, byte by byte as it was observed
    url: Option<String>,
    /// All pages under this: a domain, a host, a path, a SURT prefix
    #[arg(long, value_name = "PREFIX")]
    prefix: Option<Prefix>,
    /// Rewrite the files now, so that none of them contains the URLs
    #[arg(long)]
    purge: bool,
    #[command(flatten)]
    common: Common,
}

impl Forget {
    pub(super) fn run(self, output: &mut Output) -> Result<Exit, Failure> {
        let (scope, name) = match (&self.url, self.prefix) {
            (_, Some(prefix)) => (Scope::Prefix(prefix.clone()), prefix.to_string()),
            (Some(url), None) => (Scope::Url(url), url.clone()),
            (None, None) => return Err(Failure::Usage("name a URL or a --prefix".into())),
        };
        let store = Store::open(&self.common.store, Options::default())?;
        let forgotten = match self.purge {
            true => watched(|progress| store.purge(scope, progress))?,
            false => store.forget(scope)?,
        };
        store.close()?;
        if self.common.json {
            output.object(&json!({
                "pages": forgotten.pages,
                "visits": forgotten.visits,
                "purged": self.purge,
            }))?;
        } else if forgotten.pages > 0 {
            output.line(&format!(
                "forgot {} with {}{}",
                many(forgotten.pages, "page", "pages"),
                many(forgotten.visits, "visit", "visits"),
                if self.purge { ", in every file" } else { "" },
            ))?;
        } else if self.purge {
            let name = escape::whole(&name);
            output.line(&format!("nothing was known of {name}, and now it stands in no file"))?;
        }
        if forgotten.pages > 0 || self.purge {
            return Ok(Exit::Done);
        }
        say(&format!("nothing is known of {name}"));
        Ok(Exit::Nothing)
    }
}
