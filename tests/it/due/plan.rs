//! Priors and plans do not depend on the order of visits or on storage.

#![expect(clippy::cast_possible_truncation, reason = "small random numbers")]

use std::collections::BTreeMap;

use simkeep::disk::SimDisk;
use simkeep::due::{Decision, Due, LearnedPriors, Plan, Rule, Rules};
use simkeep::load::LoadOptions;
use simkeep::recrawl::{Belief, Fit, HostPriors, Likelihood, Prior, Priors, Rate};
use simkeep::{
    Changes, Epoch, Error, Observation, Prefix, Progress, Reader, Scope, Snapshot, Store,
};
use simkeep_testing::{choice, create, ms, on, small};

const DAY: i64 = 86_400_000;

/// Hosts with twelve pages and with one. The pages of every third host change between most visits.
fn visits() -> Vec<Observation<'static>> {
    let mut choose = choice(7);
    let mut visits = Vec::new();
    for host in 0..12_u64 {
        for page in 0..if host % 4 == 3 { 1 } else { 12 } {
            let url = format!("https://h{host}.example/{page}").leak();
            let often = host % 3 == 0;
            let (mut time, mut fingerprint) = (choose(DAY as u64).cast_signed(), 0);
            for _ in 0..8 {
                let changes = choose(10) < if often { 7 } else { 1 };
                fingerprint = if changes { choose(u64::MAX) } else { fingerprint };
                let observation =
                    Observation::content(url, ms(time), fingerprint, Epoch::from_number(0));
                let weight = [0.5, 1.0, 4.0][choose(3) as usize];
                visits.push(if choose(5) == 0 { observation.weight(weight) } else { observation });
                time += (1 + choose(12)).cast_signed() * DAY + choose(1000).cast_signed();
            }
        }
    }
    visits
}

fn rules() -> Rules {
    let rule = |text| Rule::under(Prefix::parse(text).unwrap());
    Rules::new([
        rule("h1.example").min("9d".parse().unwrap()).weight(3.0),
        rule("h2.example").max("3d".parse().unwrap()),
        rule("h4.example").policy("fixed:5d".parse().unwrap()),
        rule("h5.example").policy("nutch".parse().unwrap()),
    ])
    .unwrap()
}

