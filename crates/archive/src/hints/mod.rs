//! What sitemaps, feeds and JSON lines say of when pages changed.
//!
//! ```
//! use std::io::Cursor;
//!
//! use simkeep_archive::{ZstdWindow, hints};
//!
//! let sitemap = r#"<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
//!     <url><loc>https://example.com/</loc><lastmod>1970-01-02</lastmod></url>
//!     <url><loc>https://example.com/about</loc></url>
//! </urlset>"#;
//! let found = hints::read("sitemap.xml", Box::new(Cursor::new(sitemap)), ZstdWindow::default())?;
//! let found: Vec<_> = found.collect::<Result<_, _>>()?;
//! assert_eq!((found.len(), found[0].modified), (1, 86_400_000));
//! # Ok::<(), simkeep_archive::Broken>(())
//! ```

mod lines;
mod sitemap;
mod xml;

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use super::stream::Stream;
use super::{Broken, ZstdWindow};
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
/// After a broken record the next one is read. After XML that is not well formed, or not taken, nothing
/// more comes.
///
/// Memory does not grow with the file. A line of JSON has at most 64 KiB, a text or a tag of XML at most
/// 1 MiB, and elements nest at most 100 deep; what goes beyond is broken.
pub struct Hints(Box<dyn Iterator<Item = Result<Hint, Broken>> + Send>);

/// How many bytes tell what a file is.
const SNIFFED_BYTES: usize = 4 << 10;

/// Opens a file of hints, which may be compressed; `-` is standard input. Reads its first bytes.
///
/// What it is, its content tells:
///
/// - JSON lines with `url`, and `modified` in RFC 3339, as a date, or in seconds since 1970. Other keys
///   are ignored.
/// - A sitemap of the [protocol](https://www.sitemaps.org/protocol.html) 0.9: `loc` and `lastmod` of
///   each `url`. A `lastmod` is a [W3C datetime](https://www.w3.org/TR/NOTE-datetime); one without a
///   time of day is taken for the beginning of that day, month or year.
/// - An Atom feed: the alternate `link` and `updated` of each `entry`; or an RSS 2.0 feed: `link` and
///   `pubDate` of each `item`.
///
/// What has no time says nothing and is passed over. XML must be in UTF-8. It is refused if it has a
/// document type, or an entity other than XML's own five.
///
/// # Errors
///
/// If the file cannot be read, or is none of these.
pub fn open(path: &Path, zstd_window: ZstdWindow) -> Result<Hints, Broken> {
    let stream = Stream::open(path, zstd_window);
    Hints::new(stream.map_err(|e| Broken::source(&path.to_string_lossy(), &e))?)
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
    Hints::new(stream.map_err(|e| Broken::source(name, &e))?)
}

impl Hints {
    fn new(mut stream: Stream) -> Result<Hints, Broken> {
        let start = stream.look_ahead(SNIFFED_BYTES);
        let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
        match text.first() {
            Some(b'<') => Ok(Hints(Box::new(Sitemap::new(stream)))),
            Some(b'{') => Ok(Hints(Box::new(HintLines::new(stream)))),
            // A file that cannot be read says so itself.
            None if start.len() < SNIFFED_BYTES => Ok(Hints(Box::new(HintLines::new(stream)))),
            _ => {
                let why = "neither JSON lines nor a sitemap nor a feed".into();
                Err(Broken { at: stream.name().to_string(), why })
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
