//! Compares a page at any operation with the fold of all earlier operations.

use proptest::prelude::*;

use super::*;
use crate::engine::memtable::{Effect, MemtableContents};
use crate::fingerprint::Bands;
use crate::page::{
    Content, Digest, Epoch, Property, PropertyEntry, Restated, Role, Seen, Visit, Weight,
};
use crate::segment::{RecordRef, put_history};

fn epochs() -> [EpochInfo; 1] {
    let (epoch, name) = (Epoch(0), "one".to_owned());
    [EpochInfo { epoch, name, begun: 0, role: Role::Both, bands: Bands::EXTERNAL, ended: false }]
}

proptest! {
    /// Uses any number of checkpoints, every sequence number, and pages that are forgotten now and
    /// then.
    #[test]
    fn head_folds_all_operations(
        older in prop::option::of(0i64..50),
        came in prop::collection::vec((0i64..1000, 0u64..12, 0u8..50), 1..200),
    ) {
        let visit = |time, fingerprint: u64| {
            let known = (fingerprint != 10).then_some(fingerprint * 0x1111_1111_1111_1111);
            let content = Content { fingerprint: known, digest: None, epoch: Epoch(0) };
            let seen = if fingerprint == 11 { Seen::Gone } else { Seen::Content(content) };
            Entry::Visit(Visit::new(time, seen))
        };
        let mut head = None;
        older.into_iter().for_each(|time| PageHead::absorb_into(&mut head, &visit(Time::from_ms_unchecked(time), 3)));
        let older = head;
        let mut packed = Vec::new();
        if let Some(head) = &older {
            put_history(&mut packed, head, Some(&Changes::default()));
        }
        let mut all: Vec<Entry> = older.iter().map(|head| Entry::Visit(head.last)).collect();
        let mut in_order = true;
        let (mut inner, url) = (MemtableContents::default(), "http://a.example/");
        let number = inner.add_page(1, url, 7, older.is_some(), &packed).unwrap();
        let mut heads = vec![(0, older.clone())];
        for (sequence, (time, fingerprint, chance)) in (1..).zip(came) {
            let mut head = heads.last().unwrap().1.clone();
            if chance == 0 && head.is_some() {
                inner.forget_page(sequence, number, Delta::default()).unwrap();
                head = None;
                all.clear();
                in_order = true;
            } else {
                let visit = visit(Time::from_ms_unchecked(time), fingerprint);
                let effect = Effect::of(&mut head.clone(), &visit, &[], &[]);
                inner.apply_entry(sequence, number, visit.clone(), &effect, &epochs()).unwrap();
                PageHead::absorb_into(&mut head, &visit);
                in_order &= all.iter().all(|other| other.time() < visit.time());
                all.push(visit);
                all.sort_unstable();
            }
            let page = inner.page(number);
            let course = page.history_at(sequence, &epochs());
            prop_assert_eq!(&course.head, &head);
            let changes = Changes::of(&all, &epochs());
            prop_assert!(course.changes.is_none_or(|found| found == changes));
            prop_assert!(course.changes.is_some() || !in_order);
            let (mut entries, mut record) = (Vec::new(), Vec::new());
            page.take_entries(&mut entries);
            page.record(&entries, changes).put(&mut record);
            let record = RecordRef::parse(&record).unwrap();
            prop_assert_eq!(record.head(), Some(head.clone()));
            prop_assert_eq!(record.changes(&epochs()), Some(changes));
            heads.push((sequence, head));
        }
        let page = inner.page(number);
        for (sequence, head) in heads {
            prop_assert_eq!(page.head_at(sequence), head);
        }
        prop_assert_eq!(page.head(), page.head_at(u64::MAX));
    }

    /// Includes long runs of one visit, with restatements and properties between visits.
    #[test]
    fn change_history_follows_from_operations_with_any_checkpoints(
        came in prop::collection::vec((0u8..12, 0u64..4, 0u8..40), 1..300),
        is_late in 0u8..3,
    ) {
        let (mut inner, url) = (MemtableContents::default(), "http://a.example/");
        let number = inner.add_page(1, url, 7, false, &[]).unwrap();
        let (mut all, mut time) = (Vec::new(), 0);
        let (mut courses, mut sequence) = (Vec::new(), 0);
        for (what, print, step) in came {
            // Most entries have the time of the previous entry.
            time += i64::from(step.saturating_sub(35));
            let late = if is_late == 0 && step == 0 { 3 } else { 0 };
            let (time, digest) = (time - late, (print > 1).then_some(Digest([9; 16])));
            let (fingerprint, epoch) = (Some(print << 8), Epoch(0));
            let content = Content { fingerprint, digest, epoch };
            let visit = |seen| Entry::Visit(Visit::new(Time::from_ms_unchecked(time), seen));
            let entry = match what {
                0 if step == 39 => {
                    sequence += 1;
                    inner.forget_page(sequence, number, Delta::default()).unwrap();
                    all.clear();
                    courses.push((sequence, PageHistory::default(), None));
                    continue;
                }
                0 | 1 => visit(Seen::Failed),
                2 | 3 => Entry::Property(PropertyEntry { time: Time::from_ms_unchecked(time), property: Property::Weight(Weight::ONE) }),
                4..8 => {
                    // Most restatements belong to the last visit with content.
                    let seen = |entry: &&Entry| entry.is_visit() && entry.content().is_some();
                    let skipped = usize::from(is_late == 0 && step == 1);
                    let of = all.iter().rev().filter(seen).nth(skipped);
                    let Some(of) = of.map(|of: &Entry| (of.time(), of.digest())) else { continue };
                    let (time, digest) = of;
                    Entry::Restated(Restated { time, fingerprint, digest, epoch })
                }
                _ => visit(Seen::Content(content)),
            };
            sequence += 1;
            let effect = Effect::of(&mut inner.page(number).head(), &entry, &[], &[]);
            inner.apply_entry(sequence, number, entry.clone(), &effect, &epochs()).unwrap();
            all.push(entry);
            let mut course = PageHistory::default();
            course.follow(&all, &epochs());
            let is_it = |entry: &&Entry| entry.content() == Some(content);
            let first = all.iter().filter(is_it).map(Entry::time).min();
            courses.push((sequence, course, Some((content, first))));
        }
        let page = inner.page(number);
        for (sequence, course, seen) in courses {
            let found = page.history_at(sequence, &epochs());
            prop_assert_eq!((&found.head, &found.changes), (&course.head, &course.changes));
            prop_assert_eq!(page.head_at(sequence), course.head);
            if let Some((content, first)) = seen {
                prop_assert_eq!(page.first_seen(sequence, |other| *other == content), first);
            }
        }
    }
}
