//! Linking or copying the files of a store to another directory. Links are safe, because the files
//! are never written again.

use std::io::ErrorKind;
use std::sync::Arc;

use super::FileCount;
use super::source::Source;
use crate::bug::OrBug;
use crate::disk::{Access, Disk, DiskFile, Linkable, Name, NewFile, is_refused};
use crate::engine::epochs::open_table;
use crate::engine::files::{Files, Listed};
use crate::engine::manifest_check::open_listed;
use crate::error::{Corruption, Error, Result};
use crate::layout::in_memory;
use crate::progress::Progress;
use crate::segment::PlainSegment;

/// Bytes to copy at a time.
const CHUNK_BYTES: u64 = 1 << 20;

/// An existing file with the name of a file to be placed.
enum There {
    /// The file to be placed, according to its head.
    It,
    Nothing,
    /// A damaged file, or a leftover copy of a state that the store did not keep.
    Damaged,
}

/// How a file was placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Kept,
    Linked,
    Copied,
    /// Copied over a damaged file.
    Replaced,
}

/// The files of a store in another directory.
pub(crate) struct Placed<'a> {
    source: &'a Source,
    from: &'a Arc<dyn Disk>,
    to: &'a Arc<dyn Disk>,
    /// The naming scheme of the files in the target directory.
    names: Files,
    /// Whether to copy files that could be linked.
    copy: bool,
    progress: &'a Progress,
    /// The sizes of the files and how each was placed, in the order of the source.
    files: Vec<(u64, How)>,
    not_linked: Option<String>,
}

/// The files that were read.
#[derive(Debug, Default)]
pub(crate) struct Read {
    pub(crate) names: Vec<Name>,
    pub(crate) checked: FileCount,
    /// Files that already existed, and were not read.
    pub(crate) unchecked: FileCount,
}

/// The numbers of files, by how they were placed.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) kept: FileCount,
    pub(crate) linked: FileCount,
    pub(crate) copied: FileCount,
    /// The copied files that replaced damaged files.
    pub(crate) replaced: FileCount,
    /// The reason why files were copied instead of linked.
    pub(crate) not_linked: Option<String>,
}

impl<'a> Placed<'a> {
    /// Places all files. Copied files and their names are durable; names of links become durable
    /// when their directory is synced.
    pub(crate) fn place(
        from: &'a Arc<dyn Disk>,
        source: &'a Source,
        (to, names): (&'a Arc<dyn Disk>, Files),
        copy: bool,
        progress: &'a Progress,
    ) -> Result<Placed<'a>> {
        let mut sized = Vec::with_capacity(source.files.len());
        for (listed, file) in &source.files {
            let measured = file.size().map_err(|e| Error::io("measure", Files::Own.of(listed), e));
            sized.push((listed, file, measured?));
        }
        progress.expect(sized.iter().map(|(_, _, bytes)| bytes).sum());
        let (files, not_linked) = (Vec::with_capacity(sized.len()), None);
        let mut placed = Placed { source, from, to, names, copy, progress, files, not_linked };
        for (listed, file, bytes) in sized {
            progress.check()?;
            let how = match placed.is_there(listed)? {
                There::It => How::Kept,
                There::Nothing => placed.bring(listed, &**file, bytes)?,
                There::Damaged => placed.copy_over(listed, &**file, bytes)?,
            };
            if !matches!(how, How::Copied | How::Replaced) {
                progress.pass(bytes);
            }
            placed.files.push((bytes, how));
        }
        Ok(placed)
    }

    /// Replaces existing files that are damaged. Returns whether any existed.
    pub(crate) fn replace(&mut self, flaws: &[Corruption]) -> Result<bool> {
        let mut any = false;
        let (source, to, names) = (self.source, self.to, self.names);
        for (at, (listed, file)) in source.files.iter().enumerate() {
            let (bytes, how) = *self.files.get(at).or_bug("each file of the source was placed")?;
            let name = names.of(listed);
            let is_flawed = flaws.iter().any(|flaw| flaw.file == name.to_string());
            if how != How::Kept || !is_flawed {
                continue;
            }
            to.remove(name).map_err(|e| Error::io("remove", name, e))?;
            let how = self.bring(listed, &**file, bytes)?;
            *self.files.get_mut(at).or_bug("each file of the source was placed")? = (bytes, how);
            any = true;
        }
        Ok(any)
    }

