//! Words: members of the enumerations in `simkeep/_words.py`.
//!
//! A test compares the lists in this file with the lists in that file.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;
use simkeep::fingerprint::Band as CrateBand;
use simkeep::inspect;

use crate::convert::arg::Arg;
use crate::convert::typed::output_type;
use crate::convert::value::FromRust;

/// Declares enumerations, each with its members and their values.
macro_rules! words {
    ($($(#[$of:meta])* $Name:ident { $($Member:ident = $value:literal,)* })*) => {
        $(
            $(#[$of])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub(crate) enum $Name { $($Member,)* }

            impl $Name {
                const ALL: &'static [($Name, &'static str)] = &[$(($Name::$Member, $value),)*];

                /// Returns the value of the member.
                #[allow(clippy::allow_attributes, dead_code, reason = "not all are written out")]
                pub(crate) fn value(self) -> &'static str {
                    match self { $($Name::$Member => $value,)* }
                }

                /// Returns the member with this value.
                #[allow(clippy::allow_attributes, dead_code, reason = "some are only answers")]
                pub(crate) fn named(value: &str) -> Option<$Name> {
                    $Name::ALL.iter().find(|all| all.1 == value).map(|all| all.0)
                }

                /// Returns all values, for a message.
                #[allow(clippy::allow_attributes, dead_code, reason = "some are only answers")]
                pub(crate) fn values() -> String {
                    let values: Vec<_> = $Name::ALL.iter().map(|all| all.1).collect();
                    values.join(", ")
                }

                /// Converts a member, or its value.
                #[allow(clippy::allow_attributes, dead_code, reason = "some are only answers")]
                pub(crate) fn take(arg: Arg, given: &Bound<'_, PyAny>) -> PyResult<$Name> {
                    let expected = || format!("one of {}", $Name::values());
                    let Ok(text) = given.cast::<PyString>() else {
                        return Err(arg.type_error(&expected(), given));
                    };
                    let found = $Name::named(&text.to_string_lossy());
                    found.ok_or_else(|| arg.value_error(&expected(), given))
                }
            }

            impl<'py> IntoPyObject<'py> for $Name {
                type Target = PyAny;
                type Output = Bound<'py, PyAny>;
                type Error = PyErr;
                output_type!("simkeep._words", stringify!($Name));

                fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                    let member = match self {
                        $($Name::$Member => {
                            static MEMBER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
                            MEMBER.get_or_try_init(py, || member(py, stringify!($Name), $value))
                        })*
                    };
                    Ok(member?.bind(py).clone())
                }
            }

            impl<T> FromRust<T> for $Name
            where
                $Name: From<T>,
            {
                fn from_rust(_: Python<'_>, of: T) -> PyResult<$Name> {
                    Ok(of.into())
                }
            }

            impl<'py> FromPyObject<'_, 'py> for $Name {
                type Error = PyErr;

                fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<$Name> {
                    $Name::take(Arg::new(stringify!($Name)), &given)
                }
            }
        )*

        /// Returns all enumerations by name, each with its values. For the tests.
        #[pyfunction]
        pub(crate) fn _words() -> BTreeMap<&'static str, Vec<&'static str>> {
            let all = [$((stringify!($Name), $Name::ALL.iter().map(|all| all.1).collect()),)*];
            BTreeMap::from(all)
        }
    };
}

/// Returns a member of an enumeration.
fn member(py: Python<'_>, class: &str, value: &str) -> PyResult<Py<PyAny>> {
    let class = py.import("simkeep._words")?.getattr(class)?;
    Ok(class.call1((value,))?.unbind())
}

