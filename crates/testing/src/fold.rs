//! The state of a page from its entries, computed in the slowest way.

use crate::ms;
use std::collections::{BTreeMap, BTreeSet};

use simkeep::{
    Content, Distance, Entry, Epoch, EpochOptions, HistoryEntry, Role, SameBy, Seen, Time, Verdict,
    Visit, Weight,
};

/// The maximum number of remembered versions of a page, and of remembered contents of one epoch; and
/// the maximum number of all remembered contents.
const WINDOW: usize = 8;
const CONTENTS: usize = 64;

/// The options of epochs. Epochs without an entry have both roles, and the bands of fingerprints
/// made elsewhere.
#[derive(Clone, Debug, Default)]
pub(super) struct EpochRoles(pub(super) BTreeMap<Epoch, EpochOptions>);

impl EpochRoles {
    pub(super) fn of(&self, epoch: Epoch) -> Role {
        self.0.get(&epoch).copied().unwrap_or_default().role
    }

    /// The largest distance of a minor change, in bits.
    pub(super) fn minor(&self, epoch: Epoch) -> u32 {
        self.0.get(&epoch).and_then(|options| options.bands).map_or(3, |bands| bands.minor)
    }

    /// The content of the newest epoch that detects changes, or else of the newest epoch.
    pub(super) fn in_force(&self, contents: &[Content]) -> Option<Content> {
        let key = |c: &&Content| (self.of(c.epoch).detects_changes(), c.epoch);
        contents.iter().max_by_key(key).copied()
    }
}

pub(super) fn distance(a: &Content, b: &Content) -> Option<u32> {
    let (a, b) = (a.fingerprint.filter(|_| a.epoch == b.epoch)?, b.fingerprint?);
    Some((a ^ b).count_ones())
}

pub(super) fn same_digest(a: &Content, b: &Content) -> bool {
    a.digest.is_some() && a.digest == b.digest
}

fn same_fingerprint(a: &Content, b: &Content) -> bool {
    distance(a, b) == Some(0)
}

/// Whether a page with these entries is gone.
pub(super) fn gone(entries: &[Entry]) -> bool {
    let settled = entries.iter().filter_map(Entry::visit).rfind(|v| v.seen != Seen::Failed);
    settled.is_some_and(|v| v.seen == Seen::Gone)
}

/// A content, when it was last seen, and whether it was restated.
#[derive(Clone, Copy, Debug)]
pub(super) struct DatedContent {
    pub(super) content: Content,
    time: i64,
    restated: bool,
}

impl DatedContent {
    fn rank(&self) -> (Epoch, bool, Option<u64>) {
        (self.content.epoch, self.restated, self.content.fingerprint)
    }

    pub(super) fn is_with(&self, other: &DatedContent) -> bool {
        (self.time, self.content.digest) == (other.time, other.content.digest)
    }
}

/// The distinct contents, the last seen first. Contents of the same time are in order of digest,
/// epoch, whether they were restated, and fingerprint.
pub(super) fn contents(entries: &[Entry]) -> Vec<DatedContent> {
    let mut contents: Vec<DatedContent> = Vec::new();
    for entry in entries.iter().rev() {
        let Some(content) = entry.content() else { continue };
        let (time, restated) = (entry.time(), entry.is_restated());
        match contents.iter_mut().find(|known| known.content == content) {
            Some(known) if known.time == time.as_ms() => known.restated |= restated,
            Some(_) => {}
            None => contents.push(DatedContent { content, time: time.as_ms(), restated }),
        }
    }
    contents.sort_by_key(|k| (k.time, k.content.digest, k.rank()));
    contents.reverse();
    contents
}

/// The contents of the versions that a page can return to, one for each version and epoch. A
/// restated content is preferred to a seen one.
pub(super) fn returnable_contents(entries: &[Entry]) -> Vec<DatedContent> {
    let mut known = contents(entries);
    known.truncate(CONTENTS);
    let of_epoch =
        |upto: &[DatedContent], epoch| upto.iter().filter(|k| k.content.epoch == epoch).count();
    let full =
        (0..known.len()).find(|i| of_epoch(&known[..=*i], known[*i].content.epoch) == WINDOW);
    if let Some(last) = full.map(|last| known[last]) {
        let version = (last.time, last.content.digest);
        known.retain(|k| (k.time, k.content.digest) >= version);
    }
    let all = known.clone();
    known.retain(|one| {
        let better = |other: &DatedContent| {
            other.is_with(one)
                && other.content.epoch == one.content.epoch
                && other.rank() > one.rank()
        };
        !all.iter().any(better)
    });
    // Contents with equal digests are one version.
    let version = |k: &DatedContent| k.content.digest.ok_or(k.time);
    let versions = |upto: &[DatedContent]| upto.iter().map(version).collect::<BTreeSet<_>>().len();
    let last = (0..known.len()).find(|last| versions(&known[..=*last]) > WINDOW);
    known.truncate(last.unwrap_or(known.len()));
    known
}

