//! Publishing: states of a store as immutable files, for readers on other machines.
//!
//! The state of one commit of the catalog is read as for a backup ([`copy`](super::copy)). Its
//! segments and tables get unique names that identify their contents. Last of all, a generation
//! that lists these files becomes durable. No file is ever written again, so any tool may copy the
//! files in any order, as long as generations come last.

mod checks;
mod named;
mod options;
mod target;

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use self::checks::CheckSchedule;
use self::named::check_one;
use self::target::PublishTarget;
use super::copy;
use super::copy::{CopyCounts, CopySource, FileCount, PlacedFiles};
use super::forget::{Scope, holds};
use crate::catalog::{CatalogContents, Generation, PublishedState, SegmentRow, TableRow};
use crate::disk::{Access, Dir, Disk, Location};
use crate::engine::epochs::Epochs;
use crate::engine::files::{FileNaming, ListedFile};
use crate::engine::generations::{self, each, listed, read, some_numbers};
use crate::engine::live_segment::LiveSegment;
use crate::engine::open::{require_apart, require_store};
use crate::engine::store::Store;
use crate::error::{Error, Result};
use crate::layout::{SectionKind, SectionTag};
use crate::progress::{Progress, Stage};
use crate::segment::SegmentFrame;

pub use named::{PublishedFile, check_file, files, fingerprints};
pub use options::{GenerationInfo, Publication, PublishOptions};

/// Publishes the sealed state of a store as a *generation* in another directory, which
/// [`Reader::published`](crate::Reader::published) opens.
///
/// Publishing writes nothing to the store, and works while another process writes to the store. The
/// process that has the store open calls [`Store::publish`] instead, which first seals everything.
///
/// A generation is a small file that lists segments and tables of document frequencies. The listed
/// files never change. They are linked or copied, unless an earlier generation has brought them
/// already. So any tool can copy the directory elsewhere, file by file, as long as the tool copies
/// `generations` last. Use one directory for one store.
///
/// The newest [`keep`](PublishOptions::keep) generations stay. An older generation stays for a
/// [`grace`](PublishOptions::grace) period after a newer generation replaced it. A generation of a
/// run that starts after a purge has no purged data; see
/// [`generations_with`](crate::publish::generations_with()) for earlier generations. If nothing is
/// new, no generation is added.
///
/// New files are read and checked before a generation lists them. Each kept file is read at least
/// once in 30 days; [`check_kept`](PublishOptions::check_kept) reads all kept files. A damaged file
/// is replaced by the store's file. So the cost is a read of the new segments and of a small part
/// of the kept files, plus the copies and some syncs.
///
/// ```
/// # fn main() -> simkeep::Result<()> {
/// use simkeep::publish::{PublishOptions, publish};
/// # use simkeep::{Observation, Options, Reader, Store, Time};
/// # let dir = tempfile::tempdir().unwrap();
/// # let (path, to) = (dir.path().join("crawl.simkeep"), dir.path().join("published"));
/// # let store = Store::create(&path, Options::default())?;
/// # store.observe(Observation::gone("https://example.com/", Time::now()))?;
/// # store.close()?;
/// let made = publish(&path, &to, PublishOptions::default())?;
/// let reader = Reader::published(&to, made.generation)?;
/// assert_eq!(reader.snapshot().sequence(), made.sequence);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// For the store: [`Error::NotAStore`], [`Error::Unfinished`], [`Error::Version`];
/// [`Error::Locked`] if the store's writer committed too fast for a minute to read a state. For the
/// target: [`Error::NotAStore`] if the directory contains something else or lies in a store;
/// [`Error::NotABackup`] if another store is published there, or a newer or diverged copy of this
/// store; [`Error::Locked`] if another process publishes there. [`Error::Corrupt`] if a file of the
/// store or an existing generation is damaged; [`Error::InvalidOption`], [`Error::Cancelled`],
/// [`Error::Io`].
///
/// After an error, or if the process is killed or the power fails, existing generations are
/// complete, and the new one is complete or absent. Files that no generation lists are removed at
/// the end of the next run.
pub fn publish(
    from: impl Into<Location>,
    to: impl Into<Location>,
    options: PublishOptions,
) -> Result<Publication> {
    let (from, to) = (from.into(), to.into());
    require_apart(&to, Some(&from))?;
    let from = from.disk(None);
    // Must come before anything is created in the target.
    require_store(&from)?;
    let to = to.disk(from.file_mode());
    let progress = options.progress.clone();
    publish_disk(&from, &to, &|| copy::newest(&from, &progress), &options)
}

