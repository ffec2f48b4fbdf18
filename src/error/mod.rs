//! Errors. Every error says what happened, where, and what to do.

mod kind;
mod message;

use std::fmt;
use std::io;
use std::sync::Arc;

use crate::bug::Bug;
use crate::disk::{DiskError, LockHolder};
use crate::fingerprint::FingerprintError;
use crate::recrawl::RecrawlError;
use crate::time::{Time, TimeError};
use crate::url::{PrefixError, UrlError};

pub use kind::ErrorKind;

/// The result of an operation on a store.
///
/// ```
/// use simkeep::{Options, Reader, Store};
/// # fn main() -> simkeep::Result<()> {
/// /// Counts the pages of a store.
/// fn pages(path: &std::path::Path) -> simkeep::Result<u64> {
///     Ok(Reader::open(path)?.stats()?.pages)
/// }
/// # let dir = tempfile::tempdir().unwrap();
/// # Store::create(dir.path().join("store"), Options::default())?.close()?;
/// assert_eq!(pages(&dir.path().join("store"))?, 0);
/// # Ok(())
/// # }
/// ```
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Damage: the bytes of a file are not as they must be.
///
/// ```
/// # use simkeep::{Options, Store};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let verified = store.verify(Default::default())?;
/// for corruption in &verified.flaws {
///     println!("{} at byte {}: {}", corruption.file, corruption.offset, corruption.what);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Corruption {
    /// The file, by its path within the store's directory.
    pub file: String,
    /// The byte offset in the file.
    pub offset: u64,
    /// The damage, with the expected and the actual value.
    pub what: String,
}

impl fmt::Display for Corruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is damaged at byte {}: {}", self.file, self.offset, self.what)
    }
}

/// The contents of a directory that is not a store.
///
/// ```
/// use simkeep::{Error, NotStore, Options, Store};
/// let opened = Store::open("no/such/store", Options::default());
/// assert!(matches!(opened, Err(Error::NotAStore { found: NotStore::Nothing, .. })));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotStore {
    /// No file of a store. A store can be created in the directory, unless other files are in the
    /// way.
    Nothing,
    /// Published generations of a store. A [`Reader`](crate::Reader) opens the generations, and
    /// nothing writes to them.
    Published,
    /// Segment files, without the catalog that lists them. The field is the number of these files.
    /// [`repair`](crate::repair::repair) recovers their data.
    Segments(usize),
    /// Something else, or a file of another store: choose another directory.
    Other,
}

