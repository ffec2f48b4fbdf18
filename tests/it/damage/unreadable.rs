//! Sectors that cannot be read, however often it is tried.

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use simkeep::disk::{Access, Disk, DiskFile, DiskLayer, FileName, LinkSource, SimDisk};
use simkeep::repair::{RepairOptions, repair};
use simkeep::verify::{VerifyOptions, verify};

use super::check::each;
use super::stores::SoundStore;
use simkeep_testing::{on, rerun_hint};

/// A disk with one bad sector in one file. With a map that is a signal, so only checked data may be
/// mapped.
#[derive(Debug)]
struct BadDisk {
    disk: SimDisk,
    name: FileName,
    bad: Range<u64>,
}

#[derive(Debug)]
struct BadFile {
    file: Box<dyn DiskFile>,
    bad: Range<u64>,
}

impl DiskLayer for BadDisk {
    fn inner(&self) -> &dyn Disk {
        &self.disk
    }

    fn linkable(&self, _: FileName) -> io::Result<LinkSource> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn open(&self, name: FileName, access: Access) -> io::Result<Box<dyn DiskFile>> {
        let bad = if name == self.name { self.bad.clone() } else { 0..0 };
        Ok(Box::new(BadFile { file: self.disk.open(name, access)?, bad }))
    }
}

impl DiskFile for BadFile {
    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        if offset < self.bad.end && self.bad.start < offset + buf.len() as u64 {
            return Err(io::Error::from_raw_os_error(5));
        }
        self.file.read_at(offset, buf)
    }
    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.file.write_at(offset, data)
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }
    fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }
}

#[test]
fn unreadable_sector_is_a_flaw_and_the_rest_is_saved() {
    let _again = rerun_hint();
    let sound = SoundStore::killed();
    let all = verify(on(&SimDisk::of(sound.files.clone())), VerifyOptions::default()).unwrap();
    let (mut places, found) = (Vec::new(), AtomicUsize::new(0));
    for (name, content) in &sound.files {
        if matches!(name, FileName::Catalog | FileName::Segment(_)) {
            places.extend((0..content.len() as u64).step_by(512).map(|at| (*name, at)));
        }
    }
    let what = |n: usize| format!("{:?}", places[n]);
    each(places.len(), what, |n| {
        let (name, at) = places[n];
        let disk = SimDisk::of(sound.files.clone());
        let disk: Arc<dyn Disk> = Arc::new(BadDisk { disk, name, bad: at..at + 512 });
        let verified = verify(Arc::clone(&disk), VerifyOptions::default()).unwrap();
        let flaws = &verified.flaws;
        assert!(flaws.iter().all(|flaw| flaw.file == name.to_string()), "{flaws:?}");
        found.fetch_add(usize::from(!verified.is_sound()), Ordering::Relaxed);
        // Unreachable parts of a catalog are not read.
        assert!(name == FileName::Catalog || !verified.is_sound());
        assert_eq!(verified.files, all.files, "{:?}", verified.flaws);

        let to = SimDisk::new();
        let options = RepairOptions::default().memory_bytes(1 << 20);
        let repaired = repair(disk, on(&to), options.keep_forgotten(true)).unwrap();
        let saved = verify(on(&to), VerifyOptions::default()).unwrap().sound().unwrap();
        assert_eq!(saved.pages, repaired.pages);
        if verified.is_sound() {
            assert_eq!((saved.pages, saved.visits), (all.pages, all.visits));
        }
        assert!(saved.pages > 0);
    });
    let (found, of) = (found.into_inner(), places.len());
    println!("{of} sectors that cannot be read: {found} found by verify");
    let of_segments = places.iter().filter(|(name, _)| *name != FileName::Catalog).count();
    // At least the header, the roots of tables, and a journal of some pages are found.
    assert!(found >= of_segments + 20, "{found} of {of}, {of_segments} of segments");
}
