//! The reference model of a store: the set of observations, and the slowest way to compute every
//! answer.

use std::collections::{BTreeMap, BTreeSet};

use simkeep::{
    Content, Digest, ETag, Entry, Epoch, EpochOptions, Forgotten, Observation, Operation, Property,
    PropertyEntry, PropertyOutcome, PropertyUpdate, Query, RestateOutcome, Restated, Restatement,
    Seen, Target, Verdict, Versions, Visit,
};

use super::changes::{NaiveComparison, comparisons, is_novel};
use super::expected::{
    ExpectedCapture, ExpectedCopy, ExpectedDuplicate, ExpectedNear, ExpectedOutcome, ExpectedPage,
    ExpectedResult,
};
use super::fold::{
    EpochRoles, VerdictHistory, class as class_of, content_modified, contents, drop_old_etags,
    etag as etag_of, gone, history_by, in_force, same_digest, since, target as target_of,
    verdict_with_restatement, version_at, weight as weight_of,
};
use super::pages::{PREFIXES, SurtPosition};
use crate::ms;

/// All entries of all pages, in SURT order of the pages and in order of the entries.
#[derive(Clone, Debug, Default)]
pub struct Model {
    pages: BTreeMap<SurtPosition, BTreeSet<Entry>>,
    roles: EpochRoles,
}

impl PartialEq for Model {
    fn eq(&self, other: &Model) -> bool {
        self.pages == other.pages
    }
}

impl Eq for Model {}

impl Model {
    pub fn entries_of(&self, url: &str) -> Vec<Entry> {
        self.pages
            .get(&SurtPosition::of(url))
            .map(|v| v.iter().cloned().collect())
            .unwrap_or_default()
    }

    /// Applies an operation. Returns the result that the store should return.
    pub fn request(&mut self, request: &Operation<'_>, near_distance: u32) -> ExpectedResult {
        match request {
            Operation::Observe(observation) => {
                ExpectedResult::Observed(Box::new(self.observe(observation, near_distance)))
            }
            Operation::Restate(restatement) => ExpectedResult::Restated(self.restate(restatement)),
            Operation::SetProperty(update) => {
                ExpectedResult::PropertySet(self.set_property(update))
            }
        }
    }

    /// Applies a property. Returns the result that the store should return.
    pub fn set_property(&mut self, update: &PropertyUpdate<'_>) -> PropertyOutcome {
        let PropertyUpdate { url, entry: given, .. } = update;
        let before = self.entries_of(url);
        if before.is_empty() {
            return PropertyOutcome::Missing;
        }
        self.insert(url, given.clone().into());
        // An entity tag that is already replaced changes nothing either.
        match self.entries_of(url) == before {
            true => PropertyOutcome::Known,
            false => PropertyOutcome::Stored,
        }
    }

    /// Applies a restatement. Returns the result that the store should return.
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

