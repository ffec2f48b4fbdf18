//! What a generation names, told without opening it: for whoever carries files elsewhere, and for
//! whoever asks how much there is before any of them is here.

use std::sync::Arc;

use crate::admin::copy::check_whole;
use crate::catalog::Generation;
use crate::disk::{Access, Disk, Location};
use crate::engine::files::{Files, Listed};
use crate::engine::generations::{listed, read, some_numbers};
use crate::engine::manifest_check::check_listed;
use crate::error::{Error, Result};
use crate::layout::{Kind, Tag};
use crate::page::Epoch;
use crate::progress::{Progress, Stage};
use crate::segment::Frame;

/// Bytes of a fingerprint in the section that has them.
const FINGERPRINT_BYTES: u64 = 8;

/// A file that a generation names.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PublishedFile {
    /// Its path within the directory, such as `files/e220a8397b1dcdaf-0000000003-0d640880.seg`. A name
    /// is for ever of the same bytes.
    pub name: String,
    /// How many bytes it has.
    pub bytes: u64,
}

/// The files that a generation names: segments, then tables of document frequencies. Needs the
/// generation alone, none of these files. Costs a small read.
///
/// So it tells what is to be carried elsewhere for one generation, and [`check_file`] whether a file
/// arrived whole.
///
/// ```
/// # fn main() -> simkeep::Result<()> {
/// use simkeep::Progress;
/// use simkeep::publish::{PublishOptions, check_file, files};
/// # use simkeep::{Observation, Options, Store, Time};
/// # let dir = tempfile::tempdir().unwrap();
/// # let to = dir.path().join("published");
/// # let store = Store::create(dir.path().join("crawl.simkeep"), Options::default())?;
/// store.observe(Observation::gone("https://example.com/", Time::now()))?;
/// store.publish(&to, PublishOptions::default())?;
/// for file in files(&to, 1)? {
///     assert_eq!(std::fs::metadata(to.join(&file.name)).unwrap().len(), file.bytes);
///     check_file(&to, 1, &file.name, &Progress::default())?;
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`Error::NotAStore`] if nothing is published there, [`Error::Io`] if this generation is not there;
/// [`Error::Corrupt`], [`Error::Version`].
///
/// [`check_file`]: crate::publish::check_file()
pub fn files(at: impl Into<Location>, generation: u64) -> Result<Vec<PublishedFile>> {
    let (_, generation) = there(at, generation)?;
    let names = Files::Published(generation.published.store);
    let all = listed(&generation)?.into_iter();
    Ok(all.map(|(of, bytes)| PublishedFile { name: names.of(&of).to_string(), bytes }).collect())
}

/// Reads one of the files that a generation names, and checks it. None of the others need be there.
///
/// # Errors
///
/// [`Error::Corrupt`] if it is damaged; [`Error::Io`] if it is not there, or [`Error::NoTable`] if that
/// is a table; [`Error::InvalidArgument`] if the generation names no such file; [`Error::NotAStore`],
/// [`Error::Version`], [`Error::Cancelled`].
pub fn check_file(
    at: impl Into<Location>,
    generation: u64,
    name: &str,
    progress: &Progress,
) -> Result<()> {
    let (disk, generation) = there(at, generation)?;
    let store = generation.published.store;
    let mut all = listed(&generation)?.into_iter();
    let Some((of, bytes)) = all.find(|(of, _)| Files::Published(store).of(of).to_string() == name)
    else {
        let number = generation.number;
        return Err(Error::invalid_argument(format!(
            "generation {number} names no file {}",
            name.escape_debug()
        )));
    };
    progress.start(Stage::Checking, Some(bytes))?;
    check_one(&disk, store, (&of, bytes), progress)?;
    progress.finish();
    Ok(())
}

/// Checks a file that a generation of a store names, all of it.
pub(super) fn check_one(
    disk: &Arc<dyn Disk>,
    store: u64,
    (of, bytes): (&Listed, u64),
    progress: &Progress,
) -> Result<()> {
    let names = Files::Published(store);
    let checked = check_whole(disk, names, store, of, progress)?;
    if checked == bytes {
        return Ok(());
    }
    let what = format!("expected {bytes} bytes, as the generation says, found {checked}");
    Err(Error::corrupt(names.of(of), 0, what))
}

/// How many distinct fingerprints of an epoch a generation has; one counts once for each segment that
/// has it. It is what [`Snapshot::fingerprints`](crate::Snapshot::fingerprints) says.
///
/// Reads the first 64 bytes of each segment, and its table at the end: some bytes for each MiB. What is
/// between need not have arrived, if only the files have their lengths; tables of document frequencies
/// need not be there.
///
/// ```
/// # fn main() -> simkeep::Result<()> {
/// use simkeep::publish::{PublishOptions, fingerprints, generations};
/// # use simkeep::{Observation, Options, Store, Time};
/// # let dir = tempfile::tempdir().unwrap();
/// # let to = dir.path().join("published");
/// # let store = Store::create(dir.path().join("crawl.simkeep"), Options::default())?;
/// store.observe(Observation::content("https://example.com/", Time::now(), 5, store.snapshot().near_epoch()))?;
/// store.publish(&to, PublishOptions::default())?;
/// let epoch = generations(&to)?[0].near_epoch;
/// assert_eq!(fingerprints(&to, 1, epoch)?, 1);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`Error::Corrupt`] if what it reads is damaged, or has not arrived; [`Error::Io`] if a file is not
/// there; [`Error::NotAStore`], [`Error::Version`].
pub fn fingerprints(at: impl Into<Location>, generation: u64, epoch: Epoch) -> Result<u64> {
    let (disk, generation) = there(at, generation)?;
    let store = generation.published.store;
    let mut count = 0;
    for row in &generation.published.segments {
        let name = Files::Published(store).segment(row);
        let file = disk.open(name, Access::Read).map_err(|e| Error::io("open", name, e))?;
        let frame = Frame::read(&*file, name, row.id)?;
        check_listed(&frame, store, row)?;
        let tag = Tag::table(Kind::Fingerprints, 0, epoch.number());
        count += frame.place(tag).bytes() / FINGERPRINT_BYTES;
    }
    Ok(count)
}

/// A generation that is in a directory.
fn there(at: impl Into<Location>, number: u64) -> Result<(Arc<dyn Disk>, Generation)> {
    let disk = at.into().disk(None);
    some_numbers(&disk)?;
    let generation = read(&*disk, number)?;
    Ok((disk, generation))
}
