//! Makes the golden store.
//!
//! Its expected contents are kept separately, as plain sets of visits, so the expectation does not
//! depend on the store. Making it again gives the same bytes.

use simkeep_testing::ms;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use simkeep::df::FrequencyTable;
use simkeep::disk::SimDisk;
use simkeep::fingerprint::Bands;
use simkeep::publish::{PublishOptions, publish};
use simkeep::{
    Digest, ETag, Epoch, EpochOptions, Observation, Operation, OperationResult, Options, Origin,
    Prefix, Progress, Property, PropertyEntry, PropertyOutcome, PropertyUpdate, RestateOutcome,
    Restated, Restatement, Role, Scope, Store, Target, Weight,
};

use super::golden::{self, GoldenStore};
use super::visits::{DecodedEntry, DecodedSeen, count, drop_superseded, visits};
use super::{answered_epoch, df, surt};

/// Reproducible pseudorandom numbers: SplitMix64.
fn random(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

fn digest(seed: u64) -> [u8; 16] {
    (u128::from(random(seed)) << 64 | u128::from(random(seed ^ u64::MAX))).to_be_bytes()
}

/// Midnight of 1 January 2026, in milliseconds.
const START: i64 = 1_767_225_600_000;
const DAY: i64 = 86_400_000;

fn visit(time: i64, seen: DecodedSeen, status: impl Into<Option<u16>>) -> DecodedEntry {
    DecodedEntry { seen, status: status.into(), ..DecodedEntry::failed(time) }
}

fn content(time: i64, fingerprint: impl Into<Option<u64>>, epoch: u32) -> DecodedEntry {
    let fingerprint = fingerprint.into();
    DecodedEntry { fingerprint, epoch: Some(epoch), ..visit(time, DecodedSeen::Content, 200) }
}

fn with_digest(visit: DecodedEntry, seed: u64) -> DecodedEntry {
    DecodedEntry { digest: Some(digest(seed)), ..visit }
}

fn with_weight(time: i64, weight: f32) -> DecodedEntry {
    DecodedEntry::with_weight(time, weight.to_bits())
}

fn modified(visit: DecodedEntry, time: i64) -> DecodedEntry {
    DecodedEntry { modified: Some(time), ..visit }
}

fn with_bytes(visit: DecodedEntry, bytes: u64) -> DecodedEntry {
    DecodedEntry { bytes: Some(bytes), ..visit }
}

fn conditional(visit: DecodedEntry) -> DecodedEntry {
    DecodedEntry { conditional: true, ..visit }
}

/// The fingerprint of a visit in another epoch, or that it has none there.
fn restated(of: DecodedEntry, fingerprint: impl Into<Option<u64>>, epoch: u32) -> DecodedEntry {
    let (restated, fingerprint) = (Some(count(epoch)), fingerprint.into());
    let DecodedEntry { time, digest, seen, .. } = of;
    let epoch = Some(epoch);
    DecodedEntry { seen, digest, restated, fingerprint, epoch, ..DecodedEntry::failed(time) }
}

/// A URL, its entry, and the second fingerprint of a visit with its epoch.
type GoldenEntry<'a> = (&'a str, DecodedEntry, Option<(u64, u32)>);

/// A store and its expected content.
struct GoldenMaker {
    store: Store,
    pages: BTreeMap<String, BTreeSet<DecodedEntry>>,
}

impl GoldenMaker {
    /// Observes one batch, which becomes one frame of the journal.
    fn observe(&mut self, batch: &[(&str, DecodedEntry)]) {
        let batch: Vec<_> = batch.iter().map(|(url, entry)| (*url, entry.clone(), None)).collect();
        self.observe_in_two(&batch);
    }

