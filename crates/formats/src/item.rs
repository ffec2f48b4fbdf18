//! The items that reading a source returns.

use std::io;

use simkeep::fingerprint::Document;
use simkeep::{Digest, EpochOptions, FetchFailure, Target, Weight};

use super::digest::DeclaredDigest;
use super::escape;
use super::export::ExportLine;

/// The content of a record about its page.
///
/// ```
/// use simkeep_formats::{InputParts, InputSource, RecordPayload, SourceItem};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("pages.jsonl");
/// let lines = [
///     r#"{"url":"https://example.com/","t":"2024-05-01","text":"Fresh fish and chips daily."}"#,
///     r#"{"url":"https://example.com/","t":"2024-05-02","fingerprint":"00000000000000ff"}"#,
///     r#"{"url":"https://example.com/","t":"2024-05-03","status":404}"#,
/// ];
/// # std::fs::write(&path, lines.join("\n"))?;
/// let mut payloads = Vec::new();
/// for chunk in InputParts::new([InputSource::Path(path)]).flatten() {
///     chunk.items(|item| {
///         let SourceItem::Record(record) = item else { panic!("{item:?}") };
///         payloads.push(record.payload);
///     });
/// }
/// let RecordPayload::Text(document) = &payloads[0] else { panic!("it has a text") };
/// assert_eq!(document.text(), "Fresh fish and chips daily.");
/// assert_eq!(payloads[1], RecordPayload::Ready { fingerprint: Some(0xff) });
/// assert_eq!(payloads[2], RecordPayload::Gone);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RecordPayload {
    /// Content to be fingerprinted.
    Text(Box<Document>),
    /// Content of a file that is itself a page. The time of the record is the file's modification
    /// time, which may be earlier than the time of a known version of the page.
    File(Box<Document>),
    /// Content with an existing fingerprint.
    Ready {
        /// The fingerprint; `None` for content without a fingerprint, for example a text that is
        /// too short.
        fingerprint: Option<u64>,
    },
    /// Restated content: the fingerprint, in the named epoch, of content that the page had at the
    /// record's time.
    Restated {
        /// The fingerprint, if the content has a fingerprint.
        fingerprint: Option<u64>,
    },
    /// Not a visit: only the weight or the class of the record, or both.
    Properties,
    /// The server reported unchanged content.
    NotModified,
    /// Content that is not text, for example a PDF or an image. Content that is not text has a
    /// digest and no fingerprint.
    Binary,
    /// A file that is not text. The record has no digest; compute the digest with
    /// [`digest_of_file`](crate::digest_of_file) if you need it.
    BinaryFile,
    /// The page redirects: the record's digest identifies the [target](Digest::redirect).
    Redirect,
    /// The page is gone.
    Gone,
    /// The visit failed for the contained reason.
    Failed(FetchFailure),
    /// Content of an earlier record, which is identified by the record's digest and these fields.
    Revisit {
        /// The URL of the earlier record.
        refers_to: Option<String>,
        /// The time of the earlier record, in milliseconds since 1970.
        refers_time: Option<i64>,
    },
}

impl RecordPayload {
    /// Returns the canonical URL that the HTML of a page declares.
    pub(super) fn canonical(&self, url: &str) -> Option<String> {
        match self {
            RecordPayload::Text(document) | RecordPayload::File(document) => {
                Target::first_url(url, document.base(), document.canonicals())
            }
            _ => None,
        }
    }
}

/// One visit to one page. The URL, the times and the weight are valid for a store.
///
/// ```
/// use simkeep_formats::{InputParts, InputSource, SourceItem};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("pages.jsonl");
/// let line = r#"{"url":"https://example.com/","t":1.5,"text":"Fresh fish and chips.","class":7}"#;
/// # std::fs::write(&path, line)?;
/// for chunk in InputParts::new([InputSource::Path(path)]).flatten() {
///     chunk.items(|item| {
///         let SourceItem::Record(record) = item else { panic!("{item:?}") };
///         assert_eq!((record.url.as_str(), record.time), ("https://example.com/", 1_500));
///         assert_eq!(record.digest, Some(simkeep_formats::digest(b"Fresh fish and chips.")));
///         assert_eq!((record.class, record.status), (Some(7), None));
///     });
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct VisitRecord {
    /// The URL of the page.
    pub url: String,
    /// The time of the visit, in milliseconds since 1970.
    pub time: i64,
    /// The result of the visit.
    pub payload: RecordPayload,
    /// The digest of the exact content. The content is the payload as received, without the chunks
    /// of a transfer and not decompressed; or a file, or the text of a line. If the archive
    /// declares a correct SHA-1, the declared digest is used, even if it is the digest of the
    /// payload with its chunks, or of the decompressed payload.
    pub digest: Option<Digest>,
    /// The archive's claim about the digest.
    pub claim: Option<Box<DigestClaim>>,
    /// The HTTP status, if known.
    pub status: Option<u16>,
    /// The server's time of the last modification, in milliseconds since 1970: the `Last-Modified`
    /// of a response with content or of a response without changes. An invalid date is ignored, and
    /// so is one before 1990 or later than the response itself (RFC 9110, section 8.8.2.1).
    pub modified: Option<i64>,
    /// The new weight of the page, in JSON lines.
    pub weight: Option<Weight>,
    /// The new class of the page, in JSON lines.
    pub class: Option<u32>,
    /// The name of the fingerprint's epoch, in JSON lines.
    pub epoch: Option<Box<str>>,
    /// Further facts of the response.
    pub facts: ResponseFacts,
}

