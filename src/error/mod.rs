//! Every error says what happened, where, and what to do.

mod kind;
mod message;

use std::fmt;
use std::io;
use std::sync::Arc;

use crate::bug::Bug;
use crate::disk::{Failure, Holder};
use crate::fingerprint::FingerprintError;
use crate::recrawl::RecrawlError;
use crate::time::{Time, TimeError};
use crate::url::{PrefixError, UrlError};

pub use kind::ErrorKind;

/// The result of an operation on a store.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Damage: a byte of a file is not what it must be.
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

/// What a directory holds that is not a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotStore {
    /// No part of a store. One may be made there, unless other files are in the way.
    Nothing,
    /// What a store has published. A [`Reader`](crate::Reader) opens it, and nothing writes to it.
    Published,
    /// A number of segment files, without the catalog that names them.
    /// [`repair`](crate::repair::repair) saves what they hold.
    Segments(usize),
    /// Something else, or part of another store: name another directory.
    Other,
}

/// Everything that can go wrong. Each message says what is wrong, where, and what to do.
///
/// Unless a variant says otherwise, nothing acknowledged is lost, and the call changed nothing.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// A call to the operating system failed. If it was a write, the store is
    /// [poisoned](Error::Poisoned) from then on.
    Io {
        /// What was being done.
        action: &'static str,
        /// The file, by its path within the store's directory, or the path of the directory itself.
        file: String,
        /// What the system said.
        source: Arc<io::Error>,
    },
    /// A file is damaged. Its damaged part cannot be read, everything else can. Restore the file
    /// from a copy, or save the rest with [`repair`](crate::repair::repair).
    Corrupt(Corruption),
    /// There is no store at this place. Name another one, or create it.
    NotAStore {
        /// The place.
        location: String,
        /// Why it is none.
        why: String,
        /// What is there instead.
        found: NotStore,
    },
    /// A file is not a table of document frequencies. Name another one, or count a table.
    NotATable {
        /// The file.
        file: String,
        /// Why it is none.
        why: String,
    },
    /// This store was never finished: the repair or load that makes it was interrupted, or is still
    /// running. If it was interrupted, run it again; it starts over.
    Unfinished {
        /// The place.
        location: String,
    },
    /// Something that must not be replaced already has the name of the file to be written. It stays
    /// as it is; name another file.
    AlreadyExists {
        /// The file.
        file: String,
        /// What it is.
        why: &'static str,
    },
    /// There is a store already at the place where one was to be created. It stays as it is; open
    /// it, or name another place.
    StoreExists {
        /// The place.
        location: String,
    },
    /// A store was to be backed up or published to a directory that holds no earlier state of it:
    /// another store, a newer state or one that went another way, or a backup to which somebody has
    /// written since. It stays as it is; name another directory.
    NotABackup {
        /// The place.
        location: String,
        /// Why it is none.
        why: String,
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
    /// The store was made by a build of simkeep with URL hashes of another length, as the tests
    /// use. Open it with such a build.
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
    /// The store was opened by the process that this one was forked from, and only that process may
    /// use it. Open it in one process, or read it with a [`Reader`](crate::Reader).
    Forked,
    /// An earlier write failed, or simkeep met a bug of its own. The store accepts nothing more
    /// until it is opened again. After a bug it refuses reads, too.
    Poisoned(Arc<Error>),
    /// The store was closed. Open it again.
    Closed,
    /// An invariant of simkeep does not hold. Nothing is wrong with the call; please report the
    /// bug. A store that meets one is [poisoned](Error::Poisoned).
    Bug(Bug),
    /// Not a URL that can be stored.
    Url(UrlError),
    /// Not a prefix.
    Prefix(PrefixError),
    /// Not a time that can be stored, or a number that looks like seconds.
    Time(TimeError),
    /// A visit that is later than the clock of this machine allows, by
    /// [`Options::clock_tolerance`](crate::Options::clock_tolerance). Correct its time, or the clock.
    InTheFuture {
        /// The page.
        url: String,
        /// The time of the visit.
        time: Time,
        /// The last time that a visit may have now.
        limit: Time,
    },
    /// An epoch that the store has not registered. Register its name first.
    UnknownEpoch(u32),
    /// An epoch that has ended. Use one that has not.
    EndedEpoch(String),
    /// The store does not have the table of document frequencies of an epoch: the epoch was
    /// registered by its name alone, or has ended. No text can get a fingerprint of this epoch
    /// until [`begin_epoch`](crate::Store::begin_epoch) is given the table.
    NoTable {
        /// The epoch's name.
        epoch: String,
        /// The name that the table's file would have.
        file: String,
    },
    /// An epoch cannot end yet: there are pages whose version in force belongs to it. Restate or
    /// forget them, or say how many may be left behind.
    EpochInUse {
        /// Its name.
        name: String,
        /// One of those pages.
        url: String,
    },
    /// An observation of a load was an error, or cannot be stored as it is. Nothing was stored.
    LoadRejected {
        /// Which one, counted from 1.
        nth: u64,
        /// What is wrong with it.
        cause: Arc<Error>,
    },
    /// The source of a load's observations failed. Nothing was stored.
    Input(Arc<dyn std::error::Error + Send + Sync>),
    /// A long call was stopped by its [`Progress`](crate::Progress). Each such call says what it
    /// leaves undone.
    Cancelled,
    /// A repair cannot tell what was forgotten, because a lost operation may have forgotten
    /// something. Nothing was repaired.
    /// [`RepairOptions::keep_forgotten`](crate::repair::RepairOptions::keep_forgotten) repairs
    /// the store anyway.
    AmbiguousRepair {
        /// What is lost.
        what: String,
    },
    /// An option has an invalid value.
    InvalidOption {
        /// The option's name.
        name: &'static str,
        /// What values it takes.
        takes: &'static str,
    },
    /// A limit was reached. What was there before is not affected.
    Limit {
        /// What there is too much of.
        what: &'static str,
        /// How many there may be.
        max: u64,
        /// What to do.
        instead: &'static str,
    },
    /// A call whose arguments do not go together, or that makes no sense now. It changed nothing.
    InvalidArgument(String),
    /// redb, the database behind `catalog.redb`, refused for a reason other than damage or a failed
    /// system call. If it was a write, the store is [poisoned](Error::Poisoned).
    Catalog(String),
}

