//! Verification: reading all data of a store and checking that it is sound and consistent.
//!
//! All reads are plain, so that an unreadable medium causes an error and not a signal: the catalog
//! is read into memory, and the segments are read block by block. Only if every block of a segment
//! is sound is the segment read through its map, to check whether its contents are consistent.

mod consistency;
mod options;

use std::sync::Arc;

use crate::catalog::{Catalog, CatalogContents, Journal, NewerFiles, PublishedState, mark};
use crate::disk::{Access, Disk, DiskFile, FileName, Location};
use crate::engine::core::Core;
use crate::engine::epochs::{Epochs, open_table};
use crate::engine::files::{FileNaming, has_table};
use crate::engine::live_segment::LiveSegment;
use crate::engine::manifest_check::{check_listed, check_unlisted, open_listed};
use crate::engine::memtables::Memtables;
use crate::engine::reader::{StoreAccess, access_store};
use crate::engine::snapshot::Snapshot;
use crate::engine::store::Store;
use crate::engine::totals::StoreTotals;
use crate::engine::view::View;
use crate::engine::{generations, open};
use crate::error::{Error, NotStore, Result};
use crate::metrics::Metrics;
use crate::page::EpochInfo;
use crate::segment::{PlainSegment, Segment};

pub(crate) use options::ReadPacer;
pub use options::{Verified, VerifyOptions};

impl Store {
    /// Verifies a store while it is in use: reads all files of the store with plain reads, checks
    /// every checksum, and checks that everything fits together. Reports every flaw, not only the
    /// first.
    ///
    /// Costs a read of all files, at most as many bytes per second as the options allow. Calls that
    /// observe continue; commits wait only while the catalog is copied to memory.
    ///
    /// ```
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::verify::VerifyOptions;
    /// # use simkeep::{Options, Store};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let verified = store.verify(VerifyOptions::default().rate(Some(20 << 20)))?;
    /// assert!(verified.is_sound(), "{:?}", verified.flaws);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Cancelled`] if the verification's progress was cancelled, [`Error::Io`] if a file
    /// cannot be opened. Damage is not an error but part of the result; [`Verified::sound`]
    /// converts damage to an error.
    pub fn verify(&self, options: VerifyOptions) -> Result<Verified> {
        self.call(|db| verify_open(&db.core, options))
    }
}

/// Verifies the store in a directory, damaged or not, without opening it: reads all files of the
/// store, checks every checksum, and checks that everything fits together. Reports every flaw, not
/// only the first. Writes nothing.
///
/// While a writer has the store open, this function checks the sealed state: the segments, but not
/// the catalog. In a directory with [published](crate::publish) generations, it checks the newest
/// complete generation. Costs a read of all files, and a second read of the segments.
///
/// ```
/// # fn main() -> simkeep::Result<()> {
/// # use simkeep::verify::VerifyOptions;
/// # use simkeep::{Options, Store};
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("crawl.simkeep");
/// # Store::create(&path, Options::default())?.close()?;
/// let verified = simkeep::verify::verify(&path, VerifyOptions::default())?;
/// for flaw in &verified.flaws {
///     println!("{flaw}");
/// }
/// assert!(verified.is_sound());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`Error::NotAStore`], [`Error::Unfinished`], [`Error::Version`], [`Error::Cancelled`] if the
/// verification's progress was cancelled, [`Error::Io`] if a file cannot be opened. Damage is not
/// an error but part of the result.
pub fn verify(at: impl Into<Location>, options: VerifyOptions) -> Result<Verified> {
    verify_disk(at.into().disk(None), options)
}

