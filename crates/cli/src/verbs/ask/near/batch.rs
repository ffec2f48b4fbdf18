//! `near --batch`: answers many questions, one per line, in the same order.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use simkeep::fingerprint::Fingerprinter;
use simkeep::{Epoch, Error, Matches, Query, Snapshot};
use simkeep_formats::lines::open;
use simkeep_formats::{ZstdWindow, escape, is_html};

use super::search::{ended, extend_search};
use super::{
    BatchLineKind, NearArgs, NearOutput, NearPage, NearQuery, NearQueryResult, TextFormat,
    document, near_pages, of_text, row,
};
use crate::exit::{Exit, VerbError, print_message};
use crate::input::fingerprint::parse_fingerprint;
use crate::input::origin;
use crate::output::Output;
use crate::output::json::{EpochName, Fingerprint};
use crate::output::table::{TextTable, left, right};
use crate::output::{visit, words};

/// The maximum number of questions that are searched together.
const TOGETHER: usize = 1 << 12;

/// The maximum number of pages in the answers to questions searched together, unless one answer may
/// have more.
const PAGES: usize = 1 << 16;

/// Answers each line of a file; `-` is standard input.
pub(super) fn run(
    near: &NearArgs,
    file: &Path,
    snapshot: &Snapshot,
    as_json: bool,
    output: &mut Output,
) -> Result<Exit, VerbError> {
    let form = match near.lines {
        BatchLineKind::Html => Some(TextFormat::Html),
        BatchLineKind::Text => Some(TextFormat::Text),
        BatchLineKind::Url | BatchLineKind::Fingerprint => None,
    };
    let texts =
        form.map(|form| Ok::<_, VerbError>((form, near.of_texts(snapshot)?))).transpose()?;
    let named = near.epoch.as_deref().map(|name| origin::named(snapshot.epochs(), name));
    let usual = named.transpose()?.unwrap_or_else(|| snapshot.near_epoch());
    let epoch = texts.as_ref().map_or(usual, |(_, (epoch, _))| *epoch);
    let kind = match &texts {
        Some((form, (epoch, origin))) => {
            BatchKind::Texts(*form, *epoch, Box::new(origin.fingerprinter()?))
        }
        None if near.lines == BatchLineKind::Url => BatchKind::Urls,
        None => BatchKind::Fingerprints(None),
    };
    let mut batch = NearBatch::new(near, snapshot, kind, as_json);
    for lines in open(file, ZstdWindow::default()).map_err(VerbError::Other)? {
        for (number, line) in lines.each() {
            batch.read(number, line, output)?;
        }
        // A program that writes line by line gets the answers to all lines so far.
        batch.answer(output)?;
        batch.show(output)?;
    }
    let exit = batch.end(output)?;
    let looked = near.without(snapshot, epoch)?;
    if let Some(looked) = looked.and_then(|looked| looked.note(snapshot, epoch).transpose()) {
        output.note(&looked?)?;
    }
    Ok(exit)
}

/// The kind of lines, and the state that is needed to search for them.
enum BatchKind<'a> {
    /// Fingerprints, and the epoch in which they are compared; `None` before the first line.
    Fingerprints(Option<Epoch>),
    Urls,
    Texts(TextFormat, Epoch, Box<Fingerprinter<'a>>),
}

/// A line of the batch.
struct BatchQuery {
    number: u64,
    /// The text of the line; `None` for a line that is too long.
    text: Option<String>,
    /// The fingerprint to search for, or the reason why there is none.
    sought: Result<NearQuery, NoQueryReason>,
}

/// The reason why nothing is searched for.
struct NoQueryReason {
    message: String,
    /// Whether the line is not a valid fingerprint, URL or text.
    is_broken: bool,
}

impl NoQueryReason {
    fn broken(said: impl ToString) -> NoQueryReason {
        NoQueryReason { message: said.to_string(), is_broken: true }
    }
}

/// The result for a line.
struct BatchMatches<'q> {
    asked: &'q NearQuery,
    /// The maximum distance in bits.
    k: u32,
    matches: Matches,
}

