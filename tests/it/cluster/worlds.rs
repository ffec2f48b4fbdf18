//! Clusters of the same visits, stored in different ways, compared with a plain loop.

#![expect(clippy::cast_possible_truncation, reason = "small random numbers")]

use std::sync::LazyLock;

use simkeep::cluster::{Balls, Clustering, ConnectedComponents, PageCluster, RankingRule};
use simkeep::disk::SimDisk;
use simkeep::load::LoadOptions;
use simkeep::{
    Classes, Digest, Epoch, Observation, Options, Prefix, Progress, PropertyUpdate, Reader,
    Restatement, Role, Scope, Snapshot, Store,
};
use simkeep_testing::clusters::{MemberPage, NaiveClusters, known};
use simkeep_testing::depth::deep;
use simkeep_testing::{choice, create, ms, on, small};

use super::by_page;

/// The number of different times of visits.
const TIMES: u64 = 40;

/// The rules that are tried.
const RULES: [&[RankingRule]; 8] = [
    &[RankingRule::FirstSeen],
    &[RankingRule::Newest],
    &[RankingRule::ShortestUrl],
    &[RankingRule::Https, RankingRule::ShortestUrl, RankingRule::FirstSeen],
    &[RankingRule::Weight],
    &[RankingRule::Weight, RankingRule::Newest],
    &[RankingRule::Canonical, RankingRule::FirstSeen],
    &[RankingRule::Https, RankingRule::Canonical],
];

/// The URLs of pages that other pages declare as canonical.
static CANONICALS: LazyLock<Vec<String>> = LazyLock::new(|| (0..100).map(url).collect());

fn url(n: u64) -> String {
    let scheme = ["http", "https"][(n % 2) as usize];
    let path = "x".repeat((n % 7) as usize);
    format!("{scheme}://h{}.example/{path}{n:03}", n % 5)
}

/// Fingerprints around a few centres, and chains of small steps.
fn fingerprint(choose: &mut impl FnMut(u64) -> u64) -> u64 {
    let centre = [0, 0x0f0f_0f0f_0f0f_0f0f, u64::MAX, 0x1234_5678_9abc_def0][choose(4) as usize];
    let flips = choose(6);
    (0..flips).fold(centre, |near, _| near ^ 1 << [0, 1, 2, 3, 17, 40, 41, 63][choose(8) as usize])
}

/// Digests of contents without a fingerprint. Two of them begin with the same eight bytes.
fn bare_digest(choose: &mut impl FnMut(u64) -> u64) -> Digest {
    let [first, last] = [[1, 1, 2][choose(3) as usize], [3, 4][choose(2) as usize]];
    let mut bytes = [first; 16];
    bytes[15] = last;
    Digest(bytes)
}

/// A visit, and its restatement.
#[derive(Clone)]
struct WorldVisit {
    page: u64,
    time: i64,
    is_gone: bool,
    fingerprint: Option<u64>,
    digest: Option<Digest>,
    restated: Option<u64>,
    weight: Option<f64>,
    canonical: Option<&'static str>,
}

impl WorldVisit {
    fn draw(pages: u64, choose: &mut impl FnMut(u64) -> u64) -> WorldVisit {
        let is_gone = choose(10) == 0;
        let fingerprint = (!is_gone && choose(6) > 0).then(|| fingerprint(choose));
        let digest = match fingerprint {
            Some(fingerprint) => (choose(2) == 0).then_some(Digest([fingerprint as u8; 16])),
            None if is_gone => None,
            None => (choose(6) > 0).then(|| bare_digest(choose)),
        };
        WorldVisit {
            page: choose(pages),
            time: choose(TIMES) as i64,
            is_gone,
            fingerprint,
            digest,
            restated: (choose(8) == 0).then(|| self::fingerprint(choose)),
            weight: (choose(6) == 0).then(|| [0.5, 2.0, 4.0][choose(3) as usize]),
            canonical: (choose(2) == 0).then(|| CANONICALS[choose(pages) as usize].as_str()),
        }
    }

