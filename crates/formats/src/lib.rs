//! Reads pages from web archives, JSON lines and folders, for [simkeep].
//!
//! [`InputParts`] reads WARC, WET and ARC archives, JSON lines, and plain files, alone or in folders,
//! uncompressed or compressed with gzip or zstd. [`InputParts`] detects the format of a file from the
//! file's content, and returns [`SourceItem`]s. A [`VisitRecord`] is one visit to one page, with
//! its time, its status, its digest, and the text to fingerprint. HTML in any encoding is reduced
//! to its visible text.
//!
//! ```
//! use simkeep_formats::{InputParts, SourceItem, InputSource};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("pages.jsonl");
//! # let line = r#"{"url":"https://example.com/","t":"2024-05-01","text":"Some words."}"#;
//! # std::fs::write(&path, line)?;
//! let mut urls = Vec::new();
//! for chunk in InputParts::new([InputSource::Path(path)]).flatten() {
//!     chunk.items(|item| match item {
//!         SourceItem::Record(record) => urls.push(record.url),
//!         SourceItem::Broken(broken) => eprintln!("{}: {}", broken.at, broken.why),
//!         _ => {}
//!     });
//! }
//! assert_eq!(urls, ["https://example.com/"]);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! `examples/deduplicate.rs` observes all records, and reports copies and near-duplicates.
//!
//! # Two steps
//!
//! Reading has two steps, so that threads can share it. The first step *cuts*: [`InputParts`] processes
//! its sources in order and returns a [`SourceChunks`] for each archive, and for each run of pages.
//! A part is decompressed and cut into [`SourceChunk`]s of some records each. Only decompression
//! shows where a record ends, so one thread cuts a part. The second step *reads* the records of a
//! chunk ([`SourceChunk::items`]). Reading a chunk is independent of earlier chunks, so any thread
//! can do it.
//!
//! # Other JSON formats
//!
//! [`DocumentKeys`] maps the keys of other JSON formats, or the columns of Parquet files. Reading
//! Parquet requires the feature `parquet`.
//!
//! [`raw`] returns the lines of a corpus byte by byte, with the name of each document, to copy
//! them.
//!
//! # Folders
//!
//! Each file in a folder is a page, unless both its name and its content indicate an archive or
//! JSON lines. JSON lines in a folder must also begin with a record. The URL of a page in a folder
//! is the URL of its file.
//!
//! # Whole stores
//!
//! [`export`] writes a store as JSON lines, which [`InputParts`] reads like other JSON lines.
//!
//! # When to visit again
//!
//! [`rules`] reads recrawl rules for the pages under prefixes, and [`hints`] reads change times
//! from sitemaps, feeds and JSON lines.
//!
//! # Costs and broken input
//!
//! A part keeps only its current chunk in memory; a record has at most [`RECORD_BYTES_MAX`]
//! decompressed bytes. A broken record is also an item. The records after it are still read.

mod archive;
mod capture;
mod chunk;
mod compression;
mod content;
mod digest;
mod epoch;
pub mod escape;
pub mod export;
mod gzip;
pub mod hints;
mod http;
mod item;
mod jsonl;
mod keys;
pub mod lines;
mod not_json;
mod numbered;
mod object;
mod page;
#[cfg(feature = "parquet")]
mod parquet;
pub mod raw;
pub mod rules;
mod sniff;
mod stream;
mod surrogates;
mod time;
mod url;
mod visit;
mod walk;
mod window;
mod zstandard;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use simkeep::fingerprint::Document;

use archive::ArchiveCutter;
use archive::warc::Warc;
use chunk::RecordCut;
pub use chunk::SourceChunk;
pub use digest::{DeclaredDigest, of as digest, of_file as digest_of_file};
use escape::escape;
use item::RecordFault;
pub use item::{
    BrokenRecord, DigestClaim, InputQuery, InputQueryKind, RecordPayload, ResponseFacts,
    SourceItem, VisitRecord,
};
use item::{CaptureHeader, Truncation};
use jsonl::JsonLines;
pub use keys::{DocumentKeys, KeyPath};
use lines::LineCutter;
use page::PageFile;
use sniff::FileKind;
use stream::SourceStream;
pub use surrogates::with_whole_characters;
use url::Schemes;
use walk::{ExcludedFolder, FolderWalk, broken};
pub use zstandard::ZstdWindow;

