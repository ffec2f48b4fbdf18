//! A file in memory.

use std::io;

use super::DiskFile;

/// A copy of a file in memory, for reading.
#[derive(Debug)]
pub(crate) struct FileCopy(Vec<u8>);

impl FileCopy {
    /// Reads a whole file into memory.
    ///
    /// # Errors
    ///
    /// An error if the file cannot be read.
    pub(crate) fn copy(file: &dyn DiskFile) -> io::Result<FileCopy> {
        let len = usize::try_from(file.size()?).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let mut bytes = vec![0; len];
        file.read_at(0, &mut bytes)?;
        Ok(FileCopy(bytes))
    }
}

impl DiskFile for FileCopy {
    fn size(&self) -> io::Result<u64> {
        Ok(self.0.len() as u64)
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        let start = usize::try_from(offset).ok();
        let bytes = start.and_then(|start| self.0.get(start..)?.get(..buf.len()));
        buf.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_at(&self, _: u64, _: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }

    fn set_len(&self, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}
