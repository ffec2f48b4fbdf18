//! Reads WARC archives (ISO 28500, versions 0.17 to 1.1), WET included.

use super::block::{BlockContent, ContentBlock};
use super::exchange::ExchangeIds;
use super::{ArchiveCutter, ArchiveFormat, LINE_BYTES_MAX};
use crate::chunk::{LazyRecord, RecordCut};
use crate::digest::DeclaredDigest;
use crate::item::{
    BrokenRecord, CaptureHeader, RecordFault, RecordPayload, SourceItem, Truncation, VisitRecord,
    with_url,
};
use crate::stream::{LineEnd, SourcePosition, StreamPosition};
use crate::url::{RequestMethod, Schemes};
use crate::{escape, time, url};

const HEADER_BYTES_MAX: usize = 256 << 10;
/// The number of bytes of a request that are searched for its method.
const METHOD_BYTES_MAX: usize = 64;
/// The maximum number of records that a record may name as concurrent.
const CONCURRENT_MAX: usize = 16;

/// The WARC format. Compressed members need not coincide with records.
pub(crate) struct Warc;

/// The relevant named fields of a header.
const FIELDS: [&str; 14] = [
    "content-length",
    "content-type",
    "warc-block-digest",
    CONCURRENT,
    "warc-date",
    "warc-payload-digest",
    "warc-profile",
    "warc-record-id",
    "warc-refers-to-date",
    "warc-refers-to-target-uri",
    "warc-segment-number",
    "warc-target-uri",
    "warc-truncated",
    "warc-type",
];

/// The only field that a header may repeat (ISO 28500, 5.10).
const CONCURRENT: &str = "warc-concurrent-to";