/// The maximum number of decompressed bytes of a record, and of a body that is compressed within
/// the record.
pub const RECORD_BYTES_MAX: u64 = 64 << 20;

/// Parses a time: RFC 3339, a date or part of a date, or seconds since 1970. Eight digits that form
/// a date of the years 1900 to 2100, such as 20240501, are that date. Returns milliseconds
/// since 1970.
///
/// ```
/// assert_eq!(simkeep_formats::time("1970-01-02"), Some(86_400_000));
/// assert_eq!(simkeep_formats::time("1970-01-01T00:00:01Z"), Some(1_000));
/// assert_eq!(simkeep_formats::time("86400"), Some(86_400_000));
/// assert_eq!(simkeep_formats::time("yesterday"), None);
/// ```
pub fn time(text: &str) -> Option<i64> {
    time::parse(text).or_else(|| time::seconds(text.trim().parse().ok()?))
}

/// Returns the URL of a file or a folder, as used for pages of files: `file://` and the absolute
/// path, percent-encoded. `..` is resolved like the operating system resolves it, and symbolic
/// links are kept otherwise.
///
/// ```
/// assert_eq!(simkeep_formats::file_url("/srv/a b/".as_ref())?, "file:///srv/a%20b");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// Returns an error if the path is empty, or if `..` cannot be resolved.
pub fn file_url(path: &Path) -> io::Result<String> {
    page::url(path)
}

/// Returns the path of a file below a folder. `rest` is the part of the file's URL after the URL of
/// the folder and a slash. `None` if no file has a URL with exactly these bytes.
///
/// ```
/// assert_eq!(simkeep_formats::file_of("notes/a%20b.txt"), Some("notes/a b.txt".into()));
/// assert_eq!(simkeep_formats::file_of("notes/../../etc/passwd"), None);
/// ```
pub fn file_of(rest: &str) -> Option<PathBuf> {
    url::file_below(rest)
}

/// Reads a document like a page in a folder. HTML, detected by the extension of the name or by the
/// content, is reduced to its visible text with marks. `None` if the document is not text.
///
/// ```
/// let page = b"<title>Fish &amp; chips</title><p>Fresh <b>daily</b></p>";
/// let document = simkeep_formats::document("menu.html".as_ref(), page).unwrap();
/// assert_eq!(document.text(), "Fish & chips\nFresh daily");
/// assert!(simkeep_formats::document("logo.png".as_ref(), b"\x89PNG\r\n\x1a\n\0\0").is_none());
/// ```
pub fn document(path: &Path, document: &[u8]) -> Option<Document> {
    content::document(document, page::kind(path), content::Charset::default())
}

/// Returns the canonical URL that the header `Link` of a response declares (RFC 6596, RFC 8288): the
/// first target with the relation `canonical` that can be the URL of a web page. Targets are relative
/// to the page. Several headers are joined by commas.
///
/// ```
/// let link = "</menu.pdf>; rel=alternate, </menu>; rel=\"nofollow Canonical\"";
/// let canonical = simkeep_formats::canonical_in_link("https://example.com/menu?print", link);
/// assert_eq!(canonical.as_deref(), Some("https://example.com/menu"));
/// assert_eq!(simkeep_formats::canonical_in_link("https://example.com/", "</a>; rel=next"), None);
/// ```
pub fn canonical_in_link(page: &str, value: &str) -> Option<String> {
    simkeep::Target::first_url(page, None, http::canonicals(value))
}

