//! Repair: making a new store from the sound parts of a damaged store.
//!
//! A repair makes two passes over the files, both with plain reads. The first pass finds the parts
//! of the store ([`find`]), checks every block, and counts the sound pages and visits of the
//! damaged segments. It also determines whether a lost operation may have forgotten pages. The
//! second pass merges the pages of all components ([`merge`]) into a new store, by a load. The
//! damaged store is only read.

mod find;
mod journal;
mod merge;
mod numbers;
mod options;

use std::sync::Arc;

pub use options::{Loss, RepairOptions, Repaired};

use self::find::{RecoveredComponent, RecoveredPart, RecoveredStore, flaw_of, open_file};
use self::merge::{RepairInput, RepairMerge};
use super::load::LoadOptions;
use super::verify::ReadPacer;
use crate::catalog::StoreLocks;
use crate::disk::{Disk, FileName, Location, LockMode};
use crate::engine::epochs::{first, open_table};
use crate::engine::files::{FileNaming, has_table};
use crate::engine::open;
use crate::engine::options::Options;
use crate::engine::store::Store;
use crate::error::{Corruption, Error, Result};
use crate::page::EpochInfo;
use crate::segment::{PageSalvage, PlainSegment, SegmentFrame, Tombstones};

/// The maximum number of flaws that are reported one by one.
const FLAWS_MAX: usize = 1000;

/// Makes a new store from all data in a damaged store with valid checksums, and reports all losses.
/// The repair only reads the damaged store; no other process may write to that store
///
/// Damage to indexes (hashes, filters, fingerprint tables) loses nothing, because they are rebuilt
/// from the pages. A page is lost only if its own bytes are damaged. One damaged byte in the head,
/// the section table or the trailer of a segment is corrected. More damage to the section table or
/// the trailer loses the whole segment; the head is needed only if the catalog is lost.
///
/// If the catalog is damaged, every page of its file is read, and each frame of the journal with a
/// valid checksum is kept. An operation after a lost frame is lost as well if the operation refers
/// to a page that the lost frame may have introduced. Without a catalog, the segments themselves
/// show which of them belong together, and epochs get names like `unknown-0`. Segments of another
/// store, or of a diverged copy of this store, are reported and left out. If the catalog is older
/// than `SNAPSHOT`, the repair uses the newer segments, and not the older journal.
///
/// Forgotten pages stay forgotten. A lost operation may have forgotten pages. If these pages are
/// known, their older visits are left out, and counted. If the pages are unknown, the repair fails.
/// [`RepairOptions::keep_forgotten`] keeps everything instead.
///
/// Costs two reads of all files, and a [load](Store::load) of all recovered data.
///
/// ```
/// # fn main() -> simkeep::Result<()> {
/// # use simkeep::repair::RepairOptions;
/// # use simkeep::{Options, Store};
/// # let dir = tempfile::tempdir().unwrap();
/// # let (old, new) = (dir.path().join("old.simkeep"), dir.path().join("new.simkeep"));
/// # Store::create(&old, Options::default())?.close()?;
/// let repaired = simkeep::repair::repair(&old, &new, RepairOptions::default())?;
/// for loss in &repaired.lost {
///     println!("{}: {}", loss.file, loss.why);
/// }
/// assert!(repaired.is_whole());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`Error::AmbiguousRepair`] if it is unknown which pages were forgotten; [`Error::StoreExists`]
/// and [`Error::NotAStore`] if the new location is not empty or lies in a store, or if there is
/// nothing to repair; [`Error::Locked`], [`Error::Version`], [`Error::Cancelled`], [`Error::Io`].
///
/// After any of these errors there is no new store, unless the new store is complete and only
/// closing it failed. A repair that is killed leaves an [unfinished](Error::Unfinished) store,
/// which the next repair to this location replaces. A repair that is killed after its last commit
/// leaves the complete new store, and the next repair returns [`Error::StoreExists`].
pub fn repair(
    from: impl Into<Location>,
    to: impl Into<Location>,
    options: RepairOptions,
) -> Result<Repaired> {
    let (from, to) = (from.into(), to.into());
    open::require_apart(&to, Some(&from))?;
    let from = from.disk(None);
    let to = to.disk(from.file_mode());
    repair_disk(&from, &to, options)
}

