//! The newest complete generation, while newer generations may be arriving.
//!
//! A copying tool may copy a generation before its files, and may show a file before the file has
//! all of its bytes. Such a generation is skipped, and reported.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::sync::Arc;

use super::files::{FileNaming, ListedFile, has_table};
use crate::bug::OrBug;
use crate::catalog::{Generation, TableRow};
use crate::disk::{Access, Dir, Disk, FileName};
use crate::error::{Error, NotStore, Result};
use crate::page::EpochInfo;

/// A generation newer than the generation that is read. It was skipped because it is incomplete.
///
/// ```
/// # use simkeep::{Options, Reader, Store};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// # store.publish(dir.path().join("public"), Default::default())?;
/// let reader = Reader::published(dir.path().join("public"), None)?;
/// if let Some(newer) = reader.incomplete() {
///     println!("generation {} is incomplete: {}", newer.generation, newer.why);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IncompleteGeneration {
    /// The number of the generation.
    pub generation: u64,
    /// The missing file, and how much of it is missing.
    pub why: String,
}

/// The newest complete generation.
#[derive(Debug)]
pub(crate) struct NewestGeneration<T> {
    pub(crate) number: u64,
    pub(crate) found: T,
    /// The newest generation of all, if it is incomplete.
    pub(crate) incomplete: Option<IncompleteGeneration>,
}

/// Returns the result of `look` for the newest complete generation.
///
/// # Errors
///
/// If no generation is complete, the error of the newest generation; [`Error::NotAStore`] if there
/// is no generation.
pub(crate) fn newest<T>(
    disk: &Arc<dyn Disk>,
    mut look: impl FnMut(&Generation) -> Result<T>,
) -> Result<NewestGeneration<T>> {
    let mut tried = Vec::new();
    loop {
        let all = some_numbers(disk)?;
        let mut passed: Option<(IncompleteGeneration, Error)> = None;
        for number in all.iter().copied().rev() {
            match look_at(disk, number, &mut look)? {
                GenerationRead::Complete(found) => {
                    let incomplete = passed.map(|(incomplete, _)| incomplete);
                    return Ok(NewestGeneration { number, found, incomplete });
                }
                GenerationRead::Incomplete(why, error) => {
                    let incomplete = IncompleteGeneration { generation: number, why };
                    passed.get_or_insert((incomplete, error));
                }
            }
        }
        // All generations may have been removed since; in this case there is a newer generation.
        if tried == all {
            return Err(passed.or_bug("a generation exists that could not be opened")?.1);
        }
        tried = all;
    }
}

/// The result of reading a generation.
enum GenerationRead<T> {
    Complete(T),
    /// The generation is incomplete: the missing part, and the resulting error.
    Incomplete(String, Error),
}

fn look_at<T>(
    disk: &Arc<dyn Disk>,
    number: u64,
    look: &mut impl FnMut(&Generation) -> Result<T>,
) -> Result<GenerationRead<T>> {
    let mut looked = || read(&**disk, number).and_then(|generation| look(&generation));
    let error = match looked() {
        Ok(found) => return Ok(GenerationRead::Complete(found)),
        Err(e) => e,
    };
    if !(error.is_not_found() || error.is_cut() || matches!(error, Error::Corrupt(_))) {
        return Err(error);
    }
    match missing(disk, number)? {
        Some(why) => Ok(GenerationRead::Incomplete(why, error)),
        // The generation may have become complete since.
        None => looked().map(GenerationRead::Complete),
    }
}

/// The missing part of a generation: the generation file itself, or a listed file, is missing or
/// too short. `None` if the generation is complete.
pub(crate) fn missing(disk: &Arc<dyn Disk>, number: u64) -> Result<Option<String>> {
    let generation = match read(&**disk, number) {
        Ok(generation) => generation,
        Err(e) if e.is_not_found() => {
            return Ok(Some(format!("{} is gone", FileName::Generation(number))));
        }
        Err(_) if Generation::is_torn(&**disk, number)? => {
            let name = FileName::Generation(number);
            return Ok(Some(format!("{name} is cut short, or is still being written")));
        }
        Err(e) => return Err(e),
    };
    for (of, bytes) in listed(&generation)? {
        let name = FileNaming::Published(generation.published.store).of(&of);
        match length(disk, name) {
            Ok(len) if len >= bytes => {}
            Ok(len) => return Ok(Some(format!("{name} has {len} of {bytes} bytes"))),
            Err(e) if e.is_not_found() => return Ok(Some(format!("{name} is missing"))),
            Err(e) => return Err(e),
        }
    }
    Ok(None)
}

/// Checks that the tables of a generation exist with their full length. Tables are read when an
/// epoch's recipe is needed.
pub(crate) fn require_tables(disk: &Arc<dyn Disk>, generation: &Generation) -> Result<()> {
    let names = FileNaming::Published(generation.published.store);
    for (of, bytes) in listed(generation)? {
        let ListedFile::Table(info) = of else { continue };
        let name = names.table(&info);
        let len = length(disk, name)?;
        if len < bytes {
            let what = format!("it is cut short: expected {bytes} bytes, found {len}");
            return Err(Error::corrupt(name, len, what));
        }
    }
    Ok(())
}

fn length(disk: &Arc<dyn Disk>, name: FileName) -> Result<u64> {
    let file = disk.open(name, Access::Read).map_err(|e| Error::io("open", name, e))?;
    file.size().map_err(|e| Error::io("measure", name, e))
}

