//! The contents of a catalog. They are read as a whole when a store is opened, and written as a
//! whole when a catalog is created or rewritten. Between these times, changes are written row by
//! row.

use redb::{Key, TableHandle, Value, WriteTransaction};

use super::backend::guarded;
use super::frames::{FrameAssembler, JournalFrames, JournalTail, part_key};
use super::mark::CommitMark;
use super::rows::{
    CHANGES, FORMAT, JournalFrame, NEXT_SEGMENT, SEQUENCES_END, STORE_ID, SegmentRow, Settings,
    UNFINISHED, URL_HASH_BITS, URL_SEED, VERSION, check_epochs, check_rows, check_url_hash_bits,
    of_epoch, parse_epoch,
};
use super::sessions::{self, WriterSession, check_sessions};
use super::tables::{EPOCHS, Journal, SEGMENTS, SESSIONS, SETTINGS};
use super::tree::{RedbTable, RedbTree, Widths};
use crate::disk::{Disk, FileName};
use crate::error::{Error, Result};
use crate::layout::url_hash_bits;
use crate::order::sort_few_by_key;
use crate::page::EpochInfo;

/// Whether to read the rows of writer sessions. Only a comparison of two stores needs these rows,
/// which take up to 140 KB.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SessionRows {
    Read,
    Skip,
}

/// The contents of a catalog.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CatalogContents {
    pub(crate) settings: Settings,
    /// The live segments in order of sequence.
    pub(crate) segments: Vec<SegmentRow>,
    /// The epochs by number.
    pub(crate) epochs: Vec<EpochInfo>,
    /// The last writer sessions by number; empty if they were not [read](SessionRows).
    pub(crate) sessions: Vec<WriterSession>,
    pub(crate) journals: [JournalFrames; 2],
}

/// The contents of a catalog without the journals.
pub(super) struct CatalogLists {
    settings: Settings,
    segments: Vec<SegmentRow>,
    epochs: Vec<EpochInfo>,
    sessions: Vec<WriterSession>,
}

impl CatalogLists {
    pub(super) fn with(self, journals: [JournalFrames; 2]) -> CatalogContents {
        let CatalogLists { settings, segments, epochs, sessions } = self;
        CatalogContents { settings, segments, epochs, sessions, journals }
    }
}

impl CatalogContents {
    /// The contents of a new store's catalog.
    pub(crate) fn new(
        disk: &dyn Disk,
        epochs: Vec<EpochInfo>,
        unfinished: bool,
    ) -> CatalogContents {
        let (store, url_seed) = (disk.random(), disk.random());
        let settings = Settings { store, url_seed, next_segment: 1, changes: 0, unfinished };
        let journals = [Journal::A, Journal::B].map(JournalFrames::none);
        let (segments, sessions) = (Vec::new(), Vec::new());
        CatalogContents { settings, segments, epochs, sessions, journals }
    }

    /// The contents of a copy that has no files yet.
    pub(crate) fn without_files(&self) -> CatalogContents {
        CatalogContents {
            settings: Settings { unfinished: true, ..self.settings },
            segments: Vec::new(),
            epochs: self.epochs.clone(),
            sessions: Vec::new(),
            journals: [Journal::A, Journal::B].map(JournalFrames::none),
        }
    }

    /// The greatest mark that a catalog with these contents can have.
    pub(crate) fn marked(&self) -> CommitMark {
        let journalled = self.journals.iter().filter_map(JournalFrames::last_sequence);
        let listed = self.segments.last().map(|row| row.last_sequence);
        CommitMark {
            // If there are neither segments nor frames, nothing has been observed yet.
            sequence: journalled.chain(listed).max().unwrap_or(0),
            changes: self.settings.changes,
        }
    }
}

pub(super) fn damaged(what: impl Into<String>) -> Error {
    Error::corrupt(FileName::Catalog, 0, what)
}

/// Reads the whole catalog into memory, and checks redb's internal pages.
pub(super) fn read(tree: &mut RedbTree<'_>) -> Result<CatalogContents> {
    let mut journals = [Journal::A, Journal::B].map(JournalFrames::none);
    let lists = read_new(tree, &mut journals, SessionRows::Read)?;
    tree.check_system()?;
    Ok(lists.with(journals))
}