/// Whether [`document`] reads these bytes as HTML, by the extension of the name or by the content.
///
/// ```
/// assert!(simkeep_formats::is_html("menu.html".as_ref(), b"Fresh fish"));
/// assert!(simkeep_formats::is_html("menu".as_ref(), b"<!doctype html><p>Fresh fish</p>"));
/// assert!(!simkeep_formats::is_html("menu.txt".as_ref(), b"Fresh fish"));
/// ```
pub fn is_html(path: &Path, document: &[u8]) -> bool {
    page::kind(path) == content::ContentKind::Html || content::is_html(document)
}

/// A source to read.
///
/// ```
/// use simkeep_formats::InputSource;
/// assert_eq!(InputSource::from_argument("-".as_ref()), InputSource::Stdin);
/// let source = InputSource::from_argument("crawl.warc.gz".as_ref());
/// assert_eq!(source, InputSource::Path("crawl.warc.gz".into()));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum InputSource {
    /// Standard input.
    Stdin,
    /// A file or a folder.
    Path(PathBuf),
}

impl InputSource {
    /// Returns the source of a command-line argument: `-` is standard input.
    pub fn from_argument(argument: &OsStr) -> InputSource {
        if argument == "-" { InputSource::Stdin } else { InputSource::Path(argument.into()) }
    }

    /// Whether the source is neither a file nor a folder, so that reading may have to wait for
    /// data.
    fn is_live(&self) -> bool {
        match self {
            InputSource::Stdin => !stdin_is_file(),
            InputSource::Path(path) => path.metadata().is_ok_and(|m| !m.is_file() && !m.is_dir()),
        }
    }

    /// Returns the number of bytes to read, as counted by [`InputParts::progress`]; `None` if the number
    /// is unknown. The call visits every file of a folder, so it may take a while.
    pub fn bytes(&self) -> Option<u64> {
        let InputSource::Path(path) = self else { return None };
        let metadata = path.metadata().ok()?;
        if metadata.is_dir() {
            let files = FolderWalk::new(path).ok()?.filter_map(Result::ok);
            Some(files.filter_map(|file| Some(file.metadata().ok()?.len())).sum())
        } else {
            metadata.is_file().then_some(metadata.len())
        }
    }
}

fn stdin_is_file() -> bool {
    use std::os::fd::AsFd;
    let stdin = io::stdin().as_fd().try_clone_to_owned().map(File::from);
    stdin.and_then(|stdin| stdin.metadata()).is_ok_and(|metadata| metadata.is_file())
}

/// Chunks to be read in order: the chunks of one archive, or of some pages.
///
/// ```
/// use simkeep_formats::{InputParts, InputSource, SourceChunks};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("pages.jsonl");
/// /// Counts the records of an archive, or of some pages.
/// fn count(part: SourceChunks) -> usize {
///     let mut count = 0;
///     part.for_each(|chunk| chunk.items(|_| count += 1));
///     count
/// }
///
/// # std::fs::write(&path, r#"{"url":"https://example.com/","t":1,"status":404}"#)?;
/// let parts = InputParts::new([InputSource::Path(path)]);
/// assert_eq!(parts.map(count).sum::<usize>(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type SourceChunks = Box<dyn Iterator<Item = SourceChunk> + Send>;

/// Reads the records of a stream that is not a file: an archive or JSON lines. `live` means that
/// reading may have to wait for data. If the start of the stream is broken, `expected` determines
/// the format, as an extension of a file name. Reads the first bytes of the stream.
///
/// ```
/// use std::io::Cursor;
/// use std::sync::Arc;
///
/// use simkeep_formats::{SourceItem, ZstdWindow, part};
///
/// // Bytes from a network, for example.
/// let bytes = Cursor::new(r#"{"url":"https://example.com/","t":1,"status":404}"#);
/// let (progress, window) = (Arc::default(), ZstdWindow::default());
/// for chunk in part("response 17", ".jsonl", Box::new(bytes), progress, window, false)? {
///     chunk.items(|item| {
///         assert!(matches!(item, SourceItem::Record(record) if record.status == Some(404)));
///     });
/// }
/// # Ok::<(), simkeep_formats::BrokenRecord>(())
/// ```
///
/// # Errors
///
/// Returns an error if the stream cannot be read, or is neither an archive nor JSON lines.
pub fn part(
    name: &str,
    expected: &str,
    bytes: Box<dyn Read + Send>,
    progress: Arc<AtomicU64>,
    zstd_window: ZstdWindow,
    live: bool,
) -> Result<SourceChunks, BrokenRecord> {
    let stream = SourceStream::unpacked(name, bytes, progress, zstd_window);
    part_of(
        stream.map_err(|e| broken(Path::new(name), &e))?.live(live),
        expected,
        ReadOptions::default(),
    )
}

