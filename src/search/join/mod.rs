//! All pairs of fingerprints within a distance of each other.

mod bucket;
mod cut;
mod load;
mod pair;
mod progress;
mod run;
mod source;

pub use pair::Pair;
pub use progress::Progress;
pub use run::Join;
pub use source::Source;
