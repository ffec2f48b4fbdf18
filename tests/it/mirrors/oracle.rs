//! Compares all sites with each other, as documented.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use simkeep::Observation;
use simkeep::disk::SimDisk;
use simkeep::mirror::{Mirror, MirrorQuery};
use simkeep_testing::depth::deep;
use simkeep_testing::{choice, create, ms, small};

use super::{EPOCH, ask};

/// The visits of each page in order of time: a fingerprint, or `None` if it was gone.
type MirrorWorld = BTreeMap<String, Vec<(i64, Option<u64>)>>;

/// A page with a version in force.
struct FirstVersions {
    first: i64,
    /// Fingerprints, and when they were first seen; the one in force first.
    versions: Vec<(u64, i64)>,
}

/// The comparison of two sites, the leading one first.
#[derive(Debug, PartialEq)]
struct SitePair {
    sites: [String; 2],
    is_mirror: bool,
    paths: [usize; 2],
    common: usize,
    near: usize,
    outdated: [usize; 2],
    lag: Option<i64>,
}

fn known(visits: &[(i64, Option<u64>)], at: i64) -> Option<FirstVersions> {
    let then: Vec<_> = visits.iter().filter(|(time, _)| *time <= at).collect();
    then.last().and_then(|last| last.1)?;
    let mut seen: Vec<u64> = Vec::new();
    for print in then.iter().rev().filter_map(|(_, print)| *print) {
        if !seen.contains(&print) && seen.len() < 8 {
            seen.push(print);
        }
    }
    let since = |print: &u64| then.iter().find(|(_, other)| *other == Some(*print)).unwrap().0;
    let versions = seen.iter().map(|print| (*print, since(print))).collect();
    Some(FirstVersions { first: then[0].0, versions })
}

/// The sites of a URL, with its path in each.
fn places(url: &str, depth: usize) -> Vec<(String, String)> {
    let (_, rest) = url.split_once("://").unwrap();
    let (host, path) = rest.split_once('/').unwrap();
    let mut places = vec![(format!("{host}/"), path.to_owned())];
    while places.len() <= depth {
        let (site, path) = places.last().unwrap();
        let folders = path.split('?').next().unwrap();
        let Some((folder, _)) = folders.split_once('/') else { break };
        places.push((format!("{site}{folder}/"), path[folder.len() + 1..].to_owned()));
    }
    places
}

/// The nearest versions of two pages, and which versions of each page they are.
fn nearest(a: &FirstVersions, b: &FirstVersions) -> (u32, [usize; 2]) {
    let distance = |at: [usize; 2]| (a.versions[at[0]].0 ^ b.versions[at[1]].0).count_ones();
    let firsts = (0..a.versions.len()).map(|at| [at, 0]);
    let all = firsts.chain((1..b.versions.len()).map(|at| [0, at]));
    all.map(|at| (distance(at), at)).min_by_key(|(bits, at)| (*bits, at[0] + at[1])).unwrap()
}

fn compare(
    sites: [&String; 2],
    of: [&BTreeMap<String, FirstVersions>; 2],
    asked: &MirrorQuery,
) -> Option<SitePair> {
    let [a, b] = of;
    let (mut near, mut outdated) = (0, [0; 2]);
    let (mut later, mut changes) = (Vec::new(), Vec::new());
    let common: Vec<_> = a.iter().filter_map(|(path, page)| Some((page, b.get(path)?))).collect();
    for (one, other) in &common {
        let (distance, at) = nearest(one, other);
        if distance > asked.k.unwrap() {
            continue;
        }
        near += 1;
        outdated[0] += usize::from(at[1] > 0);
        outdated[1] += usize::from(at[0] > 0);
        let (of_one, of_other) = (one.versions[at[0]].1, other.versions[at[1]].1);
        later.push(of_other - of_one);
        if of_one > one.first && of_other > other.first {
            changes.push(of_other - of_one);
        }
    }
    let share = near as f64 / (a.len() + b.len() - common.len()) as f64;
    if (near as u64) < asked.paths || share < asked.share / 4.0 {
        return None;
    }
    let first = |all: &[i64]| {
        let earlier = all.iter().filter(|later| **later > 0).count();
        earlier.cmp(&all.iter().filter(|later| **later < 0).count())
    };
    let leads = first(&changes).then(first(&later)) == Ordering::Less;
    changes.iter_mut().for_each(|later| *later = if leads { -*later } else { *later });
    changes.sort_unstable();
    let lag = (!changes.is_empty()).then(|| changes[(changes.len() - 1) / 2].max(0));
    let mut pair = SitePair {
        sites: sites.map(String::clone),
        is_mirror: share >= asked.share,
        paths: [a.len(), b.len()],
        common: common.len(),
        near,
        outdated,
        lag,
    };
    if leads {
        pair.sites.reverse();
        pair.paths.reverse();
        pair.outdated.reverse();
    }
    Some(pair)
}