/// Lists the generations in a directory, in order. Costs a small read for each generation.
///
/// ```
/// # fn main() -> simkeep::Result<()> {
/// use simkeep::publish::{PublishOptions, generations};
/// # use simkeep::{Observation, Options, Store, Time};
/// # let dir = tempfile::tempdir().unwrap();
/// # let to = dir.path().join("published");
/// # let store = Store::create(dir.path().join("crawl.simkeep"), Options::default())?;
/// store.observe(Observation::gone("https://example.com/", Time::now()))?;
/// store.publish(&to, PublishOptions::default())?;
/// let all = generations(&to)?;
/// assert_eq!((all.len(), all[0].number, all[0].sequence), (1, 1, 1));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`Error::NotAStore`] if nothing is published there, [`Error::Corrupt`], [`Error::Version`],
/// [`Error::Io`].
pub fn generations(at: impl Into<Location>) -> Result<Vec<GenerationInfo>> {
    each(&at.into().disk(None), |generation| Ok(info(&generation)))
}

/// Lists the numbers of the generations in a directory that contain pages in a scope: for example
/// pages that have since been [purged](Store::purge) from the store.
///
/// Generations published after a purge have no purged pages. No purged pages are left in the
/// directory once [`publish`](crate::publish::publish()) has kept 1 generation, without grace. A
/// run of `publish` that was in progress during the purge may still add a generation with purged
/// pages, so call this function after such a run. Costs a search in each listed segment.
///
/// ```
/// # fn main() -> simkeep::Result<()> {
/// use std::time::Duration;
///
/// use simkeep::publish::{PublishOptions, generations_with};
/// use simkeep::{Observation, Options, Progress, Scope, Store, Time};
/// # let dir = tempfile::tempdir().unwrap();
/// # let to = dir.path().join("published");
/// # let store = Store::create(dir.path().join("crawl.simkeep"), Options::default())?;
/// store.observe(Observation::gone("https://example.com/", Time::from_ms(0)?))?;
/// store.observe(Observation::gone("https://example.org/", Time::from_ms(0)?))?;
/// store.publish(&to, PublishOptions::default())?;
///
/// let scope = Scope::Url("https://example.com/");
/// store.purge(scope.clone(), &Progress::default())?;
/// assert_eq!(generations_with(&to, &scope)?, [1]);
/// store.publish(&to, PublishOptions::default().keep(1).grace(Duration::ZERO))?;
/// assert_eq!(generations_with(&to, &scope)?, []);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`Error::NotAStore`] if nothing is published there, [`Error::Corrupt`], [`Error::Version`],
/// [`Error::Io`].
pub fn generations_with(at: impl Into<Location>, scope: &Scope<'_>) -> Result<Vec<u64>> {
    let disk = at.into().disk(None);
    let mut open: Vec<Arc<LiveSegment>> = Vec::new();
    let all = each(&disk, |generation| {
        let Generation { number, published, .. } = generation;
        let (files, rows) = (FileNaming::Published(published.store), published.segments.iter());
        let segments = rows.map(|row| {
            let live = LiveSegment::open_row(&disk, files, published.store, row, &open)?;
            Ok(live)
        });
        open = segments.collect::<Result<_>>()?;
        for live in &open {
            if holds(live, scope, published.url_seed)? {
                return Ok(Some(number));
            }
        }
        Ok(None)
    })?;
    Ok(all.into_iter().flatten().collect())
}

/// Whether a directory has files named as by [`publish`](crate::publish::publish()), and is not
/// itself a store. The directory may be incomplete while it is being copied.
///
/// [`Reader::open`](crate::Reader::open) reads such a directory like a store, and only
/// [`publish`](crate::publish::publish()) writes to it. Costs listing the directory.
///
/// ```
/// # fn main() -> simkeep::Result<()> {
/// use simkeep::publish::{PublishOptions, is_published};
/// # use simkeep::{Options, Store};
/// # let dir = tempfile::tempdir().unwrap();
/// # let (path, to) = (dir.path().join("crawl.simkeep"), dir.path().join("published"));
/// # let store = Store::create(&path, Options::default())?;
/// store.publish(&to, PublishOptions::default())?;
/// assert!(is_published(&to)? && !is_published(&path)?);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`Error::Io`] if the directory exists and cannot be listed.
pub fn is_published(at: impl Into<Location>) -> Result<bool> {
    generations::is_published(&*at.into().disk(None))
}

