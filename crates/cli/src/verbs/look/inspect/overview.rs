//! Shows the whole store.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use simkeep::Reader;
use simkeep::inspect::{Census, Overview};
use simkeep_formats::escape;

use super::census;
use crate::common::CommonArgs;
use crate::exit::{Exit, VerbError};
use crate::output::Output;
use crate::output::json::{EpochSummary, FileFlaw, JsonRatio, StoreState, Time};
use crate::output::progress::with_progress_bar;
use crate::output::table::{TextTable, left, right};
use crate::output::words::{self, bar, bytes, count};
use crate::time::TimeFormat;
use crate::verbs::ask::near::explain::shape;

/// The maximum number of hosts to name without `--deep`.
const HOSTS: usize = 4;

/// Prints an overview of a store; with `deep`, also counts from a pass over all pages.
pub(super) fn run(
    store: &Path,
    reader: &Reader,
    deep: bool,
    common: &CommonArgs,
    output: &mut Output,
) -> Result<Exit, VerbError> {
    let snapshot = reader.snapshot();
    let overview = Overview::of(&snapshot)?;
    let catalog = reader.stats()?.catalog_bytes;
    let exit = if overview.flaw.is_some() { Exit::Damaged } else { Exit::Done };
    let census =
        deep.then(|| with_progress_bar(|progress| Census::of(&snapshot, progress))).transpose()?;
    if common.json {
        output.object(&StoreOverview::new(
            &overview,
            catalog,
            census.as_ref(),
            StoreState::of(reader),
        ))?;
        return Ok(exit);
    }
    output.line(&escape::escape_untruncated(&store.to_string_lossy()))?;
    let clock = common.clock();
    print_visits(&overview, census.as_ref(), &clock, output)?;
    print_hosts(&overview, census.as_ref(), output)?;
    let (number, remark) = fingerprints(&overview, census.as_ref());
    print_figure("fingerprints", &number, &remark, output)?;
    print_space(&overview, catalog, output)?;
    print_segments(&overview, &clock, output)?;
    print_epochs(&overview, output)?;
    if let Some(census) = &census {
        census::print_hosts(census, output)?;
    }
    Ok(exit)
}

/// Prints a line with the name of a figure, the figure, and a remark.
fn print_figure(
    name: &str,
    number: &str,
    remark: &str,
    output: &mut Output,
) -> Result<(), VerbError> {
    let line = format!("  {name:<14}{number:>13}    {remark}");
    Ok(output.line(line.trim_end())?)
}

/// Prints the numbers of pages and visits, and the times of the visits.
fn print_visits(
    overview: &Overview,
    census: Option<&Census>,
    clock: &TimeFormat,
    output: &mut Output,
) -> Result<(), VerbError> {
    let per_page = overview.visits as f64 / overview.pages.max(1) as f64;
    let states = [overview.in_force, overview.gone, overview.never].map(count);
    let [in_force, gone, never] = states;
    let states = format!("with content {in_force} · gone {gone} · never had content {never}");
    print_figure("pages", &count(overview.pages), &states, output)?;
    let ends = match census {
        Some(census) => census.first.zip(census.last),
        None => overview.first.zip(overview.last),
    };
    let span = ends.map(|(first, last)| {
        clock.heading(&format!(", {} to {}", clock.show(first), clock.show(last)))
    });
    let span = span.unwrap_or_default();
    let visits = format!("{} a page{span}", words::amount(per_page));
    print_figure("visits", &count(overview.visits), &visits, output)
}

/// Prints the number of hosts. Without a census, prints the largest hosts of a sample.
fn print_hosts(
    overview: &Overview,
    census: Option<&Census>,
    output: &mut Output,
) -> Result<(), VerbError> {
    if let Some(census) = census {
        return print_figure("hosts", &count(census.hosts), "", output);
    }
    if overview.hosts.is_empty() {
        return overview.flaw.as_ref().map_or(Ok(()), |flaw| {
            print_figure("hosts", "", &escape::escape_untruncated(&flaw.to_string()), output)
        });
    }
    let hosts = overview.hosts.iter().take(HOSTS).map(|host| {
        format!("{} ~{:.0} %", escape::escape_untruncated(&host.host), host.share * 100.0)
    });
    let hosts = hosts.collect::<Vec<_>>().join(" · ");
    print_figure("hosts", "", &format!("{hosts} (sampled; --deep counts all)"), output)
}