/// The parent of a folder, and the name of the folder.
fn up(site: &str) -> Option<(String, String)> {
    let (above, name) = site.trim_end_matches('/').rsplit_once('/')?;
    Some((format!("{above}/"), name.to_owned()))
}

/// Whether the folders around two sites are already reported as mirrors, directly or through others.
fn is_implied(sites: &[String; 2], found: &[SitePair], partial: bool) -> bool {
    let [Some((a, name)), Some((b, other))] = [up(&sites[0]), up(&sites[1])] else { return false };
    if name != other {
        return false;
    }
    let mut family = BTreeSet::from([&a]);
    for _ in 0..found.len() {
        for mirror in found.iter().filter(|pair| pair.is_mirror) {
            if mirror.sites.iter().any(|site| family.contains(site)) {
                family.extend(&mirror.sites);
            }
        }
    }
    let is_pair = |pair: &SitePair| pair.sites.contains(&a) && pair.sites.contains(&b) && a != b;
    family.contains(&b)
        || partial && found.iter().any(is_pair)
        || is_implied(&[a, b], found, partial)
}

fn deep_of(site: &str) -> usize {
    site.matches('/').count() - 1
}

fn expected(world: &MirrorWorld, asked: &MirrorQuery) -> Vec<SitePair> {
    let mut sites: BTreeMap<String, BTreeMap<String, FirstVersions>> = BTreeMap::new();
    let at = asked.at.unwrap_or(ms(i64::MAX));
    // If a page has both schemes, https comes last and replaces http.
    for (url, visits) in world {
        if known(visits, at.as_ms()).is_some() {
            for (site, path) in places(url, asked.depth.into()) {
                sites.entry(site).or_default().insert(path, known(visits, at.as_ms()).unwrap());
            }
        }
    }
    let mut pairs = Vec::new();
    // In SURT order, which is that of these sites.
    for (a, of_a) in &sites {
        for (b, of_b) in sites.range(a.clone()..).skip(1) {
            pairs.extend(compare([a, b], [of_a, of_b], asked));
        }
    }
    let mut found: Vec<SitePair> = Vec::new();
    for deep in 0..=asked.depth.into() {
        let (now, rest): (Vec<_>, Vec<_>) = pairs.into_iter().partition(|pair: &SitePair| {
            pair.sites.iter().map(|site| deep_of(site)).min() == Some(deep)
        });
        pairs = rest;
        let named =
            now.into_iter().filter(|pair| !is_implied(&pair.sites, &found, !pair.is_mirror));
        let named: Vec<SitePair> = named.collect();
        found.extend(named);
    }
    found.sort_by(|a, b| a.sites.cmp(&b.sites));
    found
}

