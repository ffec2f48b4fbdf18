//! The names of listed files, in a store and in a directory with published generations.

use super::origin::ParsedEpochName;
use crate::catalog::SegmentRow;
use crate::disk::{FileName, PublishedFileId};
use crate::page::{Epoch, EpochInfo};

/// A file in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ListedFile {
    Segment(SegmentRow),
    /// The table of an epoch.
    Table(EpochInfo),
}

/// A naming scheme for listed files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileNaming {
    /// The names in a store: by number.
    Store,
    /// The names of published files: by the number of the store, their own number, and a checksum.
    Published(u64),
}

impl FileNaming {
    pub(crate) fn of(self, listed: &ListedFile) -> FileName {
        match listed {
            ListedFile::Segment(row) => self.segment(row),
            ListedFile::Table(info) => self.table(info),
        }
    }

    /// The name of a segment.
    pub(crate) fn segment(self, row: &SegmentRow) -> FileName {
        match self {
            FileNaming::Store => FileName::Segment(row.id),
            FileNaming::Published(store) => FileName::PublishedSegment(PublishedFileId {
                store,
                number: row.id,
                checksum: row.checksum.into(),
            }),
        }
    }

    /// The name of an epoch's table.
    pub(crate) fn table(self, info: &EpochInfo) -> FileName {
        match (self, table_of(&info.name)) {
            (FileNaming::Published(store), Some(checksum)) => {
                FileName::PublishedDf(PublishedFileId {
                    store,
                    number: info.epoch.count().into(),
                    checksum,
                })
            }
            // An epoch whose name does not refer to a table has no table under any name.
            _ => table_name(info.epoch),
        }
    }

    /// The name that a file has until it is complete.
    pub(crate) fn unfinished(name: FileName) -> FileName {
        match name {
            FileName::Segment(id) => FileName::SegmentNew(id),
            FileName::Df(number) => FileName::DfNew(number),
            FileName::PublishedSegment(file) => FileName::PublishedSegmentNew(file),
            FileName::PublishedDf(file) => FileName::PublishedDfNew(file),
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
    ParsedEpochName::parse(name).and_then(|named| named.table)
}

/// The name of an epoch's table.
pub(crate) fn table_name(epoch: Epoch) -> FileName {
    FileName::Df(epoch.count().into())
}
