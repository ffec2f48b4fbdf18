//! `stats --saved` and `stats --validators`: what the requests of a crawl transferred.

use std::io::{self, IsTerminal as _};
use std::ops::ControlFlow;

use schemars::JsonSchema;
use serde::Serialize;
use simkeep::inspect::{Bodies, HostRequests, RequestCounts, RequestSurvey};
use simkeep::{Progress, Snapshot};
use simkeep_formats::escape;

use super::{StatsLine, line};
use crate::exit::VerbError;
use crate::output::Output;
use crate::output::json::JsonRatio;
use crate::output::progress::with_progress_bar;
use crate::output::table::{ColumnHeading, TextTable, left, right};
use crate::output::words::{bytes, count, many};

/// The requests to a host, or to all hosts.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Requests")]
pub(crate) struct RequestsLine<'a> {
    /// The host; null for all hosts together.
    host: Option<&'a str>,
    /// The number of visits.
    requests: u64,
    /// The number of conditional requests.
    conditional: u64,
    /// The bodies that were transferred, without redirects.
    transferred: BodiesObject,
    /// The bodies that were not transferred, because the server answered "not modified".
    not_modified: BodiesObject,
    /// The transferred bodies with the digest of the content before.
    unchanged: BodiesObject,
    /// The transferred bodies of new versions that were captured before, on any page; null with
    /// --validators.
    copies: Option<BodiesObject>,
    /// The conditional requests among "unchanged".
    conditional_unchanged: u64,
    /// The number of "unchanged" bodies that came with Last-Modified, as did the content before.
    unchanged_dated: u64,
    /// The number of "unchanged_dated" bodies with a newer Last-Modified, although the content is the
    /// same.
    unchanged_redated: u64,
    /// The share of conditional requests for unchanged content that were answered "not modified";
    /// null without such requests.
    honored: Option<JsonRatio>,
}

/// Some bodies.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Bodies")]
struct BodiesObject {
    bodies: u64,
    /// The sum of the known lengths.
    bytes: u64,
    /// The number of bodies whose length is unknown.
    unknown: u64,
}

impl From<Bodies> for BodiesObject {
    fn from(of: Bodies) -> BodiesObject {
        BodiesObject { bodies: of.count, bytes: of.bytes, unknown: of.unknown }
    }
}

impl RequestsLine<'_> {
    fn of<'a>(host: Option<&'a str>, counts: &RequestCounts, has_copies: bool) -> RequestsLine<'a> {
        RequestsLine {
            host,
            requests: counts.requests,
            conditional: counts.conditional,
            transferred: counts.transferred.into(),
            not_modified: counts.not_modified.into(),
            unchanged: counts.unchanged.into(),
            copies: has_copies.then(|| counts.copies.into()),
            conditional_unchanged: counts.conditional_unchanged,
            unchanged_dated: counts.unchanged_dated,
            unchanged_redated: counts.unchanged_redated,
            honored: counts.honored().map(JsonRatio),
        }
    }
}

/// Prints what was saved, for all hosts together or for each.
pub(super) fn print_saved(
    snapshot: &Snapshot,
    by_host: bool,
    json: bool,
    output: &mut Output,
) -> Result<(), VerbError> {
    let survey = RequestSurvey::default().copies(true);
    if by_host {
        let columns = [right("requests"), right("transferred"), right("not modified")];
        let columns =
            columns.into_iter().chain([right("unchanged"), right("copies"), left("host")]);
        return print_hosts(
            snapshot,
            &survey,
            json,
            output,
            (columns, |host| {
                let RequestCounts {
                    requests, transferred, not_modified, unchanged, copies, ..
                } = host.counts;
                let bodies = [transferred, not_modified, unchanged, copies];
                let [transferred, not_modified, unchanged, copies] =
                    bodies.map(|of| bytes(of.bytes));
                let name = escape::escape_untruncated(&host.host);
                Some(vec![count(requests), transferred, not_modified, unchanged, copies, name])
            }),
        );
    }
    let counts = with_progress_bar(|progress| survey.totals(snapshot, progress))?;
    if json {
        return Ok(output.object(&StatsLine::Requests(RequestsLine::of(None, &counts, true)))?);
    }
    output.line(&line("requests", &count(counts.requests)))?;
    output.line(&line("  conditional", &count(counts.conditional)))?;
    for (name, of, remark) in [
        ("transferred", counts.transferred, ""),
        ("not modified", counts.not_modified, "not transferred"),
        ("unchanged", counts.unchanged, "transferred, but the same as before"),
        ("copies", counts.copies, "transferred, but captured before, on any page"),
    ] {
        let bodies = many(of.count, "body", "bodies");
        let unknown = match of.unknown {
            0 => String::new(),
            unknown => format!(", {} of unknown length", count(unknown)),
        };
        let text = format!("{}  {bodies}{unknown}", line(name, &bytes(of.bytes)));
        let remark = if remark.is_empty() { String::new() } else { format!(": {remark}") };
        output.line(&format!("{text}{remark}"))?;
    }
    Ok(())
}

/// Prints for each host how it answers conditional requests.
pub(super) fn print_validators(
    snapshot: &Snapshot,
    json: bool,
    output: &mut Output,
) -> Result<(), VerbError> {
    let columns = [right("conditional"), right("not modified"), right("sent again")];
    let columns = columns.into_iter().chain([right("honored"), right("newer date"), left("host")]);
    print_hosts(
        snapshot,
        &RequestSurvey::default(),
        json,
        output,
        (columns, |host| {
            let counts = host.counts;
            if counts.conditional == 0 && counts.unchanged_dated == 0 {
                return None;
            }
            let percent = |share: f64| format!("{:.0} %", share * 100.0);
            let honored = counts.honored().map_or_else(|| "-".to_owned(), percent);
            let newer = match counts.unchanged_dated {
                0 => "-".to_owned(),
                dated => format!("{} of {}", count(counts.unchanged_redated), count(dated)),
            };
            let [conditional, not_modified, ignored] =
                [counts.conditional, counts.not_modified.count, counts.conditional_unchanged]
                    .map(count);
            let name = escape::escape_untruncated(&host.host);
            Some(vec![conditional, not_modified, ignored, honored, newer, name])
        }),
    )
}

/// Prints the hosts, as a table with these columns or as JSON. `row` returns the cells of a host,
/// or none to leave it out.
fn print_hosts<C: Iterator<Item = ColumnHeading>>(
    snapshot: &Snapshot,
    survey: &RequestSurvey,
    json: bool,
    output: &mut Output,
    (columns, row): (C, impl Fn(&HostRequests) -> Option<Vec<String>>),
) -> Result<(), VerbError> {
    let mut table = TextTable::new(columns);
    let mut failed = None;
    let mut run = |progress: &Progress| {
        survey.run(snapshot, progress, |host| {
            let Some(cells) = row(&host) else { return ControlFlow::Continue(()) };
            let printed = if json {
                let host = RequestsLine::of(Some(&host.host), &host.counts, survey.copies);
                output.object(&StatsLine::Requests(host))
            } else {
                table.cells(cells, output)
            };
            match printed {
                Ok(()) => ControlFlow::Continue(()),
                Err(e) => {
                    failed = Some(e);
                    ControlFlow::Break(())
                }
            }
        })
    };
    // On a terminal, a progress bar would garble the lines.
    if io::stdout().is_terminal() { run(&Progress::default()) } else { with_progress_bar(run) }?;
    if let Some(e) = failed {
        return Err(e.into());
    }
    Ok(table.end(output)?)
}
