//! The sum of several tables.

use std::path::Path;

use super::counter::too_many_documents;
use super::destination::TableDestination;
use super::frame::TableFrame;
use super::table::FrequencyTable;
use super::writer::TableWriter;
use crate::error::{Error, Result};
use crate::fingerprint::Frequencies;
use crate::sort::Tournament;

/// Adds up several tables into one, in the file `path`, and opens it.
///
/// Leaves out features of fewer than `least` documents. With a single table as input, the result is
/// a copy with fewer rare features. An existing table is replaced atomically.
///
/// Costs one pass over all tables, a megabyte of memory, and one byte for each feature, up to 64
/// MiB.
///
/// ```no_run
/// use simkeep::df::{FrequencyTable, merge};
/// let tables = [FrequencyTable::open("monday.df")?, FrequencyTable::open("tuesday.df")?];
/// let both = merge(&tables, "both.df", 2)?;
/// # Ok::<(), simkeep::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::InvalidArgument`] without any table, for the same table twice, for tables of different
/// features, and for tables that left out features which `least` includes, because the sum of their
/// counts is unknown. [`Error::Limit`] for more documents than a table can count.
/// [`Error::AlreadyExists`] if `path` exists and is not a table, [`Error::Io`] if the file cannot
/// be written.
pub fn merge(
    tables: &[FrequencyTable],
    path: impl AsRef<Path>,
    least: u32,
) -> Result<FrequencyTable> {
    merge_into(TableDestination::file(path.as_ref())?, tables, least)
}

pub(super) fn merge_into(
    mut to: TableDestination,
    tables: &[FrequencyTable],
    least: u32,
) -> Result<FrequencyTable> {
    let frame = frame_of(tables, least.max(1))?;
    let merged = write(&mut to, tables, frame);
    merged.and_then(|()| FrequencyTable::open_on(&*to.disk, to.number)).map_err(|e| to.error(e))
}

/// The frame of the merged table before the table is written.
fn frame_of(tables: &[FrequencyTable], least: u32) -> Result<TableFrame> {
    let refused = |what: String| Err(Error::InvalidArgument(what));
    let Some(first) = tables.first() else {
        return refused("there is no table to merge; name at least one table".into());
    };
    if let Some(other) = tables.iter().find(|table| table.features() != first.features()) {
        let (one, other) = (first.features(), other.features());
        return refused(format!(
            "a table of the features {one} and a table of the features {other} cannot be merged"
        ));
    }
    let mut ids: Vec<u64> = tables.iter().map(FrequencyTable::id).collect();
    ids.sort_unstable();
    if ids.windows(2).any(|pair| pair.first() == pair.last()) {
        return refused(
            "the same table is given twice, and its documents would count twice; name each table \
             once"
                .into(),
        );
    }
    let thinned = tables.iter().map(FrequencyTable::left_out).find(|(_, left_out)| *left_out > 0);
    let (left_least, left_out) = thinned.unwrap_or((0, 0));
    match tables {
        [_] if least < left_least => {
            return refused(format!(
                "the table lacks features of fewer than {left_least} documents; leave out features \
                 of fewer than {left_least} documents or more"
            ));
        }
        [_, _, ..] if left_out > 0 => {
            return refused(format!(
                "a table lacks features of fewer than {left_least} documents; merge tables with \
                 all features, and leave out rare features in the result"
            ));
        }
        _ => {}
    }
    let documents: u64 = tables.iter().map(FrequencyTable::documents).sum();
    if documents > u64::from(u32::MAX) {
        return Err(too_many_documents());
    }
    let features = first.features().to_owned();
    Ok(TableFrame { documents, least, left_out, features, ..TableFrame::default() })
}

#[expect(clippy::indexing_slicing, reason = "contestants are numbers of tables, at least one")]
fn write(to: &mut TableDestination, tables: &[FrequencyTable], frame: TableFrame) -> Result<()> {
    let terms_max = tables.iter().map(FrequencyTable::terms).sum();
    let mut writer = TableWriter::new(to.begin()?, frame, terms_max)?;
    let mut rests: Vec<_> = tables.iter().map(|table| table.iter().peekable()).collect();
    let mut heads: Vec<Option<u64>> =
        rests.iter_mut().map(|rest| rest.peek().map(|entry| entry.0)).collect();
    let before = |heads: &[Option<u64>], a: usize, b: usize| {
        // Exhausted tables come last.
        let head = |n: usize| heads[n].map_or((true, 0), |hash| (false, hash));
        head(a) < head(b)
    };
    let mut tournament = Tournament::new(heads.len(), &mut |a, b| before(&heads, a, b));
    loop {
        let winner = tournament.winner();
        let Some((hash, frequency)) = rests[winner].next() else { break };
        writer.push(hash, frequency)?;
        heads[winner] = rests[winner].peek().map(|entry| entry.0);
        tournament.replay(|a, b| before(&heads, a, b));
    }
    writer.finish(to)
}