/// The [`FIELDS`] of a record's header: the first field of each name, and several [`CONCURRENT`]
/// fields.
#[derive(Default)]
struct WarcHeader(Vec<(&'static str, Vec<u8>)>);

impl WarcHeader {
    fn bytes(&self, name: &str) -> Option<&[u8]> {
        debug_assert!(FIELDS.contains(&name), "{name} is kept");
        let (_, value) = self.0.iter().find(|(n, _)| *n == name)?;
        Some(value.trim_ascii())
    }

    fn text(&self, name: &str) -> Option<&str> {
        std::str::from_utf8(self.bytes(name)?).ok()
    }

    /// Returns a URL without the angle brackets that some tools put around URLs.
    fn url(&self, name: &str) -> Option<&str> {
        let url = self.text(name)?;
        Some(url.strip_prefix('<').and_then(|u| u.strip_suffix('>')).unwrap_or(url))
    }

    /// Returns the declared digest of the content, or of the content that a revisit repeats.
    fn declared(&self, is_document: bool) -> Option<DeclaredDigest> {
        let payload = self.text("warc-payload-digest").and_then(DeclaredDigest::parse);
        // If the document is the whole block, the digest of the block is also the digest of the
        // document.
        let block = || DeclaredDigest::parse(self.text("warc-block-digest")?);
        payload.or_else(|| if is_document { block() } else { None })
    }

    /// Returns the type of the block, in lower case.
    fn content_type(&self) -> String {
        self.text("content-type").unwrap_or_default().to_ascii_lowercase()
    }

    fn kind(&self) -> String {
        self.text("warc-type").unwrap_or_default().to_ascii_lowercase()
    }

    /// Whether another occurrence of a field is kept.
    fn accepts_another(&self, field: &str) -> bool {
        let most = if field == CONCURRENT { CONCURRENT_MAX } else { 1 };
        self.0.iter().filter(|(name, _)| *name == field).count() < most
    }

    /// Returns the identifiers that link the record to an exchange.
    fn ids(&self) -> ExchangeIds {
        let concurrent = self.0.iter().filter(|(name, _)| *name == CONCURRENT);
        let concurrent = concurrent.map(|(_, value)| value.as_slice());
        ExchangeIds::new(self.bytes("warc-target-uri"), self.bytes("warc-record-id"), concurrent)
    }

    /// Returns how the archive truncated the content. A revisit has no content.
    fn truncated(&self) -> Truncation {
        match self.text("warc-truncated").map(str::to_ascii_lowercase).as_deref() {
            None | Some("") => Truncation::No,
            Some("length") => Truncation::AtLength,
            Some(_) => Truncation::Anywhere,
        }
    }

    /// Returns the reason why the record is not a visit, for any content; `None` if the record may
    /// be a visit.
    fn passed(&self, schemes: &Schemes) -> Option<&'static str> {
        Some(match self.kind().as_str() {
            // Only the first segment of a record is used.
            "response" | "resource" | "conversion" | "revisit"
                if self.text("warc-segment-number").is_some() =>
            {
                "segment"
            }
            "response" | "resource" | "conversion" | "revisit" => {
                return schemes.passed_record(self.url("warc-target-uri")?);
            }
            "" => return None,
            "warcinfo" => "warcinfo",
            "request" => "request",
            "metadata" => "metadata",
            "continuation" => "continuation",
            _ => "record of another type",
        })
    }

    /// Puts the URL of the record before an error text.
    fn with_url(&self, why: &str) -> String {
        with_url(self.url("warc-target-uri"), why)
    }
}

impl ArchiveFormat for Warc {
    fn begins(line: &[u8]) -> bool {
        line.starts_with(b"WARC/")
    }

    fn record(
        cutter: &mut ArchiveCutter<Warc>,
        place: StreamPosition,
    ) -> Result<(RecordCut, Option<ExchangeIds>), RecordFault> {
        let header = cutter.header()?;
        let length = header.text("content-length").and_then(|text| text.parse().ok());
        let length = length.ok_or_else(|| match header.bytes("content-length") {
            Some(found) => {
                let found = escape(&String::from_utf8_lossy(found));
                RecordFault::Lost(format!("Content-Length is not a number: \"{found}\""))
            }
            None => RecordFault::Lost("the header has no Content-Length".into()),
        })?;
        let content = match header.passed(&cutter.schemes) {
            Some("request") => cutter.request(&header, length),
            passed => cutter.content(length, passed),
        };
        let url = header.url("warc-target-uri");
        Ok(match content.map_err(|fault| fault.with_url(url))? {
            Ok(content) => {
                let is_http = header.content_type().starts_with("application/http");
                let is_response = match header.kind().as_str() {
                    "response" | "revisit" => true,
                    kind => kind == "resource" && is_http,
                };
                let ids = is_response.then(|| header.ids());
                let at = cutter.stream.at(place);
                (RecordCut::unread(WarcRecord { at, header, content }), ids)
            }
            Err(passed) => (RecordCut::Clear(SourceItem::Passed(passed)), None),
        })
    }
}

impl ArchiveCutter<Warc> {
    fn header(&mut self) -> Result<WarcHeader, RecordFault> {
        let mut header = WarcHeader::default();
        // Whether the current field is kept; it may continue in the next line.
        let mut kept = None;
        let mut size = 0;
        loop {
            let place = self.stream.place();
            match self.stream.line(&mut self.line, LINE_BYTES_MAX)? {
                LineEnd::Whole => {}
                LineEnd::End => {
                    return Err(RecordFault::Lost(
                        "the file ends within the header of a record".into(),
                    ));
                }
                LineEnd::TooLong => {
                    return Err(RecordFault::Lost(format!(
                        "a header line is longer than {} KiB",
                        LINE_BYTES_MAX >> 10
                    )));
                }
            }
            size += self.line.len();
            if size > HEADER_BYTES_MAX {
                let most = HEADER_BYTES_MAX >> 10;
                return Err(RecordFault::Lost(format!("the header is longer than {most} KiB")));
            }
            if self.line.is_empty() {
                return Ok(header);
            }
            if self.line.starts_with(b"WARC/") {
                self.begun = Some(place);
                return Err(RecordFault::Record(
                    "the header is incomplete: the next record begins within it".into(),
                ));
            }
            let folded = self.line.first().is_some_and(|b| b" \t".contains(b));
            if let (true, Some(is_kept)) = (folded, kept) {
                if let (true, Some((_, value))) = (is_kept, header.0.last_mut()) {
                    value.push(b' ');
                    value.extend_from_slice(self.line.trim_ascii());
                }
            } else if let Some(colon) = self.line.iter().position(|&b| b == b':') {
                let (name, value) = self.line.split_at(colon);
                let name = name.trim_ascii();
                let field = FIELDS.into_iter().find(|f| name.eq_ignore_ascii_case(f.as_bytes()));
                let field = field.filter(|field| header.accepts_another(field));
                kept = Some(field.is_some());
                let value = value.get(1..).unwrap_or_default();
                header.0.extend(field.map(|field| (field, value.to_vec())));
            }
        }
    }

    /// Skips a request, and stores its method.
    fn request(
        &mut self,
        header: &WarcHeader,
        length: u64,
    ) -> Result<Result<BlockContent, &'static str>, RecordFault> {
        let start = ContentBlock::new(&mut self.stream, length).start(METHOD_BYTES_MAX)?;
        if let Some(method) = RequestMethod::of_request(&start) {
            self.exchanges.request(header.ids(), method);
        }
        self.stream.check_part_end()?;
        Ok(Err("request"))
    }
}

