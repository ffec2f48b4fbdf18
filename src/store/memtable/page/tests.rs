//! A page at any operation, against the fold of what came.

use proptest::prelude::*;

use super::super::{Effect, Inner};
use super::*;
use crate::fingerprint::Bands;
use crate::page::{Content, Epoch, Role, Seen, Visit};
use crate::segment::RecordRef;

fn epochs() -> [EpochInfo; 1] {
    let (epoch, name) = (Epoch(0), "one".to_owned());
    [EpochInfo { epoch, name, begun: 0, role: Role::Both, bands: Bands::READY_MADE, ended: false }]
}

proptest! {
    /// With any number of checkpoints, at every sequence, forgotten now and then.
    #[test]
    fn a_head_is_the_fold_of_what_came(
        older in prop::option::of(0i64..50),
        came in prop::collection::vec((0i64..1000, 0u64..12, 0u8..50), 1..200),
    ) {
        let visit = |time, fingerprint: u64| {
            let known = (fingerprint != 10).then_some(fingerprint * 0x1111_1111_1111_1111);
            let content = Content { fingerprint: known, digest: None, epoch: Epoch(0) };
            let seen = if fingerprint == 11 { Seen::Gone } else { Seen::Content(content) };
            Entry::Visit(Visit { time, seen, status: None, modified: None })
        };
        let mut head = None;
        older.into_iter().for_each(|time| Head::absorb_into(&mut head, visit(Time(time), 3)));
        let older = head;
        let mut packed = Vec::new();
        if let Some(head) = &older {
            put_course(&mut packed, head, Some(&Changes::default()));
        }
        let mut all: Vec<Entry> = older.iter().map(|head| Entry::Visit(head.last)).collect();
        let mut in_order = true;
        let (mut inner, url) = (Inner::default(), "http://a.example/");
        let number = inner.add_page(1, url, 7, older.is_some(), &packed).unwrap();
        let mut heads = vec![(0, older.clone())];
        for (sequence, (time, fingerprint, chance)) in (1..).zip(came) {
            let mut head = heads.last().unwrap().1.clone();
            if chance == 0 && head.is_some() {
                inner.reset(sequence, number, Delta::default()).unwrap();
                head = None;
                all.clear();
                in_order = true;
            } else {
                let visit = visit(Time(time), fingerprint);
                let effect = Effect::of(&mut head.clone(), &visit, &[], &[]);
                inner.enter(sequence, number, visit, &effect).unwrap();
                Head::absorb_into(&mut head, visit);
                in_order &= all.iter().all(|other| other.time() < visit.time());
                all.push(visit);
                all.sort_unstable();
            }
            let page = inner.page(number);
            let course = page.course_at(sequence, &epochs());
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
}
