//! Open files and locks of a simulated disk.

use std::fmt;
use std::io;
use std::sync::Arc;

use parking_lot::Mutex;

use super::OpKind;
use super::state::SimState;
use crate::disk::{DiskFile, FileName, LockGuard, LockMode};

/// An open file. It refers to its inode, whatever happens to the name of the file.
pub(super) struct SimFile {
    state: Arc<Mutex<SimState>>,
    inode: u64,
    name: FileName,
    writable: bool,
}

impl SimFile {
    /// Creates a handle that the caller has already counted among the inode's handles.
    pub(super) fn new(
        state: Arc<Mutex<SimState>>,
        inode: u64,
        name: FileName,
        writable: bool,
    ) -> SimFile {
        SimFile { state, inode, name, writable }
    }

    fn check_writable(&self) -> io::Result<()> {
        if self.writable { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
    }
}

fn to_len(bytes: u64) -> io::Result<usize> {
    // Lengths are signed, as on a real disk.
    isize::try_from(bytes)
        .ok()
        .and_then(|len| usize::try_from(len).ok())
        .ok_or_else(|| io::ErrorKind::FileTooLarge.into())
}

impl DiskFile for SimFile {
    fn size(&self) -> io::Result<u64> {
        let mut state = self.state.lock();
        state.monitor.enter(OpKind::Size, Some(self.name), 0, 0)?;
        Ok(state.inode(self.inode)?.content().len() as u64)
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        let mut state = self.state.lock();
        state.monitor.enter(OpKind::Read, Some(self.name), offset, buf.len())?;
        if buf.is_empty() {
            return Ok(());
        }
        let content = state.inode(self.inode)?.content();
        let bytes = usize::try_from(offset)
            .ok()
            .and_then(|start| content.get(start..)?.get(..buf.len()))
            .ok_or(io::ErrorKind::UnexpectedEof)?;
        buf.copy_from_slice(bytes);
        Ok(())
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.check_writable()?;
        let end = to_len(offset.saturating_add(data.len() as u64))?;
        let start = end.saturating_sub(data.len());
        let mut state = self.state.lock();
        let entered = state.monitor.enter(OpKind::Write, Some(self.name), offset, data.len());
        let size = state.inode(self.inode)?.content().len();
        let done = entered.and_then(|()| state.check_space(size, end));
        let written = match done {
            Ok(()) => data,
            // A failed write may have written half of its data, as far as there is space.
            Err(_) => {
                let half = data.get(..data.len() / 2).unwrap_or_default();
                let fits = state.check_space(size, start + half.len()).is_ok();
                if fits { half } else { &[] }
            }
        };
        state.inode(self.inode)?.write(start, written);
        done
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.check_writable()?;
        let to = to_len(len)?;
        let mut state = self.state.lock();
        state.monitor.enter(OpKind::SetLen, Some(self.name), len, 0)?;
        let size = state.inode(self.inode)?.content().len();
        state.check_space(size, to)?;
        state.inode(self.inode)?.set_len(to);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.state.lock();
        let entered = state.monitor.enter(OpKind::Sync, Some(self.name), 0, 0);
        let inode = state.inode(self.inode)?;
        match &entered {
            Ok(()) => inode.sync(),
            Err(_) => inode.fail_sync(),
        }
        entered
    }
}

impl Drop for SimFile {
    fn drop(&mut self) {
        if let Ok(inode) = self.state.lock().inode(self.inode) {
            assert!(inode.handles > 0, "a file is closed as often as it was opened");
            inode.handles -= 1;
        }
    }
}

impl fmt::Debug for SimFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SimFile({})", self.name)
    }
}

/// A held lock; without an inode if the file does not exist.
pub(super) struct SimLock {
    state: Arc<Mutex<SimState>>,
    inode: Option<u64>,
    kind: LockMode,
}

impl SimLock {
    /// Creates a guard for a lock that the caller has already recorded in the state.
    pub(super) fn new(state: Arc<Mutex<SimState>>, inode: Option<u64>, kind: LockMode) -> SimLock {
        SimLock { state, inode, kind }
    }
}

impl LockGuard for SimLock {
    fn is_under(&self, name: FileName) -> io::Result<bool> {
        let found = self.state.lock().find(name).ok();
        Ok(self.inode.is_none() || found == self.inode)
    }
}

impl Drop for SimLock {
    fn drop(&mut self) {
        let mut state = self.state.lock();
        if let Some(inode) = self.inode {
            state.locks.entry(inode).or_default().release(self.kind);
        }
    }
}

impl fmt::Debug for SimLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SimLock({:?})", self.kind)
    }
}
