//! WARC archives (ISO 28500, versions 0.17 to 1.1), WET among them.

use super::block::{Block, Content};
use super::chunk::{Chunk, Cut};
use super::stream::{At, Line, Place, Stream};
use super::{Broken, Captured, Declared, Fault, Item, Payload, Record, escape, time, url};

const LINE_BYTES_MAX: usize = 64 << 10;
const HEADER_BYTES_MAX: usize = 256 << 10;

/// Cuts a WARC file into its records.
///
/// Packed members and records need not coincide. After a broken record it goes on at the next line
/// that begins one.
pub(super) struct Warc {
    stream: Stream,
    /// Where the next record begins is unknown: what comes before it has been reported.
    lost: bool,
    /// A line that begins a record has been read already, at this place.
    begun: Option<Place>,
    line: Vec<u8>,
}

/// The named fields of a header that matter.
const FIELDS: [&str; 12] = [
    "content-length",
    "content-type",
    "warc-block-digest",
    "warc-date",
    "warc-payload-digest",
    "warc-profile",
    "warc-refers-to-date",
    "warc-refers-to-target-uri",
    "warc-segment-number",
    "warc-target-uri",
    "warc-truncated",
    "warc-type",
];

/// The [`FIELDS`] of a record's header, the first of each name.
#[derive(Default)]
struct Header(Vec<(&'static str, Vec<u8>)>);

impl Header {
    fn bytes(&self, name: &str) -> Option<&[u8]> {
        debug_assert!(FIELDS.contains(&name), "{name} is kept");
        let (_, value) = self.0.iter().find(|(n, _)| *n == name)?;
        Some(value.trim_ascii())
    }

    fn text(&self, name: &str) -> Option<&str> {
        std::str::from_utf8(self.bytes(name)?).ok()
    }

    /// A URL, which some tools put in angle brackets.
    fn url(&self, name: &str) -> Option<&str> {
        let url = self.text(name)?;
        Some(url.strip_prefix('<').and_then(|u| u.strip_suffix('>')).unwrap_or(url))
    }

    /// The digest that is declared of what the record holds, or repeats.
    fn declared(&self, is_document: bool) -> Option<Declared> {
        let payload = self.text("warc-payload-digest").and_then(Declared::parse);
        // Where the document is all of the block, its digest does as well.
        let block = || Declared::parse(self.text("warc-block-digest")?);
        payload.or_else(|| if is_document { block() } else { None })
    }

    fn kind(&self) -> String {
        self.text("warc-type").unwrap_or_default().to_ascii_lowercase()
    }

    /// What is passed over whatever its content is; none if that counts.
    fn passed(&self) -> Option<&'static str> {
        Some(match self.kind().as_str() {
            // Only the first part of its content.
            "response" | "resource" | "conversion" | "revisit"
                if self.text("warc-segment-number").is_some() =>
            {
                "segment"
            }
            "response" | "resource" | "conversion" | "revisit" => return None,
            "" => return None,
            "warcinfo" => "warcinfo",
            "request" => "request",
            "metadata" => "metadata",
            "continuation" => "continuation",
            _ => "record of another type",
        })
    }

    /// What is to be said of the record, with its URL.
    fn named(&self, why: String) -> String {
        match self.url("warc-target-uri") {
            Some(url) => format!("{}: {why}", escape(url)),
            None => why,
        }
    }
}

impl Warc {
    pub(super) fn new(stream: Stream) -> Warc {
        Warc { stream, lost: false, begun: None, line: Vec::new() }
    }

    /// Reads to the line that begins the next record, and says where that is; `None` at the end.
    fn begin(&mut self) -> Result<Option<Place>, (Place, Fault)> {
        if let Some(place) = self.begun.take() {
            return Ok(Some(place));
        }
        loop {
            let place = self.stream.place();
            let end = self.stream.line(&mut self.line, LINE_BYTES_MAX);
            match end.map_err(|e| (place, e.into()))? {
                Line::End => return Ok(None),
                _ if self.line.starts_with(b"WARC/") => {
                    self.lost = false;
                    return Ok(Some(place));
                }
                _ if self.lost || self.line.iter().all(|&b| b == b'\r') => {}
                _ => {
                    let found = escape(&String::from_utf8_lossy(&self.line));
                    let why = format!("no record begins here, but \"{found}\"");
                    return Err((place, Fault::Lost(why)));
                }
            }
        }
    }

    fn header(&mut self) -> Result<Header, Fault> {
        let mut header = Header::default();
        // Whether the field in hand is kept; it may go on in the next line.
        let mut kept = None;
        let mut size = 0;
        loop {
            let place = self.stream.place();
            match self.stream.line(&mut self.line, LINE_BYTES_MAX)? {
                Line::Whole => {}
                Line::End => return Err(Fault::Lost("the file ends within a header".into())),
                Line::TooLong => return Err(Fault::Lost("a header line is too long".into())),
            }
            size += self.line.len();
            if size > HEADER_BYTES_MAX {
                return Err(Fault::Lost("the header is too long".into()));
            }
            if self.line.is_empty() {
                return Ok(header);
            }
            if self.line.starts_with(b"WARC/") {
                self.begun = Some(place);
                return Err(Fault::Record("the header breaks off".into()));
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
                let field = field.filter(|field| header.bytes(field).is_none());
                kept = Some(field.is_some());
                let value = value.get(1..).unwrap_or_default();
                header.0.extend(field.map(|field| (field, value.to_vec())));
            }
        }
    }

    /// Cuts the record that begins at this place.
    fn record(&mut self, place: Place) -> Result<Cut, Fault> {
        let header = self.header()?;
        let length = header.text("content-length").and_then(|text| text.parse().ok());
        let length = length.ok_or_else(|| match header.bytes("content-length") {
            Some(found) => {
                let found = escape(&String::from_utf8_lossy(found));
                Fault::Lost(format!("Content-Length is \"{found}\""))
            }
            None => Fault::Lost("the header has no Content-Length".into()),
        })?;
        let cut = self.content(&header, length).map_err(|fault| match fault {
            Fault::Record(why) => Fault::Record(header.named(why)),
            Fault::Lost(why) => Fault::Lost(header.named(why)),
        })?;
        let at = self.stream.at(place);
        Ok(match cut {
            Ok(content) => Cut::Warc(WarcRecord { at, header, content }),
            Err(passed) => Cut::Clear(Item::Passed(passed)),
        })
    }

    /// The content of a record, or what is passed over.
    fn content(
        &mut self,
        header: &Header,
        length: u64,
    ) -> Result<Result<Content, &'static str>, Fault> {
        let block = Block::new(&mut self.stream, length);
        let content = match header.passed() {
            Some(passed) => block.skip().map(|()| Err(passed)),
            None => block.hold().map(Ok),
        }?;
        // Damage to a packed record often shows only in the checksum behind it.
        self.stream.settle()?;
        Ok(content)
    }
}