fn verify_disk(disk: Arc<dyn Disk>, options: VerifyOptions) -> Result<Verified> {
    let mut check = Verifier::start(options)?;
    match open::require_store(&disk) {
        Err(Error::NotAStore { found: NotStore::Published, .. }) => return check.published(disk),
        required => required?,
    }
    let sight = access_store(&disk, |published| open_published_segments(&disk, published));
    let (opened, memtables) = match check.record_damage(sight)? {
        Some(StoreAccess::WithoutWriter(lock)) => {
            let contents = check.catalog(open::open_catalog(&disk))?;
            contents.iter().try_for_each(|contents| open::require_finished(&disk, contents))?;
            // The catalog and the files written after it are consistent only until the lock is
            // released. Open files stay readable after the release.
            let after = check.read_newer_files(&disk)?;
            if let Some(contents) = &contents {
                check.record_damage(after.check(contents))?;
                check.unlisted(&disk, contents)?;
            }
            let opened = open_catalog_segments(&disk, contents.as_ref())?;
            drop(lock);
            check.pace.pass(check.verified.bytes)?;
            let replayed =
                contents.as_ref().map(|contents| open::replay(contents, None)).transpose();
            (opened, check.record_damage(replayed)?.flatten())
        }
        Some(StoreAccess::WithWriter { taken, .. }) => {
            check.read_newer_files(&disk)?;
            (taken, None)
        }
        None => return check.finish(),
    };
    check.files(disk, opened, memtables)?;
    check.finish()
}

/// Checks the files that a sound catalog with these contents lists, and whether the files fit
/// together.
pub(crate) fn verify_files(
    disk: &Arc<dyn Disk>,
    contents: &CatalogContents,
    options: VerifyOptions,
) -> Result<Verified> {
    let mut check = Verifier::start(options)?;
    let opened = open_catalog_segments(disk, Some(contents))?;
    let replayed = check.record_damage(open::replay(contents, None))?;
    check.files(Arc::clone(disk), opened, replayed)?;
    check.finish()
}

/// A segment to check, with its file.
type OpenSegment = (Segment, Box<dyn DiskFile>);

/// The parts to check besides the catalog.
struct VerifyInput {
    /// The seed of the URL hashes, unknown if the catalog is damaged.
    seed: Option<u64>,
    epochs: Vec<EpochInfo>,
    segments: Vec<Result<OpenSegment>>,
}

/// Opens the segments that a catalog lists, or all segment files if the list is unknown.
fn open_catalog_segments(
    disk: &Arc<dyn Disk>,
    contents: Option<&CatalogContents>,
) -> Result<VerifyInput> {
    let Some(contents) = contents else {
        let ids = open::segment_ids(disk)?;
        let open = |id| with_file(disk, Segment::open(disk, id));
        let segments = ids.into_iter().map(open).collect();
        return Ok(VerifyInput { seed: None, epochs: Vec::new(), segments });
    };
    let store = contents.settings.store;
    let open = |row| with_file(disk, open_listed(disk, FileNaming::Store, store, row));
    let segments = contents.segments.iter().map(open).collect();
    let (seed, epochs) = (Some(contents.settings.url_seed), contents.epochs.clone());
    Ok(VerifyInput { seed, epochs, segments })
}

/// Opens the segments that an active writer has published.
fn open_published_segments(
    disk: &Arc<dyn Disk>,
    published: &PublishedState,
) -> Result<VerifyInput> {
    let open =
        |row| match with_file(disk, open_listed(disk, FileNaming::Store, published.store, row)) {
            // Another segment may have replaced this segment.
            Err(e)
                if e.is_not_found()
                    && PublishedState::read(&**disk)?.as_ref() != Some(published) =>
            {
                Err(e)
            }
            opened => Ok(opened),
        };
    let segments = published.segments.iter().map(open).collect::<Result<_>>()?;
    Ok(VerifyInput { seed: Some(published.url_seed), epochs: published.epochs.clone(), segments })
}

/// Opens a segment's file for plain reads, in addition to the segment.
fn with_file(disk: &Arc<dyn Disk>, segment: Result<Segment>) -> Result<OpenSegment> {
    let segment = segment?;
    let name = segment.frame().name();
    let file = disk.open(name, Access::Read).map_err(|e| Error::io("open", name, e))?;
    Ok((segment, file))
}

/// A check in progress.
struct Verifier {
    pace: ReadPacer,
    flaws_max: usize,
    /// The naming scheme of the files.
    names: FileNaming,
    verified: Verified,
}

