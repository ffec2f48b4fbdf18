//! The contents of a simulated file, and what a power loss would leave of the contents.
//!
//! The current contents are one vector, written in place. The durable contents are stored as a
//! difference: the old bytes of each sector that changed since the last sync. So a write and a sync
//! cost as much as the written bytes, not the size of the file.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;
use std::sync::Arc;

/// The length in bytes of the unit that a medium writes or loses as a whole.
pub(super) const SECTOR_BYTES: usize = 512;

/// A change to a file.
#[derive(Clone, Debug)]
pub(super) enum FileChange {
    /// `data` was written at `offset` when the file was `before` bytes long.
    Write { offset: usize, data: Vec<u8>, before: usize },
    /// The length changed from `before` to `to`.
    SetLen { before: usize, to: usize },
}

impl FileChange {
    /// The sectors with changed bytes, including truncated ones and the gap between the old end and
    /// a write.
    fn sectors(&self) -> Range<usize> {
        match self {
            FileChange::Write { offset, data, before } => {
                sectors(*offset.min(before), offset + data.len())
            }
            FileChange::SetLen { before, to } => sectors(*before.min(to), *before.max(to)),
        }
    }
}

fn sectors(start: usize, end: usize) -> Range<usize> {
    start / SECTOR_BYTES..end.div_ceil(SECTOR_BYTES)
}

/// A file without its names.
#[derive(Clone, Debug, Default)]
pub(super) struct Inode {
    /// The current contents, shared until the next write with maps, and with the disks after
    /// crashes.
    content: Arc<Vec<u8>>,
    durable_len: usize,
    /// The durable bytes of sectors where `content` differs: sectors changed since the last sync,
    /// and sectors that a failed sync lost. Any other sector below `durable_len` is durable.
    undo: HashMap<usize, [u8; SECTOR_BYTES]>,
    /// The changes since the last sync, in order.
    pending: Vec<FileChange>,
    /// The changes that a failed sync lost, but that a crash may still show: the system may have
    /// written some of them before the sync failed.
    lost: Vec<FileChange>,
    /// The number of open files of the inode.
    pub(super) handles: usize,
}

impl Inode {
    /// Creates a file whose contents are durable.
    pub(super) fn durable(content: Arc<Vec<u8>>) -> Inode {
        Inode { durable_len: content.len(), content, ..Inode::default() }
    }

    /// Returns a copy of this file without open handles, such as after a crash.
    pub(super) fn closed(&self) -> Inode {
        Inode { handles: 0, ..self.clone() }
    }

    pub(super) fn content(&self) -> &Arc<Vec<u8>> {
        &self.content
    }

    pub(super) fn pending(&self) -> &[FileChange] {
        &self.pending
    }

    pub(super) fn lost(&self) -> &[FileChange] {
        &self.lost
    }

    /// Whether the medium's bytes of a sector differ from the current bytes.
    pub(super) fn differs(&self, sector: usize) -> bool {
        self.undo.contains_key(&sector)
    }

    /// Writes `data`; the caller has checked that the end is a valid length.
    #[expect(clippy::indexing_slicing, reason = "the content is as long as the end of the data")]
    pub(super) fn write(&mut self, offset: usize, data: &[u8]) {
        if data.is_empty() {
            return;
        }
        let end = offset + data.len();
        self.change(FileChange::Write { offset, data: data.to_vec(), before: self.content.len() });
        let content = Arc::make_mut(&mut self.content);
        if content.len() < end {
            content.resize(end, 0);
        }
        content[offset..end].copy_from_slice(data);
    }

    pub(super) fn set_len(&mut self, to: usize) {
        let before = self.content.len();
        if before != to {
            self.change(FileChange::SetLen { before, to });
            Arc::make_mut(&mut self.content).resize(to, 0);
        }
    }

    /// Records a change before it is made, with the durable bytes that the change overwrites.
    fn change(&mut self, change: FileChange) {
        let touched = change.sectors();
        // Nothing is durable past the durable end, so appends need no copy.
        let kept = touched.start..touched.end.min(self.durable_len.div_ceil(SECTOR_BYTES));
        for sector in kept {
            if let Entry::Vacant(entry) = self.undo.entry(sector) {
                let mut bytes = [0; SECTOR_BYTES];
                copy(&mut bytes, self.content.get(sector * SECTOR_BYTES..).unwrap_or_default());
                entry.insert(bytes);
            }
        }
        self.pending.push(change);
    }

