//! Dumps the bytes of a segment, each with its meaning.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::str::FromStr;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use simkeep::Snapshot;
use simkeep::inspect::{DumpLine, DumpQuery, SegmentView};
use simkeep_formats::escape;

use crate::common::CommonArgs;
use crate::exit::{Exit, VerbError, print_message};
use crate::input::limit::Limit;
use crate::input::origin;
use crate::output::{Output, write_object};

/// The options that select the bytes of a segment to dump.
#[derive(Args)]
pub(super) struct DumpArgs {
    /// Print the bytes and their meaning
    #[arg(long)]
    dump: bool,
    /// Dump the sections of this name
    #[arg(long, value_name = "KIND", requires = "dump")]
    section: Option<String>,
    /// Dump only this part of the sections
    #[arg(long, value_name = "NUMBER", requires = "dump")]
    part: Option<u16>,
    /// Dump the tables of this epoch
    #[arg(long, value_name = "NAME", requires = "dump")]
    epoch: Option<String>,
    /// Begin at this offset, in hexadecimal digits
    #[arg(long, value_name = "OFFSET", requires = "dump")]
    offset: Option<Offset>,
    /// Fields to dump
    #[arg(long, value_name = "COUNT|all", requires = "dump", default_value = "200")]
    limit: Limit,
}

/// A byte offset in a file.
#[derive(Clone, Copy)]
struct Offset(u64);

impl FromStr for Offset {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Offset, &'static str> {
        let digits = text.strip_prefix("0x").unwrap_or(text);
        let offset = u64::from_str_radix(digits, 16);
        offset.map(Offset).map_err(|_| "write hexadecimal digits, such as 1000")
    }
}

/// Some bytes of the segment, and their meaning.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DumpedBytes<'a> {
    /// The offset of the bytes in the file.
    offset: u64,
    size_bytes: u64,
    /// The bytes in hexadecimal digits; null if they are damaged.
    bytes: Option<String>,
    meaning: &'a str,
    /// Whether the bytes are damaged or not valid.
    damaged: bool,
}

impl DumpedBytes<'_> {
    fn of(line: &DumpLine) -> DumpedBytes<'_> {
        let digits = |bytes: &Vec<u8>| {
            bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut digits, byte| {
                // Writing to a string cannot fail.
                let _ = write!(digits, "{byte:02x}");
                digits
            })
        };
        DumpedBytes {
            offset: line.offset,
            size_bytes: line.len,
            bytes: line.bytes.as_ref().map(digits),
            meaning: &line.meaning,
            damaged: line.damaged,
        }
    }
}

impl DumpArgs {
    pub(super) fn is_asked_for(&self) -> bool {
        self.dump
    }

    pub(super) fn run(
        self,
        segment: &SegmentView,
        snapshot: &Snapshot,
        common: &CommonArgs,
        output: &mut Output,
    ) -> Result<Exit, VerbError> {
        let mut asked = DumpQuery::all().from(self.offset.map_or(0, |offset| offset.0));
        asked.section = self.section.as_ref().map(|name| name.replace(['-', '_'], " "));
        asked.part = self.part;
        if let Some(name) = &self.epoch {
            asked.epoch = Some(origin::named(snapshot.epochs(), name)?);
        }
        let most = self.limit.count() as u64;
        let (mut printed, mut is_damaged) = (0, false);
        let (mut more, mut failed) = (None, None);
        asked.run(snapshot, segment.id, |line| {
            if printed == most {
                more = Some(line.offset);
                return ControlFlow::Break(());
            }
            printed += 1;
            is_damaged |= line.damaged;
            match print(&line, common.json, output) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            }
        })?;
        failed.map_or(Ok(()), Err)?;
        if let Some(offset) = more {
            output.note(&format!(
                "there is more: --offset {offset:04x} continues, --limit all prints everything"
            ))?;
        } else if printed == 0 {
            let mut names: Vec<&str> = segment.sections.iter().map(|of| of.kind).collect();
            names.extend(["head", "table", "trailer"]);
            names.sort_unstable();
            names.dedup();
            print_message(&format!(
                "segment {} has no bytes that match the options; its sections are: {}",
                segment.id,
                names.join(", ")
            ));
            return Ok(Exit::Nothing);
        }
        Ok(if is_damaged { Exit::Damaged } else { Exit::Done })
    }
}

fn print(line: &DumpLine, as_json: bool, output: &mut Output) -> io::Result<()> {
    let out = output.writer();
    if as_json {
        return write_object(out, &DumpedBytes::of(line));
    }
    // The meaning quotes data from web servers, which may contain line breaks.
    let quoted = escape::escape_untruncated(&line.meaning);
    let shown = if quoted == line.meaning {
        line.to_string()
    } else {
        let mut escaped = line.clone();
        escaped.meaning = quoted;
        escaped.to_string()
    };
    writeln!(out, "{shown}")
}
