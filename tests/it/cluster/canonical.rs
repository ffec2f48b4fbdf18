//! Leaders by the URLs that pages declare as canonical.

use simkeep::cluster::{Candidacy, Candidates, Clustering, PageCluster, Ranking};
use simkeep::disk::SimDisk;
use simkeep::fingerprint::BitSketcher;
use simkeep::load::LoadOptions;
use simkeep::{Epoch, Error, Observation, Options, Progress, Store};
use simkeep_testing::clusters::MemberPage;
use simkeep_testing::{create, ms, on, small};

use super::by_page;

fn asked(k: u32, rules: &str) -> Clustering {
    Clustering::within(k).rule(rules.parse::<Ranking>().unwrap()).memory_bytes(1 << 20)
}

/// The leader of each page; looking up single pages gives the same.
fn leaders(store: &Store, asked: &Clustering) -> Vec<(String, String)> {
    let view = store.snapshot();
    let pages = by_page(&view, asked);
    for page in &pages {
        let of = PageCluster::of(&view, asked, &page.url).unwrap().unwrap();
        assert_eq!((of.cluster.leader.as_str(), of.complete), (page.leader.as_str(), true));
    }
    pages.into_iter().map(|MemberPage { url, leader, .. }| (url, leader)).collect()
}

fn pair(url: &str, leader: &str) -> (String, String) {
    (format!("http://a.b/{url}"), format!("http://a.b/{leader}"))
}

/// Fifty pages with two copies, which are seen earlier and declare a canonical page. Canonical URLs
/// are right except one.
#[test]
fn declared_pages_lead_their_clusters_and_wrong_ones_do_not() {
    let store = create(&SimDisk::new(), small());
    let epoch = store.snapshot().near_epoch();
    for page in 0..50_u64 {
        let content = page.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let canonical = format!("/{}", if page == 17 { 18 } else { page });
        for (url, time, bits, declares) in [
            (format!("http://a.b/{page}/first"), 0, 1, false),
            (format!("http://a.b/{page}/print"), 1, 2, true),
            (format!("http://a.b/{page}"), 2, 0, false),
        ] {
            let seen = Observation::content(&url, ms(time), content ^ bits, epoch);
            let seen = if declares { seen.canonical(&canonical) } else { seen };
            store.observe(seen).unwrap();
        }
    }
    for (rules, is_by_time) in [("first-seen", true), ("canonical,first-seen", false)] {
        let found = leaders(&store, &asked(3, rules));
        assert_eq!(found.len(), 150);
        for page in 0..50_u64 {
            let leader = match is_by_time || page == 17 {
                true => format!("{page}/first"),
                false => page.to_string(),
            };
            for url in [page.to_string(), format!("{page}/first"), format!("{page}/print")] {
                assert!(found.contains(&pair(&url, &leader)), "{rules} {url}");
            }
        }
    }
}

#[test]
fn declarations_count_only_between_near_known_pages() {
    let long = format!("/{}", "a".repeat(8192));
    for (canonical, leader) in [
        ("/c", "c"),
        ("c#top", "c"),
        ("//a.b/c", "c"),
        // The page itself, another host, an unknown page, and no pages.
        ("/b", "a"),
        ("http://c.d/c", "a"),
        ("/unknown", "a"),
        ("", "a"),
        ("mailto:a@b", "a"),
        ("http://[", "a"),
        (&long[..], "a"),
        // A known page with other content.
        ("/far", "a"),
    ] {
        let store = create(&SimDisk::new(), small());
        let epoch = store.snapshot().near_epoch();
        let see = |url: &str, time: i64, fingerprint: u64, canonical: &str| {
            let seen = Observation::content(url, ms(time), fingerprint, epoch);
            store.observe(seen.canonical(canonical)).unwrap();
        };
        see("http://a.b/a", 0, 0b0, "");
        see("http://a.b/b", 1, 0b1, canonical);
        see("http://a.b/c", 2, 0b10, "");
        see("http://a.b/far", 3, !0, "");
        let found = leaders(&store, &asked(3, "canonical,first-seen"));
        for url in ["a", "b", "c"] {
            assert!(found.contains(&pair(url, leader)), "{canonical} {found:?}");
        }
        assert!(found.contains(&pair("far", "far")));
        // The canonical page is not selected, so nothing declares it.
        let under =
            asked(3, "canonical,first-seen").under("a.b/b".parse::<simkeep::Prefix>().unwrap());
        assert_eq!(leaders(&store, &under), [pair("b", "b")]);
    }
}

