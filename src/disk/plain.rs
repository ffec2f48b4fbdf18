//! A disk without maps.

use std::io;
use std::sync::Arc;

use super::{Access, Disk, DiskLayer, Map, Name};

/// Wraps another disk, and reads whole files into memory instead of mapping them.
///
/// So an I/O error is an error and never a signal, and a truncated file does not kill the process.
/// The price is memory for all segments, which are read when they are opened.
#[derive(Clone, Debug)]
pub(crate) struct PlainDisk {
    disk: Arc<dyn Disk>,
}

impl PlainDisk {
    /// The store of another disk, without maps.
    pub(crate) fn new(disk: Arc<dyn Disk>) -> PlainDisk {
        PlainDisk { disk }
    }
}

impl DiskLayer for PlainDisk {
    fn inner(&self) -> &dyn Disk {
        &*self.disk
    }

    fn map(&self, name: Name) -> io::Result<Map> {
        let file = self.disk.open(name, Access::Read)?;
        let len = usize::try_from(file.size()?).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let mut bytes = vec![0; len];
        file.read_at(0, &mut bytes)?;
        Ok(Map::shared(Arc::new(bytes)))
    }
}