/// A record of a WARC archive, cut and not read yet.
pub(super) struct WarcRecord {
    at: At,
    header: Header,
    content: Content,
}

impl WarcRecord {
    /// The bytes that it holds.
    pub(super) fn bytes(&self) -> usize {
        let header = self.header.0.iter().map(|(name, value)| name.len() + value.len());
        header.sum::<usize>() + self.content.bytes.len()
    }

    /// Reads it.
    pub(super) fn read(self) -> Item {
        let mut item = self.item().unwrap_or_else(|why| {
            Item::Broken(Broken { at: self.at.to_string(), why: self.header.named(why) })
        });
        if let Item::Record(Record { claim: Some(claim), .. }) = &mut item
            && let Some(wrong) = &mut claim.wrong
        {
            wrong.at = self.at.to_string();
        }
        item
    }

    fn item(&self) -> Result<Item, String> {
        let WarcRecord { header, content, .. } = self;
        let kind = header.kind();
        if kind.is_empty() {
            return Err("the header has no WARC-Type".into());
        }
        let content_type = header.text("content-type").unwrap_or_default();
        // Some tools keep a whole response as a resource.
        let is_document = matches!(kind.as_str(), "resource" | "conversion")
            && !content_type.to_ascii_lowercase().starts_with("application/http");
        let mut capture = capture(header, is_document)?;
        if kind != "revisit" && header.text("warc-truncated").is_some() {
            // It may be that of the whole.
            capture.declared = None;
        }
        match kind.as_str() {
            "revisit" => Ok(capture.revisit(content, revisited(header)?)),
            _ if is_document => capture.document(content, content_type),
            _ => capture.response(content),
        }
    }
}