/// The number of distinct fingerprints, and a remark on the most frequent one.
fn fingerprints(overview: &Overview, census: Option<&Census>) -> (String, String) {
    if let Some(census) = census {
        return census::fingerprints(&census.fingerprints);
    }
    let several = overview.segments.len() + usize::from(overview.unsealed_pages > 0) > 1;
    let mark = if several { "~" } else { "" };
    let most = match overview.commonest_pages {
        0 | 1 => String::new(),
        pages => format!("; the most frequent is or was on {} pages of a segment", count(pages)),
    };
    (format!("{mark}{}", count(overview.fingerprints)), format!("different fingerprints{most}"))
}

/// Prints the size of the files, and the purposes of the bytes.
fn print_space(overview: &Overview, catalog: u64, output: &mut Output) -> Result<(), VerbError> {
    let segments: u64 = overview.segments.iter().map(|segment| segment.bytes).sum();
    let all = segments + catalog;
    print_figure("space", &bytes(all), &per_visit(all, catalog, overview.visits), output)?;
    let parts = overview.space.iter().map(|space| (space.of.name(), space.bytes));
    for (name, part) in parts.chain([("catalog", catalog)]).filter(|(_, part)| *part > 0) {
        let share = part as f64 / all.max(1) as f64;
        let percent = format!("{:.0} %", share * 100.0);
        let shown = format!("{:<40} {percent:>5}", bar(share));
        print_figure(&format!("  {name}"), &bytes(part), &shown, output)?;
    }
    Ok(())
}

/// The number of bytes of a visit. In a small store most of them are of the catalog.
fn per_visit(all: u64, catalog: u64, visits: u64) -> String {
    if visits == 0 {
        return String::new();
    }
    let each = all as f64 / visits as f64;
    let each = match each < 100.0 {
        true => words::amount(each),
        false => count((all + visits / 2) / visits),
    };
    match catalog > all / 2 {
        true => format!("{each} bytes a visit, mostly of the catalog; a large store has about 100"),
        false => format!("{each} bytes a visit"),
    }
}

fn print_segments(
    overview: &Overview,
    clock: &TimeFormat,
    output: &mut Output,
) -> Result<(), VerbError> {
    if overview.segments.is_empty() && overview.unsealed.is_none() {
        return Ok(());
    }
    output.line("")?;
    let columns = [right("segment"), right("level"), left("operations"), right("pages")];
    let more = [left("shape"), right("size"), right("superseded"), left(clock.heading("written"))];
    let mut table = TextTable::new(columns.into_iter().chain(more));
    for segment in &overview.segments {
        table.row(
            [
                format!("segment {}", segment.id),
                segment.level.to_string(),
                format!("{} to {}", count(segment.first_operation), count(segment.last_operation)),
                count(segment.pages),
                segment.shape.map_or("-", shape).to_owned(),
                bytes(segment.bytes),
                format!("~{:.0} %", segment.superseded * 100.0),
                clock.show(segment.written),
            ],
            output,
        )?;
    }
    if let Some((first, last)) = overview.unsealed {
        let [level, shape, size, again, written] = ["", "", "", "", ""].map(str::to_owned);
        let operations = format!("{} to {}", count(first), count(last));
        let pages = count(overview.unsealed_pages);
        let journal = "journal".to_owned();
        table.row([journal, level, operations, pages, shape, size, again, written], output)?;
    }
    Ok(table.end(output)?)
}

fn print_epochs(overview: &Overview, output: &mut Output) -> Result<(), VerbError> {
    output.line("")?;
    let headings = ["epoch", "state", "name"].map(left);
    let [number, state_of, name] = headings;
    let mut table = TextTable::new([number, state_of, right("fingerprints"), name]);
    for epoch in &overview.epochs {
        let number = format!("epoch {}", epoch.info.epoch.count());
        let fingerprints = count(epoch.fingerprints);
        let name = escape::escape_untruncated(&epoch.info.name);
        table.row(
            [number, EpochSummary::from(epoch).state().name().to_owned(), fingerprints, name],
            output,
        )?;
    }
    Ok(table.end(output)?)
}