/// Pages that point to each other rank equal, so the next rule decides.
#[test]
fn cyclic_declarations_leave_the_decision_to_the_next_rule() {
    let store = create(&SimDisk::new(), small());
    let epoch = store.snapshot().near_epoch();
    for (url, time, canonical) in
        [("http://a.b/c", 0, ""), ("http://a.b/a", 1, "/b"), ("http://a.b/b", 2, "/a")]
    {
        let seen = Observation::content(url, ms(time), 7, epoch).canonical(canonical);
        store.observe(seen).unwrap();
    }
    let found = leaders(&store, &asked(3, "canonical,first-seen"));
    assert_eq!(found, [pair("a", "a"), pair("b", "a"), pair("c", "a")]);
}

/// More pages than are read at a time, in a segment and in memory.
#[test]
fn many_declared_pages_are_found_in_all_components() {
    let store = create(&SimDisk::new(), small());
    let epoch = store.snapshot().near_epoch();
    let urls = (0..1300_u64).flat_map(|page| {
        let content = page.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        [("a", 0), ("b", 1)]
            .map(|(end, time)| (format!("http://a.b/{page:04}/{end}"), time, content))
    });
    let urls: Vec<(String, i64, u64)> = urls.collect();
    fn seen((url, time, content): &(String, i64, u64), epoch: Epoch) -> Observation<'_> {
        let canonical = if *time == 0 { "b" } else { "" };
        Observation::content(url, ms(*time), *content, epoch).canonical(canonical)
    }
    let (loaded, observed) = urls.split_at(2500);
    store
        .load(loaded.iter().map(|page| Ok::<_, Error>(seen(page, epoch))), LoadOptions::default())
        .unwrap();
    for page in observed {
        store.observe(seen(page, epoch)).unwrap();
    }
    let pages = by_page(&store.snapshot(), &asked(0, "canonical"));
    assert_eq!(pages.len(), 2600);
    assert!(pages.iter().all(|page| page.leader.ends_with("/b")));
}

/// The rule also ranks pages whose texts are compared.
#[test]
fn declared_pages_lead_where_texts_decide() {
    let store = create(&SimDisk::new(), small());
    let epoch = store.snapshot().near_epoch();
    let urls = ["http://a.b/a", "http://a.b/b", "http://a.b/c"];
    for (url, time) in urls.into_iter().zip(0..) {
        let seen = Observation::content(url, ms(time), 7, epoch);
        store.observe(if time == 1 { seen.canonical("/c") } else { seen }).unwrap();
    }
    let progress = Progress::default();
    let asked = asked(3, "canonical,first-seen");
    let candidates = Candidates::of(&store.snapshot(), &asked, &progress).unwrap();
    for url in urls {
        let Candidacy::Candidate { location, .. } = candidates.candidacy(url).unwrap() else {
            panic!("{url} is near other pages")
        };
        candidates.add(location, BitSketcher::new().of_text("some words of a text")).unwrap();
    }
    let clusters = candidates.clusters(0.8, &progress).unwrap();
    let pages = clusters.by_page(1).unwrap().map(Result::unwrap);
    assert!(pages.map(|page| page.leader.to_string()).eq(["http://a.b/c"; 3]));
}

#[test]
fn store_refuses_to_rank_originals_by_declarations() {
    let options = Options::default().rule("canonical,first-seen".parse::<Ranking>().unwrap());
    let refused = Store::create(on(&SimDisk::new()), options);
    assert!(matches!(refused, Err(Error::InvalidOption { name: "rule", .. })));
}
