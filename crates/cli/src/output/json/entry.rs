//! An entry of a history, for JSON.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;
use simkeep::{Entry as Of, EpochInfo};

use super::{Digest, EpochName, Fingerprint, JsonNumber, Time};
use crate::output::visit;

/// An entry of a page's history, in the format of `simkeep export`. Keys without a value are left
/// out.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct JsonEntry<'a> {
    url: Cow<'a, str>,
    /// The time of the visit. For a weight or class, the time from which it applies.
    t: Time,
    #[serde(skip_serializing_if = "Option::is_none")]
    fingerprint: Option<ContentFingerprint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<Digest>,
    #[serde(skip_serializing_if = "Option::is_none")]
    epoch: Option<EpochName<'a>>,
    /// The HTTP status code; left out if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    /// The `Last-Modified` time of the response; left out if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    modified: Option<Time>,
    /// The number of bytes of the content as transferred; left out if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    /// True if the request was conditional; otherwise left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    conditional: Option<bool>,
    /// The weight (importance) of the page from this time on; left out if it is not set here.
    #[serde(skip_serializing_if = "Option::is_none")]
    weight: Option<JsonNumber>,
    /// The class of the page from this time on; left out if it is not set here.
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<u32>,
    /// The entity tag of the content, from the header `ETag`; left out if it is not set here. Each
    /// byte is a character.
    #[serde(skip_serializing_if = "Option::is_none")]
    etag: Option<String>,
    /// The URL to which the content points; left out if it is not set here.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    /// What the visit saw if it saw no content, or "restated"; left out for other entries.
    #[serde(skip_serializing_if = "Option::is_none")]
    seen: Option<ContentlessEntry>,
}

/// The fingerprint of the content; null if the content has no fingerprint.
#[derive(Debug, Serialize, JsonSchema)]
struct ContentFingerprint(Option<Fingerprint>);

/// The kind of an entry that is not a visit with content.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum ContentlessEntry {
    /// The page redirects. The digest identifies the target.
    Redirect,
    NotModified,
    Gone,
    Failed,
    /// The content with this time and digest has this fingerprint in another epoch.
    Restated,
}

impl<'a> JsonEntry<'a> {
    /// The JSON form of an entry of a page. `epochs` are the epochs of its store.
    pub(crate) fn of(
        url: &'a str,
        of: &Of,
        epochs: &'a [EpochInfo],
    ) -> simkeep::Result<JsonEntry<'a>> {
        // A redirect is written without the keys of content.
        let content = of.content().filter(|_| of.epoch().is_some());
        let epoch = of.epoch().map(|epoch| visit::epoch(epochs, epoch)).transpose()?;
        let visit = of.visit();
        let seen = visit.map(|visit| visit.seen);
        Ok(JsonEntry {
            url: url.into(),
            t: Time(of.time()),
            fingerprint: content
                .map(|content| ContentFingerprint(content.fingerprint.map(Fingerprint))),
            digest: of.digest().map(Digest),
            epoch: epoch.map(EpochName),
            status: visit.and_then(|visit| visit.status),
            modified: visit.and_then(|visit| visit.modified).map(Time),
            bytes: visit.and_then(|visit| visit.bytes),
            conditional: visit.map(|visit| visit.conditional).filter(|conditional| *conditional),
            weight: of.weight().map(|weight| JsonNumber(weight.to_f64())),
            class: of.class(),
            etag: of.etag().map(simkeep::ETag::to_latin1),
            target: of.target().and_then(|target| target.resolve(url)),
            seen: match seen {
                Some(simkeep::Seen::NotModified { .. }) => Some(ContentlessEntry::NotModified),
                Some(simkeep::Seen::Gone) => Some(ContentlessEntry::Gone),
                Some(simkeep::Seen::Failed) => Some(ContentlessEntry::Failed),
                Some(simkeep::Seen::Content(_)) if content.is_none() => {
                    Some(ContentlessEntry::Redirect)
                }
                Some(simkeep::Seen::Content(_)) => None,
                None => of.is_restated().then_some(ContentlessEntry::Restated),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: i64) -> simkeep::Time {
        simkeep::Time::from_ms_unchecked(ms)
    }
    use simkeep::{Observation, Options, Restatement, Store};

    /// `load` reads an export back, so printed entries must be identical to exported ones.
    #[test]
    fn entry_is_written_as_in_an_export() {
        let dir = tempfile::tempdir().unwrap();
        let options = Options::default().epoch("é \"e\"".into());
        let store = Store::create(dir.path().join("s"), options).unwrap();
        let (url, epoch) = ("http://a/\u{202e}\"\\", store.snapshot().near_epoch());
        let digest = simkeep::Digest([9; 16]);
        let first = Observation::content(url, ms(1_500), 7, epoch).status(200).modified(ms(1_000));
        for observation in [
            first.digest(digest),
            Observation::content(url, ms(2_000), None, epoch).digest(digest).weight(2.5),
            Observation::redirect(url, ms(2_500), "/elsewhere").status(301),
            Observation::gone(url, ms(3_000)),
            Observation::failed(url, ms(4_000)).weight(3.0).class(7),
            Observation::not_modified(url, ms(5_000)).status(304),
        ] {
            store.observe(observation).unwrap();
        }
        let other = store.register_epoch("other", simkeep::Role::Both).unwrap();
        store.restate(Restatement::new(url, ms(1_500), 8, other).digest(digest)).unwrap();
        let snapshot = store.snapshot();
        let entries = snapshot.history(url).unwrap();
        assert_eq!(entries.len(), 11);
        for entry in entries.iter().map(|entry| entry.entry()) {
            let written = JsonEntry::of(url, &entry, snapshot.epochs()).unwrap();
            let written = serde_json::to_string(&written).unwrap();
            let name = entry.epoch().map(|epoch| visit::epoch(snapshot.epochs(), epoch).unwrap());
            let exported = simkeep_formats::export::entry(url, &entry, name.unwrap_or_default());
            assert_eq!(simkeep_formats::escape::json(&written), exported);
        }
    }
}
