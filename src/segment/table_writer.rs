//! Writes the fingerprint tables of one epoch.

use super::build::{SectionWriter, SegmentBuilder};
use super::postings::{Posting, PostingsWriter};
use super::tables::TableLayout;
use crate::bug::{self, OrBug};
use crate::error::{Error, Result};
use crate::layout::{SectionKind, SectionTag, SegmentSummary, le_u32, le_u64};
use crate::page::DIGESTS;
use crate::search::{
    BucketLayout, PopcountHistogram, Shape, TableColumn, TableSink, build_index, canonical_key,
};
use crate::sync::Mutex;
use byteorder::{ByteOrder, LittleEndian};

const TOO_MANY: Error = Error::Limit {
    what: "fingerprints of an epoch in a segment",
    max: u32::MAX as u64,
    instead: "seal, load or merge fewer pages at a time",
};

/// Writes the tables of one epoch from fingerprints in canonical order.
pub(super) struct TablesWriter {
    epoch: u32,
    fingerprints: SectionWriter,
    census: PopcountHistogram,
    count: u32,
    /// The last fingerprint, in canonical order.
    last: Option<(u32, u64)>,
    postings: PostingsWriter,
}

impl TablesWriter {
    pub(super) fn new(builder: &mut SegmentBuilder, epoch: u32) -> Result<TablesWriter> {
        Ok(TablesWriter {
            epoch,
            fingerprints: builder.begin(SectionTag::table(SectionKind::Fingerprints, 0, epoch))?,
            census: PopcountHistogram::default(),
            count: 0,
            last: None,
            postings: PostingsWriter::new(builder, epoch),
        })
    }

    /// Adds a fingerprint and its pages in order, at least one page. If there are several pages,
    /// calls `tag` for each page on which the fingerprint is in force.
    pub(super) fn push(
        &mut self,
        builder: &mut SegmentBuilder,
        fingerprint: u64,
        postings: &[Posting],
        tag: impl FnMut(u32) -> Result<Option<u32>>,
    ) -> Result<()> {
        let last = self.last.replace(canonical_key(fingerprint));
        bug::ensure(last < self.last, "fingerprints come in canonical order, each once")?;
        builder.write(&mut self.fingerprints, &le_u64(fingerprint))?;
        self.census.add(fingerprint);
        self.count = self.count.checked_add(1).ok_or(TOO_MANY)?;
        self.postings.push(postings, tag)
    }

    /// Writes the remaining sections of the tables, and adds them to the numbers of the segment.
    pub(super) fn finish(
        self,
        builder: &mut SegmentBuilder,
        layout: &TableLayout,
        numbers: &mut SegmentSummary,
    ) -> Result<()> {
        let TablesWriter { epoch, fingerprints, census, count, postings, .. } = self;
        // The offset is kept, since `end` consumes the section, and the tables are built from the
        // section's bytes in the file.
        let column = fingerprints.offset();
        builder.end(fingerprints)?;
        builder
            .whole(SectionTag::table(SectionKind::Shards, 0, epoch), &census.shards().to_bytes())?;
        // The shape is chosen here, since the best shape depends on the number of fingerprints.
        let shape = match epoch {
            // Digests are only found by equality, which needs no index.
            DIGESTS => Shape::Column,
            _ => Shape::choose(count, layout.distance(epoch), layout.bytes_each),
        };
        builder.whole(SectionTag::table(SectionKind::Shape, 0, epoch), &shape_bytes(shape))?;
        let longest = postings.finish(builder, count)?;
        // Several threads may build the tables, but there is only one file, so the threads take
        // turns to read and write it.
        let sections = TableSections { epoch, column, shared: Mutex::new((builder, Vec::new())) };
        let read = |start: u32, out: &mut [u64]| -> Result<()> {
            let mut bytes = vec![0; out.len() * 8];
            // Read from the file, since the column of a large segment need not fit in memory.
            let (builder, _) = &*sections.shared.lock();
            builder.read_back(column + u64::from(start) * 8, &mut bytes)?;
            for (value, bytes) in out.iter_mut().zip(bytes.as_chunks::<8>().0) {
                *value = LittleEndian::read_u64(bytes);
            }
            Ok(())
        };
        build_index(shape, count, layout.resources, &read, &sections)?;
        let (builder, sections) = sections.shared.into_inner();
        // In the order of `place`, which is the order of the file, because `end` requires this
        // order.
        for (_, section) in sections {
            builder.end(section)?;
        }
        numbers.fingerprints += u64::from(count);
        numbers.longest_list = numbers.longest_list.max(longest);
        Ok(())
    }
}

/// The sections of the tables, while they are written.
struct TableSections<'b> {
    epoch: u32,
    /// The offset of the fingerprints in the file.
    column: u64,
    shared: Mutex<(&'b mut SegmentBuilder, Vec<(TableColumn, SectionWriter)>)>,
}

impl TableSink for TableSections<'_> {
    type Error = Error;

    fn place(&self, part: TableColumn, bytes: u64) -> Result<()> {
        let (kind, table) = match part {
            TableColumn::Buckets(table) => (SectionKind::Buckets, table),
            TableColumn::Rest(table) => (SectionKind::Rest, table),
            TableColumn::Cells(table) => (SectionKind::Cells, table),
            TableColumn::Further(table) => (SectionKind::Further, table),
            TableColumn::Ordinals(table) => (SectionKind::Ordinals, table),
        };
        let table = u16::try_from(table).ok().or_bug("the number of a table fits in 16 bits")?;
        let (builder, sections) = &mut *self.shared.lock();
        // There are at most about twelve parts, so a linear search is enough.
        let new = sections.iter().all(|(placed, _)| *placed != part);
        bug::ensure(new, "each part is written once")?;
        let section = builder.place(SectionTag::table(kind, table, self.epoch), bytes)?;
        sections.push((part, section));
        Ok(())
    }

    fn write(&self, part: TableColumn, bytes: &[u8]) -> Result<()> {
        let (builder, sections) = &mut *self.shared.lock();
        let section = sections.iter_mut().find(|(placed, _)| *placed == part);
        let (_, section) = section.or_bug("each part has an offset before it is written")?;
        builder.write(section, bytes)
    }

    fn changed(&self) -> Error {
        self.shared.lock().0.misread(self.column)
    }
}

/// Returns the bytes of the section *shape*: four numbers.
fn shape_bytes(shape: Shape) -> Vec<u8> {
    let words = match shape {
        Shape::Column => [0; 4],
        Shape::Rotations(BucketLayout { bits, lines }) => [1, bits, lines, 0],
        Shape::Cells { count } => [2, 0, 0, count],
    };
    words.into_iter().flat_map(le_u32).collect()
}
