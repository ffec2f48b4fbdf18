//! Every error says what happened, where, and what to do.

mod message;

use std::fmt;
use std::io;
use std::sync::Arc;

use crate::bug::Bug;
use crate::disk::{Failure, Holder};
use crate::page::{PrefixError, UrlError};

/// The result of an operation on a store.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A byte of a file is not what it must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Corruption {
    /// The file, by its path within the store's directory.
    pub file: String,
    /// Where in the file.
    pub offset: u64,
    /// What is wrong, with expected and found.
    pub what: String,
}

impl fmt::Display for Corruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is damaged at byte {}: {}", self.file, self.offset, self.what)
    }
}

/// What can go wrong. The message of each says what is wrong, where, and what to do.
///
/// Unless a variant says otherwise nothing that was acknowledged is lost, and what was asked for was not
/// done.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// A call to the operating system failed. If it was a write, the store is
    /// [poisoned](Error::Poisoned) from then on.
    Io {
        /// What was being done.
        action: &'static str,
        /// To which file, by its path within the store's directory, or the directory's own.
        file: String,
        /// What the system said.
        source: Arc<io::Error>,
    },
    /// A file is damaged: what is in it cannot be read, everything else can. Restore the file from a
    /// copy, or save the rest with [`repair`](crate::repair).
    Corrupt(Corruption),
    /// There is no store at that place. Name another, or make one.
    NotAStore {
        /// The place.
        location: String,
        /// Why it is none.
        why: String,
    },
    /// A file is no table of document frequencies. Name another, or make one.
    NotATable {
        /// The file.
        file: String,
        /// Why it is none.
        why: String,
    },
    /// What was to be a store was never finished: the repair, or the load, that makes it was broken
    /// off, or is still at it. Run that again: it begins anew.
    Unfinished {
        /// The place.
        location: String,
    },
    /// Something that is not to be replaced has the name of a file that was to be made. It stays as it
    /// is; name another file.
    InTheWay {
        /// The file.
        file: String,
        /// What it is.
        why: &'static str,
    },
    /// A store stands where one was to be made. It stays as it is; open it, or name another place.
    Exists {
        /// The place.
        location: String,
    },
    /// A file was written by another version of simkeep. Use that one.
    Version {
        /// The file.
        file: String,
        /// The version found.
        found: u32,
        /// The one that this build reads.
        reads: u32,
    },
    /// A store was made by a build of simkeep with URL hashes of another length, as tests make them. Use
    /// such a build.
    UrlHash {
        /// The file that says so.
        file: String,
        /// The bits of its hashes.
        found: u64,
        /// Those of this build.
        reads: u64,
    },
    /// The store is open for writing, by another process or by this one. Wait until it is closed, or
    /// use a [`Reader`](crate::Reader), which works beside a writer.
    Locked {
        /// The place.
        location: String,
        /// Who has it open.
        holder: Holder,
    },
    /// A file that keeps other writers out was removed or replaced while the store was open: another
    /// process may be writing. Nothing more is written; open the store again.
    Replaced {
        /// The file.
        file: String,
    },
    /// The store was opened by the process that this one was forked from, and only that one uses
    /// it. Open it in one process, or read it with a [`Reader`](crate::Reader).
    Forked,
    /// A write failed before, or a bug of simkeep's was met: nothing more is accepted until the store is
    /// opened again. After a bug nothing is read either.
    Poisoned(Arc<Error>),
    /// The store was closed. Open it again.
    Closed,
    /// An invariant of simkeep's own does not hold. Nothing is wrong with what it was asked; please
    /// report it. A store that meets one is [poisoned](Error::Poisoned).
    Bug(Bug),
    /// Not a URL that can be stored.
    Url(UrlError),
    /// Not a prefix.
    Prefix(PrefixError),
    /// A time outside the years 1 to 9999. Times are milliseconds since 1970.
    Time(i64),
    /// An epoch that the store has not registered. Register its name first.
    UnknownEpoch(u32),
    /// An epoch that has ended. Use one that has not.
    EndedEpoch(String),
    /// The table of document frequencies of an epoch is not in the store: the epoch is known by its name
    /// alone, or has ended since. No text gets a fingerprint of it until
    /// [`begin_epoch`](crate::Store::begin_epoch) puts the table in its place.
    NoTable {
        /// The epoch's name.
        epoch: String,
        /// The file that it would be.
        file: String,
    },
    /// An epoch that cannot end yet: pages have a version in force that is of it. Restate or forget
    /// them, or say how many may be left behind.
    EpochInUse {
        /// Its name.
        name: String,
        /// One of those pages.
        url: String,
    },
    /// An observation of a load was an error, or cannot be stored as it is. Nothing was stored.
    Load {
        /// Which one, counted from 1.
        nth: u64,
        /// What is wrong with it.
        cause: Arc<Error>,
    },
    /// Whatever the observations of a load were read from failed. Nothing was stored.
    Input(Arc<dyn std::error::Error + Send + Sync>),
    /// A load, a check or a repair was broken off by its callback. Nothing was stored.
    Cancelled,
    /// It cannot be told what was forgotten: an operation that is lost may have done it. Nothing was
    /// repaired. [`RepairOptions::keep_forgotten`](crate::RepairOptions::keep_forgotten) repairs all the
    /// same.
    Doubtful {
        /// What is lost.
        what: String,
    },
    /// An option has a value that it cannot have.
    Option {
        /// The option's name.
        name: &'static str,
        /// What values it takes.
        takes: &'static str,
    },
    /// More than fits. Nothing that was there before is affected.
    Limit {
        /// What there is too much of.
        what: &'static str,
        /// How many there may be.
        max: u64,
        /// What to do.
        instead: &'static str,
    },
    /// A call whose arguments do not go together, or that makes no sense now. It changed nothing.
    Misuse(String),
    /// redb, which keeps `catalog.redb`, refused, for another reason than damage or a failed call to the
    /// system. The store is [poisoned](Error::Poisoned) if it was a write.
    Catalog(String),
}

