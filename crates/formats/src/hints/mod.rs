//! What sitemaps, feeds and JSON lines say of when pages changed.
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
//! # Ok::<(), simkeep_formats::Broken>(())
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

use super::compression::Packing;
use super::compression::is_packed;
use super::numbered::without_marks;
use super::stream::Stream;
use super::{Broken, ZstdWindow, escape};
use lines::HintLines;
use sitemap::Sitemap;

/// A page that somebody says has changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Hint {
    /// The page. A store accepts its URL.
    pub url: String,
    /// When it changed, in milliseconds since 1970.
    pub modified: i64,
}

/// The hints in a file, in its order, and what in it is broken.
///
/// After a broken record the next one is read. Nothing more comes after packed bytes that are damaged.
///
/// Memory does not grow with the file. A line of JSON has at most 64 KiB, and of a text in XML 128 KiB
/// are looked at. A record in which elements nest more than 100 deep is broken.
pub struct Hints(Box<dyn Iterator<Item = Result<Hint, Broken>> + Send>);

/// How many bytes tell what a file is.
const SNIFFED_BYTES: usize = 4 << 10;
/// The most bytes that are read of a file that is packed twice: twenty times what a sitemap may have.
const PACKED_TWICE_BYTES_MAX: u64 = 1 << 30;

/// Opens a file of hints, which may be compressed; `-` is standard input. Reads its first bytes, whose
/// content decides what the file is:
///
/// - JSON lines with `url` and `modified`. Other keys are ignored.
/// - A sitemap of the [protocol](https://www.sitemaps.org/protocol.html) 0.9: `loc` and `lastmod` of
///   each `url`, or without that the `publication_date` of its news.
/// - An Atom feed, or an Atom entry by itself: the alternate `link` of each `entry`, or else the `src`
///   of its `content`; and `updated` or else `published`. If there are several alternate links, those to
///   HTML count, or to what does not say its type: one of each language, up to 16.
/// - An RSS feed, 0.90 to 2.0: `link` of each `item`, or a `guid` that is a URL, or in RSS 1.0 what the
///   item is about; and `pubDate`, or else a date of Dublin Core or of Atom.
///
/// A time is a [W3C datetime](https://www.w3.org/TR/NOTE-datetime), one of RFC 822, or near either,
/// such as `2024-02-01 10:00:00 +0100`; in JSON also seconds since 1970. A time without a time of day
/// is taken for the beginning of its day, month or year, and one without a zone for UTC. What has no
/// time says nothing and is passed over.
///
/// XML need not be well formed: what cannot be markup is text, and a bare `&` stands for itself. The
/// [names of HTML](https://html.spec.whatwg.org/multipage/named-characters.html) for characters are
/// known, such as `&eacute;`, if they end with a `;`; any other name stands for itself. XML may be in
/// any encoding of the [Encoding Standard](https://encoding.spec.whatwg.org/) that it declares, or in
/// UTF-16. A document type may be there, but its entities are not expanded, and nothing that it names
/// is read; where it declares entities, a URL that refers to any is broken.
///
/// An absolute URL stays as it is written. A relative URL in a feed is resolved by the `xml:base` in
/// force. Where there is none, and where that is relative, the base is the feed's `self` link, or
/// else its `alternate` link or the `link` of its channel, if that is absolute and comes before the
/// record. The result is written as browsers write it (the [URL
/// Standard](https://url.spec.whatwg.org/)): `é` is `%C3%A9`. The URLs of a sitemap must be absolute,
/// and so must a `guid`. A relative URL that has no base, or one of more than 2 KiB, is broken.
///
/// A file that is packed may contain one that is packed again, of up to 1 GiB. No more is unpacked.
///
/// # Errors
///
/// If the file cannot be read, is empty, or is none of these. A list of URLs, as a sitemap may be, is
/// none, since it has no times.
pub fn open(path: &Path, zstd_window: ZstdWindow) -> Result<Hints, Broken> {
    let stream = Stream::open(path, zstd_window);
    Hints::new(stream.map_err(|e| Broken::source(&path.to_string_lossy(), &e))?, zstd_window)
}

/// Reads hints that are not in a file, as [`open`] does.
///
/// # Errors
///
/// Those of [`open`].
pub fn read(
    name: &str,
    bytes: Box<dyn Read + Send>,
    zstd_window: ZstdWindow,
) -> Result<Hints, Broken> {
    let stream = Stream::unpacked(name, bytes, Arc::default(), zstd_window);
    Hints::new(stream.map_err(|e| Broken::source(name, &e))?, zstd_window)
}

impl Hints {
    fn new(mut stream: Stream, zstd_window: ZstdWindow) -> Result<Hints, Broken> {
        // Some servers pack a file that is packed already.
        if stream.packing() != Packing::Plain && is_packed(stream.look_ahead(SNIFFED_BYTES)) {
            let name = stream.name();
            let again = stream.unpacked_again(PACKED_TWICE_BYTES_MAX, zstd_window);
            stream =
                again.map_err(|e| Broken { at: name.to_string(), why: escape(&e.to_string()) })?;
        }
        let start = stream.look_ahead(SNIFFED_BYTES);
        if encoding::is_xml(start) {
            return Ok(Hints(Box::new(Sitemap::new(stream))));
        }
        match without_marks(start).first() {
            Some(b'{') => Ok(Hints(Box::new(HintLines::new(stream)))),
            None if start.len() < SNIFFED_BYTES => {
                let at = stream.name().to_string();
                let mut lines = HintLines::new(stream).peekable();
                // A file that cannot be read says so itself.
                match lines.peek() {
                    Some(_) => Ok(Hints(Box::new(lines))),
                    None => Err(Broken { at, why: "it is empty".into() }),
                }
            }
            _ => {
                let text = without_marks(start);
                let is_list = text.starts_with(b"http://") || text.starts_with(b"https://");
                let why = match is_list {
                    true => "it is a list of URLs, which does not say when they changed",
                    false => "neither JSON lines nor a sitemap nor a feed",
                };
                Err(Broken { at: stream.name().to_string(), why: why.into() })
            }
        }
    }
}

impl Iterator for Hints {
    type Item = Result<Hint, Broken>;

    fn next(&mut self) -> Option<Result<Hint, Broken>> {
        self.0.next()
    }
}

#[cfg(test)]
mod tests;
