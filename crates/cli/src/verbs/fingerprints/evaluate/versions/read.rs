//! Reads versions of pages, in runs of one page each.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::mem;
use std::str::FromStr;

use serde_json::Value;
use simkeep_formats::escape::escape;
use simkeep_formats::lines::LineCutter;
use simkeep_formats::with_whole_characters;

use crate::input::pipeline::WorkUnit;

/// The bytes of texts in a run. A run has at least two texts.
const RUN_BYTES: usize = 1 << 20;

/// The number of earlier versions that are remembered to detect that a page returns to one of them.
const REMEMBERED: usize = 64;

/// A key and its value that mark a record which must not be compared with the record before it.
#[derive(Clone, Debug)]
pub(crate) struct UnrelatedMarker {
    key: String,
    value: String,
}

impl FromStr for UnrelatedMarker {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<UnrelatedMarker, Self::Err> {
        let (key, value) = text.split_once('=').ok_or("write KEY=VALUE")?;
        Ok(UnrelatedMarker { key: key.to_owned(), value: value.to_owned() })
    }
}

/// A version of a page.
#[derive(Debug, PartialEq)]
pub(super) struct DocumentVersion {
    pub(super) text: String,
    pub(super) after: VersionRelation,
}

/// The relation of a version to the one before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum VersionRelation {
    /// A change of the page.
    Change,
    /// A return to an earlier version. If a page alternates, it would count again and again.
    Return,
    /// The versions cannot be compared.
    Nothing,
}

/// Consecutive versions of one page.
#[derive(Debug, Default, PartialEq)]
pub(super) struct VersionRun {
    /// The versions. The first one may be the last one of the previous run.
    pub(super) versions: Vec<DocumentVersion>,
    /// Whether the run begins with the first version of the page.
    pub(super) begins: bool,
    /// The error in the line after the run.
    pub(super) fault: Option<String>,
    /// The bytes that the versions take.
    bytes: usize,
}

impl VersionRun {
    fn push(&mut self, version: DocumentVersion) {
        self.bytes += version.text.len() + size_of::<DocumentVersion>();
        self.versions.push(version);
    }
}

impl WorkUnit for VersionRun {
    fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Cuts lines into runs. The lines of a page are contiguous.
pub(super) struct VersionRunReader {
    lines: LineCutter,
    records: VecDeque<Result<VersionRecord, String>>,
    anew: Vec<UnrelatedMarker>,
    /// The page of the previous record.
    page: Option<String>,
    /// The last version of the previous run, if its page may continue.
    last: Option<String>,
    /// The hashes of the last versions of the page.
    seen: VecDeque<u64>,
}

/// A line with a text.
struct VersionRecord {
    url: String,
    version: DocumentVersion,
}

impl VersionRunReader {
    pub(super) fn new(lines: LineCutter, anew: Vec<UnrelatedMarker>) -> VersionRunReader {
        VersionRunReader {
            lines,
            records: VecDeque::new(),
            anew,
            page: None,
            last: None,
            seen: VecDeque::new(),
        }
    }

    /// The next record, without removing it.
    fn peek(&mut self) -> Option<&Result<VersionRecord, String>> {
        while self.records.is_empty() {
            let lines = self.lines.next()?;
            for (number, line) in lines.each() {
                let record = line.map_err(str::to_owned).and_then(|line| record(line, &self.anew));
                let record = record.map_err(|why| format!("{}: {why}", lines.at(number)));
                self.records.extend(record.transpose());
            }
        }
        self.records.front()
    }

    /// Moves the next record into a run, if it belongs there.
    fn take(&mut self, run: &mut VersionRun) -> bool {
        let is_empty = run.versions.is_empty();
        let goes_on = match self.peek() {
            None => return false,
            Some(Err(_)) => false,
            Some(Ok(record)) => Some(record.url.clone()) == self.page,
        };
        if !goes_on && !is_empty {
            return false;
        }
        match self.records.pop_front() {
            None => false,
            Some(Err(fault)) => {
                run.fault = Some(fault);
                false
            }
            Some(Ok(VersionRecord { url, mut version })) => {
                let last = mem::take(&mut self.last).filter(|_| goes_on);
                run.begins |= !goes_on;
                if let Some(text) = last {
                    run.push(DocumentVersion { text, after: VersionRelation::Nothing });
                }
                self.remember(&mut version, goes_on);
                run.push(version);
                self.page = Some(url);
                true
            }
        }
    }
}

impl VersionRunReader {
    /// Determines the relation of a version to the one before it, and remembers the version.
    fn remember(&mut self, version: &mut DocumentVersion, goes_on: bool) {
        if !goes_on {
            self.seen.clear();
            version.after = VersionRelation::Nothing;
        }
        let mut hasher = DefaultHasher::new();
        version.text.hash(&mut hasher);
        let hash = hasher.finish();
        if let Some(at) = self.seen.iter().position(|seen| *seen == hash) {
            self.seen.remove(at);
            if version.after == VersionRelation::Change {
                version.after = VersionRelation::Return;
            }
        }
        self.seen.push_back(hash);
        if self.seen.len() > REMEMBERED {
            self.seen.pop_front();
        }
    }
}

impl Iterator for VersionRunReader {
    type Item = VersionRun;

