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
pub struct Model {
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
    let settled = visits.iter().filter(is_visit).rfind(|v| v.seen != Seen::Failed);
    settled.is_some_and(|v| v.seen == Seen::Gone)
}

/// A content, when it was last seen, and whether that was restated.
#[derive(Clone, Copy, Debug)]
struct Known {
    content: Content,
    time: i64,
    restated: bool,
}

impl Known {
    fn rank(&self) -> (Epoch, bool, u64) {
        (self.content.epoch, self.restated, self.content.fingerprint)
    }

    fn is_with(&self, other: &Known) -> bool {
        (self.time, self.content.digest) == (other.time, other.content.digest)
    }
}

/// The distinct contents, the one last seen first. Those of the same time stand in the order of digest,
/// epoch, whether they were restated, and fingerprint.
fn contents(visits: &[Visit]) -> Vec<Known> {
    let mut contents: Vec<Known> = Vec::new();
    for visit in visits.iter().rev() {
        let Some(content) = visit.seen.content() else { continue };
        match contents.iter_mut().find(|known| known.content == *content) {
            Some(known) if known.time == visit.time => known.restated |= visit.seen.is_restated(),
            Some(_) => {}
            None => contents.push(Known {
                content: *content,
                time: visit.time,
                restated: visit.seen.is_restated(),
            }),
        }
    }
    contents.sort_by_key(|k| (k.time, k.content.digest, k.rank()));
    contents.reverse();
    contents
}

/// Those that can be returned to, and of each version one of an epoch: restated rather than seen.
fn remembered(visits: &[Visit]) -> Vec<Known> {
    let mut known = contents(visits);
    known.truncate(WINDOW);
    let all = known.clone();
    known.retain(|one| {
        let better = |other: &Known| {
            other.is_with(one)
                && other.content.epoch == one.content.epoch
                && other.rank() > one.rank()
        };
        !all.iter().any(better)
    });
    known
}

/// Of these the version last seen: those of one time and digest.
fn last_version(known: &[Known], visits: &[Visit]) -> Vec<Known> {
    let first = contents(visits).first().copied();
    known.iter().filter(|k| first.is_some_and(|first| k.is_with(&first))).copied().collect()
}

/// The content in force, and when it was last seen.
fn in_force(visits: &[Visit]) -> Option<(Content, i64)> {
    let version = last_version(&remembered(visits), visits);
    let newest = version.iter().filter(|_| !gone(visits)).max_by_key(|k| k.rank());
    newest.map(|k| (k.content, k.time))
}

/// What a visit means after these, if this was restated of it.
pub fn judge(before: &[Visit], visit: &Visit, also: &[Content]) -> Verdict {
    let known = remembered(before);
    let version = last_version(&known, before);
    let is_gone = gone(before);
    let last = contents(before).first().map(|known| known.time);
    match (&visit.seen, last) {
        (Seen::Gone, _) => Verdict::Gone,
        (Seen::Failed, _) => Verdict::Failed,
        (Seen::Restated(_), _) => Verdict::Restated,
        (Seen::NotModified { .. }, None) => Verdict::Unseen,
        (Seen::Content(_), None) => Verdict::New,
        (Seen::NotModified { .. }, Some(to)) if is_gone => {
            Verdict::Reverted { to, distance: Some(0) }
        }
        (Seen::NotModified { .. }, Some(_)) => Verdict::Same(SameBy::Word),
        (Seen::Content(content), Some(_)) => {
            let mut all: BTreeMap<Epoch, Content> = BTreeMap::new();
            let mut also = also.to_vec();
            also.sort_by_key(|c| c.fingerprint);
            for content in [*content].into_iter().chain(also) {
                all.insert(content.epoch, content);
            }
            let by_digest = |k: &&Known| same_digest(&k.content, content);
            let by_fingerprint = |k: &&Known| all.values().any(|c| same_fingerprint(&k.content, c));
            if !is_gone && version.iter().any(|k| by_digest(&k)) {
                return Verdict::Same(SameBy::Digest);
            }
            let common = version.iter().filter_map(|k| Some((k, all.get(&k.content.epoch)?)));
            let mut distances: Vec<(Epoch, u32)> =
                common.map(|(k, c)| (k.content.epoch, distance(&k.content, c).unwrap())).collect();
            distances.sort();
            if !is_gone && !distances.is_empty() && distances.iter().all(|(_, bits)| *bits == 0) {
                return Verdict::Same(SameBy::Fingerprint);
            }
            let distance = distances.last().map(|(_, bits)| *bits);
            let is_last = |k: &&Known| version.iter().any(|last| last.is_with(k));
            let known: Vec<&Known> = known.iter().filter(|k| is_gone || !is_last(k)).collect();
            let earlier = known.iter().find(|k| by_digest(k));
            let earlier = earlier.or_else(|| known.iter().find(|k| by_fingerprint(k)));
            match earlier {
                Some(known) => Verdict::Reverted { to: known.time, distance },
                None => Verdict::Changed { distance },
            }
        }
    }
}

