//! What an archive has captured: the same in WARC and ARC.

use simkeep::Digest;

use super::block::Block;
use super::content::{self, Kind};
use super::http::{self, HEAD_BYTES_MAX, Head, Meaning};
use super::{Fault, Item, Payload, RECORD_BYTES_MAX, Record, digest};

/// What the archive's own header says of a record.
pub(super) struct Capture {
    /// The page.
    pub(super) url: String,
    /// Milliseconds since 1970.
    pub(super) time: i64,
    /// Which exact content, if the header tells.
    pub(super) digest: Option<Digest>,
}

impl Capture {
    fn item(self, payload: Payload, status: Option<u16>) -> Item {
        let digest = match payload {
            Payload::Text(_)
            | Payload::Ready { .. }
            | Payload::Restated { .. }
            | Payload::Revisit { .. } => self.digest,
            // The digest of an answer without content would name the empty content.
            Payload::NotModified | Payload::Gone | Payload::Failed => None,
        };
        Item::Record(Record {
            url: self.url,
            time: self.time,
            payload,
            digest,
            status,
            epoch: None,
        })
    }

    /// What a status says without a look at the content; `Err` gives the capture back if the
    /// content counts.
    fn by_status(self, status: u16) -> Result<Item, Capture> {
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
            return Ok(Item::Passed("binary"));
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
            return Ok(Item::Passed("binary"));
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
        let status = read_head(block, buffer)?.ok().map(|head| head.status);
        let capture = match status {
            // A repeated error page or redirect is still no content.
            Some(status) => match self.by_status(status) {
                Ok(item) => return Ok(item),
                Err(capture) => capture,
            },
            None => self,
        };
        Ok(capture.item(payload, status))
    }

    fn text(
        mut self,
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
        let entity = head.entity(body).map_err(Fault::Record)?;
        let Some(document) = content::document(&entity, kind, charset) else {
            return Ok(Item::Passed("binary"));
        };
        self.digest = self.digest.or_else(|| Some(digest::of_payload(body)));
        Ok(self.item(Payload::Text(Box::new(document)), status))
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
