//! Tests that read records back, including damaged records.

use super::*;
use crate::fingerprint::Bands;
use crate::page::{
    Content, Digest, ETag, Epoch, Property, PropertyEntry, Restated, Role, Seen, Target, Visit,
    Weight,
};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn head_of(entries: &[Entry]) -> Option<PageHead> {
    PartialHead::of(entries.iter().cloned().map(Some)).unwrap().head()
}

fn epochs() -> Vec<EpochInfo> {
    let info = |n: u32| {
        let (epoch, name) = (Epoch(n), n.to_string());
        EpochInfo { epoch, name, begun: 0, role: Role::Both, bands: Bands::EXTERNAL, ended: false }
    };
    (0..4).map(info).collect()
}

fn changes_of(entries: &[Entry]) -> Changes {
    let mut all = entries.to_vec();
    all.sort_unstable();
    Changes::of(&all, &epochs())
}

fn packed_head_of(entries: &[Entry]) -> Vec<u8> {
    let mut packed = Vec::new();
    if let Some(head) = head_of(entries) {
        put_carried(&mut packed, &head, &[]);
    }
    packed
}

fn entries() -> impl Strategy<Value = Entry> {
    let content = (0u64..5, prop::option::of(0u8..3), 0u32..2).prop_map(|(f, d, e)| {
        let fingerprint = f.wrapping_mul(0x1234_5678_9abc_def1) ^ (f & 1);
        Seen::Content(Content {
            fingerprint: (f < 4).then_some(fingerprint),
            digest: d.map(|d| Digest([d; 16])),
            epoch: Epoch(e),
        })
    });
    let seen = prop_oneof![
        4 => content,
        1 => prop::option::of(0u8..3)
            .prop_map(|d| Seen::NotModified { digest: d.map(|d| Digest([d; 16])) }),
        1 => Just(Seen::Gone),
        1 => Just(Seen::Failed),
    ];
    // Often the date of another visit, or a date in whole seconds; before the visit, and after it.
    let modified = prop_oneof![
        3 => Just(None),
        1 => (-4i64..4).prop_map(|seconds| Some(seconds * 1000)),
        1 => (-600_000i64..600_000).prop_map(Some),
    ];
    let status = prop::option::of(any::<u16>());
    let bytes = prop_oneof![3 => Just(None), 1 => (0u64..9).prop_map(Some), 1 => any::<u64>().prop_map(Some)];
    let time = (-2000i64..2000).prop_map(|time| Time::from_ms_unchecked(time * 250));
    let visit = (time, seen, status, modified, bytes, any::<bool>());
    visit.prop_map(|(time, seen, status, modified, bytes, conditional)| {
        let modified = modified.map(Time::from_ms_unchecked);
        Entry::Visit(Visit { time, seen, status, modified, bytes, conditional })
    })
}

type Picks = Vec<(usize, Option<u64>, u32)>;

fn picks() -> impl Strategy<Value = Picks> {
    prop::collection::vec((any::<usize>(), prop::option::of(0u64..4), 0u32..4), 0..12)
}

/// Restates contents of some of the visits in `of`, and adds properties at any time.
fn beside(of: &[Entry], picks: &Picks) -> Vec<Entry> {
    if !of.iter().any(Entry::is_visit) {
        return Vec::new();
    }
    let contents: Vec<(Time, Content)> = of
        .iter()
        .filter(|entry| !entry.is_restated())
        .filter_map(|entry| Some((entry.time(), entry.content()?)))
        .collect();
    let beside = |&(pick, fingerprint, epoch): &(usize, Option<u64>, u32)| {
        if epoch == 3 {
            let property = match pick % 12 {
                at @ 0..4 => Property::Weight(Weight::from([0.1, 1.0, 2.0, 7e30][at])),
                at @ 4..7 => Property::Class([0, 300, u32::MAX][at - 4]),
                at @ 7..9 => {
                    Property::ETag(ETag::new([&b"\"v\""[..], &[0xff; 128]][at - 7]).unwrap())
                }
                at => {
                    let (shared, rest) = [(0, "http://b/"), (9, ""), (9, "é")][at - 9];
                    Property::Target(Target::from_parts(shared, rest).unwrap())
                }
            };
            let time = (i64::try_from(pick % 4200).unwrap() - 2100) * 250;
            return Some(Entry::Property(PropertyEntry {
                time: Time::from_ms_unchecked(time),
                property,
            }));
        }
        let (time, content) = *contents.get(pick.checked_rem(contents.len())?)?;
        let (digest, epoch) = (content.digest, Epoch(epoch));
        Some(Entry::Restated(Restated {
            time: Time::from_ms_unchecked(time.as_ms()),
            fingerprint,
            digest,
            epoch,
        }))
    };
    picks.iter().filter_map(beside).collect()
}

/// Returns entries that are not among the older entries, with some entries that are not visits.
fn with_others(own: BTreeSet<Entry>, older: &[Entry], picks: &Picks) -> Vec<Entry> {
    let mut all: Vec<Entry> = older.iter().cloned().chain(own.iter().cloned()).collect();
    all.sort_unstable();
    all.extend(beside(&all, picks));
    let all: BTreeSet<Entry> = all.into_iter().filter(|e| !older.contains(e)).collect();
    all.into_iter().collect()
}

