//! A whole store as JSON lines: `simkeep export` writes them and `simkeep load` reads them.
//!
//! The first line declares the export and its version. The next lines have the epochs in order of
//! number, their tables of document frequencies in parts, and the entries of all pages. The last
//! line has the number of lines. If the last line is missing, or its number is wrong, do not use
//! any part of the export. `docs/export.md` in the repository defines the lines.
//!
//! [`ExportEncoder`] writes an export. [`InputParts`](super::InputParts) reads it, and returns each
//! line that is not a record as [`SourceItem::Export`](super::SourceItem::Export).

mod encode;
mod read;
#[cfg(test)]
mod tests;

use simkeep::EpochOptions;

pub use encode::{ExportEncoder, entry};
pub(super) use read::{is_head, read};

/// The version that this build writes and reads.
const VERSION: u64 = 1;

/// The maximum number of bytes of a first line.
pub(super) const HEAD_BYTES_MAX: usize = 4 << 10;

/// The maximum number of bytes of a table in one line.
const PART_BYTES_MAX: usize = 192 << 10;

/// The maximum number of bytes of a line that is not a record. A line with a part of a table is
/// shorter.
const LINE_BYTES_MAX: usize = 512 << 10;

/// The scope of an export, for readers of its first line.
///
/// ```
/// use simkeep_formats::export::{ExportEncoder, ExportScope};
///
/// let under = Some("example.com".to_owned());
/// let scope = ExportScope { under, in_force: true, ..ExportScope::default() };
/// let mut head = Vec::new();
/// ExportEncoder::new(&scope).pass(&mut head)?;
/// let expected =
///     "{\"simkeep\":\"export\",\"version\":1,\"under\":\"example.com\",\"in_force_only\":true}\n";
/// assert_eq!(String::from_utf8(head).unwrap(), expected);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExportScope {
    /// The prefix of the exported pages.
    pub under: Option<String>,
    /// The earliest time of the exported entries, in milliseconds since 1970.
    pub since: Option<i64>,
    /// The latest time of the exported entries, in milliseconds since 1970.
    pub until: Option<i64>,
    /// Whether the export has only current content.
    pub in_force: bool,
}

/// A line of an export that is not a record.
///
/// ```
/// use simkeep_formats::export::{ExportEncoder, ExportLineKind, ExportScope};
/// use simkeep_formats::{InputParts, InputSource, SourceItem};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("pages.jsonl");
/// let mut encoder = ExportEncoder::new(&ExportScope::default());
/// encoder.end();
/// encoder.pass(&mut std::fs::File::create(&path)?)?;
///
/// let mut kinds = Vec::new();
/// for chunk in InputParts::new([InputSource::Path(path)]).flatten() {
///     chunk.items(|item| {
///         let SourceItem::Export(line) = item else { panic!("the export has no pages") };
///         kinds.push(line.kind);
///     });
/// }
/// assert_eq!(kinds, [ExportLineKind::Begin, ExportLineKind::End, ExportLineKind::FileEnd]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ExportLine {
    /// The file and the position in it, escaped for display.
    pub at: String,
    /// The content of the line.
    pub kind: ExportLineKind,
}

/// The content of a line of an export.
///
/// ```
/// use simkeep_formats::export::{ExportEncoder, ExportLineKind, ExportScope};
/// use simkeep_formats::{InputParts, InputSource, SourceItem};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("pages.jsonl");
/// let mut encoder = ExportEncoder::new(&ExportScope::default());
/// encoder.pass(&mut std::fs::File::create(&path)?)?; // without its end
///
/// let mut is_complete = false;
/// for chunk in InputParts::new([InputSource::Path(path)]).flatten() {
///     chunk.items(|item| {
///         if let SourceItem::Export(line) = item {
///             is_complete |= line.kind == ExportLineKind::End;
///         }
///     });
/// }
/// assert!(!is_complete); // do not use the export
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ExportLineKind {
    /// The start of an export.
    Begin,
    /// An epoch of the store; older epochs come first.
    Epoch(ExportedEpoch),
    /// A part of a table.
    Table(TablePart),
    /// The last line of the export, with the correct number of lines.
    End,
    /// The end of the file. The export is complete if the previous item was
    /// [`ExportLineKind::End`], and no earlier item was.
    FileEnd,
    /// The reason why the export must not be used, escaped for display.
    Flawed(String),
}

