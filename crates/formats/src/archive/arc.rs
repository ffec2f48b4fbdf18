//! Reads ARC archives, versions 1 and 2.

use super::block::BlockContent;
use super::exchange::ExchangeIds;
use super::{ArchiveCutter, ArchiveFormat};
use crate::chunk::{LazyRecord, RecordCut};
use crate::item::{BrokenRecord, CaptureHeader, RecordFault, SourceItem, Truncation, with_url};
use crate::stream::{SourcePosition, StreamPosition};
use crate::{escape, time, url};

/// The ARC format. Only a header line marks a record, so a broken line loses all content up to the
/// next valid header line.
pub(crate) struct Arc;

/// The header line of a record: `URL IP date type … length`.
struct ArcHeader<'a> {
    /// The URL, which may contain spaces.
    url: &'a str,
    date: &'a str,
    length: &'a str,
}

impl<'a> ArcHeader<'a> {
    /// Parses a header line. Version 1 has the type between date and length, version 2 has six more
    /// fields, and types may contain spaces, too. So the end of the URL is found by the date, which
    /// follows an IP address.
    fn parse(line: &'a str) -> Option<ArcHeader<'a>> {
        let (mut front, length) = line.rsplit_once(' ')?;
        // The first match is used, since later text may look like a date, for example an offset
        // after a `-`.
        let mut found = None;
        while let Some((before, field)) = front.rsplit_once(' ') {
            let Some((url, address)) = before.rsplit_once(' ') else { break };
            let digits = field.len() >= 8 && field.bytes().all(|b| b.is_ascii_digit());
            if digits && is_address(address) && url.contains(':') {
                found = Some(ArcHeader { url: url.trim(), date: field, length });
            }
            front = before;
        }
        found
    }
}

fn is_address(field: &str) -> bool {
    field == "-" || field.parse::<std::net::IpAddr>().is_ok()
}

impl ArchiveFormat for Arc {
    fn begins(line: &[u8]) -> bool {
        std::str::from_utf8(line).is_ok_and(|line| ArcHeader::parse(line).is_some())
    }

    fn record(
        cutter: &mut ArchiveCutter<Arc>,
        place: StreamPosition,
    ) -> Result<(RecordCut, Option<ExchangeIds>), RecordFault> {
        let line = String::from_utf8_lossy(&cutter.line).into_owned();
        let Some(header) = ArcHeader::parse(&line) else {
            return Err(RecordFault::Lost("this line is not the header of an ARC record".into()));
        };
        let is_description = header.url.starts_with("filedesc:");
        let Ok(length) = header.length.parse() else {
            if is_description {
                // The content of this record is not needed; the next record is found without it.
                cutter.lost = true;
                return Ok((RecordCut::Clear(SourceItem::Passed("filedesc")), None));
            }
            let why =
                format!("the length of the record is not a number: \"{}\"", escape(header.length));
            return Err(RecordFault::Lost(with_url(Some(header.url), &why)));
        };
        let passed = match is_description {
            true => Some("filedesc"),
            false => cutter.schemes.passed_record(header.url),
        };
        let content = cutter.content(length, passed);
        let cut = match content.map_err(|fault| fault.with_url(Some(header.url)))? {
            Ok(content) => {
                let at = cutter.stream.at(place);
                let (url, date) = (header.url.to_owned(), header.date.to_owned());
                RecordCut::unread(ArcRecord { at, url, date, content })
            }
            Err(passed) => RecordCut::Clear(SourceItem::Passed(passed)),
        };
        Ok((cut, None))
    }
}

/// An unread record of an ARC archive.
struct ArcRecord {
    at: SourcePosition,
    url: String,
    date: String,
    content: BlockContent,
}

impl LazyRecord for ArcRecord {
    fn bytes(&self) -> usize {
        self.url.len() + self.content.bytes.len()
    }

