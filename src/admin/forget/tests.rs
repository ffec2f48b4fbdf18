use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::disk::{FileName, SimDisk};
use crate::engine::options::{Durability, Options};
use crate::engine::store::Store;
use crate::page::Observation;
use crate::time::Time;

fn store() -> Store {
    Store::create(Arc::new(SimDisk::new()), Options::default().background(false)).unwrap()
}

fn observe(store: &Store, url: &str) {
    store.observe(Observation::gone(url, Time::from_ms_unchecked(0))).unwrap();
}

fn urls(store: &Store) -> BTreeSet<String> {
    store.snapshot().scan(None).map(|page| page.unwrap().url).collect()
}

/// Removes the user information from a URL with a host.
fn without_user(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap();
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let host = rest[..end].rsplit('@').next().unwrap();
    format!("{scheme}://{host}{}", &rest[end..])
}

#[test]
fn path_forgets_any_number_of_pages_with_users() {
    let store = store();
    let of = |user: usize| format!("http://u{user}@example.com/a/{}", user % 7);
    let more = ["http://example.com/a", "http://u@example.com/b", "http://u@example.com:81/a"];
    more.iter().for_each(|url| observe(&store, url));
    let count = 2 * USER_PAGES + 5;
    for user in 0..count {
        observe(&store, &of(user));
        if user == count / 2 {
            store.seal().unwrap();
        }
    }
    let scope = Scope::Prefix(Prefix::parse("example.com/a").unwrap());
    assert_eq!(scope.pages(&store.snapshot()).count(), count + 1);
    let forgotten = store.forget(scope.clone()).unwrap();
    assert_eq!((forgotten.pages, forgotten.visits), (count as u64 + 1, count as u64 + 1));
    assert_eq!(store.forget(scope.clone()).unwrap(), Forgotten::default());
    assert_eq!(scope.pages(&store.snapshot()).count(), 0);
    assert_eq!(urls(&store), more[1..].iter().map(|url| (*url).to_owned()).collect());
    // A later visit starts anew.
    observe(&store, &of(3));
    assert_eq!(store.history(&of(3)).unwrap().len(), 1);
    store.purge(scope, &Progress::default()).unwrap();
    assert_eq!(urls(&store).len(), 2);
}

#[test]
fn pages_with_users_are_found_behind_many_others() {
    let store = store();
    let others: Vec<String> =
        (0..SCANNED_PAGES + 10).map(|user| format!("http://m{user}@example.com/b")).collect();
    let pages: Vec<Observation<'_>> =
        others.iter().map(|url| Observation::gone(url, Time::from_ms_unchecked(0))).collect();
    pages.chunks(1 << 12).for_each(|pages| drop(store.observe_batch(pages).unwrap()));
    let ours = ["http://example.com/a", "http://a@example.com/a", "http://z@example.com/a"];
    ours.iter().for_each(|url| observe(&store, url));
    store.seal().unwrap();
    let users = Prefix::parse("example.com/a").unwrap().user_info_pages().unwrap();
    let (found, rest) = user_pages(&view(&store), &users, None).unwrap();
    assert_eq!((found.as_slice(), rest.is_some()), (&[ours[1].to_owned()][..], true));
    let scope = Scope::Prefix(Prefix::parse("example.com/a").unwrap());
    assert_eq!(store.forget(scope.clone()).unwrap().pages, 3);
    assert_eq!(scope.pages(&store.snapshot()).count(), 0);
    // The forgotten pages are not skipped all at once either.
    let forgotten = store.forget(Scope::Prefix(Prefix::parse("example.com/b").unwrap())).unwrap();
    assert_eq!(forgotten.pages, others.len() as u64);
    let (found, rest) = user_pages(&view(&store), &users, None).unwrap();
    assert!(found.is_empty() && rest.is_some());
    assert_eq!(store.forget(scope).unwrap(), Forgotten::default());
}

fn view(store: &Store) -> Arc<View> {
    store.call(|db| Ok(db.core.live.view())).unwrap()
}

