//! The tables that find fingerprints: made again from the fingerprints as `format/segment.md` has
//! them and compared, and searched.

use std::collections::{BTreeMap, BTreeSet};

use super::segment::words;

/// What the section *shape* says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Column,
    Rotations { bits: u32, stepped: bool },
    Cells { count: u32 },
}

impl Shape {
    pub(crate) fn read(section: &[u8]) -> Shape {
        match words(section)[..] {
            [0, 0, 0, 0] => Shape::Column,
            [1, bits @ 0..=16, 0, 0] => Shape::Rotations { bits, stepped: false },
            [1, 16, 1, 0] => Shape::Rotations { bits: 16, stepped: true },
            [2, 0, 0, count @ 1..=u32::MAX] => Shape::Cells { count },
            ref other => panic!("no such shape: {other:?}"),
        }
    }

    /// The kinds of sections of each of its tables, and how many tables there are.
    fn sections(self) -> (&'static [u16], u16) {
        match self {
            Shape::Column => (&[], 0),
            Shape::Rotations { .. } => (&[13, 14, 17], 4),
            Shape::Cells { .. } => (&[15, 16, 17], 2),
        }
    }
}

/// Fingerprints in canonical order, and the tables that find them.
pub(crate) struct Tables {
    pub(crate) column: Vec<u64>,
    pub(crate) shape: Shape,
    /// Each with its three sections.
    tables: Vec<[Vec<u32>; 3]>,
    pub(crate) census: Census,
}

/// What there is in cells.
#[derive(Debug, Default)]
pub(crate) struct Census {
    pub(crate) empty_cells: usize,
    /// Cells of just 15 entries, and of 16, the first that do not fit.
    pub(crate) full_cells: usize,
    pub(crate) overfull_cells: usize,
    /// The most lines of a cell.
    pub(crate) lines_max: usize,
}

/// Bits `from` to `from + bits - 1` from the top, going around.
fn bits_from_top(fingerprint: u64, from: u32, bits: u32) -> u64 {
    let turned = fingerprint.rotate_left(from);
    if bits == 0 { 0 } else { turned >> (64 - bits) }
}

