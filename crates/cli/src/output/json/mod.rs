//! JSON values that all verbs write in the same form.
//!
//! The answer of each verb is a type next to the verb, with `Serialize` and `JsonSchema`.
//! `schema.rs` lists all of them. A key is never renamed and never changes its meaning. These rules
//! make that possible:
//!
//! - the same value has the same key everywhere, and different values have different keys;
//! - sizes end in `_bytes`, durations in `_seconds`, and times are [`Time`]s;
//! - fingerprints are [`Fingerprint`]s, and `epoch` is the name of an epoch, an [`EpochName`];
//! - an object always has all its keys, and a missing value is `null`. Only an [`JsonEntry`], with the
//!   keys that a verb adds to it, leaves keys out, as an export does;
//! - an answer of one object names the state that it describes in `saw`: [`StoreState`].

mod entry;
mod epoch;
mod flaw;
mod message;
mod store_state;
mod values;
mod verdict_counts;

pub(crate) use entry::JsonEntry;
pub(crate) use epoch::EpochSummary;
pub(crate) use flaw::FileFlaw;
pub(crate) use message::{AnswerNote, ErrorMessage, StderrMessage, WriterNotice};
pub(crate) use store_state::StoreState;
pub(crate) use values::{
    Band, Digest, EpochName, Fingerprint, Hash, JsonNumber, JsonRatio, RequestHeaders, Role, Seen,
    Time, Verdict,
};
pub(crate) use verdict_counts::VerdictTotals;
