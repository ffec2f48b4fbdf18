//! Hints: times when pages changed, from sitemaps, feeds and JSON lines.
//!
//! ```
//! use std::io::Cursor;
//!
//! use simkeep_formats::{ZstdWindow, hints};
//!
//! let sitemap = r#"<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
//!     <url><loc>https://example.com/</loc><lastmod>1970-01-02</lastmod></url>
//!     <url><loc>https://example.com/about</loc></url>
//! </urlset>"#;
//! let found = hints::read("sitemap.xml", Box::new(Cursor::new(sitemap)), ZstdWindow::default())?;
//! let found: Vec<_> = found.collect::<Result<_, _>>()?;
//! assert_eq!((found.len(), found[0].modified), (1, 86_400_000));
//! # Ok::<(), simkeep_formats::BrokenRecord>(())
//! ```

mod base;
mod date;
mod encoding;
mod field;
mod form;
mod lines;
mod link;
mod markup;
mod record;
mod sitemap;

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use super::compression::FileCompression;
use super::compression::is_packed;
use super::numbered::without_marks;
use super::stream::SourceStream;
use super::{BrokenRecord, ZstdWindow, escape};
use lines::HintLines;
use sitemap::FeedReader;

/// A page with a reported change.
///
/// ```
/// use std::io::Cursor;
///
/// use simkeep_formats::{ZstdWindow, hints};
///
/// let feed = r#"<rss version="2.0"><channel><item>
///     <link>https://example.com/news/1</link><pubDate>Fri, 02 Jan 1970 00:00:00 GMT</pubDate>
/// </item></channel></rss>"#;
/// let mut found = hints::read("feed.xml", Box::new(Cursor::new(feed)), ZstdWindow::default())?;
/// let hint = found.next().unwrap()?;
/// assert_eq!((hint.url.as_str(), hint.modified), ("https://example.com/news/1", 86_400_000));
/// # Ok::<(), simkeep_formats::BrokenRecord>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Hint {
    /// The URL of the page, valid for a store.
    pub url: String,
    /// The time of the change, in milliseconds since 1970.
    pub modified: i64,
}

/// The hints in a file in order, and the broken records.
///
/// After a broken record the next record is read. Damaged compression ends the file.
///
/// Memory does not grow with the file. A line of JSON has at most 64 KiB, and only the first 128
/// KiB of a text in XML are read. A record with elements nested more than 100 deep is broken.
///
/// ```
/// use std::io::Cursor;
///
/// use simkeep_formats::{ZstdWindow, hints};
///
/// let lines = r#"{"url":"https://example.com/","modified":"2024-05-01"}
/// {"url":"https://example.com/news","modified":"yesterday"}"#;
/// let found = hints::read("hints.jsonl", Box::new(Cursor::new(lines)), ZstdWindow::default())?;
/// for hint in found {
///     match hint {
///         Ok(hint) => assert_eq!(hint.url, "https://example.com/"),
///         Err(broken) => assert_eq!(broken.at, "hints.jsonl, line 2"),
///     }
/// }
/// # Ok::<(), simkeep_formats::BrokenRecord>(())
/// ```
pub struct HintReader(Box<dyn Iterator<Item = Result<Hint, BrokenRecord>> + Send>);

/// The number of bytes that determine the format of a file.
const SNIFFED_BYTES: usize = 4 << 10;
/// The maximum number of bytes read from a doubly compressed file: twenty times the limit of a
/// sitemap.
const PACKED_TWICE_BYTES_MAX: u64 = 1 << 30;

