//! Captured responses and documents of WARC and ARC.

use std::borrow::Cow;

use simkeep::{Digest, FetchFailure, ResponseMeaning, Target};

use super::archive::block::BlockContent;
use super::content::{self, Charset, ContentKind};
use super::http::{self, HEAD_BYTES_MAX, ResponseHead};
use super::{
    BrokenRecord, CaptureHeader, DeclaredDigest, DigestClaim, RECORD_BYTES_MAX, RecordPayload,
    ResponseFacts, SourceItem, Truncation, VisitRecord, digest, escape, url,
};

/// The digest of a body, and its comparison with the declared digest.
struct BodyDigest {
    digest: Digest,
    claim: Option<Box<DigestClaim>>,
}

impl CaptureHeader {
    /// Returns the item of a record without its own content, for example a revisit.
    fn item(self, payload: RecordPayload, head: Option<&ResponseHead>) -> SourceItem {
        let declared = match payload {
            RecordPayload::Revisit { .. } => self.declared,
            // The digest of an answer without content would be the digest of empty content.
            _ => None,
        };
        let target = head.and_then(|head| head.location.as_deref());
        let digest = match (&payload, target) {
            (RecordPayload::Redirect, Some(target)) => Some(Digest::redirect(&self.url, target)),
            _ => declared.as_ref().and_then(DeclaredDigest::kept),
        };
        let claim = declared.map(|declared| Box::new(DigestClaim { declared, wrong: None }));
        let CaptureHeader { url, time, .. } = self;
        // Other answers have no information about the content.
        let is_dated =
            matches!(payload, RecordPayload::Revisit { .. } | RecordPayload::NotModified);
        let modified = head.and_then(|head| head.modified(time)).filter(|_| is_dated);
        let (weight, class, epoch) = (None, None, None);
        let status = head.map(|head| head.status);
        let facts = match (&payload, head) {
            (RecordPayload::Revisit { .. } | RecordPayload::NotModified, Some(head)) => {
                ResponseFacts {
                    // Only a conditional request gets this response.
                    conditional: matches!(payload, RecordPayload::NotModified),
                    etag: head.etag.clone(),
                    // A canonical URL describes content, which a revisit repeats.
                    target: canonical(&url, head, &payload)
                        .filter(|_| matches!(payload, RecordPayload::Revisit { .. }))
                        .map(Box::from),
                    ..ResponseFacts::default()
                }
            }
            (RecordPayload::Redirect, Some(head)) => ResponseFacts {
                target: head.location.as_deref().map(Box::from),
                ..ResponseFacts::default()
            },
            _ => ResponseFacts::default(),
        };
        let record = VisitRecord {
            url,
            time,
            payload,
            digest,
            claim,
            status,
            modified,
            weight,
            class,
            epoch,
            facts,
        };
        SourceItem::Record(record)
    }

    /// Returns the item of a response without content of the page; `Err` returns the capture if
    /// there is content.
    fn without_content(
        self,
        head: &ResponseHead,
        body: Option<(&[u8], u64)>,
    ) -> Result<SourceItem, CaptureHeader> {
        let payload = match head.meaning(body, self.truncated) {
            ResponseMeaning::Content => return Err(self),
            ResponseMeaning::NotModified => RecordPayload::NotModified,
            ResponseMeaning::Gone => RecordPayload::Gone,
            ResponseMeaning::Redirect => RecordPayload::Redirect,
            ResponseMeaning::Failed(failure) => RecordPayload::Failed(failure),
            // The final response is not known yet.
            _ => return Ok(SourceItem::Passed("interim response")),
        };
        Ok(self.item(payload, Some(head)))
    }

    /// Reads an HTTP response.
    pub(super) fn response(self, content: &BlockContent) -> Result<SourceItem, String> {
        if !http::is_response(&content.bytes) {
            return match url::scheme(&self.url).as_str() {
                "http" | "https" => Err("the content is not an HTTP response".into()),
                _ => content.passed(SourceItem::Passed("response of another protocol")),
            };
        }
        let head = head(content)?;
        // A body that the file truncates is checked later, with the content.
        let body = (content.missing == 0).then(|| {
            let bytes = content.bytes.get(head.body..).unwrap_or_default();
            (bytes, content.length.saturating_sub(head.body as u64))
        });
        let capture = match self.without_content(&head, body) {
            Ok(item) => return Ok(item),
            Err(capture) => capture,
        };
        let (kind, charset) = content::kind(&head.content_type);
        capture.content(content, &head, kind, charset, Some(head.status))
    }

    /// Reads a record that is the document itself.
    pub(super) fn document(
        self,
        content: &BlockContent,
        content_type: &str,
    ) -> Result<SourceItem, String> {
        if self.truncated == Truncation::Anywhere {
            return Ok(self.item(RecordPayload::Failed(FetchFailure::Incomplete), None));
        }
        let (kind, charset) = content::kind(content_type);
        self.content(content, &ResponseHead::default(), kind, charset, None)
    }

    /// Reads a record of unchanged content. The record may contain the header of the response.
    pub(super) fn revisit(self, content: &BlockContent, payload: RecordPayload) -> SourceItem {
        let Ok(head) = head(content) else { return self.item(payload, None) };
        // A repeated error page or redirect is still no content.
        match self.without_content(&head, None) {
            Ok(item) => item,
            Err(capture) => capture.item(payload, Some(&head)),
        }
    }

