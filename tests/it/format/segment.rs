//! A reader of segments, written from `format/segment.md` and sharing no code with the crate.
//!
//! It believes nothing: every checksum is computed again, every structure that follows from
//! another is made again from that one and compared, and what is left over is an error. An error is
//! a panic: this is a test.

use std::collections::{BTreeMap, BTreeSet};

use super::bytes::{Bytes, crc32};
use super::changes::Changes;
use super::surt;
use super::tables::{self, Shape, Tables};
use super::visits::{Carried, Entry, Head, Seen, Version, entries, mask, visits};

/// A page of a segment.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) url: String,
    pub(crate) reset: bool,
    pub(crate) earlier: bool,
    /// How many chunks its entries are in.
    pub(crate) chunks: usize,
    pub(crate) carried: bool,
    pub(crate) changes: Option<Changes>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) head: Option<Head>,
}

fn page(url: &str, record: &[u8]) -> Page {
    let mut bytes = Bytes(record);
    let flags = bytes.u8();
    assert!(flags < 32, "an unknown flag of a record");
    let has = |bit: u8| flags >> bit & 1 == 1;
    let count = bytes.len();
    let others = has(3).then(|| bytes.varint());
    assert!(others != Some(0), "all are visits, and yet others are counted");
    let changes = has(4).then(|| {
        let len = bytes.len();
        Changes::read(bytes.take(len))
    });
    let carried = has(2).then(|| Carried::read(&mut bytes));
    assert!(changes.is_none() || carried.is_some(), "what all entries tell is told twice");
    let mut all = Vec::new();
    let mut last = Vec::new();
    if count <= 64 {
        last = entries(&mut bytes, count);
        all.clone_from(&last);
    } else {
        let mut directory = Vec::new();
        let mut time = 0;
        for _ in 0..count.div_ceil(64) {
            let len = bytes.len();
            time += bytes.signed();
            directory.push((len, time));
        }
        for (i, (len, first)) in directory.into_iter().enumerate() {
            let mut chunk = Bytes(bytes.take(len));
            last = entries(&mut chunk, (count - i * 64).min(64));
            chunk.end();
            assert_eq!(last[0].time, first, "a chunk that begins at another time");
            all.extend_from_slice(&last);
        }
    }
    bytes.end();
    assert!(all.is_sorted_by(|a, b| a < b), "entries out of order in {url}");
    assert_eq!(others.unwrap_or(0), count as u64 - visits(&all), "other entries of {url}");
    let head = match carried {
        Some(carried) => Some(carried.join(&last)),
        None => Head::of(&last),
    };
    assert!(has(2) || count <= 64, "no head in {url}");
    Page {
        url: url.to_owned(),
        reset: has(0),
        earlier: has(1),
        chunks: count.div_ceil(64),
        carried: has(2),
        changes,
        entries: all,
        head,
    }
}

/// Kind, part and epoch of a section.
pub(crate) type Tag = (u16, u16, u32);

/// A whole segment.
pub(crate) struct Segment {
    pub(crate) id: u64,
    pub(crate) store: u64,
    pub(crate) nonce: u64,
    pub(crate) first_sequence: u64,
    pub(crate) last_sequence: u64,
    /// Pages, visits, pages in force, pages that are gone.
    pub(crate) deltas: [i64; 4],
    pub(crate) tier: u64,
    pub(crate) pages: Vec<Page>,
    /// Sequence number and the key that the prefix begins with.
    pub(crate) tombstones: Vec<(u64, Vec<u8>)>,
    /// The fingerprints of each epoch, and what finds them.
    pub(crate) epochs: BTreeMap<u32, Tables>,
    /// Epochs of contents that no table finds.
    pub(crate) without_tables: BTreeSet<u32>,
    /// Postings that are lists, and tags in them.
    pub(crate) lists: usize,
    pub(crate) tags: usize,
    /// Buckets of the hash directory, blocks of the filter, bytes of the longest section.
    pub(crate) buckets: usize,
    pub(crate) filter_blocks: usize,
    pub(crate) section_bytes_max: usize,
}

