//! The truth that a store is compared with: the set of observations, and the slowest way to every
//! answer.

use std::collections::{BTreeMap, BTreeSet};

use simkeep::maintenance::Forgotten;
use simkeep::{
    Content, Digest, Distance, Entry, Epoch, HistoryEntry, Observation, Query, Request,
    RestateOutcome, Restated, Restatement, SameBy, Seen, Verdict, Versions, Visit,
};

use super::expected::{Answer, ExactCopy, Near, Outcome, Page};

use super::pages::{PREFIXES, Place};

/// How many of the last contents of a page can be returned to.
const WINDOW: usize = 8;

/// Every entry of every page, in SURT order of the pages and in order of the entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    pages: BTreeMap<Place, BTreeSet<Entry>>,
}

fn distance(a: &Content, b: &Content) -> Option<u32> {
    let (a, b) = (a.fingerprint.filter(|_| a.epoch == b.epoch)?, b.fingerprint?);
    Some((a ^ b).count_ones())
}

fn same_digest(a: &Content, b: &Content) -> bool {
    a.digest.is_some() && a.digest == b.digest
}

fn same_fingerprint(a: &Content, b: &Content) -> bool {
    distance(a, b) == Some(0)
}

/// Whether a page with these entries is gone.
fn gone(entries: &[Entry]) -> bool {
    let settled = entries.iter().filter_map(Entry::visit).rfind(|v| v.seen != Seen::Failed);
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
    fn rank(&self) -> (Epoch, bool, Option<u64>) {
        (self.content.epoch, self.restated, self.content.fingerprint)
    }

    fn is_with(&self, other: &Known) -> bool {
        (self.time, self.content.digest) == (other.time, other.content.digest)
    }
}

/// The distinct contents, the one last seen first. Those of the same time stand in the order of digest,
/// epoch, whether they were restated, and fingerprint.
fn contents(entries: &[Entry]) -> Vec<Known> {
    let mut contents: Vec<Known> = Vec::new();
    for entry in entries.iter().rev() {
        let Some(content) = entry.content() else { continue };
        let (time, restated) = (entry.time(), entry.is_restated());
        match contents.iter_mut().find(|known| known.content == content) {
            Some(known) if known.time == time => known.restated |= restated,
            Some(_) => {}
            None => contents.push(Known { content, time, restated }),
        }
    }
    contents.sort_by_key(|k| (k.time, k.content.digest, k.rank()));
    contents.reverse();
    contents
}

