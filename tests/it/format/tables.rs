//! The tables that find fingerprints: made again from the fingerprints as `format/segment.md` has
//! them and compared, and searched.

use std::collections::{BTreeMap, BTreeSet};

use super::segment::words;

/// What the section *shape* says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Column,
    Rotations { bits: u32, lines: u32 },
    Cells { count: u32 },
}

impl Shape {
    pub(crate) fn read(section: &[u8]) -> Shape {
        match words(section)[..] {
            [0, 0, 0, 0] => Shape::Column,
            [1, bits @ 0..=16, lines @ 1..=u32::MAX, 0] => Shape::Rotations { bits, lines },
            [2, 0, 0, count @ 1..=u32::MAX] => Shape::Cells { count },
            ref other => panic!("no such shape: {other:?}"),
        }
    }
}

/// Fingerprints in canonical order, and the tables that find them.
pub(crate) struct Tables {
    pub(crate) column: Vec<u64>,
    pub(crate) shape: Shape,
    rotations: Vec<Rotation>,
    cells: Vec<Cells>,
    pub(crate) census: Census,
}

/// The sections of a rotation.
struct Rotation {
    /// The places of all buckets.
    buckets: Vec<u16>,
    rest: Vec<u16>,
    ordinals: Vec<u32>,
}

/// The sections of a table of cells.
struct Cells {
    cells: Vec<CellLine>,
    further: Vec<CellLine>,
    ordinals: Vec<u32>,
}

/// A line of a cell, or in which one goes on.
struct CellLine {
    /// As many as there is room for.
    entries: Vec<u32>,
    first: u32,
    /// The line in which the cell goes on.
    next: Option<u32>,
}

impl CellLine {
    fn read(line: &[u8]) -> CellLine {
        let number = |at| words(&line[at..at + 4])[0];
        let (first, goes_on) = (number(60) & 0x7fff_ffff, number(60) >> 31 == 1);
        let entry = |i: usize| u32::from_le_bytes([line[2 * i], line[2 * i + 1], line[40 + i], 0]);
        let entries = (0..if goes_on { 18 } else { 20 }).map(entry).collect();
        CellLine { entries, first, next: goes_on.then(|| number(36)) }
    }
}

/// The lines of a section.
fn cell_lines(section: &[u8]) -> Vec<CellLine> {
    assert_eq!(section.len() % 64, 0);
    section.chunks(64).map(CellLine::read).collect()
}

/// What there is in buckets and in cells.
#[derive(Debug, Default)]
pub(crate) struct Census {
    pub(crate) empty_buckets: usize,
    /// Buckets of just as many entries as there is room for, and of one more.
    pub(crate) full_buckets: usize,
    pub(crate) overfull_buckets: usize,
    /// The most entries of a bucket in the rest.
    pub(crate) rest_max: usize,
    pub(crate) empty_cells: usize,
    /// Cells of just 20 entries, and of 21, the first that do not fit.
    pub(crate) full_cells: usize,
    pub(crate) overfull_cells: usize,
    /// The most lines of a cell.
    pub(crate) lines_max: usize,
}

fn short_words(bytes: &[u8]) -> Vec<u16> {
    assert!(bytes.len().is_multiple_of(2));
    bytes.chunks(2).map(|b| u16::from_le_bytes(b.try_into().unwrap())).collect()
}

/// Bits `from` to `from + bits - 1` from the top, going around.
fn bits_from_top(fingerprint: u64, from: u32, bits: u32) -> u64 {
    let turned = fingerprint.rotate_left(from);
    if bits == 0 { 0 } else { turned >> (64 - bits) }
}

/// The bucket of a fingerprint in a rotation, and its entry there.
pub(crate) fn bucket(part: usize, bits: u32, fingerprint: u64) -> (usize, u16) {
    let block = 16 * part as u32;
    let bucket = bits_from_top(fingerprint, block, bits) as usize;
    (bucket, bits_from_top(fingerprint, block + 16, 16) as u16)
}

/// The number that two places of a bucket are.
fn pair(bucket: &[u16], place: usize) -> u32 {
    u32::from(bucket[place]) | u32::from(bucket[place + 1]) << 16
}

/// The places of a bucket that are for entries, and what stands there.
fn places(bucket: &[u16], goes_on: bool) -> impl Iterator<Item = u16> {
    let of_first_line = if goes_on { 26 } else { 30 };
    bucket[..of_first_line].iter().chain(&bucket[32..]).copied()
}

/// The half that addresses a fingerprint in a table of cells, and the other one.
fn halves(table: usize, fingerprint: u64) -> (u32, u32) {
    let (upper, lower) = ((fingerprint >> 32) as u32, (fingerprint & 0xffff_ffff) as u32);
    if table == 0 { (upper, lower) } else { (lower, upper) }
}