    /// Observes visits with a fingerprint in a second epoch.
    fn observe_in_two(&mut self, batch: &[GoldenEntry<'_>]) {
        let requests: Vec<_> = batch.iter().map(request).collect();
        let answers = self.store.write_batch(&requests).unwrap();
        for ((url, entry, also), answer) in batch.iter().zip(answers) {
            let stored = [
                OperationResult::Restated(RestateOutcome::Stored),
                OperationResult::PropertySet(PropertyOutcome::Stored),
            ];
            assert_eq!(stored.contains(&answer), !entry.is_visit());
            let also = also.map(|(fingerprint, epoch)| restated(entry.clone(), fingerprint, epoch));
            let entries = self.pages.entry((*url).to_owned()).or_default();
            entries.extend([entry.clone()].into_iter().chain(also));
            drop_superseded(entries);
        }
    }

    fn forget(&mut self, url: &str) {
        let forgotten = self.store.forget(Scope::Url(url)).unwrap();
        assert_eq!(forgotten.visits, visits(&self.pages.remove(url).unwrap()));
    }

    /// `prefix` as text, and the key of its range.
    fn forget_prefix(&mut self, prefix: &str, key: &[u8]) {
        let before = self.pages.len();
        self.pages.retain(|url, _| !surt::covers(key, &surt::key(url)));
        let prefix = Prefix::parse(prefix).unwrap();
        let forgotten = self.store.forget(Scope::Prefix(prefix)).unwrap();
        assert_eq!(forgotten.pages, (before - self.pages.len()) as u64);
        assert!(forgotten.pages > 0);
    }
}

fn request<'a>((url, entry, also): &GoldenEntry<'a>) -> Operation<'a> {
    if let Some(property) = property(url, entry) {
        let given = PropertyEntry { time: ms(entry.time), property };
        return Operation::SetProperty(PropertyUpdate::of(url, given));
    }
    let fingerprint = entry.fingerprint;
    let observation = match (entry.seen, entry.epoch) {
        (DecodedSeen::Content, Some(epoch)) if entry.is_visit() => {
            Observation::content(url, ms(entry.time), fingerprint, Epoch::from_number(epoch))
        }
        (DecodedSeen::Content, Some(epoch)) => {
            let (time, digest) = (entry.time, entry.digest.map(Digest));
            let restated =
                Restated { time: ms(time), fingerprint, digest, epoch: Epoch::from_number(epoch) };
            return Operation::Restate(Restatement::of(url, restated));
        }
        (DecodedSeen::NotModified, _) => Observation::not_modified(url, ms(entry.time)),
        (DecodedSeen::Gone, _) => Observation::gone(url, ms(entry.time)),
        _ => Observation::failed(url, ms(entry.time)),
    };
    let observation = match entry.digest {
        Some(digest) => observation.digest(Digest(digest)),
        None => observation,
    };
    let observation = match entry.status {
        Some(status) => observation.status(status),
        None => observation,
    };
    let mut observation = match entry.modified {
        Some(time) => observation.modified(ms(time)),
        None => observation,
    };
    (observation.visit.bytes, observation.visit.conditional) = (entry.bytes, entry.conditional);
    Operation::Observe(match also {
        Some((fingerprint, epoch)) => observation.also(*fingerprint, Epoch::from_number(*epoch)),
        None => observation,
    })
}

/// The property that an entry sets.
fn property(url: &str, entry: &DecodedEntry) -> Option<Property> {
    let weight = |bits| Property::Weight(Weight::from(f64::from(f32::from_bits(bits))));
    let etag = |etag: &Vec<u8>| Property::ETag(ETag::new(etag).unwrap());
    let target = |(shared, rest): &(usize, String)| {
        let target = [&url[..*shared], rest].concat();
        Property::Target(Target::new(url, &target).unwrap())
    };
    let property = entry.weight.map(weight).or(entry.class.map(Property::Class));
    property.or(entry.etag.as_ref().map(etag)).or(entry.target.as_ref().map(target))
}

/// Pages with URLs of every form.
const ODD: &[&str] = &[
    "http://127.0.0.1:8080/status",
    "https://[2001:db8::1]/",
    "https://bücher.example/straße?q=ä#ö",
    "https://user@example.com/private",
    "http://example.com",
    "http://example.com/",
    "https://example.com:8443/docs/intro",
    "https://example.com/docs#top",
    "https://example.com/docs/?page=2",
    "https://example.com/docs-old",
    "file:///home/reader/notes.txt",
    "urn:isbn:0451450523",
    "no scheme at all",
];

/// The contents of each page; the last one has no fingerprint.
fn of_odd(i: u64) -> DecodedEntry {
    let last = ODD.len() as u64 - 1;
    if i == last { with_digest(content(START, None, 0), 21) } else { content(START, random(i), 0) }
}

