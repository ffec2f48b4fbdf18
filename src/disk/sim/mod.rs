//! A disk in memory that can lose power.
//!
//! Until a sync, any subset of the 512-byte sectors of unsynced writes persists, a file may have
//! grown without its data, changes of length persist or not, changes to a directory persist in any
//! subset until the directory is synced, and the order across files is free. A failed sync loses
//! the file's unsynced pages: they are readable until the crash, and a later sync does not make
//! them durable.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;
use std::{fmt, io};

use parking_lot::Mutex;

use super::{
    Access, Dir, Disk, DiskFile, FileMap, FileName, LinkSource, LockHolder, LockMode, LockOutcome,
};
use crate::splitmix::mix;

mod crash;
mod directory;
mod fault;
mod handle;
mod inode;
#[cfg(test)]
mod redb_tests;
mod state;
#[cfg(test)]
mod tests;

pub use crash::CrashUnit;
pub use fault::{DiskFault, DiskOp, FaultTarget, OpKind};

use crash::Fill;
use directory::{Directory, EntryChange};
use handle::{SimFile, SimLock};
use inode::Inode;
use state::{DIRS, SimState};

/// A simulated disk with one store's directory, empty or not. A clone is the same disk.
///
/// Files can be created in the store's directories from the start; only created directories are
/// listed. Names are listed in an order that changes with each listing, but is repeatable for the
/// same operations. A read, a write and a sync cost as much as the bytes they touch, not the size
/// of the file; a map costs nothing until the file is written again.
#[derive(Clone)]
pub struct SimDisk {
    state: Arc<Mutex<SimState>>,
}

impl SimDisk {
    /// Creates an empty disk.
    pub fn new() -> SimDisk {
        SimDisk::with(SimState::default())
    }

    /// Creates a disk with the given files, which are durable.
    #[expect(clippy::indexing_slicing, reason = "there is one for each")]
    pub fn of(files: impl IntoIterator<Item = (FileName, Vec<u8>)>) -> SimDisk {
        let mut state = SimState::default();
        let mut dirs: [_; DIRS] = Default::default();
        for (name, content) in files {
            let inode = state.next_inode;
            state.next_inode += 1;
            state.drawn = mix(state.drawn.wrapping_add(content.len() as u64));
            state.inodes.insert(inode, Inode::durable(Arc::new(content)));
            let dir: &mut BTreeMap<_, _> = &mut dirs[name.dir() as usize];
            dir.insert(name, inode);
        }
        state.dirs = dirs.map(Directory::durable);
        SimDisk::with(state)
    }

    fn with(state: SimState) -> SimDisk {
        SimDisk { state: Arc::new(Mutex::new(state)) }
    }

    /// Changes the order in which names are listed. `seed` determines the new order.
    pub fn set_list_order(&self, seed: u64) {
        self.state.lock().order = seed;
    }

    /// Seeds the random numbers. Without a seed, all new disks return the same numbers, and so do
    /// all disks that start with the same files, so that tests are repeatable. Two stores that must
    /// differ, or two copies of one store, need two seeds.
    pub fn set_seed(&self, seed: u64) {
        self.state.lock().drawn = mix(seed);
    }

    /// Sets the clock, in milliseconds since 1970.
    pub fn set_clock(&self, ms: i64) {
        self.state.lock().clock = Some(ms);
    }

    /// Copies the current files, by name.
    pub fn contents(&self) -> Vec<(FileName, Vec<u8>)> {
        let mut contents = Vec::new();
        self.read_each(|name, content| contents.push((name, content.to_vec())));
        contents
    }

    /// Simulates power loss: returns another, independent disk with one of the possible states. The
    /// new disk has no open file, no lock and no fault.
    ///
    /// `choice` decides which state: if called with `n`, `choice` returns a uniformly random number
    /// below `n`. The same results give the same state. `choice` must not use this disk.
    ///
    /// Costs a copy of each file that has unsynced changes.
    pub fn crash(&self, choice: &mut dyn FnMut(u64) -> u64) -> SimDisk {
        let state = self.state.lock();
        let mut entries = |directory: &Directory| {
            crash::entries(directory, &crash::subset(directory.pending().len(), choice))
        };
        let dirs = state.dirs.each_ref().map(&mut entries);
        let contents: Vec<_> =
            state.inodes.values().map(|inode| Arc::clone(inode.content())).collect();
        SimDisk::with(state.rebuilt(dirs, |inode| {
            let kept = crash::subset(crash::units(inode, CrashUnit::Sector), choice);
            crash::content(inode, CrashUnit::Sector, &kept, || Fill::choose(&contents, choice))
        }))
    }

    /// The number of unsynced changes that a power loss would keep or lose independently: changes
    /// of a directory and of a file's length, and units of written bytes.
    pub fn unsynced(&self, unit: CrashUnit) -> usize {
        let state = self.state.lock();
        let files: usize = state.inodes.values().map(|inode| crash::units(inode, unit)).sum();
        state.dirs.iter().map(|dir| dir.pending().len()).sum::<usize>() + files
    }

