//! A reader of whole stores, written from `format/README.md`, `format/catalog.md`, `format/lock.md`
//! and `format/snapshot.md`: redb and the URL hash are taken from their crates, everything else is
//! here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use redb::{ReadOnlyDatabase, ReadableDatabase, ReadableTable, TableDefinition};

use super::bytes::{Bytes, crc32};
use super::changes::Changes;
use super::segment::{self, Segment};
use super::surt;
use super::visits::{Carried, Entry, Head, Seen, count, entries, versions};

/// Every row of the catalog, and the files.
pub(crate) struct Store {
    pub(crate) path: PathBuf,
    pub(crate) settings: BTreeMap<String, u64>,
    /// By count.
    pub(crate) epochs: Vec<Epoch>,
    pub(crate) epoch_rows: Vec<Vec<u8>>,
    /// By number.
    pub(crate) segment_rows: BTreeMap<u64, Vec<u8>>,
    /// Frames by their first sequence number.
    pub(crate) journals: [BTreeMap<u64, Vec<u8>>; 2],
}

/// What the store says of an epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Epoch {
    pub(crate) number: u32,
    pub(crate) name: String,
    /// How many visits there were when it began.
    pub(crate) begun: u64,
    pub(crate) role: &'static str,
    /// The largest distances that are minor and moderate.
    pub(crate) bands: (u32, u32),
    pub(crate) ended: bool,
}

impl Epoch {
    /// What is said of the epoch of a count.
    fn read(bytes: &[u8], count: usize) -> Epoch {
        let mut bytes = Bytes(bytes);
        let (number, flags, begun) = (bytes.u32(), bytes.u32(), bytes.u64());
        let bands = (bytes.u32(), bytes.u32());
        assert!(bands.0 <= bands.1 && bands.1 <= 64, "bands {bands:?}");
        let name = String::from_utf8(bytes.0.to_vec()).unwrap();
        assert_eq!((self::count(number) as usize, flags & !7), (count, 0));
        assert!((1..=256).contains(&name.len()) && !name.contains(char::is_control));
        assert_eq!(number >> 24, reserved(&name), "reserved bits of {name}");
        let role = match flags >> 1 {
            0 => "both",
            1 => "change",
            2 => "near",
            _ => panic!("flags {flags:x}"),
        };
        Epoch { number, name, begun, role, bands, ended: flags & 1 == 1 }
    }

    /// What the table of document frequencies is known by that its fingerprints are made with.
    pub(crate) fn table(&self) -> Option<u64> {
        let (_, digits) = self.name.rsplit_once(" df:")?;
        Some(u64::from_str_radix(digits, 16).unwrap())
    }
}

/// How many bits the recipe in an epoch's name reserves.
fn reserved(name: &str) -> u32 {
    let mut words = name.split(' ').filter(|word| !word.starts_with("df:"));
    let recipe = words.next_back().and_then(|recipe| recipe.rsplit_once('/'));
    let recipe =
        recipe.filter(|(_, version)| ["1", "2"].contains(version)).map_or("", |named| named.0);
    let bits = recipe.split('-').find_map(|part| part.strip_prefix("reserved"));
    bits.map_or(0, |bits| bits.parse().unwrap())
}

/// What a component, a segment or a journal, says of a page.
pub(crate) struct Record {
    pub(crate) reset: bool,
    pub(crate) earlier: bool,
    pub(crate) head: Option<Head>,
    /// How the page changes, if that stands in a segment's record.
    pub(crate) changes: Option<Changes>,
    pub(crate) entries: BTreeSet<Entry>,
}

/// A segment or a journal.
pub(crate) struct Component {
    pub(crate) pages: BTreeMap<String, Record>,
    /// Sequence numbers and the keys that prefixes begin with.
    pub(crate) tombstones: Vec<(u64, Vec<u8>)>,
    /// Pages, visits, pages in force, pages that are gone.
    pub(crate) deltas: [i64; 4],
    pub(crate) last_sequence: u64,
}