/// Creates the golden store up to the beginning of its journal.
fn make_sealed(disk: &SimDisk) -> GoldenMaker {
    let options = Options::default().background(false).merge_fanout(3).epoch("golden-1".to_owned());
    let store = Store::create(Arc::new(disk.clone()), options).unwrap();
    let mut maker = GoldenMaker { store, pages: BTreeMap::new() };
    oldest_segment(&mut maker);
    middle_segment(&mut maker);
    newest_segment(&mut maker);
    maker
}

/// The number of operations and the contents of the golden segments.
pub(crate) fn sealed() -> (u64, BTreeMap<String, BTreeSet<DecodedEntry>>) {
    let GoldenMaker { store, pages } = make_sealed(&SimDisk::new());
    (store.snapshot().sequence(), pages)
}

/// Makes the golden store, and returns its expected contents.
fn make(disk: &SimDisk) -> GoldenStore {
    let mut maker = make_sealed(disk);
    journal(&mut maker);

    let GoldenMaker { store, pages } = maker;
    let mut pages: Vec<(String, Vec<DecodedEntry>)> =
        pages.into_iter().map(|(url, entries)| (url, entries.into_iter().collect())).collect();
    pages.sort_by_cached_key(|(url, _)| (surt::key(url), url.clone()));
    let sequence = store.snapshot().sequence();
    let epochs = store.snapshot().epochs().iter().map(answered_epoch).collect();
    let mut expected = GoldenStore { sequence, epochs, pages, near: Vec::new() };
    store.close().unwrap();
    for (fingerprint, k, epoch, every_version) in [
        (MIRRORED, 0, 0, false),
        (MIRRORED ^ 1 << 40, 3, 0, false),
        (random(100), 0, 0, true),
        (random(100) ^ 0b111, 3, 0, true),
        (random(7), 18, 0, true),
        (SHARED, 0, 1, false),
        (SHARED ^ 1 << 63, 3, 1, false),
        (SHARED, 7, 1, true),
        (!SHARED, 20, 1, true),
        (RESERVING, 0, RESERVED, false),
        (RESERVING ^ 1 << 63 ^ 1 << 55, 3, RESERVED, false),
        (!RESERVING, 40, RESERVED, true),
        (random(72), 1, WEIGHED, false),
    ] {
        expected.near.push(expected.near(fingerprint, k, epoch, every_version));
    }
    expected
}

/// The fingerprint of a page on five sites, in the first epoch.
const MIRRORED: u64 = 0x00ff_00ff_1234_5678;
/// The fingerprint that two pages share under the second epoch.
const SHARED: u64 = 0xfedc_ba98_7654_3210;

/// An epoch that ends, an epoch that reserves eight bits of its fingerprints, and an epoch with a
/// table.
const ENDED: u32 = 2;
const RESERVED: u32 = 8 << 24 | 3;
const WEIGHED: u32 = 4;
/// A fingerprint of the epoch with reserved bits, with metadata in them.
const RESERVING: u64 = MIRRORED | 0xa5 << 56;

/// Sixty-four pages on eight sites, with ten versions each, from version `from` on. Two calls give
/// 1,280 fingerprints, enough for rotations.
fn many_versions(maker: &mut GoldenMaker, from: u64) {
    let url = |page: u64| format!("https://site{}.example/page/{}", page / 8, page % 8);
    for version in from..from + 10 {
        let urls: Vec<String> = (0..64).map(url).collect();
        let visits = urls.iter().zip(0..64).map(|(url, page)| {
            let time = START + version.cast_signed() * DAY;
            (url.as_str(), content(time, random(100 + version * 64 + page), 0))
        });
        let batch: Vec<_> = visits.collect();
        maker.observe(&batch);
    }
}

/// A long history: mostly the same content, and now and then something else. Its server says when the
/// content was modified; if it was not, the server uses the time of the response.
fn long_history(from: i64, to: i64, epoch: u32) -> Vec<(&'static str, DecodedEntry)> {
    (from..to).map(|i| (LONG, of_long_history(i, epoch))).collect()
}

const LONG: &str = "https://long.example/history";

