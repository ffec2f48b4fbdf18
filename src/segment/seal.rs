//! A segment from pages in memory.

use std::sync::Arc;

use super::build::{Builder, SectionWriter};
use super::hashes::HashIndexWriter;
use super::pages::GroupWriter;
use super::postings::{Posting, tag_of};
use super::record::Record;
use super::tables::{Layout, TablesWriter};
use super::tombstones::Tombstone;
use crate::disk::Disk;
use crate::error::{Error, Result};
use crate::layout::{Kind, Numbers, PAGES_MAX, Tag};
use crate::page::Content;
use crate::search::canonical_key;

/// A page of a segment that is being sealed.
pub(crate) struct SealPage<'a> {
    pub(crate) url: &'a str,
    pub(crate) hash: u64,
    pub(crate) record: Record<'a>,
    /// What is in force: that of the head that the record tells.
    pub(crate) in_force: Option<Content>,
}

/// A segment that is written from pages in SURT order: one file, two syncs and one for every 64 MiB;
/// memory for the fingerprints and hashes.
pub(crate) struct Sealer {
    builder: Builder,
    numbers: Numbers,
    section: SectionWriter,
    group: GroupWriter,
    bytes: Vec<u8>,
    index: Vec<u8>,
    hashes: Vec<(u64, u32)>,
    held: Vec<Held>,
    /// What lists say of the digest in force on each page.
    tags: Vec<Option<u32>>,
}

impl Sealer {
    /// Begins segment `id`, of operations with these first and last sequence numbers, that adds so
    /// much to the store's pages and visits.
    pub(crate) fn new(
        disk: &Arc<dyn Disk>,
        id: u64,
        sequences: (u64, u64),
        deltas: (i64, i64),
    ) -> Result<Sealer> {
        let mut builder = Builder::new(disk, id)?;
        let section = builder.begin(Tag::of(Kind::Pages))?;
        let numbers = Numbers {
            first_sequence: sequences.0,
            last_sequence: sequences.1,
            page_delta: deltas.0,
            visit_delta: deltas.1,
            ..Numbers::default()
        };
        Ok(Sealer {
            builder,
            numbers,
            section,
            group: GroupWriter::default(),
            bytes: Vec::new(),
            index: Vec::new(),
            hashes: Vec::new(),
            held: Vec::new(),
            tags: Vec::new(),
        })
    }

    /// Adds the next page.
    pub(crate) fn push(&mut self, page: &SealPage<'_>) -> Result<()> {
        let record = &page.record;
        let ordinal = u32::try_from(self.numbers.pages).ok().filter(|n| u64::from(*n) < PAGES_MAX);
        let ordinal = ordinal
            .ok_or_else(|| Error::Option("a segment holds fewer than 2^30 pages".to_owned()))?;
        if self.group.is_empty() {
            self.index.extend_from_slice(&self.section.written().to_le_bytes());
        }
        self.group.push(page.url, |out| record.put(out));
        if self.group.is_full() {
            self.flush()?;
        }
        self.hashes.push((page.hash, ordinal));
        self.numbers.pages += 1;
        self.numbers.visits += record.visits.len() as u64;
        self.numbers.resets += u64::from(record.reset);
        self.tags.push(page.in_force.and_then(|content| content.digest).as_ref().map(tag_of));
        // The fingerprints of its visits, and the one in force.
        let mut in_force = page.in_force;
        let mark = |content: &Content| (content.fingerprint, content.epoch);
        for content in record.visits.iter().filter_map(|v| v.seen.content()) {
            let is_in_force = in_force.is_some_and(|other| mark(&other) == mark(content));
            self.held.push(Held::new(content, ordinal, is_in_force));
            if is_in_force {
                in_force = None;
            }
        }
        self.held.extend(in_force.map(|content| Held::new(&content, ordinal, true)));
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        self.group.flush(&mut self.bytes);
        self.builder.write(&mut self.section, &self.bytes)?;
        self.bytes.clear();
        Ok(())
    }