impl Error {
    /// Wraps an error of the source that a [`Store::load`](crate::Store::load) reads observations
    /// from.
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

    /// Whether a file ended before what was to be read of it.
    pub(crate) fn is_cut(&self) -> bool {
        matches!(self, Error::Io { source, .. } if source.kind() == io::ErrorKind::UnexpectedEof)
    }

    /// The damage behind this error, if that is what it is. A read that fails counts as damage.
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

    /// Replaces the name of a file in this error, for a file outside of a store.
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

    pub(crate) fn invalid_argument(what: impl Into<String>) -> Error {
        Error::InvalidArgument(what.into())
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
            Error::Poisoned(cause) | Error::LoadRejected { cause, .. } => Some(cause),
            Error::Input(error) => Some(&**error),
            Error::Url(e) => Some(e),
            Error::Prefix(e) => Some(e),
            Error::Time(e) => Some(e),
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

impl From<TimeError> for Error {
    fn from(e: TimeError) -> Self {
        Error::Time(e)
    }
}

impl From<RecrawlError> for Error {
    fn from(e: RecrawlError) -> Self {
        match e {
            RecrawlError::Value { name, takes } => Error::InvalidOption { name, takes },
            RecrawlError::Invalid(what) => Error::InvalidArgument(what),
            RecrawlError::Cancelled => Error::Cancelled,
        }
    }
}

impl From<FingerprintError> for Error {
    fn from(e: FingerprintError) -> Self {
        match e {
            FingerprintError::Invalid(what) => Error::InvalidArgument(what),
            // A source of ours fails with an error of ours.
            FingerprintError::Frequencies(e) => {
                let own = e.downcast_ref::<Error>().cloned();
                own.unwrap_or(Error::Input(e))
            }
            FingerprintError::Bug(bug) => Error::Bug(bug),
        }
    }
}
