//! The state of a simulated disk: files, directories and locks. The disk shares it with its open
//! files and locks.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::directory::{DirEntries, Directory, EntryChange};
use super::fault::FaultInjector;
use super::inode::Inode;
use crate::disk::{Dir, FileName, LockMode};

/// The number of directories.
pub(super) const DIRS: usize = Dir::ALL.len();

/// The state of a disk.
#[derive(Default)]
pub(super) struct SimState {
    pub(super) inodes: BTreeMap<u64, Inode>,
    pub(super) next_inode: u64,
    /// The directories, in the order of [`Dir::ALL`].
    pub(super) dirs: [Directory; DIRS],
    /// The directories that were created.
    pub(super) made: Vec<Dir>,
    /// The lock holders of each file.
    pub(super) locks: BTreeMap<u64, LockState>,
    /// Determines the order in which names are listed. Changes with each list.
    pub(super) order: u64,
    /// The input for the next random number. Changes with each random number.
    pub(super) drawn: u64,
    pub(super) capacity_bytes: Option<u64>,
    /// The time of the clock, if the clock was set.
    pub(super) clock: Option<i64>,
    pub(super) monitor: FaultInjector,
}

impl SimState {
    #[expect(clippy::indexing_slicing, reason = "there is one for each")]
    pub(super) fn dir(&self, dir: Dir) -> &Directory {
        &self.dirs[dir as usize]
    }

    #[expect(clippy::indexing_slicing, reason = "there is one for each")]
    pub(super) fn dir_mut(&mut self, dir: Dir) -> &mut Directory {
        &mut self.dirs[dir as usize]
    }

    pub(super) fn find(&self, name: FileName) -> io::Result<u64> {
        let found = self.dir(name.dir()).now().get(&name);
        found.copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    pub(super) fn inode(&mut self, inode: u64) -> io::Result<&mut Inode> {
        self.inodes.get_mut(&inode).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Creates a file under a free name.
    pub(super) fn create(&mut self, name: FileName) -> u64 {
        self.name(name, Inode::default())
    }

    /// Gives a file a free name.
    pub(super) fn name(&mut self, name: FileName, file: Inode) -> u64 {
        let inode = self.next_inode;
        self.next_inode += 1;
        self.inodes.insert(inode, file);
        self.dir_mut(name.dir()).change(EntryChange::Create { name, inode });
        inode
    }

    /// The `order` of a copy of this disk. Equal operations lead to equal orders, and different
    /// operations to different orders.
    pub(super) fn order_of_copy(&self) -> u64 {
        xxh3_64_with_seed(&self.monitor.operations.to_le_bytes(), self.order)
    }

    /// Lists names as a file system does: in an arbitrary order that changes each time.
    pub(super) fn list(&mut self, dir: Dir) -> Vec<OsString> {
        self.order = self.order.wrapping_add(1);
        let files = self.dir(dir).now().keys().map(|name| name.file_name());
        let is_there = |at: &Dir| self.made.contains(at) || !self.dir(*at).now().is_empty();
        let dirs = Dir::ALL.iter().filter(|at| dir == Dir::Root && is_there(at));
        let dirs = dirs.filter_map(|at| at.name()).map(str::to_owned);
        let mut names: Vec<String> = dirs.chain(files).collect();
        names.sort_by_cached_key(|name| xxh3_64_with_seed(name.as_bytes(), self.order));
        names.into_iter().map(OsString::from).collect()
    }

    /// Drops files that are no longer reachable.
    pub(super) fn collect(&mut self) {
        let dirs = &self.dirs;
        self.inodes.retain(|id, inode| inode.handles > 0 || dirs.iter().any(|dir| dir.knows(*id)));
    }

    /// The number of bytes of the files that have a name or are open.
    pub(super) fn used_bytes(&self) -> u64 {
        let named = |id| self.dirs.iter().any(|dir| dir.now().values().any(|named| *named == id));
        let used = self.inodes.iter().filter(|(id, inode)| inode.handles > 0 || named(**id));
        used.map(|(_, inode)| inode.content().len() as u64).sum()
    }

    pub(super) fn free_bytes(&self) -> Option<u64> {
        Some(self.capacity_bytes?.saturating_sub(self.used_bytes()))
    }

    /// Checks that there is space for a file to grow.
    ///
    /// # Errors
    ///
    /// `StorageFull` if a file of `from` bytes cannot grow to `to` bytes.
    pub(super) fn check_space(&self, from: usize, to: usize) -> io::Result<()> {
        match self.free_bytes() {
            Some(free) if to.saturating_sub(from) as u64 > free => {
                Err(io::ErrorKind::StorageFull.into())
            }
            _ => Ok(()),
        }
    }

    /// The state of another disk with the entries `dirs`. `content` returns the durable contents of
    /// each file.
    pub(super) fn rebuilt(
        &self,
        dirs: [DirEntries; DIRS],
        mut content: impl FnMut(&Inode) -> Arc<Vec<u8>>,
    ) -> SimState {
        self.rebuilt_by_id(dirs, |_, inode| content(inode))
    }

    /// The state of another disk with the entries `dirs`, whose inodes derive from the inodes of
    /// this disk. `content` gets each inode with its number.
    pub(super) fn rebuilt_by_id(
        &self,
        dirs: [DirEntries; DIRS],
        mut content: impl FnMut(u64, &Inode) -> Arc<Vec<u8>>,
    ) -> SimState {
        let ids = dirs.iter().flat_map(DirEntries::values);
        let inodes = ids
            .filter_map(|id| Some((*id, Inode::durable(content(*id, self.inodes.get(id)?)))))
            .collect();
        SimState {
            inodes,
            next_inode: self.next_inode,
            dirs: dirs.map(Directory::durable),
            made: self.made.clone(),
            order: self.order_of_copy(),
            drawn: self.drawn,
            capacity_bytes: self.capacity_bytes,
            ..SimState::default()
        }
    }
}

/// The holders of a file's lock.
#[derive(Debug, Default)]
pub(super) struct LockState {
    writer: bool,
    readers: usize,
}

impl LockState {
    /// Takes a lock, if no holder conflicts. Returns whether the lock was taken.
    pub(super) fn take(&mut self, kind: LockMode) -> bool {
        let free = !self.writer && (kind == LockMode::Shared || self.readers == 0);
        match kind {
            LockMode::Exclusive => self.writer |= free,
            LockMode::Shared => self.readers += usize::from(free),
        }
        free
    }

    pub(super) fn release(&mut self, kind: LockMode) {
        match kind {
            LockMode::Exclusive => assert!(std::mem::take(&mut self.writer), "it was locked"),
            LockMode::Shared => {
                assert!(self.readers > 0, "it was locked");
                self.readers -= 1;
            }
        }
    }
}