/// The contents of the last seen version: those of its time and digest.
pub(super) fn last_version(known: &[DatedContent], entries: &[Entry]) -> Vec<DatedContent> {
    let first = contents(entries).first().copied();
    known.iter().filter(|k| first.is_some_and(|first| k.is_with(&first))).copied().collect()
}

/// The content in force, one for each epoch, the newest epoch first; and when it was last seen.
pub(super) fn in_force(entries: &[Entry]) -> (Vec<Content>, Option<i64>) {
    let mut version = last_version(&returnable_contents(entries), entries);
    version.retain(|_| !gone(entries));
    version.sort_by_key(|k| std::cmp::Reverse(k.rank()));
    let seen = version.first().map(|k| k.time);
    (version.into_iter().map(|k| k.content).collect(), seen)
}

/// The time when the last seen content was modified, as reported with it or later. Of several
/// reports at one time, the latest modification counts.
pub(super) fn content_modified(entries: &[Entry]) -> Option<i64> {
    let visits = || entries.iter().filter_map(Entry::visit);
    let seen = visits().filter(|v| v.seen.content().is_some()).map(|v| v.time).max()?;
    let is_there = |v: &&Visit| matches!(v.seen, Seen::Content(_) | Seen::NotModified { .. });
    let said = visits().filter(is_there).filter(|v| v.time >= seen);
    said.filter_map(|v| Some((v.time, v.modified?))).max().map(|(_, modified)| modified.as_ms())
}

/// The weight that was set last; of weights set at one time, the greatest.
pub(super) fn weight(entries: &[Entry]) -> Weight {
    let given = entries.iter().filter_map(|entry| Some((entry.time(), entry.weight()?)));
    given.max().map_or(Weight::ONE, |(_, weight)| weight)
}

/// The class that was set last; of classes set at one time, the greatest.
pub(super) fn class(entries: &[Entry]) -> Option<u32> {
    let given = entries.iter().filter_map(|entry| Some((entry.time(), entry.class()?)));
    given.max().map(|(_, class)| class)
}

/// The entity tag of the content in force, set with this content or later.
pub(super) fn etag(entries: &[Entry]) -> Option<String> {
    let given = of_content(entries, |entry| Some(entry.etag()?.to_string()));
    given.into_iter().max().map(|(_, etag)| etag)
}

/// The target of the content in force, set with this content or later.
pub(super) fn target(url: &str, entries: &[Entry]) -> Option<String> {
    let given = of_content(entries, |entry| entry.target().cloned());
    given.into_iter().max().and_then(|(_, target)| target.resolve(url))
}

/// The values of the entries that are not earlier than the last content; none if no content is in
/// force.
fn of_content<T>(entries: &[Entry], value: impl Fn(&Entry) -> Option<T>) -> Vec<(Time, T)> {
    let seen = entries.iter().filter(|entry| entry.content().is_some()).map(Entry::time).max();
    let Some(seen) = seen.filter(|_| !gone(entries)) else { return Vec::new() };
    let later = entries.iter().filter(|entry| entry.time() >= seen);
    later.filter_map(|entry| Some((entry.time(), value(entry)?))).collect()
}

/// Removes the entity tags that a later entity tag or later content replaces.
pub(super) fn drop_old_etags(entries: &mut BTreeSet<Entry>) {
    let of = |entry: &Entry| Some((entry.time(), entry.etag()?.clone()));
    let last = entries.iter().filter_map(of).max();
    let seen = entries.iter().filter(|entry| entry.content().is_some()).map(Entry::time).max();
    entries.retain(|entry| match of(entry) {
        Some(given) => Some(&given) == last.as_ref() && Some(given.0) >= seen,
        None => true,
    });
}

/// The verdict of a visit after these entries, if all epochs have both roles.
pub fn verdict_of(before: &[Entry], visit: &Visit) -> Verdict {
    verdict_with_restatement(before, visit, &[], &EpochRoles::default())
}

