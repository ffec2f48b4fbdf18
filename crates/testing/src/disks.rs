//! Disks that notify a test before each operation, and can wait for the test.

use std::fmt;
use std::io;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use simkeep::disk::{
    Access, Dir, Disk, DiskFile, DiskLayer, FileMap, FileName, LinkSource, LockMode, LockOutcome,
    OpKind, SimDisk, without_held_locks,
};

type DiskHook = dyn Fn(OpKind, Option<FileName>) + Send + Sync;

/// A wrapper of a disk that calls a hook before each operation that changes the disk, each map and
/// each lock; optionally also before each open and each read.
#[derive(Clone)]
pub struct HookDisk {
    disk: Arc<dyn Disk>,
    hook: Arc<DiskHook>,
    reads: bool,
}

impl HookDisk {
    pub fn new(
        disk: Arc<dyn Disk>,
        hook: impl Fn(OpKind, Option<FileName>) + Send + Sync + 'static,
    ) -> HookDisk {
        let hook = move |kind, name| without_held_locks(|| hook(kind, name));
        HookDisk { disk, hook: Arc::new(hook), reads: false }
    }

    /// Calls the hook before each open and each read, too.
    pub fn with_reads(
        disk: Arc<dyn Disk>,
        hook: impl Fn(OpKind, Option<FileName>) + Send + Sync + 'static,
    ) -> HookDisk {
        HookDisk { reads: true, ..HookDisk::new(disk, hook) }
    }
}

impl fmt::Debug for HookDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.disk.fmt(f)
    }
}

impl DiskLayer for HookDisk {
    fn inner(&self) -> &dyn Disk {
        &*self.disk
    }

    fn open(&self, name: FileName, access: Access) -> io::Result<Box<dyn DiskFile>> {
        if access == Access::Create || self.reads {
            (self.hook)(OpKind::Open(access), Some(name));
        }
        let file = self.disk.open(name, access)?;
        let (hook, reads) = (Arc::clone(&self.hook), self.reads);
        Ok(Box::new(HookFile { file, name, hook, reads }))
    }
    fn map(&self, name: FileName) -> io::Result<FileMap> {
        (self.hook)(OpKind::Map, Some(name));
        self.disk.map(name)
    }
    fn rename(&self, from: FileName, to: FileName) -> io::Result<()> {
        (self.hook)(OpKind::Rename(to), Some(from));
        self.disk.rename(from, to)
    }
    fn remove(&self, name: FileName) -> io::Result<()> {
        (self.hook)(OpKind::Remove, Some(name));
        self.disk.remove(name)
    }
    fn link(&self, file: &LinkSource, name: FileName) -> io::Result<()> {
        (self.hook)(OpKind::Link, Some(name));
        self.disk.link(file, name)
    }
    fn sync_dir(&self, dir: Dir) -> io::Result<()> {
        (self.hook)(OpKind::SyncDir(dir), None);
        self.disk.sync_dir(dir)
    }
    fn lock(&self, name: FileName, kind: LockMode) -> io::Result<LockOutcome> {
        (self.hook)(OpKind::Lock, Some(name));
        self.disk.lock(name, kind)
    }
}

struct HookFile {
    file: Box<dyn DiskFile>,
    name: FileName,
    hook: Arc<DiskHook>,
    reads: bool,
}

impl fmt::Debug for HookFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.file.fmt(f)
    }
}

impl DiskFile for HookFile {
    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        if self.reads {
            (self.hook)(OpKind::Read, Some(self.name));
        }
        self.file.read_at(offset, buf)
    }
    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        (self.hook)(OpKind::Write, Some(self.name));
        self.file.write_at(offset, data)
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        (self.hook)(OpKind::SetLen, Some(self.name));
        self.file.set_len(len)
    }
    fn sync(&self) -> io::Result<()> {
        (self.hook)(OpKind::Sync, Some(self.name));
        self.file.sync()
    }
}

/// A disk whose catalog differs at each read, as if a writer were too fast to be followed. A reader
/// falls back to the published state. Changes a byte without a meaning.
pub fn changing_catalog_disk(disk: &SimDisk) -> Arc<dyn Disk> {
    const PADDING: u64 = 40;
    let under = disk.clone();
    Arc::new(HookDisk::with_reads(Arc::new(disk.clone()), move |kind, name| {
        if kind != OpKind::Read || name != Some(FileName::Catalog) {
            return;
        }
        let file = under.open(FileName::Catalog, Access::Write).unwrap();
        let mut byte = [0];
        if file.read_at(PADDING, &mut byte).is_ok() {
            file.write_at(PADDING, &[!byte[0]]).unwrap();
        }
    }))
}

/// Blocks the operations that a test selects, until the test lets them continue.
#[derive(Clone, Default)]
pub struct Gate {
    state: Arc<(Mutex<GateState>, Condvar)>,
}

type GateFilter = fn(OpKind, Option<FileName>) -> bool;

#[derive(Default)]
struct GateState {
    stops: Option<GateFilter>,
    waiting: usize,
}

/// The timeout, far longer than any operation of the tests. A test that takes longer hangs.
pub const PATIENCE: Duration = Duration::from_secs(10);

impl Gate {
    /// A disk whose operations pass this gate.
    pub fn before(&self, disk: Arc<dyn Disk>) -> HookDisk {
        let gate = self.clone();
        HookDisk::new(disk, move |kind, name| gate.pass(kind, name))
    }

    fn pass(&self, kind: OpKind, name: Option<FileName>) {
        let (state, changed) = &*self.state;
        let mut state = state.lock().unwrap();
        while state.stops.is_some_and(|stops| stops(kind, name)) {
            state.waiting += 1;
            changed.notify_all();
            state = changed.wait(state).unwrap();
            state.waiting -= 1;
        }
    }

    /// Makes these operations wait from now on.
    pub fn close(&self, stops: GateFilter) {
        self.state.0.lock().unwrap().stops = Some(stops);
    }

    /// Waits until an operation waits.
    pub fn await_arrival(&self) {
        let (state, changed) = &*self.state;
        let until = Instant::now() + PATIENCE;
        let mut state = state.lock().unwrap();
        while state.waiting == 0 {
            let left = until.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "nothing came to the gate");
            state = changed.wait_timeout(state, left).unwrap().0;
        }
    }

    /// Lets all operations continue.
    pub fn open(&self) {
        let (state, changed) = &*self.state;
        state.lock().unwrap().stops = None;
        changed.notify_all();
    }
}
