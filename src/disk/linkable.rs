//! A file that may get a name on another disk.

use std::any::Any;
use std::fmt;
use std::io::{self, ErrorKind};
use std::sync::Arc;

use rustix::io::Errno;

/// A file of a [`Disk`](super::Disk), as another disk of the same kind takes it to link it. What is in
/// it only that kind knows, so it passes unseen through disks that stand in front of others.
#[derive(Clone)]
pub struct Linkable(Arc<dyn Any + Send + Sync>);

impl Linkable {
    pub(super) fn new(file: impl Any + Send + Sync) -> Linkable {
        Linkable(Arc::new(file))
    }

    /// What this kind of disk made it of; `None` if another kind did.
    pub(super) fn made_of<T: Any>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }
}

impl fmt::Debug for Linkable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Linkable")
    }
}

/// Whether the system makes no link here, so that the file has to be copied: to another file system, of
/// a file that is somebody else's, or one with very many links already, or where there are no links.
pub(crate) fn is_refused(error: &io::Error) -> bool {
    use ErrorKind::{CrossesDevices, PermissionDenied, TooManyLinks, Unsupported};
    matches!(error.kind(), CrossesDevices | PermissionDenied | TooManyLinks | Unsupported)
        // Not all of what a file system answers that has no links has a kind.
        || error.raw_os_error() == Some(Errno::OPNOTSUPP.raw_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_linked_is_told_from_a_disk_that_fails() {
        let error = |errno: Errno| io::Error::from_raw_os_error(errno.raw_os_error());
        for refused in [Errno::XDEV, Errno::PERM, Errno::MLINK, Errno::NOSYS, Errno::OPNOTSUPP] {
            assert!(is_refused(&error(refused)), "{refused}");
        }
        for failed in [Errno::NOSPC, Errno::IO, Errno::NOENT, Errno::ROFS, Errno::DQUOT] {
            assert!(!is_refused(&error(failed)), "{failed}");
        }
    }
}
