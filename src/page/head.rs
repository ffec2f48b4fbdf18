//! The fold of a page's visits into its current state.
//!
//! A [`PageHead`] contains all data that a verdict needs. The head depends on the set of visits, not on
//! the order in which they arrive: its counts are sums, its last visit is a maximum, and its
//! contents are the contents last seen. So a late visit can be absorbed without reading the history
//! again.

use arrayvec::ArrayVec;
use smallvec::SmallVec;

use super::compare::{MatchKind, SeenContent, is_minor};
use super::epoch::detects_changes;
use super::{
    Content, Digest, Distance, ETag, Entry, EpochInfo, Properties, Property, PropertyEntry, SameBy,
    Seen, Target, Verdict, Visit, Weight,
};
use crate::time::Time;

/// The number of a page's last versions that the store remembers. A visit that sees one of these
/// versions again is a return.
///
/// A version is one content, whatever the number of epochs in which it has a fingerprint. A
/// restated fingerprint that corrects another fingerprint of its epoch counts as one of these
/// versions.
pub const HISTORY_WINDOW: usize = 8;

/// The maximum number of contents that the store remembers of a page, over all epochs.
pub(crate) const CONTENTS_MAX: usize = 64;

/// The content in force with its valid fingerprints: one entry for each epoch in which the content
/// has a fingerprint, or is known to have none.
pub(crate) type InForceContents = SmallVec<[Content; 1]>;

/// A fingerprint of a version of the page, and the time when the version was last seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LastSeenContent {
    pub(crate) content: Content,
    pub(crate) time: Time,
    /// Whether the fingerprint was restated.
    pub(crate) restated: bool,
}

impl LastSeenContent {
    /// The rank of the fingerprint among the fingerprints of one version: ordered by epoch, and
    /// within an epoch restatements last.
    fn rank(&self) -> (u32, bool, Option<u64>) {
        (self.content.epoch.count(), self.restated, self.content.fingerprint)
    }

    /// The sort key of contents.
    fn place(&self) -> (Time, Option<Digest>, (u32, bool, Option<u64>)) {
        (self.time, self.content.digest, self.rank())
    }

    /// Whether both fingerprints belong to one version.
    pub(super) fn is_same_version(&self, other: &LastSeenContent) -> bool {
        self.time == other.time && self.content.digest == other.content.digest
    }
}

/// The last modification time of a page, as reported by its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ModifiedReport {
    /// The time of the visit that reported the modification.
    pub(crate) reported_at: Time,
    /// The reported modification time.
    pub(crate) time: Time,
}

impl ModifiedReport {
    /// The modification time reported by a visit that found the page.
    fn of(visit: &Visit) -> Option<ModifiedReport> {
        let is_there = matches!(visit.seen, Seen::Content(_) | Seen::NotModified { .. });
        let time = visit.modified.filter(|_| is_there)?;
        Some(ModifiedReport { reported_at: visit.time, time })
    }
}

/// The state of a page: a fold over its visits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PageHead {
    /// The number of visits; restatements do not count.
    pub(crate) visits: u64,
    /// The earliest time of a visit.
    pub(crate) first: Time,
    /// The last visit in order.
    pub(crate) last: Visit,
    /// The last visit in order that did not fail.
    pub(crate) last_successful: Option<Visit>,
    /// Distinct contents in descending order of the times when they were last seen. The list ends
    /// with the version that completes [`HISTORY_WINDOW`] versions of one epoch, or with
    /// [`CONTENTS_MAX`] contents. Contents with the same time and digest are one version, with a
    /// fingerprint in each of several epochs.
    ///
    /// If a set of visits leaves out a content, every larger set leaves it out, too. The result
    /// does not depend on the order of arrival.
    pub(crate) contents: SmallVec<[LastSeenContent; HISTORY_WINDOW + 1]>,
    /// The latest report of a modification time.
    pub(crate) modified: Option<ModifiedReport>,
    /// The properties in force.
    pub(crate) properties: Properties,
}

