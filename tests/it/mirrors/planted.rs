//! Webs in which some sites mirror each other.

use simkeep::load::LoadOptions;
use simkeep::mirror::{Mirror, MirrorQuery};
use simkeep::{Content, Observation, Options, Progress, Seen, Store, Visit};
use simkeep_testing::depth::up_to;
use simkeep_testing::mirrors::{LAG, PAGES, PLANTED, load};
use simkeep_testing::{choice, ms};

use super::{EPOCH, ask, sites};

fn store() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let options = Options::default().epoch("one".to_owned());
    let store = Store::create(dir.path().join("store"), options).unwrap();
    (dir, store)
}

#[test]
fn planted_mirrors_are_found_and_nothing_else() {
    let (_dir, store) = store();
    let sites = up_to(20_000).max(4_000);
    load(&store, EPOCH, sites, 20 * sites);
    let found = ask(&store, &MirrorQuery::new());
    check(&found.pairs);
}

/// Asserts that all mirrors of a planted web are found.
fn check(pairs: &[Mirror]) {
    let mut named: Vec<_> = pairs.iter().map(sites).collect();
    named.sort();
    let mut expected =
        PLANTED.map(|(site, mirror, ..)| [site, mirror].map(|site| format!("{site}/")));
    expected.sort();
    assert_eq!(named, expected);
    for (site, _, share, lag) in PLANTED {
        let mirror = pairs.iter().find(|mirror| sites(mirror)[0] == format!("{site}/")).unwrap();
        assert_eq!((mirror.is_mirror, mirror.lag), (share == 1.0, Some(lag)), "{site}");
        assert_eq!(mirror.leader.paths, PAGES as u64, "{site}");
        assert!((mirror.share - share).abs() < 0.02, "{site}: {}", mirror.share);
        // Real pages alternate, so both may have an earlier version of the other.
        let outdated = [&mirror.leader, &mirror.follower].map(|site| site.outdated);
        assert!(lag < LAG || outdated[0] < outdated[1], "{site}: {outdated:?}");
    }
}

fn visit(time: i64, fingerprint: u64) -> Visit {
    let content = Content { fingerprint: Some(fingerprint), digest: None, epoch: EPOCH };
    Visit::new(ms(time), Seen::Content(content))
}

/// Plants a thousand pairs of sites that share `percent` of 200 paths. Returns the number of pairs
/// found. The other paths belong to both sites alternately, or only to the first site. All sites
/// use the same paths, so only paths together with contents identify a pair. Contents differ in
/// `bits` bits.
fn found_of_1000(percent: u64, in_turn: bool, bits: u32) -> u64 {
    const PATHS: u64 = 200;
    let (_dir, store) = store();
    let (both, share) = (percent * PATHS / 100, percent as f64 / 100.0);
    let pages = (0..1000_u64).flat_map(move |pair| {
        (0..2).flat_map(move |site| {
            let mut choose = choice(pair);
            (0..PATHS).filter_map(move |path| {
                // In a different order for each pair.
                let at = (path * 77 + pair * 13) % PATHS;
                let print = choose(u64::MAX);
                let header = (0..bits).fold(0, |all, _| all | 1 << choose(64));
                let is_own = if in_turn { at % 2 == site } else { site == 0 };
                let print = if site == 0 { print } else { print ^ header };
                let url = || format!("http://{site}.{pair}.example/{path}");
                (at < both || is_own).then(|| (url(), visit(1, print)))
            })
        })
    });
    store.load(pages.map(Ok), LoadOptions::default()).unwrap();
    let asked = MirrorQuery::new().paths(2).share(share / 2.0).within(3).limit(usize::MAX);
    let found = ask(&store, &asked);
    for mirror in &found.pairs {
        let [one, other] = sites(mirror).map(|site| site.split_once('.').unwrap().1.to_owned());
        assert_eq!(one, other);
        assert_eq!(mirror.near, both);
    }
    found.pairs.len() as u64
}