/// What stands between magic, version and length, and the checksum.
fn told<'b>(bytes: &'b [u8], magic: &[u8; 8], version: u32) -> Bytes<'b> {
    let (body, sum) = bytes.split_at(bytes.len() - 4);
    assert_eq!(sum, crc32(&[body]).to_le_bytes());
    let mut body = Bytes(body);
    assert_eq!((body.take(8), body.u32()), (&magic[..], version));
    assert_eq!(body.u32() as usize, body.0.len());
    body
}

/// What `SNAPSHOT` or a generation says of segments and epochs.
pub(crate) struct Told {
    pub(crate) store: u64,
    pub(crate) changes: u64,
    pub(crate) seed: u64,
    pub(crate) rows: Vec<Vec<u8>>,
    pub(crate) epochs: Vec<Epoch>,
}

/// What operations there were in a journal, by kind.
#[derive(Debug, Default)]
pub(crate) struct Census {
    pub(crate) frames: usize,
    pub(crate) visits: usize,
    pub(crate) restated: usize,
    pub(crate) known_pages: usize,
    pub(crate) new_pages: usize,
    pub(crate) heads: usize,
    /// Of them, those that say how the page changes, and those that cannot.
    pub(crate) changes: usize,
    pub(crate) late: usize,
    /// Heads that carry a settled visit beside the last one.
    pub(crate) settled: usize,
    /// Heads that carry when the page was modified, its weight, and its class.
    pub(crate) modified: usize,
    pub(crate) head_weights: usize,
    pub(crate) head_classes: usize,
    pub(crate) weights: usize,
    pub(crate) classes: usize,
    pub(crate) forgotten_urls: usize,
    pub(crate) forgotten_prefixes: usize,
}

impl Store {
    pub(crate) fn open(path: &Path) -> Store {
        let database = ReadOnlyDatabase::open(path.join("catalog.redb")).unwrap();
        let rows = database.begin_read().unwrap();
        let settings = TableDefinition::<&str, u64>::new("settings");
        let segments = TableDefinition::<u64, &[u8]>::new("segments");
        let epochs = TableDefinition::<u32, &[u8]>::new("epochs");
        let settings = rows.open_table(settings).unwrap();
        let settings = settings.iter().unwrap().map(Result::unwrap);
        let settings = settings.map(|(k, v)| (k.value().to_owned(), v.value())).collect();
        let segments = rows.open_table(segments).unwrap();
        let segments = segments.iter().unwrap().map(Result::unwrap);
        let segment_rows = segments.map(|(k, v)| (k.value(), v.value().to_vec())).collect();
        let epochs = rows.open_table(epochs).unwrap();
        let epoch_rows = epochs.iter().unwrap().map(Result::unwrap).zip(0..).map(|((k, v), i)| {
            assert_eq!(k.value(), i);
            v.value().to_vec()
        });
        let epoch_rows: Vec<Vec<u8>> = epoch_rows.collect();
        let epochs = epoch_rows.iter().enumerate().map(|(count, row)| {
            let (body, sum) = row.split_at(row.len() - 4);
            assert_eq!(sum, crc32(&[body]).to_le_bytes());
            Epoch::read(body, count)
        });
        let epochs: Vec<Epoch> = epochs.collect();
        let names: BTreeSet<&str> = epochs.iter().map(|epoch| epoch.name.as_str()).collect();
        assert_eq!(names.len(), epochs.len(), "epochs of the same name");
        let journals = ["journal_a", "journal_b"].map(|name| {
            let table = TableDefinition::<(u64, u32), &[u8]>::new(name);
            let mut frames: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
            // A table that was dropped with its segment, or never written, is not there.
            let Ok(table) = rows.open_table(table) else { return frames };
            let mut next = (0, 0);
            for row in table.iter().unwrap() {
                let (key, part) = row.unwrap();
                let (first, number) = key.value();
                assert!(number == 0 || (first, number) == next, "a part is missing");
                next = (first, number + 1);
                assert!(part.value().len() <= 65_280);
                frames.entry(first).or_default().extend_from_slice(part.value());
            }
            frames
        });
        let path = path.to_owned();
        Store { path, settings, epochs, epoch_rows, segment_rows, journals }
    }