/// The questions that wait for an answer, and the totals of the answers so far.
struct NearBatch<'a> {
    near: &'a NearArgs,
    snapshot: &'a Snapshot,
    kind: BatchKind<'a>,
    questions: Vec<BatchQuery>,
    /// The table for people; `None` for JSON.
    table: Option<TextTable>,
    lines: u64,
    broken: u64,
    /// The number of pages that were found.
    found: u64,
    /// The number of incomplete answers.
    cut: u64,
}

/// The answer to a line of a --batch.
#[derive(Serialize, JsonSchema)]
pub(crate) struct BatchLine<'a> {
    /// The number of the line in the file, from 1.
    line: u64,
    /// The text of the line; null if the line is too long to read.
    query: Option<&'a str>,
    /// Why there was nothing to search for, such as an unknown page; null if there was a search.
    why: Option<&'a str>,
    /// Whether the line is not a valid fingerprint, URL or text.
    is_broken: bool,
    /// The fingerprint that was searched for; null without a search.
    fingerprint: Option<Fingerprint>,
    epoch: Option<EpochName<'a>>,
    /// The maximum distance in bits; null without a search.
    k: Option<u32>,
    /// Whether the list of pages is complete. With --nearest, whether no nearer page can be
    /// missing. Null without a search.
    complete: Option<bool>,
    /// The distance in bits up to which no page is missing; null without a search, or if even pages
    /// with an equal fingerprint may be missing.
    within: Option<u32>,
    /// The pages that were found, the nearest first.
    near: Vec<NearPage<'a>>,
}

