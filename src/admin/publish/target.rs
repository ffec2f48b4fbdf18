//! The directory where a store is published: what is there, and what may go.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::admin::copy::State;
use crate::bug::OrBug;
use crate::catalog::{Contents, Generation, TableRow};
use crate::disk::{Access, Dir, Disk, Fixed, Lock, LockGuard, Locked, Name};
use crate::engine::files::{Files, Listed, has_table};
use crate::error::{Corruption, Error, NotStore, Result};
use crate::page::EpochInfo;

/// Where one store publishes. Nobody else publishes there meanwhile.
pub(super) struct Target {
    disk: Arc<dyn Disk>,
    _lock: Box<dyn LockGuard>,
    /// What is there, by number.
    pub(super) generations: Vec<Generation>,
}

impl Target {
    /// Takes a directory, and makes it if it is not there.
    pub(super) fn take(disk: &Arc<dyn Disk>) -> Result<Target> {
        require_published(disk)?;
        disk.create_dirs(Dir::PUBLISHED).map_err(|e| Error::io("create", disk.location(), e))?;
        let held = disk.lock(Name::Lock, Lock::Exclusive);
        let lock = match held.map_err(|e| Error::io("lock", Name::Lock, e))? {
            Locked::Held(lock) => lock,
            Locked::Refused(holder) => {
                return Err(Error::Locked { location: disk.location(), holder });
            }
        };
        let read = |number| {
            read(&**disk, number).map_err(|e| match e {
                Error::Corrupt(flaw) => {
                    let what = format!("{}; remove this file, and publish again", flaw.what);
                    Error::Corrupt(Corruption { what, ..flaw })
                }
                other => other,
            })
        };
        let generations = numbers(&**disk)?.into_iter().map(read).collect::<Result<_>>()?;
        Ok(Target { disk: Arc::clone(disk), _lock: lock, generations })
    }

    /// Checks that nothing but this store is published here, and that it went on from the newest
    /// generation.
    pub(super) fn require(&self, contents: &Contents) -> Result<()> {
        let not = |why: String| Err(Error::NotABackup { location: self.disk.location(), why });
        let store = contents.settings.store;
        if let Some(other) = self.generations.iter().find(|of| of.published.store != store) {
            let other = other.published.store;
            return not(format!(
                "the store {other:016x} is published there, and this is the store {store:016x}"
            ));
        }
        let Some(Generation { number, published, .. }) = self.generations.last() else {
            return Ok(());
        };
        let why = State::from(published).why_not_earlier(&State::from(contents));
        why.map_or(Ok(()), |why| not(format!("generation {number} is none: {why}")))
    }

    /// The number of the next generation.
    pub(super) fn next(&self) -> Result<u64> {
        let newest = self.generations.last().map_or(0, |newest| newest.number);
        let (what, instead) = ("generations in a directory", "publish in another directory");
        newest.checked_add(1).ok_or(Error::Limit { what, max: u64::MAX, instead })
    }

    /// The files that are named by what is there: they were whole when it was published.
    pub(super) fn named(&self) -> BTreeSet<Name> {
        self.generations.iter().flat_map(names_of).collect()
    }

    /// Makes the names of a directory durable.
    pub(super) fn sync(&self, dir: Dir) -> Result<()> {
        let synced = self.disk.sync_dir(dir);
        synced.map_err(|e| Error::io("sync the directories of", self.disk.location(), e))
    }

    /// Removes generations that are neither among the newest so many, nor were the newest until so
    /// short a time ago. Returns their numbers.
    pub(super) fn retire(
        &mut self,
        keep: usize,
        grace: Duration,
        now: SystemTime,
    ) -> Result<Vec<u64>> {
        // The clock may have been set back: no generation was followed before it was there.
        let written = || self.generations.iter().map(|of| of.published.written);
        let followed = written().zip(written().skip(1)).map(|(own, next)| own.max(next));
        let old = self.generations.len().saturating_sub(keep);
        let is_over = |since: SystemTime| {
            grace.is_zero() || now.duration_since(since).is_ok_and(|age| age >= grace)
        };
        let retired = followed.take(old).take_while(|since| is_over(*since)).count();
        let retired: Vec<u64> = self.generations.drain(..retired).map(|of| of.number).collect();
        for number in &retired {
            self.remove(Name::Generation(*number))?;
        }
        if !retired.is_empty() {
            // Before any file goes that they name.
            self.sync(Dir::Generations)?;
        }
        Ok(retired)
    }