fn capture(header: &Header, is_document: bool) -> Result<Captured, String> {
    let Some(page) = header.url("warc-target-uri") else {
        return Err(match header.bytes("warc-target-uri") {
            Some(_) => "the URL is not UTF-8".into(),
            None => "the header has no WARC-Target-URI".into(),
        });
    };
    url::check(page)?;
    let date = header.text("warc-date").ok_or("the header has no WARC-Date")?;
    let time = time::parse(date).ok_or_else(|| format!("WARC-Date is \"{}\"", escape(date)))?;
    Ok(Captured { url: page.to_string(), time, declared: header.declared(is_document) })
}

/// What a revisit record says, by its profile.
fn revisited(header: &Header) -> Result<Payload, String> {
    let profile = header.text("warc-profile").unwrap_or_default();
    if profile.contains("server-not-modified") {
        return Ok(Payload::NotModified);
    }
    let refers_to = header.url("warc-refers-to-target-uri").filter(|u| url::check(u).is_ok());
    let refers_time = header.text("warc-refers-to-date").and_then(time::parse);
    if header.declared(false).is_none() && refers_to.is_none() {
        return Err("the revisit record says neither what it repeats nor its digest".into());
    }
    Ok(Payload::Revisit { refers_to: refers_to.map(str::to_string), refers_time })
}

impl Warc {
    /// The next record, or what is wrong where it should be.
    fn cut(&mut self) -> Option<Cut> {
        let (place, fault) = match self.begin() {
            Ok(None) => return None,
            Ok(Some(place)) => match self.record(place) {
                Ok(cut) => return Some(cut),
                Err(fault) => (place, fault),
            },
            Err(fault) => fault,
        };
        let why = match fault {
            Fault::Record(why) => why,
            Fault::Lost(why) => {
                self.lost = true;
                why
            }
        };
        Some(Cut::Clear(Item::Broken(Broken { at: self.stream.at(place).to_string(), why })))
    }
}

impl Iterator for Warc {
    type Item = Chunk;

    fn next(&mut self) -> Option<Chunk> {
        Chunk::gather(self.stream.is_live(), || self.cut())
    }
}

#[cfg(test)]
mod tests {
    use super::super::chunk::tests::items;
    use super::super::digest::of;
    use super::super::gzip::tests::gz;
    use super::super::stream::tests::stream;
    use super::*;
    use proptest::prelude::*;

    fn record(headers: &str, block: &str) -> String {
        format!("WARC/1.0\r\n{headers}\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n", block.len())
    }

    fn page(kind: &str, url: &str, more: &str, block: &str) -> String {
        let headers = format!(
            "WARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2020-01-01T00:00:00Z{more}"
        );
        record(&headers, block)
    }

    fn response(url: &str, block: &str) -> String {
        page("response", url, "\r\nContent-Type: application/http;msgtype=response", block)
    }

    fn ok(text: &str) -> String {
        format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n{text}")
    }

    fn read(bytes: impl Into<Vec<u8>>) -> Vec<Item> {
        items(Warc::new(stream(bytes)))
    }