fn of_long_history(i: i64, epoch: u32) -> DecodedEntry {
    let time = START + i * DAY / 4 + i % 3;
    match i % 10 {
        3 => conditional(modified(visit(time, DecodedSeen::NotModified, 304), time + 1)),
        5 => visit(time, DecodedSeen::Failed, None),
        7 => with_digest(visit(time, DecodedSeen::NotModified, 304), 1),
        9 if i % 20 == 9 => visit(time, DecodedSeen::Gone, 410),
        _ => {
            let version = u32::try_from(i / 4).unwrap();
            let since = START + i64::from(version) * DAY - 5_000;
            let content = modified(content(time, SHARED.rotate_left(version), epoch), since);
            with_bytes(content, 10_000 + 700 * u64::from(version % 3))
        }
    }
}

/// Weights and classes of pages that have visits.
fn weights_and_classes(maker: &mut GoldenMaker, home: &str, far: &str) {
    // Before its first visit, at a visit, and between two; the greatest value.
    maker.observe(&[
        (home, with_weight(START - DAY, 0.5)),
        (home, with_weight(START + 7 * DAY, 2.0)),
        (LONG, with_weight(START + 40 * DAY, 0.1)),
        (far, with_weight(simkeep_testing::TIME_MAX, f32::MAX)),
        (home, DecodedEntry::with_class(START - DAY, 1)),
        (home, DecodedEntry::with_class(START + 7 * DAY, 300)),
        (LONG, DecodedEntry::with_class(START + 40 * DAY, 0)),
        (far, DecodedEntry::with_class(simkeep_testing::TIME_MAX, u32::MAX)),
    ]);
}

/// Two seals merged into one segment: rotations, chunks, lists, and every kind of visit.
fn oldest_segment(maker: &mut GoldenMaker) {
    many_versions(maker, 0);
    for (i, site) in ["a", "b", "c", "d", "e"].into_iter().enumerate() {
        let url = format!("https://mirror-{site}.example/licence");
        let time = START + i as i64 * 1_234_567;
        maker.observe(&[(&url, with_digest(content(time, MIRRORED, 0), 2))]);
        if site == "b" {
            maker.observe(&[
                (&url, DecodedEntry::with_etag(time, b"W/\"67ab43\"")),
                (&url, DecodedEntry::with_target(time, 15, "a.example/licence")),
            ]);
        }
    }
    let odd: Vec<_> = ODD.iter().zip(0..).map(|(url, i)| (*url, of_odd(i))).collect();
    maker.observe(&odd);
    // The minimum time, the maximum time, no status, and an unusual status. The greatest number of
    // bytes, and the least.
    let far = "https://far.example/";
    let unusual = DecodedEntry { status: Some(u16::MAX), ..content(-1, u64::MAX, 0) };
    maker.observe(&[
        (far, DecodedEntry { status: None, ..content(simkeep_testing::TIME_MIN, 0, 0) }),
        (far, with_bytes(unusual, u64::MAX)),
        (far, with_bytes(content(simkeep_testing::TIME_MAX, 1, 0), 0)),
    ]);
    let home = "https://example.com/";
    let (one, other) = (random(1), random(1) ^ 0b1011 << 30);
    maker.observe(&[
        (home, with_bytes(with_digest(content(START, one, 0), 10), 14_300)),
        (home, conditional(visit(START + DAY, DecodedSeen::NotModified, 304))),
        (
            home,
            conditional(with_bytes(with_digest(content(START + 2 * DAY, other, 0), 11), 14_250)),
        ),
        // The same fingerprint with another digest, and another fingerprint without one.
        (home, with_digest(content(START + 3 * DAY, other, 0), 12)),
        (home, content(START + 4 * DAY + 1, random(2), 0)),
        (home, visit(START + 5 * DAY, DecodedSeen::Failed, 503)),
        (home, visit(START + 6 * DAY, DecodedSeen::Gone, 404)),
        (home, with_digest(content(START + 7 * DAY, one, 0), 10)),
        // Another content at the same time.
        (home, with_digest(content(START + 7 * DAY, one ^ 1, 0), 13)),
    ]);
    for page in ["a", "b", "c"] {
        let old = format!("http://old.example/{page}");
        let cart = format!("https://shop.example/cart/{page}");
        let wares = format!("https://shop.example/cart-wares/{page}");
        for (url, i) in [(old, 20), (cart, 21), (wares, 22)] {
            maker.observe(&[(&url, content(START, random(i), 0))]);
        }
    }
    for page in ["forgotten", "gone", "late"] {
        let url = format!("http://example.org/{page}");
        maker.observe(&[(&url, content(START, random(30), 0)), (&url, content(START + DAY, 9, 0))]);
    }
    maker.observe(&long_history(0, 90, 0));
    weights_and_classes(maker, home, far);
    properties_of_content(maker);
    maker.store.seal().unwrap();
    let epoch = maker.store.register_epoch("golden-2", Role::Both).unwrap().number();
    many_versions(maker, 10);
    maker.observe(&long_history(90, 150, 0));
    // A restatement in every chunk. The second is in another chunk than its visit.
    for i in [40i64, 60, 98, 148] {
        let fingerprint = (i != 98).then(|| random(1_000 + i.cast_unsigned()));
        maker.observe(&[(LONG, restated(of_long_history(i, 0), fingerprint, epoch))]);
    }
    // A late visit between sealed visits.
    maker.observe(&[(home, with_digest(content(START + DAY + 1, other, 0), 11))]);
    maker.store.seal().unwrap();
    assert_eq!(maker.store.merge(&Progress::default()).unwrap().inputs, 2);
}

