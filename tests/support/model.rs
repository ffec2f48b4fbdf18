//! The truth that a store is compared with: the set of observations, and the slowest way to every
//! answer.

use std::collections::{BTreeMap, BTreeSet};

use simkeep::{
    Content, Digest, Epoch, ExactCopy, Forgotten, Near, Observation, Outcome, Page, Query, SameBy,
    Seen, Verdict, Version, Versions, Visit,
};

use super::pages::{PREFIXES, Place};

/// How many of the last contents of a page can be returned to.
const WINDOW: usize = 8;

/// Every visit of every page, in SURT order of the pages and in order of the visits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Model {
    pages: BTreeMap<Place, BTreeSet<Visit>>,
}

fn distance(a: &Content, b: &Content) -> Option<u32> {
    (a.epoch == b.epoch).then(|| (a.fingerprint ^ b.fingerprint).count_ones())
}

fn same_digest(a: &Content, b: &Content) -> bool {
    a.digest.is_some() && a.digest == b.digest
}

fn same_fingerprint(a: &Content, b: &Content) -> bool {
    distance(a, b) == Some(0)
}

/// Whether a page with these visits is gone.
fn gone(visits: &[Visit]) -> bool {
    visits.iter().rev().find(|v| v.seen != Seen::Failed).is_some_and(|v| v.seen == Seen::Gone)
}

/// The distinct contents, the one last seen first, with when that was.
fn contents(visits: &[Visit]) -> Vec<(Content, i64)> {
    let mut contents: Vec<(Content, i64)> = Vec::new();
    for visit in visits.iter().rev() {
        if let Seen::Content(content) = visit.seen
            && contents.iter().all(|(c, _)| *c != content)
        {
            contents.push((content, visit.time));
        }
    }
    contents
}

/// The content in force, and when it was last seen.
fn in_force(visits: &[Visit]) -> Option<(Content, i64)> {
    if gone(visits) { None } else { contents(visits).first().copied() }
}

/// What a visit means after these.
pub(crate) fn judge(before: &[Visit], visit: &Visit) -> Verdict {
    let mut known = contents(before);
    known.truncate(WINDOW);
    let last = known.first().copied();
    let is_gone = gone(before);
    match (&visit.seen, last) {
        (Seen::Gone, _) => Verdict::Gone,
        (Seen::Failed, _) => Verdict::Failed,
        (_, None) => Verdict::New,
        (Seen::NotModified { .. }, Some((_, to))) if is_gone => {
            Verdict::Reverted { to, distance: Some(0) }
        }
        (Seen::NotModified { .. }, Some(_)) => Verdict::Same(SameBy::Word),
        (Seen::Content(content), Some((last, _))) => {
            if !is_gone && same_digest(content, &last) {
                return Verdict::Same(SameBy::Digest);
            }
            if !is_gone && same_fingerprint(content, &last) {
                return Verdict::Same(SameBy::Fingerprint);
            }
            let by_digest = known.iter().find(|(c, _)| same_digest(c, content));
            let by_fingerprint = || known.iter().find(|(c, _)| same_fingerprint(c, content));
            let distance = distance(&last, content);
            match by_digest.or_else(by_fingerprint) {
                Some(&(_, to)) => Verdict::Reverted { to, distance },
                None => Verdict::Changed { distance },
            }
        }
    }
}

/// What each visit meant at its place.
pub(crate) fn history(visits: &[Visit]) -> Vec<Version> {
    let version = |i: usize| Version { visit: visits[i], verdict: judge(&visits[..i], &visits[i]) };
    (0..visits.len()).map(version).collect()
}

impl Model {
    pub(crate) fn visits_of(&self, url: &str) -> Vec<Visit> {
        self.pages.get(&Place::of(url)).map(|v| v.iter().copied().collect()).unwrap_or_default()
    }

    /// Takes in an observation and says what the store should: with every copy and near page.
    pub(crate) fn observe(&mut self, observation: &Observation<'_>, near_distance: u32) -> Outcome {
        let Observation { url, visit } = *observation;
        let before = self.visits_of(url);
        let verdict = match before.last() {
            _ if before.contains(&visit) => Verdict::Known,
            Some(last) if visit < *last => Verdict::OutOfOrder,
            _ => judge(&before, &visit),
        };
        self.pages.entry(Place::of(url)).or_default().insert(visit);
        let (copies, near) = match visit.seen.content() {
            Some(content) => self.others(url, content, near_distance),
            None => (Vec::new(), Vec::new()),
        };
        Outcome { verdict, copies, near, complete: true }
    }

    /// The copies of a content, and what is near it, on other pages.
    fn others(&self, url: &str, content: &Content, within: u32) -> (Vec<ExactCopy>, Vec<Near>) {
        let query = Query::new(content.fingerprint, within).epoch(content.epoch);
        let mut copies = Vec::new();
        let mut near = Vec::new();
        for found in self.search(&query).into_iter().filter(|n| n.url != url) {
            let visits = self.visits_of(&found.url);
            let is_copy = found.distance == 0
                && in_force(&visits).is_some_and(|(other, _)| same_digest(&other, content));
            if is_copy {
                let first = first_seen_with(&visits, content.digest);
                copies.push((first, Place::of(&found.url)));
            } else {
                near.push(found);
            }
        }
        copies.sort();
        let copy = |(first, place): (i64, Place)| ExactCopy { url: place.url, first };
        (copies.into_iter().map(copy).collect(), near)
    }