impl PageHead {
    /// A head that does not include its visit yet. A head is large, so it is made where it stays.
    #[inline]
    fn before(visit: Visit) -> PageHead {
        PageHead {
            visits: 0,
            first: visit.time,
            last: visit,
            last_successful: None,
            contents: SmallVec::new(),
            modified: None,
            properties: Properties::default(),
        }
    }

    /// Adds a visit that the head does not include yet, in any order.
    fn absorb(&mut self, visit: Visit) {
        if let Seen::Content(content) = visit.seen {
            self.add_content(LastSeenContent { content, time: visit.time, restated: false });
        }
        self.visits += 1;
        self.first = self.first.min(visit.time);
        // Visits are large, so a visit is copied only if needed.
        if self.last < visit {
            self.last = visit;
        }
        if visit.seen != Seen::Failed && self.last_successful.as_ref() < Some(&visit) {
            self.last_successful = Some(visit);
        }
        if visit.modified.is_some() {
            self.modified = self.modified.max(ModifiedReport::of(&visit));
        }
    }

    /// Adds an entry to a head, in any order. The first visit creates the head; entries that arrive
    /// before the first visit are ignored.
    pub(crate) fn absorb_into(head: &mut Option<PageHead>, entry: &Entry) {
        match (head.as_mut(), entry) {
            (Some(head), Entry::Visit(visit)) => head.absorb(*visit),
            (None, Entry::Visit(visit)) => head.insert(PageHead::before(*visit)).absorb(*visit),
            (Some(head), Entry::Restated(restated)) => {
                let (content, time) = (restated.content(), restated.time);
                head.add_content(LastSeenContent { content, time, restated: true });
            }
            (Some(head), Entry::Property(given)) => head.set_property(given.clone()),
            (None, Entry::Restated(_) | Entry::Property(_)) => {}
        }
    }

    /// The head of a page with these `entries`. The entries may be in any order in which visits
    /// come before their restatements.
    pub(crate) fn of_all(entries: &[Entry]) -> Option<PageHead> {
        let mut head = None;
        // A property may be older than the first visit; the property takes effect with the first
        // visit.
        let (given, others): (Vec<&Entry>, _) =
            entries.iter().partition(|entry| entry.property().is_some());
        others.into_iter().chain(given).for_each(|entry| PageHead::absorb_into(&mut head, entry));
        head
    }

    /// Adds a version, if it is among the last versions.
    #[expect(clippy::indexing_slicing, reason = "positions of some of them")]
    pub(crate) fn add_content(&mut self, seen: LastSeenContent) {
        if let Some(at) = self.contents.iter().position(|v| v.content == seen.content) {
            if self.contents[at].place() >= seen.place() {
                return;
            }
            self.contents.remove(at);
        }
        let at = self.contents.iter().take_while(|v| v.place() > seen.place()).count();
        self.contents.insert(at, seen);
        self.contents.truncate(CONTENTS_MAX);
        let is_enough = |at: &usize| {
            let epoch = self.contents[*at].content.epoch;
            let of_epoch = self.contents[..=*at].iter().filter(|v| v.content.epoch == epoch);
            of_epoch.count() == HISTORY_WINDOW
        };
        let last = (HISTORY_WINDOW - 1..self.contents.len()).find(is_enough);
        if let Some(last) = last.map(|at| self.contents[at]) {
            self.contents.retain(|v| v.place() >= last.place() || v.is_same_version(&last));
        }
        debug_assert!(self.contents.is_sorted_by(|a, b| a.place() >= b.place()));
        self.end_properties();
    }

    /// Adds a property.
    pub(crate) fn set_property(&mut self, given: PropertyEntry) {
        if !self.is_superseded(&given) {
            self.properties.take(given);
        }
    }

    /// Ends the properties of earlier content than the content last seen.
    fn end_properties(&mut self) {
        if let Some(last) = self.contents.first() {
            self.properties.end_before(last.time);
        }
    }

    /// Whether a property describes earlier content than the content last seen.
    pub(crate) fn is_superseded(&self, given: &PropertyEntry) -> bool {
        let is_earlier = |last: &LastSeenContent| given.time < last.time;
        given.property.is_of_content() && self.contents.first().is_some_and(is_earlier)
    }

