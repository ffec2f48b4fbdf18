//! `backup`: the same store in another directory.

use std::path::PathBuf;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use simkeep::backup::{BackedUp, BackupOptions, FileCount};

use crate::Common;
use crate::exit::{Exit, Failure, say};
use crate::output::Output;
use crate::output::progress::watched;
use crate::output::words::{bytes, count, many};

/// Make a backup of a store, also while it is being written
///
/// The backup is a whole store in a directory of its own, in a state that the store had meanwhile. The
/// first run makes it; later ones into the same directory add what is new, and remove what the store has
/// no more. All of it is read and checked before it counts.
#[derive(Args)]
#[command(after_long_help = "Examples:
  simkeep backup /backup/crawl.simkeep --store crawl.simkeep
  simkeep backup /backup/crawl.simkeep                        again, with SIMKEEP_STORE set
  simkeep backup --copy friday.simkeep
  simkeep verify /backup/crawl.simkeep                        before it is needed

Files that never change are linked where the file system can, and else copied. Links take no room, but are
one with the files of the store: what damages the disk damages both. Put a backup that is to survive the
disk on another one, or use --copy.

A backup is read as any store, and to get it back, copy it to the place of the store (cp -r). Once
something was written to it, it is a store of its own, and no backup goes there any more. A run that is
killed leaves an earlier backup as it was or whole and new, and of a new one nothing that can be opened:
run it again.")]
pub(crate) struct Backup {
    /// Where it goes: a directory that is new or empty, or has an earlier backup of this store
    #[arg(value_name = "TO")]
    to: PathBuf,
    /// Copy all files that are new, and link none
    #[arg(long)]
    copy: bool,
}

impl Backup {
    pub(crate) fn run(self, common: &Common, output: &mut Output) -> Result<Exit, Failure> {
        let store = common.store()?;
        let done = watched(|progress| {
            let options = BackupOptions::default().copy(self.copy).progress(progress.clone());
            simkeep::backup::backup(&store, &self.to, options)
        })?;
        if common.json {
            output.object(&Answer::from(&done))?;
        } else {
            lines(&done).iter().try_for_each(|line| output.line(line))?;
        }
        if let Some(why) = &done.not_linked {
            say(&format!("files were copied, since they cannot be linked there: {why}"));
        }
        Ok(Exit::Done)
    }
}

/// What a backup came to.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Answer<'a> {
    /// The number of the last operation in it.
    sequence: u64,
    pages: u64,
    visits: u64,
    /// The number of the last operation in the backup that was there before; null if there was none.
    earlier_sequence: Option<u64>,
    /// Files that are one with those of the store.
    linked_files: u64,
    linked_bytes: u64,
    copied_files: u64,
    copied_bytes: u64,
    /// Files that the earlier backup had.
    kept_files: u64,
    kept_bytes: u64,
    removed_files: u64,
    catalog_bytes: u64,
    /// What was copied, with the catalog.
    written_bytes: u64,
    /// Why files were copied that could not be linked; null if all were linked or none was to be.
    not_linked: Option<&'a str>,
}

impl<'a> From<&'a BackedUp> for Answer<'a> {
    fn from(done: &'a BackedUp) -> Answer<'a> {
        Answer {
            sequence: done.sequence,
            pages: done.pages,
            visits: done.visits,
            earlier_sequence: done.earlier,
            linked_files: done.linked.files,
            linked_bytes: done.linked.bytes,
            copied_files: done.copied.files,
            copied_bytes: done.copied.bytes,
            kept_files: done.kept.files,
            kept_bytes: done.kept.bytes,
            removed_files: done.removed,
            catalog_bytes: done.catalog_bytes,
            written_bytes: done.bytes_written(),
            not_linked: done.not_linked.as_deref(),
        }
    }
}

/// For people.
fn lines(done: &BackedUp) -> Vec<String> {
    let mut lines = vec![format!(
        "backed up and checked: {}, {}, up to operation {}",
        many(done.pages, "page", "pages"),
        many(done.visits, "visit", "visits"),
        count(done.sequence)
    )];
    lines.extend(
        done.earlier.map(|earlier| format!("before    up to operation {}", count(earlier))),
    );
    let files = |name: &str, files: &FileCount, remark: &str| {
        let FileCount { files, bytes: size, .. } = *files;
        let what = format!("{name:<9} {}, {}{remark}", many(files, "file", "files"), bytes(size));
        (files > 0).then_some(what)
    };
    let shared = ": one with those of the store, so damage to the disk damages both";
    lines.extend(files("linked", &done.linked, shared));
    lines.extend(files("copied", &done.copied, ""));
    lines.extend(files("kept", &done.kept, " that the earlier backup had"));
    if done.removed > 0 {
        lines.push(format!("removed   {}", many(done.removed, "file", "files")));
    }
    lines.push(format!("written   {}", bytes(done.bytes_written())));
    lines
}