    /// Removes what no generation names, of this store. Returns how many files went.
    pub(super) fn sweep(&self, of: u64) -> Result<u64> {
        let named = self.named();
        let mut removed = 0;
        for name in parsed(&*self.disk, Dir::Files)? {
            let (Name::FixedSegment(Fixed { store, .. })
            | Name::FixedSegmentNew(Fixed { store, .. })
            | Name::FixedDf(Fixed { store, .. })
            | Name::FixedDfNew(Fixed { store, .. })) = name
            else {
                continue;
            };
            if store == of && !named.contains(&name) {
                self.remove(name)?;
                removed += u64::from(matches!(name, Name::FixedSegment(_) | Name::FixedDf(_)));
            }
        }
        for name in parsed(&*self.disk, Dir::Generations)? {
            if matches!(name, Name::GenerationNew(_)) {
                self.remove(name)?;
            }
        }
        self.sync(Dir::Files)?;
        Ok(removed)
    }

    fn remove(&self, name: Name) -> Result<()> {
        self.disk.remove(name).map_err(|e| Error::io("remove", name, e))
    }
}

/// Reads a generation, and checks what it says of tables.
pub(crate) fn read(disk: &dyn Disk, number: u64) -> Result<Generation> {
    let generation = Generation::read(disk, number)?;
    let of_table = |row: &TableRow| generation.published.epochs.get(row.epoch as usize);
    let is_one = |row: &TableRow| of_table(row).is_some_and(has_table);
    if generation.tables.iter().all(is_one) {
        return Ok(generation);
    }
    let what = "it names a table of an epoch that has none";
    Err(Error::corrupt(Name::Generation(number), 0, what))
}

/// What `look` makes of each generation that is there, in order. One that goes meanwhile is left out.
pub(super) fn each<T>(
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

/// The numbers of the generations that are there: at least one.
pub(crate) fn some_numbers(disk: &Arc<dyn Disk>) -> Result<Vec<u64>> {
    let numbers = numbers(&**disk)?;
    if numbers.is_empty() {
        let (location, why) = (disk.location(), "nothing is published there".to_owned());
        return Err(Error::NotAStore { location, why, found: NotStore::Other });
    }
    Ok(numbers)
}

/// The files that a generation names, with their bytes.
pub(crate) fn listed(generation: &Generation) -> Result<Vec<(Listed, u64)>> {
    let segments = generation.published.segments.iter();
    let segments = segments.map(|row| Ok((Listed::Segment(*row), row.bytes)));
    let tables = generation.tables.iter().map(|table| {
        let info = generation.published.epochs.get(table.epoch as usize);
        let info = info.or_bug("a table is of an epoch of its generation")?;
        Ok((Listed::Table(info.clone()), table.bytes))
    });
    segments.chain(tables).collect()
}

/// What they are called.
fn names_of(generation: &Generation) -> impl Iterator<Item = Name> + '_ {
    let names = Files::Published(generation.published.store);
    let segments = generation.published.segments.iter().map(move |row| names.segment(row));
    let of_table =
        |info: &&EpochInfo| generation.tables.iter().any(|table| table.epoch == info.epoch.count());
    let tables = generation.published.epochs.iter().filter(of_table);
    segments.chain(tables.map(move |info| names.table(info)))
}

/// The numbers of the generations that are there, in order.
fn numbers(disk: &dyn Disk) -> Result<Vec<u64>> {
    let numbers = parsed(disk, Dir::Generations)?.into_iter().filter_map(|name| match name {
        Name::Generation(number) => Some(number),
        _ => None,
    });
    let mut numbers: Vec<u64> = numbers.collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// Files with names of ours in a directory; none if it is not there.
fn parsed(disk: &dyn Disk, dir: Dir) -> Result<Vec<Name>> {
    match disk.list(dir) {
        Ok(entries) => Ok(entries.iter().filter_map(|entry| Name::parse(dir, entry)).collect()),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(Error::io("list", disk.location(), e)),
    }
}

/// Whether a store is published in a directory, or being carried there: it is no store itself, and has
/// files as `publish` names them. Costs listing two directories.
pub(crate) fn is_published(disk: &dyn Disk) -> Result<bool> {
    let list = |dir| match disk.list(dir) {
        Ok(entries) => Ok(Some(entries)),
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(e) => Err(Error::io("list", disk.location(), e)),
    };
    let is_any =
        |dir, entries: &[OsString]| entries.iter().any(|entry| Name::parse(dir, entry).is_some());
    let is_ours = match (list(Dir::Files)?, list(Dir::Generations)?) {
        (Some(files), _) if is_any(Dir::Files, &files) => true,
        // As where the files are still to come.
        (Some(_), Some(generations)) => is_any(Dir::Generations, &generations),
        _ => false,
    };
    if !is_ours {
        return Ok(false);
    }
    match disk.open(Name::Catalog, Access::Read) {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(true),
        // Whatever has the name.
        _ => Ok(false),
    }
}

/// Checks that generations are here or may come here: the directory is empty, or not there, or somebody
/// has published in it before.
fn require_published(disk: &Arc<dyn Disk>) -> Result<()> {
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
    if entries.iter().any(|entry| Name::parse(Dir::Root, entry) == Some(Name::Catalog)) {
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
            not(format!("it holds something else, {entry}; name a new or an empty directory"))
        }
        _ => Ok(()),
    }
}
