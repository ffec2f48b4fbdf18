//! The pages of a store in ranges for several readers: each page is in one range, and ranges are about
//! equally large.

use simkeep::disk::SimDisk;
use simkeep::query::PageRange;
use simkeep::{Observation, Options, Prefix, Progress, Snapshot, Store};
use simkeep_testing::{choice, ms, on};

/// The ranges between these URLs.
fn ranges(splits: &[String]) -> impl Iterator<Item = [Option<&str>; 2]> {
    let ends = splits.iter().map(|url| Some(url.as_str()));
    let starts = [None].into_iter().chain(ends.clone());
    starts.zip(ends.chain([None])).map(|(from, to)| [from, to])
}

fn urls(snapshot: &Snapshot, under: Option<&Prefix>, [from, to]: [Option<&str>; 2]) -> Vec<String> {
    snapshot
        .scan(PageRange::all().under(under).start_at(from).end_before(to))
        .map(|page| page.unwrap().url)
        .collect()
}

/// Asserts that each page is in one range, in order; returns the number of pages of the smallest and of
/// the largest range.
fn check(snapshot: &Snapshot, under: Option<&Prefix>, count: usize) -> [usize; 2] {
    let splits = PageRange::all().under(under).split(snapshot, count).unwrap();
    assert!(splits.len() < count.max(1));
    let parts: Vec<_> = ranges(&splits).map(|range| urls(snapshot, under, range)).collect();
    let all: Vec<String> = snapshot.scan(under).map(|page| page.unwrap().url).collect();
    assert_eq!(parts.concat(), all, "{count} ranges");
    let visits = |[from, to]: [_; 2]| {
        snapshot.observations(PageRange::all().under(under).start_at(from).end_before(to))
    };
    let visits = ranges(&splits).flat_map(visits);
    let visits: Vec<_> = visits.map(Result::unwrap).collect();
    let all_visits: Vec<_> = snapshot.observations(under).map(Result::unwrap).collect();
    assert_eq!(visits, all_visits);
    let sizes = parts.iter().map(Vec::len);
    [sizes.clone().min().unwrap(), sizes.max().unwrap()]
}

#[test]
fn ranges_cover_each_page_once_and_are_balanced() {
    let store = Store::create(on(&SimDisk::new()), Options::default().background(false)).unwrap();
    assert_eq!(
        PageRange::all().under(None).split(&store.snapshot(), 8).unwrap(),
        Vec::<String>::new()
    );
    let mut choice = choice(1);
    let mut time = 0;
    // Three segments with some common pages, and unsealed pages.
    for part in 0..4 {
        for _ in 0..3_000 {
            time += 1;
            let url = match choice(3) {
                0 => format!("https://h{}.example/", choice(2_000)),
                1 => format!("http://crowded.example/{}?{}", choice(50), choice(50)),
                _ => format!("https://h{}.example/{}", choice(100), choice(100)),
            };
            store.observe(Observation::gone(&url, ms(time))).unwrap();
        }
        if part < 3 {
            store.seal().unwrap();
        }
    }
    for _ in 0..2 {
        let snapshot = store.snapshot();
        let crowd = Prefix::parse("crowded.example").unwrap();
        for under in [None, Some(&crowd)] {
            let pages = snapshot.scan(under).count();
            for count in [0, 1, 2, 7, 32] {
                let [least, most] = check(&snapshot, under, count);
                let even = pages / count.max(1);
                let fair = even * 7 / 10..even * 13 / 10 + 2;
                assert!(fair.contains(&least) && fair.contains(&most), "{least}, {most}: {even}");
            }
            check(&snapshot, under, 100_000);
        }
        check(&snapshot, Some(&Prefix::parse("nobody.example").unwrap()), 4);
        store.seal().unwrap();
        store.merge(&Progress::default()).unwrap();
    }
}

#[test]
fn range_includes_its_first_url_and_excludes_its_last() {
    let store = Store::create(on(&SimDisk::new()), Options::default().background(false)).unwrap();
    // The last two URLs have the same SURT key.
    let all = ["http://a.example/", "http://a.example/b", "http://b.example", "http://b.example/"];
    for _ in 0..2 {
        for url in all {
            store.observe(Observation::gone(url, ms(1))).unwrap();
        }
        let snapshot = store.snapshot();
        for from in 0..all.len() {
            for to in 0..all.len() {
                let expected = all.get(from..to).unwrap_or_default();
                assert_eq!(urls(&snapshot, None, [Some(all[from]), Some(all[to])]), expected);
            }
            assert_eq!(urls(&snapshot, None, [Some(all[from]), None]), &all[from..]);
            assert_eq!(urls(&snapshot, None, [None, Some(all[from])]), &all[..from]);
        }
        // The bounds need not be URLs of pages.
        let between = [Some("http://a.example/a"), Some("http://b.example/a")];
        assert_eq!(urls(&snapshot, None, between), &all[1..]);
        assert_eq!(urls(&snapshot, None, [Some("urn:x"), None]), Vec::<String>::new());
        // For a range that exceeds a prefix, the pages under the prefix.
        let prefix = Prefix::parse("a.example").unwrap();
        let beyond = [Some("http://0.example/"), Some("http://b.example/")];
        assert_eq!(urls(&snapshot, Some(&prefix), beyond), &all[..2]);
        assert_eq!(urls(&snapshot, Some(&prefix), [Some(all[1]), None]), &all[1..2]);
        assert_eq!(urls(&snapshot, Some(&prefix), [None, Some(all[1])]), &all[..1]);
        store.seal().unwrap();
    }
}

#[test]
fn bounded_range_is_split_within_its_bounds() {
    let store = Store::create(on(&SimDisk::new()), Options::default().background(false)).unwrap();
    let url = |page: u32| format!("https://example.com/{page:04}");
    for page in 0..2_000 {
        store.observe(Observation::gone(&url(page), ms(1))).unwrap();
        if page == 1_000 {
            store.seal().unwrap();
        }
    }
    let (snapshot, from, to) = (store.snapshot(), url(500), url(1_500));
    let range = PageRange::all().start_at(&*from).end_before(&*to);
    let splits = range.split(&snapshot, 4).unwrap();
    assert_eq!(splits.len(), 3);
    assert!(splits.iter().all(|split| *split > from && *split < to), "{splits:?}");
    let ends = splits.iter().map(String::as_str).chain([&*to]);
    let starts = [&*from].into_iter().chain(splits.iter().map(String::as_str));
    let pages =
        starts.zip(ends).map(|(from, to)| urls(&snapshot, None, [Some(from), Some(to)]).len());
    let pages: Vec<_> = pages.collect();
    assert_eq!(pages.iter().sum::<usize>(), 1_000);
    assert!(pages.iter().all(|pages| (200..300).contains(pages)), "{pages:?}");
    // Between two adjacent pages there is nothing to split.
    let none = PageRange::all().start_at(&*to).end_before(&*from);
    assert!(none.split(&snapshot, 4).unwrap().is_empty());
}
