//! Shows a page: its versions, and where its records are.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use simkeep::inspect::{PageRecord, Trace, Version, VersionKind, versions};
use simkeep::{Content, ETag, EpochInfo, Page};
use simkeep_formats::escape;

use crate::common::CommonArgs;
use crate::exit::{Exit, VerbError, print_message};
use crate::input::limit::Limit;
use crate::input::spelling;
use crate::output::Output;
use crate::output::json::{Digest, EpochName, Fingerprint, Hash, Seen, StoreState, Time, Verdict};
use crate::output::table::{TextTable, left, right};
use crate::output::visit::{self, ResponseProperties};
use crate::output::words::{count, many};
use crate::time::TimeFormat;

/// Show a page's versions and where they are stored
///
/// One line per version: successive visits that saw the same content. Shows only the digits of each
/// fingerprint that changed, and which bits differ (bit 0 is the lowest). `simkeep history` lists
/// each visit.
#[derive(Args)]
pub(super) struct InspectPageArgs {
    /// URL of the page, exactly as it was observed
    url: String,
    /// Versions to print, newest first
    #[arg(long, value_name = "COUNT|all", default_value = "50")]
    limit: Limit,
}

/// The maximum number of bits to list one by one.
const NAMED: usize = 8;

impl InspectPageArgs {
    pub(super) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        let reader = common.read()?;
        let snapshot = reader.snapshot();
        let Some(trace) = Trace::of(&snapshot, &self.url)? else {
            print_message(&spelling::unknown(&snapshot, &self.url, |_| true)?);
            return Ok(Exit::Nothing);
        };
        let versions = versions(&trace.history);
        let left_out = versions.len().saturating_sub(self.limit.count());
        let shown = versions.get(left_out..).unwrap_or_default();
        if common.json {
            let saw = StoreState::of(&reader);
            output.object(&PageDetails::new(&trace, shown, left_out, snapshot.epochs(), saw)?)?;
            return Ok(Exit::Done);
        }
        let clock = common.clock();
        let records: Vec<String> = trace.records.iter().rev().map(record).collect();
        let url = escape::escape_untruncated(&self.url);
        output.line(&url)?;
        output.line(&format!(
            "  {} · {}",
            escape::escape_untruncated(&trace.surt),
            records.join(", ")
        ))?;
        output.line(&format!("  {}", in_force(&trace, &versions, &clock)))?;
        if let Some(validators) = validators(&trace.page, &clock) {
            output.line(&format!("  {validators}"))?;
        }
        print((&trace, shown), snapshot.epochs(), &clock, output)?;
        if left_out > 0 {
            let more = many(left_out as u64, "older version", "older versions");
            output.note(&format!("there are {more}; --limit all prints them"))?;
        }
        Ok(Exit::Done)
    }
}

fn record(record: &PageRecord) -> String {
    let entries = many(record.entries as u64, "entry", "entries");
    match (record.segment, record.bytes) {
        (Some(segment), Some(bytes)) => {
            format!("segment {segment} ({entries} in {} bytes)", count(bytes))
        }
        _ => format!("journal ({entries})"),
    }
}

/// The current content.
fn in_force(trace: &Trace, versions: &[Version], clock: &TimeFormat) -> String {
    let page = &trace.page;
    let last = clock.show(page.last.time);
    if page.gone {
        return clock.heading(&format!("gone; last visited {last}"));
    }
    let contents = versions.iter().rev();
    let newest = contents.filter_map(|version| match version.kind {
        VersionKind::Content(number) => Some((number, version)),
        _ => None,
    });
    let Some((number, version)) = newest.into_iter().next() else {
        return clock.heading(&format!("no content was ever seen; last visited {last}"));
    };
    let since = clock.show(version.visit.time);
    let seen = many(version.visits, "time", "times");
    clock.heading(&format!(
        "current version: {number}, since {since}, seen {seen}, last seen {}; last visited {last}",
        clock.show(version.last)
    ))
}

/// The entity tag of the current content, and when the content was last modified; `None` if both
/// are unknown.
fn validators(page: &Page, clock: &TimeFormat) -> Option<String> {
    let etag = page.etag.as_ref().map(|etag| format!("etag {etag}"));
    let modified = page.content.and(page.modified);
    let modified = modified.map(|time| clock.heading(&format!("modified {}", clock.show(time))));
    let all: Vec<String> = [etag, modified].into_iter().flatten().collect();
    (!all.is_empty()).then(|| all.join("; "))
}

