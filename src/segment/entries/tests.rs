//! Tests that pack entries and read them back.

use super::*;
use crate::time::Time;

#[test]
#[should_panic(expected = "entries are packed in order")]
fn unordered_entries_are_not_packed() {
    let gone = |time| Entry::Visit(Visit::new(time, Seen::Gone));
    put_entries(
        &mut Vec::new(),
        &[gone(Time::from_ms_unchecked(2)), gone(Time::from_ms_unchecked(1))],
    );
}

#[test]
fn content_without_a_fingerprint_stores_its_epoch() {
    let saw = |time, fingerprint| {
        let content = Content { fingerprint, digest: Some(Digest([1; 16])), epoch: Epoch(2) };
        Entry::Visit(Visit::new(time, Seen::Content(content)))
    };
    // Without a value, with a value, in the opposite order, and as in the previous entry.
    let entries = [
        saw(Time::from_ms_unchecked(0), None),
        saw(Time::from_ms_unchecked(1), Some(7)),
        saw(Time::from_ms_unchecked(2), None),
        saw(Time::from_ms_unchecked(3), None),
        saw(Time::from_ms_unchecked(4), Some(6)),
    ];
    let mut bytes = Vec::new();
    put_entries(&mut bytes, &entries);
    let read: Option<Vec<Entry>> = PackedEntries::new(Cursor::new(&bytes), 5).collect();
    assert_eq!(read.as_deref(), Some(&entries[..]));
    let (mut with, mut without) = (Vec::new(), Vec::new());
    put_entries(&mut with, &[saw(Time::from_ms_unchecked(0), Some(7))]);
    put_entries(&mut without, &[saw(Time::from_ms_unchecked(0), None)]);
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
        (Some(Time::MIN.as_ms()), 7),
        (Some(Time::MAX.as_ms()), 8),
        (None, 0),
    ];
    for (modified, bytes) in cases {
        let entries = [
            visit(Time::from_ms_unchecked(0), Some(Time::from_ms_unchecked(0))),
            visit(Time::from_ms_unchecked(day + 1_234), modified.map(Time::from_ms_unchecked)),
            visit(Time::from_ms_unchecked(day + 1_235), Some(Time::from_ms_unchecked(0))),
        ];
        let (mut with, mut without) = (Vec::new(), Vec::new());
        put_entries(&mut with, &entries[..2]);
        put_entries(
            &mut without,
            &[entries[0].clone(), visit(Time::from_ms_unchecked(day + 1_234), None)],
        );
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
            modified: Some(Time::from_ms_unchecked(-500)),
            bytes: None,
            conditional: false,
        })
    };
    let given = |time, property| Entry::Property(PropertyEntry { time, property });
    let weighed = |time, weight: f64| given(time, Property::Weight(Weight::from(weight)));
    let classed = |time, class| given(time, Property::Class(class));
    let entries = [
        weighed(Time::from_ms_unchecked(-5), 1e-45),
        visit(Time::from_ms_unchecked(0)),
        weighed(Time::from_ms_unchecked(0), 0.3),
        visit(Time::from_ms_unchecked(1)),
        classed(Time::from_ms_unchecked(7), 300),
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
        time: Time::from_ms_unchecked(0),
        seen: Seen::Content(content),
        status: Some(200),
        modified: None,
        bytes: None,
        conditional: false,
    };
    let restated = |time, fingerprint, digest| {
        Entry::Restated(Restated { time, fingerprint, digest, epoch: Epoch(1) })
    };
    let later = Visit { time: Time::from_ms_unchecked(5), ..visit };
    // With the previous digest, with another digest, with none; after a fingerprint, and before it.
    let entries = [
        Entry::Visit(visit),
        restated(Time::from_ms_unchecked(0), None, one),
        restated(Time::from_ms_unchecked(1), None, two),
        restated(Time::from_ms_unchecked(2), Some(7), two),
        restated(Time::from_ms_unchecked(3), None, None),
        restated(Time::from_ms_unchecked(4), None, one),
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