/// The options for reading the records of a source.
#[derive(Clone, Default)]
struct ReadOptions {
    /// Custom keys, for JSON lines and Parquet files in other formats.
    keys: Option<Arc<DocumentKeys>>,
    /// The URL schemes of pages, for web archives.
    schemes: Arc<Schemes>,
    /// For JSON lines: records after this time are returned with their position.
    late: Option<i64>,
}

/// Reads the records of a stream that is not a file.
fn part_of(
    mut stream: SourceStream,
    expected: &str,
    reads: ReadOptions,
) -> Result<SourceChunks, BrokenRecord> {
    let kind = sniff::kind(&mut stream, Some(OsStr::new(expected)));
    // A stream has no URL, so it cannot be a page.
    if kind == FileKind::Page || (kind == FileKind::JsonLines && content::is_binary(stream.seen()))
    {
        let why =
            "the input is neither JSON lines nor a web archive; to read a page, pass its file";
        return Err(BrokenRecord { at: stream.name().to_string(), why: why.into() });
    }
    Ok(archive(kind, stream, reads))
}

/// Returns a part that reports a source as not readable.
fn refused(stream: &SourceStream, why: &str) -> SourceChunks {
    let refused = BrokenRecord { at: stream.name().to_string(), why: why.to_owned() };
    Box::new(std::iter::once(SourceChunk::of(RecordCut::Clear(SourceItem::Refused(refused)))))
}

fn archive(kind: FileKind, stream: SourceStream, reads: ReadOptions) -> SourceChunks {
    match kind {
        FileKind::Index => {
            let why = "the file is a CDXJ index, which has no text; read the WARC files that it lists instead";
            refused(&stream, why)
        }
        FileKind::CsvExport => {
            let why = "the file is a CSV export, which cannot be read back; export JSON lines instead \
                       (simkeep export -o FILE.jsonl), and read them with simkeep load";
            refused(&stream, why)
        }
        FileKind::Parquet if cfg!(feature = "parquet") => refused(
            &stream,
            "the input is a Parquet file that is compressed or in a pipe; pass the uncompressed file",
        ),
        FileKind::Parquet => {
            let why = "this is a Parquet file; simkeep reads Parquet if it is built with `--features parquet`";
            refused(&stream, why)
        }
        FileKind::Warc => Box::new(ArchiveCutter::<Warc>::new(stream, reads.schemes)),
        FileKind::Arc => Box::new(ArchiveCutter::<archive::arc::Arc>::new(stream, reads.schemes)),
        // This function is never called for a page, since a page is not an archive.
        FileKind::JsonLines | FileKind::Page => {
            let ReadOptions { keys, late, .. } = reads;
            let chunk = move |lines| {
                SourceChunk::of(RecordCut::unread(JsonLines { lines, keys: keys.clone(), late }))
            };
            Box::new(LineCutter::new(stream).map(chunk))
        }
    }
}