/// Reads and checks all files of a generation.
///
/// ```
/// # use simkeep::{Observation, Options, Progress, Store, Time};
/// use simkeep::publish::{PublishOptions, check};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// # let to = dir.path().join("published");
/// store.observe(Observation::gone("https://example.com/", Time::now()))?;
/// let made = store.publish(&to, PublishOptions::default())?;
/// check(&to, made.generation, &Progress::default())?;
/// assert!(check(&to, made.generation + 1, &Progress::default()).is_err()); // does not exist
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`Error::Corrupt`] reports the first damaged file, [`Error::Io`] a missing file;
/// [`Error::NotAStore`], [`Error::Version`], [`Error::Cancelled`].
pub fn check(at: impl Into<Location>, generation: u64, progress: &Progress) -> Result<()> {
    let disk = at.into().disk(None);
    some_numbers(&disk)?;
    let generation = read(&*disk, generation)?;
    progress.start(Stage::Checking, Some(info(&generation).files.bytes))?;
    let store = generation.published.store;
    for (listed, bytes) in listed(&generation)? {
        check_one(&disk, store, (&listed, bytes), progress)?;
    }
    progress.finish();
    Ok(())
}

impl Store {
    /// Seals everything, and [publishes](crate::publish::publish()) the store. The store remains
    /// usable; the generation may or may not include observations made during this call.
    ///
    /// ```
    /// use simkeep::publish::PublishOptions;
    /// use simkeep::{Observation, Options, Reader, Store, Time};
    ///
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let to = dir.path().join("published");
    /// # let store = Store::create(dir.path().join("crawl.simkeep"), Options::default())?;
    /// let url = "https://example.com/";
    /// store.observe(Observation::gone(url, Time::from_ms(0)?))?;
    /// let first = store.publish(&to, PublishOptions::default())?;
    /// store.observe(Observation::gone(url, Time::from_ms(1_000)?))?;
    /// let second = store.publish(&to, PublishOptions::default())?;
    /// assert_eq!((first.generation, second.generation, second.kept.files), (1, 2, 1));
    ///
    /// let reader = Reader::published(&to, first.generation)?;
    /// assert_eq!(reader.snapshot().history(url)?.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`publish`](crate::publish::publish()) and of [`seal`](Store::seal).
    pub fn publish(&self, to: impl Into<Location>, options: PublishOptions) -> Result<Publication> {
        let to = to.into();
        require_apart(&to, None)?;
        self.call(|db| {
            let core = &db.core;
            let to = to.disk(core.disk.file_mode());
            db.committer.commit_all()?;
            db.sealer.seal_all()?;
            publish_disk(&core.disk, &to, &|| core.catalog.contents(), &options)
        })
    }
}

fn info(generation: &Generation) -> GenerationInfo {
    let Generation { number, published, tables } = generation;
    let mut files = FileCount::default();
    published.segments.iter().for_each(|row| files.add(row.bytes));
    tables.iter().for_each(|table| files.add(table.bytes));
    let (store, written) = (published.store, published.written);
    GenerationInfo {
        number: *number,
        store,
        written,
        sequence: published.last_sequence(),
        files,
        near_epoch: Epochs::new(published.epochs.clone()).near(),
        epochs: published.epochs.clone(),
    }
}