/// The verdict of a visit after these entries, if its content was restated as `also`.
pub(super) fn verdict_with_restatement(
    before: &[Entry],
    visit: &Visit,
    also: &[Content],
    roles: &EpochRoles,
) -> Verdict {
    let known = returnable_contents(before);
    let version = last_version(&known, before);
    let is_gone = gone(before);
    let last = contents(before).first().map(|known| known.time);
    match (&visit.seen, last) {
        (Seen::Gone, _) => Verdict::Gone,
        (Seen::Failed, _) => Verdict::Failed,
        (Seen::NotModified { .. }, None) => Verdict::Unseen,
        (Seen::Content(_), None) => Verdict::New,
        (Seen::NotModified { .. }, Some(to)) if is_gone => {
            let of = version.iter().map(|k| k.content.epoch);
            let epoch = of.filter(|epoch| roles.of(*epoch).detects_changes()).max();
            Verdict::Reverted {
                to: ms(to),
                distance: epoch.map(|epoch| Distance { bits: 0, epoch }),
            }
        }
        (Seen::NotModified { .. }, Some(_)) => Verdict::Same(SameBy::NotModified),
        (Seen::Content(content), Some(_)) => {
            let mut all: BTreeMap<Epoch, Content> = BTreeMap::new();
            let mut also = also.to_vec();
            also.sort_by_key(|c| c.fingerprint);
            for content in [*content].into_iter().chain(also) {
                all.insert(content.epoch, content);
            }
            all.retain(|epoch, _| roles.of(*epoch).detects_changes());
            let by_digest = |k: &&DatedContent| same_digest(&k.content, content);
            let by_fingerprint =
                |k: &&DatedContent| all.values().any(|c| same_fingerprint(&k.content, c));
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
            let is_last = |k: &&DatedContent| version.iter().any(|last| last.is_with(k));
            let known: Vec<&DatedContent> =
                known.iter().filter(|k| is_gone || !is_last(k)).collect();
            let earlier = known.iter().find(|k| by_digest(k));
            let earlier = earlier.or_else(|| known.iter().find(|k| by_fingerprint(k)));
            match earlier {
                Some(known) => Verdict::Reverted { to: ms(known.time), distance },
                None => Verdict::Changed { distance },
            }
        }
    }
}

/// Entries, each visit with its verdict.
pub type VerdictHistory = Vec<(Entry, Option<Verdict>)>;

/// The entries of a history with their verdicts, without the meanings of distances, which the model
/// lacks.
pub fn with_verdicts(history: &[HistoryEntry]) -> VerdictHistory {
    let verdict = |entry: &HistoryEntry| entry.visit().map(|(_, verdict)| verdict);
    history.iter().map(|entry| (entry.entry(), verdict(entry))).collect()
}

/// The entries with their verdicts, if all epochs have both roles.
pub fn history(entries: &[Entry]) -> VerdictHistory {
    history_by(entries, &EpochRoles::default())
}

pub(super) fn history_by(entries: &[Entry], roles: &EpochRoles) -> VerdictHistory {
    let entry = |i: usize| match &entries[i] {
        Entry::Restated(_) | Entry::Property(_) => (entries[i].clone(), None),
        Entry::Visit(visit) => {
            let of = (visit.time, visit.seen.digest());
            let behind = entries[i + 1..].iter().filter(|entry| entry.is_restated());
            let also: Vec<Content> = behind
                .filter(|_| visit.seen.content().is_some())
                .filter(|entry| (entry.time(), entry.digest()) == of)
                .filter_map(Entry::content)
                .collect();
            let verdict = verdict_with_restatement(&entries[..i], visit, &also, roles);
            (entries[i].clone(), Some(verdict))
        }
    };
    (0..entries.len()).map(entry).collect()
}

/// The last visit with content, if the content is in force after these entries, and its contents:
/// one for each epoch, regardless of the limits of remembered versions.
pub(super) fn version_at(entries: &[Entry]) -> Option<(Visit, Vec<Content>)> {
    let last = entries.iter().filter_map(Entry::visit).rfind(|v| v.seen.content().is_some())?;
    let of = |e: &&Entry| (e.time(), e.digest()) == (last.time, last.seen.digest());
    let mut best: BTreeMap<Epoch, (bool, Content)> = BTreeMap::new();
    for entry in entries.iter().filter(of) {
        let Some(content) = entry.content() else { continue };
        let now = (entry.is_restated(), content);
        let known = best.entry(content.epoch).or_insert(now);
        if (now.0, now.1.fingerprint) > (known.0, known.1.fingerprint) {
            *known = now;
        }
    }
    let contents = best.into_values().map(|(_, content)| content).collect();
    (!gone(entries)).then_some((*last, contents))
}

/// The time when a page with these entries was first seen with a content that has one of these
/// fingerprints or their digest, but not before its first visit; `None` if it never was.
pub fn since(entries: &[Entry], of: &[Content]) -> Option<i64> {
    let is_it = |content: &Content| {
        of.iter().any(|own| match own.digest {
            Some(_) => content.digest == own.digest,
            None => {
                own.compared().is_some()
                    && (own.epoch, own.compared()) == (content.epoch, content.compared())
            }
        })
    };
    let seen = entries.iter().filter(|entry| entry.content().as_ref().is_some_and(is_it));
    let first = entries.iter().filter_map(Entry::visit).map(|visit| visit.time).min();
    seen.map(Entry::time).min().map(|time| first.map_or(time, |first| time.max(first)).as_ms())
}
