//! Linking or copying the files of a store to another directory. Links are safe, because the files
//! are never written again.

use std::io::ErrorKind;
use std::sync::Arc;

use super::FileCount;
use super::source::CopySource;
use crate::bug::OrBug;
use crate::disk::{Access, Disk, DiskFile, FileName, LinkSource, NewFile, is_refused};
use crate::engine::epochs::open_table;
use crate::engine::files::{FileNaming, ListedFile};
use crate::engine::manifest_check::open_listed;
use crate::error::{Corruption, Error, Result};
use crate::layout::to_usize;
use crate::progress::Progress;
use crate::segment::PlainSegment;

/// Bytes to copy at a time.
const CHUNK_BYTES: u64 = 1 << 20;

/// An existing file with the name of a file to be placed.
enum ExistingFile {
    /// The file to be placed, according to its head.
    Intact,
    Missing,
    /// A damaged file, or a leftover copy of a state that the store did not keep.
    Damaged,
}

/// How a file was placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Placement {
    Kept,
    Linked,
    Copied,
    /// Copied over a damaged file.
    Replaced,
}

/// The files of a store in another directory.
pub(crate) struct PlacedFiles<'a> {
    source: &'a CopySource,
    from: &'a Arc<dyn Disk>,
    to: &'a Arc<dyn Disk>,
    /// The naming scheme of the files in the target directory.
    names: FileNaming,
    /// Whether to copy files that could be linked.
    copy: bool,
    progress: &'a Progress,
    /// The sizes of the files and how each was placed, in the order of the source.
    files: Vec<(u64, Placement)>,
    not_linked: Option<String>,
}

/// The files that were read.
#[derive(Debug, Default)]
pub(crate) struct CheckedFiles {
    pub(crate) names: Vec<FileName>,
    pub(crate) checked: FileCount,
    /// Files that already existed, and were not read.
    pub(crate) unchecked: FileCount,
}

/// The numbers of files, by how they were placed.
#[derive(Debug, Default)]
pub(crate) struct CopyCounts {
    pub(crate) kept: FileCount,
    pub(crate) linked: FileCount,
    pub(crate) copied: FileCount,
    /// The copied files that replaced damaged files.
    pub(crate) replaced: FileCount,
    /// The reason why files were copied instead of linked.
    pub(crate) not_linked: Option<String>,
}

impl<'a> PlacedFiles<'a> {
    /// Places all files. Copied files and their names are durable; names of links become durable
    /// when their directory is synced.
    pub(crate) fn place(
        from: &'a Arc<dyn Disk>,
        source: &'a CopySource,
        (to, names): (&'a Arc<dyn Disk>, FileNaming),
        copy: bool,
        progress: &'a Progress,
    ) -> Result<PlacedFiles<'a>> {
        let mut sized = Vec::with_capacity(source.files.len());
        for (listed, file) in &source.files {
            let measured =
                file.size().map_err(|e| Error::io("measure", FileNaming::Store.of(listed), e));
            sized.push((listed, file, measured?));
        }
        progress.add_total(sized.iter().map(|(_, _, bytes)| bytes).sum());
        let (files, not_linked) = (Vec::with_capacity(sized.len()), None);
        let mut placed = PlacedFiles { source, from, to, names, copy, progress, files, not_linked };
        for (listed, file, bytes) in sized {
            progress.check()?;
            let how = match placed.is_there(listed)? {
                ExistingFile::Intact => Placement::Kept,
                ExistingFile::Missing => placed.link_or_copy(listed, &**file, bytes)?,
                ExistingFile::Damaged => placed.copy_over(listed, &**file, bytes)?,
            };
            if !matches!(how, Placement::Copied | Placement::Replaced) {
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
            if how != Placement::Kept || !is_flawed {
                continue;
            }
            to.remove(name).map_err(|e| Error::io("remove", name, e))?;
            let how = self.link_or_copy(listed, &**file, bytes)?;
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
        is_named: impl Fn(FileName) -> bool,
        is_due: impl Fn(FileName) -> bool,
    ) -> Result<CheckedFiles> {
        let source = self.source;
        let mut read = CheckedFiles::default();
        for (at, (listed, file)) in source.files.iter().enumerate() {
            let (bytes, how) = *self.files.get(at).or_bug("each file of the source was placed")?;
            let name = self.names.of(listed);
            if how == Placement::Kept && is_named(name) && !is_due(name) {
                self.progress.pass(bytes);
                read.unchecked.add(bytes);
                continue;
            }
            self.progress.check()?;
            let mut checked = self.check_one(listed);
            if how == Placement::Kept && matches!(checked, Err(Error::Corrupt(_))) {
                self.progress.add_total(2 * bytes);
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
                    let file = FileNaming::Store.of(listed).to_string();
                    Error::Corrupt(Corruption { file, ..flaw })
                }
                other => other,
            })?;
            read.names.push(name);
            read.checked.add(bytes);
        }
        Ok(read)
    }

