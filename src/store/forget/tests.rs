use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::disk::SimDisk;
use crate::{Observation, Options, Store};

fn store() -> Store {
    Store::create(Arc::new(SimDisk::new()), Options::default().background(false)).unwrap()
}

fn observe(store: &Store, url: &str) {
    store.observe(Observation::gone(url, 0)).unwrap();
}

fn urls(store: &Store) -> BTreeSet<String> {
    store.snapshot().scan(None).map(|page| page.unwrap().url).collect()
}

/// A URL with a host, without the user in it.
fn without_user(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap();
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let host = rest[..end].rsplit('@').next().unwrap();
    format!("{scheme}://{host}{}", &rest[end..])
}

#[test]
fn any_number_of_pages_with_a_user_is_forgotten_with_a_path() {
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
    assert_eq!(store.snapshot().in_scope(&scope).count(), count + 1);
    let forgotten = store.forget(scope.clone()).unwrap();
    assert_eq!((forgotten.pages, forgotten.visits), (count as u64 + 1, count as u64 + 1));
    assert_eq!(store.forget(scope.clone()).unwrap(), Forgotten::default());
    assert_eq!(store.snapshot().in_scope(&scope).count(), 0);
    assert_eq!(urls(&store), more[1..].iter().map(|url| (*url).to_owned()).collect());
    // What comes later begins anew.
    observe(&store, &of(3));
    assert_eq!(store.history(&of(3)).unwrap().len(), 1);
    store.purge(scope, &Progress::default()).unwrap();
    assert_eq!(urls(&store).len(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_path_takes_the_pages_that_are_under_it_without_their_users(
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
        prop_assert_eq!(store.snapshot().in_scope(&scope).count(), known.len() - left.len());
        let forgotten = match purges {
            true => store.purge(scope, &Progress::default()).unwrap(),
            false => store.forget(scope).unwrap(),
        };
        prop_assert_eq!(forgotten.pages, (known.len() - left.len()) as u64);
        prop_assert_eq!(urls(&store), left);
    }
}
