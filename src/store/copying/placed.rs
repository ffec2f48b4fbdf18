//! Getting the files of a store into its backup. They are never written again, so a link will do.

use std::io::ErrorKind;
use std::sync::Arc;

use super::options::{BackedUp, BackupOptions};
use super::source::Source;
use super::target::Target;
use crate::bug::OrBug;
use crate::disk::{Disk, DiskFile, Name, NewFile, is_refused};
use crate::error::{Corruption, Error, Result};
use crate::layout::in_memory;
use crate::page::EpochInfo;
use crate::progress::Progress;
use crate::store::epochs::{open_table, table_name};
use crate::store::listed::open_listed;

/// What is copied at once.
const CHUNK_BYTES: u64 = 1 << 20;

/// How a file got into a backup.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Kept,
    Linked,
    Copied,
}

/// The files of a backup.
pub(super) struct Placed<'a> {
    source: &'a Source,
    from: &'a Arc<dyn Disk>,
    target: &'a Target,
    options: &'a BackupOptions,
    /// Each with its size, in the order of the source.
    files: Vec<(Name, u64, How)>,
    not_linked: Option<String>,
}

impl<'a> Placed<'a> {
    /// Places all files, durably.
    pub(super) fn place(
        from: &'a Arc<dyn Disk>,
        source: &'a Source,
        target: &'a Target,
        options: &'a BackupOptions,
    ) -> Result<Placed<'a>> {
        let mut sized = Vec::with_capacity(source.files.len());
        for (name, file) in &source.files {
            sized.push((*name, file, file.size().map_err(|e| Error::io("measure", name, e))?));
        }
        options.progress.expect(sized.iter().map(|(_, _, bytes)| bytes).sum());
        let files = Vec::with_capacity(sized.len());
        let mut placed = Placed { source, from, target, options, files, not_linked: None };
        for (name, file, bytes) in sized {
            options.progress.check()?;
            let how = match is_there(source, target, name)? {
                true => How::Kept,
                false => placed.bring(name, &**file, bytes)?,
            };
            if how != How::Copied {
                options.progress.pass(bytes);
            }
            placed.files.push((name, bytes, how));
        }
        target.sync()?;
        Ok(placed)
    }

    /// Places anew what an earlier backup had of these, which turned out to be damaged. Returns whether
    /// there was any.
    pub(super) fn replace(&mut self, flaws: &[Corruption]) -> Result<bool> {
        let is_flawed = |name: Name| flaws.iter().any(|flaw| flaw.file == name.to_string());
        let mut any = false;
        for at in 0..self.files.len() {
            let file = self.files.get(at).copied();
            let (name, bytes, how) = file.or_bug("a file that was placed is among all")?;
            if how != How::Kept || !is_flawed(name) {
                continue;
            }
            let disk = &self.target.disk;
            disk.remove(name).map_err(|e| Error::io("remove", name, e))?;
            let open = self.source.files.iter().find(|(of, _)| *of == name);
            let (_, open) = open.or_bug("what is placed is of the source")?;
            let how = self.bring(name, &**open, bytes)?;
            let place = self.files.get_mut(at);
            *place.or_bug("a file that was placed is among all")? = (name, bytes, how);
            any = true;
        }
        if any {
            self.target.sync()?;
        }
        Ok(any)
    }

    /// Links or copies a file.
    fn bring(&mut self, name: Name, file: &dyn DiskFile, bytes: u64) -> Result<How> {
        let (to, copy) = (&self.target.disk, self.options.copy);
        match if copy { Link::Refused(None) } else { link(&**self.from, &**to, name)? } {
            Link::Made => Ok(How::Linked),
            Link::Refused(why) => {
                self.not_linked = self.not_linked.take().or(why);
                copy_file(file, bytes, to, name, &self.options.progress)?;
                Ok(How::Copied)
            }
        }
    }

    /// What was done.
    pub(super) fn done(self) -> BackedUp {
        let mut done = BackedUp { not_linked: self.not_linked, ..BackedUp::default() };
        for (_, bytes, how) in self.files {
            let files = match how {
                How::Kept => &mut done.kept,
                How::Linked => &mut done.linked,
                How::Copied => &mut done.copied,
            };
            files.add(bytes);
        }
        done
    }
}

/// Whether a file is there already: of the earlier backup, or of a run that was stopped. What else
/// has its name goes.
fn is_there(source: &Source, target: &Target, name: Name) -> Result<bool> {
    let (disk, contents) = (&target.disk, &source.contents);
    let found = match name {
        Name::Segment(id) => {
            let row = contents.segments.iter().find(|row| row.id == id);
            let row = row.or_bug("a segment that is backed up is listed")?;
            open_listed(disk, contents.settings.store, row).map(drop)
        }
        _ => {
            let of_it = |info: &&EpochInfo| table_name(info.epoch) == name;
            let info = contents.epochs.iter().find(of_it);
            open_table(&**disk, info.or_bug("a table is of an epoch")?).map(drop)
        }
    };
    match found {
        Ok(()) => Ok(true),
        Err(Error::NoTable { .. }) => Ok(false),
        Err(e) if e.is_not_found() => Ok(false),
        Err(e) => {
            // Damaged, or left by a backup of a state that the store did not keep.
            e.flaw()?;
            disk.remove(name).map_err(|e| Error::io("remove", name, e))?;
            Ok(false)
        }
    }
}

enum Link {
    Made,
    /// Why, if the system refused it.
    Refused(Option<String>),
}

fn link(from: &dyn Disk, to: &dyn Disk, name: Name) -> Result<Link> {
    match from.linkable(name).and_then(|file| to.link(&file, name)) {
        Ok(()) => Ok(Link::Made),
        // The writer has removed it meanwhile; here it is open still.
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(Link::Refused(None)),
        Err(e) if is_refused(&e) => Ok(Link::Refused(Some(e.to_string()))),
        Err(e) => Err(Error::io("link", name, e)),
    }
}

fn copy_file(
    file: &dyn DiskFile,
    bytes: u64,
    to: &Arc<dyn Disk>,
    name: Name,
    progress: &Progress,
) -> Result<()> {
    let temporary = match name {
        Name::Segment(id) => Name::SegmentNew(id),
        Name::Df(number) => Name::DfNew(number),
        _ => return Err(Error::misuse("only segments and tables are copied")),
    };
    let mut new = NewFile::create(Arc::clone(to), temporary)?;
    let mut chunk = vec![0; in_memory(CHUNK_BYTES.min(bytes))];
    let mut at = 0;
    while at < bytes {
        progress.check()?;
        chunk.truncate(in_memory(bytes - at));
        file.read_at(at, &mut chunk).map_err(|e| Error::io("read", name, e))?;
        new.append(&chunk)?;
        at += chunk.len() as u64;
        progress.pass(chunk.len() as u64);
    }
    new.finish(name)?;
    Ok(())
}