fn repair_disk(
    from: &Arc<dyn Disk>,
    to: &Arc<dyn Disk>,
    options: RepairOptions,
) -> Result<Repaired> {
    let RepairOptions { keep_forgotten, memory_bytes, progress } = options;
    open::require_some_store(from)?;
    open::require_empty(to)?;
    let _locks = match StoreLocks::take(&**from, LockMode::Shared) {
        // No other process can have locked an irregular file either.
        Err(e) if e.is_irregular() => None,
        locks => Some(locks?),
    };
    let found = find::find(from)?;
    let mut pace = ReadPacer::start(None, progress.clone())?;
    pace.add_total(found.components.iter().map(bytes_of).sum::<u64>());
    let mut repaired = Repaired { unnamed_epochs: found.unnamed.clone(), ..Repaired::default() };
    repaired.lost.clone_from(&found.lost);
    found.flaws.iter().for_each(|flaw| note(&mut repaired, flaw.clone()));
    let inputs = survey(from, &found, &mut pace, &mut repaired, keep_forgotten)?;
    pace.finish()?;
    let known = found.epochs.iter().map(|info| info.epoch).collect();
    let mut merge = RepairMerge::new(from, inputs, keep_forgotten, known)?;
    let options = Options::default().background(false);
    let store = Store::begin(to, options, epochs(&found)?)?;
    let loaded = copy_tables(from, to, &found.epochs, &mut repaired).and_then(|()| {
        let options = LoadOptions::default().memory_bytes(memory_bytes).progress(progress);
        store.load(&mut merge, options).map_err(cause)
    });
    let loaded = loaded.inspect_err(|_| store.abandon())?;
    store.close()?;
    let saved = merge.repaired();
    repaired.lost.extend(saved.lost);
    (repaired.pages, repaired.visits) = (loaded.pages, loaded.visits);
    repaired.lost_pages = saved.lost_pages;
    repaired.lost_visits = saved.lost_visits + found.lost_visits;
    repaired.damaged_frames = found.damaged_frames;
    repaired.withheld_pages = saved.withheld_pages;
    Ok(repaired)
}

fn bytes_of(component: &RecoveredComponent) -> u64 {
    match &component.part {
        RecoveredPart::Segment(frame) => frame.bytes(),
        RecoveredPart::Memory(_) => 0,
    }
}

fn note(repaired: &mut Repaired, flaw: Corruption) {
    if repaired.flaws.len() < FLAWS_MAX {
        repaired.flaws.push(flaw);
    } else {
        repaired.more_flaws += 1;
    }
}

