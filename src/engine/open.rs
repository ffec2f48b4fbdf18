//! Creating, opening and recovering a store.
//!
//! Recovery takes these steps: lock the store; read and check the catalog; map the live segments;
//! replay the journals into memtables; write `SNAPSHOT`; remove files that the manifest does not
//! list. Nothing is rebuilt, so opening takes the time to read the journal, whatever the size of
//! the store.

use std::panic::resume_unwind;
use std::sync::Arc;

use super::core::Core;
use super::db::Db;
use super::epochs::{self, Epochs};
use super::files::{FileNaming, has_table};
use super::lifecycle::{Lifecycle, Poison};
use super::live::LiveView;
use super::live_segment::LiveSegment;
use super::manifest_check::check_unlisted;
use super::memtable::Memtable;
use super::memtables::Memtables;
use super::new_segment::SegmentIds;
use super::options::Options;
use super::view::View;
use super::{generations, journal};
use crate::bug::{OrBug, ensure};
use crate::catalog::mark::{self, DirectoryOwner};
use crate::catalog::{
    Catalog, CatalogContents, Journal, JournalFrame, JournalFrames, JournalTail, PublishedState,
    Settings, StoreLocks,
};
use crate::disk::{Access, Dir, Disk, DiskFile, FileName, Location, LockMode};
use crate::error::{Error, NotStore, Result};
use crate::metrics::Metrics;
use crate::order::sort_few_by_key;
use crate::page::{EpochInfo, RankingRule};
use crate::sync::thread;

/// Creates a store, completely or not at all.
pub(crate) fn create(disk: &Arc<dyn Disk>, options: &Options) -> Result<()> {
    check_options(options)?;
    make(disk, &CatalogContents::new(&**disk, vec![epochs::first(options)?], false)).map(drop)
}

/// Creates and opens a store with the epochs `epochs`. The store is unfinished until a load
/// completes.
pub(crate) fn begin(disk: &Arc<dyn Disk>, options: Options, epochs: Vec<EpochInfo>) -> Result<Db> {
    check_options(&options)?;
    let (watched, metrics) = Metrics::watching(Arc::clone(disk));
    let locks = make(&watched, &CatalogContents::new(&**disk, epochs, true))?;
    open_locked((watched, metrics), options, locks, true).inspect_err(|_| remove_files(disk))
}

/// Creates a store whose catalog has the contents `contents`. The catalog is locked from its
/// creation on.
pub(crate) fn make(disk: &Arc<dyn Disk>, contents: &CatalogContents) -> Result<StoreLocks> {
    // The directory is checked before anything is created: a directory of another program stays
    // unchanged.
    require_empty(disk)?;
    disk.create_dirs(Dir::STORE).map_err(|e| Error::io("create", disk.location(), e))?;
    let mut locks = StoreLocks::take(&**disk, LockMode::Exclusive)?;
    // The directory is checked again, under the lock: another process may have created a store
    // since the first check.
    require_empty(disk)?;
    never_finished(disk).map_or(Ok(()), |left| clear(disk, left))?;
    // This process holds the lock, and the directory had no other store, so all files in it may be
    // removed.
    let catalog = Catalog::create(disk, contents).inspect_err(|_| remove_files(disk))?;
    locks.follow(catalog);
    Ok(locks)
}

