//! Every error says what happened, where, and what to do.

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

/// What can go wrong.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// A call to the operating system failed.
    Io {
        /// What was being done.
        action: &'static str,
        /// To which file, by its path within the store's directory, or the directory's own.
        file: String,
        /// What the system said.
        source: Arc<io::Error>,
    },
    /// A file is damaged.
    Corrupt(Corruption),
    /// There is no store at that place.
    NotAStore {
        /// The place.
        location: String,
        /// Why it is none.
        why: String,
    },
    /// A file is no table of document frequencies.
    NotATable {
        /// The file.
        file: String,
        /// Why it is none.
        why: String,
    },
    /// What was to be a store was never finished: the repair, or the load, that makes it was broken off, or
    /// is still at it.
    Unfinished {
        /// The place.
        location: String,
    },
    /// Something that is not to be replaced has the name of a file that was to be made.
    InTheWay {
        /// The file.
        file: String,
        /// What it is.
        why: &'static str,
    },
    /// A store stands where one was to be made.
    Exists {
        /// The place.
        location: String,
    },
    /// A file was written by another version of simkeep.
    Version {
        /// The file.
        file: String,
        /// The version found.
        found: u32,
        /// The one that this build reads.
        reads: u32,
    },
    /// The store is open for writing, by another process or by this one.
    Locked {
        /// The place.
        location: String,
        /// Who has it open.
        holder: Holder,
    },
    /// A file that keeps other writers out was removed or replaced while the store was open: another
    /// process may be writing. Nothing more is.
    Replaced {
        /// The file.
        file: String,
    },
    /// The store was opened by the process that this one was forked from, and only that one uses it.
    Forked,
    /// A write failed before, or a bug of simkeep's was met: nothing more is accepted until the store is
    /// opened again. After a bug nothing is read either.
    Poisoned(Arc<Error>),
    /// The store was closed.
    Closed,
    /// An invariant of simkeep's own does not hold. Nothing is wrong with what it was asked; please
    /// report it. A store that meets one is [poisoned](Error::Poisoned).
    Bug(Bug),
    /// Not a URL that can be stored.
    Url(UrlError),
    /// Not a prefix.
    Prefix(PrefixError),
    /// A time outside the years 1 to 9999.
    Time(i64),
    /// An epoch that the store has not registered.
    UnknownEpoch(u32),
    /// An epoch that has ended.
    EndedEpoch(String),
    /// The table of document frequencies of an epoch is not in the store: the epoch is known by its name
    /// alone, or has ended since.
    NoTable {
        /// The epoch's name.
        epoch: String,
        /// The file that it would be.
        file: String,
    },
    /// An epoch that cannot end yet: pages have a version in force that is of it.
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
    /// Whatever the observations of a load were read from failed.
    Input(Arc<dyn std::error::Error + Send + Sync>),
    /// A load, a check or a repair was broken off by its callback. Nothing was stored.
    Cancelled,
    /// It cannot be told what was forgotten: an operation that is lost may have done it. Nothing was
    /// repaired.
    Doubtful {
        /// What is lost.
        what: String,
    },
    /// An option has a value that it cannot have.
    Option(String),
    /// The catalog's database refused.
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

    pub(crate) fn corrupt(file: impl fmt::Display, offset: u64, what: impl Into<String>) -> Error {
        Error::Corrupt(Corruption { file: file.to_string(), offset, what: what.into() })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io { action, file, source } => {
                write!(f, "cannot {action} {file}: {source}")?;
                match source.kind() {
                    io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => f.write_str(
                        "; make room on the disk, and open the store again if it is one",
                    ),
                    io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                        f.write_str("; check the permissions")
                    }
                    _ => Ok(()),
                }
            }
            Error::Corrupt(corruption) => {
                write!(
                    f,
                    "{corruption}; restore this file from a copy, or save the rest if it is a store: \
                     simkeep repair"
                )
            }
            Error::NotAStore { location, why } => {
                write!(f, "{location} is not a simkeep store: {why}")
            }
            Error::NotATable { file, why } => write!(
                f,
                "{file} is no table of document frequencies: {why}; make one: simkeep df build"
            ),
            Error::Unfinished { location } => write!(
                f,
                "{location} is unfinished: the repair or the load that makes it was broken off, so it is \
                 no store yet; run that again, which begins anew"
            ),
            Error::InTheWay { file, why } => {
                write!(f, "{file} is not replaced: {why}; name another file")
            }
            Error::Exists { location } => {
                write!(f, "{location} is a simkeep store already; open it instead")
            }
            Error::Version { file, found, reads } => {
                write!(
                    f,
                    "{file} was made by another version of simkeep: it has format version {found}, \
                     and this one reads {reads}; "
                )?;
                f.write_str(if found > reads {
                    "use a newer simkeep"
                } else {
                    "use the simkeep that made it, or make it anew with this one"
                })
            }
            Error::Locked { location, holder: Holder::ThisProcess } => write!(
                f,
                "{location} is open in this process already; use a clone of that Store, or a Reader, \
                 which works beside it"
            ),
            Error::Locked { location, holder } => {
                write!(f, "{location} is in use by ")?;
                match holder {
                    Holder::Process(process) => write!(f, "process {process}")?,
                    _ => f.write_str("another process")?,
                }
                f.write_str(
                    " that writes to it; wait until it closes, or read it, which a Reader does \
                     beside a writer",
                )
            }
            Error::Replaced { file } => write!(
                f,
                "{file} was removed or replaced while the store was open; nothing more is written, \
                 since another process may be writing; open the store again"
            ),
            Error::Forked => f.write_str(
                "the store was opened by the process that this one was forked from; open it in one \
                 process only, or read it with a Reader",
            ),
            Error::Poisoned(cause) if matches!(**cause, Error::Bug(_)) => {
                write!(f, "an earlier call met {cause}, and open the store again")
            }
            Error::Poisoned(cause) => write!(
                f,
                "an earlier write failed ({cause}); nothing more is accepted until the store is \
                 opened again"
            ),
            Error::Closed => f.write_str("the store is closed"),
            Error::Bug(bug) => {
                write!(f, "{bug}; nothing more is accepted or read; please report it")
            }
            Error::Url(e) => e.fmt(f),
            Error::Prefix(e) => e.fmt(f),
            Error::Time(ms) => write!(
                f,
                "time {ms} is outside the years 1 to 9999; times are milliseconds since 1970"
            ),
            Error::UnknownEpoch(id) => {
                write!(f, "epoch {id} is not registered in this store; register its name first")
            }
            Error::EndedEpoch(name) => {
                write!(f, "the epoch {name} has ended; begin another one: simkeep epoch begin")
            }
            Error::NoTable { epoch, file } => write!(
                f,
                "{file}, the table of the epoch {epoch}, is not in the store; begin the epoch once \
                 more with it: simkeep epoch begin --df"
            ),
            Error::EpochInUse { name, url } => write!(
                f,
                "the epoch {name} is still in use, as by {url}; restate such pages first, or forget \
                 them, or say how many may be left behind"
            ),
            Error::Load { nth, cause } => {
                write!(f, "observation {nth} of the load: {cause}; nothing was stored")
            }
            Error::Input(error) => error.fmt(f),
            Error::Cancelled => f.write_str("it was broken off; nothing was stored"),
            Error::Doubtful { what } => write!(
                f,
                "{what}; whatever was forgotten there would be known again, so nothing was \
                 repaired; to keep it all the same say --keep-forgotten"
            ),
            Error::Option(what) => f.write_str(what),
            Error::Catalog(what) => write!(f, "catalog.redb: {what}"),
        }
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
