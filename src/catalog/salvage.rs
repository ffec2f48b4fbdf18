//! What can still be read of a catalog that is damaged.
//!
//! Every page that can be found is read, whether or not its checksum holds: each frame of the journal
//! and each epoch has a checksum of its own.

use byteorder::{ByteOrder, LittleEndian};
use std::collections::BTreeMap;

use redb::TableHandle;

use super::frames::part_key;
use super::rows::{Blob, STORE_ID, parse_epoch};
use super::tables::{EPOCHS, JOURNALS, SETTINGS};
use super::tree::Tree;
use crate::disk::DiskFile;
use crate::error::Result;
use crate::page::EpochInfo;

/// What was found in a damaged catalog.
#[derive(Default)]
pub(crate) struct Salvage {
    /// The store that it is of, where that is sound.
    pub(crate) store: Option<u64>,
    /// Epochs: those from 0 on that are known without a gap.
    pub(crate) epochs: Vec<EpochInfo>,
    /// Of each journal, the parts of its frames.
    journals: [BTreeMap<(u64, u32), Vec<u8>>; JOURNALS.len()],
}

impl Salvage {
    /// Reads a file as far as it can be read, and leaves it as it is. Takes the memory of its journal.
    ///
    /// # Errors
    ///
    /// Where nothing of it can be found.
    #[expect(clippy::indexing_slicing, reason = "there are as many journals as names of them")]
    pub(crate) fn read(file: &dyn DiskFile) -> Result<Salvage> {
        let mut salvage = Salvage::default();
        // What is damaged was told when the catalog was read.
        let mut flaw = |_| Ok(());
        let mut tree = Tree::open(file, &mut flaw)?;
        for table in tree.tables()? {
            if table.name == EPOCHS.name() {
                tree.rows(&table, &mut |row| {
                    salvage.epochs.extend(parse_epoch(salvage.epochs.len(), row.value));
                    Ok(())
                })?;
            }
            if table.name == SETTINGS.name() {
                tree.rows(&table, &mut |row| {
                    let is_id = row.sound && row.key == STORE_ID.as_bytes();
                    let id = row.value.as_array::<8>().filter(|_| is_id);
                    salvage.store = salvage.store.or(id.map(|id| LittleEndian::read_u64(id)));
                    Ok(())
                })?;
            }
            let place = JOURNALS.iter().position(|journal| journal.name() == table.name);
            if let Some(place) = place {
                let parts = &mut salvage.journals[place];
                tree.rows(&table, &mut |row| {
                    if let Some(key) = part_key(row.key) {
                        parts.insert(key, row.value.to_vec());
                    }
                    Ok(())
                })?;
            }
        }
        Ok(salvage)
    }

    /// The frames of each journal, the older one first, that hold the operations from `next` on
    /// without a gap.
    pub(crate) fn journals(&self, mut next: u64) -> Vec<Vec<Blob>> {
        let mut journals: Vec<Vec<Blob>> = Vec::new();
        // Each of the tables is one run; which of them is the older shows in where the first frame is.
        let mut left = Vec::from_iter(&self.journals);
        while let Some(at) = left.iter().position(|parts| frame(parts, next).is_some()) {
            let parts = left.swap_remove(at);
            let mut blobs = Vec::new();
            while let Some(blob) = frame(parts, next) {
                next = blob.last_sequence() + 1;
                blobs.push(blob);
            }
            journals.push(blobs);
        }
        journals
    }
}

/// The frame that begins with this operation, if it is sound.
fn frame(parts: &BTreeMap<(u64, u32), Vec<u8>>, sequence: u64) -> Option<Blob> {
    let mut frame = Vec::new();
    let range = parts.range((sequence, 0)..=(sequence, u32::MAX));
    for (expected, (&(_, number), part)) in (0..).zip(range) {
        if number != expected {
            return None;
        }
        frame.extend_from_slice(part);
    }
    Blob::parse(sequence, &frame)
}