/// Reads the catalog into memory, but only the frames of each journal after the frames in
/// `journals`. After an error, `journals` has the frames that were read completely.
pub(super) fn read_new(
    tree: &mut RedbTree<'_>,
    journals: &mut [JournalFrames; 2],
    sessions: SessionRows,
) -> Result<CatalogLists> {
    let tables = tree.tables()?;
    let settings = settings(tree, &tables)?;

    let mut segments = Vec::new();
    rows(tree, &tables, SEGMENTS, |id, row| {
        let row = SegmentRow::parse(id, row);
        segments.push(
            row.ok_or_else(|| damaged(format!("the entry of segment {id} is not readable")))?,
        );
        Ok(())
    })?;
    sort_few_by_key(&mut segments, |row| row.first_sequence);
    check_rows(&segments).map_err(damaged)?;
    if let Some(row) = segments.iter().find(|row| row.id >= settings.next_segment) {
        let what = format!(
            "the next segment has the number {}, but segment {} exists already",
            settings.next_segment, row.id
        );
        return Err(damaged(what));
    }

    let mut epochs = Vec::new();
    rows(tree, &tables, EPOCHS, |number, row| {
        if number as usize != epochs.len() {
            return Err(damaged("the epochs are not numbered consecutively"));
        }
        let epoch = parse_epoch(epochs.len(), row);
        epochs.push(
            epoch.ok_or_else(|| damaged(format!("the entry of epoch {number} is not readable")))?,
        );
        Ok(())
    })?;

    check_epochs(&epochs).map_err(damaged)?;

    let sessions = match sessions {
        SessionRows::Read => writer_sessions(tree, &tables)?,
        SessionRows::Skip => Vec::new(),
    };
    let sealed = segments.last().map_or(0, |row| row.last_sequence);
    for frames in journals {
        // Sealed operations are in no journal, so the journal's table has been replaced.
        if frames.last_sequence().is_some_and(|last| last <= sealed) {
            frames.clear();
        }
        if !follow(tree, &tables, frames)? {
            // A crash may have undone a commit that was read before its last sync.
            frames.clear();
            tree.again();
            follow(tree, &tables, frames)?;
        }
    }
    Ok(CatalogLists { settings, segments, epochs, sessions })
}

fn writer_sessions(tree: &mut RedbTree<'_>, tables: &[RedbTable]) -> Result<Vec<WriterSession>> {
    let mut sessions = Vec::new();
    rows(tree, tables, SESSIONS, |number, row| {
        sessions.push(WriterSession::of_row(number, row));
        Ok(())
    })?;
    check_sessions(&sessions).map_err(damaged)?;
    Ok(sessions)
}

/// Adds the frames after the last known frame. Returns whether that last frame still exists.
fn follow(
    tree: &mut RedbTree<'_>,
    tables: &[RedbTable],
    frames: &mut JournalFrames,
) -> Result<bool> {
    let known = frames.last();
    let from = known.map_or(0, |tail| tail.first_sequence);
    let blobs = &mut frames.frames;
    let mut is_there = known.is_none().then_some(true);
    let mut take = |blob: JournalFrame| match is_there {
        Some(true) => blobs.push(blob),
        Some(false) => {}
        None => is_there = Some(known == Some(JournalTail::of(&blob))),
    };
    let before = |key: &[u8]| part_key(key).is_some_and(|(sequence, _)| sequence < from);
    let mut parts = FrameAssembler::default();
    rows_from(tree, tables, frames.journal.table(), &before, |key, part| {
        if key.0 >= from {
            parts.push(key, part)?.into_iter().for_each(&mut take);
        }
        Ok(())
    })?;
    parts.end()?.into_iter().for_each(take);
    Ok(is_there == Some(true))
}