impl<'a> NearBatch<'a> {
    fn new(
        near: &'a NearArgs,
        snapshot: &'a Snapshot,
        kind: BatchKind<'a>,
        as_json: bool,
    ) -> NearBatch<'a> {
        let columns = [right("line"), right("bits"), left("change"), left("fingerprint")];
        let columns = columns.into_iter().chain([left("URL")]);
        let table = (!as_json).then(|| TextTable::new(columns));
        let questions = Vec::new();
        NearBatch { near, snapshot, kind, questions, table, lines: 0, broken: 0, found: 0, cut: 0 }
    }

    /// Adds a line. Answers the waiting questions if there are many.
    fn read(
        &mut self,
        number: u64,
        line: Result<&[u8], &str>,
        output: &mut Output,
    ) -> Result<(), VerbError> {
        let line = line.map(|line| {
            let marked = line.strip_prefix(b"\xef\xbb\xbf").filter(|_| number == 1);
            marked.unwrap_or(line).trim_ascii()
        });
        let question = match line {
            Ok([]) => return Ok(()),
            Ok(line) => {
                let text = String::from_utf8_lossy(line).into_owned();
                BatchQuery { number, sought: self.parse_query(line)?, text: Some(text) }
            }
            Err(why) => BatchQuery { number, sought: Err(NoQueryReason::broken(why)), text: None },
        };
        self.lines += 1;
        self.questions.push(question);
        // With --nearest, each answer has exactly that many pages.
        let each = self.near.nearest.unwrap_or(self.near.limit.count()).max(1);
        if self.questions.len() >= (PAGES / each).clamp(1, TOGETHER) {
            self.answer(output)?;
        }
        Ok(())
    }

    /// The fingerprint to search for, or the reason why there is none.
    fn parse_query(&mut self, line: &[u8]) -> Result<Result<NearQuery, NoQueryReason>, VerbError> {
        let sought: NearQueryResult = match &mut self.kind {
            BatchKind::Texts(TextFormat::Text, ..) if is_html(Path::new(""), line) => {
                return Ok(Err(NoQueryReason::broken("the line is HTML; use --lines html")));
            }
            BatchKind::Texts(form, epoch, fingerprinter) => {
                match document(line, *form, Path::new("")) {
                    None => return Ok(Err(NoQueryReason::broken("the line is not text"))),
                    Some(text) => of_text(&text, *epoch, fingerprinter, Path::new("the text"))?,
                }
            }
            BatchKind::Urls => {
                let Ok(url) = std::str::from_utf8(line) else {
                    return Ok(Err(NoQueryReason::broken("the URL is not UTF-8")));
                };
                match self.near.of_url(self.snapshot, url) {
                    Err(VerbError::Store(Error::Url(why))) => {
                        return Ok(Err(NoQueryReason::broken(why)));
                    }
                    sought => sought?,
                }
            }
            BatchKind::Fingerprints(epoch) => {
                // Bytes that are not UTF-8 are no fingerprint either.
                let fingerprint = match parse_fingerprint(&String::from_utf8_lossy(line)) {
                    Err(why) => return Ok(Err(NoQueryReason::broken(why))),
                    Ok(fingerprint) => fingerprint,
                };
                let epoch = match *epoch {
                    Some(epoch) => epoch,
                    None => *epoch.insert(self.near.of_fingerprints(self.snapshot, fingerprint)?),
                };
                Ok(NearQuery { fingerprint, epoch, is_brief: false })
            }
        };
        Ok(sought.map_err(|said| NoQueryReason { message: said, is_broken: false }))
    }

    /// Answers the waiting questions.
    fn answer(&mut self, output: &mut Output) -> Result<(), VerbError> {
        let questions = std::mem::take(&mut self.questions);
        let mut epochs: BTreeMap<Epoch, Vec<(&NearQuery, &BatchQuery)>> = BTreeMap::new();
        for question in &questions {
            if let Ok(asked) = &question.sought {
                epochs.entry(asked.epoch).or_default().push((asked, question));
            }
        }
        let mut answers: BTreeMap<u64, BatchMatches<'_>> = BTreeMap::new();
        for (epoch, questions) in epochs {
            let k = self.near.k.unwrap_or_else(|| self.snapshot.near_distance(epoch));
            let like = self.near.query(0, k).epoch(epoch);
            let matches = self.search(&questions, &like)?;
            for ((asked, question), matches) in questions.into_iter().zip(matches) {
                answers.insert(question.number, BatchMatches { asked, k: like.k, matches });
            }
        }
        for question in &questions {
            let answer = match &question.sought {
                Err(why) => Err(why),
                Ok(_) => {
                    let none = || VerbError::Other("a search has no answer".to_owned());
                    Ok(answers.get(&question.number).ok_or_else(none)?)
                }
            };
            self.count(answer);
            match &mut self.table {
                None => output.object(&NearOutput::OfMany(self.line(question, answer)?))?,
                Some(table) => rows(self.snapshot, question, answer, table, output)?,
            }
        }
        Ok(())
    }

    /// Answers the questions of one epoch, in order.
    fn search(
        &self,
        questions: &[(&NearQuery, &BatchQuery)],
        like: &Query,
    ) -> Result<Vec<Matches>, VerbError> {
        let all = self.search_at_first(questions, like)?;
        let search_on = |(matches, (asked, question)): (Matches, &(&NearQuery, &BatchQuery))| {
            let mut query = like.clone().fingerprint(asked.fingerprint);
            if matches!(self.kind, BatchKind::Urls) {
                query.exclude.clone_from(&question.text);
            }
            Ok(extend_search(self.snapshot, &query, matches)?)
        };
        all.into_iter().zip(questions).map(search_on).collect()
    }

    fn search_at_first(
        &self,
        questions: &[(&NearQuery, &BatchQuery)],
        like: &Query,
    ) -> Result<Vec<Matches>, VerbError> {
        let fingerprints = questions.iter().map(|(asked, _)| asked.fingerprint);
        if !matches!(self.kind, BatchKind::Urls) {
            let fingerprints: Vec<u64> = fingerprints.collect();
            return Ok(like.run_batch(self.snapshot, &fingerprints)?);
        }
        // The page in question is not near itself.
        let urls = questions.iter().map(|(_, question)| question.text.as_deref());
        let pages: Option<Vec<_>> =
            fingerprints.zip(urls).map(|(fingerprint, url)| Some((fingerprint, url?))).collect();
        let pages = pages.ok_or_else(|| VerbError::Other("a page has no URL".to_owned()))?;
        Ok(like.run_batch_of_pages(self.snapshot, &pages)?)
    }

    fn count(&mut self, answer: Result<&BatchMatches<'_>, &NoQueryReason>) {
        match answer {
            Err(why) => self.broken += u64::from(why.is_broken),
            Ok(BatchMatches { matches, .. }) => {
                self.cut += u64::from(!self.near.is_complete(matches));
                self.found += matches.near.len() as u64;
            }
        }
    }

    /// The answer to a question, for JSON.
    fn line<'l>(
        &'l self,
        question: &'l BatchQuery,
        answer: Result<&'l BatchMatches<'_>, &'l NoQueryReason>,
    ) -> simkeep::Result<BatchLine<'l>> {
        let line = BatchLine {
            line: question.number,
            query: question.text.as_deref(),
            why: None,
            is_broken: false,
            fingerprint: None,
            epoch: None,
            k: None,
            complete: None,
            within: None,
            near: Vec::new(),
        };
        Ok(match answer {
            Err(NoQueryReason { message: said, is_broken }) => {
                BatchLine { why: Some(said), is_broken: *is_broken, ..line }
            }
            Ok(BatchMatches { asked, k, matches }) => BatchLine {
                fingerprint: Some(Fingerprint(asked.fingerprint)),
                epoch: Some(EpochName(visit::epoch(self.snapshot.epochs(), asked.epoch)?)),
                k: Some(*k),
                complete: Some(self.near.is_complete(matches)),
                within: matches.within,
                near: near_pages(self.snapshot, asked, matches),
                ..line
            },
        })
    }

    /// Flushes what was printed.
    fn show(&mut self, output: &mut Output) -> Result<(), VerbError> {
        if let Some(table) = &mut self.table {
            table.show(output)?;
        }
        Ok(output.finish()?)
    }

    /// Prints a note about incomplete answers, and returns the exit code.
    fn end(self, output: &mut Output) -> Result<Exit, VerbError> {
        output.finish()?;
        let lines = words::many(self.lines, "line", "lines");
        if self.cut > 0 {
            let answers = words::many(self.cut, "answer is", "answers are");
            print_message(&format!(
                "{answers} incomplete; raise --limit or --budget for more pages"
            ));
        }
        if self.broken > 0 {
            let are = if self.broken == 1 { "is" } else { "are" };
            let broken = words::count(self.broken);
            return Err(VerbError::Broken(format!(
                "{broken} of {lines} {are} broken; the answers name the reasons"
            )));
        }
        if self.found > 0 || self.cut > 0 {
            return Ok(Exit::Done);
        }
        print_message(&format!("no page is near any of {lines}"));
        Ok(Exit::Nothing)
    }
}

/// Prints the answer for people: a row for each page, or a row that says why there is none.
fn rows(
    snapshot: &Snapshot,
    question: &BatchQuery,
    answer: Result<&BatchMatches<'_>, &NoQueryReason>,
    table: &mut TextTable,
    output: &mut Output,
) -> io::Result<()> {
    let number = || words::count(question.number);
    let said = match answer {
        Err(NoQueryReason { message: said, is_broken: true }) => {
            format!("broken: {}", escape::escape_untruncated(said))
        }
        Err(NoQueryReason { message: said, .. }) => escape::escape_untruncated(said),
        Ok(BatchMatches { matches, .. }) if matches.near.is_empty() && !matches.complete => {
            ended(matches)
        }
        Ok(BatchMatches { matches, k, .. }) if matches.near.is_empty() => {
            format!("no page is within {}", words::many((*k).into(), "bit", "bits"))
        }
        Ok(BatchMatches { asked, matches, .. }) => {
            return matches.near.iter().try_for_each(|near| {
                let [bits, change, fingerprint, url] = row(snapshot, asked, near);
                table.row([number(), bits, change, fingerprint, url], output)
            });
        }
    };
    let none = || "-".to_owned();
    table.row([number(), none(), none(), none(), said], output)
}
