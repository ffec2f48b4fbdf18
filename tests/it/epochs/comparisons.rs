//! What is compared: only unreserved bits, and only within one epoch.

use std::collections::BTreeSet;

use simkeep::disk::SimDisk;
use simkeep::load::LoadOptions;
use simkeep::{
    Distance, Epoch, HistoryEntry, Observation, Progress, Query, RestateOutcome, Restatement, Role,
    SameBy, Verdict,
};
use simkeep_testing::{choice, digest, ms, small, sound};

use super::{URL, create};

/// Metadata in the leading bits is stored in the history and ignored in every comparison.
#[test]
fn reserved_bits_are_stored_but_not_compared() {
    let disk = SimDisk::new();
    let store = create(&disk);
    let epoch = store.register_epoch("words2-sqrt-reserved8/2", Role::Both).unwrap();
    let mut choice = choice(7);
    let mut all = Vec::new();
    for page in 0..200 {
        let (low, metadata) = (1 << choice(6) | 1 << choice(6), choice(256));
        let fingerprint = low | metadata << 56;
        let url = format!("{URL}{page}");
        let seen = Observation::content(&url, ms(1), fingerprint, epoch);
        let outcome = store.observe(seen).unwrap();
        let within = |other: &&(String, u64)| ((other.1 ^ low) << 8).count_ones() <= 3;
        assert_eq!(outcome.near.len(), all.iter().filter(within).count());
        all.push((url, fingerprint));
    }
    sound(&store).unwrap();
    store.merge(&Progress::default()).unwrap();
    sound(&store).unwrap();
    for (_, fingerprint) in &all {
        for k in [0, 1, 3, 8] {
            let query = Query::new(*fingerprint, k).epoch(epoch).limit(1000);
            let matches = store.snapshot().search(&query).unwrap();
            // An answer within a batch is the same, whatever the reserved bits are.
            let many =
                query.run_batch(&store.snapshot(), &[*fingerprint, fingerprint ^ 7 << 60]).unwrap();
            assert_eq!(many, [matches.clone(), matches.clone()]);
            let found: BTreeSet<_> = matches.near.into_iter().map(|near| near.url).collect();
            let near = |other: &&(String, u64)| ((other.1 ^ fingerprint) << 8).count_ones() <= k;
            let expected = all.iter().filter(near).map(|(url, _)| url.clone()).collect();
            assert_eq!(found, expected);
        }
    }
    let (url, fingerprint) = &all[0];
    let other = fingerprint ^ 0x4200_0000_0000_0000;
    let verdict = |time, fingerprint| {
        store.observe(Observation::content(url, ms(time), fingerprint, epoch)).unwrap().verdict
    };
    assert_eq!(verdict(2, other), Verdict::Same(SameBy::Fingerprint));
    let distance = Some(Distance { bits: 1, epoch });
    assert_eq!(verdict(3, other ^ 1 << 40), Verdict::Changed { distance });
    let kept = store.history(url).unwrap();
    let kept: Vec<u64> = kept.iter().filter_map(|e| e.entry().content()?.fingerprint).collect();
    assert_eq!(kept, [*fingerprint, other, other ^ 1 << 40]);
}

#[test]
fn distance_is_measured_in_an_epoch_that_both_versions_have() {
    let store = create(&SimDisk::new());
    let (old, new) = (Epoch::from_number(0), store.register_epoch("two", Role::Both).unwrap());
    let observe = |observation: Observation<'_>| store.observe(observation).unwrap().verdict;
    let far = |bits, epoch| Some(Distance { bits, epoch });
    assert_eq!(observe(Observation::content(URL, ms(1), 0b0011, old)), Verdict::New);
    let both =
        |time, in_new, in_old| Observation::content(URL, ms(time), in_new, new).also(in_old, old);
    assert_eq!(observe(both(2, 0xff00, 0b0111)), Verdict::Changed { distance: far(1, old) });
    // Both have both epochs: the newest counts.
    assert_eq!(observe(both(3, 0xff01, 0b1000)), Verdict::Changed { distance: far(1, new) });
    assert_eq!(
        observe(Observation::content(URL, ms(4), 0xffff, new)),
        Verdict::Changed { distance: far(7, new) }
    );
    let alone = observe(Observation::content(URL, ms(5), 0b0011, old));
    assert_eq!(alone, Verdict::Reverted { to: ms(1), distance: None });
    // Equal in one epoch means the same content, whatever the other epoch shows.
    assert_eq!(observe(both(6, 0x1234, 0b0011)), Verdict::Same(SameBy::Fingerprint));
    // After the restatement, the last one has both.
    assert_eq!(
        store.restate(Restatement::new(URL, ms(5), 0xf00f, new)).unwrap(),
        RestateOutcome::Stored
    );
    let history = store.history(URL).unwrap();
    let verdicts: Vec<_> = history.iter().filter_map(HistoryEntry::visit).collect();
    assert_eq!(verdicts.len(), 6);
    assert_eq!(verdicts[4].1, Verdict::Reverted { to: ms(1), distance: far(8, new) });
    assert_eq!(store.snapshot().latest(URL).unwrap().unwrap().visits, 6);
}

#[test]
fn newest_epoch_is_in_force_across_history_chunks() {
    // At one time and with one digest, the newer epoch first in order: they may be stored in two chunks.
    let of = |time, fingerprint, epoch| {
        Observation::content(URL, ms(time), fingerprint, Epoch::from_number(epoch))
            .digest(digest(1))
    };
    for before in 50..80 {
        let store =
            simkeep_testing::create(&SimDisk::new(), small().near_limit(0).refers_to(false));
        let all = (0..before).map(|time| of(time, 5, 0)).chain([of(100, 1, 1), of(100, 2, 0)]);
        let later = (200..270).map(|time| of(time, 5, 0));
        store.load(all.chain(later).map(Ok), LoadOptions::default()).unwrap();
        let found = store.as_of(URL, ms(100)).unwrap().unwrap();
        assert_eq!(found, of(100, 1, 1).visit, "with {before} visits before");
    }
}