/// Entity tags and targets of every form.
fn properties_of_content(maker: &mut GoldenMaker) {
    let [home, far, down] =
        ["https://example.com/", "https://far.example/", "https://down.example/"];
    maker.observe(&[
        // Before the first visit, and with the last content. The next segment ends both.
        (home, DecodedEntry::with_target(START - DAY, 20, "index")),
        (home, DecodedEntry::with_etag(START + 7 * DAY, b"\"v7\"")),
        (home, DecodedEntry::with_target(START + 7 * DAY, 20, "index")),
        // The last one is the greatest, not the one that comes last.
        (far, DecodedEntry::with_etag(simkeep_testing::TIME_MAX, &[0xff; 128])),
        (far, DecodedEntry::with_target(simkeep_testing::TIME_MAX, 19, ".org/")),
        (far, DecodedEntry::with_target(simkeep_testing::TIME_MAX, 4, "://far.example/")),
        // All of the target, and a part of the URL.
        (ODD[12], DecodedEntry::with_target(START, 0, "http://example.com/")),
        (ODD[8], DecodedEntry::with_target(START, 25, "")),
        // Twice the same target.
        (LONG, DecodedEntry::with_target(START + 10 * DAY, 12, "er.example/")),
        (LONG, DecodedEntry::with_target(START + 11 * DAY, 12, "er.example/")),
        // A page without content.
        (down, visit(START, DecodedSeen::Failed, 503)),
        (down, DecodedEntry::with_etag(START - DAY, b"\"down\"")),
    ]);
}