/// Checks that a store may be created in a directory: the directory is empty, or has leftovers of
/// an interrupted creation.
///
/// Leftovers are recognized by `LOCK`, which is created first and has simkeep's mark. Without the
/// mark, only an empty `LOCK` is accepted: any other file with the name of a store's file belongs
/// to another program, and stays unchanged.
pub(crate) fn require_empty(disk: &Arc<dyn Disk>) -> Result<()> {
    // A load into a new store was cut short. The store's catalog says so, and no caller ever got
    // that store.
    if never_finished(disk).is_some() {
        return Ok(());
    }
    let location = disk.location();
    let mut entries = Vec::new();
    for dir in [Dir::Root, Dir::Segments] {
        match disk.list(dir) {
            Ok(listed) => entries.extend(listed.into_iter().map(|entry| (dir, entry))),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
            Err(e) => return Err(Error::io("list", location, e)),
        }
    }
    let names: Vec<_> = entries.iter().map(|(dir, entry)| FileName::parse(*dir, entry)).collect();
    let has = |name| names.contains(&Some(name));
    // A catalog decides, wherever it comes in the listing.
    if has(FileName::Catalog) {
        return Err(Error::StoreExists { location });
    }
    let begun =
        if has(FileName::Lock) { mark::find_owner(&**disk)? } else { DirectoryOwner::Blank };
    if generations::is_published(&**disk)? {
        return Err(Error::NotAStore {
            location,
            why: PUBLISHED.to_owned(),
            found: NotStore::Published,
        });
    }
    let segments = names.iter().filter(|name| matches!(name, Some(FileName::Segment(_)))).count();
    // Segments without a catalog are data that `repair` can recover. The directory does not count
    // as empty.
    if segments > 0 {
        return Err(without_catalog(disk, segments));
    }
    if has(FileName::Snapshot) {
        let why = "it contains SNAPSHOT, the list of a store's segments, but no segments and no \
             catalog.redb; restore the store from a backup";
        return Err(Error::NotAStore { location, why: why.to_owned(), found: NotStore::Other });
    }
    for ((_, entry), name) in entries.iter().zip(&names) {
        let foreign = match name {
            Some(FileName::Lock) => begun == DirectoryOwner::Foreign,
            Some(_) => begun != DirectoryOwner::Ours,
            None => entry != "segments",
        };
        if foreign {
            let entry = entry.display().to_string();
            let why = format!(
                "it contains other files, such as {}; name a new or an empty directory",
                entry.escape_debug()
            );
            return Err(Error::NotAStore { location, why, found: NotStore::Other });
        }
    }
    Ok(())
}

/// Checks that a directory is not inside a store: a directory with a catalog, or `other` even
/// without a catalog.
pub(crate) fn require_apart(at: &Location, other: Option<&Location>) -> Result<()> {
    let (above, location) = (at.store_above(other), at.clone().disk(None).location());
    let Some(store) = above.map_err(|e| Error::io("inspect", &location, e))? else {
        return Ok(());
    };
    let why =
        format!("it lies in the store {}; name a directory outside of that store", store.display());
    Err(Error::NotAStore { location, why, found: NotStore::Other })
}

/// Checks that the store of a catalog is finished.
pub(crate) fn require_finished(disk: &Arc<dyn Disk>, contents: &CatalogContents) -> Result<()> {
    if contents.settings.unfinished {
        return Err(Error::Unfinished { location: disk.location() });
    }
    Ok(())
}

/// The files of an unfinished store besides its catalog; `None` if there is no unfinished store.
fn never_finished(disk: &Arc<dyn Disk>) -> Option<Vec<FileName>> {
    let contents = open_catalog(disk).and_then(|file| Catalog::read(&*file)).ok()?;
    // Without a `SNAPSHOT` no reader can have opened this store. Files of another store are not
    // removed.
    let is_unpublished = matches!(PublishedState::read(&**disk), Ok(None));
    let left = orphans(disk, &contents).ok()?;
    (contents.settings.unfinished && is_unpublished).then_some(left)
}

/// Removes an unfinished store to make space for another store.
fn clear(disk: &Arc<dyn Disk>, left: Vec<FileName>) -> Result<()> {
    for name in left {
        disk.remove(name).map_err(|e| Error::io("remove", name, e))?;
    }
    // The removals must be durable before there is a new catalog, which does not list these files.
    for dir in [Dir::Segments, Dir::Root] {
        disk.sync_dir(dir).map_err(|e| Error::io("sync", disk.location(), e))?;
    }
    Ok(())
}

/// Removes a store whose creation failed. The catalog is removed last, so the leftovers are an
/// unfinished store, or nothing.
pub(crate) fn remove_files(disk: &Arc<dyn Disk>) {
    let remove_from = |dir: Dir, last: bool| {
        let entries = disk.list(dir)?;
        let names = entries.iter().filter_map(|entry| FileName::parse(dir, entry));
        // `LOCK` and the catalog are removed in a later call: until then the other files are known
        // to belong to a store.
        for name in names.filter(|name| matches!(name, FileName::Catalog | FileName::Lock) == last)
        {
            disk.remove(name)?;
        }
        disk.sync_dir(dir)
    };
    // The next creation replaces the leftovers.
    let _ = remove_from(Dir::Segments, false)
        .and_then(|()| remove_from(Dir::Root, false))
        .and_then(|()| remove_from(Dir::Root, true));
}