    /// Applies an observation. Returns the result that the store should return, with all copies and
    /// near pages.
    pub fn observe(
        &mut self,
        observation: &Observation<'_>,
        near_distance: u32,
    ) -> ExpectedOutcome {
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
            _ => verdict_with_restatement(&before, &visit, also.as_slice(), &self.roles),
        };
        self.insert(url, visit.into());
        self.insert_property(observation);
        let is_last = !matches!(verdict, Verdict::Known | Verdict::OutOfOrder);
        let novel = is_last && is_novel(&before, &visit, also.as_slice(), &self.roles);
        let share = match verdict {
            Verdict::New => 1.0,
            Verdict::Changed { distance } | Verdict::Reverted { distance, .. } => {
                distance.map_or(1.0, |distance| (f64::from(distance.bits) / 32.0).min(1.0))
            }
            _ => 0.0,
        };
        let priority = f64::from(weight_of(&self.entries_of(url)).get()) * share;
        let (mut copies, mut near) = (Vec::new(), Vec::new());
        let finds = |c: &&Content| c.fingerprint.is_some() && self.roles.of(c.epoch).finds_near();
        let seen = visit.seen.content().into_iter().chain(&also).filter(finds);
        let mut seen: Vec<&Content> = seen.collect();
        seen.sort_by_key(|content| std::cmp::Reverse(content.epoch));
        let newest = seen.first().map(|content| content.epoch);
        let is_bare = |content: &Content| content.fingerprint.is_none() && !content.is_redirect();
        let bare = visit.seen.content().filter(|content| is_bare(content));
        let bare = bare.filter(|_| also.is_none_or(|also| is_bare(&also)));
        if let Some(content) = bare {
            // Content without any fingerprint is found by its digest.
            self.copies_by_digest(url, content, &mut copies);
            seen.push(content);
        }
        let keys: Vec<Content> = seen.iter().copied().copied().collect();
        for content in seen {
            let unless = newest.filter(|newest| *newest != content.epoch);
            self.others((url, content), unless, near_distance, &mut copies, &mut near);
        }
        copies.sort();
        near.sort_by_key(|near| (near.distance, SurtPosition::of(&near.url), near.fingerprint));
        let first = |near: ExpectedNear| {
            let entries = self.entries_of(&near.url);
            let first = since(&entries, &in_force(&entries).0).expect("it has it in force");
            ExpectedDuplicate { first, near }
        };
        let near = near.into_iter().map(first).collect();
        let own: Vec<Content> = visit.seen.content().copied().into_iter().chain(also).collect();
        let (captures, refers_to) = self.captures((url, &before), &visit, &keys, &copies);
        let first = before.iter().filter_map(Entry::visit).map(|visit| visit.time).min();
        let since = since(&before, &own).map_or(visit.time, |before| {
            let before = ms(before).min(visit.time);
            before.max(first.map_or(visit.time, |first| first.min(visit.time)))
        });
        let also = restated.is_some_and(|restated| self.state(url, restated));
        let copy = |(first, place): (i64, SurtPosition)| ExpectedCopy { url: place.url, first };
        let copies = copies.into_iter().map(copy).collect();
        ExpectedOutcome {
            verdict,
            novel,
            priority,
            also,
            copies,
            near,
            captures,
            refers_to,
            since: since.as_ms(),
        }
    }

    /// All captures of a digest until the time of a visit, and the first capture that the searches
    /// for these contents must find. `before` are the entries of the visited page before the visit.
    fn captures(
        &self,
        (url, before): (&str, &[Entry]),
        visit: &Visit,
        keys: &[Content],
        copies: &[(i64, SurtPosition)],
    ) -> (BTreeSet<ExpectedCapture>, Option<ExpectedCapture>) {
        let (mut captures, mut found) = (BTreeSet::new(), BTreeSet::new());
        let seen = visit.seen.content().filter(|content| !content.is_redirect());
        let (time, digest) = (visit.time, seen.and_then(|content| content.digest));
        let mut add = |url: &str, entry: &Entry| {
            let Some(content) = entry.content().filter(|c| digest.is_some() && c.digest == digest)
            else {
                return;
            };
            let capture = (entry.time().as_ms(), SurtPosition::of(url));
            let same = |key: &Content| match key.fingerprint {
                Some(_) => (key.epoch, key.fingerprint) == (content.epoch, content.fingerprint),
                None => content.fingerprint.is_none(),
            };
            if keys.iter().any(same) {
                found.insert(capture.clone());
            }
            captures.insert(capture);
        };
        for (place, entries) in self.pages.iter().filter(|(place, _)| place.url != url) {
            entries.iter().filter(|entry| entry.time() <= time).for_each(|e| add(&place.url, e));
        }
        before.iter().filter(|entry| entry.time() < time).for_each(|entry| add(url, entry));
        let own = captures.iter().filter(|(_, other)| other.url == url).cloned();
        found.extend(own.collect::<Vec<_>>());
        let copies = copies.iter().cloned();
        found.extend(copies.filter(|(first, _)| *first <= time.as_ms()));
        (captures, found.into_iter().next())
    }

    /// Finds the other pages whose content in force has no fingerprint, and the digest of a
    /// content.
    fn copies_by_digest(
        &self,
        url: &str,
        content: &Content,
        copies: &mut Vec<(i64, SurtPosition)>,
    ) {
        for (place, entries) in self.pages.iter().filter(|(place, _)| place.url != url) {
            let entries: Vec<Entry> = entries.iter().cloned().collect();
            let is_copy = |own: &Content| own.fingerprint.is_none() && same_digest(own, content);
            if in_force(&entries).0.iter().any(is_copy) {
                copies.push((first_seen_with(&entries, content.digest), place.clone()));
            }
        }
    }

    /// Adds the properties that come with a visit.
    fn insert_property(&mut self, observation: &Observation<'_>) {
        for given in properties(observation) {
            self.insert(observation.url, given.into());
        }
    }

    /// Adds a restatement. Returns whether it is new.
    fn state(&mut self, url: &str, restated: Restated) -> bool {
        let known = self.entries_of(url);
        let news = !known.contains(&Entry::Restated(restated));
        if news {
            self.insert(url, restated.into());
        }
        news
    }

    /// Applies operations in any order: the visit of a restatement or a property may come later.
    pub fn load(&mut self, requests: &[Operation<'_>]) {
        for request in requests.iter().filter(|request| request.entry().is_visit()) {
            self.insert(request.url(), request.entry());
        }
        for request in requests {
            self.request(request, 0);
        }
    }

    /// Adds all entries that an operation may become, whatever is forgotten in between: a
    /// restatement gets the digest of any content of its time.
    pub fn insert_any(&mut self, request: &Operation<'_>) {
        match request {
            Operation::Observe(observation) => {
                let Observation { url, visit, also, .. } = *observation;
                self.add(url, visit.into());
                for given in properties(observation) {
                    self.add(url, given.into());
                }
                if let Some((content, (fingerprint, epoch))) = visit.seen.content().zip(also) {
                    let (time, digest) = (visit.time, content.digest);
                    self.add(url, Restated { time, fingerprint, digest, epoch }.into());
                }
            }
            Operation::SetProperty(update) => {
                if !self.entries_of(update.url).is_empty() {
                    self.add(update.url, update.entry.clone().into());
                }
            }
            Operation::Restate(Restatement { url, restated, .. }) => {
                let there = self.entries_of(url);
                let at = there.iter().filter_map(Entry::visit).filter(|v| v.time == restated.time);
                for content in at.filter_map(|visit| visit.seen.content()) {
                    self.add(url, Restated { digest: content.digest, ..*restated }.into());
                }
            }
        }
    }

    /// Finds the copies of a content, and pages near it, among other pages that have no fingerprint
    /// of epoch `unless` in force.
    fn others(
        &self,
        (url, content): (&str, &Content),
        unless: Option<Epoch>,
        within: u32,
        copies: &mut Vec<(i64, SurtPosition)>,
        near: &mut Vec<ExpectedNear>,
    ) {
        let Some(fingerprint) = content.fingerprint else { return };
        let query = Query::new(fingerprint, within).epoch(content.epoch);
        for found in self.search(&query).into_iter().filter(|n| n.url != url) {
            let entries = self.entries_of(&found.url);
            let (contents, _) = in_force(&entries);
            if contents.iter().any(|c| c.fingerprint.is_some() && Some(c.epoch) == unless) {
                continue;
            }
            let is_copy = found.distance == 0
                && contents.first().is_some_and(|other| same_digest(other, content));
            if is_copy {
                copies.push((
                    first_seen_with(&entries, content.digest),
                    SurtPosition::of(&found.url),
                ));
            } else {
                near.push(found);
            }
        }
    }

    /// The number of entries with a fingerprint within the distance of a query.
    pub fn entries_within(&self, query: &Query) -> usize {
        let contents = self.pages.values().flatten().filter_map(Entry::content);
        let fingerprints = contents.filter_map(|content| content.fingerprint);
        fingerprints.filter(|f| (f ^ query.fingerprint).count_ones() <= query.k).count()
    }

    /// All results of a query with an epoch. Ignores the limit.
    pub fn search(&self, query: &Query) -> Vec<ExpectedNear> {
        let epoch = query.epoch.expect("the model knows no newest epoch");
        let mut found = Vec::new();
        let under = query.under.as_ref().map(|prefix| {
            PREFIXES.iter().find(|under| under.prefix() == *prefix).expect("a prefix of the tests")
        });
        for (place, entries) in &self.pages {
            let is_under = under.is_none_or(|under| under.covers(&place.url));
            if !is_under || query.exclude.as_ref() == Some(&place.url) {
                continue;
            }
            let entries: Vec<Entry> = entries.iter().cloned().collect();
            if query.classes.as_ref().is_some_and(|classes| !classes.contains(class_of(&entries))) {
                continue;
            }
            let until =
                |time| entries.iter().filter(|e| e.time() <= time).cloned().collect::<Vec<_>>();
            let all = |entries: &[Entry]| contents(entries).iter().map(|k| k.content).collect();
            let contents: Vec<Content> = match query.versions {
                Versions::InForce => in_force(&entries).0,
                Versions::At(time) => version_at(&until(time)).map_or(Vec::new(), |(_, all)| all),
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
        let near = |(distance, place, fingerprint): (u32, &SurtPosition, u64)| ExpectedNear {
            url: place.url.clone(),
            distance,
            fingerprint,
        };
        found.into_iter().map(near).collect()
    }

    pub fn history(&self, url: &str) -> VerdictHistory {
        history_by(&self.entries_of(url), &self.roles)
    }

    /// Returns this model with the epoch options of another model.
    #[must_use]
    pub fn with_roles_of(self, other: &Model) -> Model {
        Model { roles: other.roles.clone(), ..self }
    }

    /// Sets the options with which an epoch began.
    pub fn set_epoch_options(&mut self, epoch: Epoch, options: impl Into<EpochOptions>) {
        self.roles.0.insert(epoch, options.into());
    }

    /// All comparisons of a page's visits that are evidence, in order.
    pub fn comparisons(&self, url: &str) -> Vec<NaiveComparison> {
        comparisons(&self.entries_of(url), &self.roles)
    }

    pub fn as_of(&self, url: &str, time: i64) -> Option<Visit> {
        let mut entries = self.entries_of(url);
        entries.retain(|entry| entry.time() <= ms(time));
        version_at(&entries).map(|(last, contents)| {
            let in_force = self.roles.in_force(&contents).map(Seen::Content);
            Visit { seen: in_force.unwrap_or(last.seen), ..last }
        })
    }

    pub fn latest(&self, url: &str) -> Option<ExpectedPage> {
        let entries = self.entries_of(url);
        let visits: Vec<&Visit> = entries.iter().filter_map(Entry::visit).collect();
        let (first, last) = (visits.first()?, visits.last()?);
        let (contents, content_seen) = in_force(&entries);
        Some(ExpectedPage {
            url: url.to_owned(),
            visits: visits.len() as u64,
            first: first.time.as_ms(),
            last: **last,
            content: self.roles.in_force(&contents),
            contents,
            content_seen,
            modified: content_modified(&entries),
            gone: gone(&entries),
            weight: weight_of(&entries),
            class: class_of(&entries),
            etag: etag_of(&entries),
            target: target_of(url, &entries),
        })
    }

    /// Pages whose version in force has a fingerprint, but none of this epoch, after the page
    /// `after`.
    pub fn stale(&self, epoch: Epoch, after: Option<&str>) -> Vec<(String, i64, Content)> {
        let after = after.map(SurtPosition::of);
        let pages = self.pages.keys().filter(|place| Some(*place) > after.as_ref());
        let pages = pages.filter_map(|place| self.latest(&place.url));
        let stale = pages.filter(|page| page.contents.iter().all(|c| c.epoch != epoch));
        let with_content = |page: ExpectedPage| {
            let content = page.contents.iter().find(|c| c.fingerprint.is_some())?;
            Some((page.url, page.content_seen?, *content))
        };
        stale.filter_map(with_content).collect()
    }

    /// The pages whose URLs satisfy `covers`, in SURT order.
    pub fn scan(&self, covers: impl Fn(&str) -> bool) -> Vec<ExpectedPage> {
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
        self.pages.values().flatten().filter(|entry| entry.is_visit()).count() as u64
    }

    /// Every page with its entries.
    pub fn pages(&self) -> impl Iterator<Item = (&SurtPosition, &BTreeSet<Entry>)> {
        self.pages.iter()
    }

    /// Whether a page has exactly this entry.
    pub fn has(&self, place: &SurtPosition, entry: &Entry) -> bool {
        self.pages.get(place).is_some_and(|entries| entries.contains(entry))
    }

    /// Adds an entry that was read from a store.
    pub fn insert(&mut self, url: &str, entry: Entry) {
        drop_old_etags(self.add(url, entry));
    }

    /// Adds an entry, and keeps the entity tags that it replaces.
    fn add(&mut self, url: &str, entry: Entry) -> &mut BTreeSet<Entry> {
        let entries = self.pages.entry(SurtPosition::of(url)).or_default();
        entries.insert(entry);
        entries
    }

    /// Every fingerprint of an epoch that any page ever had.
    pub fn fingerprints(&self, epoch: Epoch) -> BTreeSet<u64> {
        let contents = self.pages.values().flatten().filter_map(Entry::content);
        contents.filter(|c| c.epoch == epoch).filter_map(|c| c.fingerprint).collect()
    }
}

/// The properties that come with a visit.
fn properties(observation: &Observation<'_>) -> Vec<PropertyEntry> {
    let Observation { url, visit, weight, class, etag, target, .. } = *observation;
    let is_error = matches!(visit.seen, Seen::Gone | Seen::Failed);
    let target = target.filter(|_| visit.seen.content().is_some());
    let properties = [
        weight.map(Property::Weight),
        class.map(Property::Class),
        etag.filter(|_| !is_error).and_then(ETag::new).map(Property::ETag),
        target.and_then(|target| Target::new(url, target)).map(Property::Target),
    ];
    let entry = |property| PropertyEntry { time: visit.time, property };
    properties.into_iter().flatten().map(entry).collect()
}

/// The time when content with this digest was first seen.
fn first_seen_with(entries: &[Entry], digest: Option<Digest>) -> i64 {
    let of = |entry: &&Entry| entry.content().is_some_and(|c| c.digest == digest);
    entries.iter().find(of).unwrap().time().as_ms()
}
