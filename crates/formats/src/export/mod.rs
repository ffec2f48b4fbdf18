//! A whole store as JSON lines: what `simkeep export` writes and `simkeep load` reads back.
//!
//! The first line says that it is an export, and of which version. Then come the epochs, in the order
//! of their numbers, then their tables of document frequencies in parts, then the entries of all pages.
//! The last line says how many lines there are: without it, or with another number, nothing of the
//! export is to be used. The form of the lines is in `docs/export.md` of the repository.
//!
//! [`Encoder`] writes; [`Input`](super::Input) reads, and returns what is not a record as
//! [`Item::Export`](super::Item::Export).

mod encode;
mod read;
#[cfg(test)]
mod tests;

use simkeep::EpochOptions;

pub use encode::{Encoder, entry};
pub(super) use read::{is_head, read};

/// The version that this build writes and reads.
const VERSION: u64 = 1;

/// The most bytes of a first line.
pub(super) const HEAD_BYTES_MAX: usize = 4 << 10;

/// The most bytes of a table in one line.
const PART_BYTES_MAX: usize = 192 << 10;

/// The most bytes of a line that is not a record: that of a part of a table, and more.
const LINE_BYTES_MAX: usize = 512 << 10;

/// What of a store an export has, for whoever reads its first line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extent {
    /// The prefix that its pages are under.
    pub under: Option<String>,
    /// Since when its entries are, in milliseconds since 1970.
    pub since: Option<i64>,
    /// Whether it has only what is in force.
    pub in_force: bool,
}

/// A line of an export that is no record.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The file and the place in it, fit to be shown.
    pub at: String,
    /// What it says.
    pub says: Says,
}

/// What a line of an export says.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Says {
    /// An export begins.
    Begin,
    /// An epoch of the store; older ones come first.
    Epoch(Epoch),
    /// A part of a table.
    Table(TablePart),
    /// The last line of the export, which has as many as it says.
    End,
    /// The file ends. The export is whole if the item before this was [`Says::End`], and no other was.
    FileEnd,
    /// Nothing of the export is to be used: why, fit to be shown.
    Flawed(String),
}

/// An epoch as its store had it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Epoch {
    /// Its name.
    pub name: String,
    /// How many leading bits of its fingerprints are reserved, and not compared.
    pub reserved: u32,
    /// Its role and bands.
    pub options: EpochOptions,
    /// How many visits the store knew when it began.
    pub begun: u64,
    /// Whether it has ended.
    pub ended: bool,
    /// The checksum of its table of document frequencies, if that comes, too.
    pub table: Option<u64>,
}

/// A part of a table of document frequencies.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TablePart {
    /// The checksum of the table.
    pub id: u64,
    /// Where in the file of the table it belongs.
    pub at: u64,
    /// How many bytes that file has.
    pub of: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl Line {
    /// Bytes of memory that it takes besides itself.
    pub fn bytes(&self) -> usize {
        let said = match &self.says {
            Says::Epoch(epoch) => epoch.name.len(),
            Says::Table(part) => part.bytes.len(),
            Says::Flawed(why) => why.len(),
            Says::Begin | Says::End | Says::FileEnd => 0,
        };
        self.at.len() + said
    }
}
