//! One table of several.

use std::path::Path;
use std::sync::Arc;

use super::table::Table;
use super::writer::Writer;
use crate::disk::{Disk, Name, RealDisk};
use crate::error::{Error, Result};
use crate::fingerprint::Frequencies;
use crate::sort::Tournament;

/// Makes one table of what several have counted, in the file `path`, and opens it; features of fewer
/// than `least` documents are left out. Of one table it makes another with fewer rare features. A file
/// that was there is replaced, at once.
///
/// One pass over all of them; a megabyte of memory, and one byte for each feature up to 64 MiB.
///
/// ```no_run
/// use simkeep::df::{Table, merge};
/// let tables = [Table::open("monday.df")?, Table::open("tuesday.df")?];
/// let both = merge(&tables, "both.df", 2)?;
/// # Ok::<(), simkeep::Error>(())
/// ```
///
/// # Errors
/// [`Error::Option`] for no table, for tables of different features, for so many documents that no
/// table counts them, and for tables that left out what is asked for: of a feature that one of them
/// left out nobody knows the sum. [`Error::Io`] if the file cannot be written.
pub fn merge(tables: &[Table], path: impl AsRef<Path>, least: u32) -> Result<Table> {
    let path = path.as_ref();
    let disk = RealDisk::of_table(path).map_err(|e| Error::io("create", path.display(), e))?;
    let disk: Arc<dyn Disk> = Arc::new(disk);
    merge_on(&disk, 0, tables, least).map_err(|e| e.in_file(Name::Df(0), path))
}

pub(super) fn merge_on(
    disk: &Arc<dyn Disk>,
    number: u64,
    tables: &[Table],
    least: u32,
) -> Result<Table> {
    let refused = |what: String| Err(Error::Option(what));
    let Some(first) = tables.first() else { return refused("name a table to merge".into()) };
    if let Some(other) = tables.iter().find(|table| table.features() != first.features()) {
        let (one, other) = (first.features(), other.features());
        return refused(format!("tables of {one} and of {other} cannot be merged"));
    }
    let left_out = tables.iter().map(|table| table.left_out().0).max().unwrap_or(0);
    if left_out > 1 && (tables.len() > 1 || least < left_out) {
        return refused(format!(
            "a table left out what fewer than {left_out} documents have; merge tables that have \
             all features, and leave rare ones out of the last"
        ));
    }
    let documents: u64 = tables.iter().map(Table::documents).sum();
    if documents > u64::from(u32::MAX) {
        return refused("a table counts four billion documents at most".into());
    }
    let terms_max = tables.iter().map(Table::terms).sum();
    let mut writer = Writer::new(disk, number, first.features(), documents, least, terms_max)?;
    let mut rests: Vec<_> = tables.iter().map(|table| table.iter().peekable()).collect();
    let mut heads: Vec<Option<u64>> =
        rests.iter_mut().map(|rest| rest.peek().map(|entry| entry.0)).collect();
    let before = |heads: &[Option<u64>], a: usize, b: usize| {
        let head = |n: usize| heads.get(n).copied().flatten();
        // One that is at its end comes last.
        head(a).map_or((true, 0), |hash| (false, hash)) < head(b).map_or((true, 0), |h| (false, h))
    };
    let mut tournament = Tournament::new(heads.len(), |a, b| before(&heads, a, b));
    let mut open: Option<(u64, u32)> = None;
    loop {
        let winner = tournament.winner();
        let next = rests.get_mut(winner).and_then(Iterator::next);
        let ended = next.is_none();
        match (&mut open, next) {
            (Some((hash, sum)), Some((next, frequency))) if *hash == next => {
                *sum = sum.saturating_add(frequency);
            }
            (open, next) => {
                if let Some((hash, frequency)) = std::mem::replace(open, next) {
                    writer.push(hash, frequency)?;
                }
            }
        }
        if ended {
            break;
        }
        let head = rests.get_mut(winner).and_then(|rest| rest.peek().map(|entry| entry.0));
        heads.get_mut(winner).into_iter().for_each(|place| *place = head);
        tournament.replay(|a, b| before(&heads, a, b));
    }
    writer.finish(number)?;
    Table::open_on(&**disk, number)
}
