//! What a simulated disk holds at a moment: its files, its directories, and who has which lock. The
//! disk shares it with the open files and the locks that it hands out.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::directory::{Directory, Entries, EntryChange};
use super::fault::Monitor;
use super::inode::Inode;
use crate::disk::{Dir, Lock, Name};

/// How many directories there are.
pub(super) const DIRS: usize = Dir::ALL.len();

/// All of a disk.
#[derive(Default)]
pub(super) struct State {
    pub(super) inodes: BTreeMap<u64, Inode>,
    pub(super) next_inode: u64,
    /// By their places in [`Dir::ALL`].
    pub(super) dirs: [Directory; DIRS],
    /// Which of them were made.
    pub(super) made: Vec<Dir>,
    /// Who holds which file.
    pub(super) locks: BTreeMap<u64, Holders>,
    /// Decides the order in which names are listed, and is another number for each list.
    pub(super) order: u64,
    /// Another number for each that was drawn.
    pub(super) drawn: u64,
    pub(super) capacity_bytes: Option<u64>,
    /// What the clock shows, if it was set.
    pub(super) clock: Option<i64>,
    pub(super) monitor: Monitor,
}

impl State {
    #[expect(clippy::indexing_slicing, reason = "there is one for each")]
    pub(super) fn dir(&self, dir: Dir) -> &Directory {
        &self.dirs[dir as usize]
    }

    #[expect(clippy::indexing_slicing, reason = "there is one for each")]
    pub(super) fn dir_mut(&mut self, dir: Dir) -> &mut Directory {
        &mut self.dirs[dir as usize]
    }

    pub(super) fn find(&self, name: Name) -> io::Result<u64> {
        let found = self.dir(name.dir()).now().get(&name);
        found.copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    pub(super) fn inode(&mut self, inode: u64) -> io::Result<&mut Inode> {
        self.inodes.get_mut(&inode).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// A new file of this name, which nothing has.
    pub(super) fn create(&mut self, name: Name) -> u64 {
        self.name(name, Inode::default())
    }

    /// A file gets this name, which nothing has.
    pub(super) fn name(&mut self, name: Name, file: Inode) -> u64 {
        let inode = self.next_inode;
        self.next_inode += 1;
        self.inodes.insert(inode, file);
        self.dir_mut(name.dir()).change(EntryChange::Create { name, inode });
        inode
    }

    /// The order of a disk that holds what this one held now: the same operations lead to the same
    /// orders, and other operations to others.
    pub(super) fn order_of_copy(&self) -> u64 {
        xxh3_64_with_seed(&self.monitor.operations.to_le_bytes(), self.order)
    }

    /// Names as a file system lists them: in no order, and another one each time.
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

    /// Forgets files that nothing leads to any more.
    pub(super) fn collect(&mut self) {
        let dirs = &self.dirs;
        self.inodes.retain(|id, inode| inode.handles > 0 || dirs.iter().any(|dir| dir.knows(*id)));
    }

    /// Bytes of the files that have a name or are open.
    pub(super) fn used_bytes(&self) -> u64 {
        let named = |id| self.dirs.iter().any(|dir| dir.now().values().any(|named| *named == id));
        let used = self.inodes.iter().filter(|(id, inode)| inode.handles > 0 || named(**id));
        used.map(|(_, inode)| inode.content().len() as u64).sum()
    }

    pub(super) fn free_bytes(&self) -> Option<u64> {
        Some(self.capacity_bytes?.saturating_sub(self.used_bytes()))
    }

    /// # Errors
    ///
    /// `StorageFull` where a file of `from` bytes cannot become one of `to`.
    pub(super) fn check_space(&self, from: usize, to: usize) -> io::Result<()> {
        match self.free_bytes() {
            Some(free) if to.saturating_sub(from) as u64 > free => {
                Err(io::ErrorKind::StorageFull.into())
            }
            _ => Ok(()),
        }
    }

    /// What another disk with these entries holds; the contents are made by `content`, and are
    /// durable.
    pub(super) fn rebuilt(
        &self,
        dirs: [Entries; DIRS],
        mut content: impl FnMut(&Inode) -> Arc<Vec<u8>>,
    ) -> State {
        self.rebuilt_by_id(dirs, |_, inode| content(inode))
    }

    /// What another disk with these directories holds, whose inodes are made of those here, each with
    /// its number.
    pub(super) fn rebuilt_by_id(
        &self,
        dirs: [Entries; DIRS],
        mut content: impl FnMut(u64, &Inode) -> Arc<Vec<u8>>,
    ) -> State {
        let ids = dirs.iter().flat_map(Entries::values);
        let inodes = ids
            .filter_map(|id| Some((*id, Inode::durable(content(*id, self.inodes.get(id)?)))))
            .collect();
        State {
            inodes,
            next_inode: self.next_inode,
            dirs: dirs.map(Directory::durable),
            made: self.made.clone(),
            order: self.order_of_copy(),
            drawn: self.drawn,
            capacity_bytes: self.capacity_bytes,
            ..State::default()
        }
    }
}

/// Who has a file locked.
#[derive(Debug, Default)]
pub(super) struct Holders {
    writer: bool,
    readers: usize,
}

impl Holders {
    /// Takes a lock, if nobody is in the way.
    pub(super) fn take(&mut self, kind: Lock) -> bool {
        let free = !self.writer && (kind == Lock::Shared || self.readers == 0);
        match kind {
            Lock::Exclusive => self.writer |= free,
            Lock::Shared => self.readers += usize::from(free),
        }
        free
    }

    pub(super) fn let_go(&mut self, kind: Lock) {
        match kind {
            Lock::Exclusive => assert!(std::mem::take(&mut self.writer), "it was locked"),
            Lock::Shared => {
                assert!(self.readers > 0, "it was locked");
                self.readers -= 1;
            }
        }
    }
}
