//! What the files are called that a list names: in a store, and where they are published.

use super::origin::Named;
use crate::catalog::SegmentRow;
use crate::disk::{Fixed, Name};
use crate::page::{Epoch, EpochInfo};

/// A file that a list names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Listed {
    Segment(SegmentRow),
    /// The table of an epoch.
    Table(EpochInfo),
}

/// What they are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Files {
    /// As in a store, by their numbers.
    Own,
    /// As in what a store has published: by its number, theirs, and a checksum.
    Published(u64),
}

impl Files {
    pub(crate) fn of(self, listed: &Listed) -> Name {
        match listed {
            Listed::Segment(row) => self.segment(row),
            Listed::Table(info) => self.table(info),
        }
    }

    /// The name of a segment.
    pub(crate) fn segment(self, row: &SegmentRow) -> Name {
        match self {
            Files::Own => Name::Segment(row.id),
            Files::Published(store) => {
                Name::FixedSegment(Fixed { store, number: row.id, checksum: row.checksum.into() })
            }
        }
    }

    /// The name of an epoch's table.
    pub(crate) fn table(self, info: &EpochInfo) -> Name {
        match (self, table_of(&info.name)) {
            (Files::Published(store), Some(checksum)) => {
                Name::FixedDf(Fixed { store, number: info.epoch.count().into(), checksum })
            }
            // An epoch whose name speaks of no table has none under any name.
            _ => table_name(info.epoch),
        }
    }

    /// What a file is called until it is whole.
    pub(crate) fn unfinished(name: Name) -> Name {
        match name {
            Name::Segment(id) => Name::SegmentNew(id),
            Name::Df(number) => Name::DfNew(number),
            Name::FixedSegment(file) => Name::FixedSegmentNew(file),
            Name::FixedDf(file) => Name::FixedDfNew(file),
            other => other,
        }
    }
}

/// Whether the store keeps a table for an epoch.
pub(crate) fn has_table(epoch: &EpochInfo) -> bool {
    !epoch.ended && table_of(&epoch.name).is_some()
}

/// The checksum of the table that the name of an epoch says.
pub(crate) fn table_of(name: &str) -> Option<u64> {
    Named::parse(name).and_then(|named| named.table)
}

/// The name of an epoch's table.
pub(crate) fn table_name(epoch: Epoch) -> Name {
    Name::Df(epoch.count().into())
}