    fn content(
        self,
        content: &BlockContent,
        head: &ResponseHead,
        kind: ContentKind,
        charset: Charset,
        status: Option<u16>,
    ) -> Result<SourceItem, String> {
        let (payload, BodyDigest { digest, claim }) = if content.length > RECORD_BYTES_MAX {
            (RecordPayload::Binary, self.digest_truncated(content, head, kind)?)
        } else {
            self.digest_buffered(content, head, kind, charset)?
        };
        let CaptureHeader { url, time, .. } = self;
        let (digest, modified) = (Some(digest), head.modified(time));
        let (weight, class, epoch) = (None, None, None);
        let facts = ResponseFacts {
            bytes: Some(content.length.saturating_sub(head.body as u64)),
            conditional: false,
            etag: head.etag.clone(),
            target: canonical(&url, head, &payload).map(Box::from),
        };
        let record = VisitRecord {
            url,
            time,
            payload,
            digest,
            claim,
            status,
            modified,
            weight,
            class,
            epoch,
            facts,
        };
        Ok(SourceItem::Record(record))
    }

    /// Handles content that was kept only up to a limit. Content beyond the limit is accepted only
    /// if it is binary.
    fn digest_truncated(
        &self,
        content: &BlockContent,
        head: &ResponseHead,
        kind: ContentKind,
    ) -> Result<BodyDigest, String> {
        let size = content.length;
        let start = content.bytes.get(head.body..).unwrap_or_default();
        if kind != ContentKind::Binary && !content::is_binary(start) {
            let limit = RECORD_BYTES_MAX >> 20;
            return Err(format!("the record has {size} bytes; the limit is {limit} MiB"));
        }
        if content.missing > 0 {
            return Err(content.cut());
        }
        let declared = self.declared.clone();
        // The digest of the stored body was computed while the record was read.
        let own = content
            .digest
            .ok_or("the digest of a large record is missing; this is a bug in simkeep")?;
        let digest = declared.as_ref().and_then(DeclaredDigest::kept).unwrap_or(own);
        let claim = declared.map(|declared| Box::new(DigestClaim { declared, wrong: None }));
        Ok(BodyDigest { digest, claim })
    }

    /// Handles content in memory: text or binary.
    fn digest_buffered(
        &self,
        content: &BlockContent,
        head: &ResponseHead,
        kind: ContentKind,
        charset: Charset,
    ) -> Result<(RecordPayload, BodyDigest), String> {
        let mut body = content.bytes.get(head.body..).unwrap_or_default();
        // The start of an interrupted response would look like a change. But archives with a wrong
        // length exist, and HTTP has its own length.
        if content.missing > 0 {
            body = head.whole(body).ok_or_else(|| content.cut())?;
        }
        let joined = head.joined(body);
        let declared = self.declared.as_ref().and_then(DeclaredDigest::kept);
        let mut fits = self.matches_declared(body)
            || (matches!(joined, Cow::Owned(_)) && self.matches_declared(&joined));
        let own = (!fits || declared.is_none()).then(|| digest::of(&joined));
        let payload = if kind == ContentKind::Binary {
            // The body is decompressed only if the declared digest may be the digest of the
            // decompressed body.
            let is_open = self.declared.is_some() && !fits && head.is_packed();
            fits |=
                is_open && head.unpacked(joined).is_ok_and(|entity| self.matches_declared(&entity));
            RecordPayload::Binary
        } else {
            let entity = head.unpacked(joined)?;
            fits |= head.is_packed() && self.matches_declared(&entity);
            match content::document(&entity, kind, charset) {
                Some(document) => RecordPayload::Text(Box::new(document)),
                None => RecordPayload::Binary,
            }
        };
        // The body may be followed by more bytes than its own header declares.
        fits |= head.whole(body).is_some_and(|whole| whole != body && self.matches_declared(whole));
        let digest = declared.filter(|_| fits).or(own);
        let digest =
            digest.ok_or("the digest of the content is missing; this is a bug in simkeep")?;
        let claim = self.declared.clone().map(|declared| {
            // The reader of the archive adds the position.
            let wrong = (!fits).then(|| BrokenRecord {
                at: String::new(),
                why: format!(
                    "{}: the declared digest {declared} does not match the content",
                    escape(&self.url)
                ),
            });
            Box::new(DigestClaim { declared, wrong })
        });
        Ok((payload, BodyDigest { digest, claim }))
    }

    /// Whether the declared digest is the digest of these bytes. Tools digest a body as received,
    /// with its chunks joined, decompressed, or both. All these digests are accepted.
    fn matches_declared(&self, bytes: &[u8]) -> bool {
        self.declared.as_ref().is_some_and(|declared| declared.matches(bytes))
    }
}

/// Returns the canonical URL of a page with content: the first valid one of its header, or else of
/// its HTML.
fn canonical(url: &str, head: &ResponseHead, payload: &RecordPayload) -> Option<String> {
    Target::first_url(url, None, &head.canonicals).or_else(|| payload.canonical(url))
}

/// Parses the header of a response at the start of a record.
fn head(content: &BlockContent) -> Result<ResponseHead, String> {
    let (start, whole) = content.start();
    let mut head = http::head(start, whole)?;
    // Interim responses may come before the final one (RFC 9110, 15.2).
    while let Some(interim) = head.as_ref().filter(|head| (100..=199).contains(&head.status))
        && let Some(rest) = start.get(interim.body..).filter(|rest| http::is_response(rest))
    {
        let skipped = interim.body;
        head = http::head(rest, whole)?;
        head.iter_mut().for_each(|head| head.body += skipped);
    }
    head.ok_or_else(|| match content.missing {
        0 => format!("the HTTP header is longer than {} MiB", HEAD_BYTES_MAX >> 20),
        _ => "the file ends within the HTTP header".to_owned(),
    })
}