    /// Whether an entity tag need not be stored: later content or a later entity tag replaces it.
    pub(crate) fn ends_etag(&self, given: &PropertyEntry) -> bool {
        let is_later = |last: &PropertyEntry| last > given;
        matches!(given.property, Property::ETag(_))
            && (self.is_superseded(given)
                || self.properties.of_kind(&given.property).as_ref().is_some_and(is_later))
    }

    /// The entity tag of the content in force.
    pub(crate) fn etag(&self) -> Option<&ETag> {
        self.properties.etag().filter(|_| self.has_content_in_force())
    }

    /// The target of the content in force.
    pub(crate) fn target(&self) -> Option<&Target> {
        self.properties.target().filter(|_| self.has_content_in_force())
    }

    fn has_content_in_force(&self) -> bool {
        !self.contents.is_empty() && !self.gone()
    }

    /// Whether the last visit that did not fail found the page gone.
    pub(crate) fn gone(&self) -> bool {
        self.last_successful.is_some_and(|v| v.seen == Seen::Gone)
    }

    /// The valid fingerprints, with one fingerprint for each version and epoch.
    fn counted(&self) -> impl Iterator<Item = &LastSeenContent> {
        let counts = |v: &&LastSeenContent| {
            let of_epoch =
                |w: &&LastSeenContent| w.is_same_version(v) && w.content.epoch == v.content.epoch;
            self.contents.iter().filter(of_epoch).all(|w| w.rank() <= v.rank())
        };
        self.contents.iter().filter(counts)
    }

    /// The fingerprints of the version last seen.
    pub(super) fn last_version(&self) -> impl Iterator<Item = &LastSeenContent> {
        let first = self.contents.first();
        self.counted().take_while(move |v| first.is_some_and(|first| v.is_same_version(first)))
    }

    /// The content in force: the content seen last, unless the page is gone.
    pub(crate) fn in_force(&self) -> InForceContents {
        let mut in_force = InForceContents::new();
        if !self.gone() {
            self.last_version().for_each(|v| in_force.push(v.content));
        }
        in_force
    }

    /// The time when the content in force was last seen.
    pub(crate) fn in_force_seen(&self) -> Option<Time> {
        self.contents.first().filter(|_| !self.gone()).map(|last| last.time)
    }

    /// The time when the content in force was first seen; `None` if the head does not contain
    /// enough to know. The head is enough if the first visit saw the content, or if each visit saw
    /// another content and the head has all of these contents.
    pub(crate) fn in_force_since(&self) -> Option<Time> {
        let last = self.contents.first().filter(|_| !self.gone())?;
        if last.time == self.first {
            return Some(self.first);
        }
        let seen = || self.contents.iter().filter(|v| !v.restated);
        // Without a digest, the content may be a restatement of an earlier content.
        let is_known = last.content.digest.is_some() && seen().count() as u64 == self.visits;
        let with_it = seen().filter(|v| v.content.digest == last.content.digest);
        with_it.map(|v| v.time).min().filter(|_| is_known)
    }

    /// The modification time of the content last seen, as the server reported with the content or
    /// later. Earlier reports do not refer to this content.
    pub(crate) fn content_modified(&self) -> Option<Time> {
        let seen = self.contents.first()?.time;
        self.modified.filter(|modified| modified.reported_at >= seen).map(|modified| modified.time)
    }

    /// The valid fingerprints of the last [`HISTORY_WINDOW`] versions. Contents with equal digests
    /// are one version, whatever their times and epochs.
    pub(crate) fn remembered(&self) -> impl Iterator<Item = &LastSeenContent> {
        let mut versions = ArrayVec::<(Option<Digest>, Option<Time>), HISTORY_WINDOW>::new();
        self.counted().take_while(move |v| {
            let digest = v.content.digest;
            let version = (digest, digest.is_none().then_some(v.time));
            versions.contains(&version) || versions.try_push(version).is_ok()
        })
    }