#[test]
fn pairs_are_found_at_the_rate_of_the_formula() {
    for percent in [10, 40, 5, 20].into_iter().take(up_to(4)) {
        let share = percent as f64 / 100.0;
        let found = found_of_1000(percent, false, 0) as f64 / 1000.0;
        let more = found_of_1000(percent, true, 0) as f64 / 1000.0;
        let expected = MirrorQuery::recall(share);
        eprintln!(
            "share {share}: {found:.3} of parts, {more:.3} of others, {expected:.3} expected"
        );
        // Four standard deviations, and the error of two hundred paths instead of infinitely many.
        let deviation = 4.0 * (expected * (1.0 - expected) / 1000.0).sqrt() + 0.015;
        assert!((found - expected).abs() < deviation, "{share}: {found} for {expected}");
        assert!(more > expected - deviation, "{share}: {more} for {expected}");
    }
}

#[test]
fn mirrors_with_another_header_are_found() {
    for (bits, least) in [(3, 900), (2, 980), (1, 990)].into_iter().take(up_to(3)) {
        let found = found_of_1000(100, true, bits);
        eprintln!("{bits} bits: {found} of 1000");
        assert!(found >= least, "{bits} bits: {found} of 1000");
    }
}

/// Many equal sites: each is named with another one, and their folders are implied.
#[test]
fn each_site_of_a_family_is_named_without_its_folders() {
    let (_dir, store) = store();
    let pages = (0..300_u64).flat_map(|host| {
        (0..60_u64).map(move |page| {
            let url = format!("http://h{host}.example/{}/{page}", page % 3);
            (url, visit(i64::try_from(host).unwrap(), page.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
        })
    });
    store.load(pages.map(Ok), LoadOptions::default()).unwrap();
    let found = ask(&store, &MirrorQuery::new());
    let mut named: Vec<String> = found.pairs.iter().flat_map(sites).collect();
    assert!(named.iter().all(|site| site.matches('/').count() == 1), "{named:?}");
    named.sort();
    named.dedup();
    assert_eq!(named.len(), 300);
    // Not every pair, nor eight for each site.
    assert!(found.compared < 300 * 3, "{}", found.compared);
}

/// One host with very many pages, and very many hosts with ten of them each.
#[test]
fn huge_site_is_not_compared_with_all_overlapping_sites() {
    let (_dir, store) = store();
    let giant = (0..20_000_u64).map(|page| (0, page));
    let others = (1..5_000_u64).flat_map(|host| (0..10).map(move |page| (host, page)));
    let pages = giant.chain(others).map(|(host, page)| {
        let url = format!("http://h{host:05}.example/{page}");
        (url, visit(1, page.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    });
    store.load(pages.map(Ok), LoadOptions::default()).unwrap();
    let since = std::time::Instant::now();
    let found = ask(&store, &MirrorQuery::new().limit(usize::MAX));
    eprintln!("{:?} for {} compared", since.elapsed(), found.compared);
    // Each small host is like the first one and the previous one.
    assert_eq!(found.mirrors, 2 * 4_999 - 3);
    assert!(found.pairs.iter().all(|mirror| mirror.near == 10));
}

#[test]
fn mirrors_follow_observations_of_a_running_writer() {
    let (_dir, store) = store();
    for page in 0..20_u64 {
        for host in ["a", "b"] {
            let url = format!("http://{host}.example/{page}");
            store.observe(Observation::content(&url, ms(1), page << 20, EPOCH)).unwrap();
        }
    }
    let before = store.snapshot();
    for page in 0..20_u64 {
        let url = format!("http://b.example/{page}");
        store.observe(Observation::gone(&url, ms(2))).unwrap();
    }
    let asked = MirrorQuery::new();
    assert_eq!(asked.run(&before, &Progress::default()).unwrap().mirrors, 1);
    assert_eq!(ask(&store, &asked).mirrors, 0);
    assert_eq!(ask(&store, &asked.at(ms(1))).mirrors, 1);
}
