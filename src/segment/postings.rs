//! Which pages have a fingerprint: one word each, or a list where there are several.
//!
//! A posting is the ordinal of a page and whether the fingerprint is in force there, as of the
//! segment's end. Lists are in order of pages, so in SURT order.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::error::Result;
use crate::search::{Rotation, Rotations, Shards, Tables, has_rotations, rotation_bits};

use super::build::{Builder, SectionWriter, Spill};
use super::file::{SectionColumn, SectionRef, Segment};
use crate::layout::{Kind, PAGES_MAX, Tag};

/// The word refers to a list.
const LIST: u32 = 1 << 31;
/// The fingerprint is in force on the page.
const IN_FORCE: u32 = 1 << 30;

const _: () = assert!(PAGES_MAX == IN_FORCE as u64, "page ordinals leave room for the two bits");

/// A page that has a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Posting {
    pub(crate) page: u32,
    pub(crate) in_force: bool,
}

impl Posting {
    fn word(self) -> u32 {
        self.page | if self.in_force { IN_FORCE } else { 0 }
    }

    fn parse(word: u32) -> Posting {
        Posting { page: word & (IN_FORCE - 1), in_force: word & IN_FORCE != 0 }
    }
}

/// The tables of one epoch in an open segment.
#[derive(Debug)]
pub(crate) struct EpochTables {
    pub(crate) epoch: u32,
    pub(crate) tables: Tables<SectionColumn>,
    pages: u64,
    fingerprints: SectionColumn,
    postings: SectionColumn,
    lists: SectionColumn,
}

impl EpochTables {
    /// The tables of an epoch that the segment has. Reads the 264 bytes of the shards.
    pub(crate) fn open(segment: &Arc<Segment>, epoch: u32) -> Result<EpochTables> {
        let column = |kind, part| SectionColumn::new(segment, Tag::table(kind, part, epoch));
        let fingerprints = column(Kind::Fingerprints, 0);
        let shards = Shards::read(&column(Kind::Shards, 0))?;
        let n = shards.fingerprints();
        let postings = column(Kind::Postings, 0);
        let (len, words) = (fingerprints.section().len(), postings.section().len());
        if len != u64::from(n) * 8 || words != u64::from(n) * 4 {
            let flaw = "another number of fingerprints than the shards have";
            return Err(fingerprints.section().flaw(0, flaw));
        }
        let rotation = |part| Rotation {
            directory: column(Kind::Directory, part),
            planes: column(Kind::Planes, part),
            ordinals: column(Kind::Ordinals, part),
        };
        let bits = rotation_bits(n);
        let tables = [rotation(0), rotation(1), rotation(2), rotation(3)];
        let (entries, starts) = (u64::from(n) * 4, ((1u64 << bits) + 1) * 4);
        let fits = |rotation: &Rotation<SectionColumn>| {
            let len = |column: &SectionColumn| column.section().len();
            len(&rotation.directory) == starts
                && len(&rotation.planes) == entries
                && len(&rotation.ordinals) == entries
        };
        if has_rotations(n) && !tables.iter().all(fits) {
            let flaw = "rotations of another length than the fingerprints need";
            return Err(fingerprints.section().flaw(0, flaw));
        }
        let rotations = has_rotations(n).then_some(Rotations { bits, tables });
        Ok(EpochTables {
            epoch,
            tables: Tables::new(fingerprints.clone(), shards, rotations)?,
            pages: segment.numbers().pages,
            fingerprints,
            postings,
            lists: column(Kind::Lists, 0),
        })
    }

    /// The tables as a long search reads them: what it takes to find a section is done once.
    pub(crate) fn borrowed(&self) -> Tables<SectionRef<'_>> {
        self.tables.map(SectionColumn::section)
    }

    /// The fingerprint with this ordinal.
    pub(crate) fn fingerprint(&self, ordinal: u32) -> Result<u64> {
        self.fingerprints.section().u64_at(ordinal.into())
    }

    /// The posting of a fingerprint that one page has; none if several do.
    pub(crate) fn single(&self, ordinal: u32) -> Result<Option<Posting>> {
        let word = self.postings.section().u32_at(ordinal.into())?;
        Ok((word & LIST == 0).then(|| Posting::parse(word)))
    }

    /// The pages that have a fingerprint, in SURT order.
    pub(crate) fn postings(&self, ordinal: u32) -> Result<impl Iterator<Item = Result<Posting>>> {
        let (lists, postings) = (self.lists.section(), self.postings.section());
        let word = postings.u32_at(ordinal.into())?;
        let (single, mut at, mut left) = if word & LIST == 0 {
            (Some(word), 0, 0)
        } else {
            let at = u64::from(word & !LIST);
            (None, at + 1, lists.u32_at(at)?)
        };
        let mut single = single;
        let pages = self.pages;
        Ok(std::iter::from_fn(move || {
            let word = match single.take() {
                Some(word) => Ok(word),
                None if left == 0 => return None,
                None => {
                    left -= 1;
                    at += 1;
                    lists.u32_at(at - 1)
                }
            };
            if word.is_err() {
                left = 0;
            }
            Some(word.and_then(|word| {
                let posting = Posting::parse(word);
                if u64::from(posting.page) < pages {
                    Ok(posting)
                } else {
                    Err(postings.flaw(u64::from(ordinal) * 4, "a page beyond the last"))
                }
            }))
        }))
    }
}