pub(crate) fn words(bytes: &[u8]) -> Vec<u32> {
    assert!(bytes.len().is_multiple_of(4));
    bytes.chunks(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect()
}

fn long_words(bytes: &[u8]) -> Vec<u64> {
    assert!(bytes.len().is_multiple_of(8));
    bytes.chunks(8).map(|b| u64::from_le_bytes(b.try_into().unwrap())).collect()
}

/// The store that it is of, and the nonce.
fn head_of_file(file: &[u8], id: u64) -> (u64, u64) {
    let mut head = Bytes(&file[..64]);
    assert_eq!(head.take(8), b"simkseg\0");
    assert_eq!(head.u32(), 5, "format version");
    assert_eq!(head.u32(), 0);
    assert_eq!(head.u64(), id);
    let stamp = (head.u64(), head.u64());
    assert!(head.take(20).iter().all(|b| *b == 0));
    assert_eq!(head.u32(), crc32(&[&file[..60]]), "checksum of the head");
    stamp
}

/// Where the table begins, how many sections and roots it has.
fn trailer(file: &[u8], id: u64, nonce: u64) -> (usize, usize, usize) {
    let at = file.len() - 64;
    let mut trailer = Bytes(&file[at..]);
    assert_eq!(trailer.take(8), b"simkend\0");
    assert_eq!(trailer.u64(), id);
    let offset = usize::try_from(trailer.u64()).unwrap();
    let len = usize::try_from(trailer.u64()).unwrap();
    let sections = usize::try_from(trailer.u64()).unwrap();
    let roots = usize::try_from(trailer.u64()).unwrap();
    assert_eq!(trailer.u64(), nonce, "head and trailer of two files");
    let sum = trailer.u32();
    assert_eq!(trailer.u32(), crc32(&[&file[at..at + 60]]), "checksum of the trailer");
    assert_eq!(offset + len, at);
    assert_eq!(len, 128 + 24 * sections + 4 * roots);
    assert_eq!(sum, crc32(&[&file[offset..at]]), "checksum of the table");
    (offset, sections, roots)
}

/// Checks the blocks of a section against checksums from `sums`.
fn check_blocks(nonce: u64, tag: Tag, content: &[u8], sums: &mut impl Iterator<Item = u32>) {
    for (block, bytes) in content.chunks(4096).enumerate() {
        let sum = crc32(&[
            &nonce.to_le_bytes(),
            &tag.0.to_le_bytes(),
            &tag.1.to_le_bytes(),
            &tag.2.to_le_bytes(),
            &(block as u64).to_le_bytes(),
            bytes,
        ]);
        assert_eq!(sums.next(), Some(sum), "block {block} of section {tag:?}");
    }
}

/// Reads and checks all of a segment. `hash` is the URL hash of the store.
#[expect(clippy::too_many_lines, reason = "fields in the order of the format")]
pub(crate) fn read(file: &[u8], id: u64, hash: impl Fn(&[u8]) -> u64) -> Segment {
    let (store, nonce) = head_of_file(file, id);
    let (table_at, section_count, root_count) = trailer(file, id, nonce);
    let mut table = Bytes(&file[table_at..file.len() - 64]);
    let numbers: Vec<u64> = (0..16).map(|_| table.u64()).collect();
    let mut sections: Vec<(Tag, &[u8])> = Vec::new();
    let mut end = 64;
    for _ in 0..section_count {
        let tag = (table.u16(), table.u16(), table.u32());
        let offset = usize::try_from(table.u64()).unwrap();
        let len = usize::try_from(table.u64()).unwrap();
        assert_eq!(offset, end + (64 - end % 64) % 64, "section {tag:?} lies elsewhere");
        assert!(file[end..offset].iter().all(|b| *b == 0), "padding before {tag:?}");
        sections.push((tag, &file[offset..offset + len]));
        end = offset + len;
    }
    let padding = &file[end..table_at];
    assert!(padding.len() < 64 && padding.iter().all(|b| *b == 0) && table_at % 64 == 0);
    let roots: Vec<u32> = (0..root_count).map(|_| table.u32()).collect();
    table.end();

    let ((last, sums), covered) = sections.split_last().unwrap();
    assert_eq!(*last, (19, 0, 0), "the last section is that of the checksums");
    let mut roots = roots.into_iter();
    check_blocks(nonce, *last, sums, &mut roots);
    assert_eq!(roots.next(), None);
    let mut sums = words(sums).into_iter();
    for (tag, content) in covered {
        check_blocks(nonce, *tag, content, &mut sums);
    }
    assert_eq!(sums.next(), None, "more checksums than blocks");

    let mut by_tag: BTreeMap<Tag, &[u8]> = BTreeMap::new();
    for (tag, content) in covered {
        assert!(by_tag.insert(*tag, content).is_none(), "section {tag:?} is there twice");
    }
    let section_bytes_max = by_tag.values().map(|s| s.len()).max().unwrap();
    let mut section = |tag: Tag| by_tag.remove(&tag).unwrap_or_else(|| panic!("no {tag:?}"));

    let page_count = usize::try_from(numbers[2]).unwrap();
    let pages = pages(section((1, 0, 0)), section((2, 0, 0)), page_count);
    let hashes = [(3, 0, 0), (4, 0, 0), (5, 0, 0), (6, 0, 0)].map(&mut section);
    let (buckets, filter_blocks) = check_hashes(hashes, &pages, &hash);
    check_schedule(section((7, 0, 0)), &pages, &hash);
    let mut tombstones = Vec::new();
    let mut bytes = Bytes(section((8, 0, 0)));
    while !bytes.0.is_empty() {
        let sequence = bytes.u64();
        let len = bytes.len();
        tombstones.push((sequence, bytes.take(len).to_vec()));
    }
    assert!(tombstones.is_sorted_by(|a, b| a.0 < b.0));

    let of_epochs: BTreeSet<u32> =
        covered.iter().filter(|(tag, _)| tag.0 == 9).map(|(tag, _)| tag.2).collect();
    let mut epochs = BTreeMap::new();
    let (mut fingerprints, mut lists, mut tags, mut longest) = (0, 0, 0, 0);
    for epoch in of_epochs {
        let column = long_words(section((9, 0, epoch)));
        fingerprints += column.len() as u64;
        check_shards(&column, section((10, 0, epoch)));
        let shape = Shape::read(section((11, 0, epoch)));
        let (postings, list_words) = (section((12, 0, epoch)), section((13, 0, epoch)));
        let found = check_postings(epoch, &column, postings, list_words, &pages);
        (lists, tags, longest) = (lists + found.0, tags + found.1, longest.max(found.2));
        let tables = Tables::read(column, shape, |kind, part| section((kind, part, epoch)));
        epochs.insert(epoch, tables);
    }
    assert!(by_tag.is_empty(), "sections that nothing explains: {:?}", by_tag.keys());

    let contents = pages.iter().flat_map(contents_of).map(|(_, _, epoch)| epoch);
    let without_tables = contents.filter(|epoch| !epochs.contains_key(epoch)).collect();
    let visits: u64 = pages.iter().map(|p| visits(&p.entries)).sum();
    let resets = pages.iter().filter(|p| p.reset).count();
    let found = [pages.len() as u64, visits, fingerprints, resets as u64];
    assert_eq!(found, numbers[2..6], "pages, visits, fingerprints, resets");
    let times = pages.iter().flat_map(|p| &p.entries).filter(|e| e.is_visit()).map(|e| e.time);
    let bounds = (numbers[11].cast_signed(), numbers[12].cast_signed());
    assert!(times.clone().all(|time| bounds.0 <= time && time <= bounds.1));
    assert!(times.count() > 0 || bounds == (0, 0));
    assert_eq!(numbers[13], longest as u64, "the longest list");
    assert!(numbers[14] > 0, "when it was written");
    assert_eq!(numbers[15], 0);
    assert!(numbers[0] <= numbers[1]);
    Segment {
        id,
        store,
        nonce,
        first_sequence: numbers[0],
        last_sequence: numbers[1],
        deltas: [6, 7, 9, 10].map(|at: usize| numbers[at].cast_signed()),
        tier: numbers[8],
        pages,
        tombstones,
        epochs,
        without_tables,
        lists,
        tags,
        buckets,
        filter_blocks,
        section_bytes_max,
    }
}

fn pages(section: &[u8], index: &[u8], count: usize) -> Vec<Page> {
    let starts = long_words(index);
    assert_eq!(starts.len(), count.div_ceil(16) + 1);
    assert_eq!((starts[0], *starts.last().unwrap()), (0, section.len() as u64));
    let mut pages = Vec::new();
    for bounds in starts.windows(2) {
        let [start, end] = [bounds[0], bounds[1]].map(|at| usize::try_from(at).unwrap());
        let mut group = Bytes(&section[start..end]);
        let in_group = group.len();
        assert_eq!(in_group, (count - pages.len()).min(16));
        let heads = group.len();
        let mut heads = Bytes(group.take(heads));
        let mut url: Vec<u8> = Vec::new();
        for _ in 0..in_group {
            let (shared, suffix, record) = (heads.len(), heads.len(), heads.len());
            assert!(shared <= url.len());
            url.truncate(shared);
            url.extend_from_slice(heads.take(suffix));
            pages.push(page(std::str::from_utf8(&url).unwrap(), group.take(record)));
        }
        heads.end();
        group.end();
    }
    let keys: Vec<_> = pages.iter().map(|p| (surt::key(&p.url), &p.url)).collect();
    assert!(keys.is_sorted_by(|a, b| a < b), "pages out of order");
    pages
}

/// Checks the four sections that find a page by its hash. Returns buckets and filter blocks.
fn check_hashes(
    sections: [&[u8]; 4],
    pages: &[Page],
    hash: impl Fn(&[u8]) -> u64,
) -> (usize, usize) {
    let [hashes, of_pages, directory, filter] = sections;
    let mut expected: Vec<(u64, u32)> =
        (0u32..).zip(pages).map(|(i, page)| (hash(page.url.as_bytes()), i)).collect();
    expected.sort_unstable();
    let found = long_words(hashes).into_iter().zip(words(of_pages));
    assert_eq!(found.collect::<Vec<_>>(), expected, "hashes");
    assert_eq!((hashes.len(), of_pages.len()), (pages.len() * 8, pages.len() * 4));

    let mut bits = 0;
    while bits < 28 && 8 << bits <= pages.len() {
        bits += 1;
    }
    let top = |hash: u64| u128::from(hash) << bits >> 64;
    let below = |bucket: u128| expected.partition_point(|(h, _)| top(*h) < bucket) as u32;
    let made: Vec<u32> = (0..=1 << bits).map(below).collect();
    assert_eq!(words(directory), made, "hash directory");

    let blocks = (pages.len() * 12).div_ceil(512);
    let mut made = vec![0u8; blocks * 64];
    for (hash, _) in &expected {
        let block = usize::try_from((u128::from(*hash) * blocks as u128) >> 64).unwrap();
        let mixed = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for i in 0..7 {
            let bit = (mixed >> (1 + 9 * i) & 511) as usize;
            made[block * 64 + bit / 8] |= 1 << (bit % 8);
        }
    }
    assert!(filter == made, "filter");
    (1 << bits, blocks)
}

/// Whether each row is what its page's head says.
fn check_schedule(section: &[u8], pages: &[Page], hash: impl Fn(&[u8]) -> u64) {
    let mut order: Vec<(u64, usize)> =
        pages.iter().enumerate().map(|(at, page)| (hash(page.url.as_bytes()), at)).collect();
    order.sort_unstable();
    let mut rows = Bytes(section);
    for (_, at) in order {
        let (page, row) = (&pages[at], rows.take(16));
        let Some(head) = &page.head else {
            assert_eq!(row, [0; 16], "a row of {} that is not known", page.url);
            continue;
        };
        let mut row = Bytes(row);
        // Five bytes, and the flags.
        let first_eight = row.u64();
        let (last, flags) = (first_eight & 0xff_ffff_ffff, first_eight >> 40 & 0xff);
        let whole = |time: i64| u64::try_from((time + 62_135_596_800_000) / 1000).unwrap();
        assert_eq!(last, whole(head.last.time), "the last visit of {}", page.url);
        let key = surt::key(&page.url);
        let host = key.split(|byte| *byte == 1).next().unwrap();
        assert_eq!(first_eight >> 48, hash(host) >> 48, "the host of {}", page.url);
        check_evidence(row.u32(), page);
        let weight = head.weighed.map_or(1_f32.to_bits(), |(_, bits)| bits);
        let rounded = ((weight + (1 << 14)) >> 15).clamp(1, 0xfeff);
        assert_eq!(u32::from(row.u16()), rounded, "the weight of {}", page.url);
        let failing = head.last.seen == Seen::Failed;
        let gone = head.settled.is_some_and(|visit| visit.seen == Seen::Gone);
        let first = head.visits == visits(&page.entries);
        let expected = [first, true, failing, gone].into_iter().enumerate();
        let expected: u64 = expected.map(|(bit, set)| u64::from(set) << bit).sum();
        assert_eq!(flags, expected, "the flags of {}", page.url);
        let (steps, since) = (row.u16(), head.settled.map_or(head.first, |visit| visit.time));
        let seconds = if failing { (head.last.time - since) as u64 / 1000 } else { 0 };
        assert_eq!(u64::from(steps), steps_of(seconds, 10), "how long {} fails", page.url);
        assert!(failing || steps == 0);
    }
    rows.end();
}

/// Whether evidence is what how a page changes comes to; where that is to be made from its visits, only
/// whether it is that of some page.
fn check_evidence(evidence: u32, page: &Page) {
    let part = |from: u32, bits: u32| u64::from(evidence) >> from & ((1 << bits) - 1);
    let parts = [part(0, 6), part(6, 4), part(10, 4), part(14, 9), part(23, 9)];
    let [changes, dated, returned, mean, _] = parts;
    assert!(changes > 0 || [dated, returned, mean] == [0; 3], "evidence of {}", page.url);
    assert!(dated + returned <= 16 && (mean > 0 || changes == 0 || dated == 15));
    let Some(of) = &page.changes else {
        let one = page.entries.iter().filter(|entry| entry.is_visit()).count() < 2;
        assert!(evidence == 0 || !page.carried && !one, "evidence of {}", page.url);
        return;
    };
    let changes = of.changed() + of.returned();
    let share = |of: u64| if changes == 0 { 0 } else { (of * 30 + changes) / (2 * changes) };
    let seconds = |ms: u64| (ms + 500) / 1000;
    let lengths = of.lengths.iter().map(|length| (length.0 + length.1, length.2));
    let steps = |(count, sum): (u64, u64)| count * steps_of(seconds(sum / count).max(1), 3);
    let steps: u64 = lengths.filter(|(count, _)| *count > 0).map(steps).sum();
    let mean = match changes - of.dated.0 {
        0 => 0,
        count => (2 * steps + count) / (2 * count),
    };
    let quiet = steps_of(seconds(of.unchanged.1 + of.dated.2), 3);
    let expected = [steps_of(changes, 3), share(of.dated.0), share(of.returned()), mean, quiet];
    assert_eq!(parts, expected, "evidence of {}", page.url);
}

/// The number of steps of so many in an octave, as a power of two, that is nearest to a number.
fn steps_of(number: u64, bits: u32) -> u64 {
    let stands_for = |steps: u64| match steps >> bits {
        0 | 1 => steps,
        octaves => ((1 << bits) + (steps & ((1 << bits) - 1))) << (octaves - 1),
    };
    // Of two that are as near, the greater.
    let next = (0..).find(|steps| stands_for(*steps) >= number).unwrap();
    let before = next.saturating_sub(1);
    let nearer = number - stands_for(before).min(number) < stands_for(next) - number;
    if nearer && next > 0 { before } else { next }
}

fn check_shards(column: &[u64], shards: &[u8]) {
    assert!(column.is_sorted_by_key(|f| (f.count_ones(), *f)));
    assert!(column.is_sorted_by(|a, b| a != b));
    let below = |popcount| column.iter().filter(|f| f.count_ones() < popcount).count() as u32;
    assert_eq!(words(shards), (0..=65).map(below).collect::<Vec<_>>(), "shards");
}

/// The contents of a page's entries, and those in force.
fn contents_of(page: &Page) -> impl Iterator<Item = Version> {
    let in_force = page.head.as_ref().map_or_else(Vec::new, Head::in_force);
    page.entries.iter().filter_map(Entry::content).chain(in_force)
}

/// Checks the postings of an epoch against the pages. Returns the numbers of lists and tags, and how
/// many pages the longest list has.
fn check_postings(
    epoch: u32,
    column: &[u64],
    postings: &[u8],
    lists: &[u8],
    pages: &[Page],
) -> (usize, usize, usize) {
    let (postings, lists) = (words(postings), words(lists));
    assert_eq!(postings.len(), column.len());
    assert!(column.iter().all(|f| f & !mask(epoch) == 0), "reserved bits in a table");
    let of_epoch = |v: Version| (v.2 == epoch).then_some(v);
    let in_force = |page: &Page| page.head.as_ref()?.in_force().into_iter().find_map(of_epoch);
    let mut found: BTreeMap<(u32, u64), bool> = BTreeMap::new();
    let (mut list_count, mut tag_count, mut longest) = (0, 0, 0);
    for (ordinal, list) in tables::postings(&postings, &lists) {
        let page = |word: &u32| word & 0x3fff_ffff;
        longest = longest.max(list.postings.len());
        assert!(list.postings.is_sorted_by(|a, b| page(a) < page(b)));
        for word in &list.postings {
            assert!(word >> 31 == 0 && page(word) < pages.len() as u32);
            found.insert((page(word), column[ordinal]), word >> 30 & 1 == 1);
        }
        if list.postings.len() > 1 {
            let current = list.postings.iter().filter(|word| *word >> 30 & 1 == 1).map(page);
            let digests = current.filter_map(|page| {
                let (digest, _, _) = in_force(&pages[page as usize])?;
                Some((u32::from_le_bytes(digest?[..4].try_into().unwrap()), page))
            });
            let mut made: Vec<(u32, u32)> = digests.collect();
            made.sort_unstable();
            assert_eq!(list.tags, made, "tags of {:016x}", column[ordinal]);
            list_count += 1;
            tag_count += made.len();
        }
    }
    for (number, page) in (0u32..).zip(pages) {
        let in_force = in_force(page).and_then(|v| Some(v.1? & mask(epoch)));
        let contents =
            contents_of(page).filter_map(of_epoch).filter_map(|v| Some(v.1? & mask(epoch)));
        for fingerprint in contents.collect::<BTreeSet<_>>() {
            let posting = found.remove(&(number, fingerprint));
            assert_eq!(posting, Some(in_force == Some(fingerprint)), "{} {epoch}", page.url);
        }
    }
    // Left by merges: what was in force once, and was seen in an older segment.
    for ((page, fingerprint), in_force) in found {
        let earlier = pages[page as usize].earlier;
        assert!(earlier && !in_force, "{fingerprint:016x} on page {page} of epoch {epoch}");
    }
    (list_count, tag_count, longest)
}