impl Error {
    /// The error of whatever the observations of a [`Store::load`](crate::Store::load) are read from.
    ///
    /// ```
    /// let lines = ["17", "x"].map(|line| line.parse::<u64>().map_err(simkeep::Error::input));
    /// assert!(lines[1].as_ref().unwrap_err().to_string().contains("invalid digit"));
    /// ```
    pub fn input(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
        Error::Input(Arc::from(error.into()))
    }

    pub(crate) fn io(action: &'static str, file: impl fmt::Display, source: io::Error) -> Error {
        Error::Io { action, file: file.to_string(), source: Arc::new(source) }
    }

    /// Whether there is no room on the disk, or none that this user may take.
    pub(crate) fn is_full(&self) -> bool {
        use io::ErrorKind::{QuotaExceeded, StorageFull};
        matches!(self, Error::Io { source, .. } if matches!(source.kind(), StorageFull | QuotaExceeded))
    }

    /// Whether something else than a regular file has the name of one.
    pub(crate) fn is_irregular(&self) -> bool {
        matches!(self, Error::Io { source, .. } if source.kind() == io::ErrorKind::InvalidData)
    }

    /// Whether a file is not there.
    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// The damage that this tells of, if it is that: what cannot be read is as damaged as what reads
    /// wrong.
    pub(crate) fn flaw(self) -> Result<Corruption> {
        use io::ErrorKind::{InvalidData, NotFound, UnexpectedEof};
        match self {
            Error::Corrupt(flaw) => Ok(flaw),
            Error::Io { action, file, source }
                if action == "read"
                    || matches!(source.kind(), NotFound | UnexpectedEof | InvalidData) =>
            {
                Ok(Corruption { file, offset: 0, what: format!("cannot {action} it: {source}") })
            }
            other => Err(other),
        }
    }

    /// Puts another name in the place of a file's, for one that has that name outside of a store.
    pub(crate) fn renamed(mut self, from: impl fmt::Display, to: impl fmt::Display) -> Error {
        if let Error::Io { file, .. }
        | Error::Corrupt(Corruption { file, .. })
        | Error::NotATable { file, .. }
        | Error::Version { file, .. } = &mut self
            && *file == from.to_string()
        {
            *file = to.to_string();
        }
        self
    }

    pub(crate) fn misuse(what: impl Into<String>) -> Error {
        Error::Misuse(what.into())
    }

    pub(crate) fn corrupt(file: impl fmt::Display, offset: u64, what: impl Into<String>) -> Error {
        Error::Corrupt(Corruption { file: file.to_string(), offset, what: what.into() })
    }
}

impl From<Failure> for Error {
    fn from(Failure { action, name, source }: Failure) -> Self {
        Error::io(action, name, source)
    }
}

impl From<Bug> for Error {
    fn from(bug: Bug) -> Self {
        Error::Bug(bug)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io { source, .. } => Some(source),
            Error::Poisoned(cause) | Error::Load { cause, .. } => Some(cause),
            Error::Input(error) => Some(&**error),
            Error::Url(e) => Some(e),
            Error::Prefix(e) => Some(e),
            Error::Bug(e) => Some(e),
            _ => None,
        }
    }
}

impl From<UrlError> for Error {
    fn from(e: UrlError) -> Self {
        Error::Url(e)
    }
}

impl From<PrefixError> for Error {
    fn from(e: PrefixError) -> Self {
        Error::Prefix(e)
    }
}
