//! What programs read: the values that all verbs write alike.
//!
//! The answer of each verb is a type next to the verb, with `Serialize` and `JsonSchema`. `schema.rs`
//! lists all of them. A key is never renamed, and never means something else. For that:
//!
//! - the same thing has the same key everywhere, and another thing another one;
//! - sizes end in `_bytes`, durations in `_seconds`, and times are [`Time`]s;
//! - fingerprints are [`Fingerprint`]s, and `epoch` is the name of one, an [`EpochName`];
//! - an object has all its keys, always: `null` is what there is none of. Only an [`Entry`], with what a
//!   verb adds to it, leaves keys out, as in an export;
//! - an answer of one object says in `saw` what it is an answer of: [`Saw`].

mod entry;
mod epoch;
mod flaw;
mod message;
mod saw;
mod values;
mod verdict_counts;

pub(crate) use entry::Entry;
pub(crate) use epoch::Epoch;
pub(crate) use flaw::Flaw;
pub(crate) use message::{Beside, Error, Message, Note};
pub(crate) use saw::Saw;
pub(crate) use values::{
    Band, Digest, EpochName, Fingerprint, Hash, Number, Role, Seen, Share, Time, Verdict,
};
pub(crate) use verdict_counts::VerdictCounts;