    pub(crate) fn hash(&self, bytes: &[u8]) -> u64 {
        xxhash_rust::xxh3::xxh3_64_with_seed(bytes, self.settings["url_seed"])
    }

    /// The live segments, oldest first.
    pub(crate) fn segments(&self) -> Vec<Segment> {
        let mut segments = Vec::new();
        for (&id, row) in &self.segment_rows {
            let file = std::fs::read(self.path.join(format!("segments/{id:010}.seg"))).unwrap();
            let segment = segment::read(&file, id, |bytes| self.hash(bytes));
            let mut row = Bytes(row);
            let body = &row.0[..36];
            assert_eq!(row.u64(), id);
            assert_eq!((row.u64(), row.u64()), (segment.first_sequence, segment.last_sequence));
            assert_eq!(row.u64(), file.len() as u64);
            assert_eq!(row.take(4), &file[file.len() - 4..], "the checksum of the trailer");
            assert_eq!(segment.store, self.settings["store_id"]);
            assert_eq!(row.u32(), crc32(&[body]));
            row.end();
            for number in segment.epochs.keys() {
                assert!(self.epochs.iter().any(|epoch| epoch.number == *number));
            }
            for number in &segment.without_tables {
                assert!(self.epochs.iter().any(|epoch| epoch.number == *number && epoch.ended));
            }
            segments.push(segment);
        }
        segments.sort_by_key(|s| s.first_sequence);
        segments
    }

    /// The sequence number and the number of changes in the lock file.
    pub(crate) fn mark(&self) -> (u64, u64) {
        let bytes = std::fs::read(self.path.join("LOCK")).unwrap();
        let mut mark = Bytes(&bytes);
        assert_eq!(mark.take(8), b"simkmark");
        let noted = (mark.u64(), mark.u64());
        assert_eq!(mark.u32(), crc32(&[&bytes[..24]]));
        mark.end();
        noted
    }

    /// What a reader in another process is told of.
    pub(crate) fn snapshot(&self) -> Told {
        let bytes = std::fs::read(self.path.join("SNAPSHOT")).unwrap();
        let mut body = told(&bytes, b"simksnap", 5);
        let told = self.list(&mut body);
        body.end();
        told
    }

    /// What a generation says: the same, its number, and its tables with their bytes.
    pub(crate) fn generation(&self, bytes: &[u8]) -> (Told, u64, Vec<(u32, u64)>) {
        let mut body = told(bytes, b"simkgen\0", 1);
        let told = self.list(&mut body);
        let (number, tables) = (body.u64(), body.u32());
        let tables = (0..tables).map(|_| (body.u32(), body.u64())).collect();
        body.end();
        (told, number, tables)
    }

    fn list(&self, body: &mut Bytes<'_>) -> Told {
        let _written = body.u64();
        let (store, changes, seed) = (body.u64(), body.u64(), body.u64());
        assert_eq!(body.u64(), self.settings["url_hash_bits"]);
        let (segments, epochs) = (body.u32(), body.u32());
        let rows = (0..segments).map(|_| body.take(36).to_vec()).collect();
        let epochs = (0..epochs as usize).map(|count| {
            let len = body.u32() as usize;
            Epoch::read(body.take(len), count)
        });
        let epochs = epochs.collect();
        Told { store, changes, seed, rows, epochs }
    }

    /// The tables of document frequencies, by the counts of their epochs.
    pub(crate) fn tables(&self) -> BTreeMap<usize, Vec<u8>> {
        let names = std::fs::read_dir(&self.path).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let tables = names.filter_map(|name| {
            let count: usize = name.strip_suffix(".df")?.parse().unwrap();
            assert_eq!(name, format!("{count:010}.df"));
            Some((count, std::fs::read(self.path.join(name)).unwrap()))
        });
        tables.collect()
    }