    /// The verdict on a visit that comes after all other visits; `also` are the restatements of the
    /// visit. Fingerprints of epochs that do not detect changes are ignored.
    pub(crate) fn visit_verdict(
        &self,
        visit: &Visit,
        also: &[Content],
        epochs: &[EpochInfo],
    ) -> VisitVerdict {
        match &visit.seen {
            Seen::Gone => Verdict::Gone.into(),
            Seen::Failed => Verdict::Failed.into(),
            Seen::NotModified { .. } => self.not_modified_verdict(epochs).into(),
            Seen::Content(_) if self.contents.is_empty() => VisitVerdict::NEW,
            Seen::Content(content) => self.content_verdict(&SeenContent { content, also, epochs }),
        }
    }

    /// The verdict on a visit that found the page not modified.
    fn not_modified_verdict(&self, epochs: &[EpochInfo]) -> Verdict {
        match self.contents.first() {
            None => Verdict::Unseen,
            Some(v) if self.gone() => {
                let mut all = self.last_version().map(|v| v.content.epoch);
                let epoch = all.find(|epoch| detects_changes(epochs, *epoch));
                let distance = epoch.map(|epoch| Distance { bits: 0, epoch });
                Verdict::Reverted { to: v.time, distance }
            }
            Some(_) => Verdict::Same(SameBy::NotModified),
        }
    }

    /// The verdict on a visit that saw content, for a page that had content before.
    fn content_verdict(&self, seen: &SeenContent<'_>) -> VisitVerdict {
        let in_force = !self.gone();
        if in_force && self.last_version().any(|v| have_digest(&v.content, seen.content)) {
            return Verdict::Same(SameBy::Digest).into();
        }
        // Several epochs may have a distance: one epoch may show a change that other epochs do not
        // show.
        let distances = self.distances(seen.change_fingerprints());
        let distance = distances.last().copied();
        if in_force && distance.is_some() && distances.iter().all(|of| of.bits == 0) {
            return Verdict::Same(SameBy::Fingerprint).into();
        }
        match self.most_like(seen) {
            Some((MatchKind::Digest | MatchKind::Fingerprint, to)) => {
                Verdict::Reverted { to, distance }.into()
            }
            Some((MatchKind::Near, _)) => Verdict::Changed { distance }.into(),
            None => {
                let is_minor = |distance| is_minor(seen.epochs, distance);
                let novel = !(in_force && distance.is_some_and(is_minor));
                VisitVerdict { verdict: Verdict::Changed { distance }, novel }
            }
        }
    }

    /// The Hamming distances of a content to the version last seen, in order of the epochs. An
    /// epoch counts if both have a fingerprint in it.
    fn distances<'c>(&self, all: impl Iterator<Item = &'c Content>) -> SmallVec<[Distance; 2]> {
        let mut distances: SmallVec<[Distance; 2]> =
            all.filter_map(|content| self.distance(content)).collect();
        distances.sort_unstable_by_key(|of| of.epoch.count());
        distances
    }

    /// The Hamming distance of a content to the version last seen, in the newest epoch with
    /// fingerprints of both.
    pub(super) fn newest_distance<'c>(
        &self,
        all: impl Iterator<Item = &'c Content>,
    ) -> Option<Distance> {
        all.filter_map(|content| self.distance(content)).max_by_key(|of| of.epoch.count())
    }

    /// The Hamming distance of a content to the version last seen.
    fn distance(&self, content: &Content) -> Option<Distance> {
        let bits = self.last_version().find_map(|v| bits_between(&v.content, content))?;
        Some(Distance { bits, epoch: content.epoch })
    }
}

/// The content in force on a page; `head` is `None` for an unknown page.
pub(crate) fn in_force_on(head: Option<&PageHead>) -> InForceContents {
    head.map_or_else(InForceContents::new, PageHead::in_force)
}

/// The valid fingerprints of a content, one for each epoch. A fingerprint in `also` replaces the
/// content's own fingerprint of the same epoch.
pub(super) fn fingerprints<'c>(
    content: &'c Content,
    also: &'c [Content],
) -> impl Iterator<Item = &'c Content> + Clone {
    let own = Some(content).filter(|own| also.iter().all(|other| other.epoch != own.epoch));
    let counts = |c: &&Content| {
        let of_epoch = also.iter().filter(|other| other.epoch == c.epoch);
        of_epoch.map(|other| other.fingerprint).max() == Some(c.fingerprint)
    };
    own.into_iter().chain(also.iter().filter(counts))
}