    /// Reads and checks new files, files that may be leftovers of an interrupted run, and kept
    /// files that are due for a check. Existing damaged files are replaced by the store's files.
    /// Costs a read of these files.
    pub(crate) fn check(
        &mut self,
        is_named: impl Fn(Name) -> bool,
        is_due: impl Fn(Name) -> bool,
    ) -> Result<Read> {
        let source = self.source;
        let mut read = Read::default();
        for (at, (listed, file)) in source.files.iter().enumerate() {
            let (bytes, how) = *self.files.get(at).or_bug("each file of the source was placed")?;
            let name = self.names.of(listed);
            if how == How::Kept && is_named(name) && !is_due(name) {
                self.progress.pass(bytes);
                read.unchecked.add(bytes);
                continue;
            }
            self.progress.check()?;
            let mut checked = self.check_one(listed);
            if how == How::Kept && matches!(checked, Err(Error::Corrupt(_))) {
                self.progress.expect(2 * bytes);
                let how = self.copy_over(listed, &**file, bytes)?;
                *self.files.get_mut(at).or_bug("each file of the source was placed")? =
                    (bytes, how);
                checked = self.check_one(listed);
            }
            checked.map_err(|e| match e {
                Error::Corrupt(flaw) => {
                    // The next run copies a later state of the store. Listed files stay.
                    if !is_named(name) {
                        let _ = self.to.remove(name);
                    }
                    // Distinguishes the copy from the store's file with the same bytes.
                    let file = Files::Own.of(listed).to_string();
                    Error::Corrupt(Corruption { file, ..flaw })
                }
                other => other,
            })?;
            read.names.push(name);
            read.checked.add(bytes);
        }
        Ok(read)
    }

    fn check_one(&self, listed: &Listed) -> Result<u64> {
        let store = self.source.contents.settings.store;
        check_whole(self.to, self.names, store, listed, self.progress)
    }

    /// Whether a file already exists, from an earlier or an interrupted run.
    fn is_there(&self, listed: &Listed) -> Result<There> {
        let to = self.to;
        let found = match listed {
            Listed::Segment(row) => {
                let store = self.source.contents.settings.store;
                open_listed(to, self.names, store, row).map(drop)
            }
            Listed::Table(info) => open_table(&**to, self.names, info).map(drop),
        };
        match found {
            Ok(()) => Ok(There::It),
            Err(Error::NoTable { .. }) => Ok(There::Nothing),
            Err(e) if e.is_not_found() => Ok(There::Nothing),
            Err(Error::Corrupt(_)) => Ok(There::Damaged),
            Err(e) => Err(e),
        }
    }

    /// Links or copies a file.
    fn bring(&mut self, listed: &Listed, file: &dyn DiskFile, bytes: u64) -> Result<How> {
        let name = self.names.of(listed);
        let link = match self.copy {
            true => Link::Refused(None),
            false => link(&**self.from, Files::Own.of(listed), &**self.to, name)?,
        };
        match link {
            Link::Made => Ok(How::Linked),
            Link::Refused(why) => {
                self.not_linked = self.not_linked.take().or(why);
                self.copy(listed, file, bytes)
            }
        }
    }

    /// Copies over an existing file, atomically: other generations may list it.
    fn copy_over(&self, listed: &Listed, file: &dyn DiskFile, bytes: u64) -> Result<How> {
        self.copy(listed, file, bytes).map(|_| How::Replaced)
    }

    fn copy(&self, listed: &Listed, file: &dyn DiskFile, bytes: u64) -> Result<How> {
        copy_file(file, bytes, self.to, self.names.of(listed), self.progress)?;
        Ok(How::Copied)
    }

    /// The numbers of files, by how they were placed.
    pub(crate) fn counts(self) -> Counts {
        let mut counts = Counts { not_linked: self.not_linked, ..Counts::default() };
        for (bytes, how) in self.files {
            let files = match how {
                How::Kept => &mut counts.kept,
                How::Linked => &mut counts.linked,
                How::Copied => &mut counts.copied,
                How::Replaced => {
                    counts.replaced.add(bytes);
                    &mut counts.copied
                }
            };
            files.add(bytes);
        }
        counts
    }
}

/// Reads and checks a complete file in a store's list. Returns its size in bytes.
pub(crate) fn check_whole(
    disk: &Arc<dyn Disk>,
    names: Files,
    store: u64,
    listed: &Listed,
    progress: &Progress,
) -> Result<u64> {
    let row = match listed {
        Listed::Segment(row) => row,
        Listed::Table(info) => {
            let table = open_table(&**disk, names, info)?;
            progress.pass(table.bytes());
            return Ok(table.bytes());
        }
    };
    let segment = open_listed(disk, names, store, row)?;
    let name = names.segment(row);
    let file = disk.open(name, Access::Read).map_err(|e| Error::io("open", name, e))?;
    let mut flaw = None;
    PlainSegment::new(segment.frame(), file).check(
        &mut |found| {
            flaw.get_or_insert(found);
        },
        &mut |bytes| {
            progress.pass(bytes);
            progress.check()
        },
    )?;
    flaw.map_or(Ok(segment.file_bytes()), Err)
}

enum Link {
    Made,
    /// The reason, if the system refused it.
    Refused(Option<String>),
}

fn link(from: &dyn Disk, own: Name, to: &dyn Disk, name: Name) -> Result<Link> {
    let linked = from.linkable(own).and_then(|file: Linkable| to.link(&file, name));
    match linked {
        Ok(()) => Ok(Link::Made),
        // The writer has removed the file since; our open file still has its contents.
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
    let mut new = NewFile::create(Arc::clone(to), Files::unfinished(name))?;
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