/// An unread record of a WARC archive.
struct WarcRecord {
    at: SourcePosition,
    header: WarcHeader,
    content: BlockContent,
}

impl LazyRecord for WarcRecord {
    fn bytes(&self) -> usize {
        let header = self.header.0.iter().map(|(name, value)| name.len() + value.len());
        header.sum::<usize>() + self.content.bytes.len()
    }

    fn read(self: Box<Self>, each: &mut dyn FnMut(SourceItem)) {
        let mut item = self.item().unwrap_or_else(|why| {
            SourceItem::Broken(BrokenRecord {
                at: self.at.to_string(),
                why: self.header.with_url(&why),
            })
        });
        if let SourceItem::Record(VisitRecord { claim: Some(claim), .. }) = &mut item
            && let Some(wrong) = &mut claim.wrong
        {
            wrong.at = self.at.to_string();
        }
        each(item);
    }
}

impl WarcRecord {
    fn item(&self) -> Result<SourceItem, String> {
        let WarcRecord { header, content, .. } = self;
        let kind = header.kind();
        if kind.is_empty() {
            return Err("the header has no WARC-Type".into());
        }
        let content_type = header.text("content-type").unwrap_or_default();
        // Some tools store a whole response as a resource.
        let is_document = matches!(kind.as_str(), "resource" | "conversion")
            && !header.content_type().starts_with("application/http");
        let mut capture = capture(header, is_document)?;
        if kind != "revisit" {
            capture.truncated = header.truncated();
        }
        if capture.truncated != Truncation::No {
            // The declared digest may be the digest of the whole response.
            capture.declared = None;
        }
        match kind.as_str() {
            "revisit" => Ok(capture.revisit(content, revisited(header)?)),
            _ if is_document => capture.document(content, content_type),
            _ => capture.response(content),
        }
    }
}

fn capture(header: &WarcHeader, is_document: bool) -> Result<CaptureHeader, String> {
    let Some(page) = header.url("warc-target-uri") else {
        return Err(match header.bytes("warc-target-uri") {
            Some(_) => "the URL is not UTF-8".into(),
            None => "the header has no WARC-Target-URI".into(),
        });
    };
    url::check(page)?;
    let date = header.text("warc-date").ok_or("the header has no WARC-Date")?;
    let time = time::captured("WARC-Date", date, time::parse)?;
    let (url, declared) = (page.to_string(), header.declared(is_document));
    Ok(CaptureHeader { url, time, declared, truncated: Truncation::No })
}

/// Returns the payload of a revisit record, by its profile.
fn revisited(header: &WarcHeader) -> Result<RecordPayload, String> {
    let profile = header.text("warc-profile").unwrap_or_default();
    if profile.contains("server-not-modified") {
        return Ok(RecordPayload::NotModified);
    }
    let refers_to = header.url("warc-refers-to-target-uri").filter(|u| url::check(u).is_ok());
    let refers_time = header.text("warc-refers-to-date");
    let refers_time = refers_time.and_then(time::parse).and_then(time::if_web_era);
    if header.declared(false).is_none() && refers_to.is_none() {
        return Err(
            "the revisit record has neither a WARC-Payload-Digest nor a WARC-Refers-To-Target-URI"
                .into(),
        );
    }
    Ok(RecordPayload::Revisit { refers_to: refers_to.map(str::to_string), refers_time })
}

#[cfg(test)]
mod tests;
