//! Shows a segment.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use simkeep::inspect::{Overview, SegmentView};
use simkeep::{EpochInfo, Snapshot};
use simkeep_formats::escape;

use super::dump::{self, DumpArgs};
use crate::common::CommonArgs;
use crate::exit::{Exit, VerbError, print_message};
use crate::output::Output;
use crate::output::json::{EpochName, StoreState, Time};
use crate::output::table::{TextTable, left, right};
use crate::output::visit;
use crate::output::words::{bytes, count};
use crate::time::TimeFormat;
use crate::verbs::ask::near::explain::shape;

/// Show a segment's numbers, sections and tables
///
/// Sections have the names of format/segment.md. With --dump, it prints the bytes and their
/// meaning.
#[derive(Args)]
#[command(after_long_help = HELP)]
pub(super) struct InspectSegmentArgs {
    /// Number of the segment, as in its file name
    #[arg(value_name = "NUMBER")]
    id: u64,
    #[command(flatten)]
    dump: DumpArgs,
}

const HELP: &str = r#"Examples:
  simkeep inspect segment crawl.simkeep 2
  simkeep inspect segment crawl.simkeep 2 --dump --section pages
  simkeep inspect segment crawl.simkeep 2 --dump --offset 1000 --limit 100 --json

A line of a dump has the offset (hexadecimal), the bytes and their meaning. Bytes that
do not fit follow below. 00*36 are 36 zero bytes. ??*4096 is a block whose checksum does
not match; the dump goes on where the file is readable again, and the exit code is 4.
Without --section it dumps the whole file, with its head, table and trailer."#;

impl InspectSegmentArgs {
    pub(super) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        let reader = common.read()?;
        let snapshot = reader.snapshot();
        let Some(segment) = SegmentView::of(&snapshot, self.id)? else {
            let live = Overview::of(&snapshot)?.segments;
            let live: Vec<String> = live.iter().map(|segment| segment.id.to_string()).collect();
            let live = if live.is_empty() { "none".to_owned() } else { live.join(", ") };
            print_message(&format!(
                "there is no segment {}; segments of the store: {live}",
                self.id
            ));
            return Ok(Exit::Nothing);
        };
        if self.dump.is_asked_for() {
            return self.dump.run(&segment, &snapshot, common, output);
        }
        if common.json {
            let saw = StoreState::of(&reader);
            output.object(&SegmentDetails::new(&segment, snapshot.epochs(), saw)?)?;
        } else {
            print(&segment, &snapshot, &common.clock(), output)?;
        }
        Ok(Exit::Done)
    }
}

fn print(
    segment: &SegmentView,
    snapshot: &Snapshot,
    clock: &TimeFormat,
    output: &mut Output,
) -> Result<(), VerbError> {
    let SegmentView { first_operation, last_operation, page_delta, visit_delta, .. } = *segment;
    let (in_force, gone) = (segment.in_force_delta, segment.gone_delta);
    output.line(&format!(
        "segment {}, {}, level {}, operations {} to {}",
        segment.id,
        bytes(segment.bytes),
        segment.level,
        count(first_operation),
        count(last_operation)
    ))?;
    output.line(&format!("written {}", clock.heading(&clock.show(segment.written))))?;
    let times = segment.times.map(|(first, last)| {
        clock.heading(&format!("; {} to {}", clock.show(first), clock.show(last)))
    });
    let times = times.unwrap_or_default();
    let longest = match segment.longest_list {
        0 | 1 => String::new(),
        pages => format!("the most frequent is or was on {} pages", count(pages)),
    };
    for (name, number, remark) in [
        (
            "pages",
            segment.pages,
            format!(
                "changes the pages of the store by {page_delta:+}, with content by {in_force:+}, gone by {gone:+}"
            ),
        ),
        (
            "visits",
            segment.visits,
            format!("changes the visits of the store by {visit_delta:+}{times}"),
        ),
        ("fingerprints", segment.fingerprints, longest),
        ("resets", segment.resets, "records that hide all older records of their page".to_owned()),
        ("forgotten", segment.forgotten, "prefixes".to_owned()),
    ] {
        let line = format!("  {name:<14}{:>13}    {remark}", count(number));
        output.line(line.trim_end())?;
    }
    print_sections(segment, snapshot, output)?;
    print_tables(segment, snapshot, output)
}

/// The word for the tables of digests, in place of the name of an epoch. The name of an epoch has
/// no parentheses at its ends.
const OF_DIGESTS: &str = "(digests)";

/// Prints the sections of the file.
fn print_sections(
    segment: &SegmentView,
    snapshot: &Snapshot,
    output: &mut Output,
) -> Result<(), VerbError> {
    output.line("")?;
    let columns = [left("section"), right("part"), right("offset"), right("bytes")];
    let more = [right("blocks"), left("for"), left("epoch")];
    let mut table = TextTable::new(columns.into_iter().chain(more));
    for section in &segment.sections {
        let epoch =
            section.epoch.map(|epoch| visit::epoch(snapshot.epochs(), epoch)).transpose()?;
        let epoch = epoch.or(section.of_digests.then_some(OF_DIGESTS));
        table.row(
            [
                section.kind.to_owned(),
                section.part.to_string(),
                count(section.offset),
                count(section.bytes),
                count(section.blocks),
                section.space.name().to_owned(),
                epoch.map(escape::escape_untruncated).unwrap_or_default(),
            ],
            output,
        )?;
    }
    Ok(table.end(output)?)
}

