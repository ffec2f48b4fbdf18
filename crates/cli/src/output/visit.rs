//! The parts of a history entry, as text.

use simkeep::{
    Content, ETag, Entry, Epoch, EpochInfo, Error, HistoryEntry, Property, SameBy, Seen, Target,
    Time, Verdict, Visit,
};
use simkeep_formats::escape;

/// The name of what a visit saw; `None` if it saw content other than a redirect.
pub(crate) fn seen(seen: &Seen) -> Option<&'static str> {
    match seen {
        Seen::Content(content) if content.is_redirect() => Some("redirect"),
        Seen::Content(_) => None,
        Seen::NotModified { .. } => Some("not-modified"),
        Seen::Gone => Some("gone"),
        Seen::Failed => Some("failed"),
    }
}

/// A fingerprint in 16 hexadecimal digits.
pub(crate) fn fingerprint(fingerprint: u64) -> String {
    format!("{fingerprint:016x}")
}

/// The name of an epoch. A store lists every epoch of its fingerprints, unless it is damaged.
pub(crate) fn epoch(epochs: &[EpochInfo], epoch: Epoch) -> simkeep::Result<&str> {
    let info = epochs.iter().find(|info| info.epoch == epoch);
    info.map(|info| info.name.as_str()).ok_or(Error::UnknownEpoch(epoch.number()))
}

/// The name of the epoch in which the fingerprint of a content was made; `None` for a redirect.
pub(crate) fn epoch_of<'e>(
    epochs: &'e [EpochInfo],
    content: &Content,
) -> simkeep::Result<Option<&'e str>> {
    content.made_in().map(|made_in| epoch(epochs, made_in)).transpose()
}

/// Whether an entry is a visit that saw a redirect.
pub(crate) fn is_redirect(entry: &Entry) -> bool {
    entry.is_visit() && entry.content().is_some_and(|content| content.is_redirect())
}

/// Whether an entry has a digest but no fingerprint, so that only the digest identifies its
/// content.
pub(crate) fn is_by_digest(entry: &Entry) -> bool {
    let content = entry.content();
    content.is_some_and(|content| content.fingerprint.is_none() && content.digest.is_some())
}

/// The evidence for a verdict: why the content is the same, or `Digest` if the content changed and
/// has no fingerprint. `None` for other verdicts.
pub(crate) fn known_by(entry: &Entry, verdict: Verdict) -> Option<SameBy> {
    match verdict {
        Verdict::Same(by) => Some(by),
        Verdict::Changed { .. } if is_by_digest(entry) => Some(SameBy::Digest),
        _ => None,
    }
}

/// The properties of a page that the response to a visit had: they describe the content, and have
/// the time of the visit.
#[derive(Clone, Copy, Default)]
pub(crate) struct ResponseProperties<'h> {
    pub(crate) etag: Option<&'h ETag>,
    pub(crate) target: Option<&'h Target>,
}

impl<'h> ResponseProperties<'h> {
    /// The properties of the response to a visit; none for another entry.
    pub(crate) fn of(entry: &HistoryEntry, history: &'h [HistoryEntry]) -> ResponseProperties<'h> {
        entry.visit().map_or_else(ResponseProperties::default, |(visit, _)| {
            ResponseProperties::of_visit(visit, history)
        })
    }

    /// The properties of the response to a visit in a history.
    pub(crate) fn of_visit(visit: Visit, history: &'h [HistoryEntry]) -> ResponseProperties<'h> {
        let mut all = ResponseProperties::default();
        if has_response(&visit.seen) {
            for entry in entries_of(visit.time, history) {
                let HistoryEntry::Property(given) = entry else { continue };
                match &given.property {
                    Property::ETag(etag) => all.etag = Some(etag),
                    Property::Target(target) => all.target = Some(target),
                    Property::Weight(_) | Property::Class(_) => {}
                }
            }
        }
        all
    }

    /// Whether an entry is among the properties of the response to a visit.
    pub(crate) fn contain(entry: &HistoryEntry, history: &[HistoryEntry]) -> bool {
        let HistoryEntry::Property(given) = entry else { return false };
        let is_of_response = matches!(given.property, Property::ETag(_) | Property::Target(_));
        let mut visits = entries_of(given.time, history).iter().filter_map(HistoryEntry::visit);
        is_of_response && visits.any(|(visit, _)| has_response(&visit.seen))
    }

    /// The target in words, as it follows the verdict of a visit to the page `url`; empty if there
    /// is none.
    pub(crate) fn target_text(&self, url: &str, seen: &Seen) -> String {
        let is_redirect = seen.content().is_some_and(Content::is_redirect);
        let how = if is_redirect { " to" } else { "; canonical" };
        let target = self.target.map(|target| target_url(url, target));
        target.map_or_else(String::new, |target| format!("{how} {target}"))
    }
}

/// A property of the page `url` in words.
pub(crate) fn property(url: &str, of: &Property) -> String {
    match of {
        Property::Target(target) => format!("target {}", target_url(url, target)),
        Property::Weight(_) | Property::Class(_) | Property::ETag(_) => of.to_string(),
    }
}

/// The URL of the target of the page `url`, escaped.
pub(crate) fn target_url(url: &str, target: &Target) -> String {
    let whole = target.resolve(url).unwrap_or_else(|| "(damaged)".to_owned());
    escape::escape_untruncated(&whole)
}

/// Whether a visit has a response that describes content.
fn has_response(seen: &Seen) -> bool {
    matches!(seen, Seen::Content(_) | Seen::NotModified { .. })
}

/// The entries of a time. A history is in order of time.
fn entries_of(time: Time, history: &[HistoryEntry]) -> &[HistoryEntry] {
    let start = history.partition_point(|entry| entry.entry().time() < time);
    let later = history.get(start..).unwrap_or_default();
    let end = later.partition_point(|entry| entry.entry().time() == time);
    later.get(..end).unwrap_or_default()
}
