//! `repair`: saves the sound parts of a damaged store into a new store.

use std::path::PathBuf;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use simkeep::repair::{Loss, RepairOptions, Repaired};

use crate::CommonArgs;
use crate::exit::{Exit, VerbError};
use crate::output::Output;
use crate::output::json::FileFlaw;
use crate::output::progress::with_progress_bar;
use crate::output::words::{count, many};
use simkeep_formats::escape::escape_untruncated;

/// Save the sound parts of a damaged store
///
/// Writes a new store and only reads the damaged one. Hashes, filters and fingerprint tables are
/// rebuilt, so damage to them loses nothing. Reports each loss: file, bytes, operations, number of
/// pages, and the URLs around it.
#[derive(Args)]
#[command(after_long_help = r#"Examples:
  simkeep repair crawl.simkeep --to saved.simkeep

A catalog that cannot be read as a whole is read part by part.

Forgotten pages stay forgotten. If lost operations may have forgotten pages that cannot
be named, nothing is saved unless --keep-forgotten is given.

Exits with 4 if something was lost. A killed run leaves the complete store, or
no store: then run it again."#)]
pub(crate) struct RepairArgs {
    /// Directory of the new store: new or empty
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// Keep pages that a lost operation may have forgotten
    #[arg(long)]
    keep_forgotten: bool,
}

impl RepairArgs {
    pub(crate) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        let store = common.store()?;
        let repaired = with_progress_bar(|progress| {
            let options = RepairOptions::default().keep_forgotten(self.keep_forgotten);
            simkeep::repair::repair(&store, &self.to, options.progress(progress.clone()))
        })?;
        if common.json {
            output.object(&RepairResult::from(&repaired))?;
        } else {
            lines(&repaired).iter().try_for_each(|line| output.line(&escape_untruncated(line)))?;
        }
        Ok(if repaired.is_whole() { Exit::Done } else { Exit::Damaged })
    }
}

/// The data that were recovered from a store, and the losses.
#[derive(Serialize, JsonSchema)]
pub(crate) struct RepairResult<'a> {
    /// Whether everything was recovered.
    whole: bool,
    /// The number of pages in the new store.
    pages: u64,
    /// The number of visits in the new store.
    visits: u64,
    lost: Vec<LostRange<'a>>,
    /// The number of lost page records, as far as they could be counted.
    lost_pages: u64,
    lost_visits: u64,
    /// The number of journal frames with a wrong checksum. Their operations are among the lost
    /// ones.
    damaged_frames: u64,
    /// The number of pages that were left out, completely or in part, because a lost operation may
    /// have forgotten them.
    withheld_pages: u64,
    /// Lost operations that may have forgotten pages which the new store has, in words.
    ambiguities: &'a [String],
    /// The new names of epochs whose names were lost.
    unnamed_epochs: &'a [String],
    /// The first flaws, file by file.
    flaws: Vec<FileFlaw<'a>>,
    /// The number of further flaws.
    more_flaws: u64,
}

/// A loss.
#[derive(Serialize, JsonSchema)]
struct LostRange<'a> {
    file: &'a str,
    /// The byte offset of the loss in the file; null if unknown.
    offset: Option<u64>,
    size_bytes: Option<u64>,
    /// The number of the first operation in the range that was affected; null if unknown.
    first_operation: Option<u64>,
    /// The number of the last operation in that range; null if unknown, or if the end is unknown.
    last_operation: Option<u64>,
    /// The number of lost page records; null if a whole file or operations are lost.
    pages: Option<u64>,
    /// The page before the lost pages; null if there is none.
    after_url: Option<&'a str>,
    /// The page after the lost pages; null if there is none.
    before_url: Option<&'a str>,
    why: &'a str,
}

impl<'a> From<&'a Loss> for LostRange<'a> {
    fn from(loss: &'a Loss) -> LostRange<'a> {
        let (first, last) = loss.operations.unzip();
        LostRange {
            file: &loss.file,
            offset: loss.bytes.as_ref().map(|bytes| bytes.start),
            size_bytes: loss.bytes.as_ref().map(|bytes| bytes.end - bytes.start),
            first_operation: first,
            last_operation: last.flatten(),
            pages: loss.pages,
            after_url: loss.after_url.as_deref(),
            before_url: loss.before_url.as_deref(),
            why: &loss.why,
        }
    }
}