/// Those that can be returned to, and of each version one of an epoch: restated rather than seen.
fn remembered(entries: &[Entry]) -> Vec<Known> {
    let mut known = contents(entries);
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
fn last_version(known: &[Known], entries: &[Entry]) -> Vec<Known> {
    let first = contents(entries).first().copied();
    known.iter().filter(|k| first.is_some_and(|first| k.is_with(&first))).copied().collect()
}

/// The content in force, and when it was last seen.
fn in_force(entries: &[Entry]) -> Option<(Content, i64)> {
    let version = last_version(&remembered(entries), entries);
    let newest = version.iter().filter(|_| !gone(entries)).max_by_key(|k| k.rank());
    newest.map(|k| (k.content, k.time))
}

/// What a visit means after these, if this was restated of it.
pub fn judge(before: &[Entry], visit: &Visit, also: &[Content]) -> Verdict {
    let known = remembered(before);
    let version = last_version(&known, before);
    let is_gone = gone(before);
    let last = contents(before).first().map(|known| known.time);
    match (&visit.seen, last) {
        (Seen::Gone, _) => Verdict::Gone,
        (Seen::Failed, _) => Verdict::Failed,
        (Seen::NotModified { .. }, None) => Verdict::Unseen,
        (Seen::Content(_), None) => Verdict::New,
        (Seen::NotModified { .. }, Some(to)) if is_gone => {
            let epoch = contents(before)[0].content.epoch;
            Verdict::Reverted { to, distance: Some(Distance { bits: 0, epoch }) }
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
            let mut distances: Vec<(Epoch, u32)> = common
                .filter_map(|(k, c)| Some((k.content.epoch, distance(&k.content, c)?)))
                .collect();
            distances.sort();
            if !is_gone && !distances.is_empty() && distances.iter().all(|(_, bits)| *bits == 0) {
                return Verdict::Same(SameBy::Fingerprint);
            }
            let distance =
                distances.last().map(|(epoch, bits)| Distance { bits: *bits, epoch: *epoch });
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

/// Entries, each visit with what it meant at its place.
pub type History = Vec<(Entry, Option<Verdict>)>;

/// What is told of a history, but for what distances mean: of that a model knows nothing.
pub fn told(history: &[HistoryEntry]) -> History {
    let verdict = |entry: &HistoryEntry| entry.visit().map(|(_, verdict)| verdict);
    history.iter().map(|entry| (entry.entry(), verdict(entry))).collect()
}

/// What each visit meant at its place.
pub fn history(entries: &[Entry]) -> History {
    let entry = |i: usize| match entries[i] {
        Entry::Restated(_) => (entries[i], None),
        Entry::Visit(visit) => {
            let of = (visit.time, visit.seen.digest());
            let behind = entries[i + 1..].iter().take_while(|entry| entry.is_restated());
            let also: Vec<Content> = behind
                .filter(|_| visit.seen.content().is_some())
                .filter(|entry| (entry.time(), entry.digest()) == of)
                .filter_map(Entry::content)
                .collect();
            (entries[i], Some(judge(&entries[..i], &visit, &also)))
        }
    };
    (0..entries.len()).map(entry).collect()
}

impl Model {
    pub fn entries_of(&self, url: &str) -> Vec<Entry> {
        self.pages.get(&Place::of(url)).map(|v| v.iter().copied().collect()).unwrap_or_default()
    }

    /// Takes in a request and says what the store should.
    pub fn request(&mut self, request: &Request<'_>, near_distance: u32) -> Answer {
        match request {
            Request::Observe(observation) => {
                Answer::Observed(self.observe(observation, near_distance))
            }
            Request::Restate(restatement) => Answer::Restated(self.restate(restatement)),
        }
    }

    /// Takes in a restatement and says what the store should.
    pub fn restate(&mut self, restatement: &Restatement<'_>) -> RestateOutcome {
        let Restatement { url, mut restated, .. } = *restatement;
        let before = self.entries_of(url);
        let at = before.iter().filter_map(Entry::visit).filter(|v| v.time == restated.time);
        let there: Vec<_> = at.filter_map(|v| v.seen.content()).map(|c| c.digest).collect();
        let digest = match restated.digest {
            digest if there.contains(&digest) => Some(digest),
            None => there.into_iter().max(),
            Some(_) => None,
        };
        let Some(digest) = digest else { return RestateOutcome::Missing };
        restated.digest = digest;
        match self.state(url, restated) {
            true => RestateOutcome::Stored,
            false => RestateOutcome::Known,
        }
    }

    /// Takes in an observation and says what the store should: with every copy and near page.
    pub fn observe(&mut self, observation: &Observation<'_>, near_distance: u32) -> Outcome {
        let Observation { url, visit, also, .. } = *observation;
        let before = self.entries_of(url);
        let restated = also.zip(visit.seen.content()).map(|((fingerprint, epoch), content)| {
            Restated { time: visit.time, fingerprint, digest: content.digest, epoch }
        });
        let also = restated.map(|restated| restated.content());
        let last = before.iter().filter_map(Entry::visit).next_back();
        let verdict = match last {
            _ if before.contains(&Entry::Visit(visit)) => Verdict::Known,
            Some(last) if visit < *last => Verdict::OutOfOrder,
            _ => judge(&before, &visit, also.as_slice()),
        };
        self.insert(url, visit.into());
        let (mut copies, mut near) = (Vec::new(), Vec::new());
        // Where nothing is compared, no copies are found either.
        let seen = visit.seen.content().filter(|content| content.fingerprint.is_some());
        for content in seen.into_iter().chain(also.as_ref().filter(|_| seen.is_some())) {
            self.others(url, content, near_distance, &mut copies, &mut near);
        }
        copies.sort();
        near.sort_by_key(|near| (near.distance, Place::of(&near.url), near.fingerprint));
        let also = restated.is_some_and(|restated| self.state(url, restated));
        let copy = |(first, place): (i64, Place)| ExactCopy { url: place.url, first };
        let copies = copies.into_iter().map(copy).collect();
        Outcome { verdict, also, copies, near }
    }

    /// Takes in what is restated, if it is news.
    fn state(&mut self, url: &str, restated: Restated) -> bool {
        let known = self.entries_of(url);
        let news = !known.contains(&Entry::Restated(restated));
        if news {
            self.insert(url, restated.into());
        }
        news
    }

    /// Takes in requests in no order: of what is restated, the visit may come after.
    pub fn load(&mut self, requests: &[Request<'_>]) {
        for request in requests.iter().filter(|request| !request.entry().is_restated()) {
            self.insert(request.url(), request.entry());
        }
        for request in requests {
            self.request(request, 0);
        }
    }

    /// Adds all that a request may become, whatever is forgotten in between: what is restated has the
    /// digest of any content of its time.
    pub fn insert_any(&mut self, request: &Request<'_>) {
        match *request {
            Request::Observe(Observation { url, visit, also, .. }) => {
                self.insert(url, visit.into());
                if let Some((content, (fingerprint, epoch))) = visit.seen.content().zip(also) {
                    let (time, digest) = (visit.time, content.digest);
                    self.insert(url, Restated { time, fingerprint, digest, epoch }.into());
                }
            }
            Request::Restate(Restatement { url, restated, .. }) => {
                let there = self.entries_of(url);
                let at = there.iter().filter_map(Entry::visit).filter(|v| v.time == restated.time);
                for content in at.filter_map(|visit| visit.seen.content()) {
                    self.insert(url, Restated { digest: content.digest, ..restated }.into());
                }
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
        let Some(fingerprint) = content.fingerprint else { return };
        let query = Query::new(fingerprint, within).epoch(content.epoch);
        for found in self.search(&query).into_iter().filter(|n| n.url != url) {
            let entries = self.entries_of(&found.url);
            let is_copy = found.distance == 0
                && in_force(&entries).is_some_and(|(other, _)| same_digest(&other, content));
            if is_copy {
                copies.push((first_seen_with(&entries, content.digest), Place::of(&found.url)));
            } else {
                near.push(found);
            }
        }
    }

    /// How many entries have a fingerprint within the distance of a query.
    pub fn entries_within(&self, query: &Query) -> usize {
        let contents = self.pages.values().flatten().filter_map(Entry::content);
        let fingerprints = contents.filter_map(|content| content.fingerprint);
        fingerprints.filter(|f| (f ^ query.fingerprint).count_ones() <= query.k).count()
    }

    /// All answers to a query of a given epoch, its limit disregarded.
    pub fn search(&self, query: &Query) -> Vec<Near> {
        let epoch = query.epoch.expect("the model knows no newest epoch");
        let mut found = Vec::new();
        let under = query.under.as_ref().map(|prefix| {
            PREFIXES.iter().find(|under| under.prefix() == *prefix).expect("a prefix of the tests")
        });
        for (place, entries) in &self.pages {
            if under.is_some_and(|under| !under.covers(&place.url)) {
                continue;
            }
            let entries: Vec<Entry> = entries.iter().copied().collect();
            let until =
                |time| entries.iter().copied().filter(|e| e.time() <= time).collect::<Vec<_>>();
            let all = |entries: &[Entry]| contents(entries).iter().map(|k| k.content).collect();
            let contents: Vec<Content> = match query.versions {
                Versions::InForce => in_force(&entries).map(|(c, _)| c).into_iter().collect(),
                Versions::At(time) => in_force(&until(time)).map(|(c, _)| c).into_iter().collect(),
                Versions::Seen(from, to) => {
                    let mut seen = until(to);
                    seen.retain(|e| e.time() >= from);
                    all(&seen)
                }
                Versions::Ever => all(&entries),
                other => panic!("{other:?} is not known here"),
            };
            let fingerprints: BTreeSet<u64> = contents
                .iter()
                .filter(|c| c.epoch == epoch)
                .filter_map(|c| c.fingerprint)
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

    pub fn history(&self, url: &str) -> History {
        history(&self.entries_of(url))
    }

    pub fn as_of(&self, url: &str, time: i64) -> Option<Visit> {
        let mut entries = self.entries_of(url);
        entries.retain(|entry| entry.time() <= time);
        let mut visits = entries.iter().filter_map(Entry::visit);
        let last = visits.rfind(|v| matches!(v.seen, Seen::Content(_))).copied();
        last.filter(|_| !gone(&entries)).map(|last| {
            let of = |e: &&Entry| (e.time(), e.digest()) == (last.time, last.seen.digest());
            let version = entries.iter().filter(of).filter_map(|entry| {
                let content = entry.content()?;
                Some((content.epoch, entry.is_restated(), content.fingerprint))
            });
            let newest = version.max().map(|(epoch, _, fingerprint)| {
                Seen::Content(Content { fingerprint, epoch, digest: last.seen.digest() })
            });
            Visit { seen: newest.unwrap_or(last.seen), ..last }
        })
    }

    pub fn latest(&self, url: &str) -> Option<Page> {
        let entries = self.entries_of(url);
        let visits: Vec<&Visit> = entries.iter().filter_map(Entry::visit).collect();
        let (first, last) = (visits.first()?, visits.last()?);
        let in_force = in_force(&entries);
        Some(Page {
            url: url.to_owned(),
            visits: visits.len() as u64,
            first: first.time,
            last: **last,
            content: in_force.map(|(content, _)| content),
            content_seen: in_force.map(|(_, time)| time),
            gone: gone(&entries),
        })
    }

    /// Pages whose version in force is of another epoch than this, after one of them.
    pub fn stale(&self, newest: Epoch, after: Option<&str>) -> Vec<(String, i64, Content)> {
        let after = after.map(Place::of);
        let pages = self.pages.keys().filter(|place| Some(*place) > after.as_ref());
        let pages = pages.filter_map(|place| self.latest(&place.url));
        let stale = pages.filter_map(|p| Some((p.url, p.content_seen?, p.content?)));
        let stale = stale.filter(|(_, _, content)| content.fingerprint.is_some());
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
        let mut forgotten = Forgotten::default();
        forgotten.pages = before.0 - self.page_count();
        forgotten.visits = before.1 - self.visit_count();
        forgotten
    }

    pub fn page_count(&self) -> u64 {
        self.pages.len() as u64
    }

    pub fn visit_count(&self) -> u64 {
        self.pages.values().flatten().filter(|entry| !entry.is_restated()).count() as u64
    }

    /// Every page with its entries.
    pub fn pages(&self) -> impl Iterator<Item = (&Place, &BTreeSet<Entry>)> {
        self.pages.iter()
    }

    /// Whether a page has this very entry.
    pub fn has(&self, place: &Place, entry: &Entry) -> bool {
        self.pages.get(place).is_some_and(|entries| entries.contains(entry))
    }

    /// Adds an entry as it was read from a store.
    pub fn insert(&mut self, url: &str, entry: Entry) {
        self.pages.entry(Place::of(url)).or_default().insert(entry);
    }

    /// Every fingerprint of an epoch that any page ever had.
    pub fn fingerprints(&self, epoch: Epoch) -> BTreeSet<u64> {
        let contents = self.pages.values().flatten().filter_map(Entry::content);
        contents.filter(|c| c.epoch == epoch).filter_map(|c| c.fingerprint).collect()
    }
}

/// When content with this digest was first seen.
fn first_seen_with(entries: &[Entry], digest: Option<Digest>) -> i64 {
    let of = |entry: &&Entry| entry.content().is_some_and(|c| c.digest == digest);
    entries.iter().find(of).unwrap().time()
}