/// An epoch of the exported store.
///
/// ```
/// use simkeep::{Options, Role, Store};
/// use simkeep_formats::export::{ExportEncoder, ExportLineKind, ExportScope};
/// use simkeep_formats::{InputParts, InputSource, SourceItem};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("pages.jsonl");
/// let store = Store::create(folder.path().join("store"), Options::default())?;
/// store.register_epoch("perceptual hash 1.2", Role::Near)?;
/// let mut encoder = ExportEncoder::new(&ExportScope::default());
/// store.snapshot().epochs().iter().for_each(|info| encoder.epoch(info, None));
/// # encoder.end();
/// encoder.pass(&mut std::fs::File::create(&path)?)?;
///
/// let mut epochs = Vec::new();
/// for chunk in InputParts::new([InputSource::Path(path)]).flatten() {
///     chunk.items(|item| {
///         let SourceItem::Export(line) = item else { return };
///         if let ExportLineKind::Epoch(epoch) = line.kind {
///             epochs.push(epoch);
///         }
///     });
/// }
/// assert_eq!(epochs[1].name, "perceptual hash 1.2");
/// assert_eq!((epochs[1].options.role, epochs[1].ended), (Role::Near, false));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ExportedEpoch {
    /// The name of the epoch.
    pub name: String,
    /// The number of leading bits of the epoch's fingerprints that are reserved, and not compared.
    pub reserved: u32,
    /// The role and the bands of the epoch.
    pub options: EpochOptions,
    /// The number of visits in the store when the epoch began.
    pub begun: u64,
    /// Whether the epoch has ended.
    pub ended: bool,
    /// The checksum of the epoch's table of document frequencies, if the export includes the table.
    pub table: Option<u64>,
}

/// A part of a table of document frequencies.
///
/// ```
/// use simkeep::df::FrequencyCounter;
/// use simkeep::fingerprint::Recipe;
/// use simkeep_formats::export::{ExportEncoder, ExportLineKind, ExportScope};
/// use simkeep_formats::{InputParts, InputSource, SourceItem};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("pages.jsonl");
/// let table_path = folder.path().join("crawl.df");
/// let mut counter = FrequencyCounter::new(&Recipe::words(1), table_path, 1 << 20)?;
/// counter.add("fresh fish and chips")?;
/// let table = counter.freeze(1)?;
/// let (mut encoder, mut file) =
///     (ExportEncoder::new(&ExportScope::default()), std::fs::File::create(&path)?);
/// encoder.table(&table, &mut file)?;
///
/// let mut bytes = Vec::new();
/// for chunk in InputParts::new([InputSource::Path(path)]).flatten() {
///     chunk.items(|item| {
///         let SourceItem::Export(line) = item else { return };
///         if let ExportLineKind::Table(part) = line.kind {
///             assert_eq!((part.id, part.at), (table.id(), bytes.len() as u64));
///             bytes.extend(part.bytes);
///         }
///     });
/// }
/// assert_eq!(bytes, table.as_bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TablePart {
    /// The checksum of the table.
    pub id: u64,
    /// The offset of the part in the file of the table.
    pub at: u64,
    /// The length of the file of the table in bytes.
    pub of: u64,
    /// The bytes of the part.
    pub bytes: Vec<u8>,
}

impl ExportLine {
    /// Returns the bytes of memory that the line takes on the heap.
    pub fn bytes(&self) -> usize {
        let said = match &self.kind {
            ExportLineKind::Epoch(epoch) => epoch.name.len(),
            ExportLineKind::Table(part) => part.bytes.len(),
            ExportLineKind::Flawed(why) => why.len(),
            ExportLineKind::Begin | ExportLineKind::End | ExportLineKind::FileEnd => 0,
        };
        self.at.len() + said
    }
}