/// Facts of a response besides its content.
///
/// ```
/// use simkeep_formats::{InputParts, InputSource, SourceItem};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("pages.jsonl");
/// # let line = r#"{"url":"https://example.com/","t":1714564800,"text":"Fresh fish","etag":"\"v1\"","bytes":9100}"#;
/// # std::fs::write(&path, line)?;
/// for chunk in InputParts::new([InputSource::Path(path)]).flatten() {
///     chunk.items(|item| {
///         let SourceItem::Record(record) = item else { panic!("{item:?}") };
///         assert_eq!(record.facts.bytes, Some(9100));
///         assert_eq!(record.facts.etag.as_deref(), Some(&b"\"v1\""[..]));
///     });
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResponseFacts {
    /// The number of bytes of the content as transferred.
    pub bytes: Option<u64>,
    /// Whether the request was conditional.
    pub conditional: bool,
    /// The value of the header `ETag`.
    pub etag: Option<Box<[u8]>>,
    /// A reference to the URL to which the content points: the target of a redirect, or the
    /// declared canonical URL.
    pub target: Option<Box<str>>,
}

/// The declared digest of a record's content.
///
/// ```
/// use simkeep_formats::{DeclaredDigest, InputParts, InputSource, SourceItem};
///
/// # let folder = tempfile::tempdir()?;
/// // The archive declares the digest of an empty payload.
/// let record = "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: https://example.com/\r\n\
///     WARC-Date: 2024-05-01T12:00:00Z\r\nContent-Type: text/plain\r\n\
///     WARC-Payload-Digest: sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ\r\n\
///     Content-Length: 10\r\n\r\nFresh fish\r\n\r\n";
/// # let path = folder.path().join("pages.warc");
/// # std::fs::write(&path, record)?;
/// for chunk in InputParts::new([InputSource::Path(path)]).flatten() {
///     chunk.items(|item| {
///         let SourceItem::Record(record) = item else { panic!("{item:?}") };
///         let claim = record.claim.unwrap();
///         let declared = DeclaredDigest::parse("sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
///         assert_eq!(Some(claim.declared), declared);
///         assert!(claim.wrong.is_some());
///     });
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct DigestClaim {
    /// The digest that the archive declares.
    pub declared: DeclaredDigest,
    /// The error, if the digest was checked and is wrong.
    pub wrong: Option<BrokenRecord>,
}

/// An unreadable record.
///
/// ```
/// use simkeep_formats::{InputParts, InputSource, SourceItem};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("pages.jsonl");
/// let lines = [r#"{"url":"https://example.com/"#, r#"{"url":"https://example.org/","t":1,"status":404}"#];
/// # std::fs::write(&path, lines.join("\n"))?;
/// let (mut broken, mut records) = (Vec::new(), 0);
/// for chunk in InputParts::new([InputSource::Path(path)]).flatten() {
///     chunk.items(|item| match item {
///         SourceItem::Broken(record) => broken.push(record),
///         _ => records += 1,
///     });
/// }
/// println!("{}: {}", broken[0].at, broken[0].why);
/// assert!(broken[0].at.ends_with("pages.jsonl, line 1"));
/// assert_eq!(records, 1); // the line after it is read
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct BrokenRecord {
    /// The file and the position in it, escaped for display.
    pub at: String,
    /// The reason, escaped for display.
    pub why: String,
}

impl BrokenRecord {
    /// Creates the error for a source of this name that cannot be opened or read.
    pub(super) fn source(name: &str, error: &io::Error) -> BrokenRecord {
        BrokenRecord { at: escape(name), why: escape(&error.to_string()) }
    }

    /// Returns the bytes of memory that the error takes on the heap.
    pub fn bytes(&self) -> usize {
        self.at.len() + self.why.len()
    }
}

/// A query between records, about the state of a page at that point.
///
/// ```
/// use simkeep_formats::{InputParts, InputQueryKind, InputSource, SourceItem};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("pages.jsonl");
/// # std::fs::write(&path, r#"{"url":"https://example.com/","ask":"history"}"#)?;
/// // The line {"url":"https://example.com/","ask":"history"}
/// for chunk in InputParts::new([InputSource::Path(path)]).flatten() {
///     chunk.items(|item| {
///         let SourceItem::Question(query) = item else { panic!("{item:?}") };
///         assert_eq!((query.url.as_str(), query.ask), ("https://example.com/", InputQueryKind::History));
///     });
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputQuery {
    /// The URL of the page.
    pub url: String,
    /// The query.
    pub ask: InputQueryKind,
    /// The file and the position in it, escaped for display.
    pub at: String,
}

