//! The items that reading a source returns.

use std::io;

use simkeep::fingerprint::Document;
use simkeep::{Digest, EpochOptions, FetchFailure, Weight};

use super::digest::Declared;
use super::escape;
use super::export::Line;

/// What a record says about its page.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Payload {
    /// Content to make a fingerprint of.
    Text(Box<Document>),
    /// Content of a file that is a page by itself. The time of the record is when the file was last
    /// modified, so it may be earlier than that of a version of the page that was seen before.
    File(Box<Document>),
    /// Content, with a fingerprint made elsewhere.
    Ready {
        /// The fingerprint; `None` for content without one, such as a text too short to tell from
        /// others.
        fingerprint: Option<u64>,
    },
    /// Restated content: what the named epoch makes of content that the page had at this time.
    Restated {
        /// The fingerprint, if it has one.
        fingerprint: Option<u64>,
    },
    /// No visit: only the weight or the class of the record, or both.
    Properties,
    /// The server said that nothing changed.
    NotModified,
    /// Content that is not text, such as a PDF or an image: it has a digest and no fingerprint.
    Binary,
    /// A file that is not text. It has no digest: [`digest_of_file`](crate::digest_of_file) makes it,
    /// for those who need it.
    BinaryFile,
    /// The page leads elsewhere: the record's digest names the [target](Digest::redirect).
    Redirect,
    /// The page is gone.
    Gone,
    /// The visit failed, for this reason.
    Failed(FetchFailure),
    /// A page with the content of an earlier record, which the record's digest identifies, and
    /// these fields.
    Revisit {
        /// The URL of the earlier record.
        refers_to: Option<String>,
        /// Its time, in milliseconds since 1970.
        refers_time: Option<i64>,
    },
}

/// One visit to one page. A store accepts its URL, its times and its weight.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Record {
    /// The page.
    pub url: String,
    /// Milliseconds since 1970.
    pub time: i64,
    /// What was found.
    pub payload: Payload,
    /// The digest of the exact content: of the payload as it came, without the chunks of a transfer
    /// and not unpacked; of a file or of the text of a line. If the content is at hand, it is a right
    /// SHA-1 of the archive's, which may be of the payload with its chunks or unpacked, or else made
    /// here.
    pub digest: Option<Digest>,
    /// What the archive says about the digest.
    pub claim: Option<Box<Claim>>,
    /// The HTTP status, if known.
    pub status: Option<u16>,
    /// When the server said that the page was last modified, in milliseconds since 1970: its
    /// `Last-Modified`, of an answer with content or without news. A date that is none is passed
    /// over, and so is one before 1990 or later than the answer itself (RFC 9110, section 8.8.2.1).
    pub modified: Option<i64>,
    /// How important the page is from now on, in JSON lines.
    pub weight: Option<Weight>,
    /// The class that the page is of from now on, in JSON lines.
    pub class: Option<u32>,
    /// The name of the fingerprint's epoch, in JSON lines.
    pub epoch: Option<Box<str>>,
}

/// The digest of a record's content according to its archive.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The digest that it declares.
    pub declared: Declared,
    /// Why it is wrong, if it was checked and is.
    pub wrong: Option<Broken>,
}

/// A record that cannot be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Broken {
    /// The file and the place in it, fit to be shown.
    pub at: String,
    /// What is wrong, fit to be shown.
    pub why: String,
}

impl Broken {
    /// A source of this name that cannot be opened or read.
    pub(super) fn source(name: &str, error: &io::Error) -> Broken {
        Broken { at: escape(name), why: escape(&error.to_string()) }
    }

    /// Bytes of memory that it takes besides itself.
    pub fn bytes(&self) -> usize {
        self.at.len() + self.why.len()
    }
}

/// A question that stands between records: what a store knows of a page by then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The page.
    pub url: String,
    /// What is asked.
    pub ask: Ask,
    /// The file and the place in it, fit to be shown.
    pub at: String,
}

/// What a [`Question`] asks of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Which pages are near its present content.
    Near,
    /// What its visits found.
    History,
    /// What it is now.
    Latest,
}

impl Ask {
    /// As it stands in a line.
    pub const fn key(self) -> &'static str {
        match self {
            Ask::Near => "near",
            Ask::History => "history",
            Ask::Latest => "latest",
        }
    }

    /// What such a text asks.
    pub(super) fn parse(text: &str) -> Option<Ask> {
        [Ask::Near, Ask::History, Ask::Latest].into_iter().find(|ask| ask.key() == text)
    }
}

/// One item of a source.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Item {
    /// A record.
    Record(Record),
    /// A question, of JSON lines.
    Question(Question),
    /// A record, or a part of a file, that cannot be read.
    Broken(Broken),
    /// A record that is no visit to a page: its kind, to be counted.
    Passed(&'static str),
    /// The name of an epoch, and its options. Older epochs come first.
    Epoch(String, EpochOptions),
    /// A line of an export that is no record.
    Export(Line),
    /// A source that is known not to be readable, and what to read in its place.
    Refused(Broken),
}

/// What an archive's header says about a record.
pub(super) struct Captured {
    /// The page.
    pub(super) url: String,
    /// Milliseconds since 1970.
    pub(super) time: i64,
    /// The digest that the header declares.
    pub(super) declared: Option<Declared>,
    /// How the archive cut the content.
    pub(super) truncated: Truncated,
}

/// Whether and why an archive kept only a part of the content (`WARC-Truncated`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Truncated {
    /// All of it is kept.
    #[default]
    No,
    /// It is cut at a length that the crawler chose, so equal contents have equal cuts.
    AtLength,
    /// It is cut wherever time ran out or the connection broke.
    Anywhere,
}

/// Why the current record cannot be returned.
#[derive(Debug)]
pub(super) enum Fault {
    /// The record is at fault; the next one begins where this one ends.
    Record(String),
    /// It is unknown where the next record begins.
    Lost(String),
}

impl Fault {
    /// Puts the URL of the record before what is wrong.
    pub(super) fn with_url(self, url: Option<&str>) -> Fault {
        match self {
            Fault::Record(why) => Fault::Record(with_url(url, &why)),
            Fault::Lost(why) => Fault::Lost(with_url(url, &why)),
        }
    }
}

/// What is wrong with a record, after its URL.
pub(super) fn with_url(url: Option<&str>, why: &str) -> String {
    url.map_or_else(|| why.to_owned(), |url| format!("{}: {why}", escape(url)))
}

impl From<io::Error> for Fault {
    /// After a failed read the place in the file is lost.
    fn from(error: io::Error) -> Self {
        Fault::Lost(escape(&error.to_string()))
    }
}
