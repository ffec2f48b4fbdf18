//! Captured responses and documents of WARC and ARC.

use std::borrow::Cow;

use simkeep::{Digest, FetchFailure, ResponseMeaning};

use super::archive::block::Content;
use super::content::{self, Charset, Kind};
use super::http::{self, HEAD_BYTES_MAX, Head};
use super::{
    Broken, Captured, Claim, Declared, Item, Payload, RECORD_BYTES_MAX, Record, Truncated, digest,
    escape, url,
};

/// The digest of a body, and its comparison with the declared digest.
struct Digested {
    digest: Digest,
    claim: Option<Box<Claim>>,
}

impl Captured {
    /// Returns the item of a record without its own content, for example a revisit.
    fn item(self, payload: Payload, head: Option<&Head>) -> Item {
        let declared = match payload {
            Payload::Revisit { .. } => self.declared,
            // The digest of an answer without content would be the digest of empty content.
            _ => None,
        };
        let target = head.and_then(|head| head.location.as_deref());
        let digest = match (&payload, target) {
            (Payload::Redirect, Some(target)) => Some(Digest::redirect(&self.url, target)),
            _ => declared.as_ref().and_then(Declared::kept),
        };
        let claim = declared.map(|declared| Box::new(Claim { declared, wrong: None }));
        let Captured { url, time, .. } = self;
        // Other answers have no information about the content.
        let is_dated = matches!(payload, Payload::Revisit { .. } | Payload::NotModified);
        let modified = head.and_then(|head| head.modified(time)).filter(|_| is_dated);
        let (weight, class, epoch) = (None, None, None);
        let status = head.map(|head| head.status);
        let record =
            Record { url, time, payload, digest, claim, status, modified, weight, class, epoch };
        Item::Record(record)
    }

    /// Returns the item of a response without content of the page; `Err` returns the capture if
    /// there is content.
    fn without_content(self, head: &Head, body: Option<(&[u8], u64)>) -> Result<Item, Captured> {
        let payload = match head.meaning(body, self.truncated) {
            ResponseMeaning::Content => return Err(self),
            ResponseMeaning::NotModified => Payload::NotModified,
            ResponseMeaning::Gone => Payload::Gone,
            ResponseMeaning::Redirect => Payload::Redirect,
            ResponseMeaning::Failed(failure) => Payload::Failed(failure),
            // The final response is not known yet.
            _ => return Ok(Item::Passed("interim response")),
        };
        Ok(self.item(payload, Some(head)))
    }

