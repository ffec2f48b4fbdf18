//! The only interface to the file system.
//!
//! No other module opens, writes, syncs, renames, links, removes or maps a file, so a test can
//! record, fail or cut short everything that reaches the disk. A [`Disk`] is the directory of one
//! store. Files are named by [`Name`], never by a string from outside, so no content of a page can
//! lead out of the directory.

mod contract;
mod extents;
mod file;
mod flock;
mod held;
mod layer;
mod location;
mod map;
#[cfg(feature = "internals")]
mod meter;
mod name;
mod paths;
mod real;
mod regular;
#[cfg(feature = "internals")]
mod sim;
mod unnamed;
#[cfg(any(feature = "internals", feature = "metrics"))]
mod watched;

pub use contract::Linkable;
pub(crate) use contract::is_refused;
pub use contract::{Access, Disk, DiskFile, Holder, Lock, LockGuard, Locked};
pub(crate) use extents::create;
pub use file::Failure;
pub use file::{NewFile, Scratch, ScratchMap};
pub(crate) use held::FileCopy;
#[cfg(any(test, feature = "internals", feature = "metrics"))]
pub use layer::DiskLayer;
pub use location::Location;
pub use map::Map;
pub(crate) use map::MapPart;
pub use map::page_faults;
#[cfg(feature = "internals")]
pub use meter::{Counts, Meter, Totals};
pub use name::{Dir, Fixed, Name};
pub use real::RealDisk;
#[cfg(feature = "internals")]
pub use sim::{Fault, Op, OpKind, SimDisk, Strikes, Unit};
pub use unnamed::UnnamedDisk;
#[cfg(any(feature = "internals", feature = "metrics"))]
pub use watched::{WatchedDisk, Watcher};

#[cfg(feature = "internals")]
pub use crate::sync::apart;
