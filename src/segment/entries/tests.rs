//! Tests that pack entries and read them back.

use super::*;
use crate::time::Time;

#[test]
#[should_panic(expected = "entries are packed in order")]
fn unordered_entries_are_not_packed() {
    let gone = |time| Entry::Visit(Visit::new(time, Seen::Gone));
    put_entries(&mut Vec::new(), &[gone(Time(2)), gone(Time(1))]);
}

#[test]
fn content_without_a_fingerprint_stores_its_epoch() {
    let saw = |time, fingerprint| {
        let content = Content { fingerprint, digest: Some(Digest([1; 16])), epoch: Epoch(2) };
        Entry::Visit(Visit::new(time, Seen::Content(content)))
    };
    // Without a value, with a value, in the opposite order, and as in the previous entry.
    let entries = [
        saw(Time(0), None),
        saw(Time(1), Some(7)),
        saw(Time(2), None),
        saw(Time(3), None),
        saw(Time(4), Some(6)),
    ];
    let mut bytes = Vec::new();
    put_entries(&mut bytes, &entries);
    let read: Option<Vec<Entry>> = PackedEntries::new(Cursor::new(&bytes), 5).collect();
    assert_eq!(read.as_deref(), Some(&entries[..]));
    let (mut with, mut without) = (Vec::new(), Vec::new());
    put_entries(&mut with, &[saw(Time(0), Some(7))]);
    put_entries(&mut without, &[saw(Time(0), None)]);
    assert_eq!(with.len() - without.len(), 8);
}

#[test]
fn repeated_date_takes_a_byte_and_near_dates_few() {
    let visit = |time, modified| {
        let seen = Seen::NotModified { digest: None };
        Entry::Visit(Visit { time, seen, status: None, modified, bytes: None, conditional: false })
    };
    let day = 86_400_000;
    let cases = [
        // For the second item: seconds, so that a visit within a second has a short date, too.
        (Some(0), 1),
        (Some(day + 999), 3),
        (Some(day + 1_000), 2),
        (Some(day + 60_000), 2),
        (Some(-29 * day), 5),
        (Some(Time::MIN.0), 7),
        (Some(Time::MAX.0), 8),
        (None, 0),
    ];
    for (modified, bytes) in cases {
        let entries = [
            visit(Time(0), Some(Time(0))),
            visit(Time(day + 1_234), modified.map(Time)),
            visit(Time(day + 1_235), Some(Time(0))),
        ];
        let (mut with, mut without) = (Vec::new(), Vec::new());
        put_entries(&mut with, &entries[..2]);
        put_entries(&mut without, &[entries[0].clone(), visit(Time(day + 1_234), None)]);
        assert_eq!(with.len() - without.len(), bytes, "{modified:?}");
        with.clear();
        put_entries(&mut with, &entries);
        let read: Option<Vec<Entry>> = PackedEntries::new(Cursor::new(&with), 3).collect();
        assert_eq!(read.as_deref(), Some(&entries[..]));
    }
}

#[test]
fn properties_do_not_carry_status_or_content() {
    let content = Content { fingerprint: Some(7), digest: None, epoch: Epoch(0) };
    let visit = |time| {
        let seen = Seen::Content(content);
        Entry::Visit(Visit {
            time,
            seen,
            status: Some(200),
            modified: Some(Time(-500)),
            bytes: None,
            conditional: false,
        })
    };
    let given = |time, property| Entry::Property(PropertyEntry { time, property });
    let weighed = |time, weight: f64| given(time, Property::Weight(Weight::from(weight)));
    let classed = |time, class| given(time, Property::Class(class));
    let entries = [
        weighed(Time(-5), 1e-45),
        visit(Time(0)),
        weighed(Time(0), 0.3),
        visit(Time(1)),
        classed(Time(7), 300),
    ];
    let mut bytes = Vec::new();
    put_entries(&mut bytes, &entries);
    let read = |bytes: &[u8]| PackedEntries::new(Cursor::new(bytes), 5).collect::<Option<Vec<_>>>();
    assert_eq!(read(&bytes).as_deref(), Some(&entries[..]));
    // A tag, a time and the number; and a number that is neither a weight nor a class.
    assert_eq!(bytes[..6], [GIVEN, 9, 1, 0, 0, 0]);
    bytes[2] = 0;
    assert_eq!(read(&bytes), None);
    bytes[2] = 1;
    bytes[0] |= SAME_CONTENT;
    assert_eq!(read(&bytes), None);
    bytes[0] = GIVEN;
    assert_eq!(bytes[bytes.len() - 4..], [GIVEN | CLASS, 6, 0xac, 2]);
    bytes.truncate(bytes.len() - 2);
    let mut with = |class| {
        let start = bytes.len();
        put_varint(&mut bytes, class);
        let last = read(&bytes).and_then(|entries| entries[4].class());
        bytes.truncate(start);
        last
    };
    assert_eq!([with(u32::MAX.into()), with(1 << 32)], [Some(u32::MAX), None]);
}

#[test]
fn impossible_date_is_refused() {
    let read = |bytes: &[u8]| PackedEntries::new(Cursor::new(bytes), 1).collect::<Option<Vec<_>>>();
    // A tag of a date, a visit that failed at 0, without a status, and the date.
    let date = |tag| [tag, FAILED | SAME_STATUS, 0, 0];
    assert!(read(&date(DATED)).is_some() && read(&date(DATED | SECONDS)).is_some());
    assert_eq!(read(&date(DATED | SAME_DATE)), None);
    assert_eq!(read(&date(DATED | MOVED_BITS)), None);
    assert_eq!(read(&[DATED, DATED, FAILED | SAME_STATUS, 0, 0, 0]), None);
    assert_eq!(read(&[DATED, CONTENT | RESTATED, 0, 0, 0]), None);
    let mut far = date(DATED | SECONDS)[..3].to_vec();
    put_signed(&mut far, i64::MIN);
    assert_eq!(read(&far), None);
}

#[test]
fn restatement_without_a_fingerprint_carries_no_status() {
    let (one, two) = (Some(Digest([1; 16])), Some(Digest([2; 16])));
    let content = Content { fingerprint: None, digest: one, epoch: Epoch(0) };
    let visit = Visit {
        time: Time(0),
        seen: Seen::Content(content),
        status: Some(200),
        modified: None,
        bytes: None,
        conditional: false,
    };
    let restated = |time, fingerprint, digest| {
        Entry::Restated(Restated { time, fingerprint, digest, epoch: Epoch(1) })
    };
    let later = Visit { time: Time(5), ..visit };
    // With the previous digest, with another digest, with none; after a fingerprint, and before it.
    let entries = [
        Entry::Visit(visit),
        restated(Time(0), None, one),
        restated(Time(1), None, two),
        restated(Time(2), Some(7), two),
        restated(Time(3), None, None),
        restated(Time(4), None, one),
        Entry::Visit(later),
    ];
    let mut bytes = Vec::new();
    put_entries(&mut bytes, &entries);
    let read = |bytes: &[u8]| PackedEntries::new(Cursor::new(bytes), 7).collect::<Option<Vec<_>>>();
    assert_eq!(read(&bytes).as_deref(), Some(&entries[..]));
    // Tag, time, status, epoch and digest; then a tag with flipped bits of an absent fingerprint.
    let tag = bytes.get_mut(21).unwrap();
    assert_eq!(*tag, CONTENT | RESTATED | SAME_DIGEST | SECONDS);
    *tag |= MOVED_BITS;
    assert_eq!(read(&bytes), None);
}
