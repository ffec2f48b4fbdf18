//! File locks of the operating system, and their holders.
//!
//! A lock belongs to the open file, which a forked process shares. So the process that took a lock
//! releases it explicitly. If this process only closed the file, any process forked since would
//! keep the lock, even a process that only starts another program. A forked process just closes its
//! copy of the file.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;

use parking_lot::{Mutex, MutexGuard};

use super::paths::DiskPaths;
use super::regular::{self, LinkPolicy};
use super::{Access, FileName, LockGuard, LockHolder, LockMode, LockOutcome};
use crate::process::ProcessId;

/// The identity of a file, whatever its name: device and inode.
type FileId = (u64, u64);

/// The exclusive locks of this process, used for messages only. A forked process has a copy of this
/// list, which may be locked forever, so no call waits for the list. The copy has entries of the
/// parent, with the parent's process number.
static HELD: Mutex<Vec<(FileId, ProcessId)>> = Mutex::new(Vec::new());

/// The maximum number of attempts to lock the list. The list is locked only while an entry changes.
const ATTEMPTS: u32 = 10_000;

fn held() -> Option<MutexGuard<'static, Vec<(FileId, ProcessId)>>> {
    (0..ATTEMPTS).find_map(|_| {
        let held = HELD.try_lock();
        if held.is_none() {
            std::thread::yield_now();
        }
        held
    })
}

fn id_of(metadata: &std::fs::Metadata) -> FileId {
    (metadata.dev(), metadata.ino())
}

/// A held lock; `file` is `None` for a file that does not exist and is not created.
#[derive(Debug)]
struct RealLock {
    paths: DiskPaths,
    file: Option<(File, FileId)>,
    process: ProcessId,
}

impl LockGuard for RealLock {
    fn is_under(&self, name: FileName) -> io::Result<bool> {
        let Some((_, id)) = &self.file else { return Ok(true) };
        match std::fs::symlink_metadata(self.paths.of(name)) {
            Ok(found) => Ok(id_of(&found) == *id),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(e) => Err(e),
        }
    }
}

impl Drop for RealLock {
    fn drop(&mut self) {
        if let Some((file, id)) = &self.file
            && self.process.is_current()
        {
            if let Some(mut held) = held() {
                held.retain(|entry| *entry != (*id, self.process));
            }
            // If unlocking fails, closing the file releases the lock.
            let _ = file.unlock();
        }
    }
}

/// Locks a file of a disk. An exclusive lock on [`FileName::Lock`] creates the file if it does not
/// exist. If any other file does not exist, any lock on it is granted.
pub(super) fn lock(paths: &DiskPaths, name: FileName, kind: LockMode) -> io::Result<LockOutcome> {
    let process = ProcessId::current();
    loop {
        let file = match open(paths, name, kind) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                let guard = RealLock { paths: paths.clone(), file: None, process };
                return Ok(LockOutcome::Held(Box::new(guard)));
            }
            Err(e) => return Err(e),
        };
        let id = id_of(&file.metadata()?);
        let taken = match kind {
            LockMode::Exclusive => file.try_lock(),
            LockMode::Shared => file.try_lock_shared(),
        };
        match taken {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(LockOutcome::Refused(holder(id, process))),
            Err(TryLockError::Error(e)) => return Err(e),
        }
        let guard = RealLock { paths: paths.clone(), file: Some((file, id)), process };
        // The file was replaced before it was locked: a lock on the removed file excludes nobody.
        if !guard.is_under(name)? {
            continue;
        }
        if kind == LockMode::Exclusive
            && let Some(mut held) = held()
        {
            held.push((id, process));
        }
        return Ok(LockOutcome::Held(Box::new(guard)));
    }
}

fn open(paths: &DiskPaths, name: FileName, kind: LockMode) -> io::Result<File> {
    let path = paths.of(name);
    let open = |access| regular::open(&path, access, LinkPolicy::Refused, paths.file_mode());
    loop {
        let opened = match kind {
            LockMode::Shared => open(Access::Read),
            LockMode::Exclusive => open(Access::Write),
        };
        match opened {
            Err(e)
                if e.kind() == io::ErrorKind::NotFound
                    && (name, kind) == (FileName::Lock, LockMode::Exclusive) => {}
            opened => return opened,
        }
        match open(Access::Create) {
            // Another process created the file first.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made,
        }
    }
}

/// The holder of the exclusive lock on a file, as far as the system reports it.
fn holder(id: FileId, process: ProcessId) -> LockHolder {
    if held().is_some_and(|held| held.contains(&(id, process))) {
        return LockHolder::ThisProcess;
    }
    let locks = std::fs::read_to_string("/proc/locks").unwrap_or_default();
    let (device, inode) = id;
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    // Linux, proc_locks(5): `1: FLOCK  ADVISORY  WRITE 1637 fe:00:1184 0 EOF`
    let file = format!("{major:02x}:{minor:02x}:{inode}");
    let writer = locks.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace().skip(1);
        let kinds = [words.next()?, words.next()?, words.next()?];
        let (process, locked) = (words.next()?, words.next()?);
        (kinds == ["FLOCK", "ADVISORY", "WRITE"] && locked == file).then_some(process)
    });
    // A process in another namespace has no number in this namespace.
    match writer.and_then(|process| process.parse().ok()) {
        Some(process) if process > 0 => LockHolder::Process(process),
        _ => LockHolder::Unknown,
    }
}