    fn observation<'u>(&self, url: &'u str, epoch: Epoch) -> Observation<'u> {
        let seen = match self.is_gone {
            true => Observation::gone(url, ms(self.time)),
            false => Observation::content(url, ms(self.time), self.fingerprint, epoch),
        };
        let seen = self.digest.map_or(seen, |digest| seen.digest(digest));
        let seen = self.weight.map_or(seen, |weight| seen.weight(weight));
        self.canonical.map_or(seen, |canonical| seen.canonical(canonical))
    }

    /// Restates the content, if requested.
    fn restate(&self, store: &Store, url: &str, epoch: Epoch) {
        if let (Some(fingerprint), Some(_)) = (self.restated, self.fingerprint) {
            let restated = Restatement::new(url, ms(self.time), fingerprint, epoch);
            let restated = self.digest.map_or(restated, |digest| restated.digest(digest));
            store.restate(restated).unwrap();
        }
    }
}

fn shuffled<T: Clone>(all: &[T], choose: &mut impl FnMut(u64) -> u64) -> Vec<T> {
    let mut all = all.to_vec();
    for at in (1..all.len()).rev() {
        all.swap(at, choose(at as u64 + 1) as usize);
    }
    all
}

/// A store of these visits, stored in random order and ways; pages with other earlier visits are
/// forgotten first.
fn store(disk: &SimDisk, seen: &[WorldVisit], choose: &mut impl FnMut(u64) -> u64) -> Store {
    let mut store = create(disk, small());
    let epoch = store.change_epoch();
    // Forgotten visits leave no trace.
    let gone: Vec<WorldVisit> = (0..choose(20)).map(|_| WorldVisit::draw(30, choose)).collect();
    for seen in &gone {
        store.observe(seen.observation(&url(seen.page), epoch)).unwrap();
    }
    if choose(2) == 0 {
        store.seal().unwrap();
    }
    for seen in &gone {
        let _ = store.forget(Scope::Url(&url(seen.page))).unwrap();
    }
    let seen = shuffled(seen, choose);
    let mut rest = &seen[..];
    while !rest.is_empty() {
        let (some, later) = rest.split_at((choose(40) as usize + 1).min(rest.len()));
        rest = later;
        let urls: Vec<String> = some.iter().map(|seen| url(seen.page)).collect();
        let batch = || urls.iter().zip(some).map(|(url, seen)| seen.observation(url, epoch));
        match choose(3) {
            0 => batch().for_each(|seen| drop(store.observe(seen).unwrap())),
            1 => {
                let batch: Vec<Observation<'_>> = batch().collect();
                drop(store.observe_batch(&batch).unwrap());
            }
            _ => {
                let batch = batch().map(Ok::<_, simkeep::Error>);
                store.load(batch, LoadOptions::default()).unwrap();
            }
        }
        urls.iter().zip(some).for_each(|(url, seen)| seen.restate(&store, url, epoch));
        match choose(6) {
            0 => store.seal().unwrap(),
            1 => drop(store.merge(&Progress::default()).unwrap()),
            2 => {
                store.close().unwrap();
                store = simkeep_testing::open(disk, small());
            }
            _ => {}
        }
    }
    store
}

fn asked(k: u32, rules: &[RankingRule], at: Option<i64>) -> Clustering {
    let ranking: simkeep::cluster::Ranking = rules.iter().copied().collect();
    Clustering::within(k).rule(ranking).at(at.map(ms)).memory_bytes(1 << 20)
}

/// The distance of the fingerprints of two pages, if both have one.
fn distance(one: &MemberPage, other: &MemberPage) -> Option<u32> {
    Some((one.fingerprint? ^ other.fingerprint?).count_ones())
}

