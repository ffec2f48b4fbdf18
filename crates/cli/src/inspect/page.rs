//! One page: its versions, and where they stand.

use clap::Args;
use serde_json::{Map, Value, json};
use simkeep::inspect::{Place, Trace, Version, VersionKind, versions};
use simkeep::{EpochInfo, Seen};

use super::super::common::Common;
use super::super::exit::{Exit, Failure, say};
use super::super::output::Output;
use super::super::table::{Table, left, right};
use super::super::time::{self, Clock};
use super::super::words::{count, many};
use super::super::{spelling, visit, words};
use simkeep_archive::escape;

/// A page: its versions, and where in the store they stand
///
/// One line per version: the visits that saw one content, one after another. Of its fingerprint the
/// digits are shown that are not those of the version before, and the bits that differ, the lowest being
/// bit 0. `simkeep history` lists each visit.
#[derive(Args)]
pub(super) struct PageOf {
    /// The page: its URL, byte by byte as it was observed
    url: String,
    /// Print all versions, not only the newest 50
    #[arg(long)]
    all: bool,
}

/// Versions that are printed if not all are asked for.
const SHOWN: usize = 50;

/// Bits that are named one by one.
const NAMED: usize = 8;

impl PageOf {
    pub(super) fn run(self, common: &Common, output: &mut Output) -> Result<Exit, Failure> {
        let snapshot = common.read()?.snapshot();
        let Some(trace) = snapshot.trace(&self.url)? else {
            say(&spelling::unknown(&snapshot, &self.url)?);
            return Ok(Exit::Nothing);
        };
        let versions = versions(&trace.history);
        let left_out = if self.all { 0 } else { versions.len().saturating_sub(SHOWN) };
        let shown = versions.get(left_out..).unwrap_or_default();
        if common.json {
            output.object(&object(&trace, shown, left_out, snapshot.epochs())?)?;
            return Ok(Exit::Done);
        }
        let clock = common.clock();
        let places: Vec<String> = trace.places.iter().rev().map(place).collect();
        let url = escape::whole(&self.url);
        output.line(&url)?;
        output.line(&format!("  {} · {}", escape::whole(&trace.surt), places.join(", ")))?;
        output.line(&format!("  {}", in_force(&trace, &versions, &clock)))?;
        print(shown, snapshot.epochs(), &clock, output)?;
        if left_out > 0 {
            let more = many(left_out as u64, "older version", "older versions");
            output.note(&format!("there are {more}; --all prints them"))?;
        }
        Ok(Exit::Done)
    }
}

fn place(place: &Place) -> String {
    let entries = many(place.entries as u64, "entry", "entries");
    match (place.segment, place.bytes) {
        (Some(segment), Some(bytes)) => {
            format!("segment {segment} ({entries} in {} bytes)", count(bytes))
        }
        _ => format!("journal ({entries})"),
    }
}

/// What is in force now.
fn in_force(trace: &Trace, versions: &[Version], clock: &Clock) -> String {
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
        "in force: version {number}, since {since}, seen {seen}, last {}; last visited {last}",
        clock.show(version.last)
    ))
}

fn print(
    versions: &[Version],
    epochs: &[EpochInfo],
    clock: &Clock,
    output: &mut Output,
) -> Result<(), Failure> {
    let times = [left(clock.heading("first seen")), left("last seen")];
    let mut columns = vec![right("#")];
    columns.extend(times);
    columns.extend([right("visits"), left("digest"), left("fingerprint"), right("bits")]);
    if epochs.len() > 1 {
        columns.push(left("epoch"));
    }
    columns.push(left("what it was"));
    let mut table = Table::new(columns);
    for version in versions {
        let number = match version.kind {
            VersionKind::Content(number) => number.to_string(),
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
            let epoch = version.contents.first().map(|content| visit::epoch(epochs, content.epoch));
            cells.push(epoch.transpose()?.map(escape::whole).unwrap_or_default());
        }
        cells.push(told(version));
        table.cells(cells, output)?;
    }
    Ok(table.end(output)?)
}

/// The digits of a fingerprint, with dots for those that are as before.
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

fn told(version: &Version) -> String {
    let status = version.visit.status.map(|status| format!(", {status}")).unwrap_or_default();
    let which = version.differing.filter(|bits| *bits != 0).map(|differing| {
        let bits = bits(differing);
        let named: Vec<String> = bits.iter().take(NAMED).map(u32::to_string).collect();
        let more = if bits.len() > NAMED { " ..." } else { "" };
        let word = if bits.len() == 1 { "bit" } else { "bits" };
        format!(", {word} {}{more}", named.join(" "))
    });
    let which = which.unwrap_or_default();
    match (version.kind, version.back_to) {
        (VersionKind::Content(_), Some(before)) => format!("back to {before}{which}"),
        (VersionKind::Content(1), None) => "new".to_owned(),
        (VersionKind::Content(_), None) => format!("changed{which}"),
        (VersionKind::Gone, _) => format!("gone{status}"),
        (VersionKind::Unseen, _) => format!("not modified{status}"),
        _ => format!("failed{status}"),
    }
}

fn object(
    trace: &Trace,
    versions: &[Version],
    left_out: usize,
    epochs: &[EpochInfo],
) -> Result<Value, Failure> {
    let places = trace.places.iter().map(|place| {
        json!({
            "segment": place.segment,
            "number": place.number,
            "bytes": place.bytes,
            "entries": place.entries,
            "first": place.is_first,
        })
    });
    let mut told = Vec::new();
    for version in versions {
        let mut object = Map::new();
        let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
        if let VersionKind::Content(number) = version.kind {
            put("version", number.into());
        }
        put("seen", visit::seen(&version.visit.seen).unwrap_or("content").into());
        put("first", time::format(version.visit.time).into());
        put("last", time::format(version.last).into());
        put("visits", version.visits.into());
        put("verdict", words::verdict_key(version.verdict).into());
        if let Seen::Content(content) = version.visit.seen {
            put("fingerprint", content.fingerprint.map(visit::fingerprint).into());
            put("digest", content.digest.map(|digest| digest.to_string()).into());
            put("epoch", visit::epoch(epochs, content.epoch)?.into());
        }
        if let Some(status) = version.visit.status {
            put("status", status.into());
        }
        if let Some(before) = version.back_to {
            put("back_to", before.into());
        }
        if let Some(differing) = version.differing {
            put("bits", bits(differing).into());
        }
        told.push(Value::from(object));
    }
    Ok(json!({
        "url": trace.page.url,
        "surt": trace.surt,
        "hash": visit::fingerprint(trace.hash),
        "places": places.collect::<Vec<_>>(),
        "gone": trace.page.gone,
        "visits": trace.page.visits,
        "older_versions": left_out,
        "versions": told,
    }))
}
