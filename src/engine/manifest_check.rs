//! Checks that a segment's file is the segment in a list: in the catalog, or in `SNAPSHOT`.

use std::sync::Arc;

use super::files::FileNaming;
use crate::catalog::SegmentRow;
use crate::disk::{Access, Disk, FileName};
use crate::error::{Error, Result};
use crate::layout::Stamp;
use crate::segment::{Segment, SegmentFrame, read_stamp};

/// Returns the row of a segment in a list.
pub(crate) fn row(frame: &SegmentFrame) -> SegmentRow {
    SegmentRow {
        id: frame.id(),
        first_sequence: frame.numbers().first_sequence,
        last_sequence: frame.numbers().last_sequence,
        bytes: frame.bytes(),
        checksum: frame.checksum(),
    }
}

/// Whether a segment is the segment `listed` of a store's list.
pub(crate) fn is_listed(frame: &SegmentFrame, store: u64, listed: &SegmentRow) -> bool {
    frame.stamp().store == store && row(frame) == *listed
}

/// Checks that a segment belongs to a store.
///
/// # Errors
///
/// An error if the segment does not belong to the store; the message names both stores.
pub(crate) fn check_store(name: FileName, stamp: &Stamp, store: u64) -> Result<()> {
    let found = stamp.store;
    if found == store {
        return Ok(());
    }
    let what = format!("it belongs to the store {found:016x}, but this is the store {store:016x}");
    Err(Error::corrupt(name, 24, what))
}

/// Checks that an unlisted segment does not belong to another store.
///
/// # Errors
///
/// An error if the segment belongs to another store: then it is not a leftover of this store, and
/// must not be removed.
pub(crate) fn check_unlisted(disk: &Arc<dyn Disk>, store: u64, id: u64) -> Result<()> {
    let name = FileName::Segment(id);
    let file = disk.open(name, Access::Read).map_err(|e| Error::io("open", name, e));
    match file.and_then(|file| read_stamp(&*file, name, id)) {
        Ok(stamp) => check_store(name, &stamp, store),
        Err(e) => e.flaw().map(drop),
    }
}

/// Checks that a segment is the segment `listed` of a store's list.
///
/// # Errors
///
/// An error if the segment is another one; the message describes the segment found and the segment
/// expected.
pub(crate) fn check_listed(frame: &SegmentFrame, store: u64, listed: &SegmentRow) -> Result<()> {
    check_store(frame.name(), frame.stamp(), store)?;
    let found = row(frame);
    if found == *listed {
        return Ok(());
    }
    let describe = |row: &SegmentRow| {
        let SegmentRow { first_sequence, last_sequence, bytes, checksum, .. } = row;
        format!("operations {first_sequence} to {last_sequence} in {bytes} bytes ({checksum:08x})")
    };
    let what = format!(
        "it is another segment with this number, from an older or diverged copy of the store: it \
         has {}, but the listed segment has {}",
        describe(&found),
        describe(listed)
    );
    // The flaw is at the position of the checksum, at the end of the file.
    Err(Error::corrupt(frame.name(), frame.bytes() - 4, what))
}

/// Opens the segment in a store's list, and no other segment of its number.
pub(crate) fn open_listed(
    disk: &Arc<dyn Disk>,
    names: FileNaming,
    store: u64,
    listed: &SegmentRow,
) -> Result<Segment> {
    let segment = Segment::open_file(disk, names.segment(listed), listed.id)?;
    check_listed(segment.frame(), store, listed)?;
    Ok(segment)
}
