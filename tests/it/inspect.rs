//! Compares the figures of inspection with an exhaustive search.

#![expect(clippy::cast_possible_truncation, reason = "small random numbers")]

use std::collections::{BTreeMap, BTreeSet};

use simkeep::disk::SimDisk;
use simkeep::inspect::{Census, Overview, SegmentView, Trace, Version, VersionKind, versions};
use simkeep::{Content, Epoch, Error, Observation, Progress, Scope, Snapshot, Store, Verdict};
use simkeep_testing::depth::deep;
use simkeep_testing::pages::{PREFIXES, URLS};
use simkeep_testing::{choice, create, ms, on, small};

const DAY: i64 = 86_400_000;

fn visit(choose: &mut impl FnMut(u64) -> u64) -> Observation<'static> {
    let url = URLS[choose(URLS.len() as u64) as usize];
    let time = choose(900) as i64 * DAY;
    match choose(9) {
        0 => Observation::gone(url, ms(time)),
        1 => Observation::failed(url, ms(time)),
        2 => Observation::not_modified(url, ms(time)),
        3 => Observation::content(url, ms(time), None, Epoch::from_number(0)),
        _ => {
            let epoch = Epoch::from_number(choose(2) as u32);
            Observation::content(url, ms(time), choose(4) << 60 | choose(3), epoch)
        }
    }
}

/// A store in several parts, some of whose pages are forgotten.
fn store(choose: &mut impl FnMut(u64) -> u64) -> Store {
    let store = create(&SimDisk::new(), small());
    for _ in 0..80 {
        match choose(24) {
            0 | 1 => store.seal().unwrap(),
            2 => drop(store.merge(&Progress::default()).unwrap()),
            3 => {
                let under = &PREFIXES[choose(PREFIXES.len() as u64) as usize];
                store.forget(Scope::Prefix(under.prefix())).unwrap();
            }
            4 => {
                let url = URLS[choose(URLS.len() as u64) as usize];
                store.forget(Scope::Url(url)).unwrap();
            }
            _ => drop(store.observe(visit(choose)).unwrap()),
        }
    }
    store
}

fn check_census(view: &Snapshot) {
    let census = Census::of(view, &Progress::default()).unwrap();
    let pages: Vec<_> = view.scan(None).map(|page| page.unwrap()).collect();
    let count = |is: &dyn Fn(&simkeep::Page) -> bool| pages.iter().filter(|p| is(p)).count() as u64;
    assert_eq!(census.pages, pages.len() as u64);
    assert_eq!(census.in_force, count(&|page| page.content.is_some()));
    assert_eq!(census.gone, count(&|page| page.gone));
    assert_eq!(census.in_force + census.gone + census.never, census.pages);
    assert_eq!(census.visits, pages.iter().map(|page| page.visits).sum::<u64>());
    assert_eq!(census.first, pages.iter().map(|page| page.first).min());
    assert_eq!(census.last, pages.iter().map(|page| page.last.time).max());

    let (mut ones, mut of, mut without) = ([0; 64], BTreeMap::new(), 0);
    for page in pages.iter().filter(|page| page.content.is_some()) {
        let own = page.contents.iter().find(|content| content.epoch == view.near_epoch());
        let Some(fingerprint) = own.and_then(|content| content.fingerprint) else {
            without += 1;
            continue;
        };
        *of.entry(fingerprint).or_insert(0_u64) += 1;
        (0..64).for_each(|bit| ones[bit] += fingerprint >> bit & 1);
    }
    let found = &census.fingerprints;
    assert_eq!((found.pages, found.without), (of.values().sum::<u64>(), without));
    assert_eq!(census.sample.len() as u64, found.pages);
    let now = |url: &str| view.latest(url).unwrap().unwrap().contents;
    let has = |page: &simkeep::inspect::SampledPage| {
        now(&page.url).iter().any(|content| content.fingerprint == Some(page.fingerprint))
    };
    assert!(census.sample.iter().all(has));
    assert_eq!((found.ones.as_slice(), found.distinct), (&ones[..], of.len() as u64));
    assert_eq!(found.popcounts.iter().sum::<u64>(), found.pages);
    assert_eq!(found.values.iter().sum::<u64>(), found.pages);
    assert_eq!(found.shared.iter().sum::<u64>(), found.distinct);
    let most = of.iter().map(|(fingerprint, pages)| (*pages, !fingerprint)).max();
    assert_eq!(found.commonest, most.map(|(pages, not)| (!not, pages)));

    let (mut distances, mut verdicts) = (vec![0; 65], 0);
    for page in &pages {
        for entry in view.history(&page.url).unwrap() {
            let Some((_, verdict)) = entry.visit() else { continue };
            verdicts += 1;
            if let Some(distance) = verdict.distance() {
                distances[distance.bits as usize] += 1;
            }
        }
    }
    assert_eq!(census.distances, distances);
    let sums = census.periods.iter().map(|period| period.verdicts.visits());
    assert_eq!(sums.sum::<u64>() + census.outside.visits(), verdicts);
    assert!(census.periods.is_sorted_by_key(|period| period.from));
    assert!(census.changing.iter().sum::<u64>() <= census.pages);

    let host = |url: &str| url.split('/').nth(2).unwrap_or_default().to_owned();
    let hosts: BTreeSet<String> = pages.iter().map(|page| host(&page.url)).collect();
    assert!(census.hosts > 0 || hosts.is_empty());
    let named: u64 = census.largest_hosts.iter().map(|host| host.pages).sum();
    assert!(named == census.pages || census.largest_hosts.len() == 20);
}

