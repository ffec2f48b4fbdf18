//! The only interface to the file system.
//!
//! No other module opens, writes, syncs, renames, links, removes or maps a file, so a test can
//! record, fail or cut short everything that reaches the disk. A [`Disk`] is the directory of one
//! store. Files are named by [`FileName`], never by a string from outside, so no content of a page can
//! lead out of the directory.

mod contract;
mod extents;
mod file;
mod file_copy;
mod flock;
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

pub use contract::LinkSource;
pub(crate) use contract::is_refused;
pub use contract::{Access, Disk, DiskFile, LockGuard, LockHolder, LockMode, LockOutcome};
pub(crate) use extents::create;
pub use file::DiskError;
pub use file::{NewFile, ScratchFile, ScratchMap};
pub(crate) use file_copy::FileCopy;
#[cfg(any(test, feature = "internals", feature = "metrics"))]
pub use layer::DiskLayer;
pub use location::Location;
pub use map::FileMap;
pub(crate) use map::MapPart;
pub use map::page_faults;
#[cfg(feature = "internals")]
pub use meter::{DiskTraffic, Meter, MeterCounters};
pub use name::{Dir, FileName, PublishedFileId};
pub use real::RealDisk;
#[cfg(feature = "internals")]
pub use sim::{CrashUnit, DiskFault, DiskOp, FaultTarget, OpKind, SimDisk};
pub use unnamed::UnnamedDisk;
#[cfg(any(feature = "internals", feature = "metrics"))]
pub use watched::{WatchedDisk, Watcher};

#[cfg(feature = "internals")]
pub use crate::sync::without_held_locks;
