//! What an export is made of, for its schema. `simkeep_formats::export` writes it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::output::json::{Entry, EpochName, Hash, Role, Time};

/// What --output says with --json; without that, a line of an export.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "lines are not written from here")]
pub(crate) enum Line<'a> {
    Written(super::Answer<'a>),
    First(First<'a>),
    Epoch(Epoch<'a>),
    TablePart(TablePart<'a>),
    Entry(Entry<'a>),
    Last(Last<'a>),
}

/// The first line.
#[derive(Serialize, JsonSchema)]
pub(crate) struct First<'a> {
    #[schemars(extend("const" = "export"))]
    simkeep: &'a str,
    /// The version of the format: see docs/export.md.
    version: u32,
    /// The prefix of the pages that it is of, if not of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    under: Option<&'a str>,
    /// From when on it has entries, if not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<Time>,
    /// True if it has only what is in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    in_force_only: Option<bool>,
}

/// An epoch.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "EpochLine")]
pub(crate) struct Epoch<'a> {
    epoch: EpochName<'a>,
    /// If not both.
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<Role>,
    /// The largest distance that is a minor change, in bits.
    minor: u32,
    /// The largest distance that is a moderate change.
    moderate: u32,
    /// How many visits the store knew when it began.
    begun_at_visit: u64,
    /// How many leading bits are not compared, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    reserved: Option<u32>,
    /// True if it has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<bool>,
    /// The checksum of its table, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    table: Option<Hash>,
}

/// A part of a table of document frequencies.
#[derive(Serialize, JsonSchema)]
pub(crate) struct TablePart<'a> {
    /// The checksum of the table.
    table: Hash,
    /// Where in the table the part begins, in bytes.
    offset: u64,
    /// How many bytes the table has.
    table_bytes: u64,
    base64: &'a str,
}

/// The last line.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Last<'a> {
    #[schemars(extend("const" = "end"))]
    simkeep: &'a str,
    /// How many lines there are, with this one.
    lines: u64,
}