/// Properties of all clusters.
fn check_invariants(pages: &[MemberPage], k: u32) {
    let leaders: Vec<&MemberPage> = pages.iter().filter(|page| page.url == page.leader).collect();
    for page in pages {
        let leader = leaders.iter().find(|leader| leader.url == page.leader).unwrap();
        assert_eq!(distance(leader, page).unwrap_or(0), page.distance);
        assert_eq!(leader.fingerprint.is_some(), page.fingerprint.is_some());
        assert!(page.distance <= k);
    }
    for (at, one) in leaders.iter().enumerate() {
        for other in &leaders[..at] {
            assert!(distance(one, other).is_none_or(|distance| distance > k));
        }
    }
    assert_eq!(leaders.iter().map(|leader| leader.pages).sum::<u64>(), pages.len() as u64);
}

fn check(view: &Snapshot, choose: &mut impl FnMut(u64) -> u64) {
    let k = [0, 1, 2, 3, 3, 3, 5, 8, 64][choose(9) as usize];
    let rules = RULES[choose(RULES.len() as u64) as usize];
    let at = (choose(2) == 0).then(|| choose(TIMES) as i64);
    let asked = asked(k, rules, at);
    let truth = NaiveClusters::of(known(view, view.near_epoch(), at), k, rules);
    let pages = by_page(view, &asked);
    assert_eq!(pages, truth.by_page(), "{asked:?}");
    check_invariants(&pages, k);
    let clusters = asked.run(view, &Progress::default()).unwrap();
    let by_cluster = clusters.by_cluster(1).unwrap();
    let by_cluster: Vec<MemberPage> =
        by_cluster.map(|page| MemberPage::from(&page.unwrap())).collect();
    assert_eq!(by_cluster, truth.by_cluster());
    let several: Vec<MemberPage> =
        clusters.by_page(2).unwrap().map(|p| MemberPage::from(&p.unwrap())).collect();
    assert!(several.iter().eq(pages.iter().filter(|page| page.pages > 1)));
    let leads = |page: &&MemberPage| page.url == page.leader;
    let by_size: Vec<_> = clusters.by_size(1).unwrap().collect::<Result<_, _>>().unwrap();
    let leaders: Vec<&MemberPage> = by_cluster.iter().filter(leads).collect();
    assert_eq!(by_size.len(), leaders.len());
    for (cluster, leader) in by_size.iter().zip(&leaders) {
        assert_eq!((&cluster.leader, cluster.pages), (&leader.url, leader.pages));
        let members = pages.iter().filter(|page| page.leader == leader.url);
        assert_eq!(members.map(|page| page.distance).max(), Some(cluster.max_distance));
        let since = known(view, view.near_epoch(), at);
        let since = since.iter().find(|known| known.url == leader.url).unwrap().since;
        assert_eq!(cluster.first_seen, ms(since));
    }
    for (bin, count) in clusters.sizes().iter().enumerate() {
        let of_bin = by_size.iter().filter(|cluster| cluster.pages.ilog2() as usize == bin);
        assert_eq!(*count, of_bin.count() as u64);
    }
    assert_eq!(clusters.sizes().iter().sum::<u64>(), clusters.len());
    assert_eq!(clusters.pages(), pages.len() as u64);
    assert_eq!(clusters.len(), leaders.len() as u64);
    assert_eq!(clusters.largest(), by_size.first().map_or(0, |cluster| cluster.pages));
    for page in &pages {
        let of = PageCluster::of(view, &asked, &page.url).unwrap().unwrap();
        assert!(of.complete, "nothing is too much of so few");
        let own: Vec<MemberPage> = of.pages.iter().map(MemberPage::from).collect();
        let whole: Vec<MemberPage> =
            by_cluster.iter().filter(|other| other.leader == page.leader).cloned().collect();
        assert_eq!(own, whole, "around {page:?}");
        assert_eq!(of.cluster, *by_size.iter().find(|c| c.leader == page.leader).unwrap());
    }
    let fingerprinted: Vec<MemberPage> =
        pages.into_iter().filter(|page| page.fingerprint.is_some()).collect();
    check_balls(view, &asked, &fingerprinted, k);
}

