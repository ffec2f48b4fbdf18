//! What is known of a page: its URL and place in SURT order, what was observed, and the fold of
//! observations into a history. Pure: nothing here knows of files.

mod epoch;
mod head;
mod observation;
mod prefix;
mod punycode;
pub(crate) mod surt;
mod url;

pub use epoch::{Epoch, EpochInfo};
pub use head::{HISTORY_WINDOW, SameBy, Verdict};
pub(crate) use head::{Head, LastSeen, judge};
pub(crate) use observation::restated_digest;
pub use observation::{Content, Digest, Observation, Seen, TIME_MAX, TIME_MIN, Visit};
pub use prefix::{Prefix, PrefixError};
pub(crate) use url::check as check_url;
pub use url::{URL_BYTES_MAX, UrlError};
