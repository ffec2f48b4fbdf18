//! What comes out of a source.

use std::io;

use simkeep::Digest;
use simkeep::fingerprint::Document;

use super::digest::Declared;
use super::escape;

/// What a record says of its page.
#[derive(Clone, Debug, PartialEq)]
pub enum Payload {
    /// Content, of which a fingerprint is to be made.
    Text(Box<Document>),
    /// Content, with a fingerprint made elsewhere.
    Ready {
        /// That fingerprint; `None` if whoever was to make one found that the content has none.
        fingerprint: Option<u64>,
    },
    /// A fingerprint more of content that the page had at this time, in the epoch that is named.
    Restated {
        /// That fingerprint.
        fingerprint: u64,
    },
    /// The server said that nothing changed.
    NotModified,
    /// The page is gone.
    Gone,
    /// The visit failed.
    Failed,
    /// A page with the content of an earlier record: the record's digest names it, and so does this.
    Revisit {
        /// The URL of the earlier record.
        refers_to: Option<String>,
        /// Its time, in milliseconds since 1970.
        refers_time: Option<i64>,
    },
}

/// One visit to one page. The URL and the time are such as a store takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The page.
    pub url: String,
    /// Milliseconds since 1970.
    pub time: i64,
    /// What was found.
    pub payload: Payload,
    /// Which exact content it was: what was found, and not what an archive declares, where both are
    /// at hand.
    pub digest: Option<Digest>,
    /// What an archive declares it to be.
    pub claim: Option<Box<Claim>>,
    /// The HTTP status, if known.
    pub status: Option<u16>,
    /// The name of the fingerprint's epoch, in lines of our own export.
    pub epoch: Option<Box<str>>,
}

/// What an archive declares the digest of a record's content to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The digest that it declares.
    pub declared: Declared,
    /// Why it is not so, where that was looked at.
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
    /// The bytes that it takes beside itself.
    pub fn bytes(&self) -> usize {
        self.at.len() + self.why.len()
    }
}

/// What a reader comes upon.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A record.
    Record(Record),
    /// A record, or a stretch of a file, that cannot be read.
    Broken(Broken),
    /// A record that says nothing of a page's content: its kind, for the count.
    Passed(&'static str),
    /// Captured content that is no text; what repeats it is none either.
    Binary(Captured),
    /// The name of an epoch, older than those whose names come after.
    Epoch(String),
}

/// What an archive's own header says of a record.
#[derive(Clone, Debug, PartialEq)]
pub struct Captured {
    /// The page.
    pub url: String,
    /// Milliseconds since 1970.
    pub time: i64,
    /// Which exact content it is said to be.
    pub declared: Option<Declared>,
}

/// Why the record in hand cannot be delivered.
#[derive(Debug)]
pub(super) enum Fault {
    /// The record is at fault; the next one begins where this one ends.
    Record(String),
    /// Where the next record begins is unknown.
    Lost(String),
}

impl From<io::Error> for Fault {
    /// After a failed read the place in the file is lost.
    fn from(error: io::Error) -> Self {
        Fault::Lost(escape(&error.to_string()))
    }
}
