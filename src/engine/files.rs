//! The names of listed files, in a store and in a directory with published generations.

use super::origin::Named;
use crate::catalog::SegmentRow;
use crate::disk::{Fixed, Name};
use crate::page::{Epoch, EpochInfo};

/// A file in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Listed {
    Segment(SegmentRow),
    /// The table of an epoch.
    Table(EpochInfo),
}

/// A naming scheme for listed files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Files {
    /// The names in a store: by number.
    Own,
    /// The names of published files: by the number of the store, their own number, and a checksum.
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
            // An epoch whose name does not refer to a table has no table under any name.
            _ => table_name(info.epoch),
        }
    }

    /// The name that a file has until it is complete.
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

/// The checksum of the table, as stated in the name of an epoch.
pub(crate) fn table_of(name: &str) -> Option<u64> {
    Named::parse(name).and_then(|named| named.table)
}

/// The name of an epoch's table.
pub(crate) fn table_name(epoch: Epoch) -> Name {
    Name::Df(epoch.count().into())
}
