//! ARC archives, versions 1 and 2.

use super::block::{Block, Content};
use super::chunk::{Chunk, Cut};
use super::stream::{At, Line, Place, Stream};
use super::url::{Method, Schemes};
use super::{Broken, Captured, Fault, Item, Truncated, escape, time, url};

const LINE_BYTES_MAX: usize = 64 << 10;

/// Cuts an ARC file into its records.
///
/// A record is a line and as many bytes as it says. Since nothing else marks one, a broken line
/// costs all up to the next that is whole.
pub(super) struct Arc {
    stream: Stream,
    /// Where the next record begins is unknown: what comes before it has been reported.
    lost: bool,
    line: Vec<u8>,
    schemes: std::sync::Arc<Schemes>,
}

/// A record's line: `URL IP date type … length`.
struct Header<'a> {
    /// It may have spaces in it.
    url: &'a str,
    date: &'a str,
    length: &'a str,
}

impl<'a> Header<'a> {
    /// Version 1 has the type between date and length, version 2 six fields more, and types may
    /// have spaces in them as well; so the date, which follows an address, tells where the URL ends.
    fn parse(line: &'a str) -> Option<Header<'a>> {
        let (mut front, length) = line.rsplit_once(' ')?;
        // The first one: what follows may look like it, as an offset behind a `-` does.
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

impl Arc {
    /// Cuts a stream, in which URLs of these schemes name pages.
    pub(super) fn new(stream: Stream, schemes: std::sync::Arc<Schemes>) -> Arc {
        Arc { stream, lost: false, line: Vec::new(), schemes }
    }

    /// Reads the next line that is not empty, and says where it is; `None` at the end.
    fn begin(&mut self) -> Result<Option<Place>, (Place, Fault)> {
        loop {
            let place = self.stream.place();
            let end = self.stream.line(&mut self.line, LINE_BYTES_MAX);
            match end.map_err(|e| (place, e.into()))? {
                Line::End => return Ok(None),
                _ if self.line.trim_ascii().is_empty() => {}
                Line::Whole
                    if std::str::from_utf8(&self.line)
                        .is_ok_and(|l| Header::parse(l).is_some()) =>
                {
                    return Ok(Some(place));
                }
                _ if self.lost => {}
                _ => {
                    let found = escape(&String::from_utf8_lossy(&self.line));
                    let why = format!("no record begins here, but \"{found}\"");
                    return Err((place, Fault::Lost(why)));
                }
            }
        }
    }

    /// Cuts the record whose line has been read, at this place.
    fn record(&mut self, place: Place) -> Result<Cut, Fault> {
        let line = String::from_utf8_lossy(&self.line).into_owned();
        let Some(header) = Header::parse(&line) else {
            return Err(Fault::Lost("not the line of a record".into()));
        };
        let is_description = header.url.starts_with("filedesc:");
        let Ok(length) = header.length.parse() else {
            if is_description {
                // What it describes is of no use here; the next record is found without it.
                self.lost = true;
                return Ok(Cut::Clear(Item::Passed("filedesc")));
            }
            let why = format!("the length is \"{}\"", escape(header.length));
            return Err(Fault::Lost(named(header.url, &why)));
        };
        self.lost = false;
        let of_method = || Method::in_url(header.url).and_then(Method::passed);
        let passed = match is_description {
            true => Some("filedesc"),
            false => self.schemes.passed(header.url).or_else(of_method),
        };
        let content = self.content(length, passed).map_err(|fault| match fault {
            Fault::Record(why) => Fault::Record(named(header.url, &why)),
            Fault::Lost(why) => Fault::Lost(named(header.url, &why)),
        })?;
        let content = match content {
            Ok(content) => content,
            Err(passed) => return Ok(Cut::Clear(Item::Passed(passed))),
        };
        let at = self.stream.at(place);
        let (url, date) = (header.url.to_owned(), header.date.to_owned());
        Ok(Cut::Arc(ArcRecord { at, url, date, content }))
    }

    /// The content of a record, or why it is no visit.
    fn content(
        &mut self,
        length: u64,
        passed: Option<&'static str>,
    ) -> Result<Result<Content, &'static str>, Fault> {
        let block = Block::new(&mut self.stream, length);
        let content = match passed {
            None => Ok(block.hold()?),
            Some(passed) => {
                block.skip()?;
                Err(passed)
            }
        };
        // Damage to a packed record often shows only in the checksum behind it.
        self.stream.settle()?;
        Ok(content)
    }
}

/// A record of an ARC archive, cut and not read yet.
pub(super) struct ArcRecord {
    at: At,
    url: String,
    date: String,
    content: Content,
}

impl ArcRecord {
    /// The bytes that it holds.
    pub(super) fn bytes(&self) -> usize {
        self.url.len() + self.content.bytes.len()
    }

    /// Reads it.
    pub(super) fn read(self) -> Item {
        let item = self.capture().and_then(|capture| capture.response(&self.content));
        item.unwrap_or_else(|why| {
            Item::Broken(Broken { at: self.at.to_string(), why: named(&self.url, &why) })
        })
    }

    fn capture(&self) -> Result<Captured, String> {
        url::check(&self.url)?;
        let time = time::captured("the date", &self.date, time::arc)?;
        let (url, declared, truncated) = (self.url.clone(), None, Truncated::No);
        Ok(Captured { url, time, declared, truncated })
    }
}

/// What is to be said of a record, with its URL.
fn named(url: &str, why: &str) -> String {
    format!("{}: {why}", escape(url))
}

impl Arc {
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

impl Iterator for Arc {
    type Item = Chunk;

    fn next(&mut self) -> Option<Chunk> {
        Chunk::gather(self.stream.is_live(), || self.cut())
    }
}

#[cfg(test)]
mod tests {
    use super::super::gzip::tests::gz;
    use super::super::stream::tests::stream;
    use super::super::{Payload, Record, chunk::tests::items, digest};
    use super::*;
    use proptest::prelude::*;

    const DESCRIPTION: &str = "filedesc://x.arc 0.0.0.0 20200101000000 text/plain 8\n1 0 Me\nX\n\n";

    fn record(url: &str, middle: &str, body: &str) -> String {
        let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n{body}");
        format!("{url} 192.0.2.1 20200101000000 {middle} {}\n{block}\n", block.len())
    }

    fn read(bytes: impl Into<Vec<u8>>) -> Vec<Item> {
        items(Arc::new(stream(bytes), Default::default()))
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
    fn both_versions_are_read_and_urls_may_have_spaces() {
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
    fn a_broken_record_costs_itself() {
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
    fn other_protocols_are_passed_over() {
        let file = [DESCRIPTION, "dns:a 192.0.2.1 20200101000000 text/dns 3\nabc\n"].concat();
        assert_eq!(read(file)[1], Item::Passed("dns"));
    }

    proptest! {
        #[test]
        fn no_file_panics_or_runs_for_ever(
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
