//! `backup`: copies a store to another directory.

use std::path::PathBuf;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use simkeep::backup::{BackedUp, BackupOptions, FileCount};

use crate::CommonArgs;
use crate::exit::{Exit, VerbError, print_message};
use crate::output::Output;
use crate::output::progress::with_progress_bar;
use crate::output::words::{bytes, count, many};

/// Back up a store, even while it is written
///
/// The backup is a complete store. The first run creates it; later runs into the same directory add
/// new files and remove old ones. The whole backup is read and checked before it replaces an
/// earlier one.
#[derive(Args)]
#[command(after_long_help = r#"Examples:
  simkeep backup crawl.simkeep /backup/crawl.simkeep
  simkeep backup --copy crawl.simkeep friday.simkeep
  simkeep verify /backup/crawl.simkeep

To restore, move the old store away first, because cp -r copies into an existing directory:
  mv crawl.simkeep broken && cp -r /backup/crawl.simkeep crawl.simkeep

Files that never change are hard links where possible. Links take no space, but share
damage of the disk with the store: put backups on another disk, or use --copy.

A backup replaces only an earlier state of the same store. These directories are refused
and do not change; name another directory:
  another store, or a newer state of the same store
  a backup that was opened for writing
  a diverged copy: the store and a copy of it were both written to
  a backup so old that the store was opened and changed 4,096 times since

A run that is killed leaves the earlier backup, or the complete new one."#)]
pub(crate) struct BackupArgs {
    /// Directory: new, empty, or an earlier backup of this store
    #[arg(value_name = "TO")]
    to: PathBuf,
    /// Copy files instead of linking them
    #[arg(long)]
    copy: bool,
}

impl BackupArgs {
    pub(crate) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        let store = common.store()?;
        let done = with_progress_bar(|progress| {
            let options = BackupOptions::default().copy(self.copy).progress(progress.clone());
            simkeep::backup::backup(&store, &self.to, options)
        })?;
        if common.json {
            output.object(&BackupResult::from(&done))?;
        } else {
            lines(&done).iter().try_for_each(|line| output.line(line))?;
        }
        if let Some(why) = &done.not_linked {
            print_message(&format!("files were copied instead of linked: {why}"));
        }
        Ok(Exit::Done)
    }
}

/// The result of a backup.
#[derive(Serialize, JsonSchema)]
pub(crate) struct BackupResult<'a> {
    /// The number of the last operation in the backup.
    sequence: u64,
    pages: u64,
    visits: u64,
    /// The number of the last operation in the earlier backup; null if there was none.
    earlier_sequence: Option<u64>,
    /// The number of files that are hard links to files of the store.
    linked_files: u64,
    linked_bytes: u64,
    copied_files: u64,
    copied_bytes: u64,
    /// The number of files that the earlier backup already had.
    kept_files: u64,
    kept_bytes: u64,
    removed_files: u64,
    catalog_bytes: u64,
    /// The number of bytes written: of copied files and of the catalog.
    written_bytes: u64,
    /// Why files were copied instead of linked; null if all were linked, or none should be.
    not_linked: Option<&'a str>,
}

impl<'a> From<&'a BackedUp> for BackupResult<'a> {
    fn from(done: &'a BackedUp) -> BackupResult<'a> {
        BackupResult {
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

/// The result for people.
fn lines(done: &BackedUp) -> Vec<String> {
    let mut lines = vec![format!(
        "backed up and checked: {}, {}, up to operation {}",
        many(done.pages, "page", "pages"),
        many(done.visits, "visit", "visits"),
        count(done.sequence)
    )];
    lines.extend(
        done.earlier.map(|earlier| format!("previous  up to operation {}", count(earlier))),
    );
    let files = |name: &str, files: &FileCount, remark: &str| {
        let FileCount { files, bytes: size, .. } = *files;
        let what = format!("{name:<9} {}, {}{remark}", many(files, "file", "files"), bytes(size));
        (files > 0).then_some(what)
    };
    let shared = ": shared with the store, so damage to the disk damages both";
    lines.extend(files("linked", &done.linked, shared));
    lines.extend(files("copied", &done.copied, ""));
    lines.extend(files("kept", &done.kept, " that the earlier backup had"));
    if done.removed > 0 {
        lines.push(format!("removed   {}", many(done.removed, "file", "files")));
    }
    lines.push(format!("written   {}", bytes(done.bytes_written())));
    lines
}
