//! Reading everything and checking that it is sound and fits together.
//!
//! All of it is read with plain reads, so that what the medium cannot read is an error and no signal:
//! the catalog into memory, the segments block by block. Only a segment of which every block was
//! read and is sound is then gone through by its map, to see whether it fits together.

mod fit;
mod options;

use std::sync::Arc;

pub(crate) use options::Pace;
pub use options::{Verified, VerifyOptions, Verifying};

use super::memtable::Memtable;
use super::open;
use super::reader::{Sight, sight};
use super::shared::Shared;
use super::snapshot::Snapshot;
use super::view::{LiveSegment, View, open_listed};
use crate::catalog::{Catalog, Contents, Manifest};
use crate::disk::{Access, Disk, DiskFile, Name};
use crate::error::{Corruption, Error, Result};
use crate::segment::{PlainSegment, Segment};

/// Checks the store in a directory without opening it, damaged or not: reads all of it, checks every
/// checksum, and that everything fits together. Names all flaws, not only the first. Nothing is
/// written. Beside a writer that is at work it checks what a [`Reader`](crate::Reader) sees: the
/// segments, and not the catalog.
///
/// ```
/// # fn main() -> simkeep::Result<()> {
/// # use simkeep::{Options, Store, VerifyOptions};
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("crawl.simkeep");
/// # Store::create(&path, Options::default())?.close()?;
/// let verified = simkeep::verify(&path, VerifyOptions::default())?;
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
/// [`Error::NotAStore`], [`Error::Version`],
/// [`Error::Cancelled`] if the callback said so, [`Error::Io`] if a file cannot be opened. What is
/// damaged is no error but stands in the answer.
pub fn verify(path: impl AsRef<std::path::Path>, options: VerifyOptions<'_>) -> Result<Verified> {
    verify_on(Arc::new(crate::disk::RealDisk::new(path.as_ref())), options)
}

/// [`verify`] on any disk.
///
/// # Errors
///
/// Those of [`verify`].
pub fn verify_on(disk: Arc<dyn Disk>, options: VerifyOptions<'_>) -> Result<Verified> {
    let mut check = Check::new(options);
    open::require_store(&disk)?;
    let sight = sight(&disk, None, |snapshot| files(&disk, snapshot));
    let guard = match check.keep(sight)? {
        Some(Sight::Alone(guard)) => guard,
        Some(Sight::Beside { snapshot, taken, .. }) => {
            check.snapshot(&snapshot, taken)?;
            check.manifest(&disk)?;
            return check.finish();
        }
        None => return check.finish(),
    };
    let contents = check.catalog(open::open_catalog(&disk))?;
    check.manifest(&disk)?;
    let ids = match &contents {
        Some(contents) => contents.segments.iter().map(|row| row.id).collect(),
        // What a list would name is not known: everything that is there.
        None => open::segment_ids(&disk)?,
    };
    let mut segments = Vec::with_capacity(ids.len());
    for id in ids {
        let row = contents.as_ref().and_then(|c| c.segments.iter().find(|row| row.id == id));
        let segment = match row {
            Some(row) => open_listed(&disk, row),
            None => Segment::open(&disk, id),
        };
        let segment = segment.and_then(|segment| {
            let name = Name::Segment(id);
            let file = disk.open(name, Access::Read).map_err(|e| Error::io("open", name, e))?;
            Ok((segment, file))
        });
        if let Some(segment) = check.keep(segment)? {
            segments.push(segment);
        } else {
            check.verified.files += 1;
        }
    }
    // The journal and the mark that tells how far it went are of one moment only until then.
    let replayed = contents.as_ref().map(|contents| open::replay(&disk, contents));
    // What is open stays, whoever writes to the store meanwhile.
    drop(guard);
    check.pace.of += segments.iter().map(|(segment, _)| 2 * segment.file_bytes()).sum::<u64>();
    let seed = contents.as_ref().map(|contents| contents.settings.url_seed);
    let mut live = Vec::with_capacity(segments.len());
    for (segment, file) in segments {
        live.extend(check.segment(segment, file, seed)?);
    }
    if let (Some(contents), Some(replayed)) = (&contents, replayed) {
        check.journals(contents, replayed, live)?;
    }
    check.finish()
}

/// The file of each segment, open to be read.
fn files(disk: &Arc<dyn Disk>, snapshot: &Snapshot) -> Result<Vec<Box<dyn DiskFile>>> {
    let names = snapshot.view.segments.iter().map(|live| Name::Segment(live.segment.id()));
    let open = |name| disk.open(name, Access::Read).map_err(|e| Error::io("open", name, e));
    names.map(open).collect()
}

/// A check on its way.
struct Check<'w> {
    pace: Pace<'w>,
    flaws_max: usize,
    verified: Verified,
}