/// Opens a store for writing.
pub(crate) fn open(disk: Arc<dyn Disk>, options: Options) -> Result<Db> {
    check_options(&options)?;
    require_store(&disk)?;
    let (disk, metrics) = Metrics::watching(disk);
    let locks = StoreLocks::take_within(&*disk, LockMode::Exclusive, options.lock_wait)?;
    open_locked((disk, metrics), options, locks, false)
}

/// Opens a locked store; `unfinished` says whether the store may still be unfinished.
fn open_locked(
    (disk, metrics): (Arc<dyn Disk>, Metrics),
    options: Options,
    locks: StoreLocks,
    unfinished: bool,
) -> Result<Db> {
    let (catalog, contents) = Catalog::open(&disk, locks)?;
    if !unfinished {
        require_finished(&disk, &contents)?;
    }
    // Segments are mapped and journals replayed. Both steps search no segment, so they take as long
    // for a large store as for a small one.
    let (view, last) = view_of(&disk, &contents, None)?;
    let poison = Arc::new(Poison::reporting(metrics.clone()));
    let view = View { near_distance: options.near_distance, poison, metrics, ..view };
    // The orphans are only listed now. They are removed once `SNAPSHOT` names the live files.
    let orphans = orphans(&disk, &contents)?;
    let Settings { store, next_segment, .. } = contents.settings;
    let core = Core {
        disk,
        options,
        catalog,
        segment_ids: SegmentIds::new(store, next_segment),
        lifecycle: Lifecycle::new(Arc::clone(&view.poison)),
        metrics: view.metrics.clone(),
        live: LiveView::new(view, last),
    };
    Db::start(core, last, unfinished, &orphans)
}

/// Opens the catalog's file for reading.
pub(crate) fn open_catalog(disk: &Arc<dyn Disk>) -> Result<Box<dyn DiskFile>> {
    disk.open(FileName::Catalog, Access::Read).map_err(|e| Error::io("open", FileName::Catalog, e))
}

/// The length of the catalog's file.
pub(crate) fn catalog_bytes(disk: &Arc<dyn Disk>) -> Result<u64> {
    open_catalog(disk)?.size().map_err(|e| Error::io("measure", FileName::Catalog, e))
}

/// The numbers of the existing segment files, listed or not, in order.
pub(crate) fn segment_ids(disk: &Arc<dyn Disk>) -> Result<Vec<u64>> {
    let entries = list(disk, Dir::Segments)?;
    let names = entries.iter().filter_map(|entry| FileName::parse(Dir::Segments, entry));
    let ids = names.filter_map(|name| match name {
        FileName::Segment(id) => Some(id),
        _ => None,
    });
    let mut ids: Vec<u64> = ids.collect();
    ids.sort_unstable();
    Ok(ids)
}

/// The numbers of the segment files that the catalog does not list.
pub(crate) fn unlisted_ids(disk: &Arc<dyn Disk>, contents: &CatalogContents) -> Result<Vec<u64>> {
    let mut ids = segment_ids(disk)?;
    ids.retain(|id| contents.segments.iter().all(|row| row.id != *id));
    Ok(ids)
}

fn check_options(options: &Options) -> Result<()> {
    let wrong = |name, takes| Err(Error::InvalidOption { name, takes });
    if options.memtable_observations == 0 || options.memtable_observations > 1 << 24 {
        return wrong("memtable_observations", "between 1 and 16,777,216");
    }
    if options.merge_fanout < 2 {
        return wrong("merge_fanout", "at least 2");
    }
    if options.memtable_bytes < 1 << 16 {
        return wrong("memtable_bytes", "at least 65,536");
    }
    if options.seal_after.is_zero() {
        return wrong("seal_after", "greater than 0");
    }
    if options.near_distance.is_some_and(|bits| bits > 64) {
        return wrong("near_distance", "at most 64");
    }
    if options.rule.rules().contains(&RankingRule::Canonical) {
        return wrong("rule", "a ranking without the rule canonical, which only clusters use");
    }
    epochs::check_name(&options.epoch)
}

/// The reason why a directory with published generations is not a store.
const PUBLISHED: &str = "it contains published generations, which are read-only; write to the \
                         store itself, or load a generation into a new store";

fn list(disk: &Arc<dyn Disk>, dir: Dir) -> Result<Vec<std::ffi::OsString>> {
    disk.list(dir).map_err(|e| Error::io("list", disk.location(), e))
}

