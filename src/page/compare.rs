//! What a visit and the one before it say of the time between them.

use super::epoch::{known, tells_change};
use super::head::{Head, LastSeen, bits_between, fingerprints, have_digest};
use super::{Content, Distance, EpochInfo, Seen, Visit};
use crate::fingerprint::Band;

/// What a visit found, beside the one before it that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The page is as it was, or has a minor change.
    Unchanged,
    /// It changed to what it has not been before, by so many bits if they are known.
    Changed(Option<u32>),
    /// It changed to what it was at one of the last versions, or is there again.
    Returned(Option<u32>),
}

impl Head {
    /// What a visit after all others of the page says; `also` is what was restated of it. None if that
    /// is no evidence either way. Whether there is time between the visits is not asked.
    ///
    /// Distances count up to the most that is minor in their epoch. Fingerprints of epochs that do not
    /// tell of changes are not compared.
    pub(super) fn find(
        &self,
        visit: &Visit,
        also: &[Content],
        epochs: &[EpochInfo],
    ) -> Option<Found> {
        self.settled?;
        let was_gone = self.gone();
        match &visit.seen {
            Seen::Failed => None,
            Seen::Gone if was_gone => Some(Found::Unchanged),
            Seen::Gone => Some(Found::Changed(None)),
            Seen::NotModified { .. } if was_gone => Some(Found::Returned(None)),
            Seen::NotModified { .. } => Some(Found::Unchanged),
            Seen::Content(content) => {
                self.find_content(content, &Seeing { content, also, epochs }, was_gone)
            }
        }
    }

    fn find_content(
        &self,
        content: &Content,
        seeing: &Seeing<'_>,
        was_gone: bool,
    ) -> Option<Found> {
        let last = self.contents.first();
        let is_last = |v: &LastSeen| last.is_some_and(|last| !was_gone && v.is_with(last));
        let bits = self.distances(seeing.told()).last().copied();
        if !was_gone {
            if self.last_version().any(|v| have_digest(&v.content, content)) {
                return Some(Found::Unchanged);
            }
            match bits {
                Some(by) if is_minor(seeing.epochs, by) => return Some(Found::Unchanged),
                None if !self.last_version().any(|v| seeing.is_other_without(&v.content)) => {
                    return None;
                }
                _ => {}
            }
        }
        let bits = bits.map(|by| by.bits);
        let is_back = |v: &LastSeen| have_digest(&v.content, content) || seeing.is_near(&v.content);
        let back = self.remembered().any(|v| !is_last(v) && is_back(v));
        Some(if back { Found::Returned(bits) } else { Found::Changed(bits) })
    }
}

/// A content that a visit saw, with what was restated of it.
struct Seeing<'a> {
    content: &'a Content,
    also: &'a [Content],
    epochs: &'a [EpochInfo],
}

impl<'a> Seeing<'a> {
    /// Its fingerprints that count, of epochs that tell of changes.
    fn told(&self) -> impl Iterator<Item = &'a Content> {
        let all = fingerprints(self.content, self.also);
        all.filter(|content| tells_change(self.epochs, content.epoch))
    }

    /// Whether neither this nor another content has a fingerprint, by the rule of one epoch, and their
    /// digests tell them apart.
    fn is_other_without(&self, other: &Content) -> bool {
        let without = |c: &Content| {
            c.epoch == other.epoch && c.fingerprint.is_none() && other.fingerprint.is_none()
        };
        let differ = self.content.digest.zip(other.digest).is_some_and(|(a, b)| a != b);
        differ && self.told().any(without)
    }

    /// Whether this is at most a minor change of another content.
    fn is_near(&self, other: &Content) -> bool {
        let by = |c: &Content| Some(Distance { bits: bits_between(other, c)?, epoch: c.epoch });
        self.told().filter_map(by).any(|by| is_minor(self.epochs, by))
    }
}

/// Whether a distance is at most a minor change by the bands of its epoch.
pub(super) fn is_minor(epochs: &[EpochInfo], distance: Distance) -> bool {
    let bands = known(epochs, distance.epoch).map(|info| info.bands);
    bands.is_some_and(|bands| bands.band(distance.bits) <= Band::Minor)
}
