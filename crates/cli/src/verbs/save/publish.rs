//! `publish`: publishes states of a store as files that never change.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use simkeep::publish::{
    FileCount, GenerationInfo, Publication, PublishOptions, generations, publish,
};
use simkeep::{Error, Options, Store, Time};

use crate::common::{is_store, quoted};
use crate::exit::{Exit, VerbError, print_message};
use crate::output::Output;
use crate::output::progress::with_progress_bar;
use crate::output::words::{self, bytes, count, many};
use crate::{CommonArgs, time};

/// Publish a read-only snapshot for readers on other machines
///
/// Seals the journal, links or copies new files to a directory, and last writes a generation: a
/// small file that names all others. While another process writes the store, it publishes what that
/// process has sealed.
#[derive(Args)]
#[command(after_long_help = r#"Examples:
  simkeep publish crawl.simkeep --to /srv/crawl
  simkeep publish crawl.simkeep --to /srv/crawl --keep 1 --grace 0
  simkeep publish crawl.simkeep --to /srv/crawl --list
  simkeep near /srv/crawl https://example.com/terms

Copy the directory to other machines with any tool: "files" first, then "generations".
Files never change and keep their names, so no file is copied twice. Every verb that
reads takes the directory as a store.

Generations older than --keep and --grace are removed. Pages forgotten before are in no
later generation.

Checks, damaged files, older stores: docs/reliability.md"#)]
pub(crate) struct PublishArgs {
    /// Directory: new, empty, or where this store was published
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// Generations to keep, with the new one
    #[arg(long, value_name = "COUNT", default_value_t = 3)]
    keep: usize,
    /// Time to keep a generation after the next one
    #[arg(long, value_name = "DURATION", default_value = "24h", value_parser = time::duration)]
    grace: Duration,
    /// Copy files instead of linking them
    #[arg(long)]
    copy: bool,
    /// Check all published files, not only the files that are due for a check
    #[arg(long)]
    check_kept: bool,
    /// List published generations, and publish nothing
    #[arg(long, conflicts_with_all = ["keep", "grace", "copy", "check_kept"])]
    list: bool,
}

/// The result of publishing; with --list, a generation.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum PublishLine<'a> {
    /// The result of publishing.
    Answer(PublishResult<'a>),
    /// With --list: a published generation.
    Generation(GenerationLine),
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct PublishResult<'a> {
    /// The number of the generation.
    generation: u64,
    /// Whether the generation is new. If not, the newest one already has the current state of the
    /// store.
    is_new: bool,
    /// The number of the last operation in the generation.
    sequence: u64,
    /// The number of later operations that another process has not sealed, so that they are not
    /// published.
    unsealed_operations: u64,
    /// The number of files that are hard links to files of the store.
    linked_files: u64,
    linked_bytes: u64,
    copied_files: u64,
    copied_bytes: u64,
    /// The number of files that were published before.
    kept_files: u64,
    kept_bytes: u64,
    /// The number of files that were read and checked: all new ones, and some of the kept ones.
    checked_files: u64,
    checked_bytes: u64,
    /// The number of kept files that were not read, because they were found sound in the last 30
    /// days.
    unchecked_files: u64,
    unchecked_bytes: u64,
    /// The number of copied files that replaced damaged ones.
    replaced_files: u64,
    replaced_bytes: u64,
    /// The older generations that were removed.
    removed_generations: &'a [u64],
    removed_files: u64,
    /// The older generations that still exist.
    older_generations: &'a [u64],
    /// Whether anything was forgotten since the oldest of these generations; null if unknown,
    /// because a merge removed the evidence.
    forgotten_since: Option<bool>,
    /// Why files were copied instead of linked; null if all were linked, or none should be.
    not_linked: Option<&'a str>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct GenerationLine {
    /// The number of the generation.
    generation: u64,
    /// The time when it was published.
    written: String,
    /// The number of the last operation in it.
    sequence: u64,
    /// The number of files that it lists.
    files: u64,
    file_bytes: u64,
}

