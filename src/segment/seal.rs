//! A segment from pages in memory.

use std::sync::Arc;

use super::build::Builder;
use super::hashes::HashIndexWriter;
use super::pages::{GROUP_PAGES, GroupWriter};
use super::postings::{Posting, TablesWriter};
use super::record::Record;
use super::tombstones::Tombstone;
use crate::disk::Disk;
use crate::error::{Error, Result};
use crate::layout::{Kind, Numbers, PAGES_MAX, Tag};
use crate::search::canonical_key;

/// What a segment is sealed from.
pub(crate) struct Sealable<'a> {
    /// First and last sequence number.
    pub(crate) sequences: (u64, u64),
    /// What the segment adds to the store's pages and visits.
    pub(crate) deltas: (i64, i64),
    pub(crate) tombstones: &'a [Tombstone],
}

/// A page of a segment that is being sealed.
pub(crate) struct SealPage<'a> {
    pub(crate) url: &'a str,
    pub(crate) hash: u64,
    pub(crate) record: Record,
}

/// The fingerprints that a record puts into the tables: those of its visits, and the one in force.
fn fingerprints(record: &Record) -> impl Iterator<Item = (u32, u64, bool)> {
    let in_force = record.head.as_ref().and_then(|h| h.in_force()).map(|v| v.content);
    let seen = record.visits.iter().filter_map(|v| v.seen.content());
    in_force
        .map(|c| (c.epoch.0, c.fingerprint, true))
        .into_iter()
        .chain(seen.map(|c| (c.epoch.0, c.fingerprint, false)))
}

/// Writes segment `id` from pages in SURT order. One file, two syncs and one for every 64 MiB; memory
/// for the fingerprints and hashes.
pub(crate) fn seal<'a>(
    disk: &Arc<dyn Disk>,
    id: u64,
    sealable: &Sealable<'_>,
    pages: impl Iterator<Item = SealPage<'a>>,
    memory_bytes: usize,
) -> Result<u64> {
    let mut builder = Builder::new(disk, id)?;
    let mut numbers = Numbers {
        first_sequence: sealable.sequences.0,
        last_sequence: sealable.sequences.1,
        page_delta: sealable.deltas.0,
        visit_delta: sealable.deltas.1,
        ..Numbers::default()
    };

    let mut hashes: Vec<(u64, u32)> = Vec::new();
    let mut seen: Vec<Held> = Vec::new();
    let mut index = Vec::new();
    let mut section = builder.begin(Tag::of(Kind::Pages))?;
    let (mut group, mut bytes) = (GroupWriter::default(), Vec::new());
    for (ordinal, page) in (0u32..).zip(pages) {
        if u64::from(ordinal) >= PAGES_MAX {
            return Err(Error::Option("a segment holds fewer than 2^30 pages".to_owned()));
        }
        if u64::from(ordinal).is_multiple_of(GROUP_PAGES) {
            index.extend_from_slice(&(section.written() + bytes.len() as u64).to_le_bytes());
        }
        group.push(page.url, |out| page.record.put(out));
        if group.is_full() {
            group.flush(&mut bytes);
            builder.write(&mut section, &bytes)?;
            bytes.clear();
        }
        hashes.push((page.hash, ordinal));
        numbers.visits += page.record.visits.len() as u64;
        numbers.resets += u64::from(page.record.reset);
        for (epoch, fingerprint, in_force) in fingerprints(&page.record) {
            seen.push(Held::new(epoch, fingerprint, ordinal, in_force));
        }
    }
    if !group.is_empty() {
        group.flush(&mut bytes);
        builder.write(&mut section, &bytes)?;
    }
    numbers.pages = hashes.len() as u64;
    index.extend_from_slice(&section.written().to_le_bytes());
    builder.end(section)?;
    builder.whole(Tag::of(Kind::PageIndex), &index)?;

    hashes.sort_unstable();
    write_hashes(&mut builder, &hashes)?;
    drop(hashes);
    builder.whole(Tag::of(Kind::Tombstones), &super::tombstones::encode(sealable.tombstones))?;

    seen.sort_unstable();
    for tables in seen.chunk_by(|a, b| a.epoch == b.epoch) {
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
            writer.push(&mut builder, fingerprint, &postings)?;
        }
        numbers.fingerprints += writer.finish(&mut builder, memory_bytes)?;
    }
    builder.finish(numbers)
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
    fn new(epoch: u32, fingerprint: u64, page: u32, in_force: bool) -> Held {
        let (popcount, fingerprint) = canonical_key(fingerprint);
        let packed = u128::from(popcount) << 97
            | u128::from(fingerprint) << 33
            | u128::from(page) << 1
            | u128::from(in_force);
        Held { epoch, packed }
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
    hashes: super::build::SectionWriter,
    pages: super::build::SectionWriter,
    directory: super::build::SectionWriter,
    filter: super::build::SectionWriter,
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