/// The bucket of a fingerprint in a rotation, and its step.
fn step(part: u32, bits: u32, stepped: bool, fingerprint: u64) -> usize {
    let bucket = bits_from_top(fingerprint, 16 * part, bits) as usize;
    if !stepped {
        return bucket;
    }
    let set = bits_from_top(fingerprint, 16 * part + 16, 16).count_ones() as usize;
    bucket * 16 + set.min(15)
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
        let (kinds, parts) = shape.sections();
        let tables = (0..parts).map(|part| {
            let of: Vec<_> = kinds.iter().map(|kind| words(section(*kind, part))).collect();
            of.try_into().unwrap()
        });
        let tables = tables.collect();
        let mut read = Tables { column, shape, tables, census: Census::default() };
        for part in 0..read.tables.len() {
            match shape {
                Shape::Column => {}
                Shape::Rotations { bits, stepped } => read.check_rotation(part, bits, stepped),
                Shape::Cells { count } => read.check_cells(part, count),
            }
        }
        read
    }

    fn check_rotation(&self, part: usize, bits: u32, stepped: bool) {
        let [directory, planes, ordinals] = &self.tables[part];
        let part = u32::try_from(part).unwrap();
        let of = |fingerprint: u64| step(part, bits, stepped, fingerprint);
        let mut entries: Vec<(usize, u32)> =
            self.column.iter().zip(0..).map(|(f, ordinal)| (of(*f), ordinal)).collect();
        entries.sort_unstable();
        let steps = (1usize << bits) * if stepped { 16 } else { 1 };
        let below = |step: usize| entries.partition_point(|e| e.0 < step) as u32;
        assert_eq!(directory.len(), steps + 1, "directory {part}");
        assert!(directory.iter().copied().eq((0..=steps).map(below)), "directory {part}");
        assert!(ordinals.iter().eq(entries.iter().map(|(_, o)| o)), "ordinals {part}");
        let plane = |o: &u32| bits_from_top(self.column[*o as usize], 16 * part + 16, 32) as u32;
        assert!(planes.iter().copied().eq(ordinals.iter().map(plane)), "planes {part}");
    }

    fn check_cells(&mut self, table: usize, count: u32) {
        let mut by_cell = vec![Vec::new(); count as usize];
        for (&fingerprint, ordinal) in self.column.iter().zip(0u32..) {
            let (own, other) = halves(table, fingerprint);
            by_cell[cell(own, count)].push((other, ordinal));
        }
        let [cells, further, ordinals] = &self.tables[table];
        assert_eq!((cells.len(), further.len() % 16), (count as usize * 16, 0));
        assert_eq!(ordinals.len(), self.column.len());
        let (mut cells, mut further) = (cells.chunks(16), further.chunks(16).zip(0u32..));
        let mut entry = 0;
        for of_cell in &by_cell {
            let (mut left, mut lines) = (&of_cell[..], 1);
            let mut line = cells.next().unwrap();
            loop {
                let goes_on = left.len() > 15;
                let (here, rest) = left.split_at(if goes_on { 14 } else { left.len() });
                assert_eq!(line[15], entry | u32::from(goes_on) << 31);
                for ((other, ordinal), word) in here.iter().zip(line) {
                    assert_eq!((other, ordinal), (word, &ordinals[entry as usize]));
                    entry += 1;
                }
                if !goes_on {
                    break;
                }
                let (next, number) = further.next().unwrap();
                assert_eq!(line[14], number);
                (line, left, lines) = (next, rest, lines + 1);
            }
            self.census.empty_cells += usize::from(of_cell.is_empty());
            self.census.full_cells += usize::from(of_cell.len() == 15);
            self.census.overfull_cells += usize::from(of_cell.len() == 16);
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
        for (table, sections) in self.tables.iter().enumerate() {
            let candidates = match self.shape {
                Shape::Column => Vec::new(),
                Shape::Rotations { bits, stepped } => {
                    in_rotation(table, bits, stepped, sections, query, k)
                }
                Shape::Cells { count } => self.in_cells(table, count, query, k),
            };
            found.extend(candidates);
        }
        if self.shape == Shape::Column {
            found.extend(0..self.column.len() as u32);
        }
        found.retain(|o| (self.column[*o as usize] ^ query).count_ones() <= k);
        found
    }

    /// What stands in the cells that a half of the query can lie near, and is not farther away.
    fn in_cells(&self, table: usize, count: u32, query: u64, k: u32) -> Vec<u32> {
        let [cells, further, ordinals] = &self.tables[table];
        let (own, other) = halves(table, query);
        let near: BTreeSet<usize> =
            (0..31).map(|bit| own ^ 1 << bit).chain([own]).map(|half| cell(half, count)).collect();
        let mut found = Vec::new();
        for at in near {
            let line = |lines: &[u32], at: usize| lines[at * 16..at * 16 + 16].to_vec();
            let mut words = line(cells, at);
            while words[15] >> 31 == 1 {
                let first = words[15] & 0x7fff_ffff;
                found.extend((first..).zip(words[..14].to_vec()));
                words = line(further, words[14] as usize);
            }
            // Up to where the next cell begins.
            let end = cells.get(at * 16 + 31).map_or(self.column.len() as u32, |w| w & 0x7fff_ffff);
            found.extend((words[15]..end).zip(words));
        }
        found.retain(|(_, word)| (word ^ other).count_ones() <= k);
        found.into_iter().map(|(entry, _)| ordinals[entry as usize]).collect()
    }
}

/// What stands in the bucket of the query, or in the steps of it that can be near enough.
fn in_rotation(
    table: usize,
    bits: u32,
    stepped: bool,
    [directory, planes, ordinals]: &[Vec<u32>; 3],
    query: u64,
    k: u32,
) -> Vec<u32> {
    let part = table as u32;
    let own = step(part, bits, stepped, query);
    let steps = if stepped {
        let set = bits_from_top(query, 16 * part + 16, 16).count_ones() as usize;
        let bucket = own / 16 * 16;
        bucket + set.saturating_sub(1).min(15)..bucket + (set + 1).min(15) + 1
    } else {
        own..own + 1
    };
    let entries = directory[steps.start] as usize..directory[steps.end] as usize;
    let plane = bits_from_top(query, 16 * part + 16, 32) as u32;
    let near = entries.filter(|entry| (planes[*entry] ^ plane).count_ones() <= k);
    near.map(|entry| ordinals[entry]).collect()
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