impl Verifier {
    fn start(options: VerifyOptions) -> Result<Verifier> {
        let VerifyOptions { rate, flaws_max, progress } = options;
        let flaws_max = flaws_max.max(1);
        let pace = ReadPacer::start(rate, progress)?;
        Ok(Verifier { pace, flaws_max, names: FileNaming::Store, verified: Verified::default() })
    }

    /// Checks the newest complete generation.
    fn published(mut self, disk: Arc<dyn Disk>) -> Result<Verified> {
        let newest = generations::newest(&disk, |generation| {
            generations::require_tables(&disk, generation)?;
            let PublishedState { store, url_seed, segments, epochs, .. } = &generation.published;
            let names = FileNaming::Published(*store);
            // A damaged file in a complete generation is a flaw. If files are missing, an older
            // generation is checked.
            let open = |row| match with_file(&disk, open_listed(&disk, names, *store, row)) {
                Err(e) if generations::missing(&disk, generation.number)?.is_some() => Err(e),
                opened => Ok(opened),
            };
            let segments = segments.iter().map(open).collect::<Result<_>>()?;
            Ok((names, VerifyInput { seed: Some(*url_seed), epochs: epochs.clone(), segments }))
        });
        self.verified.files += 1;
        self.verified.catalog = true;
        let Some(newest) = self.record_damage(newest)? else { return self.finish() };
        let (names, opened) = newest.found;
        self.names = names;
        self.files(disk, opened, None)?;
        self.finish()
    }

    /// Records damage; returns other errors.
    fn record_damage<T>(&mut self, done: Result<T>) -> Result<Option<T>> {
        match done {
            Ok(value) => Ok(Some(value)),
            Err(e) => self.note(e).map(|()| None),
        }
    }

    fn note(&mut self, error: Error) -> Result<()> {
        let flaw = error.flaw()?;
        self.pace.find(1);
        if self.verified.flaws.len() < self.flaws_max {
            self.verified.flaws.push(flaw);
        } else {
            self.verified.more_flaws += 1;
        }
        Ok(())
    }

    /// Runs a function that reports each flaw, and records the flaws. Returns its result if there
    /// are none.
    fn collect_flaws<T>(
        &mut self,
        run: impl FnOnce(&mut ReadPacer, &mut dyn FnMut(Error)) -> Result<T>,
    ) -> Result<Option<T>> {
        let (mut flaws, mut more, room) = (Vec::new(), 0, self.flaws_max);
        let done = run(&mut self.pace, &mut |error| {
            if flaws.len() < room {
                flaws.push(error);
            } else {
                more += 1;
            }
        });
        if flaws.is_empty() {
            return self.record_damage(done);
        }
        flaws.into_iter().try_for_each(|flaw| self.note(flaw))?;
        self.pace.find(more);
        self.verified.more_flaws += more;
        // Further damage has the same cause.
        match done {
            Ok(_) => Ok(None),
            Err(e) => e.flaw().map(|_| None),
        }
    }

    /// Reads and checks the catalog. Returns its contents, if they are sound.
    fn catalog(&mut self, file: Result<Box<dyn DiskFile>>) -> Result<Option<CatalogContents>> {
        self.verified.files += 1;
        self.verified.catalog = true;
        let Some(file) = self.record_damage(file)? else { return Ok(None) };
        let len = file.size().map_err(|e| Error::io("measure", FileName::Catalog, e))?;
        self.pace.add_total(len);
        self.verified.bytes += len;
        self.collect_flaws(|_, flaw| {
            Catalog::read_with(&*file, &mut |e| {
                flaw(e);
                Ok(())
            })
        })
    }

    /// Checks that all segments outside of the catalog are mere leftovers.
    fn unlisted(&mut self, disk: &Arc<dyn Disk>, contents: &CatalogContents) -> Result<()> {
        for id in open::unlisted_ids(disk, contents)? {
            self.record_damage(check_unlisted(disk, contents.settings.store, id))?;
        }
        Ok(())
    }