    fn next(&mut self) -> Option<VersionRun> {
        let mut run = VersionRun::default();
        while self.take(&mut run) {
            if run.bytes() >= RUN_BYTES && run.versions.len() > 1 {
                self.last = run.versions.last().map(|version| version.text.clone());
                return Some(run);
            }
        }
        (run.fault.is_some() || !run.versions.is_empty()).then_some(run)
    }
}

/// The record in a line; `None` if it has no text.
fn record(line: &[u8], anew: &[UnrelatedMarker]) -> Result<Option<VersionRecord>, String> {
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    let value =
        serde_json::from_slice(&with_whole_characters(line)).map_err(|e| escape(&e.to_string()))?;
    let Value::Object(mut object) = value else {
        return Err("the line must be an object with \"url\" and \"text\"".to_owned());
    };
    let is = |key: &str, value: &str| object.get(key).and_then(Value::as_str) == Some(value);
    let is_anew = anew.iter().any(|anew| is(&anew.key, &anew.value));
    let after = if is_anew { VersionRelation::Nothing } else { VersionRelation::Change };
    let Some(Value::String(url)) = object.remove("url") else {
        return Err("\"url\" must be a string".to_owned());
    };
    match object.remove("text") {
        Some(Value::String(text)) => {
            Ok(Some(VersionRecord { url, version: DocumentVersion { text, after } }))
        }
        None | Some(Value::Null) => Ok(None),
        Some(_) => Err("\"text\" must be a string".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use simkeep_formats::{ZstdWindow, lines};

    /// The runs of pages with versions of these texts.
    fn runs(pages: &[(&str, &[String])]) -> Vec<VersionRun> {
        let lines = pages.iter().flat_map(|(url, texts)| {
            texts.iter().map(move |text| format!("{}\n", json!({"url": url, "text": text})))
        });
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), lines.collect::<String>()).unwrap();
        let lines = lines::open(file.path(), ZstdWindow::of_mib(8)).unwrap();
        VersionRunReader::new(lines, Vec::new()).collect()
    }

    /// The pairs of versions that are compared, each version by its first character.
    fn pairs(run: &VersionRun) -> Vec<String> {
        let first = |version: &DocumentVersion| version.text.chars().next().unwrap();
        let pairs = run.versions.windows(2).filter(|pair| pair[1].after == VersionRelation::Change);
        pairs.map(|pair| [first(&pair[0]), first(&pair[1])].iter().collect()).collect()
    }

    #[test]
    fn oversized_versions_are_compared_with_their_predecessor() {
        let long = |letter: &str| letter.repeat(RUN_BYTES / 3 - 2 * size_of::<DocumentVersion>());
        let texts: Vec<String> = ["a", "b", "c", "d", "e", "f", "g"].map(long).to_vec();
        let (one, two) = (&texts[..6], &texts[3..]);
        let runs = runs(&[("one", one), ("two", two), ("three", &texts[..1])]);
        let found: Vec<String> = runs.iter().flat_map(pairs).collect();
        assert_eq!(found, ["ab", "bc", "cd", "de", "ef", "de", "ef", "fg"]);
        assert!(runs.len() == 4 && runs.iter().all(|run| run.bytes() < 2 * RUN_BYTES));
        assert_eq!(runs.iter().filter(|run| run.begins).count(), 3);
    }

    #[test]
    fn alternating_page_changes_once() {
        let texts = ["a", "b", "a", "b", "c", "b"].map(str::to_owned);
        let runs = runs(&[("one", &texts), ("two", &texts[..2])]);
        assert_eq!(runs.iter().flat_map(pairs).collect::<Vec<_>>(), ["ab", "bc", "ab"]);
        let returns =
            runs[0].versions.iter().filter(|version| version.after == VersionRelation::Return);
        assert_eq!(returns.count(), 3);
        // A return to a version that was dropped from memory counts as a change.
        let others = (0..REMEMBERED).map(|n| n.to_string());
        let texts: Vec<String> =
            ["a".to_owned()].into_iter().chain(others).chain(["a".to_owned()]).collect();
        let runs = self::runs(&[("one", &texts)]);
        assert_eq!(runs.iter().flat_map(pairs).count(), REMEMBERED + 1);
    }
}