/// The message of the codeword that is nearest to a half.
fn message(half: u32) -> u32 {
    let places = 0..31u32;
    let mut word = half;
    let syndrome = places.clone().filter(|i| half >> i & 1 == 1).fold(0, |s, i| s ^ (i + 1));
    if syndrome > 0 {
        word ^= 1 << (syndrome - 1);
    }
    let carrying = places.filter(|i| !(i + 1).is_power_of_two());
    carrying.zip(0..).fold(0, |m, (from, to)| m | (word >> from & 1) << to)
}

pub(crate) fn cell(half: u32, count: u32) -> usize {
    let shuffled = u64::from(message(half)) * 41_475_557 % (1 << 26);
    ((shuffled * u64::from(count)) >> 26) as usize
}

impl Tables {
    /// Takes and checks all that belongs to a shape. `section` gives a section by its kind and part.
    pub(crate) fn read<'s>(
        column: Vec<u64>,
        shape: Shape,
        mut section: impl FnMut(u16, u16) -> &'s [u8],
    ) -> Tables {
        let (mut rotations, mut cells) = (Vec::new(), Vec::new());
        match shape {
            Shape::Column => {}
            Shape::Rotations { .. } => rotations.extend((0..4).map(|part| Rotation {
                buckets: short_words(section(14, part)),
                rest: short_words(section(15, part)),
                ordinals: words(section(18, part)),
            })),
            Shape::Cells { .. } => cells.extend((0..2).map(|part| Cells {
                cells: cell_lines(section(16, part)),
                further: cell_lines(section(17, part)),
                ordinals: words(section(18, part)),
            })),
        }
        let mut read = Tables { column, shape, rotations, cells, census: Census::default() };
        match shape {
            Shape::Column => {}
            Shape::Rotations { bits, lines } => {
                (0..4).for_each(|part| read.check_rotation(part, bits, lines));
            }
            Shape::Cells { count } => (0..2).for_each(|table| read.check_cells(table, count)),
        }
        read
    }

    fn check_rotation(&mut self, part: usize, bits: u32, lines: u32) {
        let mut by_bucket = vec![Vec::new(); 1 << bits];
        for (&fingerprint, ordinal) in self.column.iter().zip(0u32..) {
            let (bucket, entry) = bucket(part, bits, fingerprint);
            by_bucket[bucket].push((entry, ordinal));
        }
        let Rotation { buckets, rest, ordinals } = &self.rotations[part];
        let size = 32 * lines as usize;
        assert_eq!(buckets.len(), size << bits, "buckets {part}");
        assert_eq!(ordinals.len(), self.column.len(), "ordinals {part}");
        let (mut number, mut in_rest) = (0, 0);
        for (of_bucket, bucket) in by_bucket.iter().zip(buckets.chunks(size)) {
            let goes_on = of_bucket.len() > size - 2;
            assert_eq!(pair(bucket, 30), number | u32::from(goes_on) << 31);
            let here = if goes_on { size - 6 } else { of_bucket.len() };
            let others = of_bucket.len() - here;
            if goes_on {
                let goes_on_at = (pair(bucket, 26) as usize, pair(bucket, 28) as usize);
                assert_eq!(goes_on_at, (in_rest, others));
            }
            let of_rest = &rest[in_rest..in_rest + others];
            let found: Vec<u16> =
                places(bucket, goes_on).take(here).chain(of_rest.iter().copied()).collect();
            assert_eq!(found.len(), of_bucket.len());
            for (entry, found) in of_bucket.iter().zip(found) {
                assert_eq!(*entry, (found, ordinals[number as usize]));
                number += 1;
            }
            in_rest += others;
            self.census.empty_buckets += usize::from(of_bucket.is_empty());
            self.census.full_buckets += usize::from(of_bucket.len() == size - 2);
            self.census.overfull_buckets += usize::from(of_bucket.len() == size - 1);
            self.census.rest_max = self.census.rest_max.max(others);
        }
        assert_eq!(rest.len(), in_rest, "entries that no bucket goes on with");
        assert_eq!(number as usize, self.column.len());
    }

    fn check_cells(&mut self, table: usize, count: u32) {
        let mut by_cell = vec![Vec::new(); count as usize];
        for (&fingerprint, ordinal) in self.column.iter().zip(0u32..) {
            let (own, other) = halves(table, fingerprint);
            by_cell[cell(own, count)].push((other, ordinal));
        }
        let Cells { cells, further, ordinals } = &self.cells[table];
        assert_eq!(cells.len(), count as usize);
        assert_eq!(ordinals.len(), self.column.len());
        let (mut cells, mut further) = (cells.iter(), further.iter().zip(0u32..));
        let mut entry = 0;
        for of_cell in &by_cell {
            let (mut left, mut lines) = (&of_cell[..], 1);
            let mut line = cells.next().unwrap();
            loop {
                let goes_on = left.len() > 20;
                let (here, rest) = left.split_at(if goes_on { 18 } else { left.len() });
                assert_eq!((line.first, line.next.is_some()), (entry, goes_on));
                for ((other, ordinal), found) in here.iter().zip(&line.entries) {
                    assert_eq!((other & 0xff_ffff, ordinal), (*found, &ordinals[entry as usize]));
                    entry += 1;
                }
                if !goes_on {
                    break;
                }
                let (next, number) = further.next().unwrap();
                assert_eq!(line.next, Some(number));
                (line, left, lines) = (next, rest, lines + 1);
            }
            self.census.empty_cells += usize::from(of_cell.is_empty());
            self.census.full_cells += usize::from(of_cell.len() == 20);
            self.census.overfull_cells += usize::from(of_cell.len() == 21);
            self.census.lines_max = self.census.lines_max.max(lines);
        }
        assert!(further.next().is_none(), "a line that no cell goes on in");
        assert_eq!(entry as usize, self.column.len());
    }

    /// The ordinals of all fingerprints within `k` of one, for `k` up to 3, as the page says that
    /// they are found.
    pub(crate) fn find(&self, query: u64, k: u32) -> BTreeSet<u32> {
        assert!(k <= 3);
        let mut found = BTreeSet::new();
        match self.shape {
            Shape::Column => found.extend(0..self.column.len() as u32),
            Shape::Rotations { bits, lines } => {
                found.extend((0..4).flat_map(|part| self.in_rotation(part, bits, lines, query)));
            }
            Shape::Cells { count } => {
                found.extend((0..2).flat_map(|table| self.in_cells(table, count, query, k)));
            }
        }
        found.retain(|o| (self.column[*o as usize] ^ query).count_ones() <= k);
        found
    }

    /// What stands in the query's own bucket, and differs from its entry in at most one bit.
    fn in_rotation(&self, part: usize, bits: u32, lines: u32, query: u64) -> Vec<u32> {
        let Rotation { buckets, rest, ordinals } = &self.rotations[part];
        let (at, own) = bucket(part, bits, query);
        let mut from_own = buckets.chunks(32 * lines as usize).skip(at);
        let bucket = from_own.next().unwrap();
        let (first, goes_on) = (pair(bucket, 30) & 0x7fff_ffff, pair(bucket, 30) >> 31 == 1);
        let mut entries: Vec<u16> = places(bucket, goes_on).collect();
        if goes_on {
            let (start, others) = (pair(bucket, 26) as usize, pair(bucket, 28) as usize);
            entries.extend(&rest[start..start + others]);
        }
        // Up to where the next bucket begins.
        let n = self.column.len() as u32;
        let end = from_own.next().map_or(n, |next| pair(next, 30) & 0x7fff_ffff);
        let near = (first..end).zip(entries).filter(|(_, entry)| (entry ^ own).count_ones() <= 1);
        near.map(|(number, _)| ordinals[number as usize]).collect()
    }

    /// What stands in the cells that a half of the query can lie near, and is not farther away.
    fn in_cells(&self, table: usize, count: u32, query: u64, k: u32) -> Vec<u32> {
        let Cells { cells, further, ordinals } = &self.cells[table];
        let (own, other) = halves(table, query);
        let near: BTreeSet<usize> =
            (0..31).map(|bit| own ^ 1 << bit).chain([own]).map(|half| cell(half, count)).collect();
        let mut found = Vec::new();
        for at in near {
            let mut line = &cells[at];
            while let Some(next) = line.next {
                found.extend((line.first..).zip(&line.entries));
                line = &further[next as usize];
            }
            // Up to where the next cell begins.
            let end = cells.get(at + 1).map_or(self.column.len() as u32, |next| next.first);
            found.extend((line.first..end).zip(&line.entries));
        }
        found.retain(|(_, entry)| ((*entry ^ other) & 0xff_ffff).count_ones() <= k);
        found.into_iter().map(|(entry, _)| ordinals[entry as usize]).collect()
    }
}

/// The lists of an epoch, by their fingerprints: pages and whether in force, tags and pages.
pub(crate) struct List {
    pub(crate) postings: Vec<u32>,
    pub(crate) tags: Vec<(u32, u32)>,
}

/// The postings of each fingerprint, and the lists among them.
pub(crate) fn postings(words: &[u32], lists: &[u32]) -> BTreeMap<usize, List> {
    let mut next = 0;
    let mut all = BTreeMap::new();
    for (ordinal, &word) in words.iter().enumerate() {
        if word >> 31 == 0 {
            all.insert(ordinal, List { postings: vec![word], tags: Vec::new() });
            continue;
        }
        let at = (word & 0x7fff_ffff) as usize;
        assert_eq!(at, next, "lists have gaps or overlap");
        let (count, tags) = (lists[at] as usize, lists[at + 1] as usize);
        assert!(count > 1);
        let tags_at = at + 2 + count;
        next = tags_at + 2 * tags;
        let tags = lists[tags_at..next].chunks(2).map(|pair| (pair[0], pair[1])).collect();
        all.insert(ordinal, List { postings: lists[at + 2..tags_at].to_vec(), tags });
    }
    assert_eq!(next, lists.len(), "words behind the last list");
    all
}