/// Checks every block, and determines which pages lost operations may have forgotten.
fn survey<'f>(
    disk: &Arc<dyn Disk>,
    found: &'f RecoveredStore,
    pace: &mut ReadPacer,
    repaired: &mut Repaired,
    keep_forgotten: bool,
) -> Result<Vec<RepairInput<'f>>> {
    let oldest = found.components.first().map_or(u64::MAX, |oldest| oldest.operations.0);
    let mut ambiguities: Vec<String> = found.ambiguities.clone();
    // For losses with a known number of pages, the effect is known.
    for loss in repaired.lost.iter().filter(|loss| loss.pages.is_none()) {
        if let Some((first, last)) = loss.operations.filter(|(first, _)| *first > oldest) {
            let upto = last.map_or("the last".to_owned(), |last| last.to_string());
            let Loss { file, why, .. } = loss;
            ambiguities.push(format!("operations {first} to {upto} are lost with {file}: {why}"));
        }
    }
    let mut inputs = Vec::with_capacity(found.components.len());
    for component in &found.components {
        let (tombstones, resets_lost) = match &component.part {
            RecoveredPart::Memory(memtable) => {
                (memtable.read().hidden_keys.tombstones().clone(), false)
            }
            RecoveredPart::Segment(frame) => {
                let (tombstones, resets_lost) = survey_segment(disk, frame, pace, repaired)?;
                if tombstones.is_none() && component.operations.0 > oldest {
                    let name = FileName::Segment(frame.id());
                    ambiguities.push(format!("the list of forgotten prefixes in {name} is lost"));
                }
                (tombstones.unwrap_or_default(), resets_lost)
            }
        };
        inputs.push(RepairInput { component, tombstones, resets_lost });
    }
    if !ambiguities.is_empty() && !keep_forgotten {
        return Err(Error::AmbiguousRepair { what: ambiguities.join("; ") });
    }
    repaired.ambiguities = ambiguities;
    Ok(inputs)
}

/// Returns the tombstones of a segment, if they are sound, and whether the segment may have
/// forgotten a lost page.
fn survey_segment(
    disk: &Arc<dyn Disk>,
    frame: &SegmentFrame,
    pace: &mut ReadPacer,
    repaired: &mut Repaired,
) -> Result<(Option<Tombstones>, bool)> {
    let mut plain = PlainSegment::new(frame, open_file(disk, frame.id())?);
    let mut flaws = 0;
    let mut flaw = |e: Error| {
        if let Some(flaw) = flaw_of(&e) {
            flaws += 1;
            note(repaired, flaw);
        }
    };
    plain.check(&mut flaw, &mut |bytes| pace.pass(bytes))?;
    pace.find(flaws);
    let sound = flaws == 0;
    let tombstones = match plain.tombstones() {
        Ok(tombstones) => Some(tombstones),
        Err(e) if flaw_of(&e).is_some() => None,
        Err(e) => return Err(e),
    };
    let resets = frame.numbers().resets;
    if sound || resets == 0 {
        return Ok((tombstones, resets > 0));
    }
    let mut salvage = PageSalvage::new(plain);
    let (mut there, mut holes) = (0, 0);
    while let Some((hole, page)) = salvage.next() {
        holes += usize::from(hole.is_some());
        there += u64::from(page.is_some_and(|page| page.reset));
    }
    Ok((tombstones, holes == 0 || there < resets))
}

/// The epochs of the new store: the epochs that were found, with their numbers.
fn epochs(found: &RecoveredStore) -> Result<Vec<EpochInfo>> {
    if found.epochs.is_empty() {
        return Ok(vec![first(&Options::default())?]);
    }
    Ok(found.epochs.clone())
}

/// Copies the tables of epochs. Damaged tables are lost; fingerprints made with damaged tables are
/// not.
fn copy_tables(
    from: &Arc<dyn Disk>,
    to: &Arc<dyn Disk>,
    epochs: &[EpochInfo],
    repaired: &mut Repaired,
) -> Result<()> {
    for info in epochs.iter().filter(|info| has_table(info)) {
        let flaw = match open_table(&**from, FileNaming::Store, info) {
            Ok(table) => {
                table.copy_to(to, info.epoch.count().into())?;
                continue;
            }
            // The table did not exist before the damage.
            Err(Error::NoTable { .. }) => continue,
            Err(e) => e.flaw()?,
        };
        repaired.lost.push(Loss {
            file: flaw.file.clone(),
            bytes: None,
            operations: None,
            pages: Some(0),
            after_url: None,
            before_url: None,
            why: format!("the table of document frequencies of the epoch {} is damaged", info.name),
        });
        note(repaired, flaw);
    }
    Ok(())
}

/// The cause of a failed load.
fn cause(error: Error) -> Error {
    match error {
        Error::LoadRejected { cause, .. } => (*cause).clone(),
        other => other,
    }
}