/// Compares balls and components with a loop over all pairs of pages.
fn check_balls(view: &Snapshot, asked: &Clustering, pages: &[MemberPage], k: u32) {
    let labels = pages.iter().map(|page| (&page.url, if page.pages % 3 == 0 { "a" } else { "b" }));
    let balls = Balls::of(view, asked, labels, &Progress::default()).unwrap();
    let distance = |a: &MemberPage, b: &MemberPage| distance(a, b).unwrap();
    let within =
        |page: &MemberPage, k: u32| pages.iter().filter(|o| distance(page, o) <= k).count() as u64;
    assert_eq!(balls.len(), k as usize + 1);
    for of in balls.iter().step_by(1 + k as usize / 4) {
        let sizes: Vec<u64> = pages.iter().map(|page| within(page, of.k)).collect();
        assert_eq!((of.balls, of.pages), (pages.len() as u64, sizes.iter().sum()));
        assert_eq!(of.largest, sizes.iter().copied().max().unwrap_or(0));
        for (bin, count) in of.by_size.iter().enumerate() {
            let own = sizes.iter().filter(|size| size.ilog2() as usize == bin).count() as u64;
            assert_eq!(*count, own);
        }
        let (mut pairs, mut equal) = (0, 0);
        for (at, one) in pages.iter().enumerate() {
            for other in pages[..at].iter().filter(|other| distance(one, other) <= of.k) {
                pairs += 1;
                equal += u64::from((one.pages % 3 == 0) == (other.pages % 3 == 0));
            }
        }
        assert_eq!((of.labelled_pairs, of.equal_pairs), (pairs, equal));
    }
    let components = ConnectedComponents::of(view, asked, &Progress::default()).unwrap();
    let mut of: Vec<usize> = (0..pages.len()).collect();
    for at in 0..pages.len() {
        for other in 0..at {
            if distance(&pages[at], &pages[other]) <= k {
                let (one, other) = (of[at], of[other]);
                of.iter_mut().filter(|set| **set == one).for_each(|set| *set = other);
            }
        }
    }
    let mut sets = of.clone();
    sets.sort_unstable();
    sets.dedup();
    let members = |set: usize| -> Vec<&MemberPage> {
        pages.iter().zip(&of).filter(|(_, own)| **own == set).map(|(page, _)| page).collect()
    };
    assert_eq!(components.components, sets.len() as u64);
    let several = sets.iter().filter(|set| members(**set).len() > 1).count();
    assert_eq!(components.multi_page_components, several as u64);
    assert_eq!(components.largest.len(), several.min(10));
    assert!(components.largest.is_sorted_by_key(|of| std::cmp::Reverse(of.pages)));
    for component in &components.largest {
        let at = pages.iter().position(|page| page.url == component.page).unwrap();
        let members = members(of[at]);
        assert_eq!(component.pages, members.len() as u64);
        let max_distance =
            members.iter().flat_map(|a| members.iter().map(|b| distance(a, b))).max();
        assert_eq!(Some(component.max_distance), max_distance);
    }
}

#[test]
fn random_pages_cluster_like_a_plain_loop() {
    for seed in 0..deep(2_000) {
        let mut choose = choice(seed);
        let pages = 1 + choose(100);
        let seen: Vec<WorldVisit> =
            (0..choose(200)).map(|_| WorldVisit::draw(pages, &mut choose)).collect();
        let [one, other] = [SimDisk::new(), SimDisk::new()];
        let [first, second] = [&one, &other].map(|disk| store(disk, &seen, &mut choose));
        // Also at times before the first visit.
        for _ in 0..choose(30) {
            let (url, time) = (url(choose(pages)), choose(TIMES) as i64);
            let weight = [0.25, 8.0, 16.0][choose(3) as usize];
            for store in [&first, &second] {
                store.set_property(PropertyUpdate::weight(&url, ms(time), weight)).unwrap();
            }
        }
        for _ in 0..choose(pages) {
            let (url, time) = (url(choose(pages)), choose(TIMES) as i64);
            let class = choose(3) as u32;
            for store in [&first, &second] {
                store.set_property(PropertyUpdate::class(&url, ms(time), class)).unwrap();
            }
        }
        check(&first.snapshot(), &mut choose);
        let (k, rules) = (choose(5) as u32, RULES[choose(RULES.len() as u64) as usize]);
        let asked = asked(k, rules, None);
        let clusters = by_page(&first.snapshot(), &asked);
        assert_eq!(clusters, by_page(&second.snapshot(), &asked), "seed {seed}");
        drop(second);
        let reader = Reader::open(on(&other)).unwrap();
        assert_eq!(clusters, by_page(&reader.snapshot(), &asked), "seed {seed}, read");
    }
}

