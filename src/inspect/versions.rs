//! The visits of a page, folded into its versions.

use crate::engine::results::HistoryEntry;
use crate::page::{Content, Restated, Verdict, Visit};
use crate::time::Time;

/// The kind of a row in a page's list of versions.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use simkeep::inspect::{VersionKind, versions};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let url = "https://example.com/";
/// store.observe(Observation::content(url, Time::from_ms(1_000)?, 7, store.change_epoch()))?;
/// store.observe(Observation::failed(url, Time::from_ms(2_000)?))?;
/// store.observe(Observation::gone(url, Time::from_ms(3_000)?))?;
/// let kinds: Vec<_> = versions(&store.history(url)?).iter().map(|version| version.kind).collect();
/// assert_eq!(kinds, [VersionKind::Content(1), VersionKind::Failed, VersionKind::Gone]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum VersionKind {
    /// Content, by its version number, counted from 1.
    Content(u32),
    /// Consecutive visits that found the page gone.
    Gone,
    /// Consecutive visits that failed.
    Failed,
    /// Consecutive visits that got "not modified", to a page whose content was never seen.
    Unseen,
}

/// Consecutive visits to a page with the same result.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use simkeep::inspect::versions;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let (url, epoch) = ("https://example.com/", store.change_epoch());
/// for (ms, fingerprint) in [(1_000, 0x00), (2_000, 0x00), (3_000, 0xff)] {
///     store.observe(Observation::content(url, Time::from_ms(ms)?, fingerprint, epoch))?;
/// }
/// let versions = versions(&store.history(url)?);
/// assert_eq!((versions[0].visits, versions[1].differing), (2, Some(0xff)));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Version {
    /// The kind of the row.
    pub kind: VersionKind,
    /// The first visit of the row.
    pub visit: Visit,
    /// The content of the version, with the last fingerprint of each epoch; the fingerprint of the
    /// first visit's epoch comes first. Empty without content.
    pub contents: Vec<Content>,
    /// The time at which the version was last seen before the content changed.
    pub last: Time,
    /// The number of visits that saw the version before the content changed.
    pub visits: u64,
    /// The verdict on the first visit of the row.
    pub verdict: Verdict,
    /// The number of the earlier version whose content came back, if any.
    pub back_to: Option<u32>,
    /// The bits in which the version's fingerprint differs from the previous version's, in the
    /// epoch of the verdict; `None` if there is no previous version, or if the two fingerprints
    /// cannot be compared.
    pub differing: Option<u64>,
}

/// Groups a page's history into versions.
///
/// One version consists of visits that saw one content, got "not modified", or saw the content
/// again after failures. Content that comes back later is a new version. Consecutive failures with
/// one status are one row, and so are consecutive visits that found the page gone. Properties are
/// left out.
///
/// ```
/// # fn main() -> simkeep::Result<()> {
/// # use simkeep::inspect::{VersionKind, versions};
/// # use simkeep::{Observation, Options, Store, Time};
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let (url, epoch) = ("https://example.com/", store.change_epoch());
/// for (time, fingerprint) in [(1, 0b0011), (2, 0b0011), (3, 0b0111), (4, 0b0011)] {
///     store.observe(Observation::content(url, Time::from_ms(time)?, fingerprint, epoch))?;
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
    let mut folding = VersionFold::default();
    for entry in history {
        match *entry {
            HistoryEntry::Visit { visit, verdict, .. } => folding.visit(visit, verdict),
            HistoryEntry::Restated(restated) => folding.restated(&restated),
            HistoryEntry::Property(_) => {}
        }
    }
    folding.finish()
}

#[derive(Default)]
struct VersionFold {
    versions: Vec<Version>,
    /// The index of the last version with content.
    last: Option<usize>,
    /// The index of the version with the last visit, and the time of the last visit.
    open: Option<(usize, Time)>,
    /// The number of versions with content.
    contents: u32,
}