/// Writes the tables of one epoch from fingerprints that come in canonical order.
pub(super) struct TablesWriter {
    epoch: u32,
    fingerprints: SectionWriter,
    census: crate::search::Census,
    count: u32,
    postings: Spill,
    lists: Spill,
    list_words: u32,
}

impl TablesWriter {
    pub(super) fn new(builder: &mut Builder, epoch: u32) -> Result<TablesWriter> {
        Ok(TablesWriter {
            epoch,
            fingerprints: builder.begin(Tag::table(Kind::Fingerprints, 0, epoch))?,
            census: crate::search::Census::default(),
            count: 0,
            postings: builder.spill(),
            lists: builder.spill(),
            list_words: 0,
        })
    }

    /// Adds a fingerprint and its pages, in order of pages, at least one.
    pub(super) fn push(
        &mut self,
        builder: &mut Builder,
        fingerprint: u64,
        postings: &[Posting],
    ) -> Result<()> {
        builder.write(&mut self.fingerprints, &fingerprint.to_le_bytes())?;
        self.census.add(fingerprint);
        self.count = self.count.checked_add(1).ok_or_else(too_many)?;
        let word = if let [single] = postings {
            single.word()
        } else {
            let at = self.list_words;
            let count = u32::try_from(postings.len()).map_err(|_| too_many())?;
            let next =
                at.checked_add(count).and_then(|n| n.checked_add(1)).filter(|n| n & LIST == 0);
            self.list_words = next.ok_or_else(too_many)?;
            self.lists.append(&count.to_le_bytes())?;
            for posting in postings {
                self.lists.append(&posting.word().to_le_bytes())?;
            }
            at | LIST
        };
        self.postings.append(&word.to_le_bytes())
    }

    /// Writes the rest of the tables. Returns the number of fingerprints.
    pub(super) fn finish(self, builder: &mut Builder, memory_bytes: usize) -> Result<u64> {
        let TablesWriter { epoch, fingerprints, census, count, postings, lists, .. } = self;
        let column = fingerprints.offset();
        builder.end(fingerprints)?;
        builder.whole(Tag::table(Kind::Shards, 0, epoch), &census.shards().to_bytes())?;
        builder.whole(Tag::table(Kind::Postings, 0, epoch), &postings.finish()?)?;
        builder.whole(Tag::table(Kind::Lists, 0, epoch), &lists.finish()?)?;
        if !has_rotations(count) {
            return Ok(count.into());
        }
        let bits = rotation_bits(count);
        let mut sections = VecDeque::new();
        for part in 0..4 {
            let entries = u64::from(count) * 4;
            for (kind, len) in [
                (Kind::Directory, ((1u64 << bits) + 1) * 4),
                (Kind::Planes, entries),
                (Kind::Ordinals, entries),
            ] {
                sections.push_back(builder.place(Tag::table(kind, part, epoch), len)?);
            }
        }
        let shared = std::cell::RefCell::new(&mut *builder);
        let mut bytes = Vec::new();
        let read = |start: u32, out: &mut [u64]| -> Result<()> {
            bytes.resize(out.len() * 8, 0);
            shared.borrow().read_back(column + u64::from(start) * 8, &mut bytes)?;
            for (value, bytes) in out.iter_mut().zip(bytes.as_chunks::<8>().0) {
                *value = u64::from_le_bytes(*bytes);
            }
            Ok(())
        };
        let mut sink = Rotated { builder: &shared, sections: &mut sections, begun: 0 };
        crate::search::build_rotations(count, bits, memory_bytes, read, &mut sink)?;
        for section in sections {
            builder.end(section)?;
        }
        Ok(count.into())
    }
}

fn too_many() -> crate::Error {
    crate::Error::Option("a segment holds fewer than 2^30 pages and 2^31 postings".to_owned())
}

/// Sections of a rotation.
const PARTS: usize = 3;

/// Where the rotations of a segment are written to.
struct Rotated<'a, 'b> {
    builder: &'a std::cell::RefCell<&'b mut Builder>,
    /// Those of the rotation that is written, and of those after it.
    sections: &'a mut VecDeque<SectionWriter>,
    begun: usize,
}

impl Rotated<'_, '_> {
    fn write(&mut self, rotation: usize, part: usize, bytes: &[u8]) -> Result<()> {
        // What is done is ended, so that it does not keep the memory of its last bytes.
        while self.begun < rotation {
            for section in self.sections.drain(..PARTS.min(self.sections.len())) {
                self.builder.borrow_mut().end(section)?;
            }
            self.begun += 1;
        }
        match self.sections.get_mut(part) {
            Some(section) => self.builder.borrow_mut().write(section, bytes),
            None => Ok(()),
        }
    }
}

impl crate::search::Sink for Rotated<'_, '_> {
    type Error = crate::Error;

    fn directory(&mut self, rotation: usize, bytes: &[u8]) -> Result<()> {
        self.write(rotation, 0, bytes)
    }

    fn planes(&mut self, rotation: usize, bytes: &[u8]) -> Result<()> {
        self.write(rotation, 1, bytes)
    }

    fn ordinals(&mut self, rotation: usize, bytes: &[u8]) -> Result<()> {
        self.write(rotation, 2, bytes)
    }
}