    /// Simulates power loss that keeps exactly the [`unsynced`](SimDisk::unsynced) changes for
    /// which `kept` returns true. `kept` is called once for each change with its number. If a file
    /// grew and its data was lost, the bytes are zero. Otherwise this function works as
    /// [`crash`](SimDisk::crash).
    pub fn crash_keeping(&self, unit: CrashUnit, mut kept: impl FnMut(usize) -> bool) -> SimDisk {
        let state = self.state.lock();
        let mut number = 0;
        let mut next = |n: usize| -> Vec<bool> {
            let numbers = number..number + n;
            number = numbers.end;
            numbers.map(&mut kept).collect()
        };
        let entries = |dir: &Directory| crash::entries(dir, &next(dir.pending().len()));
        let dirs = state.dirs.each_ref().map(entries);
        // Each file is numbered once, whether or not a name leads to it in the end.
        let kept: BTreeMap<u64, Vec<bool>> =
            state.inodes.iter().map(|(id, inode)| (*id, next(crash::units(inode, unit)))).collect();
        SimDisk::with(state.rebuilt_by_id(dirs, |id, inode| {
            let kept = kept.get(&id).map_or(&[][..], Vec::as_slice);
            crash::content(inode, unit, kept, || Fill::Zero)
        }))
    }

    /// Passes each file in its current state to `read`.
    pub fn read_each(&self, mut read: impl FnMut(FileName, &[u8])) {
        let state = self.state.lock();
        for (name, id) in state.dirs.iter().flat_map(|dir| dir.now()) {
            if let Some(inode) = state.inodes.get(id) {
                read(*name, inode.content());
            }
        }
    }

    /// Simulates power loss that loses all unsynced changes.
    pub fn crash_synced_only(&self) -> SimDisk {
        let state = self.state.lock();
        let dirs = state.dirs.each_ref().map(|dir| dir.durable_entries().clone());
        SimDisk::with(state.rebuilt(dirs, Inode::durable_content))
    }

    /// Simulates a killed process on a running system: returns another, independent disk with all
    /// changes. Unsynced data is still not durable on the new disk: a later crash of that disk may
    /// lose it. The new disk has no open file, no lock and no fault.
    pub fn crash_all_kept(&self) -> SimDisk {
        let state = self.state.lock();
        let mut kept = SimState {
            inodes: state.inodes.iter().map(|(id, inode)| (*id, inode.closed())).collect(),
            next_inode: state.next_inode,
            dirs: state.dirs.clone(),
            made: state.made.clone(),
            order: state.order_of_copy(),
            drawn: state.drawn,
            capacity_bytes: state.capacity_bytes,
            ..SimState::default()
        };
        kept.collect();
        SimDisk::with(kept)
    }

    /// Makes the `n`-th operation from now fail with an error of the given kind; 1 is the next
    /// operation. Replaces an earlier fault. A write that fails leaves the first half of its bytes
    /// written.
    pub fn fail_after(&self, n: u64, kind: io::ErrorKind) {
        self.fail(DiskFault { target: FaultTarget::Any, nth: n, kind, lasting: false });
    }

    /// Works as [`SimDisk::fail_after`], but every later operation fails too.
    pub fn fail_from(&self, n: u64, kind: io::ErrorKind) {
        self.fail(DiskFault { target: FaultTarget::Any, nth: n, kind, lasting: true });
    }

    /// Sets a fault, replacing an earlier fault.
    pub fn fail(&self, fault: DiskFault) {
        self.state.lock().monitor.fault = Some(fault);
    }

    /// Removes the fault.
    pub fn heal(&self) {
        self.state.lock().monitor.fault = None;
    }

    /// Limits the bytes of contents on the disk; `None`, the default, sets no limit. Files without
    /// a name that are not open take no space. With a limit, [`Disk::free_bytes`] returns the free
    /// space.
    pub fn set_capacity_bytes(&self, capacity_bytes: Option<u64>) {
        self.state.lock().capacity_bytes = capacity_bytes;
    }

    /// The number of operations so far, including failed ones.
    pub fn operations(&self) -> u64 {
        self.state.lock().monitor.operations
    }

    /// The number of operations so far for which [`OpKind::changes`] returns true, including failed
    /// ones.
    pub fn changes(&self) -> u64 {
        self.state.lock().monitor.changes
    }

    /// Starts to record every operation, and drops the previous record.
    pub fn record(&self) {
        self.state.lock().monitor.log = Some(Vec::new());
    }

    /// Returns the operations since [`SimDisk::record`], and starts a new record. Returns an empty
    /// list if recording was not started.
    pub fn take_log(&self) -> Vec<DiskOp> {
        self.state.lock().monitor.log.as_mut().map(std::mem::take).unwrap_or_default()
    }
}

impl Default for SimDisk {
    fn default() -> SimDisk {
        SimDisk::new()
    }
}