fn settings(tree: &mut RedbTree<'_>, tables: &[RedbTable]) -> Result<Settings> {
    let mut found = Vec::new();
    rows(tree, tables, SETTINGS, |name, value| {
        found.push((name.to_owned(), value));
        Ok(())
    })?;
    let get = |name: &str| {
        let row = found.iter().find(|(k, _)| k == name);
        row.map(|(_, v)| *v).ok_or_else(|| damaged(format!("the setting {name} is missing")))
    };
    let counted = |name: &str| match get(name)? {
        number if number < SEQUENCES_END => Ok(number),
        number => Err(damaged(format!(
            "the setting {name} is {number}, which is more than any store can have"
        ))),
    };
    let version = get(FORMAT)?;
    let number = u32::try_from(version).map_err(|_| {
        damaged(format!("the setting {FORMAT} is {version}, which is not a format version"))
    })?;
    if number != VERSION {
        let file = FileName::Catalog.to_string();
        return Err(Error::Version { file, found: number, reads: VERSION });
    }
    check_url_hash_bits(FileName::Catalog, get(URL_HASH_BITS)?)?;
    Ok(Settings {
        store: get(STORE_ID)?,
        url_seed: get(URL_SEED)?,
        next_segment: counted(NEXT_SEGMENT)?,
        changes: counted(CHANGES)?,
        unfinished: found.iter().any(|(name, _)| name == UNFINISHED),
    })
}

/// Passes all rows of a table to `take`. The table may be missing.
fn rows<K, V>(
    tree: &mut RedbTree<'_>,
    tables: &[RedbTable],
    definition: redb::TableDefinition<'_, K, V>,
    take: impl FnMut(K::SelfType<'_>, V::SelfType<'_>) -> Result<()>,
) -> Result<()>
where
    K: Key + 'static,
    V: Value + 'static,
{
    rows_from(tree, tables, definition, &|_| false, take)
}

/// Passes the rows of a table to `take`. The table may be missing. Rows whose keys are `before` the
/// wanted rows may be left out.
fn rows_from<K, V>(
    tree: &mut RedbTree<'_>,
    tables: &[RedbTable],
    definition: redb::TableDefinition<'_, K, V>,
    before: &dyn Fn(&[u8]) -> bool,
    mut take: impl FnMut(K::SelfType<'_>, V::SelfType<'_>) -> Result<()>,
) -> Result<()>
where
    K: Key + 'static,
    V: Value + 'static,
{
    let name = definition.name();
    let Some(table) = tables.iter().find(|table| table.name == name) else { return Ok(()) };
    if table.widths != (Widths { key: K::fixed_width(), value: V::fixed_width() }) {
        return Err(damaged(format!("its table {name} has keys or values of an unknown type")));
    }
    tree.rows_from(table, before, &mut |row| {
        // A wrong checksum was reported to `flaw` already.
        if !row.sound {
            return Ok(());
        }
        // redb panics on invalid text.
        guarded(|| Ok((K::from_bytes(row.key), V::from_bytes(row.value))))
            .and_then(|(key, value)| take(key, value))
    })
}

/// Writes a whole catalog into an empty database.
pub(super) fn write(
    transaction: &WriteTransaction,
    contents: &CatalogContents,
) -> Result<(), redb::Error> {
    let mut settings = transaction.open_table(SETTINGS)?;
    settings.insert(FORMAT, u64::from(VERSION))?;
    settings.insert(STORE_ID, contents.settings.store)?;
    settings.insert(URL_SEED, contents.settings.url_seed)?;
    settings.insert(URL_HASH_BITS, url_hash_bits())?;
    settings.insert(NEXT_SEGMENT, contents.settings.next_segment)?;
    settings.insert(CHANGES, contents.settings.changes)?;
    if contents.settings.unfinished {
        settings.insert(UNFINISHED, 1)?;
    }
    let mut segments = transaction.open_table(SEGMENTS)?;
    for row in &contents.segments {
        segments.insert(row.id, row.to_bytes().as_slice())?;
    }
    let mut epochs = transaction.open_table(EPOCHS)?;
    for epoch in &contents.epochs {
        epochs.insert(epoch.epoch.count(), of_epoch(epoch).as_slice())?;
    }
    sessions::write(transaction, &contents.sessions)?;
    for frames in &contents.journals {
        let mut table = transaction.open_table(frames.journal.table())?;
        for blob in &frames.frames {
            blob.insert_into(&mut table)?;
        }
    }
    Ok(())
}
