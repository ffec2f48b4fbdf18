//! What happens on a simulated disk: operations counted, recorded, made to fail.

use std::io;

use crate::disk::{Access, Dir, Name};

/// A kind of operation on a [`SimDisk`](super::SimDisk).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpKind {
    /// Directories made.
    CreateDirs,
    /// A directory listed.
    List(Dir),
    /// A file opened.
    Open(Access),
    /// A file's length asked for.
    Size,
    /// Bytes read.
    Read,
    /// Bytes written.
    Write,
    /// A length set: [`Op::offset`] is the new length.
    SetLen,
    /// A file synced.
    Sync,
    /// A file mapped.
    Map,
    /// A file renamed to this.
    Rename(Name),
    /// A file of another disk linked.
    Link,
    /// A file removed.
    Remove,
    /// A directory synced.
    SyncDir(Dir),
    /// The lock asked for.
    Lock,
    /// Free space asked for.
    FreeBytes,
}

impl OpKind {
    /// Whether it changes the disk, or what of it a crash leaves.
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

    /// Whether it may need space that a full disk does not have.
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

/// An operation on a [`SimDisk`](super::SimDisk), as its log keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// What was done.
    pub kind: OpKind,
    /// To which file, by the name under which it was opened; none for a directory.
    pub name: Option<Name>,
    /// Where in the file; 0 for what has no place.
    pub offset: u64,
    /// How many bytes; 0 for what has no length.
    pub len: u64,
    /// Whether a fault made it fail.
    pub failed: bool,
}

/// Which operations a [`Fault`] counts and strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strikes {
    /// All.
    Any,
    /// Those for which [`OpKind::changes`] holds. A disk on which all of them fail is as good as
    /// frozen in the moment of a crash.
    Changes,
    /// Those for which [`OpKind::takes_space`] holds.
    Space,
    /// Those of one kind.
    Only(OpKind),
}

impl Strikes {
    fn counts(self, kind: OpKind) -> bool {
        match self {
            Strikes::Any => true,
            Strikes::Changes => kind.changes(),
            Strikes::Space => kind.takes_space(),
            Strikes::Only(only) => kind == only,
        }
    }
}

/// A failure to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Which operations are counted, and fail.
    pub strikes: Strikes,
    /// Which of them fails, counted from 1, the next; 0 is the next too.
    pub nth: u64,
    /// How it fails. `StorageFull` is what a full disk says.
    pub kind: io::ErrorKind,
    /// Whether all later ones fail too.
    pub lasting: bool,
}

/// Counts operations, keeps the log, lets the fault strike.
#[derive(Debug, Default)]
pub(super) struct Monitor {
    pub(super) operations: u64,
    pub(super) changes: u64,
    pub(super) log: Option<Vec<Op>>,
    pub(super) fault: Option<Fault>,
}

impl Monitor {
    /// An operation begins.
    ///
    /// # Errors
    ///
    /// That of the fault whose turn it is.
    pub(super) fn enter(
        &mut self,
        kind: OpKind,
        name: Option<Name>,
        offset: u64,
        len: usize,
    ) -> io::Result<()> {
        self.operations += 1;
        self.changes += u64::from(kind.changes());
        let struck = self.strike(kind);
        if let Some(log) = &mut self.log {
            log.push(Op { kind, name, offset, len: len as u64, failed: struck.is_some() });
        }
        match struck {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }

    fn strike(&mut self, kind: OpKind) -> Option<io::ErrorKind> {
        let fault = self.fault.as_mut()?;
        if !fault.strikes.counts(kind) {
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