/// Three seals merged into one segment that is not the oldest: heads are carried, and forgotten
/// pages are hidden.
fn middle_segment(maker: &mut GoldenMaker) {
    let epoch = maker.store.register_epoch("golden-2", Role::Both).unwrap().number();
    let ended = maker.store.register_epoch("golden-3", Role::Both).unwrap().number();
    assert_eq!((epoch, ended), (1, ENDED));
    let home = "https://example.com/";
    maker.forget("http://example.org/forgotten");
    maker.forget_prefix("old.example", b"example\x02old\x01");
    maker.observe(&[(home, with_digest(content(START + 30 * DAY, SHARED, epoch), 14))]);
    maker.observe(&long_history(150, 160, epoch));
    let [stays, goes_on] = ["https://ended.example/stays", "https://ended.example/goes-on"];
    let seen = with_digest(content(START + 30 * DAY, random(61), ended), 20);
    maker
        .observe(&[(stays, content(START + 30 * DAY, random(60), ended)), (goes_on, seen.clone())]);
    maker.store.seal().unwrap();

    maker.observe(&[
        ("http://old.example/b", content(START + 31 * DAY, SHARED, epoch)),
        ("http://example.org/late", visit(START - DAY, DecodedSeen::Failed, None)),
        (home, visit(START + 31 * DAY, DecodedSeen::Gone, 410)),
        ("https://site0.example/page/0", visit(START + 31 * DAY, DecodedSeen::Failed, 500)),
    ]);
    // The visits of these restatements are in the oldest segment, with a digest and without one.
    let (one, other, far) = (random(2), random(1) ^ 0b1011 << 30, "https://far.example/");
    maker.observe(&[
        (home, restated(with_digest(content(START + 2 * DAY, other, 0), 11), random(51), epoch)),
        (home, restated(content(START + 4 * DAY + 1, one, 0), None, epoch)),
        (far, restated(content(simkeep_testing::TIME_MIN, 0, 0), random(53), epoch)),
        // A restatement in the epoch of the visit.
        (far, restated(content(simkeep_testing::TIME_MAX, 1, 0), 0, 0)),
        // Without a visit.
        ("https://site1.example/page/0", with_weight(START + 31 * DAY, 3.0)),
        ("https://site2.example/page/0", DecodedEntry::with_class(START + 31 * DAY, 7)),
        ("https://site3.example/page/0", DecodedEntry::with_etag(START + 31 * DAY, b"\"3\"")),
        ("https://site4.example/page/0", DecodedEntry::with_target(START + 31 * DAY, 27, "1")),
        // Of a page that is gone.
        ("https://site5.example/page/0", DecodedEntry::with_etag(START + 31 * DAY, b"\"5\"")),
        ("https://site5.example/page/0", visit(START + 32 * DAY, DecodedSeen::Gone, 404)),
        // Its head carries an entity tag and a target.
        (
            "https://mirror-b.example/licence",
            conditional(visit(START + 31 * DAY, DecodedSeen::NotModified, 304)),
        ),
    ]);
    let reserved =
        maker.store.register_epoch("words2-sqrt-reserved8/2", Role::Both).unwrap().number();
    assert_eq!(reserved, RESERVED);
    maker.observe(&[(goes_on, restated(seen, RESERVING ^ 0b11 << 62 ^ 0b11, reserved))]);
    maker.store.seal().unwrap();

    maker.observe(&[
        ("http://example.org/forgotten", content(START + 32 * DAY, random(41), epoch)),
        // The next visit has no date, so its head carries this one.
        (home, modified(with_digest(content(START + 32 * DAY, SHARED ^ 0b11, epoch), 15), START)),
        (home, with_digest(content(START + 33 * DAY, SHARED, epoch), 14)),
        ("https://[2001:db8::1]/", content(START + 32 * DAY, random(42), epoch)),
    ]);
    // A page that is forgotten and observed again within one segment.
    maker.forget("https://[2001:db8::1]/");
    let short = with_digest(content(START + 34 * DAY, None, epoch), 22);
    maker.observe(&[("https://[2001:db8::1]/", short)]);
    maker.store.seal().unwrap();
    // The merge omits its tables.
    maker.store.end_epoch(Epoch::from_number(ended), u64::MAX).unwrap();
    maker.store.wait_idle().unwrap();
    assert_eq!(maker.store.stats().unwrap().segments.len(), 2);
}

/// One small seal, which `format/segment.md` explains byte by byte.
fn newest_segment(maker: &mut GoldenMaker) {
    let (new, later) = ("https://example.com/new", START + 60 * DAY + 1_500);
    maker.forget("http://example.org/gone");
    maker.forget_prefix("shop.example/cart", b"example\x02shop\x01\x01\x04cart");
    maker.observe(&[
        (
            "http://old.example/b",
            conditional(modified(
                visit(START + 60 * DAY, DecodedSeen::NotModified, 304),
                START + 31 * DAY - 5_000,
            )),
        ),
        (new, with_bytes(with_digest(content(START + 60 * DAY, SHARED ^ 6, 1), 16), 14_300)),
        (new, conditional(with_bytes(with_digest(content(later, SHARED, 1), 18), 14_293))),
        (new, with_weight(START + 60 * DAY, 0.3)),
        (new, DecodedEntry::with_class(START + 60 * DAY, 300)),
        (new, DecodedEntry::with_etag(later, b"\"67ab43\"")),
        (new, DecodedEntry::with_target(later, 23, "s")),
    ]);
    let two = with_digest(content(START + 61 * DAY, RESERVING, RESERVED), 19);
    maker.observe_in_two(&[("https://example.com/two", two, Some((SHARED ^ 0x20, 1)))]);
    maker.store.seal().unwrap();
}