    /// All components, oldest first, and what the journals held.
    pub(crate) fn components(&self) -> (Vec<Component>, Census) {
        let mut components: Vec<Component> = Vec::new();
        for segment in self.segments() {
            let before = components.last().map_or(0, |c| c.last_sequence);
            assert!(before < segment.first_sequence);
            let pages = segment.pages.into_iter().map(|page| {
                let entries = page.entries.into_iter().collect();
                let segment::Page { url, reset, earlier, head, changes, .. } = page;
                (url, Record { reset, earlier, head, changes, entries })
            });
            components.push(Component {
                pages: pages.collect(),
                tombstones: segment.tombstones,
                deltas: segment.deltas,
                last_sequence: segment.last_sequence,
            });
        }
        let mut census = Census::default();
        let mut journals: Vec<_> = self.journals.iter().filter(|j| !j.is_empty()).collect();
        journals.sort_by_key(|j| *j.keys().next().unwrap());
        for journal in journals {
            let last = components.last().map_or(0, |c| c.last_sequence);
            components.push(replay(journal, last, &mut census));
        }
        (components, census)
    }
}

/// A journal from its frames. `last` is the sequence number before it.
fn replay(frames: &BTreeMap<u64, Vec<u8>>, mut last: u64, census: &mut Census) -> Component {
    let mut out = Component {
        pages: BTreeMap::new(),
        tombstones: Vec::new(),
        deltas: [0; 4],
        last_sequence: 0,
    };
    let mut urls: Vec<String> = Vec::new();
    for (&first, frame) in frames {
        census.frames += 1;
        let mut bytes = Bytes(frame);
        assert_eq!(bytes.u64(), first);
        assert_eq!(first, last + 1, "a gap in the journal");
        let (count, len, sum) = (bytes.u32(), bytes.u32(), bytes.u32());
        assert_eq!(bytes.0.len(), len as usize);
        assert_eq!(sum, crc32(&[&frame[..16], bytes.0]));
        for _ in 0..count {
            last += 1;
            operation(&mut bytes, last, &mut urls, &mut out, census);
        }
        bytes.end();
    }
    out.last_sequence = last;
    out
}

#[expect(clippy::too_many_lines, reason = "fields in the order of the format")]
fn operation(
    bytes: &mut Bytes<'_>,
    sequence: u64,
    urls: &mut Vec<String>,
    out: &mut Component,
    census: &mut Census,
) {
    let tag = bytes.u8();
    assert!(tag < 32);
    let has = |bit: u8| tag >> bit & 1 == 1;
    if tag & 3 == 2 {
        assert_eq!(tag, 2);
        census.forgotten_prefixes += 1;
        let len = bytes.len();
        let prefix = bytes.take(len).to_vec();
        let known = [0; 4].map(|_: i64| bytes.varint().cast_signed());
        for (url, record) in &mut out.pages {
            if surt::covers(&prefix, &surt::key(url)) {
                forget(record);
            }
        }
        out.tombstones.push((sequence, prefix));
        for (delta, known) in out.deltas.iter_mut().zip(known) {
            *delta -= known;
        }
        return;
    }
    let url = if has(2) {
        census.new_pages += 1;
        let len = bytes.len();
        let url = String::from_utf8(bytes.take(len).to_vec()).unwrap();
        let head = has(4).then(|| {
            match bytes.u8() {
                0 => census.late += 1,
                1 => {}
                len => {
                    Changes::read(bytes.take(usize::from(len) - 1));
                    census.changes += 1;
                }
            }
            Carried::read(bytes)
        });
        census.heads += usize::from(head.is_some());
        census.settled += usize::from(head.as_ref().is_some_and(Carried::has_settled));
        census.modified += usize::from(head.as_ref().is_some_and(Carried::has_modified));
        census.head_weights += usize::from(head.as_ref().is_some_and(Carried::has_weighed));
        census.head_classes += usize::from(head.as_ref().is_some_and(Carried::has_classed));
        let head = head.map(|head| head.join(&[]));
        let (earlier, entries) = (has(3), BTreeSet::new());
        let record = Record { reset: false, earlier, head, changes: None, entries };
        assert!(out.pages.insert(url.clone(), record).is_none(), "{url} is new twice");
        urls.push(url.clone());
        url
    } else {
        assert!(!has(3) && !has(4));
        census.known_pages += 1;
        urls[bytes.len()].clone()
    };
    let record = out.pages.get_mut(&url).unwrap();
    if tag & 3 == 0 {
        let entry = entries(bytes, 1)[0];
        assert!(record.entries.insert(entry), "the same entry twice");
        if entry.is_visit() {
            census.visits += 1;
            out.deltas[1] += 1;
        } else {
            census.restated += usize::from(entry.restated.is_some());
            census.weights += usize::from(entry.weight.is_some());
            census.classes += usize::from(entry.class.is_some());
            assert!(record.head.is_some(), "what nobody saw is restated, weighed or classed");
        }
        tally(&mut out.deltas, record.head.as_ref(), -1);
        let with = record.head.take().map_or(Head::of(&[entry]), |head| Some(absorb(head, entry)));
        record.head = with;
        tally(&mut out.deltas, record.head.as_ref(), 1);
    } else {
        assert_eq!(tag & 3, 1);
        census.forgotten_urls += 1;
        forget(record);
        out.deltas[0] -= 1;
        out.deltas[1] -= bytes.varint().cast_signed();
        match bytes.u8() {
            0 => {}
            1 => out.deltas[2] -= 1,
            2 => out.deltas[3] -= 1,
            other => panic!("{other} is no state of a page"),
        }
    }
}