fn print(
    (trace, versions): (&Trace, &[Version]),
    epochs: &[EpochInfo],
    clock: &TimeFormat,
    output: &mut Output,
) -> Result<(), VerbError> {
    let times = [left(clock.heading("first seen")), left("last seen")];
    let mut columns = vec![right("#")];
    columns.extend(times);
    columns.extend([right("visits"), left("digest"), left("fingerprint"), right("bits")]);
    if epochs.len() > 1 {
        columns.push(left("epoch"));
    }
    columns.push(left("what happened"));
    let mut table = TextTable::new(columns);
    for version in versions {
        let number = match version.kind {
            VersionKind::Content(number) => count(number.into()),
            _ => "-".to_owned(),
        };
        let digest = version.visit.seen.digest().map(|digest| {
            let mut digits = digest.to_string();
            digits.truncate(8);
            digits
        });
        let fingerprint = version.contents.first().and_then(|content| content.fingerprint);
        let differing = version.differing.filter(|bits| *bits != 0);
        let mut cells = vec![
            number,
            clock.show(version.visit.time),
            clock.show(version.last),
            count(version.visits),
            digest.unwrap_or_default(),
            fingerprint.map_or_else(String::new, |f| digits(f, version.differing)),
            differing.map_or_else(String::new, |bits| bits.count_ones().to_string()),
        ];
        if epochs.len() > 1 {
            let epoch = version.contents.first().map(|content| visit::epoch_of(epochs, content));
            cells.push(
                epoch.transpose()?.flatten().map(escape::escape_untruncated).unwrap_or_default(),
            );
        }
        cells.push(meaning_of(version) + &points_to(trace, version));
        table.cells(cells, output)?;
    }
    Ok(table.end(output)?)
}

/// The digits of a fingerprint, with a dot for each digit that did not change.
fn digits(fingerprint: u64, differing: Option<u64>) -> String {
    let digits = visit::fingerprint(fingerprint);
    let Some(differing) = differing else { return digits };
    let changed = |at: usize| differing >> (60 - 4 * at) & 0xf != 0;
    let shown = digits.chars().enumerate();
    shown.map(|(at, digit)| if changed(at) { digit } else { '·' }).collect()
}

/// The numbers of the bits that are 1, the lowest first.
pub(super) fn bits(differing: u64) -> Vec<u32> {
    (0..64).filter(|bit| differing >> bit & 1 == 1).collect()
}

/// The URL to which the content of a version points, as it follows the meaning of the version.
fn points_to(trace: &Trace, version: &Version) -> String {
    let of_response = ResponseProperties::of_visit(version.visit, &trace.history);
    of_response.target_text(&trace.page.url, &version.visit.seen)
}

fn meaning_of(version: &Version) -> String {
    let status = version.visit.status.map(|status| format!(", {status}")).unwrap_or_default();
    let which = version.differing.filter(|bits| *bits != 0).map(|differing| {
        let bits = bits(differing);
        let named: Vec<String> = bits.iter().take(NAMED).map(u32::to_string).collect();
        let more = if bits.len() > NAMED { " ..." } else { "" };
        let word = if bits.len() == 1 { "bit" } else { "bits" };
        format!(", {word} {}{more}", named.join(" "))
    });
    let which = which.unwrap_or_default();
    let content = version.visit.seen.content();
    let redirects = if content.is_some_and(Content::is_redirect) { "; it redirects" } else { "" };
    match (version.kind, version.back_to) {
        (VersionKind::Content(_), Some(before)) => format!("back to {before}{which}{redirects}"),
        (VersionKind::Content(1), None) => format!("new{redirects}"),
        (VersionKind::Content(_), None) => format!("changed{which}{redirects}"),
        (VersionKind::Gone, _) => format!("gone{status}"),
        (VersionKind::Unseen, _) => format!("not modified{status}"),
        _ => format!("failed{status}"),
    }
}