words! {
    /// The state of a page after an observation.
    Verdict {
        New = "new",
        Same = "same",
        Unseen = "unseen",
        Changed = "changed",
        Reverted = "reverted",
        Gone = "gone",
        Failed = "failed",
        OutOfOrder = "out-of-order",
        Known = "known",
        Other = "other",
    }
    /// The reason why a page is known to be the same.
    SameBy {
        Digest = "digest",
        Fingerprint = "fingerprint",
        NotModified = "not-modified",
        Other = "other",
    }
    /// The reason why the contents of two pages are known to be nearly the same.
    OriginalBy {
        Digest = "digest",
        Fingerprint = "fingerprint",
        Near = "near",
        Other = "other",
    }
    /// The size class of a change, which depends on the distance.
    Band {
        None = "none",
        Minor = "minor",
        Moderate = "moderate",
        Major = "major",
    }
    /// The role of an epoch.
    Role {
        Change = "change",
        Near = "near",
        Both = "both",
    }
    /// The result of a visit.
    Seen {
        Content = "content",
        Redirect = "redirect",
        NotModified = "not-modified",
        Gone = "gone",
        Failed = "failed",
    }
    /// The result of a restatement.
    RestateOutcome {
        Stored = "stored",
        Known = "known",
        Missing = "missing",
        Other = "other",
    }
    /// The result of setting a property.
    PropertyOutcome {
        Stored = "stored",
        Known = "known",
        Missing = "missing",
        Other = "other",
    }
    /// The reason when a page is visited.
    Reason {
        Worth = "worth",
        Hinted = "hinted",
        Overdue = "overdue",
        NotYet = "not-yet",
        LeftAlone = "left-alone",
        Ahead = "ahead",
        Other = "other",
    }
    /// The reason why the leader of a page changed.
    LeaderChangeReason {
        New = "new",
        Gone = "gone",
        Changed = "changed",
        LeaderGone = "leader-gone",
        LeaderChanged = "leader-changed",
        Outranked = "outranked",
        Other = "other",
    }
    /// The fate of a page when near-duplicates are dropped.
    Fate {
        Unknown = "unknown",
        Kept = "kept",
        Dropped = "dropped",
        Other = "other",
    }
    /// Whether the text of a page is worth comparing.
    Candidacy {
        Unknown = "unknown",
        Alone = "alone",
        Candidate = "candidate",
        Other = "other",
    }
    /// The use of the bytes of a store.
    Space {
        Histories = "histories",
        PageIndex = "page index",
        Schedule = "schedule",
        Fingerprints = "fingerprints",
        Postings = "postings",
        Tables = "tables",
        Frames = "frames",
        Other = "other",
    }
    /// The kind of a version of a page.
    VersionKind {
        Content = "content",
        Gone = "gone",
        Failed = "failed",
        Unseen = "unseen",
        Other = "other",
    }
    /// The effect of an operation.
    OperationKind {
        Entry = "entry",
        Forget = "forget",
        ForgetPrefix = "forget-prefix",
    }
    /// The stage of a long call.
    Stage {
        Waiting = "waiting",
        Gathering = "gathering",
        Merging = "merging",
        Writing = "writing",
        Checking = "checking",
        Joining = "joining",
        Counting = "counting",
        Copying = "copying",
        Clustering = "clustering",
        Comparing = "comparing",
        Other = "other",
    }
}

impl From<simkeep::SameBy> for SameBy {
    fn from(by: simkeep::SameBy) -> SameBy {
        match by {
            simkeep::SameBy::Digest => SameBy::Digest,
            simkeep::SameBy::Fingerprint => SameBy::Fingerprint,
            simkeep::SameBy::NotModified => SameBy::NotModified,
            _ => SameBy::Other,
        }
    }
}

impl From<simkeep::OriginalBy> for OriginalBy {
    fn from(by: simkeep::OriginalBy) -> OriginalBy {
        match by {
            simkeep::OriginalBy::Digest => OriginalBy::Digest,
            simkeep::OriginalBy::Fingerprint => OriginalBy::Fingerprint,
            simkeep::OriginalBy::Near => OriginalBy::Near,
            _ => OriginalBy::Other,
        }
    }
}

impl From<CrateBand> for Band {
    fn from(band: CrateBand) -> Band {
        match band {
            CrateBand::None => Band::None,
            CrateBand::Minor => Band::Minor,
            CrateBand::Moderate => Band::Moderate,
            CrateBand::Major => Band::Major,
        }
    }
}

impl From<simkeep::Role> for Role {
    fn from(role: simkeep::Role) -> Role {
        match role {
            simkeep::Role::Change => Role::Change,
            simkeep::Role::Near => Role::Near,
            simkeep::Role::Both => Role::Both,
        }
    }
}

impl From<Role> for simkeep::Role {
    fn from(role: Role) -> simkeep::Role {
        match role {
            Role::Change => simkeep::Role::Change,
            Role::Near => simkeep::Role::Near,
            Role::Both => simkeep::Role::Both,
        }
    }
}

impl From<&simkeep::Seen> for Seen {
    fn from(seen: &simkeep::Seen) -> Seen {
        match seen {
            simkeep::Seen::Content(content) if content.is_redirect() => Seen::Redirect,
            simkeep::Seen::Content(_) => Seen::Content,
            simkeep::Seen::NotModified { .. } => Seen::NotModified,
            simkeep::Seen::Gone => Seen::Gone,
            simkeep::Seen::Failed => Seen::Failed,
        }
    }
}

impl From<simkeep::RestateOutcome> for RestateOutcome {
    fn from(outcome: simkeep::RestateOutcome) -> RestateOutcome {
        match outcome {
            simkeep::RestateOutcome::Stored => RestateOutcome::Stored,
            simkeep::RestateOutcome::Known => RestateOutcome::Known,
            simkeep::RestateOutcome::Missing => RestateOutcome::Missing,
            _ => RestateOutcome::Other,
        }
    }
}

