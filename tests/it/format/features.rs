//! The golden store has an instance of whatever the format knows.

use std::collections::BTreeSet;

use super::changes::Changes;
use super::segment;
use super::store;
use super::tables::Shape;
use super::visits::{Entry, Head, Seen, mask};
use super::{check_finds, golden_store};

#[test]
#[expect(clippy::too_many_lines, reason = "a list of features")]
fn the_golden_store_shows_every_feature() {
    let store = store::Store::open(&golden_store());
    let segments = store.segments();
    assert_eq!(segments.iter().map(|s| s.id).collect::<Vec<_>>(), [3, 7, 8]);
    assert_eq!(segments.iter().map(|s| s.tier).collect::<Vec<_>>(), [1, 1, 0]);
    let nonces: BTreeSet<u64> = segments.iter().map(|s| s.nonce).collect();
    assert_eq!(nonces.len(), segments.len());
    let [oldest, middle, newest] = &segments[..] else { panic!("three segments") };
    let of_oldest = oldest.epochs.values().next().unwrap();
    assert!(matches!(of_oldest.shape, Shape::Rotations { bits: 6, lines: 1 }));
    check_finds(of_oldest);
    assert!(oldest.buckets > 1 && oldest.filter_blocks > 1);
    assert!(oldest.section_bytes_max > 2 * 4096 && oldest.pages.len() > 32);
    assert!(oldest.pages.iter().any(|p| p.chunks == 3 && p.carried && !p.earlier));
    let long = oldest.pages.iter().find(|p| p.chunks == 3).unwrap();
    let restated = |i: usize| !long.entries[i].is_visit();
    let mut chunks = (0..long.entries.len()).step_by(64);
    assert!(chunks.all(|start| (start..start + 64).any(|i| i < long.entries.len() && restated(i))));
    // Apart from its visit, which is in the chunk before.
    assert!(restated(64));
    assert!(oldest.tombstones.is_empty() && oldest.pages.iter().all(|p| !p.reset));
    assert_eq!(middle.epochs.len(), 3);
    for segment in [middle, newest] {
        assert_eq!(segment.tombstones.len(), 1);
        assert!(segment.pages.iter().any(|p| p.earlier && p.carried));
        assert!(segment.pages.iter().any(|p| p.reset));
        assert!(segment.lists > 0 && segment.tags > 0);
        assert!(segment.epochs.values().all(|tables| tables.shape == Shape::Column));
    }
    assert!(middle.pages.iter().any(|p| p.reset && !p.entries.is_empty()));
    assert!(newest.pages.iter().any(|p| p.reset && p.entries.is_empty()));

    // A long history was halved, and a short one was compared across segments.
    let compared =
        |s: &segment::Segment| s.pages.iter().filter_map(|p| p.changes.clone()).collect();
    let compared: Vec<Changes> = segments.iter().flat_map(|s| -> Vec<_> { compared(s) }).collect();
    assert!(compared.iter().any(|c| c.unchanged.0 > 0 && c.last.is_none()));
    assert!(compared.iter().any(|c| c.changed() > 1 && c.comparisons() > 64));

    let entries = || segments.iter().flat_map(|s| &s.pages).flat_map(|p| &p.entries);
    let visits = || entries().filter(|entry| entry.is_visit());
    for seen in [Seen::Failed, Seen::NotModified, Seen::Gone, Seen::Content] {
        assert!(visits().any(|v| v.seen == seen));
    }
    assert!(visits().any(|v| v.seen == Seen::NotModified && v.digest.is_some()));
    assert!(visits().any(|v| v.time < 0) && visits().any(|v| v.time % 1000 != 0));
    assert!(visits().any(|v| v.seen == Seen::Content && v.status.is_none()));
    // Modified in a whole second, within one, and in the future.
    let modified = || visits().filter_map(|v| Some((v.time, v.modified?)));
    assert!(modified().any(|(_, m)| m % 1000 == 0) && modified().any(|(_, m)| m % 1000 != 0));
    assert!(modified().any(|(time, m)| m > time));
    // A weight beside a visit, one alone in a record, and one before all visits.
    let weighed = |page: &segment::Page| page.entries.iter().filter(|e| e.weight.is_some()).count();
    let pages = || segments.iter().flat_map(|s| &s.pages);
    assert!(pages().any(|p| weighed(p) > 0 && weighed(p) < p.entries.len()));
    assert!(pages().any(|p| weighed(p) == 1 && p.entries.len() == 1 && p.earlier));
    assert!(pages().any(|p| p.entries.first().is_some_and(|e| e.weight.is_some()) && !p.earlier));
    // And so of classes, 0 and the greatest among them.
    let classed = |page: &segment::Page| page.entries.iter().filter(|e| e.class.is_some()).count();
    assert!(pages().any(|p| classed(p) > 0 && classed(p) < p.entries.len()));
    assert!(pages().any(|p| classed(p) == 1 && p.entries.len() == 1 && p.earlier));
    assert!(pages().any(|p| p.entries.iter().any(|e| e.class == Some(0))));
    assert!(pages().any(|p| p.entries.iter().any(|e| e.class == Some(u32::MAX))));
    // Restated beside their visits, and in a newer component; with a digest, and without one.
    for (digest, beside) in [(true, true), (true, false), (false, true), (false, false)] {
        let restated = segments.iter().flat_map(|s| &s.pages).flat_map(|page| {
            let has = |time| page.entries.iter().any(|e| e.is_visit() && e.time == time);
            let restated = page.entries.iter().filter(|e| !e.is_visit());
            restated.filter(move |e| has(e.time) == beside)
        });
        assert!(restated.into_iter().any(|e| e.digest.is_some() == digest));
    }

    // Without a fingerprint: seen, in force, and restated in and beyond the chunk of its visit.
    let none = |e: &&Entry| e.content().is_some_and(|(_, fingerprint, _)| fingerprint.is_none());
    assert!(visits().any(|v| none(&v)));
    for segment in [oldest, middle] {
        assert!(segment.pages.iter().flat_map(|p| &p.entries).any(|e| none(&e) && !e.is_visit()));
    }

    let epoch = |of: &dyn Fn(&store::Epoch) -> bool| store.epochs.iter().find(|e| of(e)).unwrap();
    let ended = epoch(&|e| e.ended).number;
    assert_eq!(middle.without_tables, BTreeSet::from([ended]));
    let in_force = |page: &segment::Page| page.head.as_ref().map_or_else(Vec::new, Head::in_force);
    assert!(middle.pages.iter().flat_map(in_force).any(|content| content.2 == ended));
    assert!(middle.pages.iter().flat_map(in_force).any(|content| content.1.is_none()));
    // It was seen as 1 and restated as 0, in one epoch.
    let far = middle.pages.iter().find(|p| p.url == "https://far.example/").unwrap();
    assert_eq!(in_force(far), [(None, Some(0), 0)]);
    // As the recipe has them, of ready-made fingerprints, and as they were given.
    let bands: BTreeSet<(u32, u32)> = store.epochs.iter().map(|epoch| epoch.bands).collect();
    assert!(bands.is_superset(&BTreeSet::from([(0, 8), (2, 8), (3, 10)])), "{bands:?}");
    let masked = epoch(&|e| mask(e.number) != u64::MAX).number;
    assert!(middle.epochs.contains_key(&masked) && newest.epochs.contains_key(&masked));
    let of_masked = entries().filter_map(|e| e.content()).filter(|content| content.2 == masked);
    assert!(of_masked.filter(|(_, f, _)| f.unwrap() & !mask(masked) != 0).count() > 1);
    assert!(store.tables().len() == 1);

    let (_, census) = store.components();
    assert!(census.frames > 1 && census.forgotten_urls > 1 && census.forgotten_prefixes > 0);
    assert!(census.visits > 1 && census.restated > 1 && census.known_pages > 0);
    assert!(census.modified > 0 && census.weights > 1 && census.head_weights > 0);
    assert!(census.classes > 1 && census.head_classes > 0);
    assert!(census.changes > 0 && census.late == 0);
    assert!(census.settled > 0 && census.heads > 1 && census.new_pages > census.heads);
}