/// The query of a [`InputQuery`].
///
/// ```
/// use simkeep_formats::InputQueryKind;
/// let names = [InputQueryKind::Near, InputQueryKind::History, InputQueryKind::Latest];
/// assert_eq!(names.map(InputQueryKind::key), ["near", "history", "latest"]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputQueryKind {
    /// The pages near the page's current content.
    Near,
    /// The history of the page's visits.
    History,
    /// The current state of the page.
    Latest,
    /// The headers that make the next request for the page conditional.
    Validators,
}

impl InputQueryKind {
    /// Returns the name of the query in a line.
    pub const fn key(self) -> &'static str {
        match self {
            InputQueryKind::Near => "near",
            InputQueryKind::History => "history",
            InputQueryKind::Latest => "latest",
            InputQueryKind::Validators => "validators",
        }
    }

    /// Parses the name of a query.
    pub(super) fn parse(text: &str) -> Option<InputQueryKind> {
        use InputQueryKind::{History, Latest, Near, Validators};
        [Near, History, Latest, Validators].into_iter().find(|ask| ask.key() == text)
    }
}

/// One item of a source.
///
/// ```
/// use simkeep_formats::{InputParts, InputSource, SourceItem};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("pages.jsonl");
/// let lines = [
///     r#"{"epoch":"my-hash/1"}"#,
///     r#"{"url":"https://example.com/","t":1,"fingerprint":"00000000000000ff","epoch":"my-hash/1"}"#,
///     r#"{"url":"https://example.com/","ask":"near"}"#,
/// ];
/// # std::fs::write(&path, lines.join("\n"))?;
/// for chunk in InputParts::new([InputSource::Path(path)]).flatten() {
///     chunk.items(|item| match item {
///         SourceItem::Epoch(name, _) => assert_eq!(name, "my-hash/1"),
///         SourceItem::Record(record) => assert_eq!(record.epoch.as_deref(), Some("my-hash/1")),
///         SourceItem::Question(query) => assert_eq!(query.ask.key(), "near"),
///         other => panic!("{other:?}"),
///     });
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SourceItem {
    /// A record.
    Record(VisitRecord),
    /// A record of JSON lines after the time of [`InputParts::late`](crate::InputParts::late), and
    /// its file and position, escaped for display.
    Late(Box<VisitRecord>, String),
    /// A query, in JSON lines.
    Question(InputQuery),
    /// A record, or a part of a file, that cannot be read, with the error.
    Broken(BrokenRecord),
    /// A record that is not a visit to a page, with its kind, for counts.
    Passed(&'static str),
    /// An epoch: its name and its options. Older epochs come first.
    Epoch(String, EpochOptions),
    /// A line of an export that is not a record.
    Export(ExportLine),
    /// A source that cannot be read by design, with the alternative to read.
    Refused(BrokenRecord),
}

/// The information of an archive's header about a record.
pub(super) struct CaptureHeader {
    /// The URL of the page.
    pub(super) url: String,
    /// The time of the capture, in milliseconds since 1970.
    pub(super) time: i64,
    /// The declared digest.
    pub(super) declared: Option<DeclaredDigest>,
    /// The way in which the archive truncated the content.
    pub(super) truncated: Truncation,
}

/// Whether an archive kept only a part of the content, and the kind of truncation
/// (`WARC-Truncated`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Truncation {
    /// The content is not truncated.
    #[default]
    No,
    /// The content is truncated at a length chosen by the crawler, so equal contents are truncated
    /// equally.
    AtLength,
    /// The content is truncated at a random position, by a timeout or a broken connection.
    Anywhere,
}

/// The reason why the current record cannot be returned.
#[derive(Debug)]
pub(super) enum RecordFault {
    /// The record is invalid; the next record begins after it.
    Record(String),
    /// The start of the next record is unknown.
    Lost(String),
}

impl RecordFault {
    /// Adds the URL of the record to the reason.
    pub(super) fn with_url(self, url: Option<&str>) -> RecordFault {
        match self {
            RecordFault::Record(why) => RecordFault::Record(with_url(url, &why)),
            RecordFault::Lost(why) => RecordFault::Lost(with_url(url, &why)),
        }
    }
}

/// Puts the URL of a record before the reason.
pub(super) fn with_url(url: Option<&str>, why: &str) -> String {
    url.map_or_else(|| why.to_owned(), |url| format!("{}: {why}", escape(url)))
}

impl From<io::Error> for RecordFault {
    /// After a failed read, the position in the file is unknown.
    fn from(error: io::Error) -> Self {
        RecordFault::Lost(escape(&error.to_string()))
    }
}