impl From<simkeep::PropertyOutcome> for PropertyOutcome {
    fn from(outcome: simkeep::PropertyOutcome) -> PropertyOutcome {
        match outcome {
            simkeep::PropertyOutcome::Stored => PropertyOutcome::Stored,
            simkeep::PropertyOutcome::Known => PropertyOutcome::Known,
            simkeep::PropertyOutcome::Missing => PropertyOutcome::Missing,
            _ => PropertyOutcome::Other,
        }
    }
}

impl From<simkeep::due::Reason> for Reason {
    fn from(reason: simkeep::due::Reason) -> Reason {
        match reason {
            simkeep::due::Reason::Worth => Reason::Worth,
            simkeep::due::Reason::Hinted { .. } => Reason::Hinted,
            simkeep::due::Reason::Overdue { .. } => Reason::Overdue,
            simkeep::due::Reason::NotYet { .. } => Reason::NotYet,
            simkeep::due::Reason::LeftAlone { .. } => Reason::LeftAlone,
            simkeep::due::Reason::Ahead => Reason::Ahead,
            _ => Reason::Other,
        }
    }
}

impl From<simkeep::cluster::LeaderChangeReason> for LeaderChangeReason {
    fn from(why: simkeep::cluster::LeaderChangeReason) -> LeaderChangeReason {
        match why {
            simkeep::cluster::LeaderChangeReason::New => LeaderChangeReason::New,
            simkeep::cluster::LeaderChangeReason::Gone => LeaderChangeReason::Gone,
            simkeep::cluster::LeaderChangeReason::Changed { .. } => LeaderChangeReason::Changed,
            simkeep::cluster::LeaderChangeReason::LeaderGone => LeaderChangeReason::LeaderGone,
            simkeep::cluster::LeaderChangeReason::LeaderChanged { .. } => {
                LeaderChangeReason::LeaderChanged
            }
            simkeep::cluster::LeaderChangeReason::Outranked => LeaderChangeReason::Outranked,
            _ => LeaderChangeReason::Other,
        }
    }
}

impl From<simkeep::cluster::Fate> for Fate {
    fn from(fate: simkeep::cluster::Fate) -> Fate {
        match fate {
            simkeep::cluster::Fate::Unknown => Fate::Unknown,
            simkeep::cluster::Fate::Kept => Fate::Kept,
            simkeep::cluster::Fate::Dropped { .. } => Fate::Dropped,
            _ => Fate::Other,
        }
    }
}

impl From<simkeep::cluster::Candidacy> for Candidacy {
    fn from(candidacy: simkeep::cluster::Candidacy) -> Candidacy {
        match candidacy {
            simkeep::cluster::Candidacy::Unknown => Candidacy::Unknown,
            simkeep::cluster::Candidacy::Alone => Candidacy::Alone,
            simkeep::cluster::Candidacy::Candidate { .. } => Candidacy::Candidate,
            _ => Candidacy::Other,
        }
    }
}

impl From<inspect::Space> for Space {
    fn from(space: inspect::Space) -> Space {
        match space {
            inspect::Space::Histories => Space::Histories,
            inspect::Space::PageIndex => Space::PageIndex,
            inspect::Space::Schedule => Space::Schedule,
            inspect::Space::Fingerprints => Space::Fingerprints,
            inspect::Space::Postings => Space::Postings,
            inspect::Space::Tables => Space::Tables,
            inspect::Space::Frames => Space::Frames,
            _ => Space::Other,
        }
    }
}

impl From<inspect::VersionKind> for VersionKind {
    fn from(kind: inspect::VersionKind) -> VersionKind {
        match kind {
            inspect::VersionKind::Content(_) => VersionKind::Content,
            inspect::VersionKind::Gone => VersionKind::Gone,
            inspect::VersionKind::Failed => VersionKind::Failed,
            inspect::VersionKind::Unseen => VersionKind::Unseen,
            _ => VersionKind::Other,
        }
    }
}

impl From<&inspect::OperationKind> for OperationKind {
    fn from(kind: &inspect::OperationKind) -> OperationKind {
        match kind {
            inspect::OperationKind::Entry { .. } => OperationKind::Entry,
            inspect::OperationKind::Forget { .. } => OperationKind::Forget,
            inspect::OperationKind::ForgetPrefix { .. } => OperationKind::ForgetPrefix,
        }
    }
}

impl From<simkeep::Stage> for Stage {
    fn from(stage: simkeep::Stage) -> Stage {
        match stage {
            simkeep::Stage::Waiting => Stage::Waiting,
            simkeep::Stage::Gathering => Stage::Gathering,
            simkeep::Stage::Merging => Stage::Merging,
            simkeep::Stage::Writing => Stage::Writing,
            simkeep::Stage::Checking => Stage::Checking,
            simkeep::Stage::Joining => Stage::Joining,
            simkeep::Stage::Counting => Stage::Counting,
            simkeep::Stage::Copying => Stage::Copying,
            simkeep::Stage::Clustering => Stage::Clustering,
            simkeep::Stage::Comparing => Stage::Comparing,
            _ => Stage::Other,
        }
    }
}