    fn read(self: Box<Self>, each: &mut dyn FnMut(SourceItem)) {
        let item = self.capture().and_then(|capture| capture.response(&self.content));
        each(item.unwrap_or_else(|why| {
            SourceItem::Broken(BrokenRecord {
                at: self.at.to_string(),
                why: with_url(Some(&self.url), &why),
            })
        }));
    }
}

impl ArcRecord {
    fn capture(&self) -> Result<CaptureHeader, String> {
        url::check(&self.url)?;
        let time = time::captured("the date", &self.date, time::arc)?;
        let (url, declared, truncated) = (self.url.clone(), None, Truncation::No);
        Ok(CaptureHeader { url, time, declared, truncated })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::tests::items;
    use crate::gzip::tests::gz;
    use crate::stream::tests::stream;
    use crate::{RecordPayload, VisitRecord, digest};
    use proptest::prelude::*;

    const DESCRIPTION: &str = "filedesc://x.arc 0.0.0.0 20200101000000 text/plain 8\n1 0 Me\nX\n\n";

    fn record(url: &str, middle: &str, body: &str) -> String {
        let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n{body}");
        format!("{url} 192.0.2.1 20200101000000 {middle} {}\n{block}\n", block.len())
    }

    fn read(bytes: impl Into<Vec<u8>>) -> Vec<SourceItem> {
        items(ArchiveCutter::<Arc>::new(stream(bytes), Default::default()))
    }

    fn texts(items: &[SourceItem]) -> Vec<(String, String)> {
        items
            .iter()
            .filter_map(|item| match item {
                SourceItem::Record(VisitRecord {
                    payload: RecordPayload::Text(document),
                    url,
                    ..
                }) => Some((url.clone(), document.text().to_owned())),
                SourceItem::Broken(broken) => Some(("broken".into(), broken.why.clone())),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn both_arc_versions_and_urls_with_spaces_are_read() {
        let file = [
            DESCRIPTION,
            &record("http://a/", "text/plain", "one"),
            &record("http://a/x y 1 z", "text/plain; charset=utf-8", "two"),
            &record("http://b/", "text/plain 200 checksum - 1234567 x.arc", "three"),
            &record("http://c/", "text/plain 200 checksum - 20010215 x.arc", "four"),
        ]
        .concat();
        let expected = [
            ("http://a/", "one"),
            ("http://a/x y 1 z", "two"),
            ("http://b/", "three"),
            ("http://c/", "four"),
        ];
        let expected = expected.map(|(url, text)| (url.to_string(), text.to_string()));
        assert_eq!(texts(&read(file.clone())), expected);
        let packed: Vec<u8> = file.as_bytes().chunks(50).flat_map(gz).collect();
        let items = read(packed);
        assert_eq!(texts(&items), expected);
        assert_eq!(items[0], SourceItem::Passed("filedesc"));
        let SourceItem::Record(record) = &items[1] else { panic!() };
        assert_eq!((record.time, record.status), (1_577_836_800_000, Some(200)));
        assert_eq!(record.digest, Some(digest::of(b"one")));
    }

    #[test]
    fn broken_record_costs_only_itself() {
        let good = record("http://a/", "text/plain", "one");
        for broken in [
            "http://x/ 192.0.2.1 20200101000000 text/html -1\n\n",
            "http://x/ 192.0.2.1 20200101000000 text/html many\n\n",
            "http://x/ 192.0.2.1 201404010000000000 text/html 1\nx\n",
            "http://x/ 192.0.2.1 20200101000000 text/html 1\nx\n",
            "stray\n",
            "http://x/\u{1} 192.0.2.1 20200101000000 text/html 1\nx\n",
        ] {
            let items = read([DESCRIPTION, &good, broken, &good].concat());
            let texts: Vec<String> = texts(&items).into_iter().map(|t| t.0).collect();
            assert_eq!(texts, ["http://a/", "broken", "http://a/"], "{broken:?}: {items:?}");
        }
        let lost = "filedesc://x 0.0.0.0 20200101000000 text/plain -1\n1 0 x\nURL IP-address\n\n";
        assert_eq!(texts(&read([lost, &good].concat())).len(), 1);
        let cut = read(&[DESCRIPTION, &good[..good.len() - 3]].concat()[..]);
        assert!(matches!(&cut[1], SourceItem::Broken(b) if b.why.contains("ends")), "{cut:?}");
    }

    #[test]
    fn other_protocols_are_skipped() {
        let file = [DESCRIPTION, "dns:a 192.0.2.1 20200101000000 text/dns 3\nabc\n"].concat();
        assert_eq!(read(file)[1], SourceItem::Passed("dns"));
    }

    proptest! {
        #[test]
        fn no_file_panics_or_hangs(
            edits in prop::collection::vec(
                (any::<prop::sample::Index>(), 0..20usize, prop::collection::vec(any::<u8>(), 0..20)),
                0..6,
            ),
        ) {
            let good = record("http://a/", "text/plain", "one");
            let mut file = [DESCRIPTION, &good, &good].concat().into_bytes();
            for (at, count, with) in edits {
                let at = at.index(file.len());
                let end = file.len().min(at + count);
                file.splice(at..end, with);
            }
            read(file);
        }

        #[test]
        fn no_line_panics(line in "[a-z:/ 0-9.-]{0,60}|\\PC{0,40}") {
            ArcHeader::parse(&line);
        }
    }
}
