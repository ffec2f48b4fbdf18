//! The newest generation that is whole, while others may be on their way.
//!
//! Whatever carries files here may bring a generation before its files, and may show a file before it
//! has all of its bytes. Such a generation is passed over, and it is said which one.

use std::sync::Arc;

use super::target::{listed, read, some_numbers};
use crate::bug::OrBug;
use crate::catalog::Generation;
use crate::disk::{Access, Disk, Name};
use crate::engine::files::{Files, Listed};
use crate::error::{Error, Result};

/// A generation that is newer than the one that is read, and was passed over: it is not whole yet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Incomplete {
    /// Its number.
    pub generation: u64,
    /// What is missing of it: the file, and how much of that.
    pub why: String,
}

/// What was found of the newest generation that is whole.
#[derive(Debug)]
pub(crate) struct Newest<T> {
    pub(crate) number: u64,
    pub(crate) found: T,
    /// The newest of all, if it is not whole.
    pub(crate) incomplete: Option<Incomplete>,
}

/// What `look` makes of the newest generation that is whole.
///
/// # Errors
///
/// If none is whole, why the newest is not; [`Error::NotAStore`] if there is none.
pub(crate) fn newest<T>(
    disk: &Arc<dyn Disk>,
    mut look: impl FnMut(&Generation) -> Result<T>,
) -> Result<Newest<T>> {
    let mut tried = Vec::new();
    loop {
        let all = some_numbers(disk)?;
        let mut passed: Option<(Incomplete, Error)> = None;
        for number in all.iter().copied().rev() {
            match look_at(disk, number, &mut look)? {
                Look::Whole(found) => {
                    let incomplete = passed.map(|(incomplete, _)| incomplete);
                    return Ok(Newest { number, found, incomplete });
                }
                Look::Coming(why, error) => {
                    let incomplete = Incomplete { generation: number, why };
                    passed.get_or_insert((incomplete, error));
                }
            }
        }
        // All may have been removed meanwhile: then there is another.
        if tried == all {
            return Err(passed.or_bug("there is a generation, and it could not be opened")?.1);
        }
        tried = all;
    }
}

/// What came of looking at a generation.
enum Look<T> {
    Whole(T),
    /// What is missing of it, and the error that came of it.
    Coming(String, Error),
}

fn look_at<T>(
    disk: &Arc<dyn Disk>,
    number: u64,
    look: &mut impl FnMut(&Generation) -> Result<T>,
) -> Result<Look<T>> {
    let mut looked = || read(&**disk, number).and_then(|generation| look(&generation));
    let error = match looked() {
        Ok(found) => return Ok(Look::Whole(found)),
        Err(e) => e,
    };
    if !(error.is_not_found() || error.is_cut() || matches!(error, Error::Corrupt(_))) {
        return Err(error);
    }
    match missing(disk, number)? {
        Some(why) => Ok(Look::Coming(why, error)),
        // It may have become whole since.
        None => looked().map(Look::Whole),
    }
}

/// What is missing of a generation: the file itself, or one that it names, is not there or shorter than
/// it must be. `None` if all of it is there.
pub(crate) fn missing(disk: &Arc<dyn Disk>, number: u64) -> Result<Option<String>> {
    let generation = match read(&**disk, number) {
        Ok(generation) => generation,
        Err(e) if e.is_not_found() => {
            return Ok(Some(format!("{} is gone", Name::Generation(number))));
        }
        Err(_) if Generation::is_torn(&**disk, number)? => {
            let name = Name::Generation(number);
            return Ok(Some(format!("{name} is cut, or being written")));
        }
        Err(e) => return Err(e),
    };
    for (of, bytes) in listed(&generation)? {
        let name = Files::Published(generation.published.store).of(&of);
        match length(disk, name) {
            Ok(len) if len >= bytes => {}
            Ok(len) => return Ok(Some(format!("{name} has {len} of {bytes} bytes"))),
            Err(e) if e.is_not_found() => return Ok(Some(format!("{name} is not there"))),
            Err(e) => return Err(e),
        }
    }
    Ok(None)
}

/// Checks that the tables of a generation are there, with all their bytes. They are read when an epoch's
/// recipe is asked for.
pub(crate) fn require_tables(disk: &Arc<dyn Disk>, generation: &Generation) -> Result<()> {
    let names = Files::Published(generation.published.store);
    for (of, bytes) in listed(generation)? {
        let Listed::Table(info) = of else { continue };
        let name = names.table(&info);
        let len = length(disk, name)?;
        if len < bytes {
            let what = format!("it is cut short: expected {bytes} bytes, found {len}");
            return Err(Error::corrupt(name, len, what));
        }
    }
    Ok(())
}

fn length(disk: &Arc<dyn Disk>, name: Name) -> Result<u64> {
    let file = disk.open(name, Access::Read).map_err(|e| Error::io("open", name, e))?;
    file.size().map_err(|e| Error::io("measure", name, e))
}