proptest! {
    #[test]
    fn record_round_trips(
        older in prop::collection::btree_set(entries(), 0..30),
        own in prop::collection::btree_set(entries(), 0..300),
        (early, late) in (picks(), picks()),
        (reset, known) in any::<(bool, bool)>(),
    ) {
        let older = with_others(older, &[], &early);
        let own = with_others(own, &older, &late);
        prop_assume!(!own.is_empty());
        let all: Vec<Entry> = older.iter().cloned().chain(own.iter().cloned()).collect();
        let before = packed_head_of(&older);
        // A page may be known without a head, because it was forgotten and a segment records this.
        let earlier = known || !older.is_empty();
        let changes = changes_of(&all);
        let record = SegmentRecord { reset, earlier, before: &before, entries: &own, changes };
        let mut bytes = Vec::new();
        record.put(&mut bytes);
        let read = RecordRef::parse(&bytes).unwrap();
        prop_assert_eq!((read.reset(), read.earlier()), (reset, earlier));
        prop_assert_eq!(read.entries(), Some(own.clone()));
        prop_assert_eq!(read.visit_count(), count_visits(&own));
        prop_assert_eq!(read.head(), Some(head_of(&all)));
        prop_assert_eq!(read.changes(&epochs()), Some(changes));
        for entry in &own {
            prop_assert!(read.entries_at(entry.time()).unwrap().contains(entry));
            let until = read.entries_until(entry.time(), |_| false).unwrap();
            let expected: Vec<Entry> =
                own.iter().filter(|e| e.time() <= entry.time()).cloned().collect();
            prop_assert_eq!(until, expected);
        }
        for entry in &older {
            prop_assert!(!read.entries_at(entry.time()).unwrap().contains(entry));
        }
    }

    #[test]
    fn records_are_joined(
        older in prop::collection::btree_set(entries(), 0..30),
        own in prop::collection::btree_set(entries(), 0..150),
        newer in prop::collection::btree_set(entries(), 1..80),
        (early, late, last) in (picks(), picks(), picks()),
    ) {
        let older = with_others(older, &[], &early);
        let mut own = with_others(own, &older, &late);
        prop_assume!(!own.is_empty());
        let known: Vec<Entry> = older.iter().chain(&own).cloned().collect();
        let newer = with_others(newer, &known, &last);
        let mut first = Vec::new();
        let before = packed_head_of(&older);
        let changes = changes_of(&known);
        SegmentRecord { reset: false, earlier: true, before: &before, entries: &own, changes }.put(&mut first);

        let mut before = Vec::new();
        RecordRef::parse(&first).unwrap().append_before(&mut before).unwrap();
        own.extend(newer);
        own.sort_unstable();
        let mut joined = Vec::new();
        let all: Vec<Entry> = older.into_iter().chain(own.iter().cloned()).collect();
        let changes = changes_of(&all);
        SegmentRecord { reset: false, earlier: true, before: &before, entries: &own, changes }.put(&mut joined);
        prop_assert_eq!(RecordRef::parse(&joined).unwrap().changes(&epochs()), Some(changes));
        prop_assert_eq!(RecordRef::parse(&joined).unwrap().head(), Some(head_of(&all)));
    }

    #[test]
    fn carried_head_round_trips(
        all in prop::collection::btree_set(entries(), 1..60),
        picks in picks(),
    ) {
        let all = with_others(all, &[], &picks);
        let bytes = packed_head_of(&all);
        let mut cursor = Cursor::new(&bytes);
        prop_assert_eq!(take_head(&mut cursor), head_of(&all));
        prop_assert!(cursor.is_empty());
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Some(record) = RecordRef::parse(&bytes) {
            let _ = (record.head(), record.entries(), record.append_before(&mut Vec::new()));
            let _ = (record.entries_until(Time::from_ms_unchecked(0), |_| false), record.changes(&epochs()));
        }
    }
}

#[test]
fn unchanged_visit_takes_few_bytes() {
    let (digest, status) = (Some(Digest([1; 16])), Some(200));
    let content = Content { fingerprint: Some(7), digest, epoch: Epoch(0) };
    let visit = |time| {
        Entry::Visit(Visit {
            time,
            seen: Seen::Content(content),
            status,
            modified: None,
            bytes: None,
            conditional: false,
        })
    };
    let (mut one, mut two) = (Vec::new(), Vec::new());
    put_entries(&mut one, &[visit(Time::from_ms_unchecked(0))]);
    put_entries(
        &mut two,
        &[visit(Time::from_ms_unchecked(0)), visit(Time::from_ms_unchecked(86_400_000))],
    );
    assert!(two.len() - one.len() <= 5);
    // A restated content takes its fingerprint and three bytes.
    let again = Restated {
        time: Time::from_ms_unchecked(0),
        fingerprint: Some(!7),
        digest,
        epoch: Epoch(1),
    };
    let mut with = Vec::new();
    put_entries(&mut with, &[visit(Time::from_ms_unchecked(0)), Entry::Restated(again)]);
    assert_eq!(with.len() - one.len(), 11);
}
