//! Operations on a simulated disk. They are counted and recorded, and can be made to fail.

use std::io;

use crate::disk::{Access, Dir, FileName};

/// A kind of operation on a [`SimDisk`](super::SimDisk).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpKind {
    /// Creates directories.
    CreateDirs,
    /// Lists a directory.
    List(Dir),
    /// Opens a file.
    Open(Access),
    /// Returns a file's length.
    Size,
    /// Reads bytes.
    Read,
    /// Writes bytes.
    Write,
    /// Sets the length; [`DiskOp::offset`] is the new length.
    SetLen,
    /// Syncs a file.
    Sync,
    /// Maps a file.
    Map,
    /// Renames a file to a name.
    Rename(FileName),
    /// Links a file of another disk.
    Link,
    /// Removes a file.
    Remove,
    /// Syncs a directory.
    SyncDir(Dir),
    /// Takes a lock.
    Lock,
    /// Returns the free space.
    FreeBytes,
}

impl OpKind {
    /// Whether the operation changes the disk, or the state of the disk after a crash.
    pub fn changes(self) -> bool {
        match self {
            OpKind::CreateDirs
            | OpKind::Open(Access::Create)
            | OpKind::Write
            | OpKind::SetLen
            | OpKind::Sync
            | OpKind::Rename(_)
            | OpKind::Link
            | OpKind::Remove
            | OpKind::SyncDir(_) => true,
            OpKind::List(_)
            | OpKind::Open(Access::Read | Access::Write)
            | OpKind::Size
            | OpKind::Read
            | OpKind::Map
            | OpKind::Lock
            | OpKind::FreeBytes => false,
        }
    }

    /// Whether the operation may need space that a full disk lacks.
    pub fn takes_space(self) -> bool {
        matches!(
            self,
            OpKind::CreateDirs
                | OpKind::Open(Access::Create)
                | OpKind::Write
                | OpKind::SetLen
                | OpKind::Link
        )
    }
}

/// An operation in the log of a [`SimDisk`](super::SimDisk).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskOp {
    /// The kind of operation.
    pub kind: OpKind,
    /// The file, by the name under which it was opened; `None` for a directory.
    pub name: Option<FileName>,
    /// The offset in the file; 0 for an operation without an offset.
    pub offset: u64,
    /// The number of bytes; 0 for an operation without a length.
    pub len: u64,
    /// Whether a fault made it fail.
    pub failed: bool,
}

/// The operations that a [`DiskFault`] counts and makes fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultTarget {
    /// All operations.
    Any,
    /// Operations for which [`OpKind::changes`] returns true. If all of these fail, the disk stays
    /// in its state at the moment of a crash.
    Changes,
    /// Operations for which [`OpKind::takes_space`] returns true.
    Space,
    /// Operations of one kind.
    Only(OpKind),
}

impl FaultTarget {
    fn matches(self, kind: OpKind) -> bool {
        match self {
            FaultTarget::Any => true,
            FaultTarget::Changes => kind.changes(),
            FaultTarget::Space => kind.takes_space(),
            FaultTarget::Only(only) => kind == only,
        }
    }
}

/// A planned failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskFault {
    /// The operations that are counted and can fail.
    pub target: FaultTarget,
    /// The number of the first failing operation, counted from 1; 0 acts like 1.
    pub nth: u64,
    /// The error. A full disk reports `StorageFull`.
    pub kind: io::ErrorKind,
    /// Whether all later operations fail, too.
    pub lasting: bool,
}

/// Counts operations, keeps the log, and applies the fault.
#[derive(Debug, Default)]
pub(super) struct FaultInjector {
    pub(super) operations: u64,
    pub(super) changes: u64,
    pub(super) log: Option<Vec<DiskOp>>,
    pub(super) fault: Option<DiskFault>,
}

impl FaultInjector {
    /// Records the start of an operation.
    ///
    /// # Errors
    ///
    /// The error of the fault, if the fault applies.
    pub(super) fn enter(
        &mut self,
        kind: OpKind,
        name: Option<FileName>,
        offset: u64,
        len: usize,
    ) -> io::Result<()> {
        self.operations += 1;
        self.changes += u64::from(kind.changes());
        let struck = self.strike(kind);
        if let Some(log) = &mut self.log {
            log.push(DiskOp { kind, name, offset, len: len as u64, failed: struck.is_some() });
        }
        match struck {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }

    fn strike(&mut self, kind: OpKind) -> Option<io::ErrorKind> {
        let fault = self.fault.as_mut()?;
        if !fault.target.matches(kind) {
            return None;
        }
        fault.nth = fault.nth.saturating_sub(1);
        if fault.nth > 0 {
            return None;
        }
        let error = fault.kind;
        if !fault.lasting {
            self.fault = None;
        }
        Some(error)
    }
}