/// What each visit meant at its place.
pub fn history(visits: &[Visit]) -> Vec<Version> {
    let version = |i: usize| {
        let of = |v: &Visit| (v.time, v.seen.digest());
        let behind = visits[i + 1..].iter().take_while(|v| v.seen.is_restated());
        let also: Vec<Content> = behind
            .filter(|v| matches!(visits[i].seen, Seen::Content(_)) && of(v) == of(&visits[i]))
            .filter_map(|v| v.seen.content().copied())
            .collect();
        Version { visit: visits[i], verdict: judge(&visits[..i], &visits[i], &also) }
    };
    (0..visits.len()).map(version).collect()
}

fn is_visit(visit: &&Visit) -> bool {
    !visit.seen.is_restated()
}

impl Model {
    pub fn visits_of(&self, url: &str) -> Vec<Visit> {
        self.pages.get(&Place::of(url)).map(|v| v.iter().copied().collect()).unwrap_or_default()
    }

    /// Takes in an observation and says what the store should: with every copy and near page.
    pub fn observe(&mut self, observation: &Observation<'_>, near_distance: u32) -> Outcome {
        let Observation { url, mut visit, also } = *observation;
        let before = self.visits_of(url);
        let nothing = |verdict| {
            let (copies, near) = (Vec::new(), Vec::new());
            Outcome { verdict, copies, near, complete: true }
        };
        if let Seen::Restated(content) = &mut visit.seen {
            let at = before.iter().filter(is_visit).filter(|v| v.time == visit.time);
            let there: Vec<_> = at.filter_map(|v| v.seen.content()).map(|c| c.digest).collect();
            let digest = match content.digest {
                digest if there.contains(&digest) => Some(digest),
                None => there.into_iter().max(),
                Some(_) => None,
            };
            let Some(digest) = digest else { return nothing(Verdict::Missing) };
            (content.digest, visit.status) = (digest, None);
            return nothing(match self.state(url, visit) {
                true => Verdict::Restated,
                false => Verdict::Known,
            });
        }
        let also = also.zip(visit.seen.content()).map(|((fingerprint, epoch), content)| Content {
            fingerprint,
            epoch,
            ..*content
        });
        let last = before.iter().rfind(is_visit);
        let verdict = match last {
            _ if before.contains(&visit) => Verdict::Known,
            Some(last) if visit < *last => Verdict::OutOfOrder,
            _ => judge(&before, &visit, also.as_slice()),
        };
        self.insert(url, visit);
        let (mut copies, mut near) = (Vec::new(), Vec::new());
        for content in visit.seen.content().into_iter().chain(&also) {
            self.others(url, content, near_distance, &mut copies, &mut near);
        }
        copies.sort();
        near.sort_by_key(|near| (near.distance, Place::of(&near.url), near.fingerprint));
        let mut verdict = verdict;
        if let Some(content) = also {
            let seen = Seen::Restated(content);
            let news = self.state(url, Visit { time: visit.time, seen, status: None });
            if news && verdict == Verdict::Known {
                verdict = Verdict::Restated;
            }
        }
        let copy = |(first, place): (i64, Place)| ExactCopy { url: place.url, first };
        let copies = copies.into_iter().map(copy).collect();
        Outcome { verdict, copies, near, complete: true }
    }

    /// Takes in what is restated, if it is news.
    fn state(&mut self, url: &str, restated: Visit) -> bool {
        let known = self.visits_of(url);
        let of_time = known.iter().filter(|v| v.time == restated.time);
        let news = of_time.map(|v| v.seen.content()).all(|c| c != restated.seen.content());
        if news {
            self.insert(url, restated);
        }
        news
    }

