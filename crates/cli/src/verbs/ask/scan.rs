//! `scan`: the pages of a store, grouped by site.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use simkeep::{ETag, EpochInfo, Page, Prefix};

use crate::CommonArgs;
use crate::exit::{Exit, VerbError, print_message};
use crate::output::Output;
use crate::output::json::{Digest, EpochName, Fingerprint, JsonNumber, Seen, Time};
use crate::output::table::{TextTable, left, right};
use crate::output::{visit, words};
use crate::time::TimeFormat;
use simkeep_formats::escape;

/// List pages, grouped by site
///
/// One line per page, in SURT order (by reversed host name): the last visit, the fingerprint of the
/// current content (or "gone", or "no content"), the number of visits, and the URL.
#[derive(Args)]
#[command(after_long_help = r#"Examples:
  simkeep scan crawl.simkeep
  simkeep scan crawl.simkeep example.com          the domain and its subdomains
  simkeep scan crawl.simkeep example.com/         that host only
  simkeep scan crawl.simkeep example.com/docs     /docs and below, not /docs-old
  simkeep scan crawl.simkeep file:///home/x       a folder

Exits with 1 if there is no such page."#)]
pub(crate) struct ScanArgs {
    /// Only pages under this prefix, as with --under
    #[arg(conflicts_with = "under")]
    prefix: Option<Prefix>,
    /// Only pages under this prefix: a domain, host or path
    #[arg(long, value_name = "PREFIX")]
    under: Option<Prefix>,
}

impl ScanArgs {
    pub(crate) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        let store = common.read()?.snapshot();
        let clock = common.clock();
        let columns = [left(clock.heading("last visit")), left("fingerprint"), right("visits")];
        let mut table = TextTable::new(columns.into_iter().chain([left("URL")]));
        let mut any = false;
        let prefix = self.prefix.as_ref().or(self.under.as_ref());
        for page in store.scan(prefix) {
            let page = page?;
            any = true;
            if common.json {
                output.object(&ScanLine::new(&page, store.epochs())?)?;
            } else {
                table.row(row(&page, &clock), output)?;
            }
        }
        table.end(output)?;
        if any {
            return Ok(Exit::Done);
        }
        print_message(&match prefix {
            Some(prefix) => format!("no page is known under {prefix}"),
            None => "the store is empty".into(),
        });
        Ok(Exit::Nothing)
    }
}

fn row(page: &Page, clock: &TimeFormat) -> [String; 4] {
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
        escape::escape_untruncated(&page.url),
    ]
}

/// A page.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ScanLine<'a> {
    url: &'a str,
    visits: u64,
    /// The time of its first visit.
    first: Time,
    /// The time of its last visit.
    last: Time,
    /// What the last visit saw.
    seen: Seen,
    /// The number of bytes of the content that the last visit transferred; null if unknown.
    bytes: Option<u64>,
    /// Whether the request of the last visit was conditional.
    conditional: bool,
    is_gone: bool,
    weight: JsonNumber,
    /// The class that was set last; null if none was set.
    class: Option<u32>,
    /// The fingerprint of the current content; null if there is no such content, or it has no
    /// fingerprint.
    fingerprint: Option<Fingerprint>,
    digest: Option<Digest>,
    /// The epoch of the current content; null if there is no current content.
    epoch: Option<EpochName<'a>>,
    /// The time when the current content was last seen; null if there is none.
    content_seen: Option<Time>,
    /// The `Last-Modified` time of that content, as the server reported it; null if unknown.
    modified: Option<Time>,
    /// The entity tag of that content; each byte is a character. Null if unknown.
    etag: Option<String>,
    /// The URL to which that content points: the target of a redirect, or the canonical URL. Null
    /// if it names no other page.
    target: Option<&'a str>,
}

impl ScanLine<'_> {
    pub(crate) fn new<'a>(
        page: &'a Page,
        epochs: &'a [EpochInfo],
    ) -> simkeep::Result<ScanLine<'a>> {
        let content = page.content;
        let epoch = content.map(|content| visit::epoch_of(epochs, &content)).transpose()?.flatten();
        Ok(ScanLine {
            url: &page.url,
            visits: page.visits,
            first: Time(page.first),
            last: Time(page.last.time),
            seen: Seen(page.last.seen),
            bytes: page.last.bytes,
            conditional: page.last.conditional,
            is_gone: page.gone,
            weight: JsonNumber(page.weight.to_f64()),
            class: page.class,
            fingerprint: content.and_then(|content| content.fingerprint).map(Fingerprint),
            digest: content.and_then(|content| content.digest).map(Digest),
            epoch: epoch.map(EpochName),
            content_seen: content.and(page.content_seen).map(Time),
            modified: content.and(page.modified).map(Time),
            etag: page.etag.as_ref().map(ETag::to_latin1),
            target: page.target.as_deref(),
        })
    }
}