    fn check_one(&self, listed: &ListedFile) -> Result<u64> {
        let store = self.source.contents.settings.store;
        check_whole(self.to, self.names, store, listed, self.progress)
    }

    /// Whether a file already exists, from an earlier or an interrupted run.
    fn is_there(&self, listed: &ListedFile) -> Result<ExistingFile> {
        let to = self.to;
        let found = match listed {
            ListedFile::Segment(row) => {
                let store = self.source.contents.settings.store;
                open_listed(to, self.names, store, row).map(drop)
            }
            ListedFile::Table(info) => open_table(&**to, self.names, info).map(drop),
        };
        match found {
            Ok(()) => Ok(ExistingFile::Intact),
            Err(Error::NoTable { .. }) => Ok(ExistingFile::Missing),
            Err(e) if e.is_not_found() => Ok(ExistingFile::Missing),
            Err(Error::Corrupt(_)) => Ok(ExistingFile::Damaged),
            Err(e) => Err(e),
        }
    }

    /// Links or copies a file.
    fn link_or_copy(
        &mut self,
        listed: &ListedFile,
        file: &dyn DiskFile,
        bytes: u64,
    ) -> Result<Placement> {
        let name = self.names.of(listed);
        let link = match self.copy {
            true => LinkOutcome::Refused(None),
            false => link(&**self.from, FileNaming::Store.of(listed), &**self.to, name)?,
        };
        match link {
            LinkOutcome::Made => Ok(Placement::Linked),
            LinkOutcome::Refused(why) => {
                self.not_linked = self.not_linked.take().or(why);
                self.copy(listed, file, bytes)
            }
        }
    }

    /// Copies over an existing file, atomically: other generations may list it.
    fn copy_over(&self, listed: &ListedFile, file: &dyn DiskFile, bytes: u64) -> Result<Placement> {
        self.copy(listed, file, bytes).map(|_| Placement::Replaced)
    }

    fn copy(&self, listed: &ListedFile, file: &dyn DiskFile, bytes: u64) -> Result<Placement> {
        copy_file(file, bytes, self.to, self.names.of(listed), self.progress)?;
        Ok(Placement::Copied)
    }

    /// The numbers of files, by how they were placed.
    pub(crate) fn counts(self) -> CopyCounts {
        let mut counts = CopyCounts { not_linked: self.not_linked, ..CopyCounts::default() };
        for (bytes, how) in self.files {
            let files = match how {
                Placement::Kept => &mut counts.kept,
                Placement::Linked => &mut counts.linked,
                Placement::Copied => &mut counts.copied,
                Placement::Replaced => {
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
    names: FileNaming,
    store: u64,
    listed: &ListedFile,
    progress: &Progress,
) -> Result<u64> {
    let row = match listed {
        ListedFile::Segment(row) => row,
        ListedFile::Table(info) => {
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

enum LinkOutcome {
    Made,
    /// The reason, if the system refused it.
    Refused(Option<String>),
}

fn link(from: &dyn Disk, own: FileName, to: &dyn Disk, name: FileName) -> Result<LinkOutcome> {
    let linked = from.linkable(own).and_then(|file: LinkSource| to.link(&file, name));
    match linked {
        Ok(()) => Ok(LinkOutcome::Made),
        // The writer has removed the file since; our open file still has its contents.
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(LinkOutcome::Refused(None)),
        Err(e) if is_refused(&e) => Ok(LinkOutcome::Refused(Some(e.to_string()))),
        Err(e) => Err(Error::io("link", name, e)),
    }
}

fn copy_file(
    file: &dyn DiskFile,
    bytes: u64,
    to: &Arc<dyn Disk>,
    name: FileName,
    progress: &Progress,
) -> Result<()> {
    let mut new = NewFile::create(Arc::clone(to), FileNaming::unfinished(name))?;
    let mut chunk = vec![0; to_usize(CHUNK_BYTES.min(bytes))];
    let mut at = 0;
    while at < bytes {
        progress.check()?;
        chunk.truncate(to_usize(bytes - at));
        file.read_at(at, &mut chunk).map_err(|e| Error::io("read", name, e))?;
        new.append(&chunk)?;
        at += chunk.len() as u64;
        progress.pass(chunk.len() as u64);
    }
    new.finish(name)?;
    Ok(())
}
