//! Where scratch files of what is computed from a snapshot lie.

use std::sync::Arc;

use tempfile::TempDir;

use crate::disk::{Disk, Name, RealDisk};
use crate::error::{Error, Result};

/// A directory for scratch files, which goes when this is dropped. It is none of a store: a snapshot may
/// be of one that must not be written.
#[derive(Debug)]
pub(super) struct Place {
    disk: Arc<dyn Disk>,
    _dir: TempDir,
}

impl Place {
    /// A new directory in the system's directory for temporary files.
    pub(super) fn new() -> Result<Place> {
        let failed = |path: String| {
            move |source| Error::Io {
                action: "make scratch space in",
                file: path,
                source: Arc::new(source),
            }
        };
        let above = std::env::temp_dir();
        let dir = tempfile::tempdir().map_err(failed(above.display().to_string()))?;
        let disk = RealDisk::new(dir.path());
        disk.create_dirs().map_err(failed(dir.path().display().to_string()))?;
        Ok(Place { disk: Arc::new(disk), _dir: dir })
    }

    /// The directory.
    pub(super) fn disk(&self) -> &Arc<dyn Disk> {
        &self.disk
    }
}

/// A file in it, by number.
pub(super) fn name(part: u32) -> Name {
    Name::Scratch(0, part)
}
