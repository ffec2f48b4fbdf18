//! Redirects: content without a fingerprint, whose digest identifies the target.

use simkeep::disk::SimDisk;
use simkeep::load::LoadOptions;
use simkeep::query::StalePages;
use simkeep::{
    Changes, Content, Digest, Epoch, Observation, Operation, Progress, Role, SameBy, Scope, Seen,
    Store, Verdict, Visit,
};
use simkeep_testing::{create, ms, on, small, sound};

const URL: &str = "https://example.com/a";
const OTHER: &str = "https://example.com/b";
const PRINT: u64 = 0x0123_4567_89ab_cdef;

fn content(url: &str, time: i64) -> Observation<'_> {
    Observation::content(url, ms(time), PRINT, Epoch::from_number(0)).digest(Digest([7; 16]))
}

fn is_changed(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Changed { distance: None })
}

#[test]
fn redirect_replaces_the_content_of_a_page() {
    let store = create(&SimDisk::new(), small());
    store.observe(content(URL, 10)).unwrap();
    let found = store.observe(Observation::redirect(URL, ms(20), "/b").status(301)).unwrap();
    assert!(is_changed(found.verdict) && found.near.is_empty() && found.copies.is_empty());
    let page = store.snapshot().latest(URL).unwrap().unwrap();
    assert!(page.content.is_some_and(|content| content.is_redirect()) && !page.gone);
    assert_eq!(store.snapshot().near(PRINT, 3).unwrap().near, []);
    assert_eq!(store.observe(content(OTHER, 21)).unwrap().copies, []);
    let entry = store.history(URL).unwrap()[1].to_string();
    assert!(entry.ends_with("; it redirects"), "{entry}");
    // It is the same until its target changes, with any status.
    let again =
        store.observe(Observation::redirect(URL, ms(30), "https://example.com/b").status(308));
    assert_eq!(again.unwrap().verdict, Verdict::Same(SameBy::Digest));
    let word = store.observe(Observation::not_modified(URL, ms(35))).unwrap();
    assert_eq!(word.verdict, Verdict::Same(SameBy::NotModified));
    assert!(is_changed(store.observe(Observation::redirect(URL, ms(40), "/c")).unwrap().verdict));
    let back = store.observe(content(URL, 50)).unwrap();
    assert_eq!(back.verdict, Verdict::Reverted { to: ms(10), distance: None });
    let back = store.observe(Observation::redirect(URL, ms(60), "/b")).unwrap();
    assert!(matches!(back.verdict, Verdict::Reverted { to, .. } if to == ms(30)), "{back:?}");
    sound(&store).unwrap();
}

#[test]
fn redirects_to_one_target_are_not_copies() {
    let store = create(&SimDisk::new(), small());
    let urls: Vec<String> = (0..50).map(|n| format!("http://example.com/{n}")).collect();
    for url in &urls {
        let found =
            store.observe(Observation::redirect(url, ms(10), "https://example.com/")).unwrap();
        assert_eq!((found.verdict, found.copies.len(), found.near.len()), (Verdict::New, 0, 0));
    }
    let digests = urls
        .iter()
        .map(|url| store.snapshot().latest(url).unwrap().unwrap().content.unwrap().digest);
    let mut digests: Vec<_> = digests.collect();
    digests.sort_unstable();
    digests.dedup();
    assert_eq!(digests.len(), urls.len());
}

/// Sealing, merging, loading and new epochs do not change it, whatever the first epoch is.
#[test]
fn redirect_belongs_to_no_epoch() {
    use simkeep::fingerprint::{FieldWeight, Ratio, Recipe};
    let reserving = Recipe::words(1).fields(FieldWeight::Share(Ratio::percent(50))).reserved(8);
    for name in ["mine".to_owned(), reserving.to_string()] {
        let store = Store::create(on(&SimDisk::new()), small().epoch(name)).unwrap();
        let first = store.change_epoch();
        let observed = [
            Operation::from(Observation::redirect(URL, ms(10), "/b").status(302)),
            Operation::from(Observation::content(OTHER, ms(11), PRINT, first)),
        ];
        store.write_batch(&observed).unwrap();
        store.seal().unwrap();
        let second = store.register_epoch("second", Role::Both).unwrap();
        store.restate(simkeep::Restatement::new(OTHER, ms(11), PRINT, second)).unwrap();
        store.end_epoch(first, 0).unwrap();
        assert_eq!(StalePages::of(&store.snapshot(), second, None).count(), 0);
        // The visit is known, although its first epoch has ended.
        let again = store.observe(Observation::redirect(URL, ms(10), "/b").status(302)).unwrap();
        assert_eq!(again.verdict, Verdict::Known);
        let later = store.observe(Observation::redirect(URL, ms(20), "/b")).unwrap();
        assert_eq!(later.verdict, Verdict::Same(SameBy::Digest));
        assert!(is_changed(
            store.observe(Observation::redirect(URL, ms(30), "/c")).unwrap().verdict
        ));
        store.seal().unwrap();
        store.merge(&Progress::default()).unwrap();
        sound(&store).unwrap();
        let history = store.history(URL).unwrap();
        assert_eq!(history.iter().filter(|entry| entry.visit().is_some()).count(), 3);
        let page = store.snapshot().latest(URL).unwrap().unwrap();
        assert!(page.target.unwrap().ends_with("/c"));

        let loaded = create(&SimDisk::new(), small());
        let entries = history.iter().map(|entry| Operation::of(URL, entry.entry()));
        loaded.load(entries.map(Ok), LoadOptions::default()).unwrap();
        assert_eq!(loaded.history(URL).unwrap(), history);
        store.forget(Scope::Url(URL)).unwrap();
        assert_eq!(store.snapshot().latest(URL).unwrap(), None);
    }
}

#[test]
fn redirect_differs_from_any_other_content() {
    let store = create(&SimDisk::new(), small());
    let second = store.register_epoch("second", Role::Both).unwrap();
    let epochs = store.snapshot().epochs().to_vec();
    let text = |epoch| Seen::Content(Content { fingerprint: Some(PRINT), digest: None, epoch });
    let bare = |n| {
        let digest = Some(Digest([n; 16]));
        Seen::Content(Content { fingerprint: None, digest, epoch: second })
    };
    let leads = |to| Seen::Content(Content::redirect(Digest::redirect(URL, to)));
    let found = |before: Seen, after: Seen| {
        let visits = [(0, before), (1000, after)];
        let visits = visits.map(|(time, seen)| Visit::new(ms(time), seen));
        let changes = Changes::of(&visits.map(Into::into), &epochs);
        (changes.comparisons(), changes.changes())
    };
    let first = Epoch::from_number(0);
    for other in [text(first), text(second), bare(1)] {
        assert_eq!(found(other, leads("/b")), (1, 1), "{other:?}");
        assert_eq!(found(leads("/b"), other), (1, 1), "{other:?}");
    }
    assert_eq!(found(leads("/b"), leads("/b")), (1, 0));
    assert_eq!(found(leads("/b"), leads("/c")), (1, 1));
}
