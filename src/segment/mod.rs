//! Segments: the immutable files that contain pages, histories and fingerprint tables.
//!
//! A segment is written once, front to end: pages in SURT order with their records, the index by
//! hash, the schedule, and forgotten prefixes. The sections of each epoch follow: the distinct
//! fingerprints in canonical order with their postings and tables. A finished file is mapped and
//! never written again. Each block is compared with its checksum when it is first touched.

mod build;
mod carried;
mod changes;
mod column;
mod dump;
mod entries;
mod file;
mod frame;
mod group;
mod hashes;
mod merge;
mod page_merge;
mod page_writer;
mod pages;
mod plain;
mod postings;
mod record;
mod rows;
mod salvage;
mod schedule;
mod seal;
mod table_writer;
mod tables;
mod tombstones;

pub(crate) use carried::{
    head_of, put_carried, put_history, take_history, unpack_head, unpack_history,
};
pub use dump::DumpLine;
pub(crate) use dump::DumpSelection;
pub(crate) use entries::{PackedEntries, count_visits, put_entries};
pub(crate) use file::Segment;
pub(crate) use frame::{SegmentFrame, read_stamp};
pub(crate) use group::alike;
pub(crate) use hashes::url_hash;
pub(crate) use merge::{MergeInputs, MergeProgressFn, merge};
pub(crate) use page_merge::{PageMerge, PageStream};
pub(crate) use page_merge::{PagePart, page_across};
pub(crate) use pages::{PageCursor, PageRef, RecordLocation};
pub(crate) use plain::PlainSegment;
pub(crate) use postings::Posting;
pub(crate) use record::{RecordRef, SegmentRecord};
pub(crate) use rows::{InMemoryRows, PageRow, ScheduleRows};
pub(crate) use salvage::PageSalvage;
pub(crate) use schedule::{RowFlags, ScheduleRow, host_slot, host_slot_of, seconds};
pub(crate) use seal::{SealPage, SegmentSpan, SegmentWriter};
pub(crate) use tables::{EpochTables, TableLayout, TableSteps};
pub(crate) use tombstones::{Tombstone, Tombstones};