impl PublishArgs {
    pub(crate) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        if self.list {
            return self.list(common, output);
        }
        let place = common.store()?;
        if is_store(&self.to) {
            let to = quoted(self.to.as_ref());
            let why = format!("{to} is a store: name another directory with --to, such as public");
            return Err(VerbError::Other(why));
        }
        // The active writer is no obstacle, so there is no long wait for its end.
        let opening = Options::default().background(false).lock_wait(Duration::from_millis(500));
        let done = with_progress_bar(|progress| {
            let options = PublishOptions::default()
                .keep(self.keep)
                .grace(self.grace)
                .copy(self.copy)
                .check_kept(self.check_kept)
                .progress(progress.clone());
            match Store::open(&place, opening) {
                Ok(store) => {
                    let done = store.publish(&self.to, options)?;
                    store.close()?;
                    Ok(done)
                }
                // The active writer seals the journal.
                Err(Error::Locked { .. }) => publish(&place, &self.to, options),
                Err(Error::Io { source, .. }) if source.kind() == ErrorKind::PermissionDenied => {
                    publish(&place, &self.to, options)
                }
                Err(e) => Err(e),
            }
        })?;
        if common.json {
            output.object(&PublishLine::Answer(PublishResult::from(&done)))?;
        } else {
            lines(&done).iter().try_for_each(|line| output.line(line))?;
        }
        if done.unsealed > 0 {
            let missing = many(done.unsealed, "operation is", "operations are");
            print_message(&format!(
                "another process is writing to the store: {missing} not sealed yet, and not published"
            ));
        }
        if let Some(why) = &done.not_linked {
            print_message(&format!("files were copied instead of linked: {why}"));
        }
        Ok(Exit::Done)
    }

    fn list(&self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        for of in generations(&self.to)? {
            if common.json {
                output.object(&PublishLine::Generation(GenerationLine::from(&of)))?;
                continue;
            }
            output.line(&format!(
                "{:>10}  {}  up to operation {}, {}, {}",
                of.number,
                common.clock().show(of.written.into()),
                count(of.sequence),
                many(of.files.files, "file", "files"),
                bytes(of.files.bytes),
            ))?;
        }
        Ok(Exit::Done)
    }
}

impl<'a> From<&'a Publication> for PublishResult<'a> {
    fn from(done: &'a Publication) -> PublishResult<'a> {
        PublishResult {
            generation: done.generation,
            is_new: done.is_new,
            sequence: done.sequence,
            unsealed_operations: done.unsealed,
            linked_files: done.linked.files,
            linked_bytes: done.linked.bytes,
            copied_files: done.copied.files,
            copied_bytes: done.copied.bytes,
            kept_files: done.kept.files,
            kept_bytes: done.kept.bytes,
            checked_files: done.checked.files,
            checked_bytes: done.checked.bytes,
            unchecked_files: done.unchecked.files,
            unchecked_bytes: done.unchecked.bytes,
            replaced_files: done.replaced.files,
            replaced_bytes: done.replaced.bytes,
            removed_generations: &done.removed,
            removed_files: done.removed_files,
            older_generations: &done.older,
            forgotten_since: done.forgotten,
            not_linked: done.not_linked.as_deref(),
        }
    }
}

impl From<&GenerationInfo> for GenerationLine {
    fn from(of: &GenerationInfo) -> GenerationLine {
        GenerationLine {
            generation: of.number,
            written: Time::from(of.written).to_string(),
            sequence: of.sequence,
            files: of.files.files,
            file_bytes: of.files.bytes,
        }
    }
}

/// The result for people.
fn lines(done: &Publication) -> Vec<String> {
    let what = if done.is_new { "published" } else { "nothing new since" };
    let mut lines = vec![format!(
        "{what}: generation {}, up to operation {}",
        done.generation,
        count(done.sequence)
    )];
    let files = |name: &str, files: &FileCount, remark: &str| {
        let FileCount { files, bytes: size, .. } = *files;
        let what = format!("{name:<9} {}, {}{remark}", many(files, "file", "files"), bytes(size));
        (files > 0).then_some(what)
    };
    let shared = ": shared with the store, so damage to the disk damages both";
    lines.extend(files("linked", &done.linked, shared));
    lines.extend(files("copied", &done.copied, ""));
    lines.extend(files("kept", &done.kept, " that were there already"));
    lines.extend(files("replaced", &done.replaced, ": copies that replace damaged files"));
    lines.extend(files("checked", &done.checked, ": read, and found sound"));
    let sound = ": found sound in the last 30 days; --check-kept reads them now";
    lines.extend(files("unchecked", &done.unchecked, sound));
    if !done.removed.is_empty() || done.removed_files > 0 {
        let generations = many(done.removed.len() as u64, "generation", "generations");
        let files = many(done.removed_files, "file", "files");
        lines.push(format!("removed   {generations}, {files}"));
    }
    if !done.older.is_empty() {
        let numbers = done.older.iter().map(u64::to_string).collect::<Vec<_>>();
        let numbers = words::abbreviated_names(numbers.iter().map(String::as_str));
        let remark = match done.forgotten {
            Some(true) => ": with pages forgotten since",
            Some(false) => "",
            None => ": with pages forgotten since, if any",
        };
        lines.push(format!("older     {numbers}{remark}"));
    }
    lines
}