#[test]
fn operations_waiting_for_a_flush_are_bounded() {
    let options = Options::default().background(false).durability(Durability::OnFlush);
    let store = Store::create(Arc::new(SimDisk::new()), options).unwrap();
    for user in 0..3 * USER_PAGES {
        observe(&store, &format!("http://u{user}@example.com/a/{}", "x".repeat(1500)));
    }
    store.seal().unwrap();
    let scope = Scope::Prefix(Prefix::parse("example.com/a").unwrap());
    assert_eq!(store.forget(scope.clone()).unwrap().pages, 3 * USER_PAGES as u64);
    assert_eq!(scope.pages(&store.snapshot()).count(), 0);
    let waiting = store.call(|db| Ok(db.admission.lock().pending.bytes())).unwrap();
    assert!(waiting <= 1 << 20, "{waiting}");
}

#[test]
fn nothing_is_forgotten_if_user_pages_cannot_be_read() {
    let disk = Arc::new(SimDisk::new());
    let options = || Options::default().background(false);
    let store = Store::create(Arc::clone(&disk), options()).unwrap();
    for page in 0..400 {
        observe(&store, &format!("http://example.com/a/{page}"));
        observe(&store, &format!("http://u{page}@example.com/a/{page}"));
    }
    store.seal().unwrap();
    store.close().unwrap();
    let files = disk.contents();
    let segment = files.iter().position(|(name, _)| matches!(name, FileName::Segment(_))).unwrap();
    let scope = Scope::Prefix(Prefix::parse("example.com/a").unwrap());
    let under = |store: &Store| {
        let Scope::Prefix(prefix) = &scope else { unreachable!() };
        store.snapshot().scan(Some(prefix)).collect::<Result<Vec<_>>>().map(|pages| pages.len())
    };
    let mut tried = 0;
    for at in (0..files[segment].1.len()).step_by(1 << 12) {
        let mut files = files.clone();
        files[segment].1[at] ^= 1;
        let Ok(store) = Store::open(Arc::new(SimDisk::of(files)), options()) else { continue };
        let users = scope.pages(&store.snapshot()).collect::<Result<Vec<_>>>();
        if under(&store).is_err() || users.is_ok() {
            continue;
        }
        tried += 1;
        assert!(matches!(store.forget(scope.clone()), Err(Error::Corrupt { .. })), "{at}");
        // An applied operation would be visible after the next commit.
        observe(&store, "http://example.org/");
        assert_eq!(under(&store).unwrap(), 400, "{at}");
    }
    assert!(tried > 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn path_covers_pages_without_their_users(
        known in prop::collection::btree_set(
            "https?://(|u@|u:p@|@|a@b@)(a|b\\.a|\\[::1\\])(:80|:81)?(/[ab]{0,2}[/?#]?b?)?", 0..30,
        ),
        prefix in "(a|b\\.a|\\[::1\\])(:80|:81)?(/[ab]{0,2}/?)?",
        sealed in 0..30_usize,
        purges in any::<bool>(),
    ) {
        let store = store();
        for (at, url) in known.iter().enumerate() {
            observe(&store, url);
            if at == sealed {
                store.seal().unwrap();
            }
        }
        let prefix = Prefix::parse(&prefix).unwrap();
        let takes = |url: &String| {
            prefix.contains(&surt::key_of(url)) || prefix.contains(&surt::key_of(&without_user(url)))
        };
        let left: BTreeSet<String> = known.iter().filter(|url| !takes(url)).cloned().collect();
        let scope = Scope::Prefix(prefix.clone());
        prop_assert_eq!(scope.pages(&store.snapshot()).count(), known.len() - left.len());
        let forgotten = match purges {
            true => store.purge(scope, &Progress::default()).unwrap(),
            false => store.forget(scope).unwrap(),
        };
        prop_assert_eq!(forgotten.pages, (known.len() - left.len()) as u64);
        prop_assert_eq!(urls(&store), left);
    }
}