impl VersionFold {
    fn visit(&mut self, visit: Visit, verdict: Verdict) {
        let kind = match verdict {
            Verdict::New | Verdict::Changed { .. } | Verdict::Reverted { .. } => {
                self.contents += 1;
                VersionKind::Content(self.contents)
            }
            Verdict::Same(_) => VersionKind::Content(self.contents),
            Verdict::Gone => VersionKind::Gone,
            Verdict::Unseen => VersionKind::Unseen,
            _ => VersionKind::Failed,
        };
        let goes_on = match verdict {
            Verdict::Same(_) => self.last,
            _ => self.open.map(|(at, _)| at),
        };
        let is_content = matches!(kind, VersionKind::Content(_));
        let same = |before: &Version| {
            before.kind == kind && (is_content || before.visit.status == visit.status)
        };
        let content = visit.seen.content().copied();
        if let Some(at) = goes_on
            && let Some(before) = self.versions.get_mut(at).filter(|before| same(before))
        {
            before.last = visit.time;
            before.visits += 1;
            content.into_iter().for_each(|content| put(&mut before.contents, content));
            self.open = Some((at, visit.time));
            return;
        }
        let (mut back_to, mut contents) = (None, Vec::from_iter(content));
        if let Verdict::Reverted { to, .. } = verdict
            && let Some(before) = self.seen_at(to, content.as_ref())
        {
            if let VersionKind::Content(number) = before.kind {
                back_to = Some(number);
            }
            // If the server only reported that an earlier version came back, the earlier version's
            // content is all that is known of the new one.
            if contents.is_empty() {
                contents.clone_from(&before.contents);
            }
        }
        self.open = Some((self.versions.len(), visit.time));
        if is_content {
            self.last = Some(self.versions.len());
        }
        let (last, visits, differing) = (visit.time, 1, None);
        let version = Version { kind, visit, contents, last, visits, verdict, back_to, differing };
        self.versions.push(version);
    }

    /// Adds the fingerprint of the last visit's content in another epoch.
    fn restated(&mut self, restated: &Restated) {
        if let Some((at, time)) = self.open
            && time == restated.time
            && let Some(version) = self.versions.get_mut(at)
            && !version.contents.is_empty()
        {
            put(&mut version.contents, restated.content());
        }
    }

    /// Returns the last version with content that was current at `time`. Among several such
    /// versions, prefers a version with the given content.
    fn seen_at(&self, time: Time, content: Option<&Content>) -> Option<&Version> {
        let then = || {
            let versions = self.versions.iter().rev();
            versions.filter(|v| {
                let is_content = matches!(v.kind, VersionKind::Content(_));
                is_content && (v.visit.time..=v.last).contains(&time)
            })
        };
        let has = |is: fn(&Content, &Content) -> bool| {
            let content = content?;
            then().find(|version| version.contents.iter().any(|own| is(own, content)))
        };
        has(|own, other| own.digest.is_some() && own.digest == other.digest)
            .or_else(|| {
                has(|own, other| (own.epoch, own.fingerprint) == (other.epoch, other.fingerprint))
            })
            .or_else(|| then().next())
    }

    fn finish(mut self) -> Vec<Version> {
        let mut before: Option<(Visit, Vec<Content>)> = None;
        for version in &mut self.versions {
            if !matches!(version.kind, VersionKind::Content(_)) {
                continue;
            }
            let distance = version.verdict.distance();
            let epoch = distance.map(|distance| distance.epoch);
            let of = |contents: &[Content]| {
                contents.iter().find(|own| Some(own.epoch) == epoch).and_then(Content::compared)
            };
            let old = before.as_ref().and_then(|(_, contents)| of(contents));
            let differing = old.zip(of(&version.contents)).map(|(old, new)| old ^ new);
            // If the server reported that an earlier version came back, the distance is zero by
            // definition.
            let is_none = distance.is_some_and(|distance| distance.bits == 0);
            version.differing = if is_none { Some(0) } else { differing };
            // Visits with equal times and digests are compared as one visit.
            let of = |visit: &Visit| (visit.time, visit.seen.digest());
            let joined = before.take().filter(|(visit, _)| of(visit) == of(&version.visit));
            let mut contents = joined.map(|(_, contents)| contents).unwrap_or_default();
            version.contents.iter().for_each(|content| put(&mut contents, *content));
            before = Some((version.visit, contents));
        }
        self.versions
    }
}

/// Adds content to a list, or replaces the list's content of the same epoch.
fn put(contents: &mut Vec<Content>, content: Content) {
    match contents.iter_mut().find(|own| own.epoch == content.epoch) {
        Some(own) => *own = content,
        None => contents.push(content),
    }
}