    /// Reads an HTTP response.
    pub(super) fn response(self, content: &Content) -> Result<Item, String> {
        if !http::is_response(&content.bytes) {
            return match url::scheme(&self.url).as_str() {
                "http" | "https" => Err("not an HTTP response".into()),
                _ => content.passed(Item::Passed("response of another protocol")),
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
    pub(super) fn document(self, content: &Content, content_type: &str) -> Result<Item, String> {
        if self.truncated == Truncated::Anywhere {
            return Ok(self.item(Payload::Failed(FetchFailure::Incomplete), None));
        }
        let (kind, charset) = content::kind(content_type);
        self.content(content, &Head::default(), kind, charset, None)
    }

    /// Reads a record of unchanged content. The record may contain the header of the response.
    pub(super) fn revisit(self, content: &Content, payload: Payload) -> Item {
        let Ok(head) = head(content) else { return self.item(payload, None) };
        // A repeated error page or redirect is still no content.
        match self.without_content(&head, None) {
            Ok(item) => item,
            Err(capture) => capture.item(payload, Some(&head)),
        }
    }

    fn content(
        self,
        content: &Content,
        head: &Head,
        kind: Kind,
        charset: Charset,
        status: Option<u16>,
    ) -> Result<Item, String> {
        let (payload, Digested { digest, claim }) = if content.length > RECORD_BYTES_MAX {
            (Payload::Binary, self.of_large(content, head, kind)?)
        } else {
            self.of_held(content, head, kind, charset)?
        };
        let Captured { url, time, .. } = self;
        let (digest, modified) = (Some(digest), head.modified(time));
        let (weight, class, epoch) = (None, None, None);
        let record =
            Record { url, time, payload, digest, claim, status, modified, weight, class, epoch };
        Ok(Item::Record(record))
    }

    /// Handles content that was kept only up to a limit. Content beyond the limit is accepted only
    /// if it is binary.
    fn of_large(&self, content: &Content, head: &Head, kind: Kind) -> Result<Digested, String> {
        let size = content.length;
        let start = content.bytes.get(head.body..).unwrap_or_default();
        if kind != Kind::Binary && !content::is_binary(start) {
            let limit = RECORD_BYTES_MAX >> 20;
            return Err(format!("the record has {size} bytes, more than {limit} MiB"));
        }
        if content.missing > 0 {
            return Err(content.cut());
        }
        let declared = self.declared.clone();
        // The digest of the stored body was computed while the record was read.
        let own = content.digest.ok_or("the digest of a large record is missing; this is a bug")?;
        let digest = declared.as_ref().and_then(Declared::kept).unwrap_or(own);
        let claim = declared.map(|declared| Box::new(Claim { declared, wrong: None }));
        Ok(Digested { digest, claim })
    }

    /// Handles content in memory: text or binary.
    fn of_held(
        &self,
        content: &Content,
        head: &Head,
        kind: Kind,
        charset: Charset,
    ) -> Result<(Payload, Digested), String> {
        let mut body = content.bytes.get(head.body..).unwrap_or_default();
        // The start of an interrupted response would look like a change. But archives with a wrong
        // length exist, and HTTP has its own length.
        if content.missing > 0 {
            body = head.whole(body).ok_or_else(|| content.cut())?;
        }
        let joined = head.joined(body);
        let declared = self.declared.as_ref().and_then(Declared::kept);
        let mut fits = self.fits(body) || (matches!(joined, Cow::Owned(_)) && self.fits(&joined));
        let own = (!fits || declared.is_none()).then(|| digest::of(&joined));
        let payload = if kind == Kind::Binary {
            // The body is decompressed only if the declared digest may be the digest of the
            // decompressed body.
            let is_open = self.declared.is_some() && !fits && head.is_packed();
            fits |= is_open && head.unpacked(joined).is_ok_and(|entity| self.fits(&entity));
            Payload::Binary
        } else {
            let entity = head.unpacked(joined)?;
            fits |= head.is_packed() && self.fits(&entity);
            match content::document(&entity, kind, charset) {
                Some(document) => Payload::Text(Box::new(document)),
                None => Payload::Binary,
            }
        };
        // The body may be followed by more bytes than its own header declares.
        fits |= head.whole(body).is_some_and(|whole| whole != body && self.fits(whole));
        let digest = declared.filter(|_| fits).or(own);
        let digest = digest.ok_or("a content has no digest; this is a bug")?;
        let claim = self.declared.clone().map(|declared| {
            // The reader of the archive adds the position.
            let wrong = (!fits).then(|| Broken {
                at: String::new(),
                why: format!("{}: {declared} is not the digest of its content", escape(&self.url)),
            });
            Box::new(Claim { declared, wrong })
        });
        Ok((payload, Digested { digest, claim }))
    }

    /// Whether the declared digest is the digest of these bytes. Tools digest a body as received,
    /// with its chunks joined, decompressed, or both. All these digests are accepted.
    fn fits(&self, bytes: &[u8]) -> bool {
        self.declared.as_ref().is_some_and(|declared| declared.is_of(bytes))
    }
}

/// Parses the header of a response at the start of a record.
fn head(content: &Content) -> Result<Head, String> {
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
        _ => "the HTTP header has no end".to_owned(),
    })
}