fn site_pair(mirror: &Mirror) -> SitePair {
    let sites = [&mirror.leader, &mirror.follower];
    let number = |n: u64| usize::try_from(n).unwrap();
    assert_eq!(mirror.differing(), mirror.common - mirror.near);
    assert_eq!(mirror.examples.len(), number(mirror.common.min(10)));
    for example in &mirror.examples {
        for (url, site) in [(&example.leader, sites[0]), (&example.follower, sites[1])] {
            assert!(url.contains(&site.site.to_string()), "{url} is not of {}", site.site);
        }
    }
    let union = sites[0].paths + sites[1].paths - mirror.common;
    assert_eq!(mirror.share, mirror.near as f64 / union as f64);
    SitePair {
        sites: sites.map(|site| site.site.to_string()),
        is_mirror: mirror.is_mirror,
        paths: sites.map(|site| number(site.paths)),
        common: number(mirror.common),
        near: number(mirror.near),
        outdated: sites.map(|site| number(site.outdated)),
        lag: mirror.lag,
    }
}

/// Small worlds, in which no site has more paths than the sample, nor more candidates than the limit.
#[test]
fn small_worlds_match_an_exhaustive_comparison() {
    let (mut mirrors, mut partial, mut lags, mut outdated) = (0, 0, 0, 0);
    for seed in 0..deep(4000) {
        let mut choose = choice(seed);
        let mut world = MirrorWorld::new();
        let store = create(&SimDisk::new(), small());
        // Deep folders on two hosts, or shallow folders on two or three hosts.
        let depth = if choose(2) == 0 { 1 } else { 2 };
        let (hosts, folders) = match depth {
            1 => (2 + choose(2), ["", "", "x/", "y/"]),
            _ => (2, ["", "x/", "x/y/", "y/"]),
        };
        let likeness = 1 + choose(12);
        for host in 0..hosts {
            for _ in 0..1 + choose(14) {
                let folder = folders[usize::try_from(choose(4)).unwrap()];
                let page = choose(4);
                let scheme = if choose(5) == 0 { "http" } else { "https" };
                let url = format!("{scheme}://h{host}.example/{folder}{page}");
                let visits = world.entry(url).or_default();
                for _ in 0..1 + choose(3) {
                    let time = i64::try_from(choose(1000)).unwrap();
                    if visits.iter().any(|(other, _)| *other == time) {
                        continue;
                    }
                    let of = (page << 3) + choose(2) + if choose(likeness) == 0 { 64 } else { 0 };
                    let near = 1_u64 << choose(64) & 0_u64.wrapping_sub(choose(2));
                    let print = of.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ near;
                    visits.push((time, (choose(12) > 0).then_some(print)));
                }
            }
        }
        let mut all: Vec<_> =
            world.iter().flat_map(|(url, v)| v.iter().map(move |v| (url, *v))).collect();
        for at in (1..all.len()).rev() {
            all.swap(at, usize::try_from(choose(at as u64 + 1)).unwrap());
        }
        for (url, (time, print)) in all {
            store
                .observe(match print {
                    Some(print) => Observation::content(url, ms(time), print, EPOCH),
                    None => Observation::gone(url, ms(time)),
                })
                .unwrap();
        }
        world.values_mut().for_each(|visits| visits.sort_unstable());
        let asked = MirrorQuery::new().within(3).depth(depth).paths(2).share(0.6);
        for asked in [asked.clone(), asked.at(ms(500))] {
            let found = ask(&store, &asked);
            let mut pairs: Vec<SitePair> = found.pairs.iter().map(site_pair).collect();
            pairs.sort_by(|a, b| a.sites.cmp(&b.sites));
            let expected = expected(&world, &asked);
            assert_eq!(pairs, expected, "seed {seed}: {world:#?}");
            let count =
                |is_it: bool| pairs.iter().filter(|pair| pair.is_mirror == is_it).count() as u64;
            assert_eq!((found.mirrors, found.partial), (count(true), count(false)));
            mirrors += found.mirrors;
            partial += found.partial;
            lags += pairs.iter().filter(|pair| pair.lag > Some(0)).count();
            outdated += pairs.iter().map(|pair| pair.outdated[1]).sum::<usize>();
        }
    }
    eprintln!("{mirrors} mirrors, {partial} others, {lags} that lag, {outdated} outdated pages");
    assert!(mirrors > 10 && partial > 10 && lags > 10 && outdated > 10);
}