/// An error of any call. Each message says what is wrong, where, and what to do.
///
/// Unless a variant says otherwise, nothing acknowledged is lost, and the call changed nothing.
///
/// ```
/// use simkeep::{Error, Options, Store};
/// match Store::open("no/such/store", Options::default()) {
///     Ok(store) => drop(store),
///     Err(Error::Locked { location, .. }) => println!("{location} is in use; trying again later"),
///     Err(error) => println!("{error}"), // what is wrong, where, and what to do
/// }
/// ```
///
/// A `main` that returns an error prints its `Debug` form, which has the fields of the error without
/// the advice. Print the error itself instead, as above, or return `anyhow::Result`, which prints it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// A call to the operating system failed. If the call was a write, the store is
    /// [poisoned](Error::Poisoned).
    Io {
        /// The action that failed.
        action: &'static str,
        /// The file, by its path within the store's directory, or the path of the directory itself.
        file: String,
        /// The error of the system.
        source: Arc<io::Error>,
    },
    /// A file is damaged. Its damaged part cannot be read, everything else can. Restore the file
    /// from a copy, or recover the rest with [`repair`](crate::repair::repair).
    Corrupt(Corruption),
    /// There is no store in this location. Choose another location, or create a store.
    NotAStore {
        /// The location.
        location: String,
        /// The reason why the location is not a store.
        why: String,
        /// The contents of the location.
        found: NotStore,
    },
    /// A file is not a table of document frequencies. Choose another file, or count a table.
    NotATable {
        /// The file.
        file: String,
        /// The reason why the file is not a table.
        why: String,
    },
    /// This store was never completed: the repair or load that creates it was interrupted, or is
    /// still running. If the repair or load was interrupted, run it again; it starts over.
    Unfinished {
        /// The location.
        location: String,
    },
    /// The name of the file to be written already belongs to something that must not be replaced.
    /// The existing file stays unchanged; choose another file name.
    AlreadyExists {
        /// The file.
        file: String,
        /// The description of the existing file.
        why: &'static str,
    },
    /// A store was to be created where a store already exists. The existing store stays unchanged;
    /// open it, or choose another location.
    StoreExists {
        /// The location.
        location: String,
    },
    /// A store was to be backed up or published to a directory that does not contain an earlier
    /// state of the store. The directory contains another store, a newer or diverged state, a
    /// backup that was opened for writing, or a state too old to be recognized. The directory stays
    /// unchanged; choose another directory.
    NotABackup {
        /// The location.
        location: String,
        /// The reason why the directory is not an earlier state.
        why: String,
    },
    /// A file was written by another version of simkeep. Export the store with that version, and
    /// load the export with this version.
    Version {
        /// The file.
        file: String,
        /// The version of the file.
        found: u32,
        /// The version that this build reads.
        reads: u32,
    },
    /// The store was made by a build of simkeep with URL hashes of another length, which only tests
    /// use. Open the store with such a build.
    UrlHash {
        /// The file that records the length.
        file: String,
        /// The number of bits of the store's hashes.
        found: u64,
        /// The number of bits of this build's hashes.
        reads: u64,
    },
    /// The store is open for writing, by another process or by this process. Wait until the store
    /// is closed, or use a [`Reader`](crate::Reader), which works while a writer has the store
    /// open.
    Locked {
        /// The location.
        location: String,
        /// The process that has the store open.
        holder: LockHolder,
    },
    /// A file that locks out other writers was removed or replaced while the store was open:
    /// another process may be writing. The store stops writing; open it again.
    Replaced {
        /// The file.
        file: String,
    },
    /// The store was opened by the parent of this forked process, and only the parent may use the
    /// store. Open the store in one process, or read it with a [`Reader`](crate::Reader).
    Forked,
    /// An earlier write failed, or simkeep met a bug of its own. The store accepts no more writes
    /// until it is opened again. After a bug the store refuses reads, too.
    Poisoned(Arc<Error>),
    /// The store was closed. Open it again.
    Closed,
    /// An invariant of simkeep is broken. Nothing is wrong with the call; please report the bug. A
    /// store that meets a bug is [poisoned](Error::Poisoned).
    Bug(Bug),
    /// A text is not a valid URL, or too long to be stored.
    Url(UrlError),
    /// A text is not a valid prefix.
    Prefix(PrefixError),
    /// A number is not a time that can be stored, or looks like seconds.
    Time(TimeError),
    /// The time of a visit is later than the clock of this machine plus
    /// [`Options::clock_tolerance`](crate::Options::clock_tolerance). Correct the time of the
    /// visit, or the clock.
    InTheFuture {
        /// The URL of the visited page.
        url: String,
        /// The time of the visit.
        time: Time,
        /// The latest time that a visit may have now.
        limit: Time,
    },
    /// The store has no epoch of this number. Register the epoch's name first.
    UnknownEpoch(u32),
    /// The epoch has ended. Use another epoch.
    EndedEpoch(String),
    /// The store does not have the table of document frequencies of an epoch: the epoch was
    /// registered by name only, or has ended. The store cannot make fingerprints of this epoch
    /// until [`begin_epoch`](crate::Store::begin_epoch) is called with the table.
    NoTable {
        /// The epoch's name.
        epoch: String,
        /// The name that the file of the table would have.
        file: String,
    },
    /// An epoch cannot end yet: the current version of some pages belongs to the epoch. Restate or
    /// forget these pages, or allow a number of pages to be left behind.
    EpochInUse {
        /// The name of the epoch.
        name: String,
        /// One of the pages that would be left behind.
        url: String,
    },
    /// An observation of a load was an error, or cannot be stored. Nothing was stored.
    LoadRejected {
        /// The number of the observation, counted from 1.
        nth: u64,
        /// The error of the observation.
        cause: Arc<Error>,
    },
    /// The source of a load's observations failed. Nothing was stored.
    Input(Arc<dyn std::error::Error + Send + Sync>),
    /// A long call was cancelled through its [`Progress`](crate::Progress). Each such call
    /// documents which work is left undone.
    Cancelled,
    /// A lost operation may have forgotten pages, and it is unknown which pages. Nothing was
    /// repaired. [`RepairOptions::keep_forgotten`](crate::repair::RepairOptions::keep_forgotten)
    /// repairs the store anyway.
    AmbiguousRepair {
        /// The operations that are lost.
        what: String,
    },
    /// An option has an invalid value.
    InvalidOption {
        /// The option's name.
        name: &'static str,
        /// The values that the option accepts.
        takes: &'static str,
    },
    /// A limit was reached. Existing data is not affected.
    Limit {
        /// The items that exceed the limit.
        what: &'static str,
        /// The limit.
        max: u64,
        /// The advice what to do instead.
        instead: &'static str,
    },
    /// The arguments of a call do not fit together, or the call makes no sense now. The call
    /// changed nothing.
    InvalidArgument(String),
    /// redb, the database behind `catalog.redb`, failed for a reason other than damage or a failed
    /// system call. If the failed call was a write, the store is [poisoned](Error::Poisoned).
    Catalog(String),
}

impl Error {
    /// Wraps an error of the source from which a [`Store::load`](crate::Store::load) reads
    /// observations.
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

    /// Whether the disk or the quota of this user is full.
    pub(crate) fn is_full(&self) -> bool {
        use io::ErrorKind::{QuotaExceeded, StorageFull};
        matches!(self, Error::Io { source, .. } if matches!(source.kind(), StorageFull | QuotaExceeded))
    }

    /// Whether the name of the file belongs to something other than a regular file.
    pub(crate) fn is_irregular(&self) -> bool {
        matches!(self, Error::Io { source, .. } if source.kind() == io::ErrorKind::InvalidData)
    }

    /// Whether the file does not exist.
    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// Whether the file ended before the bytes to be read.
    pub(crate) fn is_cut(&self) -> bool {
        matches!(self, Error::Io { source, .. } if source.kind() == io::ErrorKind::UnexpectedEof)
    }

    /// Converts an error that means damage to a description of the damage. Returns any other error.
    /// A failed read counts as damage.
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

    /// Replaces the name of a file in an error, for a file outside of a store.
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

impl From<DiskError> for Error {
    fn from(DiskError { action, name, source }: DiskError) -> Self {
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
            // A source of frequencies inside this crate returns errors of this crate.
            FingerprintError::Frequencies(e) => {
                let own = e.downcast_ref::<Error>().cloned();
                own.unwrap_or(Error::Input(e))
            }
            FingerprintError::Bug(bug) => Error::Bug(bug),
        }
    }
}