#[test]
fn clusters_at_a_past_time_match_the_visits_until_then() {
    for seed in 0..deep(400) {
        let mut choose = choice(seed);
        let seen: Vec<WorldVisit> = (0..200).map(|_| WorldVisit::draw(60, &mut choose)).collect();
        let time = choose(TIMES) as i64;
        let until: Vec<WorldVisit> =
            seen.iter().filter(|seen| seen.time <= time).cloned().collect();
        let [one, other] = [SimDisk::new(), SimDisk::new()];
        let all = store(&one, &seen, &mut choose);
        let until = store(&other, &until, &mut choose);
        let (k, rules) = (choose(5) as u32, RULES[choose(RULES.len() as u64) as usize]);
        let then = by_page(&all.snapshot(), &asked(k, rules, Some(time)));
        assert_eq!(then, by_page(&until.snapshot(), &asked(k, rules, None)), "seed {seed}");
        let under: Prefix = "h1.example".parse().unwrap();
        let under_one = by_page(&all.snapshot(), &asked(k, rules, Some(time)).under(under.clone()));
        let known = known(&all.snapshot(), all.snapshot().near_epoch(), Some(time));
        let known = known.into_iter().filter(|page| page.url.contains("//h1.example/")).collect();
        assert_eq!(under_one, NaiveClusters::of(known, k, rules).by_page(), "seed {seed}, {under}");
    }
}

#[test]
fn clusters_of_classes_match_a_store_without_other_pages() {
    for seed in 0..deep(400) {
        let mut choose = choice(seed);
        let seen: Vec<WorldVisit> = (0..200).map(|_| WorldVisit::draw(60, &mut choose)).collect();
        let given: Vec<(u64, i64, u32)> =
            (0..60).map(|_| (choose(60), choose(TIMES) as i64, choose(3) as u32)).collect();
        let class = |page: u64| {
            let of_page = given.iter().filter(|(of, ..)| *of == page);
            of_page.map(|(_, time, class)| (*time, *class)).max().map(|(_, class)| class)
        };
        let classes = Classes::of((0..3).filter(|_| choose(2) == 0));
        let classes = if choose(2) == 0 { classes.and_unclassed() } else { classes };
        let shown: Vec<WorldVisit> =
            seen.iter().filter(|seen| classes.contains(class(seen.page))).cloned().collect();
        let [one, other] = [SimDisk::new(), SimDisk::new()];
        let all = store(&one, &seen, &mut choose);
        let shown = store(&other, &shown, &mut choose);
        for (page, time, new) in &given {
            let url = url(*page);
            let given = PropertyUpdate::class(&url, ms(*time), *new);
            all.set_property(given.clone()).unwrap();
            if classes.contains(class(*page)) {
                shown.set_property(given).unwrap();
            }
        }
        let shown = shown.snapshot();
        let (k, rules) = (choose(5) as u32, RULES[choose(RULES.len() as u64) as usize]);
        let at = (choose(2) == 0).then(|| choose(TIMES) as i64);
        let asked = asked(k, rules, at);
        let of_classes = asked.clone().classes(classes.clone());
        let pages = by_page(&all.snapshot(), &of_classes);
        assert_eq!(pages, by_page(&shown, &asked), "seed {seed}, {classes}");
        for page in 0..60 {
            let url = url(page);
            let [own, alone] = [
                PageCluster::of(&all.snapshot(), &of_classes, &url).unwrap(),
                PageCluster::of(&shown, &asked, &url).unwrap(),
            ];
            assert_eq!(own, alone, "seed {seed}, {classes}, {url}");
        }
    }
}