    /// Makes the writes since the last sync durable, whether the last sync succeeded or failed.
    pub(super) fn sync(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        self.durable_len = self.content.len();
        if self.lost.is_empty() {
            self.undo.clear();
        } else {
            // Sectors that a failed sync lost are clean in memory, so they are not written again.
            for sector in self.pending.iter().flat_map(FileChange::sectors) {
                self.undo.remove(&sector);
            }
            self.undo.retain(|sector, _| sector * SECTOR_BYTES < self.durable_len);
            if self.undo.is_empty() {
                self.lost.clear();
            }
        }
        self.pending.clear();
    }

    /// Fails a sync: the writes since the last sync are readable until a crash, and no later sync
    /// makes them durable.
    pub(super) fn fail_sync(&mut self) {
        for sector in self.pending.iter().flat_map(FileChange::sectors) {
            // Sectors below the durable end were saved when the change was made.
            self.undo.entry(sector).or_insert([0; SECTOR_BYTES]);
        }
        self.lost.append(&mut self.pending);
    }

    /// Returns only the durable contents.
    pub(super) fn durable_content(&self) -> Arc<Vec<u8>> {
        if self.undo.is_empty() && self.durable_len == self.content.len() {
            return Arc::clone(&self.content);
        }
        let mut image = Vec::with_capacity(self.durable_len);
        image.extend_from_slice(self.content.get(..self.durable_len).unwrap_or(&self.content));
        image.resize(self.durable_len, 0);
        for (sector, bytes) in &self.undo {
            copy(image.get_mut(sector * SECTOR_BYTES..).unwrap_or_default(), bytes);
        }
        Arc::new(image)
    }
}

/// Copies bytes up to the end of the shorter slice.
pub(super) fn copy(to: &mut [u8], from: &[u8]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum FileStep {
        Write(usize, usize, u8),
        SetLen(usize),
        Sync,
    }

    fn steps() -> impl Strategy<Value = Vec<FileStep>> {
        let step = prop_oneof![
            4 => (0..4000usize, 1..1500usize, 1..=255u8).prop_map(|(o, n, b)| FileStep::Write(o, n, b)),
            2 => (0..5000usize).prop_map(FileStep::SetLen),
            2 => Just(FileStep::Sync),
        ];
        prop::collection::vec(step, 1..30)
    }

    proptest! {
        #[test]
        fn last_synced_contents_are_durable(steps in steps()) {
            let (mut inode, mut now, mut durable) = (Inode::default(), vec![], vec![]);
            for step in steps {
                match step {
                    FileStep::Write(offset, n, byte) => {
                        inode.write(offset, &vec![byte; n]);
                        now.resize(now.len().max(offset + n), 0);
                        now[offset..offset + n].fill(byte);
                    }
                    FileStep::SetLen(len) => {
                        inode.set_len(len);
                        now.resize(len, 0);
                    }
                    FileStep::Sync => {
                        inode.sync();
                        durable.clone_from(&now);
                    }
                }
                prop_assert!(**inode.content() == now);
                prop_assert!(*inode.durable_content() == durable);
            }
        }

        #[test]
        fn sector_lost_by_a_sync_is_durable_once_rewritten(
            before in steps(),
            lost in steps(),
            after in prop::collection::vec((0..4000usize, 1..1500usize, 1..=255u8), 1..5),
        ) {
            let mut inode = Inode::default();
            let apply = |inode: &mut Inode, step: &FileStep| match *step {
                FileStep::Write(offset, n, byte) => inode.write(offset, &vec![byte; n]),
                FileStep::SetLen(len) => inode.set_len(len),
                FileStep::Sync => {}
            };
            before.iter().for_each(|step| apply(&mut inode, step));
            inode.sync();
            let old = inode.durable_content();
            lost.iter().for_each(|step| apply(&mut inode, step));
            inode.fail_sync();
            prop_assert!(inode.durable_content() == old);
            inode.sync();
            prop_assert!(inode.durable_content() == old);
            for (offset, n, byte) in &after {
                inode.write(*offset, &vec![*byte; *n]);
            }
            inode.sync();
            let durable = inode.durable_content();
            prop_assert_eq!(durable.len(), inode.content().len());
            for (offset, n, _) in &after {
                prop_assert!(durable[*offset..offset + n] == inode.content()[*offset..offset + n]);
            }
        }
    }
}
