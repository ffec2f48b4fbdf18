//! Files that are written before a list names them.

use std::sync::Arc;

use crate::disk::{Disk, Name};

/// Files that are whole and in no list yet. Dropped, they are removed.
#[derive(Debug)]
pub(super) struct Unlisted {
    disk: Arc<dyn Disk>,
    names: Vec<Name>,
}

impl Unlisted {
    pub(super) fn new(disk: &Arc<dyn Disk>) -> Unlisted {
        Unlisted { disk: Arc::clone(disk), names: Vec::new() }
    }

    pub(super) fn push(&mut self, name: Name) {
        self.names.push(name);
    }

    /// A list may name them now.
    pub(super) fn listed(mut self) {
        self.names.clear();
    }
}

impl Drop for Unlisted {
    fn drop(&mut self) {
        for name in self.names.drain(..) {
            // If this fails, the next open finds the file and removes it.
            let _ = self.disk.remove(name);
        }
    }
}
