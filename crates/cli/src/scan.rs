//! `scan`: the pages of a store, neighbours of a site together.

use clap::Args;
use serde_json::{Value, json};
use simkeep::{EpochInfo, Page, Prefix};

use super::exit::{Exit, Failure, say};
use super::output::Output;
use super::table::{Table, left, right};
use super::time::Clock;
use super::{Common, time, visit, words};
use simkeep_archive::escape;

/// List pages, all of a site together
///
/// One line per page, in the order of the reversed host name (SURT): the time of the last visit, the
/// fingerprint of the content in force (or "gone", or "no content" if none was ever seen), the number of
/// visits, the URL.
#[derive(Args)]
#[command(after_long_help = "Examples:
  simkeep scan
  simkeep scan example.com          the domain with all its subdomains
  simkeep scan example.com/         that host only
  simkeep scan example.com/docs     what is at or below /docs, not /docs-old
  simkeep scan file:///home/x       a folder

Exits with 1 if there is no such page.")]
pub(super) struct Scan {
    /// Only pages under this: a domain, a host, a path, a SURT prefix
    prefix: Option<Prefix>,
}

impl Scan {
    pub(super) fn run(self, common: &Common, output: &mut Output) -> Result<Exit, Failure> {
        let store = common.read()?.snapshot();
        let clock = common.clock();
        let columns = [left(clock.heading("last visit")), left("fingerprint"), right("visits")];
        let mut table = Table::new(columns.into_iter().chain([left("URL")]));
        let mut any = false;
        for page in store.scan(self.prefix.as_ref()) {
            let page = page?;
            any = true;
            if common.json {
                output.object(&object(&page, store.epochs())?)?;
            } else {
                table.row(row(&page, &clock), output)?;
            }
        }
        table.end(output)?;
        if any {
            return Ok(Exit::Done);
        }
        say(&match &self.prefix {
            Some(prefix) => format!("no page is known under {prefix}"),
            None => "the store is empty".into(),
        });
        Ok(Exit::Nothing)
    }
}

fn row(page: &Page, clock: &Clock) -> [String; 4] {
    let none = match page.content {
        Some(_) => "no fingerprint",
        None if page.gone => "gone",
        None => "no content",
    };
    let fingerprint = page.content.and_then(|content| content.fingerprint);
    [
        clock.show(page.last.time),
        fingerprint.map_or_else(|| none.to_owned(), visit::fingerprint),
        words::count(page.visits),
        escape::whole(&page.url),
    ]
}

fn object(page: &Page, epochs: &[EpochInfo]) -> simkeep::Result<Value> {
    let mut object = json!({
        "url": page.url,
        "visits": page.visits,
        "first": time::format(page.first),
        "last": time::format(page.last.time),
        "last_seen": visit::seen(&page.last.seen).unwrap_or("content"),
        "gone": page.gone,
        "weight": visit::weight(page.weight),
    });
    if let (Some(content), Some(keys)) = (page.content, object.as_object_mut()) {
        let mut put = |key: &str, value: Value| keys.insert(key.to_owned(), value);
        put("fingerprint", content.fingerprint.map(visit::fingerprint).into());
        if let Some(digest) = content.digest {
            put("digest", digest.to_string().into());
        }
        put("epoch", visit::epoch(epochs, content.epoch)?.into());
        if let Some(seen) = page.content_seen {
            put("content_seen", time::format(seen).into());
        }
        if let Some(modified) = page.modified {
            put("modified", time::format(modified).into());
        }
    }
    Ok(object)
}
