//! A file of `generations/`: one published state of a store.
//!
//! The file lists segments and tables in the directory, whose names never change. The file is
//! written once, when all listed files are durable, and never changed.

use std::sync::Arc;

use super::envelope;
use super::published::{PublishedState, impossible_lists};
use crate::bug::OrBug;
use crate::disk::{Disk, FileName, NewFile};
use crate::error::{Error, Result};
use crate::layout::{Cursor, PutInteger};

const MAGIC: [u8; 8] = *b"simkgen\0";
const VERSION: u32 = 1;

/// One published state of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Generation {
    /// The number of the generation, which is also its file name.
    pub(crate) number: u64,
    /// The sealed state, and all epochs.
    pub(crate) published: PublishedState,
    /// The tables in the directory, by epoch.
    pub(crate) tables: Vec<TableRow>,
}

/// A table of document frequencies in the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TableRow {
    /// The number of the table's epoch.
    pub(crate) epoch: u32,
    /// Bytes of the file.
    pub(crate) bytes: u64,
}

impl Generation {
    /// Writes the file durably. Costs two syncs.
    pub(crate) fn write(&self, disk: &Arc<dyn Disk>) -> Result<()> {
        self.published.check()?;
        let mut body = Vec::new();
        self.published.put(&mut body)?;
        body.put_u64(self.number);
        let tables = u32::try_from(self.tables.len()).ok();
        body.put_u32(tables.or_bug("a store has fewer epochs than 2^32")?);
        for table in &self.tables {
            body.put_u32(table.epoch);
            body.put_u64(table.bytes);
        }
        let mut file = NewFile::create(Arc::clone(disk), FileName::GenerationNew(self.number))?;
        file.append(&envelope::seal(MAGIC, VERSION, &body)?)?;
        file.finish(FileName::Generation(self.number))?;
        Ok(())
    }

    /// Reads the generation with a number.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the generation does not exist, [`Error::Corrupt`], [`Error::Version`].
    pub(crate) fn read(disk: &dyn Disk, number: u64) -> Result<Generation> {
        let name = FileName::Generation(number);
        let Some(bytes) = envelope::read(disk, name)? else {
            return Err(Error::io("open", name, std::io::ErrorKind::NotFound.into()));
        };
        let mut body = Cursor::new(envelope::open(MAGIC, VERSION, name, &bytes)?);
        let published = PublishedState::take(name, &mut body)?;
        let generation = Self::take(published, &mut body).filter(|_| body.is_empty());
        let generation = generation.ok_or_else(|| impossible_lists(name))?;
        if generation.number != number {
            let what = format!(
                "it contains generation {}, but has the name of another generation",
                generation.number
            );
            return Err(Error::corrupt(name, 0, what));
        }
        let epochs = generation.published.epochs.len() as u64;
        let mut tables = generation.tables.iter().map(|table| u64::from(table.epoch));
        if !tables.clone().is_sorted_by(|a, b| a < b) || tables.any(|epoch| epoch >= epochs) {
            return Err(Error::corrupt(
                name,
                0,
                "its tables are not in the order of its epochs, or belong to no epoch in its list",
            ));
        }
        Ok(generation)
    }

    /// Whether the generation exists but is incomplete: a copy is in progress, or was cut short.
    pub(crate) fn is_torn(disk: &dyn Disk, number: u64) -> Result<bool> {
        match envelope::read(disk, FileName::Generation(number)) {
            Ok(bytes) => Ok(bytes.is_some_and(|bytes| !envelope::is_whole(&bytes))),
            // The file became shorter since its size was read.
            Err(e) if e.is_cut() => Ok(true),
            Err(e) => Err(e),
        }
    }

    fn take(published: PublishedState, cursor: &mut Cursor<'_>) -> Option<Generation> {
        let (number, count) = (cursor.u64()?, cursor.u32()?);
        let mut tables = Vec::new();
        for _ in 0..count {
            tables.push(TableRow { epoch: cursor.u32()?, bytes: cursor.u64()? });
        }
        Some(Generation { number, published, tables })
    }
}