fn check_overview(store: &Store, view: &Snapshot) {
    let (overview, stats) = (Overview::of(view).unwrap(), store.stats().unwrap());
    assert_eq!((overview.pages, overview.visits), (stats.pages, stats.visits));
    let census = Census::of(view, &Progress::default()).unwrap();
    let states = (overview.in_force, overview.gone, overview.never);
    assert_eq!(states, (census.in_force, census.gone, census.never));
    // Forgotten pages may still be counted.
    assert!(overview.first <= census.first && overview.last >= census.last);
    assert!(census.first.is_none() || overview.first.is_some());
    let ids: Vec<u64> = overview.segments.iter().map(|segment| segment.id).collect();
    assert_eq!(ids, stats.segments.iter().map(|segment| segment.id).collect::<Vec<_>>());
    let space: u64 = overview.space.iter().map(|space| space.bytes).sum();
    let bytes: u64 = overview.segments.iter().map(|segment| segment.bytes).sum();
    assert_eq!((space, bytes), (stats.segment_bytes, stats.segment_bytes));
    assert!(overview.segments.iter().all(|s| (0.0..=1.0).contains(&s.superseded)));
    assert!(overview.hosts.iter().map(|host| host.share).sum::<f64>() <= 1.0 + 1e-9);
    for id in ids {
        let segment = SegmentView::of(view, id).unwrap().unwrap();
        let ends = segment.sections.iter().map(|section| section.offset + section.bytes);
        let next = segment.sections.iter().skip(1).map(|section| section.offset);
        assert!(ends.zip(next.chain([segment.bytes])).all(|(end, next)| end <= next));
        let fingerprints: u64 = segment.tables.iter().map(|of| u64::from(of.fingerprints)).sum();
        assert_eq!(fingerprints, segment.fingerprints);
    }
    assert!(SegmentView::of(view, u64::MAX).unwrap().is_none());
}