pub(crate) fn require_store(disk: &Arc<dyn Disk>) -> Result<()> {
    let not = |found, why: &str| {
        let (location, why) = (disk.location(), why.to_owned());
        Error::NotAStore { location, why, found }
    };
    let entries = disk.list(Dir::Root).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => not(NotStore::Nothing, "it does not exist"),
        std::io::ErrorKind::NotADirectory => not(NotStore::Nothing, "it is not a directory"),
        _ => Error::io("list", disk.location(), e),
    })?;
    let names: Vec<FileName> =
        entries.iter().filter_map(|e| FileName::parse(Dir::Root, e)).collect();
    if names.contains(&FileName::Catalog) {
        return Ok(());
    }
    // The catalog of a new store is durable before any segment is written. So these segments are
    // not leftovers of a crash during creation.
    match segment_ids(disk).map_or(0, |ids| ids.len()) {
        0 => {}
        segments => return Err(without_catalog(disk, segments)),
    }
    Err(if names.contains(&FileName::CatalogNew) {
        not(NotStore::Nothing, "its creation was interrupted; create the store again")
    } else if generations::is_published(&**disk)? {
        not(NotStore::Published, PUBLISHED)
    } else {
        not(NotStore::Nothing, "it has no catalog.redb")
    })
}

/// The error for a directory with segments but no catalog.
fn without_catalog(disk: &Arc<dyn Disk>, segments: usize) -> Error {
    let files = if segments == 1 { "1 segment file" } else { &format!("{segments} segment files") };
    let why = format!(
        "it has no catalog.redb, but {files}; if this was a store, restore catalog.redb from a \
         backup, or recover the data of the segments into a new store: simkeep repair STORE \
         --to NEW"
    );
    Error::NotAStore { location: disk.location(), why, found: NotStore::Segments(segments) }
}

/// Checks that a directory has any file of a store.
pub(crate) fn require_some_store(disk: &Arc<dyn Disk>) -> Result<()> {
    match require_store(disk) {
        Err(Error::NotAStore { found: NotStore::Segments(_), .. }) => Ok(()),
        required => required,
    }
}

/// Returns the live view, and the number of the last operation. Reuses the open segments in the
/// view `before`, and its memtables, if a journal continues after a frame that is in them.
pub(crate) fn view_of(
    disk: &Arc<dyn Disk>,
    contents: &CatalogContents,
    before: Option<&View>,
) -> Result<(View, u64)> {
    let Settings { store, url_seed: seed, .. } = contents.settings;
    let open = before.map_or(&[][..], |view| &view.segments);
    let mut segments = Vec::with_capacity(contents.segments.len());
    for row in &contents.segments {
        segments.push(LiveSegment::open_row(disk, FileNaming::Store, store, row, open)?);
    }
    let (memtables, last) = replay(contents, before.map(|view| &view.memtables))?;
    let epochs = Arc::new(Epochs::new(contents.epochs.clone()));
    let disk = Arc::clone(disk);
    let (segments, poison) = (segments.into(), Arc::default());
    let (near_distance, metrics) = (None, Metrics::none());
    let files = FileNaming::Store;
    let view =
        View { seed, segments, memtables, epochs, near_distance, disk, files, poison, metrics };
    Ok((view, last))
}

/// A memtable, and the blobs to add to it.
type JournalReplay<'c> = (Arc<Memtable>, &'c [JournalFrame]);