/// Reads a generation, and checks its list of tables.
pub(crate) fn read(disk: &dyn Disk, number: u64) -> Result<Generation> {
    let generation = Generation::read(disk, number)?;
    let of_table = |row: &TableRow| generation.published.epochs.get(row.epoch as usize);
    let is_one = |row: &TableRow| of_table(row).is_some_and(has_table);
    if generation.tables.iter().all(is_one) {
        return Ok(generation);
    }
    let what = "it lists a table for an epoch that has no table";
    Err(Error::corrupt(FileName::Generation(number), 0, what))
}

/// Returns the results of `look` for each generation, in order. Leaves out generations that were
/// removed meanwhile.
pub(crate) fn each<T>(
    disk: &Arc<dyn Disk>,
    mut look: impl FnMut(Generation) -> Result<T>,
) -> Result<Vec<T>> {
    let mut all = Vec::new();
    for number in some_numbers(disk)? {
        match read(&**disk, number).and_then(&mut look) {
            Err(e) if e.is_not_found() && !numbers(&**disk)?.contains(&number) => {}
            looked => all.push(looked?),
        }
    }
    Ok(all)
}

/// The numbers of the existing generations: at least one.
pub(crate) fn some_numbers(disk: &Arc<dyn Disk>) -> Result<Vec<u64>> {
    let numbers = numbers(&**disk)?;
    if numbers.is_empty() {
        let (location, why) = (disk.location(), "it contains no published generation".to_owned());
        return Err(Error::NotAStore { location, why, found: NotStore::Other });
    }
    Ok(numbers)
}

/// The files of a generation, with their sizes in bytes.
pub(crate) fn listed(generation: &Generation) -> Result<Vec<(ListedFile, u64)>> {
    let segments = generation.published.segments.iter();
    let segments = segments.map(|row| Ok((ListedFile::Segment(*row), row.bytes)));
    let tables = generation.tables.iter().map(|table| {
        let info = generation.published.epochs.get(table.epoch as usize);
        let info = info.or_bug("each table belongs to an epoch of its generation")?;
        Ok((ListedFile::Table(info.clone()), table.bytes))
    });
    segments.chain(tables).collect()
}

/// The names of a generation's files.
pub(crate) fn names_of(generation: &Generation) -> impl Iterator<Item = FileName> + '_ {
    let names = FileNaming::Published(generation.published.store);
    let segments = generation.published.segments.iter().map(move |row| names.segment(row));
    let of_table =
        |info: &&EpochInfo| generation.tables.iter().any(|table| table.epoch == info.epoch.count());
    let tables = generation.published.epochs.iter().filter(of_table);
    segments.chain(tables.map(move |info| names.table(info)))
}

/// The numbers of the existing generations, in order.
pub(crate) fn numbers(disk: &dyn Disk) -> Result<Vec<u64>> {
    let numbers = parsed(disk, Dir::Generations)?.into_iter().filter_map(|name| match name {
        FileName::Generation(number) => Some(number),
        _ => None,
    });
    let mut numbers: Vec<u64> = numbers.collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// The files with simkeep's names in a directory; none if the directory does not exist.
pub(crate) fn parsed(disk: &dyn Disk, dir: Dir) -> Result<Vec<FileName>> {
    match disk.list(dir) {
        Ok(entries) => Ok(entries.iter().filter_map(|entry| FileName::parse(dir, entry)).collect()),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(Error::io("list", disk.location(), e)),
    }
}

/// Whether a directory has published generations, or receives a copy of published generations: the
/// directory is not a store, and has files as `publish` names them. Costs listing two directories.
pub(crate) fn is_published(disk: &dyn Disk) -> Result<bool> {
    let list = |dir| match disk.list(dir) {
        Ok(entries) => Ok(Some(entries)),
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(e) => Err(Error::io("list", disk.location(), e)),
    };
    let is_any = |dir, entries: &[OsString]| {
        entries.iter().any(|entry| FileName::parse(dir, entry).is_some())
    };
    let is_ours = match (list(Dir::Files)?, list(Dir::Generations)?) {
        (Some(files), _) if is_any(Dir::Files, &files) => true,
        // No listed file may have arrived yet.
        (Some(_), Some(generations)) => is_any(Dir::Generations, &generations),
        _ => false,
    };
    if !is_ours {
        return Ok(false);
    }
    match disk.open(FileName::Catalog, Access::Read) {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(true),
        // Something else has the name of the catalog.
        _ => Ok(false),
    }
}

/// Checks that a directory may receive generations: it is empty, does not exist, or has published
/// generations already.
pub(crate) fn require_published(disk: &Arc<dyn Disk>) -> Result<()> {
    let location = disk.location();
    let entries = match disk.list(Dir::Root) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(Error::io("list", location, e)),
    };
    let not = |why| {
        let location = location.clone();
        Err(Error::NotAStore { location, why, found: NotStore::Other })
    };
    if entries.iter().any(|entry| FileName::parse(Dir::Root, entry) == Some(FileName::Catalog)) {
        return not("it is a store itself; name another directory".to_owned());
    }
    let known = Dir::PUBLISHED.iter().filter_map(|dir| dir.name());
    let known: Vec<&str> = known.chain(["LOCK"]).collect();
    let is_ours = entries.iter().any(|entry| entry.to_str() == Dir::Generations.name());
    let foreign = entries.iter().find(|entry| !known.iter().any(|known| entry == known));
    match foreign {
        Some(entry) if !is_ours => {
            let entry = entry.display().to_string();
            let entry = entry.escape_debug();
            not(format!(
                "it contains other files, such as {entry}; name a new or an empty directory"
            ))
        }
        _ => Ok(()),
    }
}
