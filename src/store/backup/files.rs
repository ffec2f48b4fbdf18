//! Getting the files of a store into its backup. They are never written again, so a link will do.

use std::io::ErrorKind;
use std::sync::Arc;

use super::options::BackedUp;
use super::source::Source;
use super::target::Target;
use crate::bug::OrBug;
use crate::disk::{Disk, DiskFile, Name, NewFile, is_refused};
use crate::error::{Error, Result};
use crate::layout::in_memory;
use crate::page::EpochInfo;
use crate::progress::Progress;
use crate::store::epochs::{open_table, table_name};
use crate::store::listed::open_listed;

/// What is copied at once.
const CHUNK_BYTES: u64 = 1 << 20;

/// Places all files, durably, and counts them.
pub(super) fn place(
    from: &Arc<dyn Disk>,
    source: &Source,
    target: &Target,
    copy: bool,
    progress: &Progress,
) -> Result<BackedUp> {
    let mut done = BackedUp::default();
    let mut sized = Vec::with_capacity(source.files.len());
    for (name, file) in &source.files {
        sized.push((*name, file, file.size().map_err(|e| Error::io("measure", name, e))?));
    }
    progress.expect(sized.iter().map(|(_, _, bytes)| bytes).sum());
    for (name, file, bytes) in sized {
        progress.check()?;
        if is_there(source, target, name)? {
            done.kept.add(bytes);
            progress.pass(bytes);
            continue;
        }
        match if copy { Link::Refused(None) } else { link(&**from, &*target.disk, name)? } {
            Link::Made => {
                done.linked.add(bytes);
                progress.pass(bytes);
            }
            Link::Refused(why) => {
                done.not_linked = done.not_linked.or(why);
                copy_file(&**file, bytes, &target.disk, name, progress)?;
                done.copied.add(bytes);
            }
        }
    }
    target.sync()?;
    Ok(done)
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