    /// Writes all the rest, and gives the file its name, durably.
    pub(crate) fn finish(mut self, tombstones: &[Tombstone], layout: &Layout) -> Result<u64> {
        if !self.group.is_empty() {
            self.flush()?;
        }
        let Sealer { mut builder, mut numbers, section, mut index, mut hashes, .. } = self;
        let (mut held, tags) = (self.held, self.tags);
        index.extend_from_slice(&section.written().to_le_bytes());
        builder.end(section)?;
        builder.whole(Tag::of(Kind::PageIndex), &index)?;

        hashes.sort_unstable();
        write_hashes(&mut builder, &hashes)?;
        drop(hashes);
        builder.whole(Tag::of(Kind::Tombstones), &super::tombstones::encode(tombstones))?;

        held.sort_unstable();
        for tables in held.chunk_by(|a, b| a.epoch == b.epoch) {
            let epoch = tables.first().map_or(0, |t| t.epoch);
            let mut writer = TablesWriter::new(&mut builder, epoch)?;
            let mut postings = Vec::new();
            for equal in tables.chunk_by(|a, b| a.fingerprint() == b.fingerprint()) {
                postings.clear();
                for of_page in equal.chunk_by(|a, b| a.page() == b.page()) {
                    let page = of_page.first().map_or(0, Held::page);
                    postings.push(Posting { page, in_force: of_page.iter().any(Held::in_force) });
                }
                let fingerprint = equal.first().map_or(0, Held::fingerprint);
                let tag = |page: u32| Ok(tags.get(page as usize).copied().flatten());
                writer.push(&mut builder, fingerprint, &postings, tag)?;
            }
            numbers.fingerprints += writer.finish(&mut builder, layout)?;
        }
        builder.finish(numbers)
    }
}

/// A fingerprint that a page has or had; ordered by epoch, canonically, and by page.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Held {
    epoch: u32,
    /// From the top: the popcount, the fingerprint, the page, and a bit that says whether it is in
    /// force there. One number, so that they are quick to sort.
    packed: u128,
}

impl Held {
    fn new(content: &Content, page: u32, in_force: bool) -> Held {
        let (popcount, fingerprint) = canonical_key(content.fingerprint);
        let packed = u128::from(popcount) << 97
            | u128::from(fingerprint) << 33
            | u128::from(page) << 1
            | u128::from(in_force);
        Held { epoch: content.epoch.0, packed }
    }

    #[expect(clippy::cast_possible_truncation, reason = "the bits that are cut are another's")]
    fn fingerprint(&self) -> u64 {
        (self.packed >> 33) as u64
    }

    #[expect(clippy::cast_possible_truncation, reason = "the bits that are cut are another's")]
    fn page(&self) -> u32 {
        (self.packed >> 1) as u32
    }

    fn in_force(&self) -> bool {
        self.packed & 1 == 1
    }
}

/// Writes what finds pages by hash, from hashes in ascending order.
fn write_hashes(builder: &mut Builder, hashes: &[(u64, u32)]) -> Result<()> {
    let mut writer = HashWriter::new(builder, hashes.len() as u64)?;
    for &(hash, page) in hashes {
        writer.push(builder, hash, page)?;
    }
    writer.finish(builder)
}

/// The four sections that find a page by its hash.
pub(super) struct HashWriter {
    hashes: SectionWriter,
    pages: SectionWriter,
    directory: SectionWriter,
    filter: SectionWriter,
    index: HashIndexWriter,
    parts: (Vec<u8>, Vec<u8>),
}

impl HashWriter {
    pub(super) fn new(builder: &mut Builder, pages: u64) -> Result<HashWriter> {
        let hashes = builder.place(Tag::of(Kind::Hashes), pages * 8)?;
        let of_pages = builder.place(Tag::of(Kind::HashPages), pages * 4)?;
        let directory =
            builder.place(Tag::of(Kind::HashDirectory), super::hashes::directory_bytes(pages))?;
        let filter = builder.place(Tag::of(Kind::Filter), super::hashes::filter_bytes(pages))?;
        let index = HashIndexWriter::new(pages);
        let parts = Default::default();
        Ok(HashWriter { hashes, pages: of_pages, directory, filter, index, parts })
    }

    /// Adds a hash; they come in ascending order, equal ones in order of pages.
    pub(super) fn push(&mut self, builder: &mut Builder, hash: u64, page: u32) -> Result<()> {
        builder.write(&mut self.hashes, &hash.to_le_bytes())?;
        builder.write(&mut self.pages, &page.to_le_bytes())?;
        self.index.push(hash, &mut self.parts.0, &mut self.parts.1);
        self.drain(builder)
    }

    fn drain(&mut self, builder: &mut Builder) -> Result<()> {
        builder.write(&mut self.directory, &self.parts.0)?;
        builder.write(&mut self.filter, &self.parts.1)?;
        self.parts.0.clear();
        self.parts.1.clear();
        Ok(())
    }

    /// How many hashes were added.
    pub(super) fn count(&self) -> u64 {
        self.hashes.written() / 8
    }

    pub(super) fn finish(mut self, builder: &mut Builder) -> Result<()> {
        let index = std::mem::replace(&mut self.index, HashIndexWriter::new(0));
        index.finish(&mut self.parts.0, &mut self.parts.1);
        self.drain(builder)?;
        for section in [self.hashes, self.pages, self.directory, self.filter] {
            builder.end(section)?;
        }
        Ok(())
    }
}