/// Whether a content is in force on a page. Digests identify the content; without a digest, a
/// fingerprint does.
pub(crate) fn is_of_version(in_force: &[Content], content: &Content) -> bool {
    in_force.iter().any(|own| match own.digest {
        Some(_) => have_digest(own, content),
        None => bits_between(own, content) == Some(0),
    })
}

/// Whether two contents have equal digests.
pub(super) fn have_digest(a: &Content, b: &Content) -> bool {
    a.digest.is_some() && a.digest == b.digest
}

/// The Hamming distance of two contents; `None` for contents of different epochs, or if one content
/// has no fingerprint.
pub(super) fn bits_between(a: &Content, b: &Content) -> Option<u32> {
    let (a, b) = (a.compared().filter(|_| a.epoch == b.epoch)?, b.compared()?);
    Some((a ^ b).count_ones())
}

/// The verdict on a visit that comes after all other visits of a page. `head` is `None` for an
/// unknown page.
pub(crate) fn visit_verdict(
    head: Option<&PageHead>,
    visit: &Visit,
    also: &[Content],
    epochs: &[EpochInfo],
) -> VisitVerdict {
    match (head, visit.seen) {
        (Some(head), _) => head.visit_verdict(visit, also, epochs),
        (None, Seen::Gone) => Verdict::Gone.into(),
        (None, Seen::Failed) => Verdict::Failed.into(),
        (None, Seen::Content(_)) => VisitVerdict::NEW,
        (None, Seen::NotModified { .. }) => Verdict::Unseen.into(),
    }
}

/// The state of a page, by its visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageState {
    /// No visit to the page is known.
    Unknown,
    /// No content of the page was ever seen.
    Unseen,
    /// The page has content in force.
    InForce,
    /// The last visit that did not fail found the page gone.
    Gone,
}

impl PageState {
    /// The state of a page according to its head.
    pub(crate) fn of(head: Option<&PageHead>) -> PageState {
        match head {
            None => PageState::Unknown,
            Some(head) if head.gone() => PageState::Gone,
            Some(head) if head.contents.is_empty() => PageState::Unseen,
            Some(_) => PageState::InForce,
        }
    }
}

/// The verdict on a visit, and whether its content is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VisitVerdict {
    pub(crate) verdict: Verdict,
    /// Whether the content matches none of the remembered versions: no version has its digest or is
    /// at most a minor change away. If the visit is compared with the previous visit, `novel` is
    /// true exactly for changes that are no returns.
    pub(crate) novel: bool,
}

/// The minimum distance of entirely new content: the mean distance of two unrelated fingerprints.
const UNRELATED: u32 = u64::BITS / 2;

impl VisitVerdict {
    /// The verdict on the first content of a page.
    pub(crate) const NEW: VisitVerdict = VisitVerdict { verdict: Verdict::New, novel: true };

    /// The value of processing a visit's content further, for a page with a given weight. Content
    /// that is or may be unrelated to the version before has the full weight as its value.
    pub(crate) fn priority(self, weight: Weight) -> f64 {
        let share = match self.verdict {
            Verdict::New => 1.0,
            Verdict::Changed { distance } | Verdict::Reverted { distance, .. } => {
                let share = |bits: u32| f64::from(bits.min(UNRELATED)) / f64::from(UNRELATED);
                distance.map_or(1.0, |distance| share(distance.bits))
            }
            Verdict::Same(_) | Verdict::Unseen | Verdict::Gone | Verdict::Failed => 0.0,
            // A later version is in force, and was processed already.
            Verdict::OutOfOrder | Verdict::Known => 0.0,
        };
        f64::from(weight.get()) * share
    }
}

/// Converts the verdict on a visit that saw no new content.
impl From<Verdict> for VisitVerdict {
    fn from(verdict: Verdict) -> VisitVerdict {
        VisitVerdict { verdict, novel: false }
    }
}