fn check_traces(view: &Snapshot) {
    for url in URLS {
        let trace = Trace::of(view, url).unwrap();
        assert_eq!(trace.as_ref().map(|trace| &trace.page), view.latest(url).unwrap().as_ref());
        let Some(trace) = trace else { continue };
        assert_eq!(trace.history, view.history(url).unwrap());
        let entries: usize = trace.records.iter().map(|record| record.entries).sum();
        // An entry that is observed twice may be in two records.
        assert!(entries >= trace.history.len());
        let (last, others) = trace.records.split_last().unwrap();
        assert!(last.is_first || trace.records.len() > 1 || !trace.history.is_empty());
        assert!(others.iter().all(|place| !place.is_first));
        let versions = versions(&trace.history);
        let visits = trace.history.iter().filter(|entry| entry.visit().is_some()).count();
        assert_eq!(versions.iter().map(|version| version.visits).sum::<u64>(), visits as u64);
        let mut numbers = 0;
        for version in &versions {
            assert!(version.visit.time <= version.last);
            let returns = matches!(version.verdict, Verdict::Reverted { .. });
            assert_eq!(version.back_to.is_some(), returns, "{version:?}");
            let VersionKind::Content(number) = version.kind else { continue };
            numbers += 1;
            assert_eq!(number, numbers);
            let distance = version.verdict.distance();
            let (bits, reported) = (version.differing, distance.map(|distance| distance.bits));
            assert_eq!(bits.map(u64::count_ones), reported, "{version:?} of {versions:#?}");
            if let (Some(before), Some(content)) = (version.back_to, version.visit.seen.content()) {
                let is_of = |v: &&Version| v.kind == VersionKind::Content(before);
                let before = versions.iter().find(is_of).unwrap();
                let digests = before.contents.iter().map(|own| own.digest);
                let same = |own: &Content| own.compared() == content.compared();
                let is_same = digests.into_iter().any(|d| d.is_some() && d == content.digest);
                assert!(is_same || before.contents.iter().any(same), "{version:?} {before:?}");
            }
        }
    }
}

#[test]
fn inspection_matches_the_contents() {
    for seed in 0..deep(300) {
        let mut choose = choice(seed);
        let store = store(&mut choose);
        let view = store.snapshot();
        check_census(&view);
        check_overview(&store, &view);
        check_traces(&view);
    }
}

/// A snapshot does not change, and neither do its figures.
#[test]
fn census_of_a_snapshot_ignores_later_pages() {
    let store = create(&SimDisk::new(), small());
    store.observe(Observation::content(URLS[0], ms(0), 1, Epoch::from_number(0))).unwrap();
    let before = store.snapshot();
    store.observe(Observation::content(URLS[1], ms(0), 1, Epoch::from_number(0))).unwrap();
    let census = Census::of(&before, &Progress::default()).unwrap();
    assert_eq!((census.pages, Overview::of(&before).unwrap().unsealed_pages), (1, 1));
    assert!(Trace::of(&before, URLS[1]).unwrap().is_none());
}

#[test]
fn census_can_be_cancelled() {
    let store = create(&SimDisk::new(), small());
    store.observe(Observation::gone(URLS[0], ms(0))).unwrap();
    let progress = Progress::default();
    progress.cancel();
    assert!(matches!(Census::of(&store.snapshot(), &progress), Err(Error::Cancelled)));
}

/// The ratios of evenly distributed hosts are about right.
#[test]
fn large_hosts_are_named_with_their_ratio() {
    let store = create(&SimDisk::new(), simkeep::Options::default());
    for page in 0..1000 {
        // Half of the pages, a quarter of them, and 250 hosts with one page each.
        let host = match page % 4 {
            0 | 1 => "half.example".to_owned(),
            2 => "quarter.example".to_owned(),
            _ => format!("one-{page}.example"),
        };
        let url = format!("https://{host}/{page}");
        store.observe(Observation::gone(&url, ms(0))).unwrap();
        if page == 700 {
            store.seal().unwrap();
        }
    }
    store.seal().unwrap();
    let hosts = Overview::of(&store.snapshot()).unwrap().hosts;
    let names: Vec<&str> = hosts.iter().map(|host| host.host.as_str()).collect();
    assert_eq!(names, ["half.example", "quarter.example"]);
    assert!(
        (hosts[0].share - 0.5).abs() < 0.05 && (hosts[1].share - 0.25).abs() < 0.05,
        "{hosts:?}"
    );
}

/// A reader includes the effect of unsealed operations on the figures of a store.
#[test]
fn reader_counts_match_the_store() {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    for url in URLS {
        store.observe(Observation::content(url, ms(5), 1, Epoch::from_number(0))).unwrap();
    }
    let (pages, visits) = (store.stats().unwrap().pages, store.stats().unwrap().visits);
    store.close().unwrap();
    let view = simkeep::Reader::open(on(&disk)).unwrap().snapshot();
    let overview = Overview::of(&view).unwrap();
    assert_eq!((overview.pages, overview.visits), (pages, visits));
    assert_eq!(Census::of(&view, &Progress::default()).unwrap().pages, pages);
}
