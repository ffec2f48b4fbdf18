//! Sites that mirror each other: compared with a naive comparison of all sites, in webs with planted
//! mirrors, and with the expected recall of the sample.

mod oracle;
mod planted;

use simkeep::disk::SimDisk;
use simkeep::mirror::{Mirror, MirrorQuery, Mirrors};
use simkeep::{Epoch, Error, Observation, Prefix, Progress, Store};
use simkeep_testing::{create, ms, open, small};

const EPOCH: Epoch = Epoch::from_number(0);

/// The mirrors among the fingerprints of the first epoch.
fn ask(store: &Store, asked: &MirrorQuery) -> Mirrors {
    let asked = asked.clone().epoch(EPOCH);
    asked.run(&store.snapshot(), &Progress::default()).unwrap()
}

/// Creates a store with the same `pages` pages on two hosts.
fn two(pages: u64) -> Store {
    let store = create(&SimDisk::new(), small());
    for (time, host) in [(1, "a.example"), (2, "b.example")] {
        for page in 0..pages {
            let url = format!("https://{host}/{page}");
            store.observe(Observation::content(&url, ms(time), page << 40, EPOCH)).unwrap();
        }
    }
    store
}

fn sites(mirror: &Mirror) -> [String; 2] {
    [&mirror.leader, &mirror.follower].map(|site| site.site.to_string())
}

#[test]
fn an_empty_store_has_no_mirrors() {
    let store = create(&SimDisk::new(), small());
    let found = ask(&store, &MirrorQuery::new());
    assert_eq!((found.pairs.len(), found.paths, found.sites, found.compared), (0, 0, 0, 0));
}

#[test]
fn too_few_paths_make_no_mirror() {
    let store = two(10);
    assert_eq!(ask(&store, &MirrorQuery::new()).mirrors, 1);
    let found = ask(&store, &MirrorQuery::new().paths(11));
    assert_eq!((found.pairs.len(), found.sites, found.paths), (0, 0, 20));
}

#[test]
fn invalid_arguments_are_refused() {
    let store = two(10);
    for asked in [
        MirrorQuery::new().within(65),
        MirrorQuery::new().paths(1),
        MirrorQuery::new().share(0.0),
        MirrorQuery::new().share(1.5),
        MirrorQuery::new().share(f64::NAN),
        MirrorQuery::new().depth(17),
    ] {
        let refused = asked.run(&store.snapshot(), &Progress::default());
        assert!(matches!(refused, Err(Error::InvalidArgument(_))), "{asked:?}");
    }
    let unknown = MirrorQuery::new().epoch(Epoch::from_number(9));
    let refused = unknown.run(&store.snapshot(), &Progress::default());
    assert!(matches!(refused, Err(Error::UnknownEpoch(_))));
    let cancelled = Progress::default();
    cancelled.cancel();
    let refused = MirrorQuery::new().run(&store.snapshot(), &cancelled);
    assert!(matches!(refused, Err(Error::Cancelled)));
}

#[test]
fn only_pages_under_the_prefix_are_compared() {
    let store = two(10);
    let under =
        |prefix: &str| ask(&store, &MirrorQuery::new().under(Prefix::parse(prefix).unwrap()));
    assert_eq!(under("example").mirrors, 1);
    // There are no fingerprints of the other epoch.
    let other = MirrorQuery::new().run(&store.snapshot(), &Progress::default()).unwrap();
    assert_eq!((other.paths, other.mirrors), (0, 0));
    assert_eq!(under("a.example").pairs, []);
    assert_eq!(under("a.example").paths, 10);
}

#[test]
fn largest_pairs_are_named_up_to_the_limit() {
    let store = create(&SimDisk::new(), small());
    for family in 10..16_u64 {
        for host in 0..2 {
            for page in 0..family {
                let url = format!("http://{family}.{host}.example/{page}");
                let print = (family * 100 + page).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                store.observe(Observation::content(&url, ms(1), print, EPOCH)).unwrap();
            }
        }
    }
    let found = ask(&store, &MirrorQuery::new().limit(2));
    let near: Vec<u64> = found.pairs.iter().map(|mirror| mirror.near).collect();
    assert_eq!((found.mirrors, near), (6, vec![15, 14]));
}

/// Pages of both schemes are one path; URLs with a user or without a host belong to no site.
#[test]
fn paths_match_across_schemes() {
    let store = create(&SimDisk::new(), small());
    let mut time = 0;
    let mut see = |url: String, print: u64| {
        time += 1;
        store.observe(Observation::content(&url, ms(time), print << 32, EPOCH)).unwrap();
    };
    for page in 0..12 {
        see(format!("https://a.example:8443/d/{page}?x/y"), page);
        see(format!("http://b.example/e/{page}?x/y"), !page);
        see(format!("https://b.example/e/{page}?x/y"), page);
        see(format!("https://me@c.example/{page}?x/y"), page);
        see(format!("urn:{page}?x/y"), page);
    }
    let found = ask(&store, &MirrorQuery::new());
    let named: Vec<_> = found.pairs.iter().map(|mirror| (sites(mirror), mirror.near)).collect();
    assert_eq!(named, [(["a.example:8443/d/", "b.example/e/"].map(str::to_owned), 12)]);
    assert_eq!((found.paths, found.sites), (24, 4));
}

/// After seals, merges and reopening, and with so little memory that everything is sorted in scratch
/// files.
#[test]
fn mirrors_do_not_depend_on_storage_or_memory() {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    let mut choose = simkeep_testing::choice(3);
    let mut found: Option<Mirrors> = None;
    for round in 0..4 {
        for host in 0..12_u64 {
            for page in 0..30_u64 {
                let url = format!("http://h{host}.example/{}/{page}", page % 3);
                let print = (page + host / 6 * 100).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let print = if choose(4) == 0 { choose(u64::MAX) } else { print };
                let time = 1000 * round + i64::try_from(host).unwrap();
                store.observe(Observation::content(&url, ms(time), print, EPOCH)).unwrap();
            }
            if choose(5) == 0 {
                store.seal().unwrap();
            }
        }
    }
    let mut same = |store: &Store| {
        for bytes in [0, 1 << 20] {
            let now = ask(store, &MirrorQuery::new().share(0.4).memory_bytes(bytes));
            assert_eq!(found.get_or_insert_with(|| now.clone()), &now);
        }
    };
    same(&store);
    store.seal().unwrap();
    same(&store);
    store.merge(&Progress::default()).unwrap();
    same(&store);
    store.close().unwrap();
    same(&open(&disk, small()));
    assert!(found.unwrap().mirrors > 20);
}