impl<'w> Check<'w> {
    fn new(options: VerifyOptions<'w>) -> Check<'w> {
        let VerifyOptions { rate, flaws_max, watch } = options;
        let flaws_max = flaws_max.max(1);
        Check { pace: Pace::new(rate, watch), flaws_max, verified: Verified::default() }
    }

    /// Notes what is damaged; other errors go on to the caller.
    fn keep<T>(&mut self, done: Result<T>) -> Result<Option<T>> {
        match done {
            Ok(value) => Ok(Some(value)),
            Err(e) => self.note(e).map(|()| None),
        }
    }

    fn note(&mut self, error: Error) -> Result<()> {
        let flaw = match error {
            Error::Corrupt(flaw) => flaw,
            Error::Io { action, file, source }
                if action == "read" || is_of_content(source.kind()) =>
            {
                let what = format!("cannot {action} it: {source}");
                Corruption { file, offset: 0, what }
            }
            Error::Catalog(what) => Corruption { file: Name::Catalog.to_string(), offset: 0, what },
            other => return Err(other),
        };
        self.pace.flaws += 1;
        if self.verified.flaws.len() < self.flaws_max {
            self.verified.flaws.push(flaw);
        } else {
            self.verified.more_flaws += 1;
        }
        Ok(())
    }

    /// Reads and checks the catalog. Returns what it holds, if it is sound, and its length.
    fn catalog(&mut self, file: Result<Box<dyn DiskFile>>) -> Result<Option<Contents>> {
        self.verified.files += 1;
        self.verified.catalog = true;
        let Some(file) = self.keep(file)? else { return Ok(None) };
        let len = file.size().map_err(|e| Error::io("measure", Name::Catalog, e))?;
        self.pace.of += len;
        self.verified.bytes += len;
        self.pace.pass(len)?;
        let contents = Catalog::read(file);
        self.keep(contents)
    }

    /// Checks what readers in other processes are told, if anything is.
    fn manifest(&mut self, disk: &Arc<dyn Disk>) -> Result<()> {
        let manifest = self.keep(Manifest::read(&**disk))?;
        self.verified.files += usize::from(manifest.is_none_or(|manifest| manifest.is_some()));
        Ok(())
    }

    /// Checks what a snapshot shows, where the files of its segments are open.
    fn snapshot(&mut self, snapshot: &Snapshot, files: Vec<Box<dyn DiskFile>>) -> Result<()> {
        let segments = &snapshot.view.segments;
        self.pace.of += segments.iter().map(|live| 2 * live.segment.file_bytes()).sum::<u64>();
        for (live, file) in segments.iter().zip(files) {
            if self.blocks(&live.segment, file)? {
                self.fits(live, Some(snapshot.view.seed))?;
            }
        }
        self.whole(snapshot)
    }

    /// Checks a segment; returns it if it is sound.
    fn segment(
        &mut self,
        segment: Segment,
        file: Box<dyn DiskFile>,
        seed: Option<u64>,
    ) -> Result<Option<Arc<LiveSegment>>> {
        if !self.blocks(&segment, file)? {
            return Ok(None);
        }
        let live = LiveSegment::open(segment);
        let Some(live) = self.keep(live)? else { return Ok(None) };
        Ok(self.fits(&live, seed)?.then(|| Arc::new(live)))
    }

    /// Every block of a segment, by plain reads. Whether all are sound.
    fn blocks(&mut self, segment: &Segment, file: Box<dyn DiskFile>) -> Result<bool> {
        let before = self.verified.flaw_count();
        let (mut flaws, mut counted) = (Vec::new(), 0);
        let room = self.flaws_max;
        let mut flaw = |error: Error| {
            if flaws.len() < room {
                flaws.push(error);
            } else {
                counted += 1;
            }
        };
        let mut plain = PlainSegment::new(segment.frame(), file);
        plain.check(&mut flaw, &mut |bytes| self.pace.pass(bytes))?;
        flaws.into_iter().try_for_each(|flaw| self.note(flaw))?;
        self.pace.flaws += counted;
        self.verified.more_flaws += counted;
        self.verified.files += 1;
        self.verified.bytes += segment.file_bytes();
        Ok(self.verified.flaw_count() == before)
    }

    /// Whether a segment fits together whose blocks are sound.
    fn fits(&mut self, live: &LiveSegment, seed: Option<u64>) -> Result<bool> {
        let Some(seed) = seed else { return Ok(true) };
        let (numbers, bytes) = (live.segment.numbers(), live.segment.file_bytes());
        // Each thousand pages or fingerprints pass their share of the file.
        let share = bytes / ((numbers.pages + numbers.fingerprints) / 1024 + 1);
        let mut pass = || self.pace.pass(share);
        let done = fit::pages(live, seed, &mut pass)
            .and_then(|in_force| fit::tables(live, in_force, &mut pass));
        Ok(self.keep(done)?.is_some())
    }

    /// Whether the journal can be replayed, and, if all is sound, how much there is in all.
    fn journals(
        &mut self,
        contents: &Contents,
        replayed: Result<(Vec<Arc<Memtable>>, u64)>,
        segments: Vec<Arc<LiveSegment>>,
    ) -> Result<()> {
        let Some((memtables, last)) = self.keep(replayed)? else { return Ok(()) };
        let seed = contents.settings.url_seed;
        let epochs = contents.epochs.as_slice().into();
        let view = Arc::new(View { seed, segments: segments.into(), memtables, epochs });
        self.whole(&Snapshot { view, sequence: last })
    }

    /// Counts what there is, if all is sound.
    fn whole(&mut self, snapshot: &Snapshot) -> Result<()> {
        if !self.verified.is_sound() {
            return Ok(());
        }
        for page in snapshot.scan(None) {
            let Some(page) = self.keep(page)? else { break };
            self.verified.visits += page.visits;
            self.verified.pages += 1;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Verified> {
        if !self.verified.is_sound() {
            (self.verified.pages, self.verified.visits) = (0, 0);
        }
        self.pace.tell()?;
        Ok(self.verified)
    }
}

/// Whether an error says that a file is not there or not what it must be.
fn is_of_content(kind: std::io::ErrorKind) -> bool {
    use std::io::ErrorKind;
    matches!(kind, ErrorKind::NotFound | ErrorKind::UnexpectedEof | ErrorKind::InvalidData)
}

impl Shared {
    pub(super) fn verify(&self, options: VerifyOptions<'_>) -> Result<Verified> {
        let snapshot = self.snapshot();
        let mut check = Check::new(options);
        check.catalog(self.catalog.copy())?;
        // As long as the snapshot lives the files have their names.
        check.snapshot(&snapshot, files(&self.disk, &snapshot)?)?;
        check.manifest(&self.disk)?;
        check.finish()
    }
}