/// An overview of a store.
#[derive(Serialize, JsonSchema)]
pub(crate) struct StoreOverview<'a> {
    pages: u64,
    /// Pages with current content.
    pages_in_force: u64,
    /// Pages that are gone.
    pages_gone: u64,
    /// Pages of which no visit saw any content.
    pages_never_seen: u64,
    visits: u64,
    /// A lower bound of the times of all visits. It is the time of the earliest visit, unless that
    /// visit was forgotten. Null without visits.
    first: Option<Time>,
    /// An upper bound of the times of all visits; null without visits.
    last: Option<Time>,
    /// Pages with entries in the journal that are in no segment yet.
    unsealed_pages: u64,
    /// The numbers of the first and the last operation in the journal; null if it is empty.
    unsealed_operations: Option<[u64; 2]>,
    /// The number of distinct fingerprints, counted once for each segment and epoch that contains
    /// them.
    fingerprints: u64,
    /// The largest number of pages that have or had one fingerprint in one segment.
    commonest_pages: u64,
    /// The hosts with more than one in fifty of the pages, estimated from 64 pages at equal
    /// distances.
    hosts: Vec<LargeHost<'a>>,
    /// The damage among those 64 pages, in which case `hosts` is empty; null without damage.
    flaw: Option<FileFlaw<'a>>,
    /// The bytes of the segments by purpose, the most first.
    spaces: Vec<SpaceUse>,
    catalog_bytes: u64,
    /// The segments, the oldest first.
    segments: Vec<OverviewSegment>,
    /// All epochs, the oldest first.
    epochs: Vec<EpochSummary<'a>>,
    /// Counts from a pass over all pages; null without --deep.
    census: Option<census::CensusResult<'a>>,
    saw: StoreState,
}

/// A host with many pages.
#[derive(Serialize, JsonSchema)]
struct LargeHost<'a> {
    host: &'a str,
    /// The approximate ratio of its pages to all pages.
    share: JsonRatio,
}

/// The number of bytes for one purpose.
#[derive(Serialize, JsonSchema)]
struct SpaceUse {
    space: &'static str,
    size_bytes: u64,
}

/// A segment.
#[derive(Serialize, JsonSchema)]
struct OverviewSegment {
    /// The number of the segment, which is also in its file name.
    segment: u64,
    /// The depth of merges: 0 for a segment that is not the result of a merge.
    level: u64,
    /// The number of the first operation in the segment.
    first_operation: u64,
    last_operation: u64,
    pages: u64,
    visits: u64,
    /// A lower bound of the times of its visits; "last" is an upper bound. Null without visits.
    first: Option<Time>,
    last: Option<Time>,
    /// The time when it was written.
    created: Time,
    size_bytes: u64,
    /// The search structure of its fingerprints; null if it has none.
    shape: Option<&'static str>,
    /// The approximate fraction of its records that newer segments replace or continue.
    superseded: JsonRatio,
}

impl<'a> StoreOverview<'a> {
    fn new(
        overview: &'a Overview,
        catalog: u64,
        census: Option<&'a Census>,
        saw: StoreState,
    ) -> Self {
        let hosts = overview
            .hosts
            .iter()
            .map(|of| LargeHost { host: &of.host, share: JsonRatio(of.share) });
        let spaces = overview
            .space
            .iter()
            .map(|space| SpaceUse { space: space.of.name(), size_bytes: space.bytes });
        let segments = overview.segments.iter().map(|segment| OverviewSegment {
            segment: segment.id,
            level: segment.level,
            first_operation: segment.first_operation,
            last_operation: segment.last_operation,
            pages: segment.pages,
            visits: segment.visits,
            first: segment.times.map(|(first, _)| Time(first)),
            last: segment.times.map(|(_, last)| Time(last)),
            created: Time(segment.written),
            size_bytes: segment.bytes,
            shape: segment.shape.map(shape),
            superseded: JsonRatio(segment.superseded),
        });
        StoreOverview {
            pages: overview.pages,
            pages_in_force: overview.in_force,
            pages_gone: overview.gone,
            pages_never_seen: overview.never,
            visits: overview.visits,
            first: overview.first.map(Time),
            last: overview.last.map(Time),
            unsealed_pages: overview.unsealed_pages,
            unsealed_operations: overview.unsealed.map(<[u64; 2]>::from),
            fingerprints: overview.fingerprints,
            commonest_pages: overview.commonest_pages,
            hosts: hosts.collect(),
            flaw: overview.flaw.as_ref().map(FileFlaw::from),
            spaces: spaces.collect(),
            catalog_bytes: catalog,
            segments: segments.collect(),
            epochs: overview.epochs.iter().map(EpochSummary::from).collect(),
            census: census.map(census::CensusResult::from),
            saw,
        }
    }
}