/// The stores that result from the same visits in different orders.
fn stores(visits: &[Observation<'static>]) -> Vec<(SimDisk, Store)> {
    let mut shuffled = visits.to_vec();
    let mut choose = choice(11);
    for at in (1..shuffled.len()).rev() {
        shuffled.swap(at, choose(at as u64 + 1) as usize);
    }
    let new = || {
        let disk = SimDisk::new();
        let store = create(&disk, small());
        (disk, store)
    };
    let observe = |store: &Store, visits: &[Observation<'static>]| {
        visits.iter().for_each(|visit| drop(store.observe(*visit).unwrap()));
    };
    let (in_order, loaded, late, mended) = (new(), new(), new(), new());
    observe(&in_order.1, visits);
    loaded.1.load(visits.iter().map(|visit| Ok(*visit)), LoadOptions::default()).unwrap();
    for (number, some) in shuffled.chunks(100).enumerate() {
        observe(&late.1, some);
        late.1.seal().unwrap();
        if number == 4 {
            late.1.merge(&Progress::default()).unwrap();
        }
    }
    observe(&mended.1, &shuffled[..300]);
    mended.1.observe(Observation::gone("https://other.example/", ms(DAY))).unwrap();
    mended.1.seal().unwrap();
    mended.1.forget(Scope::Url("https://other.example/")).unwrap();
    observe(&mended.1, &shuffled[300..]);
    vec![in_order, loaded, late, mended]
}

fn all(view: &Snapshot, due: &Due) -> Vec<Decision> {
    view.due(due).map(|page| page.unwrap()).collect()
}

fn figures(plan: &Plan) -> [f64; 5] {
    [plan.threshold(), plan.visits_per_day(), plan.freshness(), plan.pages(), plan.rarely_visited()]
}

#[test]
fn decisions_do_not_depend_on_arrival_order_or_storage() {
    let now = 110 * DAY;
    for policy in ["value", "crawl-value", "harmonic", "thesis"] {
        let due = Due::new(ms(now), usize::MAX).rules(&rules()).policy(policy.parse().unwrap());
        let mut expected = None;
        for (disk, store) in stores(&visits()) {
            let unsealed = store.snapshot();
            store.seal().unwrap();
            let reader = Reader::open(on(&disk)).unwrap();
            for view in [unsealed, store.snapshot(), reader.snapshot()] {
                let plan = Plan::of(&view, &due, 10.0).unwrap();
                let found = (all(&view, &due.clone().plan(&plan)), figures(&plan));
                let expected = expected.get_or_insert_with(|| found.clone());
                for (one, other) in found.0.iter().zip(&expected.0) {
                    assert_eq!(one, other, "{policy}");
                }
                assert_eq!(found, *expected, "{policy}");
            }
        }
    }
}

/// Rules with weights in a unit.
fn rules_in(unit: f64) -> Rules {
    let rule = |text| Rule::under(Prefix::parse(text).unwrap());
    Rules::new([
        Rule::everywhere().weight(unit),
        rule("h1.example").min("9d".parse().unwrap()).weight(3.0 * unit),
        rule("h2.example").max("3d".parse().unwrap()).weight(0.3 * unit),
    ])
    .unwrap()
}

#[test]
fn plan_does_not_depend_on_the_unit_of_weights() {
    let (_disk, store) = stores(&visits()).remove(0);
    let view = store.snapshot();
    for policy in ["value", "crawl-value", "harmonic"] {
        let planned = |unit: f64| {
            let due = Due::new(ms(110 * DAY), usize::MAX).rules(&rules_in(unit));
            let due = due.policy(policy.parse().unwrap());
            let plan = Plan::of(&view, &due, 10.0).unwrap();
            let pages = all(&view, &due.plan(&plan)).into_iter();
            let pages: Vec<_> = pages.map(|page| (page.page.url, page.every, page.due)).collect();
            let [threshold, rest @ ..] = figures(&plan);
            (threshold / unit, rest, pages)
        };
        let expected = planned(1.0);
        assert!(!expected.2.is_empty() && expected.1[0] > 9.9, "{:?}", expected.1);
        for octaves in [-330, -60, -1, 1, 60, 330] {
            assert_eq!(planned(2_f64.powi(octaves)), expected, "{policy}, 2^{octaves}");
        }
        for unit in [1e-99, 1e-18, 1e19, 1e99] {
            let (threshold, rest, pages) = planned(unit);
            assert!((threshold / expected.0 - 1.0).abs() < 1e-4, "{policy}, {unit}");
            assert!((rest[0] / expected.1[0] - 1.0).abs() < 1e-4, "{policy}, {unit}");
            assert_eq!(pages.len(), expected.2.len(), "{policy}, {unit}");
        }
    }
}

#[test]
fn page_is_expected_to_change_like_its_host() {
    let (_disk, store) = stores(&visits()).remove(0);
    let view = store.snapshot();
    let plan = Plan::of(&view, &Due::new(ms(110 * DAY), 0).rules(&rules()), 10.0).unwrap();
    let rate = |host: u32| plan.of_new(&format!("https://h{host}.example/new")).unwrap().rate;
    for often in [0, 6, 9] {
        for seldom in [1, 2, 4] {
            assert!(rate(often).per_day > 2.0 * rate(seldom).per_day);
        }
    }
    // A page that was never seen comes soon.
    let new = plan.of_new("https://new.example/").unwrap();
    assert!(new.value > plan.threshold() && new.weight == 1.0);
    assert_eq!(plan.of_new("https://h1.example/new").unwrap().weight, 3.0);
    assert!(matches!(plan.of_new(""), Err(Error::Url(_))));
}

/// Computed with the public functions of `recrawl`, and all comparisons of each page.
#[test]
fn belief_combines_other_pages_of_the_host_and_own_visits() {
    let (_disk, store) = stores(&visits()).remove(0);
    let view = store.snapshot();
    let plan = Plan::of(&view, &Due::new(ms(110 * DAY), 0), 10.0).unwrap();
    let priors = Priors::default();
    let mut hosts: BTreeMap<String, (Fit, Vec<_>)> = BTreeMap::new();
    for page in view.scan(None).map(|page| page.unwrap()) {
        let mut likelihood = Likelihood::flat();
        for (comparison, times) in page.changes.counted(Changes::RETURN_SHARE) {
            likelihood.add(comparison, times).unwrap();
        }
        let host = page.url.split('/').nth(2).unwrap().to_owned();
        let (fit, pages) = hosts.entry(host).or_default();
        let evidence = priors.evidence(&likelihood);
        fit.add(&evidence);
        pages.push((page.url, evidence, likelihood));
    }
    let learned = HostPriors::new(hosts.values().map(|(fit, _)| fit));
    for (fit, pages) in hosts.values() {
        for (url, own, likelihood) in pages {
            let expected = Belief::new(&learned.prior(&fit.without(own)), likelihood).rate();
            let found = plan.decide(&view, url).unwrap().unwrap().rate;
            let pairs = [
                (expected.per_day, found.per_day),
                (expected.low, found.low),
                (expected.high, found.high),
            ];
            for (expected, found) in pairs {
                // A row keeps only the average of several intervals.
                assert!((found / expected).ln().abs() < 0.25, "{url}: {found} is not {expected}");
            }
        }
    }
}

#[test]
fn nothing_is_learned_from_fewer_than_twenty_pages() {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    let default = Belief::new(&Prior::default(), &Likelihood::flat()).rate();
    let of_new = |store: &Store| -> Rate {
        let plan = Plan::of(&store.snapshot(), &Due::new(ms(0), 0), 1.0).unwrap();
        plan.of_new("https://example.org/").unwrap().rate
    };
    for page in 0..20 {
        assert_eq!(LearnedPriors::of(&store.snapshot()).unwrap().pages(), page);
        assert_eq!(of_new(&store), default);
        for day in 0..3_u32 {
            let url = format!("https://example.com/{page}");
            let (time, fingerprint) = (i64::from(day) * DAY, u64::from(u32::MAX) << (8 * day));
            store
                .observe(Observation::content(&url, ms(time), fingerprint, store.change_epoch()))
                .unwrap();
        }
    }
    assert!(of_new(&store).per_day > default.per_day);
}

#[test]
fn plan_rejects_bad_rates_and_another_stores_priors() {
    let (_disk, store) = stores(&visits()).remove(0);
    let due = Due::new(ms(110 * DAY), 10);
    for per_day in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let refused = Plan::of(&store.snapshot(), &due, per_day);
        assert!(matches!(refused, Err(Error::InvalidOption { name: "per_day", .. })), "{per_day}");
    }
    // Any number of visits is valid: none may suffice for the largest interval, or all may be used.
    let least = Plan::of(&store.snapshot(), &due, 1e-300).unwrap();
    assert!(least.threshold().is_infinite() && least.visits_per_day() > 0.2);
    assert_eq!(least.rarely_visited(), least.pages());
    let most = Plan::of(&store.snapshot(), &due, 1e300).unwrap();
    assert!(most.threshold() < 1e-9 && most.freshness() > 0.999);
    let folder = tempfile::tempdir().unwrap();
    let [other, another] =
        ["a", "b"].map(|name| Store::create(folder.path().join(name), small()).unwrap());
    let mut found =
        other.snapshot().due(&due.learned(&LearnedPriors::of(&another.snapshot()).unwrap()));
    let said = found.next().unwrap().unwrap_err().to_string();
    assert!(said.contains("from another store"), "{said}");
    // A store without pages has nothing to plan.
    let plan = Plan::of(&other.snapshot(), &Due::new(ms(0), 0), 5.0).unwrap();
    assert_eq!((plan.pages(), plan.visits_per_day()), (0.0, 0.0));
    assert_eq!(plan.decide(&other.snapshot(), "https://example.com/").unwrap(), None);
}
