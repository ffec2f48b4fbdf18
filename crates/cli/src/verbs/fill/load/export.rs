//! Reads the lines of an export.

use std::collections::{BTreeMap, HashMap};
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use simkeep::df::FrequencyTable;
use simkeep::load::LoadEpochs;
use simkeep::{Epoch, Error, Role};

use super::{LoadInput, OwnedRecord};
use crate::exit::VerbError;
use crate::input::feed::{EntryPayload, InputItem};
use crate::output::temporary::UnfinishedFile;
use simkeep_formats::escape::escape_untruncated;
use simkeep_formats::export::{ExportLine, ExportLineKind, ExportedEpoch, TablePart};

/// The state of reading an export. Its failures are [`VerbError::Broken`] if the export is not
/// sound.
#[derive(Default)]
pub(super) struct ExportReader {
    /// The numbers of its epochs in the load, by name.
    epochs: HashMap<String, Epoch>,
    /// The tables that have not arrived yet, with the epochs that use them.
    awaited: BTreeMap<u64, Vec<Epoch>>,
    coming: Option<IncomingTable>,
    /// Whether entries have arrived.
    has_entries: bool,
    /// Whether the last line has arrived.
    has_ended: bool,
}

/// A table whose parts are arriving, in a file of its own.
struct IncomingTable {
    id: u64,
    of: u64,
    written: u64,
    file: UnfinishedFile,
}

fn flaw<T>(why: impl Into<String>) -> Result<T, VerbError> {
    Err(VerbError::Broken(why.into()))
}

impl ExportReader {
    /// Takes an epoch, which begins with the load if the store has no epoch of that name.
    pub(super) fn take_epoch(
        &mut self,
        exported: &ExportedEpoch,
        load: &LoadEpochs,
    ) -> Result<(), VerbError> {
        let name = escape_untruncated(&exported.name);
        if self.has_entries || self.coming.is_some() {
            return flaw(format!("the epoch {name} comes after entries or tables"));
        }
        if self.epochs.contains_key(&exported.name) {
            return flaw(format!("the epoch {name} occurs twice"));
        }
        let epoch = load.described(
            &exported.name,
            exported.reserved,
            exported.options,
            exported.begun,
            exported.ended,
        );
        let epoch = epoch.map_err(|e| VerbError::Broken(e.to_string()))?;
        self.epochs.insert(exported.name.clone(), epoch);
        if let Some(id) = exported.table {
            self.awaited.entry(id).or_default().push(epoch);
        }
        Ok(())
    }

    /// Takes a part of a table. The file that collects the parts is next to the store.
    pub(super) fn take_part(
        &mut self,
        part: &TablePart,
        store: &Path,
        load: &LoadEpochs,
    ) -> Result<(), VerbError> {
        let TablePart { id, at, of, bytes, .. } = part;
        if self.has_entries || !self.awaited.contains_key(id) {
            return flaw(format!("the table {id:016x} belongs to no epoch, or occurs twice"));
        }
        let cannot = |e| VerbError::Other(format!("cannot store the table {id:016x}: {e}"));
        let coming = match &mut self.coming {
            Some(coming) => coming,
            none => {
                let file = UnfinishedFile::create(store).map_err(cannot)?;
                none.insert(IncomingTable { id: *id, of: *of, written: 0, file })
            }
        };
        if (coming.id, coming.of, coming.written) != (*id, *of, *at) {
            return flaw(format!("the parts of the table {:016x} are not in order", coming.id));
        }
        coming.file.write_all(bytes).map_err(cannot)?;
        coming.written += bytes.len() as u64;
        if coming.written == *of
            && let (Some(coming), Some(epochs)) = (self.coming.take(), self.awaited.remove(id))
        {
            let table = Arc::new(coming.open()?);
            for epoch in epochs {
                let taken = load.table(epoch, Arc::clone(&table));
                taken.map_err(|e| VerbError::Broken(e.to_string()))?;
            }
        }
        Ok(())
    }

    /// Takes the last line.
    pub(super) fn take_end(&mut self) -> Result<(), VerbError> {
        self.check_tables()?;
        self.has_ended = true;
        Ok(())
    }

    /// Checks that the file may end now.
    pub(super) fn check_ended(&self) -> Result<(), VerbError> {
        if self.has_ended {
            Ok(())
        } else {
            flaw("the export is incomplete: its last line is missing")
        }
    }