/// Two epochs: a page may have a fingerprint in one and none in the other.
#[test]
fn content_without_a_fingerprint_of_the_epoch_is_clustered_by_its_digest() {
    let store = create(&SimDisk::new(), small());
    let old = store.change_epoch();
    let stale = Observation::content("http://a.example/stale", ms(1), 7, old);
    store.observe(stale.digest(Digest([1; 16]))).unwrap();
    let new = store.register_epoch("other", Role::Near).unwrap();
    for (url, time, of_old, of_new) in [
        ("http://a.example/first", 2, Some(7), None),
        ("http://a.example/copy", 3, Some(7), None),
        ("http://a.example/bare", 4, None, None),
        ("http://a.example/other", 5, None, Some(8)),
    ] {
        let seen = Observation::content(url, ms(time), of_old, old).also(of_new, new);
        store.observe(seen.digest(Digest([1; 16]))).unwrap();
        if time % 2 == 0 {
            store.seal().unwrap();
        }
    }
    let (snapshot, progress) = (store.snapshot(), Progress::default());
    let leaders = |epoch: Epoch| {
        let asked = Clustering::within(3).epoch(epoch);
        let pages = by_page(&snapshot, &asked);
        for page in &pages {
            let alone = PageCluster::of(&snapshot, &asked, &page.url).unwrap().unwrap();
            let own: Vec<MemberPage> = alone.pages.iter().map(MemberPage::from).collect();
            assert!(alone.complete && own.len() as u64 == page.pages, "{alone:?}");
            assert_eq!(own[0].url, page.leader);
        }
        let truth = NaiveClusters::of(known(&snapshot, epoch, None), 3, RULES[0]);
        assert_eq!(pages, truth.by_page());
        let without = asked.run(&snapshot, &progress).unwrap().without_fingerprint();
        let name = |url: &str| url.rsplit('/').next().unwrap().to_owned();
        let led: Vec<_> = pages.iter().map(|page| (name(&page.url), name(&page.leader))).collect();
        (led, without)
    };
    let expected = |led: &[(&str, &str)]| -> Vec<(String, String)> {
        led.iter().map(|(page, leader)| ((*page).to_owned(), (*leader).to_owned())).collect()
    };
    let of_new = [("bare", "first"), ("copy", "first"), ("first", "first"), ("other", "other")];
    assert_eq!(leaders(new), (expected(&of_new), 1));
    let of_old = [
        ("bare", "bare"),
        ("copy", "stale"),
        ("first", "stale"),
        ("other", "bare"),
        ("stale", "stale"),
    ];
    assert_eq!(leaders(old), (expected(&of_old), 0));
}

#[test]
fn key_of_the_caller_precedes_the_rules() {
    let store = create(&SimDisk::new(), Options::default());
    let epoch = store.change_epoch();
    for (url, visits) in
        [("http://a.example/", 1), ("http://b.example/", 3), ("http://c.example/", 3)]
    {
        for time in 0..visits {
            store.observe(Observation::content(url, ms(time), 7, epoch)).unwrap();
        }
    }
    let most = Clustering::within(3).key(|page| u64::MAX - page.visits);
    let leader = |asked: &Clustering| by_page(&store.snapshot(), asked)[0].leader.clone();
    assert_eq!(leader(&Clustering::within(3)), "http://a.example/");
    assert_eq!(leader(&most), "http://b.example/");
    // At that time each page had one visit.
    assert_eq!(leader(&most.clone().at(ms(0))), "http://a.example/");
    assert_eq!(leader(&most.rule(RankingRule::Newest)), "http://a.example/");
}
