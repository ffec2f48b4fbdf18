//! Pages: their URLs and SURT order, observations, and the fold of observations into a history. No
//! function of this module accesses files.

mod changes;
mod classes;
mod compare;
mod content;
mod entry;
mod epoch;
mod etag;
mod fold;
mod head;
pub(crate) mod host;
mod observation;
mod pattern;
mod prefix;
mod property;
mod punycode;
mod ranking;
mod replay;
mod response;
mod route;
pub(crate) mod site;
pub(crate) mod surt;
mod target;
mod verdict;
mod visit;
mod weight;

pub(crate) use changes::LENGTHS;
pub use changes::{Changes, LastChange};
pub use classes::{Classes, ClassesError};
pub use content::{Content, Digest};
pub(crate) use content::{DIGESTS, TableKey};
pub(crate) use entry::restated_digest;
pub use entry::{Entry, Restated};
pub use epoch::EpochOptions;
pub use epoch::{Epoch, EpochInfo, Role, RoleError};
pub(crate) use epoch::{find_epoch, in_use};
pub use etag::ETag;
pub(crate) use fold::{InForceVisit, retain_in_force, version_of};
pub(crate) use fold::{PageHistory, restatements_of};
pub use head::HISTORY_WINDOW;
pub(crate) use head::PageState;
pub(crate) use head::{
    CONTENTS_MAX, InForceContents, LastSeenContent, ModifiedReport, PageHead, VisitVerdict,
    in_force_on, is_of_version, visit_verdict,
};
pub(crate) use observation::ExtraEntries;
pub use observation::{Observation, Operation, PropertyUpdate, Restatement};
pub use pattern::UrlPattern;
pub use prefix::Prefix;
pub(crate) use prefix::UserInfoPages;
pub(crate) use property::{KINDS, Properties, drop_superseded};
pub use property::{Property, PropertyEntry};
pub(crate) use ranking::{RankInput, RankKey};
pub use ranking::{Ranking, RankingError, RankingRule};
pub use replay::{ReplayedPage, ReplayedState};
pub use response::{FetchFailure, Response, ResponseMeaning};
pub use route::route;
pub use target::Target;
pub use verdict::{Distance, PropertyOutcome, RestateOutcome, SameBy, Verdict};
pub use visit::{Seen, Visit};
pub use weight::Weight;