/// The versions of a page, and the locations of its records.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PageDetails<'a> {
    url: &'a str,
    /// The sort key of the page (SURT).
    surt: &'a str,
    hash: Hash,
    /// The locations of data about the page, the newest first.
    records: Vec<StoredRecord>,
    is_gone: bool,
    visits: u64,
    /// The `Last-Modified` time of the current content, as the server reported it; null if unknown.
    modified: Option<Time>,
    /// The entity tag of the current content; each byte is a character. Null if unknown.
    etag: Option<String>,
    /// The number of older versions that are left out.
    older_versions: usize,
    /// The versions: successive visits that saw the same content, the oldest first.
    versions: Vec<PageVersion<'a>>,
    saw: StoreState,
}

/// A record of the page in a segment or the journal.
#[derive(Serialize, JsonSchema)]
struct StoredRecord {
    /// The number of the segment; null for the journal.
    segment: Option<u64>,
    /// The number of the page in that segment or journal, in order of pages.
    ordinal: u32,
    /// The size of the record in bytes; null for the journal.
    size_bytes: Option<u64>,
    entries: usize,
    /// Whether older segments have no data about the page that still counts.
    is_first: bool,
}

/// A version of a page.
#[derive(Serialize, JsonSchema)]
struct PageVersion<'a> {
    /// The number of the version, from 1; null if no content was seen.
    number: Option<u32>,
    seen: Seen,
    /// The time of the first visit.
    first: Time,
    /// The time of the last visit.
    last: Time,
    visits: u64,
    verdict: Verdict,
    fingerprint: Option<Fingerprint>,
    digest: Option<Digest>,
    /// The epoch of the fingerprint; null if no content was seen.
    epoch: Option<EpochName<'a>>,
    /// The HTTP status code of the first visit; null if unknown.
    status: Option<u16>,
    /// The number of bytes of the content that the first visit transferred; null if unknown.
    bytes: Option<u64>,
    /// The URL to which the content points: the target of a redirect, or the canonical URL. Null if
    /// it names no other page.
    target: Option<String>,
    /// The number of the earlier version that the page returned to; null if it did not return.
    back_to: Option<u32>,
    /// The numbers of the bits that differ from the previous version; the lowest bit is 0.
    differing_bits: Option<Vec<u32>>,
}

impl PageDetails<'_> {
    fn new<'a>(
        trace: &'a Trace,
        versions: &[Version],
        left_out: usize,
        epochs: &'a [EpochInfo],
        saw: StoreState,
    ) -> Result<PageDetails<'a>, VerbError> {
        let records = trace.records.iter().map(|record| StoredRecord {
            segment: record.segment,
            ordinal: record.number,
            size_bytes: record.bytes,
            entries: record.entries,
            is_first: record.is_first,
        });
        let versions = versions.iter().map(|version| PageVersion::new((trace, version), epochs));
        Ok(PageDetails {
            url: &trace.page.url,
            surt: &trace.surt,
            hash: Hash(trace.hash),
            records: records.collect(),
            is_gone: trace.page.gone,
            visits: trace.page.visits,
            modified: trace.page.content.and(trace.page.modified).map(Time),
            etag: trace.page.etag.as_ref().map(ETag::to_latin1),
            older_versions: left_out,
            versions: versions.collect::<simkeep::Result<_>>()?,
            saw,
        })
    }
}

impl PageVersion<'_> {
    fn new<'a>(
        (trace, version): (&Trace, &Version),
        epochs: &'a [EpochInfo],
    ) -> simkeep::Result<PageVersion<'a>> {
        let of_response = ResponseProperties::of_visit(version.visit, &trace.history);
        let content = version.visit.seen.content();
        let epoch = content.map(|content| visit::epoch_of(epochs, content)).transpose()?.flatten();
        Ok(PageVersion {
            number: match version.kind {
                VersionKind::Content(number) => Some(number),
                _ => None,
            },
            seen: Seen(version.visit.seen),
            first: Time(version.visit.time),
            last: Time(version.last),
            visits: version.visits,
            verdict: Verdict(version.verdict),
            fingerprint: content.and_then(|content| content.fingerprint).map(Fingerprint),
            digest: content.and_then(|content| content.digest).map(Digest),
            epoch: epoch.map(EpochName),
            status: version.visit.status,
            bytes: version.visit.bytes,
            target: of_response.target.and_then(|target| target.resolve(&trace.page.url)),
            back_to: version.back_to,
            differing_bits: version.differing.map(bits),
        })
    }
}
