//! The files of a generation, without opening them: for tools that copy files, and for counts
//! before any of the files has arrived.

use std::sync::Arc;

use crate::admin::copy::check_whole;
use crate::catalog::Generation;
use crate::disk::{Access, Disk, Location};
use crate::engine::files::{FileNaming, ListedFile};
use crate::engine::generations::{listed, read, some_numbers};
use crate::engine::manifest_check::check_listed;
use crate::error::{Error, Result};
use crate::layout::{SectionKind, SectionTag};
use crate::page::Epoch;
use crate::progress::{Progress, Stage};
use crate::segment::SegmentFrame;

/// Bytes of a fingerprint in its section.
const FINGERPRINT_BYTES: u64 = 8;

/// A file of a generation.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use simkeep::publish::{PublishOptions, files};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// # let to = dir.path().join("published");
/// store.observe(Observation::gone("https://example.com/", Time::now()))?;
/// let made = store.publish(&to, PublishOptions::default())?;
/// for file in files(&to, made.generation)? {
///     // A copy of the file is complete once it has this size.
///     assert_eq!(to.join(&file.name).metadata().unwrap().len(), file.bytes);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PublishedFile {
    /// The path of the file within the directory, such as
    /// `files/e220a8397b1dcdaf-0000000003-0d640880.seg`. A name always refers to the same bytes.
    pub name: String,
    /// The size of the file in bytes.
    pub bytes: u64,
}

/// Lists the files of a generation: segments, then tables of document frequencies. Needs only the
/// generation, not the listed files. Costs a small read.
///
/// Use this list to find the files to copy for one generation, and [`check_file`] to check whether
/// a file arrived complete.
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
/// [`Error::NotAStore`] if nothing is published there, [`Error::Io`] if this generation does not
/// exist; [`Error::Corrupt`], [`Error::Version`].
///
/// [`check_file`]: crate::publish::check_file()
pub fn files(at: impl Into<Location>, generation: u64) -> Result<Vec<PublishedFile>> {
    let (_, generation) = open_generation(at, generation)?;
    let names = FileNaming::Published(generation.published.store);
    let all = listed(&generation)?.into_iter();
    Ok(all.map(|(of, bytes)| PublishedFile { name: names.of(&of).to_string(), bytes }).collect())
}

/// Reads and checks one file of a generation. The other files need not exist.
///
/// ```
/// # use simkeep::{Observation, Options, Progress, Store, Time};
/// use simkeep::publish::{PublishOptions, check_file, files};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// # let to = dir.path().join("published");
/// store.observe(Observation::gone("https://example.com/", Time::now()))?;
/// let made = store.publish(&to, PublishOptions::default())?;
/// let (name, progress) = (&files(&to, made.generation)?[0].name, Progress::default());
/// check_file(&to, made.generation, name, &progress)?;
/// std::fs::remove_file(to.join(name)).unwrap(); // as if the file had not arrived yet
/// assert!(check_file(&to, made.generation, name, &progress).is_err());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`Error::Corrupt`] if the file is damaged; [`Error::Io`] if a segment does not exist, or
/// [`Error::NoTable`] for a missing table; [`Error::InvalidArgument`] if the generation lists no
/// such file; [`Error::NotAStore`], [`Error::Version`], [`Error::Cancelled`].
pub fn check_file(
    at: impl Into<Location>,
    generation: u64,
    name: &str,
    progress: &Progress,
) -> Result<()> {
    let (disk, generation) = open_generation(at, generation)?;
    let store = generation.published.store;
    let mut all = listed(&generation)?.into_iter();
    let Some((of, bytes)) =
        all.find(|(of, _)| FileNaming::Published(store).of(of).to_string() == name)
    else {
        let number = generation.number;
        return Err(Error::invalid_argument(format!(
            "generation {number} does not list the file {}",
            name.escape_debug()
        )));
    };
    progress.start(Stage::Checking, Some(bytes))?;
    check_one(&disk, store, (&of, bytes), progress)?;
    progress.finish();
    Ok(())
}

/// Checks a complete file of a generation.
pub(super) fn check_one(
    disk: &Arc<dyn Disk>,
    store: u64,
    (of, bytes): (&ListedFile, u64),
    progress: &Progress,
) -> Result<()> {
    let names = FileNaming::Published(store);
    let checked = check_whole(disk, names, store, of, progress)?;
    if checked == bytes {
        return Ok(());
    }
    let what = format!("expected {bytes} bytes, as the generation states, found {checked}");
    Err(Error::corrupt(names.of(of), 0, what))
}

/// Counts the distinct fingerprints of an epoch in a generation. A fingerprint counts once for each
/// segment that has it. The result equals
/// [`Snapshot::fingerprints`](crate::Snapshot::fingerprints).
///
/// Reads the first 64 bytes of each segment, and the table at the segment's end: some bytes for
/// each MiB. The bytes between need not have arrived, as long as files have their full length.
/// Tables of document frequencies may be missing.
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
/// [`Error::Corrupt`] if the bytes to read are damaged, or have not arrived; [`Error::Io`] if a
/// file does not exist; [`Error::NotAStore`], [`Error::Version`].
pub fn fingerprints(at: impl Into<Location>, generation: u64, epoch: Epoch) -> Result<u64> {
    let (disk, generation) = open_generation(at, generation)?;
    let store = generation.published.store;
    let mut count = 0;
    for row in &generation.published.segments {
        let name = FileNaming::Published(store).segment(row);
        let file = disk.open(name, Access::Read).map_err(|e| Error::io("open", name, e))?;
        let frame = SegmentFrame::read(&*file, name, row.id)?;
        check_listed(&frame, store, row)?;
        let tag = SectionTag::table(SectionKind::Fingerprints, 0, epoch.number());
        count += frame.place(tag).bytes() / FINGERPRINT_BYTES;
    }
    Ok(count)
}

/// Reads a generation in a directory.
fn open_generation(at: impl Into<Location>, number: u64) -> Result<(Arc<dyn Disk>, Generation)> {
    let disk = at.into().disk(None);
    some_numbers(&disk)?;
    let generation = read(&*disk, number)?;
    Ok((disk, generation))
}
