//! Captured responses and documents, as WARC and ARC have them.

use std::borrow::Cow;

use super::block::Content;
use super::content::{self, Kind};
use super::http::{self, HEAD_BYTES_MAX, Head, Meaning};
use super::{
    Broken, Captured, Claim, Declared, Item, Payload, RECORD_BYTES_MAX, Record, digest, escape,
};

impl Captured {
    /// A record without content of its own, such as a revisit.
    fn item(self, payload: Payload, head: Option<&Head>) -> Item {
        let declared = match payload {
            Payload::Revisit { .. } => self.declared,
            // The digest of an answer without content would name the empty content.
            _ => None,
        };
        let digest = declared.as_ref().and_then(Declared::kept);
        let claim = declared.map(|declared| Box::new(Claim { declared, wrong: None }));
        let Captured { url, time, .. } = self;
        // An answer that is neither says nothing of the content.
        let is_dated = matches!(payload, Payload::Revisit { .. } | Payload::NotModified);
        let modified = head.and_then(|head| head.modified(time)).filter(|_| is_dated);
        let (weight, class, epoch) = (None, None, None);
        let status = head.map(|head| head.status);
        let record =
            Record { url, time, payload, digest, claim, status, modified, weight, class, epoch };
        Item::Record(record)
    }

    /// What a status says without a look at the content; `Err` gives the capture back if the
    /// content counts.
    fn by_status(self, head: &Head) -> Result<Item, Captured> {
        Ok(match http::meaning(head.status) {
            Meaning::Content => return Err(self),
            Meaning::NotModified => self.item(Payload::NotModified, Some(head)),
            Meaning::Gone => self.item(Payload::Gone, Some(head)),
            Meaning::Failed => self.item(Payload::Failed, Some(head)),
            Meaning::Redirect => Item::Passed("redirect"),
            Meaning::Interim => Item::Passed("interim response"),
        })
    }

    /// Reads an HTTP response.
    pub(super) fn response(self, content: &Content) -> Result<Item, String> {
        if !http::is_response(&content.bytes) {
            return match scheme(&self.url).as_str() {
                "dns" => content.passed(Item::Passed("dns")),
                "http" | "https" => Err("not an HTTP response".into()),
                _ => content.passed(Item::Passed("response of another protocol")),
            };
        }
        let head = head(content)?;
        let capture = match self.by_status(&head) {
            Ok(item) => return Ok(item),
            Err(capture) => capture,
        };
        let (kind, charset) = content::kind(&head.content_type);
        if kind == Kind::Binary {
            return content.passed(Item::Binary(capture));
        }
        capture.text(content, &head, kind, charset, Some(head.status))
    }

    /// Reads a record that is the document itself.
    pub(super) fn document(self, content: &Content, content_type: &str) -> Result<Item, String> {
        let (kind, charset) = content::kind(content_type);
        if kind == Kind::Binary {
            return content.passed(Item::Binary(self));
        }
        self.text(content, &Head::default(), kind, charset, None)
    }

    /// A record that says: the same content as before. It may hold the header of the response.
    pub(super) fn revisit(self, content: &Content, payload: Payload) -> Item {
        let Ok(head) = head(content) else { return self.item(payload, None) };
        // A repeated error page or redirect is still no content, and an image no text.
        let capture = match self.by_status(&head) {
            Ok(item) => return item,
            Err(capture) => capture,
        };
        if content::kind(&head.content_type).0 == Kind::Binary {
            return Item::Binary(capture);
        }
        capture.item(payload, Some(&head))
    }

    fn text(
        self,
        content: &Content,
        head: &Head,
        kind: Kind,
        charset: Option<&str>,
        status: Option<u16>,
    ) -> Result<Item, String> {
        let size = content.length;
        if size > RECORD_BYTES_MAX {
            let limit = RECORD_BYTES_MAX >> 20;
            return Err(format!("the record has {size} bytes, more than {limit} MiB"));
        }
        let mut body = content.bytes.get(head.body..).unwrap_or_default();
        // What a crawler was about to write when it was stopped would look like a change. But
        // archives with a wrong length exist, and HTTP has its own.
        if content.missing > 0 {
            body = head.whole(body).ok_or_else(|| content.cut())?;
        }
        let joined = head.joined(body);
        let declared = self.declared.as_ref().and_then(Declared::kept);
        let mut fits = self.fits(body) || (matches!(joined, Cow::Owned(_)) && self.fits(&joined));
        let own = (!fits || declared.is_none()).then(|| digest::of(&joined));
        let entity = head.unpacked(joined)?;
        fits = fits || (head.is_packed() && self.fits(&entity));
        // With more behind it than its own header says.
        fits = fits || head.whole(body).is_some_and(|whole| whole != body && self.fits(whole));
        let Some(document) = content::document(&entity, kind, charset) else {
            return content.passed(Item::Binary(self));
        };
        let digest = declared.filter(|_| fits).or(own);
        let Captured { url, time, declared } = self;
        let claim = declared.map(|declared| {
            // The reader of the archive says where.
            let wrong = (!fits).then(|| Broken {
                at: String::new(),
                why: format!("{}: {declared} is not the digest of what it holds", escape(&url)),
            });
            Box::new(Claim { declared, wrong })
        });
        let payload = Payload::Text(Box::new(document));
        let (modified, weight, class, epoch) = (head.modified(time), None, None, None);
        let record =
            Record { url, time, payload, digest, claim, status, modified, weight, class, epoch };
        Ok(Item::Record(record))
    }

    /// Whether the declared digest is that of some bytes. Tools digest what they get with chunks and
    /// packed as it came, or with either or both undone, and each is right.
    fn fits(&self, bytes: &[u8]) -> bool {
        self.declared.as_ref().is_some_and(|declared| declared.is_of(bytes))
    }
}

/// The header of a response at the start of a record.
fn head(content: &Content) -> Result<Head, String> {
    let (start, whole) = content.start();
    http::head(start, whole)?.ok_or_else(|| match content.missing {
        0 => format!("the HTTP header is longer than {} MiB", HEAD_BYTES_MAX >> 20),
        _ => "the HTTP header has no end".to_owned(),
    })
}

fn scheme(url: &str) -> String {
    url.split(':').next().unwrap_or_default().to_ascii_lowercase()
}