    /// Takes in observations in no order: of what is restated, the visit may come after.
    pub fn load(&mut self, observations: &[Observation<'_>]) {
        for observation in observations.iter().filter(|o| !o.visit.seen.is_restated()) {
            self.insert(observation.url, observation.visit);
        }
        for observation in observations {
            self.observe(observation, 0);
        }
    }

    /// Adds all that an observation may become, whatever is forgotten in between: what is restated has
    /// the digest of any content of its time.
    pub fn insert_any(&mut self, observation: &Observation<'_>) {
        let Observation { url, visit, also } = *observation;
        let restate = |content: &Content, (fingerprint, epoch): (u64, Epoch)| {
            let seen = Seen::Restated(Content { fingerprint, epoch, ..*content });
            Visit { time: visit.time, seen, status: None }
        };
        let Seen::Restated(content) = visit.seen else {
            self.insert(url, visit);
            if let Some(restated) = visit.seen.content().zip(also) {
                self.insert(url, restate(restated.0, restated.1));
            }
            return;
        };
        for other in self.visits_of(url).iter().filter(|other| other.time == visit.time) {
            if let Seen::Content(other) = &other.seen {
                self.insert(url, restate(other, (content.fingerprint, content.epoch)));
            }
        }
    }

    /// The copies of a content, and what is near it, on other pages.
    fn others(
        &self,
        url: &str,
        content: &Content,
        within: u32,
        copies: &mut Vec<(i64, Place)>,
        near: &mut Vec<Near>,
    ) {
        let query = Query::new(content.fingerprint, within).epoch(content.epoch);
        for found in self.search(&query).into_iter().filter(|n| n.url != url) {
            let visits = self.visits_of(&found.url);
            let is_copy = found.distance == 0
                && in_force(&visits).is_some_and(|(other, _)| same_digest(&other, content));
            if is_copy {
                copies.push((first_seen_with(&visits, content.digest), Place::of(&found.url)));
            } else {
                near.push(found);
            }
        }
    }

    /// How many visits saw a content within the distance of a query.
    pub fn visits_within(&self, query: &Query) -> usize {
        let contents = self.pages.values().flatten().filter_map(|visit| visit.seen.content());
        contents.filter(|c| (c.fingerprint ^ query.fingerprint).count_ones() <= query.k).count()
    }

    /// All answers to a query of a given epoch, its limit disregarded.
    pub fn search(&self, query: &Query) -> Vec<Near> {
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
            let all = |visits: &[Visit]| contents(visits).iter().map(|k| k.content).collect();
            let contents: Vec<Content> = match query.versions {
                Versions::InForce => in_force(&visits).map(|(c, _)| c).into_iter().collect(),
                Versions::At(time) => in_force(&until(time)).map(|(c, _)| c).into_iter().collect(),
                Versions::Seen(from, to) => {
                    let mut seen = until(to);
                    seen.retain(|v| v.time >= from);
                    all(&seen)
                }
                Versions::Ever => all(&visits),
            };
            let fingerprints: BTreeSet<u64> =
                contents.iter().filter(|c| c.epoch == epoch).map(|c| c.fingerprint).collect();
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

    pub fn history(&self, url: &str) -> Vec<Version> {
        history(&self.visits_of(url))
    }

    pub fn as_of(&self, url: &str, time: i64) -> Option<Visit> {
        let mut visits = self.visits_of(url);
        visits.retain(|v| v.time <= time);
        let last = visits.iter().rfind(|v| matches!(v.seen, Seen::Content(_))).copied();
        last.filter(|_| !gone(&visits)).map(|last| {
            let of = |v: &&Visit| (v.time, v.seen.digest()) == (last.time, last.seen.digest());
            let version = visits.iter().filter(of).filter_map(|v| {
                let content = v.seen.content()?;
                Some((content.epoch, v.seen.is_restated(), content.fingerprint))
            });
            let newest = version.max().map(|(epoch, _, fingerprint)| {
                Seen::Content(Content { fingerprint, epoch, digest: last.seen.digest() })
            });
            Visit { seen: newest.unwrap_or(last.seen), ..last }
        })
    }

    pub fn latest(&self, url: &str) -> Option<Page> {
        let visits = self.visits_of(url);
        let (first, last) = (visits.first()?, visits.iter().rfind(is_visit)?);
        let in_force = in_force(&visits);
        Some(Page {
            url: url.to_owned(),
            visits: visits.iter().filter(is_visit).count() as u64,
            first: first.time,
            last: *last,
            content: in_force.map(|(content, _)| content),
            content_seen: in_force.map(|(_, time)| time),
            gone: gone(&visits),
        })
    }

    /// Pages whose version in force is of another epoch than this, after one of them.
    pub fn stale(&self, newest: Epoch, after: Option<&str>) -> Vec<(String, i64, Content)> {
        let after = after.map(Place::of);
        let pages = self.pages.keys().filter(|place| Some(*place) > after.as_ref());
        let pages = pages.filter_map(|place| self.latest(&place.url));
        let stale = pages.filter_map(|p| Some((p.url, p.content_seen?, p.content?)));
        stale.filter(|(_, _, content)| content.epoch != newest).collect()
    }

    /// The pages whose URLs satisfy `covers`, in SURT order.
    pub fn scan(&self, covers: impl Fn(&str) -> bool) -> Vec<Page> {
        let urls = self.pages.keys().map(|place| place.url.as_str()).filter(|url| covers(url));
        urls.filter_map(|url| self.latest(url)).collect()
    }

    pub fn forget(&mut self, covers: impl Fn(&str) -> bool) -> Forgotten {
        let before = (self.page_count(), self.visit_count());
        self.pages.retain(|place, _| !covers(&place.url));
        Forgotten { pages: before.0 - self.page_count(), visits: before.1 - self.visit_count() }
    }

    pub fn page_count(&self) -> u64 {
        self.pages.len() as u64
    }

    pub fn visit_count(&self) -> u64 {
        self.pages.values().flatten().filter(is_visit).count() as u64
    }

    /// Every page with its visits.
    pub fn pages(&self) -> impl Iterator<Item = (&Place, &BTreeSet<Visit>)> {
        self.pages.iter()
    }

    /// Whether a page has this very visit.
    pub fn has(&self, place: &Place, visit: &Visit) -> bool {
        self.pages.get(place).is_some_and(|visits| visits.contains(visit))
    }

    /// Adds a visit as it was read from a store.
    pub fn insert(&mut self, url: &str, visit: Visit) {
        self.pages.entry(Place::of(url)).or_default().insert(visit);
    }

    /// Every fingerprint of an epoch that any page ever had.
    pub fn fingerprints(&self, epoch: Epoch) -> BTreeSet<u64> {
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
