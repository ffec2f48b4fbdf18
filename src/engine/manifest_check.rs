//! Whether a segment's file is the one that a list names: the catalog's, or `SNAPSHOT`'s.

use std::sync::Arc;

use super::files::Files;
use crate::catalog::SegmentRow;
use crate::disk::{Access, Disk, Name};
use crate::error::{Error, Result};
use crate::layout::Stamp;
use crate::segment::{Frame, Segment, read_stamp};

/// What a list says of a segment.
pub(crate) fn row(frame: &Frame) -> SegmentRow {
    SegmentRow {
        id: frame.id(),
        first_sequence: frame.numbers().first_sequence,
        last_sequence: frame.numbers().last_sequence,
        bytes: frame.bytes(),
        checksum: frame.checksum(),
    }
}

/// Whether this is the segment that a list of a store names.
pub(crate) fn is_listed(frame: &Frame, store: u64, listed: &SegmentRow) -> bool {
    frame.stamp().store == store && row(frame) == *listed
}

/// # Errors
///
/// If a segment is of another store: says of which, and of which it should be.
pub(crate) fn check_store(name: Name, stamp: &Stamp, store: u64) -> Result<()> {
    let found = stamp.store;
    if found == store {
        return Ok(());
    }
    let what = format!("it is of the store {found:016x}, and this is the store {store:016x}");
    Err(Error::corrupt(name, 24, what))
}

/// # Errors
///
/// If the file of a segment that no list names says that it is of another store: it is not left over
/// here, and nobody's to remove.
pub(crate) fn check_unlisted(disk: &Arc<dyn Disk>, store: u64, id: u64) -> Result<()> {
    let name = Name::Segment(id);
    let file = disk.open(name, Access::Read).map_err(|e| Error::io("open", name, e));
    match file.and_then(|file| read_stamp(&*file, name, id)) {
        Ok(stamp) => check_store(name, &stamp, store),
        Err(e) => e.flaw().map(drop),
    }
}

/// # Errors
///
/// If this is not the segment that a list of a store names: says which one it is, and which it should
/// be.
pub(crate) fn check_listed(frame: &Frame, store: u64, listed: &SegmentRow) -> Result<()> {
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
        "it is another segment of this number, of an older or another copy of the store: it has {}, \
         and the one that is listed has {}",
        describe(&found),
        describe(listed)
    );
    // Where its checksum stands, at the end.
    Err(Error::corrupt(frame.name(), frame.bytes() - 4, what))
}

/// Opens the segment that a list of a store names, and no other of its number.
pub(crate) fn open_listed(
    disk: &Arc<dyn Disk>,
    names: Files,
    store: u64,
    listed: &SegmentRow,
) -> Result<Segment> {
    let segment = Segment::open_file(disk, names.segment(listed), listed.id)?;
    check_listed(segment.frame(), store, listed)?;
    Ok(segment)
}
