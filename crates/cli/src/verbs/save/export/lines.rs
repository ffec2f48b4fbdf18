//! The lines of an export, for its schema. `simkeep_formats::export` writes them.

use schemars::JsonSchema;
use serde::Serialize;

use crate::output::json::{EpochName, Hash, JsonEntry, Role, Time};

/// With --output, the result of the export; otherwise a line of the export.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "lines are not written from here")]
pub(crate) enum ExportOutput<'a> {
    Written(super::ExportResult<'a>),
    First(ExportHeaderLine<'a>),
    Epoch(ExportEpochLine<'a>),
    TablePart(ExportTableLine<'a>),
    Entry(JsonEntry<'a>),
    Last(ExportEndLine<'a>),
}

/// The first line of an export.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ExportHeaderLine<'a> {
    #[schemars(extend("const" = "export"))]
    simkeep: &'a str,
    /// The version of the export format; see docs/export.md.
    version: u32,
    /// The prefix of the exported pages; left out if all pages are exported.
    #[serde(skip_serializing_if = "Option::is_none")]
    under: Option<&'a str>,
    /// The time from which entries are exported; left out if all entries are exported.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<Time>,
    /// The time up to which entries are exported; left out if all entries are exported.
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<Time>,
    /// True if only current content is exported; otherwise left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    in_force_only: Option<bool>,
}

/// An epoch of the store.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "EpochLine")]
pub(crate) struct ExportEpochLine<'a> {
    epoch: EpochName<'a>,
    /// The purpose of the epoch's fingerprints; left out if it has both roles.
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<Role>,
    /// The largest distance of a minor change, in bits.
    minor: u32,
    /// The largest distance of a moderate change, in bits.
    moderate: u32,
    /// The number of visits in the store when the epoch began.
    begun_at_visit: u64,
    /// The number of leading bits that are not compared; left out if it is 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    reserved: Option<u32>,
    /// True if the epoch has ended; otherwise left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<bool>,
    /// The checksum of its frequency table; left out if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    table: Option<Hash>,
}

/// A part of a table of document frequencies.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ExportTableLine<'a> {
    /// The checksum of the table.
    table: Hash,
    /// The byte offset of the part in the table.
    offset: u64,
    /// The size of the whole table in bytes.
    table_bytes: u64,
    base64: &'a str,
}

/// The last line of an export.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ExportEndLine<'a> {
    #[schemars(extend("const" = "end"))]
    simkeep: &'a str,
    /// The number of lines of the export, including this one.
    lines: u64,
}
