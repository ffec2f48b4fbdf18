//! Reads ARC archives, versions 1 and 2.

use super::block::Content;
use super::exchange::Ids;
use super::{Cutter, Format};
use crate::chunk::{Cut, Unread};
use crate::item::{Broken, Captured, Fault, Item, Truncated, with_url};
use crate::stream::{At, Place};
use crate::{escape, time, url};

/// The ARC format. Only a header line marks a record, so a broken line loses all content up to the
/// next valid header line.
pub(crate) struct Arc;

/// The header line of a record: `URL IP date type … length`.
struct Header<'a> {
    /// The URL, which may contain spaces.
    url: &'a str,
    date: &'a str,
    length: &'a str,
}

impl<'a> Header<'a> {
    /// Parses a header line. Version 1 has the type between date and length, version 2 has six more
    /// fields, and types may contain spaces, too. So the end of the URL is found by the date, which
    /// follows an IP address.
    fn parse(line: &'a str) -> Option<Header<'a>> {
        let (mut front, length) = line.rsplit_once(' ')?;
        // The first match is used, since later text may look like a date, for example an offset
        // after a `-`.
        let mut found = None;
        while let Some((before, field)) = front.rsplit_once(' ') {
            let Some((url, address)) = before.rsplit_once(' ') else { break };
            let digits = field.len() >= 8 && field.bytes().all(|b| b.is_ascii_digit());
            if digits && is_address(address) && url.contains(':') {
                found = Some(Header { url: url.trim(), date: field, length });
            }
            front = before;
        }
        found
    }
}

fn is_address(field: &str) -> bool {
    field == "-" || field.parse::<std::net::IpAddr>().is_ok()
}

impl Format for Arc {
    fn begins(line: &[u8]) -> bool {
        std::str::from_utf8(line).is_ok_and(|line| Header::parse(line).is_some())
    }

    fn record(cutter: &mut Cutter<Arc>, place: Place) -> Result<(Cut, Option<Ids>), Fault> {
        let line = String::from_utf8_lossy(&cutter.line).into_owned();
        let Some(header) = Header::parse(&line) else {
            return Err(Fault::Lost("not the line of a record".into()));
        };
        let is_description = header.url.starts_with("filedesc:");
        let Ok(length) = header.length.parse() else {
            if is_description {
                // The content of this record is not needed; the next record is found without it.
                cutter.lost = true;
                return Ok((Cut::Clear(Item::Passed("filedesc")), None));
            }
            let why = format!("the length is \"{}\"", escape(header.length));
            return Err(Fault::Lost(with_url(Some(header.url), &why)));
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
                Cut::unread(ArcRecord { at, url, date, content })
            }
            Err(passed) => Cut::Clear(Item::Passed(passed)),
        };
        Ok((cut, None))
    }
}

/// An unread record of an ARC archive.
struct ArcRecord {
    at: At,
    url: String,
    date: String,
    content: Content,
}

impl Unread for ArcRecord {
    fn bytes(&self) -> usize {
        self.url.len() + self.content.bytes.len()
    }

    fn read(self: Box<Self>, each: &mut dyn FnMut(Item)) {
        let item = self.capture().and_then(|capture| capture.response(&self.content));
        each(item.unwrap_or_else(|why| {
            Item::Broken(Broken { at: self.at.to_string(), why: with_url(Some(&self.url), &why) })
        }));
    }
}

impl ArcRecord {
    fn capture(&self) -> Result<Captured, String> {
        url::check(&self.url)?;
        let time = time::captured("the date", &self.date, time::arc)?;
        let (url, declared, truncated) = (self.url.clone(), None, Truncated::No);
        Ok(Captured { url, time, declared, truncated })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::tests::items;
    use crate::gzip::tests::gz;
    use crate::stream::tests::stream;
    use crate::{Payload, Record, digest};
    use proptest::prelude::*;

    const DESCRIPTION: &str = "filedesc://x.arc 0.0.0.0 20200101000000 text/plain 8\n1 0 Me\nX\n\n";

    fn record(url: &str, middle: &str, body: &str) -> String {
        let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n{body}");
        format!("{url} 192.0.2.1 20200101000000 {middle} {}\n{block}\n", block.len())
    }

    fn read(bytes: impl Into<Vec<u8>>) -> Vec<Item> {
        items(Cutter::<Arc>::new(stream(bytes), Default::default()))
    }

    fn texts(items: &[Item]) -> Vec<(String, String)> {
        items
            .iter()
            .filter_map(|item| match item {
                Item::Record(Record { payload: Payload::Text(document), url, .. }) => {
                    Some((url.clone(), document.text().to_owned()))
                }
                Item::Broken(broken) => Some(("broken".into(), broken.why.clone())),
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
        assert_eq!(items[0], Item::Passed("filedesc"));
        let Item::Record(record) = &items[1] else { panic!() };
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
        assert!(matches!(&cut[1], Item::Broken(b) if b.why.contains("ends")), "{cut:?}");
    }

    #[test]
    fn other_protocols_are_skipped() {
        let file = [DESCRIPTION, "dns:a 192.0.2.1 20200101000000 text/dns 3\nabc\n"].concat();
        assert_eq!(read(file)[1], Item::Passed("dns"));
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
            Header::parse(&line);
        }
    }
}