/// Prints the fingerprint tables, if there are any.
fn print_tables(
    segment: &SegmentView,
    snapshot: &Snapshot,
    output: &mut Output,
) -> Result<(), VerbError> {
    if segment.tables.is_empty() {
        return Ok(());
    }
    output.line("")?;
    let columns = [right("fingerprints"), left("shape"), right("size"), right("bytes each")];
    let mut table = TextTable::new(columns.into_iter().chain([left("epoch")]));
    for of in &segment.tables {
        let each = of.bytes as f64 / f64::from(of.fingerprints.max(1));
        let epoch = of.epoch.map(|epoch| visit::epoch(snapshot.epochs(), epoch)).transpose()?;
        table.row(
            [
                count(of.fingerprints.into()),
                shape(of.shape).to_owned(),
                bytes(of.bytes),
                format!("{each:.1}"),
                escape::escape_untruncated(epoch.unwrap_or(OF_DIGESTS)),
            ],
            output,
        )?;
    }
    Ok(table.end(output)?)
}

/// A segment; with --dump, a range of its bytes.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "each is printed by itself")]
pub(crate) enum SegmentLine<'a> {
    Segment(Box<SegmentDetails<'a>>),
    Bytes(dump::DumpedBytes<'a>),
}

/// A segment, as its file describes itself.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SegmentDetails<'a> {
    /// The number of the segment, which is also in its file name.
    segment: u64,
    size_bytes: u64,
    /// The depth of merges: 0 for a segment that is not the result of a merge.
    level: u64,
    /// The number of the first operation in the segment.
    first_operation: u64,
    last_operation: u64,
    pages: u64,
    visits: u64,
    /// The number of distinct fingerprints, counted once for each epoch.
    fingerprints: u64,
    /// The number of records that hide all older data of their page.
    resets: u64,
    /// The number of pages that the segment adds to the store; may be negative.
    page_delta: i64,
    /// The number of visits that the segment adds to the store; may be negative.
    visit_delta: i64,
    /// The number of pages with current content that the segment adds to the store; may be
    /// negative.
    in_force_delta: i64,
    /// The number of gone pages that the segment adds to the store; may be negative.
    gone_delta: i64,
    /// A lower bound of the times of its visits; "last" is an upper bound. Null without visits.
    first: Option<Time>,
    last: Option<Time>,
    /// The largest number of pages that have or had one fingerprint.
    longest_list: u64,
    /// The time when it was written.
    created: Time,
    /// The number of prefixes that it records as forgotten.
    forgotten_prefixes: u64,
    /// The sections of the file, in their order in the file.
    sections: Vec<SegmentSection<'a>>,
    /// The fingerprint tables, one for each epoch, and the table of digests.
    tables: Vec<SegmentTable<'a>>,
    saw: StoreState,
}

/// A section of a segment's file.
#[derive(Serialize, JsonSchema)]
struct SegmentSection<'a> {
    /// The name of the section in format/segment.md.
    kind: &'a str,
    /// The number of the section among those of the same kind and epoch.
    part: u16,
    /// The epoch of the fingerprints, for a section of fingerprint tables; otherwise null.
    epoch: Option<EpochName<'a>>,
    /// Whether it belongs to the tables of digests, which find content without a fingerprint.
    of_digests: bool,
    /// The purpose of the bytes.
    space: &'static str,
    /// The byte offset of the section in the file.
    offset: u64,
    size_bytes: u64,
    blocks: u64,
}

/// The fingerprint table of an epoch, or the table of digests.
#[derive(Serialize, JsonSchema)]
struct SegmentTable<'a> {
    /// The epoch of the fingerprints; null for the table of digests, which finds content without a
    /// fingerprint.
    epoch: Option<EpochName<'a>>,
    fingerprints: u32,
    /// The search structure of the fingerprints.
    shape: &'static str,
    size_bytes: u64,
}

impl SegmentDetails<'_> {
    fn new<'a>(
        segment: &'a SegmentView,
        epochs: &'a [EpochInfo],
        saw: StoreState,
    ) -> simkeep::Result<SegmentDetails<'a>> {
        let name = |epoch| visit::epoch(epochs, epoch).map(EpochName);
        let section = |section: &'a simkeep::inspect::SectionView| {
            Ok(SegmentSection {
                kind: section.kind,
                part: section.part,
                epoch: section.epoch.map(name).transpose()?,
                of_digests: section.of_digests,
                space: section.space.name(),
                offset: section.offset,
                size_bytes: section.bytes,
                blocks: section.blocks,
            })
        };
        let table = |of: &simkeep::inspect::TableView| {
            Ok(SegmentTable {
                epoch: of.epoch.map(name).transpose()?,
                fingerprints: of.fingerprints,
                shape: shape(of.shape),
                size_bytes: of.bytes,
            })
        };
        Ok(SegmentDetails {
            segment: segment.id,
            size_bytes: segment.bytes,
            level: segment.level,
            first_operation: segment.first_operation,
            last_operation: segment.last_operation,
            pages: segment.pages,
            visits: segment.visits,
            fingerprints: segment.fingerprints,
            resets: segment.resets,
            page_delta: segment.page_delta,
            visit_delta: segment.visit_delta,
            in_force_delta: segment.in_force_delta,
            gone_delta: segment.gone_delta,
            first: segment.times.map(|(first, _)| Time(first)),
            last: segment.times.map(|(_, last)| Time(last)),
            longest_list: segment.longest_list,
            created: Time(segment.written),
            forgotten_prefixes: segment.forgotten,
            sections: segment.sections.iter().map(section).collect::<simkeep::Result<_>>()?,
            tables: segment.tables.iter().map(table).collect::<simkeep::Result<_>>()?,
            saw,
        })
    }
}
