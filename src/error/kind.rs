//! The kinds of errors, by name.

use super::Error;

/// Declares the kinds of errors: one kind for each variant of [`Error`], with the name of the
/// variant.
macro_rules! kinds {
    ($($Kind:ident),* $(,)?) => {
        /// The kind of an [`Error`], without its details.
        ///
        /// Use the kind in code that converts errors into another form, such as exceptions of
        /// another language or codes. [`ALL`](ErrorKind::ALL) lets a test check that each kind is
        /// covered.
        ///
        /// ```
        /// use simkeep::{Error, ErrorKind};
        /// assert_eq!(Error::Closed.kind(), ErrorKind::Closed);
        /// assert_eq!(ErrorKind::Closed.name(), "Closed");
        /// assert!(ErrorKind::ALL.contains(&ErrorKind::Closed));
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum ErrorKind {
            $(
                #[doc = concat!("That of [`Error::", stringify!($Kind), "`].")]
                $Kind,
            )*
        }

        impl ErrorKind {
            /// All kinds, each once, in the order of the variants of [`Error`].
            pub const ALL: &'static [ErrorKind] = &[$(ErrorKind::$Kind),*];

            /// The name of the variant, such as `NotAStore`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(ErrorKind::$Kind => stringify!($Kind),)*
                }
            }
        }

        impl Error {
            /// The kind of the error.
            #[must_use]
            pub const fn kind(&self) -> ErrorKind {
                match self {
                    $(Error::$Kind { .. } => ErrorKind::$Kind,)*
                }
            }
        }
    };
}

kinds! {
    Io,
    Corrupt,
    NotAStore,
    NotATable,
    Unfinished,
    AlreadyExists,
    StoreExists,
    NotABackup,
    Version,
    UrlHash,
    Locked,
    Replaced,
    Forked,
    Poisoned,
    Closed,
    Bug,
    Url,
    Prefix,
    Time,
    InTheFuture,
    UnknownEpoch,
    EndedEpoch,
    NoTable,
    EpochInUse,
    LoadRejected,
    Input,
    Cancelled,
    AmbiguousRepair,
    InvalidOption,
    Limit,
    InvalidArgument,
    Catalog,
}