    fn texts(items: &[Item]) -> Vec<&str> {
        items
            .iter()
            .map(|item| match item {
                Item::Record(Record { payload: Payload::Text(document), .. }) => document.text(),
                Item::Record(_) => "(other)",
                Item::Broken(_) => "(broken)",
                Item::Passed(kind) => kind,
                Item::Binary(_) => "binary",
                Item::Epoch(name) => name.as_str(),
            })
            .collect()
    }

    fn only(bytes: String) -> Item {
        let mut items = read(bytes);
        assert_eq!(items.len(), 1, "{items:?}");
        items.remove(0)
    }

    #[test]
    fn a_response_is_read_with_all_that_is_known_of_it() {
        let html = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>some<p>text";
        let Item::Record(record) = only(response("<http://a.example/>", html)) else { panic!() };
        assert_eq!(record.url, "http://a.example/");
        assert_eq!(record.time, 1_577_836_800_000);
        assert_eq!(
            record.payload,
            Payload::Text(Box::new(simkeep::fingerprint::Document::new("some\ntext")))
        );
        assert_eq!(record.digest, Some(of(b"<p>some<p>text")));
        assert_eq!(record.status, Some(200));
    }

    #[test]
    fn the_status_tells_what_became_of_the_page() {
        for (status, payload) in [
            (404, Some(Payload::Gone)),
            (410, Some(Payload::Gone)),
            (304, Some(Payload::NotModified)),
            (403, Some(Payload::Failed)),
            (503, Some(Payload::Failed)),
            (301, None),
            (100, None),
        ] {
            let block = format!("HTTP/1.1 {status} X\r\nContent-Type: text/html\r\n\r\n<p>sorry");
            match (only(response("http://a/", &block)), payload) {
                (Item::Record(record), Some(payload)) => {
                    assert_eq!((record.payload, record.status), (payload, Some(status)));
                    assert_eq!(record.digest, None);
                }
                (Item::Passed(_), None) => {}
                other => panic!("{status}: {other:?}"),
            }
        }
    }

    #[test]
    fn other_kinds_are_passed_over_by_name() {
        let file = [
            record("WARC-Type: warcinfo", "x: y"),
            page("request", "http://a/", "", "GET / HTTP/1.1\r\n\r\n"),
            page("metadata", "http://a/", "", "x"),
            page("response", "dns:a", "\r\nContent-Type: text/dns", "1.2.3.4"),
            page("response", "ftp://a/", "", "x"),
            page("resource", "http://a/x.png", "\r\nContent-Type: image/png", "x"),
            response("http://a/", "HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n\r\n%PDF"),
            response("http://a/", "HTTP/1.1 200 OK\r\n\r\na\0b"),
            page("resource", "http://a/", "\r\nWARC-Segment-Number: 1", "x"),
            page("conversion", "http://a/", "\r\nContent-Type: text/plain", "converted"),
            page("resource", "urn:x:y", "\r\nContent-Type: text/html", "<b>re</b>source"),
        ]
        .concat();
        let expected = [
            "warcinfo",
            "request",
            "metadata",
            "dns",
            "response of another protocol",
            "binary",
            "binary",
            "binary",
            "segment",
            "converted",
            "resource",
        ];
        assert_eq!(texts(&read(file)), expected);
    }