/// Opens a file of hints, which may be compressed; `-` is standard input. Reads the first bytes,
/// which determine the format of the file:
///
/// - JSON lines with `url` and `modified`. Other keys are ignored.
/// - A sitemap of the [protocol](https://www.sitemaps.org/protocol.html) 0.9: `loc` and `lastmod`
///   of each `url`, or else the `publication_date` of its news.
/// - An Atom feed, or a single Atom entry: the alternate `link` of each `entry`, or else the `src`
///   of its `content`; and `updated` or else `published`. Of several alternate links, the links to
///   HTML or without a type are used: one for each language, up to 16.
/// - An RSS feed, 0.90 to 2.0: `link` of each `item`, or a `guid` that is a URL, or in RSS 1.0 the
///   `about` of the item; and `pubDate`, or else a date of Dublin Core or of Atom.
///
/// A time has the form of a [W3C datetime](https://www.w3.org/TR/NOTE-datetime), the form of RFC
/// 822, or a similar form, for example `2024-02-01 10:00:00 +0100`. In JSON, a time may also be in
/// seconds since 1970. A time without a time of day is the beginning of its day, month or year, and
/// a time without a zone is in UTC. Records without a time are skipped.
///
/// XML need not be well formed: invalid markup is text, and a bare `&` is literal. The [names of
/// HTML](https://html.spec.whatwg.org/multipage/named-characters.html) for characters are resolved
/// if they end with a `;`, for example `&eacute;`. Any other name is literal. XML may be in any
/// encoding of the [Encoding Standard](https://encoding.spec.whatwg.org/) that it declares, or in
/// UTF-16. A document type is allowed, but its entities are not expanded, and no file that it names
/// is read. If a document type declares entities, a URL that refers to an entity is broken.
///
/// An absolute URL stays as written. A relative URL in a feed is resolved by the `xml:base` in
/// force. If there is no `xml:base`, or if it is relative, the base is the feed's `self` link, or
/// else its `alternate` link or the `link` of its channel. The link must be absolute and come
/// before the record. The resolved URL is normalised as in browsers (the [URL
/// Standard](https://url.spec.whatwg.org/)): `é` is `%C3%A9`. The URLs of a sitemap must be
/// absolute, and so must a `guid`. A relative URL without a base, or with more than 2 KiB, is
/// broken.
///
/// A compressed file may contain another compressed file of up to 1 GiB, but no deeper nesting.
///
/// ```
/// use simkeep_formats::{ZstdWindow, hints};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("hints.jsonl");
/// std::fs::write(&path, r#"{"url":"https://example.com/","modified":"1970-01-02"}"#).unwrap();
/// let hint = hints::open(&path, ZstdWindow::default())?.next().unwrap()?;
/// assert_eq!((hint.url.as_str(), hint.modified), ("https://example.com/", 86_400_000));
/// # Ok::<(), simkeep_formats::BrokenRecord>(())
/// ```
///
/// # Errors
///
/// Returns an error if the file cannot be read, is empty, or has none of these formats. A plain
/// list of URLs, which the sitemap protocol also allows, is not accepted, since it has no times.
pub fn open(path: &Path, zstd_window: ZstdWindow) -> Result<HintReader, BrokenRecord> {
    let stream = SourceStream::open(path, zstd_window);
    HintReader::new(
        stream.map_err(|e| BrokenRecord::source(&path.to_string_lossy(), &e))?,
        zstd_window,
    )
}

/// Reads hints from a reader. See [`open`].
///
/// # Errors
///
/// Returns the errors of [`open`].
pub fn read(
    name: &str,
    bytes: Box<dyn Read + Send>,
    zstd_window: ZstdWindow,
) -> Result<HintReader, BrokenRecord> {
    let stream = SourceStream::unpacked(name, bytes, Arc::default(), zstd_window);
    HintReader::new(stream.map_err(|e| BrokenRecord::source(name, &e))?, zstd_window)
}

impl HintReader {
    fn new(mut stream: SourceStream, zstd_window: ZstdWindow) -> Result<HintReader, BrokenRecord> {
        // Some servers compress a file that is already compressed.
        if stream.packing() != FileCompression::Plain && is_packed(stream.look_ahead(SNIFFED_BYTES))
        {
            let name = stream.name();
            let again = stream.unpacked_again(PACKED_TWICE_BYTES_MAX, zstd_window);
            stream = again
                .map_err(|e| BrokenRecord { at: name.to_string(), why: escape(&e.to_string()) })?;
        }
        let start = stream.look_ahead(SNIFFED_BYTES);
        if encoding::is_xml(start) {
            return Ok(HintReader(Box::new(FeedReader::new(stream))));
        }
        match without_marks(start).first() {
            Some(b'{') => Ok(HintReader(Box::new(HintLines::new(stream)))),
            None if start.len() < SNIFFED_BYTES => {
                let at = stream.name().to_string();
                let mut lines = HintLines::new(stream).peekable();
                // The lines report a file that cannot be read.
                match lines.peek() {
                    Some(_) => Ok(HintReader(Box::new(lines))),
                    None => Err(BrokenRecord { at, why: "the file is empty".into() }),
                }
            }
            _ => {
                let text = without_marks(start);
                let is_list = text.starts_with(b"http://") || text.starts_with(b"https://");
                let why = match is_list {
                    true => {
                        "the file is a list of URLs without times; a hint needs the time when the page changed"
                    }
                    false => "the file is neither JSON lines nor a sitemap nor a feed",
                };
                Err(BrokenRecord { at: stream.name().to_string(), why: why.into() })
            }
        }
    }
}

impl Iterator for HintReader {
    type Item = Result<Hint, BrokenRecord>;

    fn next(&mut self) -> Option<Result<Hint, BrokenRecord>> {
        self.0.next()
    }
}

#[cfg(test)]
mod tests;