    /// Returns a segment to check, if the segment could be opened.
    fn opened(&mut self, opened: Result<OpenSegment>) -> Result<Option<OpenSegment>> {
        let opened = self.record_damage(opened)?;
        self.verified.files += usize::from(opened.is_none());
        Ok(opened)
    }

    /// Checks the files written after the catalog: the mark and, if it exists, the state for
    /// readers in other processes.
    fn read_newer_files(&mut self, disk: &Arc<dyn Disk>) -> Result<NewerFiles> {
        let published = self.record_damage(PublishedState::read(&**disk))?;
        self.verified.files += usize::from(published.as_ref().is_none_or(Option::is_some));
        Ok(NewerFiles { mark: mark::read(&**disk), published: published.flatten() })
    }

    /// Checks tables and segments, and whether everything fits together with the replayed journal,
    /// if the journal is available.
    fn files(
        &mut self,
        disk: Arc<dyn Disk>,
        opened: VerifyInput,
        memtables: Option<(Memtables, u64)>,
    ) -> Result<()> {
        self.frequencies(&disk, opened.epochs.iter())?;
        let VerifyInput { seed, epochs, segments } = opened;
        let opened: Vec<_> =
            segments.into_iter().map(|one| self.opened(one)).collect::<Result<_>>()?;
        let segments: Vec<_> = opened.into_iter().flatten().collect();
        self.pace
            .add_total(segments.iter().map(|(segment, _)| 2 * segment.file_bytes()).sum::<u64>());
        let mut live = Vec::with_capacity(segments.len());
        for (segment, file) in segments {
            live.extend(self.segment(segment, file, seed, &epochs)?);
        }
        let last = live.last().map_or(0, |live| live.segment.numbers().last_sequence);
        let (memtables, sequence) =
            memtables.unwrap_or_else(|| (Memtables::empty(Journal::A), last));
        let (segments, epochs) = (live.into(), Arc::new(Epochs::new(epochs)));
        // A missing seed means that there is a flaw, and then no page is looked up.
        let (seed, poison) = (seed.unwrap_or(0), Arc::default());
        let (near_distance, metrics) = (None, Metrics::none());
        let files = self.names;
        let view =
            View { seed, segments, memtables, epochs, near_distance, disk, files, poison, metrics };
        self.check_totals(&Snapshot::new(Arc::new(view), sequence))
    }

