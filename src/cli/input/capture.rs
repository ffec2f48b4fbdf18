//! What an archive has captured: the same in WARC and ARC.

use std::borrow::Cow;

use super::block::Block;
use super::content::{self, Kind};
use super::http::{self, HEAD_BYTES_MAX, Head, Meaning};
use super::{
    Broken, Captured, Claim, Declared, Fault, Item, Payload, RECORD_BYTES_MAX, Record, digest,
    escape,
};

impl Captured {
    /// A record that has nothing to say of content, or only that it is that of another.
    fn item(self, payload: Payload, status: Option<u16>) -> Item {
        let declared = match payload {
            Payload::Revisit { .. } => self.declared,
            // The digest of an answer without content would name the empty content.
            _ => None,
        };
        let digest = declared.as_ref().and_then(Declared::kept);
        let claim = declared.map(|declared| Box::new(Claim { declared, wrong: None }));
        let Captured { url, time, .. } = self;
        Item::Record(Record { url, time, payload, digest, claim, status, epoch: None })
    }

    /// What a status says without a look at the content; `Err` gives the capture back if the
    /// content counts.
    fn by_status(self, status: u16) -> Result<Item, Captured> {
        Ok(match http::meaning(status) {
            Meaning::Content => return Err(self),
            Meaning::NotModified => self.item(Payload::NotModified, Some(status)),
            Meaning::Gone => self.item(Payload::Gone, Some(status)),
            Meaning::Failed => self.item(Payload::Failed, Some(status)),
            Meaning::Redirect => Item::Passed("redirect"),
            Meaning::Interim => Item::Passed("interim response"),
        })
    }

    /// Reads an HTTP response. `buffer` is only for reuse.
    pub(super) fn response(
        self,
        block: &mut Block<'_>,
        buffer: &mut Vec<u8>,
    ) -> Result<Item, Fault> {
        let head = read_head(block, buffer)?;
        if !http::is_response(buffer) {
            return match scheme(&self.url).as_str() {
                "dns" => Ok(Item::Passed("dns")),
                "http" | "https" => Err(Fault::Record("not an HTTP response".into())),
                _ => Ok(Item::Passed("response of another protocol")),
            };
        }
        let head = head.map_err(Fault::Record)?;
        let capture = match self.by_status(head.status) {
            Ok(item) => return Ok(item),
            Err(capture) => capture,
        };
        let (kind, charset) = content::kind(&head.content_type);
        if kind == Kind::Binary {
            return Ok(Item::Binary(capture));
        }
        capture.text(block, buffer, &head, kind, charset, Some(head.status))
    }

    /// Reads a record that is the document itself.
    pub(super) fn document(
        self,
        block: &mut Block<'_>,
        buffer: &mut Vec<u8>,
        content_type: &str,
    ) -> Result<Item, Fault> {
        let (kind, charset) = content::kind(content_type);
        if kind == Kind::Binary {
            return Ok(Item::Binary(self));
        }
        buffer.clear();
        self.text(block, buffer, &Head::default(), kind, charset, None)
    }

    /// A record that says: the same content as before. It may hold the header of the response.
    pub(super) fn revisit(
        self,
        block: &mut Block<'_>,
        buffer: &mut Vec<u8>,
        payload: Payload,
    ) -> Result<Item, Fault> {
        let Ok(head) = read_head(block, buffer)? else { return Ok(self.item(payload, None)) };
        // A repeated error page or redirect is still no content, and an image no text.
        let capture = match self.by_status(head.status) {
            Ok(item) => return Ok(item),
            Err(capture) => capture,
        };
        if content::kind(&head.content_type).0 == Kind::Binary {
            return Ok(Item::Binary(capture));
        }
        Ok(capture.item(payload, Some(head.status)))
    }

    fn text(
        self,
        block: &mut Block<'_>,
        buffer: &mut Vec<u8>,
        head: &Head,
        kind: Kind,
        charset: Option<&str>,
        status: Option<u16>,
    ) -> Result<Item, Fault> {
        let size = buffer.len() as u64 + block.left();
        if size > RECORD_BYTES_MAX {
            let limit = RECORD_BYTES_MAX >> 20;
            return Err(Fault::Record(format!(
                "the record has {size} bytes, more than {limit} MiB"
            )));
        }
        block.read(buffer, usize::MAX)?;
        let mut body = buffer.get(head.body..).unwrap_or_default();
        // What a crawler was about to write when it was stopped would look like a change. But
        // archives with a wrong length exist, and HTTP has its own.
        if block.is_cut() {
            body = head.whole(body).ok_or_else(|| block.cut())?;
        }
        let joined = head.joined(body);
        let mut fits = self.fits(body) || (matches!(joined, Cow::Owned(_)) && self.fits(&joined));
        let entity = head.unpacked(joined).map_err(Fault::Record)?;
        fits = fits || (head.is_packed() && self.fits(&entity));
        // With more behind it than its own header says.
        fits = fits || head.whole(body).is_some_and(|whole| whole != body && self.fits(whole));
        let Some(document) = content::document(&entity, kind, charset) else {
            return Ok(Item::Binary(self));
        };
        let kept = self.declared.as_ref().filter(|_| fits).and_then(Declared::kept);
        let digest = Some(kept.unwrap_or_else(|| digest::of(&entity)));
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
        let epoch = None;
        Ok(Item::Record(Record { url, time, payload, digest, claim, status, epoch }))
    }

    /// Whether the declared digest is that of some bytes. Tools digest what they get with chunks and
    /// packed as it came, or with either or both undone, and each is right.
    fn fits(&self, bytes: &[u8]) -> bool {
        self.declared.as_ref().is_some_and(|declared| declared.is_of(bytes))
    }
}

/// Reads the header of a response into `buffer`, and perhaps more; or says why there is none.
fn read_head(block: &mut Block<'_>, buffer: &mut Vec<u8>) -> Result<Result<Head, String>, Fault> {
    buffer.clear();
    // Nearly all are short, and what is no page need not be read further.
    for max in [HEAD_BYTES_MAX / 16, HEAD_BYTES_MAX] {
        block.read(buffer, max)?;
        match http::head(buffer, block.left() == 0) {
            Ok(None) => {}
            Ok(Some(head)) => return Ok(Ok(head)),
            Err(why) => return Ok(Err(why)),
        }
    }
    let why = match block.left() {
        _ if block.is_cut() => "the HTTP header has no end".to_owned(),
        _ => format!("the HTTP header is longer than {} MiB", HEAD_BYTES_MAX >> 20),
    };
    Ok(Err(why))
}

fn scheme(url: &str) -> String {
    url.split(':').next().unwrap_or_default().to_ascii_lowercase()
}