/// All parts of some sources, in order. The same files always give the same parts.
///
/// A source that cannot be opened becomes an [`SourceItem::Broken`], and the next source is read.
///
/// ```
/// use simkeep_formats::{InputParts, InputSource, SourceItem};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("pages.jsonl");
/// let pages = folder.path().join("pages");
/// std::fs::create_dir(&pages)?;
/// std::fs::write(pages.join("menu.html"), "<p>Fresh fish and chips daily</p>")?;
/// std::fs::write(pages.join("terms.txt"), "You may use this site if you behave well.")?;
/// // Each file of a folder is a page.
/// let mut urls = Vec::new();
/// for chunk in InputParts::new([InputSource::Path(pages)]).flatten() {
///     chunk.items(|item| {
///         let SourceItem::Record(record) = item else { panic!("{item:?}") };
///         urls.push(record.url);
///     });
/// }
/// assert!(urls[0].starts_with("file:///") && urls[0].ends_with("/pages/menu.html"));
/// assert_eq!(urls.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct InputParts {
    sources: VecDeque<InputSource>,
    /// A folder that is skipped within other folders.
    except: Option<ExcludedFolder>,
    zstd_window: ZstdWindow,
    reads: ReadOptions,
    /// The folder that is being walked.
    walk: Option<FolderWalk>,
    /// Pages that come before `next`.
    pages: SourceChunk,
    /// The next archive.
    next: Option<SourceChunks>,
    progress: Arc<AtomicU64>,
    walk_failed: Arc<AtomicBool>,
}

/// An opened file.
enum OpenedSource {
    Archive(SourceChunks),
    /// A page, or the reason why it cannot be read.
    Cut(RecordCut),
}

impl InputParts {
    /// Creates an input of these sources. Opens no source yet.
    pub fn new(sources: impl IntoIterator<Item = InputSource>) -> InputParts {
        InputParts {
            sources: sources.into_iter().collect(),
            except: None,
            zstd_window: ZstdWindow::default(),
            reads: ReadOptions::default(),
            walk: None,
            pages: SourceChunk::default(),
            next: None,
            progress: Arc::default(),
            walk_failed: Arc::default(),
        }
    }

    /// Skips this folder if it lies within a folder that is read.
    pub fn except(mut self, folder: &Path) -> InputParts {
        self.except = Some(ExcludedFolder::new(folder));
        self
    }

    /// Allows zstd frames with windows up to this size.
    pub fn zstd_window(self, zstd_window: ZstdWindow) -> InputParts {
        InputParts { zstd_window, ..self }
    }

    /// Reads JSON lines, except exports, and Parquet files with custom keys.
    pub fn keys(mut self, keys: DocumentKeys) -> InputParts {
        self.reads.keys = Some(Arc::new(keys));
        self
    }

    /// Treats records of web archives with these URL schemes as pages, in addition to `http`,
    /// `https` and `file`.
    pub fn schemes(mut self, schemes: impl IntoIterator<Item = String>) -> InputParts {
        Arc::make_mut(&mut self.reads.schemes).add(schemes);
        self
    }

    /// Returns records of JSON lines after this time, in milliseconds since 1970, as
    /// [`SourceItem::Late`].
    pub fn late(mut self, time: Option<i64>) -> InputParts {
        self.reads.late = time;
        self
    }