    /// Checks the epochs' tables of document frequencies. A missing table is not a flaw: an epoch
    /// may be registered by name only.
    fn frequencies<'e>(
        &mut self,
        disk: &Arc<dyn Disk>,
        epochs: impl Iterator<Item = &'e EpochInfo>,
    ) -> Result<()> {
        for info in epochs.filter(|info| has_table(info)) {
            let table = match open_table(&**disk, self.names, info) {
                Err(Error::NoTable { .. }) => continue,
                table => self.record_damage(table)?,
            };
            let bytes = table.map_or(0, |table| table.bytes());
            self.verified.files += 1;
            self.verified.bytes += bytes;
            self.pace.add_total(bytes);
            self.pace.pass(bytes)?;
        }
        Ok(())
    }

    /// Checks a segment. Returns the segment if it is sound.
    fn segment(
        &mut self,
        segment: Segment,
        file: Box<dyn DiskFile>,
        seed: Option<u64>,
        epochs: &[EpochInfo],
    ) -> Result<Option<Arc<LiveSegment>>> {
        if !self.blocks(&segment, file)? {
            return Ok(None);
        }
        let live = LiveSegment::verified(segment);
        let Some(live) = self.record_damage(live)? else { return Ok(None) };
        Ok(self.fits(&live, seed, epochs)?.then(|| Arc::new(live)))
    }

    /// Checks every block of a segment by plain reads. Returns whether all blocks are sound.
    fn blocks(&mut self, segment: &Segment, file: Box<dyn DiskFile>) -> Result<bool> {
        self.verified.files += 1;
        self.verified.bytes += segment.file_bytes();
        let mut plain = PlainSegment::new(segment.frame(), file);
        let sound =
            self.collect_flaws(|pace, flaw| plain.check(flaw, &mut |bytes| pace.pass(bytes)))?;
        Ok(sound.is_some())
    }

    /// Checks whether the contents of a segment with sound blocks fit together.
    fn fits(
        &mut self,
        live: &LiveSegment,
        seed: Option<u64>,
        epochs: &[EpochInfo],
    ) -> Result<bool> {
        let Some(seed) = seed else { return Ok(true) };
        let (numbers, bytes) = (live.segment.numbers(), live.segment.file_bytes());
        // Each 1,024 pages or fingerprints count as an equal share of the file's bytes.
        let share = bytes / (numbers.pages.saturating_add(numbers.fingerprints) / 1024 + 1);
        let mut pass = || self.pace.pass(share);
        let done = consistency::pages(live, seed, epochs, &mut pass)
            .and_then(|in_force| consistency::tables(live, in_force, &mut pass));
        Ok(self.record_damage(done)?.is_some())
    }

    /// Counts the totals and compares each page with its history, if no flaw was found.
    fn check_totals(&mut self, snapshot: &Snapshot) -> Result<()> {
        if !self.verified.is_sound() {
            return Ok(());
        }
        let (mut in_force, mut gone) = (0, 0);
        let mut histories = snapshot.scan(None);
        for page in snapshot.scan(None) {
            let Some(page) = self.record_damage(page)? else { break };
            let history = histories.next_entries().transpose();
            let Some(history) = self.record_damage(history)? else { break };
            self.record_damage(consistency::history(&page, history, snapshot.epochs()))?;
            self.verified.visits = self.verified.visits.saturating_add(page.visits);
            self.verified.pages += 1;
            in_force += u64::from(page.content_seen.is_some());
            gone += u64::from(page.gone);
        }
        let Verified { pages, visits, .. } = self.verified;
        let found = StoreTotals { pages, visits, in_force, gone };
        let counted =
            StoreTotals::of(snapshot).and_then(|counted| consistency::counts(counted, found));
        self.record_damage(counted)?;
        Ok(())
    }

    fn finish(mut self) -> Result<Verified> {
        if !self.verified.is_sound() {
            (self.verified.pages, self.verified.visits) = (0, 0);
        }
        self.pace.finish()?;
        Ok(self.verified)
    }
}

/// Verifies an open store.
pub(crate) fn verify_open(core: &Core, options: VerifyOptions) -> Result<Verified> {
    let Core { disk, catalog, live, .. } = core;
    let mut check = Verifier::start(options)?;
    // These files are read before the catalog, which only gets newer.
    let after = check.read_newer_files(disk)?;
    let contents = check.catalog(catalog.copy())?;
    check.pace.pass(check.verified.bytes)?;
    // While the snapshot lives, the files keep their names.
    let snapshot = live.snapshot();
    if let Some(contents) = contents {
        check.record_damage(after.check(&contents))?;
        let store = contents.settings.store;
        let rows = contents.segments.iter();
        let opened = rows.filter_map(|row| {
            let id_of = |live: &&Arc<LiveSegment>| live.segment.id() == row.id;
            let live = snapshot.view.segments.iter().find(id_of)?;
            Some(check_listed(live.segment.frame(), store, row))
        });
        for checked in opened {
            check.record_damage(checked)?;
        }
        check.record_damage(open::replay(&contents, None))?;
    }
    let segments = &snapshot.view.segments;
    check.pace.add_total(segments.iter().map(|live| 2 * live.segment.file_bytes()).sum::<u64>());
    for live in segments.iter() {
        let name = FileName::Segment(live.segment.id());
        let file = disk.open(name, Access::Read);
        let file = check.record_damage(file.map_err(|e| Error::io("open", name, e)))?;
        if let Some(file) = file
            && check.blocks(&live.segment, file)?
        {
            check.fits(live, Some(snapshot.view.seed), snapshot.epochs())?;
        }
    }
    check.check_totals(&snapshot)?;
    check.frequencies(disk, snapshot.epochs().iter())?;
    check.finish()
}