/// Counts a page with this head so many times.
pub(super) fn tally(deltas: &mut [i64; 4], head: Option<&Head>, times: i64) {
    let [pages, _, in_force, gone] = deltas;
    let Some(head) = head else { return };
    *pages += times;
    if head.is_gone() {
        *gone += times;
    } else if !head.versions.is_empty() {
        *in_force += times;
    }
}

fn forget(record: &mut Record) {
    record.reset = record.reset || record.earlier;
    record.earlier = false;
    record.head = None;
    record.entries.clear();
}

/// A head with one entry more.
fn absorb(mut head: Head, entry: Entry) -> Head {
    if let Some(one) = Head::of(&[entry]) {
        head.visits += 1;
        head.first = head.first.min(one.first);
        head.last = head.last.max(one.last);
        head.settled = head.settled.max(one.settled);
        head.modified = head.modified.max(one.modified);
    }
    head.weighed = head.weighed.max(entry.weight.map(|weight| (entry.time, weight)));
    head.classed = head.classed.max(entry.class.map(|class| (entry.time, class)));
    head.versions = versions(head.versions.into_iter().chain(entry.known()));
    head
}

/// The entries of a page as of the end of the last of these components.
pub(crate) fn history(components: &[Component], url: &str) -> Vec<Entry> {
    let key = surt::key(url);
    let mut entries = BTreeSet::new();
    for component in components.iter().rev() {
        if let Some(record) = component.pages.get(url) {
            for entry in &record.entries {
                assert!(entries.insert(*entry), "an entry in two components");
            }
            if !record.earlier {
                break;
            }
        }
        if component.tombstones.iter().any(|(_, prefix)| surt::covers(prefix, &key)) {
            break;
        }
    }
    let of = |entry: &Entry| (entry.time, entry.digest);
    let saw = |e: &Entry| e.is_visit() && e.seen == Seen::Content;
    for restated in entries.iter().filter(|entry| entry.restated.is_some()) {
        assert!(entries.iter().any(|e| saw(e) && of(e) == of(restated)), "nothing is restated");
    }
    assert!(
        entries.is_empty() || entries.iter().any(Entry::is_visit),
        "no page is weighed or classed"
    );
    entries.into_iter().collect()
}
