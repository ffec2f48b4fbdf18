//! Any text as a prefix, and any texts as URLs. Pages are in SURT order, and the pages under a
//! prefix can be found and forgotten by it. The lines of the input are the prefix, then URLs.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use simkeep::disk::{FileName, SimDisk};
use simkeep::{Error, Observation, Prefix, Progress, Scope, Store, URL_BYTES_MAX};

use crate::forge::catalog::ForgedCatalog;
use crate::fuzz::store::{CATALOG, on, open, options};
use crate::pages::SurtPosition;
use crate::{ms, sound};

/// The maximum number of URLs of an input that are observed.
const URLS_MAX: usize = 12;

/// The catalog of an empty store.
static EMPTY: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let ForgedCatalog { settings, epochs, .. } = ForgedCatalog::read(CATALOG);
    let mut catalog = ForgedCatalog { settings, epochs, ..ForgedCatalog::default() };
    catalog.narrow();
    catalog.write()
});

/// Runs one input.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut lines = text.split('\n');
    let prefix = lines.next().and_then(prefix);
    let disk = SimDisk::of([(FileName::Catalog, EMPTY.clone())]);
    let store = open(&disk).unwrap();
    let mut known = BTreeSet::new();
    for url in lines.take(URLS_MAX) {
        observe(&store, url, &mut known);
    }
    let all = urls(&store, None);
    assert_eq!(all.iter().cloned().collect::<BTreeSet<_>>(), known);
    assert!(
        all.iter().filter(|url| is_plain(url)).map(|url| SurtPosition::of(url)).is_sorted(),
        "{all:?}"
    );
    for url in all.iter().filter(|url| has_scheme(url)) {
        let Ok(itself) = Prefix::parse(url) else { continue };
        assert!(urls(&store, Some(&itself)).contains(url), "{url:?} is not under itself");
    }
    let Some(prefix) = prefix else { return };

    let under = urls(&store, Some(&prefix));
    check_range(&all, &under);
    store.seal().unwrap();
    assert_eq!(urls(&store, None), all);
    assert_eq!(urls(&store, Some(&prefix)), under);
    for url in &under {
        let history = store.history(url).unwrap();
        assert_eq!(history.len(), 1, "{url:?}");
    }
    sound(&store).unwrap();
    drop(store);

    let store = Store::open(on(&disk), options()).unwrap();
    assert_eq!(urls(&store, Some(&prefix)), under);
    let is_forgotten = |url: &String| under.contains(url) || is_of_user(url, &prefix);
    let left: Vec<String> = all.iter().filter(|url| !is_forgotten(url)).cloned().collect();
    let scope = Scope::Prefix(prefix.clone());
    assert_eq!(scope.pages(&store.snapshot()).count(), all.len() - left.len());
    let forgotten = store.forget(scope).unwrap();
    assert_eq!(forgotten.pages, (all.len() - left.len()) as u64);
    assert_eq!(urls(&store, None), left);
    assert!(urls(&store, Some(&prefix)).is_empty());
    drop(store);
    let store = open(&disk).unwrap();
    store.seal().unwrap();
    store.merge(&Progress::default()).unwrap();
    assert_eq!(urls(&store, None), left);
    sound(&store).unwrap();
}

/// Parses a prefix, and checks that its text form parses to the same prefix.
fn prefix(text: &str) -> Option<Prefix> {
    let prefix = match Prefix::parse(text) {
        Ok(prefix) => prefix,
        Err(e) => {
            assert!(!e.to_string().is_empty());
            return None;
        }
    };
    let shown = prefix.to_string();
    match Prefix::parse(&shown) {
        Ok(again) => assert_eq!(again, prefix, "{text:?} is shown as {shown:?}"),
        // Its text form may be longer than the input, because of punycode.
        Err(e) => assert!(shown.len() > URL_BYTES_MAX, "{text:?} is shown as {shown:?}: {e}"),
    }
    Some(prefix)
}

fn observe(store: &Store, url: &str, known: &mut BTreeSet<String>) {
    let observation = Observation::content(url, ms(0), 7, store.change_epoch());
    let sound =
        !url.is_empty() && url.len() <= URL_BYTES_MAX && !url.contains(|c: char| c.is_control());
    match store.observe(observation) {
        Ok(_) => {
            assert!(sound, "{url:?} was taken");
            known.insert(url.to_owned());
            assert_eq!(
                store.snapshot().latest(url).unwrap().map(|page| page.url).as_deref(),
                Some(url)
            );
        }
        Err(Error::Url(_)) => assert!(!sound, "{url:?} was refused"),
        Err(e) => panic!("{url:?}: {e}"),
    }
}

fn urls(store: &Store, prefix: Option<&Prefix>) -> Vec<String> {
    store.snapshot().scan(prefix).map(|page| page.unwrap().url).collect()
}

/// Whether a page has a user, and would be under the prefix without it. Asks a store that has only
/// that page.
fn is_of_user(url: &str, prefix: &Prefix) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else { return false };
    let has_hosts = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
        && !scheme.eq_ignore_ascii_case("file");
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let Some((_, host)) = authority.rsplit_once('@') else { return false };
    // Without a host, no page would be under that URL.
    if host.is_empty() || !has_hosts {
        return false;
    }
    let disk = SimDisk::of([(FileName::Catalog, EMPTY.clone())]);
    let store = open(&disk).unwrap();
    let without = format!("{scheme}://{host}{path}");
    store.observe(Observation::content(&without, ms(0), 7, store.change_epoch())).unwrap();
    !urls(&store, Some(prefix)).is_empty()
}

/// Whether a URL also is a prefix. A text without a scheme is a host in a prefix. A host with
/// commas or brackets may be in SURT form. A host that browsers spell differently is read in their
/// spelling.
fn has_scheme(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else { return false };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
        && host.chars().all(|c| c.is_ascii_alphanumeric() || ".:-_".contains(c))
        && !host.to_ascii_lowercase().contains("xn--")
        && host.split(':').next().is_some_and(|host| {
            let last = host.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
            !last.starts_with(|c: char| c.is_ascii_digit())
        })
}

/// Whether the order of the tests supports a URL: a host of plain labels, without port or user.
fn is_plain(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else { return false };
    let host = rest.split('/').next().unwrap_or_default();
    scheme.starts_with(|c: char| c.is_ascii_lowercase())
        && scheme.chars().all(|c| c.is_ascii_lowercase())
        && scheme != "file"
        && host.split('.').all(|label| label.starts_with(|c: char| c.is_ascii_lowercase()))
        && host.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || ".-".contains(c))
}

/// Checks that the pages under a prefix are contiguous.
fn check_range(all: &[String], under: &[String]) {
    let Some(first) = under.first() else { return };
    let at = all.iter().position(|url| url == first).unwrap();
    assert_eq!(&all[at..at + under.len()], under);
}