    /// Returns the number of (compressed) bytes read so far, as a counter that other threads may
    /// read.
    pub fn progress(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.progress)
    }

    /// Returns a flag that is set if a folder, or an entry of a folder, could not be read. Other
    /// threads may read the flag. The flag is final when there are no more parts.
    pub fn walk_failed(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.walk_failed)
    }

    /// Whether the current source is not a file, so that reading may have to wait for data.
    pub fn is_live(&self) -> bool {
        self.sources.iter().any(InputSource::is_live)
    }

    /// Opens a source, or begins to walk a folder.
    fn open(&mut self, source: InputSource) -> Result<Option<OpenedSource>, BrokenRecord> {
        let live = source.is_live();
        match source {
            InputSource::Stdin => {
                let (name, stdin) = ("standard input", Box::new(io::stdin()));
                let stream = SourceStream::unpacked(name, stdin, self.progress(), self.zstd_window);
                let stream = stream.map_err(|e| broken(Path::new(name), &e))?.live(live);
                let part = part_of(stream, ".jsonl", self.reads.clone())?;
                Ok(Some(OpenedSource::Archive(part)))
            }
            InputSource::Path(path) if path.is_dir() => {
                self.walk = Some(FolderWalk::new(&path)?.except(self.except.clone()));
                Ok(None)
            }
            InputSource::Path(path) => {
                let file = File::open(&path).map_err(|e| broken(&path, &e))?;
                let metadata = file.metadata().map_err(|e| broken(&path, &e))?;
                let name = path.to_string_lossy();
                let stream = self.unpacked(&name, file).map_err(|e| broken(&path, &e))?;
                let mut stream = stream.live(live);
                Ok(Some(match sniff::kind(&mut stream, path.file_name()) {
                    FileKind::Page => OpenedSource::Cut(RecordCut::unread(PageFile::opened(
                        path, metadata, stream,
                    ))),
                    #[cfg(feature = "parquet")]
                    FileKind::Parquet if metadata.is_file() => {
                        OpenedSource::Archive(self.parquet(&path)?)
                    }
                    kind => OpenedSource::Archive(archive(kind, stream, self.reads.clone())),
                }))
            }
        }
    }

    fn unpacked(&self, name: &str, file: File) -> io::Result<SourceStream> {
        SourceStream::unpacked(name, Box::new(file), self.progress(), self.zstd_window)
    }

    #[cfg(feature = "parquet")]
    fn parquet(&self, path: &Path) -> Result<SourceChunks, BrokenRecord> {
        parquet::open(path, self.reads.keys.clone().unwrap_or_default(), self.progress())
    }

    /// Opens a file in a folder.
    fn open_within(&self, path: PathBuf) -> Result<OpenedSource, BrokenRecord> {
        if let Some(promised) = path.file_name().and_then(sniff::by_name) {
            let file = File::open(&path).map_err(|e| broken(&path, &e))?;
            let name = path.to_string_lossy();
            let mut stream = self.unpacked(&name, file).map_err(|e| broken(&path, &e))?;
            if sniff::kind(&mut stream, path.file_name()) == promised
                && (promised != FileKind::JsonLines
                    || sniff::holds_records(&mut stream, self.reads.keys.as_deref()))
            {
                match promised {
                    #[cfg(feature = "parquet")]
                    FileKind::Parquet => return Ok(OpenedSource::Archive(self.parquet(&path)?)),
                    // Parquet files in folders cannot be read, but the rest of the folder is still
                    // read.
                    #[cfg(not(feature = "parquet"))]
                    FileKind::Parquet => {}
                    _ => {
                        let reads = self.reads.clone();
                        return Ok(OpenedSource::Archive(archive(promised, stream, reads)));
                    }
                }
            }
        }
        Ok(OpenedSource::Cut(RecordCut::unread(PageFile::plain(path, self.progress()))))
    }

    /// Returns the collected pages.
    fn take_pages(&mut self) -> SourceChunks {
        Box::new(std::iter::once(std::mem::take(&mut self.pages)))
    }
}

impl Iterator for InputParts {
    type Item = SourceChunks;

    fn next(&mut self) -> Option<SourceChunks> {
        if let Some(part) = self.next.take() {
            return Some(part);
        }
        while !self.pages.is_full() {
            let opened = match self.walk.as_mut().and_then(Iterator::next) {
                Some(Ok(path)) => self.open_within(path).map(Some).map_err(SourceItem::Broken),
                Some(Err(skipped)) => Err(SourceItem::from(skipped)),
                None => {
                    self.walk = None;
                    match self.sources.pop_front() {
                        Some(source) => self.open(source).map_err(SourceItem::Broken),
                        None if self.pages.is_empty() => return None,
                        None => break,
                    }
                }
            };
            match opened {
                Ok(None) => {}
                Ok(Some(OpenedSource::Cut(cut))) => self.pages.push(cut),
                Err(item) => {
                    let is_broken = matches!(item, SourceItem::Broken(_));
                    self.walk_failed.fetch_or(is_broken, Ordering::Relaxed);
                    self.pages.push(RecordCut::Clear(item));
                }
                Ok(Some(OpenedSource::Archive(part))) if self.pages.is_empty() => {
                    return Some(part);
                }
                Ok(Some(OpenedSource::Archive(part))) => {
                    self.next = Some(part);
                    break;
                }
            }
        }
        Some(self.take_pages())
    }
}