fn publish_disk(
    from: &Arc<dyn Disk>,
    to: &Arc<dyn Disk>,
    read: &dyn Fn() -> Result<CatalogContents>,
    options: &PublishOptions,
) -> Result<Publication> {
    let PublishOptions { keep, grace, copy, check_kept, progress } = options;
    if *keep == 0 {
        return Err(Error::InvalidOption { name: "keep", takes: "at least 1" });
    }
    progress.start(Stage::Copying, None)?;
    // The target is locked before the store is read: otherwise another run could publish a newer
    // state first.
    let mut target = PublishTarget::take(to)?;
    let source = CopySource::open(from, read)?;
    let store = source.contents.settings.store;
    target.require(&source.contents)?;
    let mut placed =
        PlacedFiles::place(from, &source, (to, FileNaming::Published(store)), *copy, progress)?;
    target.sync(Dir::Files)?;
    progress.begin(Stage::Checking, progress.total());
    let mut checks = CheckSchedule::read(to, store)?;
    let named = target.named();
    let is_due = |name| *check_kept || checks.is_due(name);
    let read = placed.check(|name| named.contains(&name), is_due)?;
    let CopyCounts { kept, linked, copied, replaced, not_linked } = placed.counts();

    // A clock that was never set may be before 1970.
    let since = u64::try_from(to.clock()).unwrap_or_default();
    let now = UNIX_EPOCH + Duration::from_millis(since);
    let (number, is_new) = generate(to, &mut target, &source, now)?;
    let removed = target.retire(*keep, *grace, now)?;
    let removed_files = target.sweep(store)?;
    let named = target.named();
    checks.note(&read.names, |name| named.contains(&name))?;
    let forgotten = match &target.generations[..] {
        [oldest, .., newest] => forgotten(to, &oldest.published, &newest.published)?,
        _ => Some(false),
    };
    progress.finish();

    let sequence = source.contents.segments.last().map_or(0, |row| row.last_sequence);
    let others = target.generations.iter().map(|of| of.number);
    let older = others.filter(|other| *other != number).collect();
    let unsealed = source.contents.marked().sequence - sequence;
    Ok(Publication {
        generation: number,
        is_new,
        sequence,
        unsealed,
        linked,
        copied,
        kept,
        checked: read.checked,
        unchecked: read.unchecked,
        replaced,
        removed,
        removed_files,
        older,
        forgotten,
        not_linked,
    })
}

/// Adds the next generation, unless it would equal the newest generation. Returns the number of the
/// newest generation, and whether that generation is new.
fn generate(
    to: &Arc<dyn Disk>,
    target: &mut PublishTarget,
    source: &CopySource,
    now: SystemTime,
) -> Result<(u64, bool)> {
    let mut tables = Vec::new();
    for (listed, file) in &source.files {
        if let ListedFile::Table(info) = listed {
            let bytes =
                file.size().map_err(|e| Error::io("measure", FileNaming::Store.of(listed), e))?;
            tables.push(TableRow { epoch: info.epoch.count(), bytes });
        }
    }
    let CatalogContents { settings, segments, epochs, .. } = &source.contents;
    let published = PublishedState {
        written: now,
        store: settings.store,
        changes: settings.changes,
        url_seed: settings.url_seed,
        segments: segments.clone(),
        epochs: epochs.clone(),
    };
    let newest = target.generations.last();
    if let Some(Generation { number, published: last, tables: of_last }) = newest
        && (&last.segments, &last.epochs, of_last) == (segments, epochs, &tables)
    {
        let number = *number;
        // The process that wrote the generation may have been killed before the generation was
        // durable.
        target.sync(Dir::Generations)?;
        return Ok((number, false));
    }
    let number = target.next()?;
    let generation = Generation { number, published, tables };
    generation.write(to)?;
    target.generations.push(generation);
    Ok((number, true))
}

/// Whether anything was forgotten between two published states in a directory. `None` if unknown: a
/// merged segment does not show what was forgotten before the merge. Costs a small read for each
/// segment added after `older`.
pub(super) fn forgotten(
    disk: &Arc<dyn Disk>,
    older: &PublishedState,
    newer: &PublishedState,
) -> Result<Option<bool>> {
    let frame = |row: &SegmentRow| {
        let name = FileNaming::Published(newer.store).segment(row);
        let file = disk.open(name, Access::Read).map_err(|e| Error::io("open", name, e))?;
        SegmentFrame::read(&*file, name, row.id)
    };
    let last = older.last_sequence();
    let mut is_known = true;
    for row in newer.segments.iter().filter(|row| !older.segments.contains(row)) {
        let made = frame(row)?;
        let numbers = made.numbers();
        if row.first_sequence > last {
            if numbers.resets > 0 || made.place(SectionTag::of(SectionKind::Tombstones)).bytes() > 0
            {
                return Ok(Some(true));
            }
            continue;
        }
        let is_within = |of: &&SegmentRow| {
            row.first_sequence <= of.first_sequence && of.last_sequence <= row.last_sequence
        };
        let mut known: i64 = 0;
        for of in older.segments.iter().filter(is_within) {
            known = known.saturating_add(frame(of)?.numbers().delta.visits);
        }
        if numbers.delta.visits < known {
            return Ok(Some(true));
        }
        // If each operation is a visit that still exists, nothing was forgotten.
        let operations = row.last_sequence - row.first_sequence + 1;
        is_known &= row.last_sequence <= last || numbers.visits == operations;
    }
    Ok(is_known.then_some(false))
}
