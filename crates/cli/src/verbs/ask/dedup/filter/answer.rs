//! Counts of the documents of a filtered corpus.

use std::ops::AddAssign;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use crate::output::words::{bytes, figure, rounded, time_taken};

/// Counts of documents.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in super::super) struct FilterCounts {
    pub(super) files: u64,
    pub(super) documents: u64,
    pub(super) left_out: u64,
    pub(super) marked: u64,
    pub(super) unknown: u64,
    pub(super) other_text: u64,
    pub(super) by_name: u64,
    pub(super) without_text: u64,
    pub(super) broken: u64,
    pub(super) file_bytes: u64,
}

/// Counts of the documents of a filtered corpus.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Filtered")]
pub(crate) struct FilterResult {
    /// The number of files that were written.
    files: u64,
    /// The number of documents that were read: rows, or lines that are not empty.
    documents: u64,
    /// Documents that were left out of the copies.
    left_out: u64,
    /// Documents that were written with marks.
    marked: u64,
    /// Documents that the store does not know. They were written.
    unknown: u64,
    /// Documents whose page is dropped, but whose text is not the compared one, such as a later
    /// version. They were written.
    other_text: u64,
    /// Documents that were dropped or marked by name alone, because the store has no digest of
    /// their page. Zero with --any-text.
    by_name: u64,
    /// Documents that were dropped or marked by name alone, because they have no text. Zero with
    /// --any-text.
    without_text: u64,
    /// Documents whose name could not be read. They were written.
    broken: u64,
    /// The size of the files that were written, in bytes.
    file_bytes: u64,
    /// The time that all steps took, from the search for duplicates to the last file.
    elapsed_seconds: f64,
    #[serde(skip)]
    elapsed: Duration,
}

impl AddAssign for FilterCounts {
    fn add_assign(&mut self, other: FilterCounts) {
        let FilterCounts {
            files,
            documents,
            left_out,
            marked,
            unknown,
            other_text,
            by_name,
            without_text,
            broken,
            file_bytes,
        } = other;
        self.files += files;
        self.documents += documents;
        self.left_out += left_out;
        self.marked += marked;
        self.unknown += unknown;
        self.other_text += other_text;
        self.by_name += by_name;
        self.without_text += without_text;
        self.broken += broken;
        self.file_bytes += file_bytes;
    }
}

impl FilterCounts {
    pub(in super::super) fn answer(self, elapsed: Duration) -> FilterResult {
        let FilterCounts {
            files,
            documents,
            left_out,
            marked,
            unknown,
            other_text,
            by_name,
            without_text,
            broken,
            file_bytes,
        } = self;
        let elapsed_seconds = rounded(elapsed);
        FilterResult {
            files,
            documents,
            left_out,
            marked,
            unknown,
            other_text,
            by_name,
            without_text,
            broken,
            file_bytes,
            elapsed_seconds,
            elapsed,
        }
    }
}

impl FilterResult {
    /// The counts for people.
    pub(in super::super) fn lines(&self) -> Vec<String> {
        let mut lines = vec![
            figure("files", self.files, &bytes(self.file_bytes)),
            figure("documents", self.documents, ""),
            figure("  left out", self.left_out, ""),
        ];
        for (name, number, remark) in [
            ("  marked", self.marked, "duplicates, which are kept"),
            ("  unknown", self.unknown, "not in the store: kept"),
            (
                "  of another text",
                self.other_text,
                "not the text in the store: kept; --any-text leaves them out",
            ),
            (
                "  by name alone",
                self.by_name,
                "the store has no digest of the page, so the text was not compared",
            ),
            (
                "  without a text",
                self.without_text,
                "the name alone was compared; check --text-key",
            ),
            ("  broken", self.broken, "copied unchanged"),
        ] {
            if number > 0 {
                lines.push(figure(name, number, remark));
            }
        }
        lines.push(time_taken(self.elapsed, self.documents));
        lines
    }
}