/// Replays the journals, into the memtables of `before` where possible. Returns the memtables, and
/// the number of the last operation.
pub(crate) fn replay(
    contents: &CatalogContents,
    before: Option<&Memtables>,
) -> Result<(Memtables, u64)> {
    let of_store = (contents.settings.url_seed, &contents.epochs[..]);
    let mut last = contents.segments.last().map_or(0, |row| row.last_sequence);
    let mut journals = Vec::from_iter(&contents.journals);
    // The journal with the older operations is replayed first, and becomes the memtable to be
    // sealed.
    journals.retain(|frames| frames.place().is_some());
    sort_few_by_key(&mut journals, |frames| frames.place());
    let mut replays: Vec<JournalReplay<'_>> = Vec::new();
    for JournalFrames { journal, after, frames: blobs } in journals {
        let memtable = match after {
            None => Arc::new(Memtable::new(*journal)),
            // A reader refreshes, and its memtable already has the operations up to this frame.
            Some(tail) => {
                let (memtable, first) = continued(before, *journal, tail)?;
                check_next(first, last)?;
                last = tail.last_sequence;
                memtable
            }
        };
        for blob in blobs {
            check_next(blob.first_sequence, last)?;
            last = last.saturating_add(blob.count.into());
        }
        replays.push((memtable, blobs));
    }
    let replay_one = |(memtable, blobs): JournalReplay<'_>| {
        // The lock is taken for one blob at a time: snapshots may be reading a memtable that
        // continues.
        blobs.iter().try_for_each(|blob| journal::replay(blob, of_store, &mut memtable.write()))?;
        Ok::<_, Error>(memtable)
    };
    let mut replays = replays.into_iter();
    let memtables = match (replays.next(), replays.next()) {
        // The journals do not depend on each other. Each is replayed by its own thread, if the
        // system grants a thread.
        (Some(older), Some(newer)) => thread::scope(|scope| {
            let beside = newer.clone();
            let beside = thread::Builder::new().spawn_scoped(scope, || replay_one(beside));
            let older = replay_one(older)?;
            let newer = match beside {
                Ok(beside) => beside.join().unwrap_or_else(|panic| resume_unwind(panic))?,
                Err(_) => replay_one(newer)?,
            };
            Ok::<_, Error>(Memtables { sealing: Some(older), active: newer })
        })?,
        (Some(only), None) => Memtables { sealing: None, active: replay_one(only)? },
        _ => Memtables::empty(Journal::A),
    };
    Ok((memtables, last))
}

/// The memtable of a journal up to a known frame, and the memtable's first operation.
fn continued(
    before: Option<&Memtables>,
    journal: Journal,
    tail: &JournalTail,
) -> Result<(Arc<Memtable>, u64)> {
    let mut memtables = before.into_iter().flat_map(Memtables::iter);
    let memtable = memtables.find(|memtable| memtable.journal == journal);
    let memtable = memtable.or_bug("each continued journal has a memtable")?;
    let sequences = memtable.read().sequences;
    let (first, last) = sequences.or_bug("each continued memtable has operations")?;
    ensure(last == tail.last_sequence, "a continued memtable has exactly the known frames")?;
    Ok((Arc::clone(memtable), first))
}

/// Checks that an operation follows the last one.
fn check_next(sequence: u64, last: u64) -> Result<()> {
    if last.checked_add(1) == Some(sequence) {
        return Ok(());
    }
    // The saturating addition is only for the message: a forged number may be the greatest of all.
    let expected = last.saturating_add(1);
    let what = format!(
        "the journal continues with operation {sequence}, but operation {expected} must come next"
    );
    Err(Error::corrupt(FileName::Catalog, 0, what))
}

/// The files that were being written or about to be removed when the store was last closed or
/// killed.
///
/// # Errors
///
/// An error if there is a segment of another store.
pub(crate) fn orphans(disk: &Arc<dyn Disk>, contents: &CatalogContents) -> Result<Vec<FileName>> {
    let live = |name| match name {
        FileName::Lock | FileName::Catalog | FileName::Snapshot => true,
        FileName::Df(number) => {
            let of_it = |info: &&EpochInfo| u64::from(info.epoch.count()) == number;
            contents.epochs.iter().find(of_it).is_some_and(has_table)
        }
        FileName::Segment(id) => contents.segments.iter().any(|row| row.id == id),
        // Files with these names are in no directory of a store.
        FileName::PublishedSegment(_)
        | FileName::PublishedSegmentNew(_)
        | FileName::PublishedDf(_)
        | FileName::PublishedDfNew(_)
        | FileName::Checked
        | FileName::CheckedNew
        | FileName::Generation(_)
        | FileName::GenerationNew(_) => true,
        FileName::CatalogNew
        | FileName::SnapshotNew
        | FileName::DfNew(_)
        | FileName::DfScratch(..)
        | FileName::SegmentNew(_)
        | FileName::Scratch(..) => false,
    };
    let mut orphans = Vec::new();
    for dir in Dir::STORE.iter().copied() {
        let entries = list(disk, dir)?;
        orphans
            .extend(entries.iter().filter_map(|e| FileName::parse(dir, e)).filter(|n| !live(*n)));
    }
    // A segment of another store is somebody's data. The segment makes opening fail, and nothing is
    // removed.
    for name in &orphans {
        if let FileName::Segment(id) = name {
            check_unlisted(disk, contents.settings.store, *id)?;
        }
    }
    Ok(orphans)
}