/// Unsealed data; `format/catalog.md` explains the first two frames byte by byte.
fn journal(maker: &mut GoldenMaker) {
    maker.observe(&[
        ("http://old.example/b", visit(START + 90 * DAY, DecodedSeen::Failed, None)),
        ("https://example.net/", content(START + 90 * DAY, SHARED ^ 1, 1)),
        ("https://example.net/", visit(START + 91 * DAY, DecodedSeen::NotModified, 304)),
    ]);
    let origin = Origin::new("words1-sqrt-idf/2".parse().unwrap()).extractor("golden/1").unwrap();
    let origin = origin.table(FrequencyTable::open(df::path()).unwrap()).unwrap();
    assert_eq!(maker.store.begin_epoch(&origin, Role::Change).unwrap().number(), WEIGHED);
    let options = EpochOptions::from(Role::Near).bands(Bands { minor: 0, moderate: 8 });
    maker.store.register_epoch("golden-near", options).unwrap();
    let seen = content(START + 93 * DAY, random(72), WEIGHED);
    let old = content(START + 31 * DAY, SHARED, 1);
    maker.observe_in_two(&[
        ("https://example.net/", seen, Some((RESERVING ^ 0b111, RESERVED))),
        ("http://old.example/b", restated(old, random(73), WEIGHED), None),
    ]);
    maker.observe(&[("https://example.com/", visit(START + 90 * DAY, DecodedSeen::Failed, None))]);
    maker.forget("https://ended.example/goes-on");
    maker.forget("http://example.org/late");
    maker.forget("http://example.com");
    maker.forget_prefix("site7.example", b"example\x02site7\x01");
    maker.observe(&[
        ("http://example.com", content(START + 92 * DAY, random(50), 1)),
        ("https://site7.example/page/1", with_digest(content(START + 92 * DAY, 3, 1), 17)),
        // Its last visit failed, so its head carries the previous one as well.
        ("https://site0.example/page/0", visit(START + 92 * DAY, DecodedSeen::NotModified, 304)),
        ("https://far.example/", restated(content(simkeep_testing::TIME_MAX, 1, 0), None, WEIGHED)),
        // Late properties of a page with a weight and a class, and the first ones of a page without.
        ("https://example.com/", with_weight(START, 1.0)),
        ("https://example.net/", with_weight(START + 90 * DAY, 1.5)),
        ("https://example.com/", DecodedEntry::with_class(START, 2)),
        ("https://example.net/", DecodedEntry::with_class(START + 90 * DAY, 2)),
        // Its head carries an entity tag and a target.
        (
            "https://example.com/new",
            conditional(visit(START + 92 * DAY, DecodedSeen::NotModified, 304)),
        ),
        ("https://example.net/", DecodedEntry::with_etag(START + 93 * DAY, b"\"\x80\"")),
        ("https://example.net/", DecodedEntry::with_target(START + 93 * DAY, 20, "home")),
    ]);
}

/// The time of the list, so that making it again gives the same bytes.
fn set_written(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[16..24].copy_from_slice(&(START + 100 * DAY).to_le_bytes());
    let end = bytes.len() - 4;
    let sum = crc32fast::hash(&bytes[..end]);
    bytes[end..].copy_from_slice(&sum.to_le_bytes());
    std::fs::write(path, bytes).unwrap();
}

/// Rewrites the golden files in `format/golden`.
pub(crate) fn files() {
    let (store, lines) = (golden::directory().join("v6"), golden::directory().join("v6.jsonl"));
    if store.exists() {
        std::fs::remove_dir_all(&store).unwrap();
    }
    let disk = SimDisk::new();
    let expected = make(&disk);
    std::fs::create_dir_all(store.join("segments")).unwrap();
    disk.read_each(|name, bytes| std::fs::write(store.join(name.to_string()), bytes).unwrap());
    let mut database = redb::Database::open(store.join("catalog.redb")).unwrap();
    database.compact().unwrap();
    drop(database);
    set_written(&store.join("SNAPSHOT"));
    std::fs::write(lines, expected.write()).unwrap();
    let generation = golden::published().join("generations/0000000001");
    let to = tempfile::tempdir().unwrap();
    publish(&store, to.path(), PublishOptions::default()).unwrap();
    std::fs::create_dir_all(generation.parent().unwrap()).unwrap();
    std::fs::copy(to.path().join("generations/0000000001"), &generation).unwrap();
    set_written(&generation);
}