impl<'a> From<&'a Repaired> for RepairResult<'a> {
    fn from(repaired: &'a Repaired) -> RepairResult<'a> {
        RepairResult {
            whole: repaired.is_whole(),
            pages: repaired.pages,
            visits: repaired.visits,
            lost: repaired.lost.iter().map(LostRange::from).collect(),
            lost_pages: repaired.lost_pages,
            lost_visits: repaired.lost_visits,
            damaged_frames: repaired.damaged_frames,
            withheld_pages: repaired.withheld_pages,
            ambiguities: &repaired.ambiguities,
            unnamed_epochs: &repaired.unnamed_epochs,
            flaws: repaired.flaws.iter().map(FileFlaw::from).collect(),
            more_flaws: repaired.more_flaws,
        }
    }
}

/// The result for people.
fn lines(repaired: &Repaired) -> Vec<String> {
    let mut lines: Vec<String> = repaired.flaws.iter().map(ToString::to_string).collect();
    if repaired.more_flaws > 0 {
        lines.push(format!("and {} more", count(repaired.more_flaws)));
    }
    lines.extend(repaired.lost.iter().map(lost));
    if repaired.withheld_pages > 0 {
        let pages = many(repaired.withheld_pages, "page was", "pages were");
        lines.push(format!(
            "{pages} left out as a whole or in part, since a lost record may have forgotten them; \
             --keep-forgotten keeps them"
        ));
    }
    lines.extend(
        repaired
            .ambiguities
            .iter()
            .map(|ambiguity| format!("forgotten pages may be back: {ambiguity}")),
    );
    if !repaired.unnamed_epochs.is_empty() {
        let names = repaired.unnamed_epochs.join(", ");
        lines.push(format!("the names of the epochs are lost; the epochs are now called {names}"));
    }
    lines.push(format!(
        "saved: {}, {}",
        many(repaired.pages, "page", "pages"),
        many(repaired.visits, "visit", "visits")
    ));
    if repaired.damaged_frames > 0 {
        let frames = many(repaired.damaged_frames, "frame", "frames");
        lines.push(format!("damaged: {frames} of the journal with wrong checksums"));
    }
    lines.push(if repaired.is_whole() {
        "lost: nothing".to_owned()
    } else {
        format!("lost: {}", summary(repaired).join(", and "))
    });
    lines
}

/// Sums up all losses: the counted ones, then files and operations whose content is unknown.
fn summary(repaired: &Repaired) -> Vec<String> {
    let is_unknown = |loss: &&Loss| loss.pages.is_none();
    let (segments, journal): (Vec<&Loss>, Vec<&Loss>) =
        repaired.lost.iter().filter(is_unknown).partition(|loss| loss.bytes.is_some());
    let mut parts = Vec::new();
    let (pages, visits) = (repaired.lost_pages, repaired.lost_visits);
    if pages > 0 || visits > 0 || (segments.is_empty() && journal.is_empty()) {
        let pages = many(pages, "record of a page", "records of pages");
        parts.push(format!("{pages} with {}", many(visits, "visit", "visits")));
    }
    if !segments.is_empty() {
        let all = match segments.as_slice() {
            [one] => format!("all pages and visits in {}", one.file),
            more => format!("all pages and visits in {} segments", count(more.len() as u64)),
        };
        let most = most_operations(&segments);
        let most = most.map_or("an unknown number".to_owned(), |most| format!("at most {most}"));
        parts.push(format!("{all} ({most})"));
    }
    if !journal.is_empty() {
        parts.push(match most_operations(&journal) {
            Some(most) => format!("at most {most} of the journal"),
            None => "the operations above, with an unknown number of pages and visits".to_owned(),
        });
    }
    parts
}

/// The maximum number of operations in some losses, if it is known.
fn most_operations(losses: &[&Loss]) -> Option<String> {
    let operations = losses.iter().map(|loss| match loss.operations? {
        (first, Some(last)) => Some(last - first + 1),
        (_, None) => None,
    });
    operations.sum::<Option<u64>>().map(|most| many(most, "operation", "operations"))
}

fn lost(loss: &Loss) -> String {
    let mut line = format!("lost in {}", loss.file);
    if let Some(bytes) = &loss.bytes {
        line += &format!(", bytes {} to {}", bytes.start, bytes.end);
    }
    if let Some(pages @ 1..) = loss.pages {
        line += &format!(", {}", many(pages, "record of a page", "records of pages"));
    }
    if let Some((first, last)) = loss.operations {
        let last = last.map_or("the last".to_owned(), count);
        line += &match loss.pages {
            Some(_) => format!(" among operations {} to {last}", count(first)),
            None => format!(", operations {} to {last}", count(first)),
        };
    }
    match (&loss.after_url, &loss.before_url) {
        (Some(after), Some(before)) => line += &format!(", between {after} and {before}"),
        (Some(after), None) => line += &format!(", after {after}"),
        (None, Some(before)) => line += &format!(", before {before}"),
        (None, None) => {}
    }
    line + ": " + &loss.why
}