    #[test]
    fn a_revisit_names_what_it_repeats() {
        let profile =
            "\r\nWARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";
        let more = format!(
            "{profile}\r\nWARC-Payload-Digest: sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ\
             \r\nWARC-Refers-To-Target-URI: <http://b/>\r\nWARC-Refers-To-Date: 1970-01-01T00:00:01Z"
        );
        let Item::Record(record) = only(page("revisit", "http://a/", &more, &ok(""))) else {
            panic!()
        };
        let refers =
            Payload::Revisit { refers_to: Some("http://b/".into()), refers_time: Some(1000) };
        assert_eq!((record.payload, record.status), (refers, Some(200)));
        assert_eq!(record.digest, Some(of(b"")));

        let gone = page("revisit", "http://a/", &more, "HTTP/1.1 404 Not Found\r\n");
        assert!(matches!(only(gone), Item::Record(Record { payload: Payload::Gone, .. })));

        let more = "\r\nWARC-Profile: http://netpreserve.org/warc/1.0/revisit/server-not-modified\
                    \r\nWARC-Payload-Digest: sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ";
        let Item::Record(record) = only(page("revisit", "http://a/", more, "")) else { panic!() };
        assert_eq!((record.payload, record.digest), (Payload::NotModified, None));

        assert!(matches!(only(page("revisit", "http://a/", profile, "")), Item::Broken(_)));
    }

    #[test]
    fn headers_may_be_folded_in_any_case_and_with_bare_line_feeds() {
        let file = "WARC/0.18\nwarc-type:resource\nWARC-TARGET-URI: http://a/\n \nWARC-Date: 2020\n\
                    Content-Type: text/plain;\n\t charset=latin1\ncontent-LENGTH: 1\n\nx\n\n";
        assert_eq!(texts(&read(file)), ["x"]);
    }

    #[test]
    fn of_a_header_that_is_held_which_matters() {
        let more = "\r\nA: b\r\n\tc\r\nWARC-Date: x\r\n\ty".repeat(1000);
        let page = page("response", "http://a/", &more, &ok("x"));
        let Some(Cut::Warc(record)) = Warc::new(stream(page.clone())).cut() else { panic!() };
        assert_eq!(record.header.0.len(), 4);
        assert_eq!(texts(&read(page)), ["x"]);
    }

    #[test]
    fn packed_members_need_not_coincide_with_records() {
        let file = [response("http://a/", &ok("one")), response("http://b/", &ok("two"))].concat();
        let pieces: Vec<u8> = file.as_bytes().chunks(37).flat_map(gz).collect();
        assert_eq!(texts(&read(pieces)), ["one", "two"]);
        assert_eq!(texts(&read(zstd::encode_all(file.as_bytes(), 1).unwrap())), ["one", "two"]);
    }

    #[test]
    fn a_broken_record_costs_itself() {
        let (one, two) = (response("http://a/", &ok("one")), response("http://b/", &ok("two")));
        for (broken, count) in [
            ("stray bytes\r\n".to_string(), 1),
            ("WARC/1.0\r\nWARC-Type: response\r\n\r\n".into(), 1),
            ("WARC/1.0\r\nContent-Length: -1\r\n\r\nx\r\n\r\n".into(), 1),
            ("WARC/1.0\r\nWARC-Type: resp\r\n".into(), 1),
            (response("http://x/\u{1}", &ok("x")), 1),
            (response("", &ok("x")), 1),
            (response(&"x".repeat(9000), &ok("x")), 1),
            (response("http://x/", "<p>no response"), 1),
            (response("http://x/", &ok("x")).replace("2020-01", "2020-13"), 1),
            (record("WARC-Target-URI: http://x/", ""), 1),
        ] {
            let items = read([one.as_str(), &broken, &two].concat());
            let expected = [vec!["one"], vec!["(broken)"; count], vec!["two"]].concat();
            assert_eq!(texts(&items), expected, "{broken:?}: {items:?}");
            for item in &items {
                if let Item::Broken(Broken { at, why }) = item {
                    assert!(at.contains("byte"), "{at}");
                    assert!(!why.chars().any(char::is_control));
                }
            }
        }
    }

    #[test]
    fn a_length_that_is_too_short_leaves_stray_bytes() {
        let short = response("http://a/", &ok("0123456789"));
        let length = ok("0123456789").len();
        let short = short.replace(&format!("Length: {length}"), &format!("Length: {}", length - 2));
        let items = read([short, response("http://b/", &ok("two"))].concat());
        assert_eq!(texts(&items), ["01234567", "(broken)", "two"]);
    }