    /// Checks that an item may come now.
    pub(super) fn admit(&mut self, fed: &InputItem) -> Result<(), VerbError> {
        if matches!(
            fed,
            InputItem::Export(ExportLine {
                kind: ExportLineKind::FileEnd | ExportLineKind::Flawed(_),
                ..
            })
        ) {
            return Ok(());
        }
        if self.has_ended {
            return flaw("the export continues after its last line");
        }
        let InputItem::Entry(entry) = fed else { return Ok(()) };
        if !self.has_entries {
            self.check_tables()?;
            self.has_entries = true;
        }
        match &entry.found {
            EntryPayload::Ready(_, Some(name)) | EntryPayload::Restated(_, name)
                if !self.epochs.contains_key(name) =>
            {
                let (url, name) = (escape_untruncated(&entry.url), escape_untruncated(name));
                flaw(format!("{url}: the export does not list the epoch {name} in its first lines"))
            }
            _ => Ok(()),
        }
    }

    /// Checks that all tables have arrived.
    fn check_tables(&self) -> Result<(), VerbError> {
        match self.awaited.keys().next() {
            Some(id) => flaw(format!("the table {id:016x} is missing or incomplete")),
            None => Ok(()),
        }
    }

    /// The epoch with this name.
    pub(super) fn epoch(&self, name: &str) -> simkeep::Result<Epoch> {
        let epoch = self.epochs.get(name).copied();
        epoch.ok_or_else(|| {
            Error::InvalidArgument(format!("the export has no epoch {}", escape_untruncated(name)))
        })
    }
}

impl IncomingTable {
    /// Opens and checks the table. Its file no longer needs a name.
    fn open(self) -> Result<FrequencyTable, VerbError> {
        let IncomingTable { id, file, .. } = self;
        let table = FrequencyTable::open(file.path());
        let table = table.map_err(|e| match e {
            Error::Corrupt(corruption) => VerbError::Broken(corruption.what),
            Error::NotATable { why, .. } => VerbError::Broken(why),
            e @ Error::Version { .. } => VerbError::Broken(e.to_string()),
            other => VerbError::Store(other),
        });
        let named = |why| format!("the table {id:016x}: {why}");
        match table {
            Ok(table) if table.id() == id => Ok(table),
            Ok(table) => flaw(named(format!("its checksum is {:016x}", table.id()))),
            Err(VerbError::Broken(why)) => flaw(named(why)),
            Err(other) => Err(other),
        }
    }
}

impl LoadInput<'_> {
    /// Takes a line of an export that is not an entry.
    pub(super) fn exported(&mut self, line: ExportLine) -> Option<simkeep::Result<OwnedRecord>> {
        let ExportLine { at, kind: says } = line;
        let taken = self.take_exported(says);
        let failed = taken.map_err(|failure| self.flawed(&at, failure));
        self.exported_at = at;
        failed.err()
    }

    /// Ends the stream, because the export is not sound at this position.
    pub(super) fn flawed(&mut self, at: &str, failure: VerbError) -> simkeep::Result<OwnedRecord> {
        self.fail(match failure {
            VerbError::Broken(why) => VerbError::Broken(format!("{at}: {why}; nothing was stored")),
            other => other,
        })
    }

    fn take_exported(&mut self, says: ExportLineKind) -> Result<(), VerbError> {
        match (says, &mut self.export) {
            (ExportLineKind::Begin, export) => *export = Some(ExportReader::default()),
            (ExportLineKind::Epoch(exported), Some(export)) => {
                self.admission
                    .admit_exported(&exported.name, exported.ended)
                    .map_err(VerbError::Broken)?;
                export.take_epoch(&exported, self.load_epochs)?;
                self.epochs.add_exported_epoch(&exported.name, exported.options);
                if std::mem::take(&mut self.at_start) {
                    if (exported.options.role, exported.begun) != (Role::Both, 0) {
                        let why = "the first epoch of an export must have both roles and begin at visit 0";
                        return Err(VerbError::Broken(why.to_owned()));
                    }
                    self.first_epoch = Some(exported.name);
                }
            }
            (ExportLineKind::Table(part), Some(export)) => {
                export.take_part(&part, self.place, self.load_epochs)?;
            }
            (ExportLineKind::End, Some(export)) => export.take_end()?,
            (ExportLineKind::FileEnd, Some(export)) => {
                export.check_ended()?;
                self.export = None;
            }
            (ExportLineKind::Flawed(why), _) => return Err(VerbError::Broken(why)),
            (_, None) => {
                return Err(VerbError::Broken(
                    "the line belongs to an export, but no export has begun".to_owned(),
                ));
            }
            (_, Some(_)) => {
                return Err(VerbError::Broken(
                    "this version of simkeep does not know this kind of line".to_owned(),
                ));
            }
        }
        Ok(())
    }
}
