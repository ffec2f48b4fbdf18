//! Who has which lock on a simulated disk: one writer, or any number of readers of a file.

use crate::disk::Lock;

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