    /// How many visits saw a content within the distance of a query.
    pub(crate) fn visits_within(&self, query: &Query) -> usize {
        let contents = self.pages.values().flatten().filter_map(|visit| visit.seen.content());
        contents.filter(|c| (c.fingerprint ^ query.fingerprint).count_ones() <= query.k).count()
    }

    /// All answers to a query of a given epoch, its limit disregarded.
    pub(crate) fn search(&self, query: &Query) -> Vec<Near> {
        let epoch = query.epoch.expect("the model knows no newest epoch");
        let mut found = Vec::new();
        let under = query.under.as_ref().map(|prefix| {
            PREFIXES.iter().find(|under| under.prefix() == *prefix).expect("a prefix of the tests")
        });
        for (place, visits) in &self.pages {
            if under.is_some_and(|under| !under.covers(&place.url)) {
                continue;
            }
            let visits: Vec<Visit> = visits.iter().copied().collect();
            let until =
                |time| visits.iter().copied().filter(|v| v.time <= time).collect::<Vec<_>>();
            let contents = match query.versions {
                Versions::InForce => in_force(&visits).into_iter().collect(),
                Versions::At(time) => in_force(&until(time)).into_iter().collect(),
                Versions::Seen(from, to) => {
                    let mut seen = until(to);
                    seen.retain(|v| v.time >= from);
                    contents(&seen)
                }
                Versions::Ever => contents(&visits),
            };
            let fingerprints: BTreeSet<u64> = contents
                .iter()
                .filter(|(c, _)| c.epoch == epoch)
                .map(|(c, _)| c.fingerprint)
                .collect();
            for fingerprint in fingerprints {
                let distance = (fingerprint ^ query.fingerprint).count_ones();
                if distance <= query.k {
                    found.push((distance, place, fingerprint));
                }
            }
        }
        found.sort();
        let near = |(distance, place, fingerprint): (u32, &Place, u64)| Near {
            url: place.url.clone(),
            distance,
            fingerprint,
        };
        found.into_iter().map(near).collect()
    }

    pub(crate) fn history(&self, url: &str) -> Vec<Version> {
        history(&self.visits_of(url))
    }

    pub(crate) fn as_of(&self, url: &str, time: i64) -> Option<Visit> {
        let mut visits = self.visits_of(url);
        visits.retain(|v| v.time <= time);
        let content = visits.iter().rev().find(|v| v.seen.content().is_some()).copied();
        content.filter(|_| !gone(&visits))
    }

    pub(crate) fn latest(&self, url: &str) -> Option<Page> {
        let visits = self.visits_of(url);
        let (first, last) = (visits.first()?, visits.last()?);
        let in_force = in_force(&visits);
        Some(Page {
            url: url.to_owned(),
            visits: visits.len() as u64,
            first: first.time,
            last: *last,
            content: in_force.map(|(content, _)| content),
            content_seen: in_force.map(|(_, time)| time),
            gone: gone(&visits),
        })
    }

    /// The pages whose URLs satisfy `covers`, in SURT order.
    pub(crate) fn scan(&self, covers: impl Fn(&str) -> bool) -> Vec<Page> {
        let urls = self.pages.keys().map(|place| place.url.as_str()).filter(|url| covers(url));
        urls.filter_map(|url| self.latest(url)).collect()
    }

    pub(crate) fn forget(&mut self, covers: impl Fn(&str) -> bool) -> Forgotten {
        let before = (self.page_count(), self.visit_count());
        self.pages.retain(|place, _| !covers(&place.url));
        Forgotten { pages: before.0 - self.page_count(), visits: before.1 - self.visit_count() }
    }

    pub(crate) fn page_count(&self) -> u64 {
        self.pages.len() as u64
    }

    pub(crate) fn visit_count(&self) -> u64 {
        self.pages.values().map(|visits| visits.len() as u64).sum()
    }

    /// Every page with its visits.
    pub(crate) fn pages(&self) -> impl Iterator<Item = (&Place, &BTreeSet<Visit>)> {
        self.pages.iter()
    }

    /// Whether a page has this very visit.
    pub(crate) fn has(&self, place: &Place, visit: &Visit) -> bool {
        self.pages.get(place).is_some_and(|visits| visits.contains(visit))
    }

    /// Adds a visit as it was read from a store.
    pub(crate) fn insert(&mut self, url: &str, visit: Visit) {
        self.pages.entry(Place::of(url)).or_default().insert(visit);
    }

    /// Every fingerprint of an epoch that any page ever had.
    pub(crate) fn fingerprints(&self, epoch: Epoch) -> BTreeSet<u64> {
        let visits = self.pages.values().flatten();
        let contents = visits.filter_map(|v| v.seen.content());
        contents.filter(|c| c.epoch == epoch).map(|c| c.fingerprint).collect()
    }
}

/// When content with this digest was first seen.
fn first_seen_with(visits: &[Visit], digest: Option<Digest>) -> i64 {
    let of = |v: &&Visit| v.seen.content().is_some_and(|c| c.digest == digest);
    visits.iter().find(of).unwrap().time
}
