//! The visits of a page, folded into its versions.

use crate::page::{Content, Seen, Verdict, Visit};
use crate::store::HistoryEntry;

/// What a row of a page's versions is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum VersionKind {
    /// Content, by its number among the versions, from 1 on.
    Content(u32),
    /// Visits one after another that found the page gone.
    Gone,
    /// Visits one after another that failed.
    Failed,
    /// Visits one after another that were told that nothing was modified, of a page whose content was
    /// never seen.
    Unseen,
}

/// Visits to a page that found one thing.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Version {
    /// What it is.
    pub kind: VersionKind,
    /// The visit that found it first, and its content as that had it.
    pub visit: Visit,
    /// When it was last seen before something else was, in milliseconds since 1970.
    pub last: i64,
    /// How many visits saw it before something else was seen.
    pub visits: u64,
    /// What the first of them meant.
    pub verdict: Verdict,
    /// The version whose content came back, if this is one that did.
    pub back_to: Option<u32>,
    /// The bits in which its fingerprint differs from that of the version before; `None` if there is no
    /// such version, or the two cannot be compared.
    pub differing: Option<u64>,
}

impl Version {
    /// The content; `None` of what has none.
    pub fn content(&self) -> Option<Content> {
        self.visit.seen.content().copied()
    }
}

/// The versions of a page, from its history: visits that saw one content, were told that it was not
/// modified, or saw it again after failures are one version, and a content that comes back later is
/// another. Restated content and weights are no visits, and left out.
///
/// ```
/// # fn main() -> simkeep::Result<()> {
/// # use simkeep::inspect::{VersionKind, versions};
/// # use simkeep::{Observation, Options, Store};
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let (url, epoch) = ("https://example.com/", store.change_epoch());
/// for (time, fingerprint) in [(1, 0b0011), (2, 0b0011), (3, 0b0111), (4, 0b0011)] {
///     store.observe(Observation::content(url, time, fingerprint, epoch))?;
/// }
/// let versions = versions(&store.history(url)?);
/// assert_eq!(versions.len(), 3);
/// assert_eq!((versions[0].visits, versions[1].differing), (2, Some(0b0100)));
/// assert_eq!(versions[2].kind, VersionKind::Content(3));
/// assert_eq!(versions[2].back_to, Some(1));
/// # Ok(())
/// # }
/// ```
pub fn versions(history: &[HistoryEntry]) -> Vec<Version> {
    let mut versions: Vec<Version> = Vec::new();
    // The last one that has content, by its place; and how many there are.
    let (mut last, mut contents) = (None, 0);
    for (visit, verdict) in history.iter().filter_map(HistoryEntry::visit) {
        let goes_on = match verdict {
            Verdict::Same(_) => last,
            _ => versions.len().checked_sub(1),
        };
        let kind = match verdict {
            Verdict::New | Verdict::Changed { .. } | Verdict::Reverted { .. } => {
                contents += 1;
                VersionKind::Content(contents)
            }
            Verdict::Same(_) => VersionKind::Content(contents),
            Verdict::Gone => VersionKind::Gone,
            Verdict::Unseen => VersionKind::Unseen,
            _ => VersionKind::Failed,
        };
        let before = goes_on.and_then(|at| versions.get_mut(at));
        if let Some(before) = before.filter(|before| before.kind == kind) {
            before.last = visit.time;
            before.visits += 1;
            continue;
        }
        let back_to = match verdict {
            Verdict::Reverted { to, .. } => seen_at(&versions, to),
            _ => None,
        };
        let before = last.and_then(|at| versions.get(at));
        let differing = differing(before, &visit);
        if matches!(kind, VersionKind::Content(_)) {
            last = Some(versions.len());
        }
        let (last, visits) = (visit.time, 1);
        versions.push(Version { kind, visit, last, visits, verdict, back_to, differing });
    }
    versions
}

/// The version that was last seen then.
fn seen_at(versions: &[Version], time: i64) -> Option<u32> {
    versions.iter().rev().find_map(|version| match version.kind {
        VersionKind::Content(number) if (version.visit.time..=version.last).contains(&time) => {
            Some(number)
        }
        _ => None,
    })
}

/// The bits in which the fingerprint of a visit differs from that of a version, of one epoch.
fn differing(before: Option<&Version>, visit: &Visit) -> Option<u64> {
    let Seen::Content(new) = visit.seen else { return None };
    let old = before?.content().filter(|old| old.epoch == new.epoch)?;
    Some((old.fingerprint? ^ new.fingerprint?) & new.epoch.mask())
}