impl fmt::Debug for SimDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SimDisk")
    }
}

impl Disk for SimDisk {
    fn location(&self) -> String {
        "memory".to_owned()
    }

    fn create_dirs(&self, dirs: &[Dir]) -> io::Result<()> {
        let mut state = self.state.lock();
        state.monitor.enter(OpKind::CreateDirs, None, 0, 0)?;
        state.made.extend(dirs);
        Ok(())
    }

    fn list(&self, dir: Dir) -> io::Result<Vec<OsString>> {
        let mut state = self.state.lock();
        state.monitor.enter(OpKind::List(dir), None, 0, 0)?;
        Ok(state.list(dir))
    }

    fn open(&self, name: FileName, access: Access) -> io::Result<Box<dyn DiskFile>> {
        let mut state = self.state.lock();
        state.monitor.enter(OpKind::Open(access), Some(name), 0, 0)?;
        let id = match access {
            Access::Read | Access::Write => state.find(name)?,
            Access::Create if state.find(name).is_ok() => {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            Access::Create => state.create(name),
        };
        state.inode(id)?.handles += 1;
        let writable = access != Access::Read;
        Ok(Box::new(SimFile::new(Arc::clone(&self.state), id, name, writable)))
    }

    fn map(&self, name: FileName) -> io::Result<FileMap> {
        let mut state = self.state.lock();
        state.monitor.enter(OpKind::Map, Some(name), 0, 0)?;
        let id = state.find(name)?;
        Ok(FileMap::shared(Arc::clone(state.inode(id)?.content())))
    }

    /// Fails between directories, because no file of a store moves to another directory.
    fn rename(&self, from: FileName, to: FileName) -> io::Result<()> {
        let mut state = self.state.lock();
        state.monitor.enter(OpKind::Rename(to), Some(from), 0, 0)?;
        if from.dir() != to.dir() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let inode = state.find(from)?;
        if from != to {
            state.dir_mut(to.dir()).change(EntryChange::Rename { to, inode });
        }
        Ok(())
    }

    fn remove(&self, name: FileName) -> io::Result<()> {
        let mut state = self.state.lock();
        state.monitor.enter(OpKind::Remove, Some(name), 0, 0)?;
        let inode = state.find(name)?;
        state.dir_mut(name.dir()).change(EntryChange::Remove { name, inode });
        Ok(())
    }

    /// Does not count as an operation, and fails only if the file does not exist.
    fn linkable(&self, name: FileName) -> io::Result<LinkSource> {
        let mut state = self.state.lock();
        let inode = state.find(name)?;
        Ok(LinkSource::new(state.inode(inode)?.closed()))
    }

    /// Both disks have the current contents of the file, as durable as on the first disk. Nobody
    /// writes to a linked file, so two copies are equivalent to one shared file.
    fn link(&self, file: &LinkSource, name: FileName) -> io::Result<()> {
        let mut state = self.state.lock();
        state.monitor.enter(OpKind::Link, Some(name), 0, 0)?;
        let inode: &Inode = file.made_of().ok_or(io::ErrorKind::Unsupported)?;
        if state.find(name).is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        state.name(name, inode.clone());
        Ok(())
    }

    /// A failed sync does not affect the changes: they may persist, and a later successful sync
    /// makes them durable.
    fn sync_dir(&self, dir: Dir) -> io::Result<()> {
        let mut state = self.state.lock();
        state.monitor.enter(OpKind::SyncDir(dir), None, 0, 0)?;
        state.dir_mut(dir).sync();
        state.collect();
        Ok(())
    }

    fn lock(&self, name: FileName, kind: LockMode) -> io::Result<LockOutcome> {
        let mut state = self.state.lock();
        state.monitor.enter(OpKind::Lock, Some(name), 0, 0)?;
        let inode = match state.find(name) {
            Ok(inode) => Some(inode),
            Err(_) if (name, kind) == (FileName::Lock, LockMode::Exclusive) => {
                Some(state.create(name))
            }
            Err(_) => None,
        };
        if let Some(inode) = inode
            && !state.locks.entry(inode).or_default().take(kind)
        {
            return Ok(LockOutcome::Refused(LockHolder::ThisProcess));
        }
        Ok(LockOutcome::Held(Box::new(SimLock::new(Arc::clone(&self.state), inode, kind))))
    }

    fn free_bytes(&self) -> io::Result<Option<u64>> {
        let mut state = self.state.lock();
        state.monitor.enter(OpKind::FreeBytes, None, 0, 0)?;
        Ok(state.free_bytes())
    }

    /// Returns a constant time: in May 2026, unless the clock was set.
    fn clock(&self) -> i64 {
        self.state.lock().clock.unwrap_or(1_780_000_000_000)
    }

    /// Does not count as an operation, and never fails.
    fn random(&self) -> u64 {
        let mut state = self.state.lock();
        state.drawn = state.drawn.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(state.drawn)
    }
}