    #[test]
    fn damage_to_the_next_member_is_not_the_fault_of_a_record() {
        let (one, two) = (response("http://a/", &ok("one")), response("http://b/", &ok("two")));
        let mut bad = gz(b"x");
        bad[3] = 0xff;
        let file = [gz(one.as_bytes()), bad, gz(two.as_bytes())].concat();
        assert_eq!(texts(&read(file)), ["one", "(broken)", "two"]);
    }

    #[test]
    fn a_damaged_member_costs_its_record() {
        let noise: String = (0..5000u64).map(|i| format!("{:x}", i.pow(3) % 997)).collect();
        let members = ["one", &noise, "two"].map(|t| gz(response("http://a/", &ok(t)).as_bytes()));
        let mut bad = members.clone();
        let middle = bad[1].len() / 2;
        bad[1][middle] ^= 0x55;
        let items = read(bad.concat());
        assert_eq!(texts(&items), ["one", "(broken)", "two"]);
        let Item::Broken(broken) = &items[1] else { panic!() };
        assert!(broken.why.contains("damaged gzip member"), "{broken:?}");
    }

    #[test]
    fn what_the_file_cuts_off_is_broken_unless_http_says_it_is_whole() {
        let cut = response("http://a/", &ok("some text"));
        let cut = &cut[..cut.len() - 8];
        assert_eq!(texts(&read(cut)), ["(broken)"]);
        let long = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Type: text/plain\r\n\r\ntext";
        let whole = response("http://a/", long).replace("Content-Length: 7", "Content-Length: 9");
        assert_eq!(texts(&read(whole)), ["text"]);
        let passed = page("request", "http://a/", "", "0123456789");
        assert_eq!(texts(&read(&passed[..passed.len() - 9])), ["(broken)"]);
        assert_eq!(texts(&read("WARC/1.0\r\nWARC-Type: x")), ["(broken)"]);
    }

    #[test]
    fn a_huge_record_is_refused_without_being_held() {
        let size = super::super::RECORD_BYTES_MAX + 1;
        let start = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n";
        let mut file = response("http://a/", start)
            .replace(&format!("Length: {}", start.len()), &format!("Length: {size}"))
            .into_bytes();
        file.truncate(file.len() - 4);
        file.resize(file.len() + usize::try_from(size).unwrap() - start.len(), b'x');
        file.extend(b"\r\n\r\n");
        file.extend(response("http://b/", &ok("next")).as_bytes());
        let chunks: Vec<Chunk> = Warc::new(stream(gz(&file))).collect();
        assert!(chunks.iter().map(Chunk::bytes).sum::<usize>() < 2 << 20);
        assert_eq!(texts(&items(chunks.into_iter())), ["(broken)", "next"]);
    }

    proptest! {
        #[test]
        fn no_file_panics_or_runs_for_ever(
            edits in prop::collection::vec(
                (any::<prop::sample::Index>(), 0..20usize, prop::collection::vec(any::<u8>(), 0..20)),
                0..6,
            ),
            packed in any::<bool>(),
        ) {
            let mut file = [
                response("http://a/", &ok("one")),
                page("revisit", "http://a/", "\r\nWARC-Payload-Digest: sha1:xyz", &ok("")),
                response("http://b/", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n"),
            ]
            .concat()
            .into_bytes();
            if packed {
                file = file.chunks(200).flat_map(gz).collect();
            }
            for (at, count, with) in edits {
                let at = at.index(file.len());
                let end = file.len().min(at + count);
                file.splice(at..end, with);
            }
            for item in read(file) {
                if let Item::Broken(Broken { at, why }) = item {
                    prop_assert!(!at.chars().chain(why.chars()).any(char::is_control));
                }
            }
        }
    }
}
