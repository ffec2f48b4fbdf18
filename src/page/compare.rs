//! Comparison of a visit with the previous visit, and of a content with the last versions of its
//! page.

use super::epoch::{detects_changes, find_epoch};
use super::head::{LastSeenContent, PageHead, bits_between, fingerprints, have_digest};
use super::{Content, Distance, EpochInfo, Seen, Visit};
use crate::fingerprint::Band;
use crate::time::Time;

/// The result of comparing a visit with the last visit that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VisitChange {
    /// The page is unchanged, or has a minor change.
    Unchanged,
    /// The page changed to a new version. The number of differing bits, if known.
    Changed(Option<u32>),
    /// The page changed back to one of its last versions, or is no longer gone.
    Returned(Option<u32>),
}

/// The way in which a content matches a version of its page, in ascending order of closeness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MatchKind {
    /// The two contents differ by at most a minor change, in an epoch whose role is to detect
    /// changes.
    Near,
    /// Equal fingerprints.
    Fingerprint,
    /// Equal digests.
    Digest,
}

impl PageHead {
    /// Compares a visit with the head of its page, which is the state before the visit. The visit
    /// must come after all visits in the head. `also` are the restatements of the visit.
    ///
    /// Returns `None` if the comparison is no evidence either way. Does not check that time passed
    /// between the visits. A distance counts as unchanged up to the greatest minor distance of its
    /// epoch. Fingerprints of epochs that do not detect changes are ignored.
    pub(super) fn compare_visit(
        &self,
        visit: &Visit,
        also: &[Content],
        epochs: &[EpochInfo],
    ) -> Option<VisitChange> {
        self.last_successful?;
        let was_gone = self.gone();
        match &visit.seen {
            Seen::Failed => None,
            Seen::Gone if was_gone => Some(VisitChange::Unchanged),
            Seen::Gone => Some(VisitChange::Changed(None)),
            Seen::NotModified { .. } if was_gone => Some(VisitChange::Returned(None)),
            Seen::NotModified { .. } => Some(VisitChange::Unchanged),
            Seen::Content(content) => {
                self.find_content(&SeenContent { content, also, epochs }, was_gone)
            }
        }
    }

    fn find_content(&self, seen: &SeenContent<'_>, was_gone: bool) -> Option<VisitChange> {
        let bits = self.newest_distance(seen.change_fingerprints());
        if !was_gone {
            if self.last_version().any(|v| have_digest(&v.content, seen.content)) {
                return Some(VisitChange::Unchanged);
            }
            match bits {
                Some(by) if is_minor(seen.epochs, by) => return Some(VisitChange::Unchanged),
                None if !self.last_version().any(|v| seen.is_other_without(&v.content)) => {
                    return None;
                }
                _ => {}
            }
        }
        let bits = bits.map(|by| by.bits);
        let back = self.earlier().any(|v| seen.match_kind(&v.content).is_some());
        Some(if back { VisitChange::Returned(bits) } else { VisitChange::Changed(bits) })
    }

    /// The best match of a content among the earlier versions in the head, with the time when the
    /// matching version was last seen. If several versions match equally well, the version last
    /// seen counts.
    pub(super) fn most_like(&self, seen: &SeenContent<'_>) -> Option<(MatchKind, Time)> {
        let mut most = None;
        for version in self.earlier() {
            let likeness = seen.match_kind(&version.content);
            if likeness > most.map(|(likeness, _)| likeness) {
                most = likeness.map(|likeness| (likeness, version.time));
            }
            if likeness == Some(MatchKind::Digest) {
                break;
            }
        }
        most
    }

    /// The versions in the head except the version in force.
    fn earlier(&self) -> impl Iterator<Item = &LastSeenContent> {
        let in_force = self.contents.first().filter(|_| !self.gone());
        self.remembered().filter(move |v| in_force.is_none_or(|last| !v.is_same_version(last)))
    }
}

/// A content that a visit saw, with its restatements.
pub(super) struct SeenContent<'a> {
    pub(super) content: &'a Content,
    pub(super) also: &'a [Content],
    pub(super) epochs: &'a [EpochInfo],
}

impl<'a> SeenContent<'a> {
    /// The valid fingerprints of the content in epochs that detect changes.
    pub(super) fn change_fingerprints(&self) -> impl Iterator<Item = &'a Content> {
        let all = fingerprints(self.content, self.also);
        all.filter(|content| detects_changes(self.epochs, content.epoch))
    }

    /// Whether the contents differ although there is no distance. Redirects differ unless their
    /// digests are equal. Other contents differ if they have no fingerprint in the same epoch, and
    /// have different digests.
    fn is_other_without(&self, other: &Content) -> bool {
        if self.content.is_redirect() || other.is_redirect() {
            return !have_digest(self.content, other);
        }
        let without = |c: &Content| {
            c.epoch == other.epoch && c.fingerprint.is_none() && other.fingerprint.is_none()
        };
        let differ = self.content.digest.zip(other.digest).is_some_and(|(a, b)| a != b);
        differ && self.change_fingerprints().any(without)
    }

    /// How this content matches another content; `None` if the two differ by more than a minor
    /// change.
    fn match_kind(&self, other: &Content) -> Option<MatchKind> {
        if have_digest(other, self.content) {
            return Some(MatchKind::Digest);
        }
        let by = |c: &Content| match bits_between(other, c)? {
            0 => Some(MatchKind::Fingerprint),
            bits => {
                let distance = Distance { bits, epoch: c.epoch };
                is_minor(self.epochs, distance).then_some(MatchKind::Near)
            }
        };
        self.change_fingerprints().filter_map(by).max()
    }
}

/// Whether a distance is at most a minor change by the bands of its epoch.
pub(super) fn is_minor(epochs: &[EpochInfo], distance: Distance) -> bool {
    let bands = find_epoch(epochs, distance.epoch).map(|info| info.bands);
    bands.is_some_and(|bands| bands.band(distance.bits) <= Band::Minor)
}
