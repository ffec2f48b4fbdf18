//! `near`: pages with nearly the same text.

mod batch;
pub(crate) mod explain;
mod page_result;
mod search;

use std::cmp::Reverse;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{ArgGroup, Args, ValueEnum};
use schemars::JsonSchema;
use serde::Serialize;
use simkeep::fingerprint::{Document, Fingerprinter, Meaning};
use simkeep::query::{Explanation, count_without_fingerprint};
use simkeep::{
    Classes, Content, Epoch, EpochInfo, HistoryEntry, Matches, Origin, Page, Prefix, Query,
    Snapshot, Time, Versions,
};
use simkeep_formats::escape;

use crate::exit::{Exit, VerbError, print_message};
use crate::input::fingerprint::parse_fingerprint;
use crate::input::limit::Limit;
use crate::input::{origin, spelling};
use crate::output::Output;
use crate::output::json::{Band, EpochName, Fingerprint, JsonRatio, StoreState};
use crate::output::table::{TextTable, left, right};
use crate::output::{visit, words};
use crate::verbs::ask::missing_fingerprints::{AT_ONCE, MissingFingerprints, without};
use crate::{CommonArgs, time};
use search::{ended, search};

pub(crate) use page_result::{PageNearResult, of_page};

/// Find pages near a URL, a text or a fingerprint
///
/// One line per page, nearest first: how many of the 64 bits differ, how large a change that is
/// (none, minor, moderate, major; - for a text of fewer than 100 words), its fingerprint and its
/// URL. No page within the distance is missed.
#[derive(Args)]
#[command(override_usage = "simkeep near [OPTIONS] <URL|FINGERPRINT>
       simkeep near [OPTIONS] --text FILE | --html FILE | --batch FILE")]
#[command(group(ArgGroup::new("what").required(true)
    .args(["subject", "url", "text", "html", "fingerprint", "batch"])))]
#[command(after_long_help = r#"Examples:
  simkeep near crawl.simkeep https://example.com/terms
  simkeep near crawl.simkeep --html terms.html -k 8
  simkeep near crawl.simkeep 0123456789abcdef --ever --limit 100
  simkeep near crawl.simkeep https://example.com/terms --nearest 5 --under example.org
  simkeep near crawl.simkeep --batch urls.txt --lines url --json

Only fingerprints of one epoch are compared: for URLs and texts the newest epoch that
finds near-duplicates, for a fingerprint the only such epoch that has pages. --epoch
chooses another.

A --batch is answered many lines at a time, in order, at a fraction of the cost. Blank
lines are skipped. The answer to a broken line is an error, and the exit code is 3.

A text of fewer than 8 words has no fingerprint, and nothing is near it.

Exits with 1 if nothing is near."#)]
pub(crate) struct NearArgs {
    /// A URL in the store, or a fingerprint of 16 hex digits
    #[arg(value_name = "URL|FINGERPRINT", value_parser = parse_subject)]
    subject: Option<NearSubject>,
    /// Search near the content of this page
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Search near the plain text in this file (- is stdin)
    #[arg(long, value_name = "FILE")]
    text: Option<PathBuf>,
    /// Search near the HTML page in this file (- is stdin)
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Search near this fingerprint, 16 hex digits
    #[arg(long, value_name = "HEX", value_parser = parse_fingerprint)]
    fingerprint: Option<u64>,
    /// Answer one question per line of this file (- is stdin)
    #[arg(long, value_name = "FILE", conflicts_with = "explain")]
    batch: Option<PathBuf>,
    /// What the lines of --batch are
    #[arg(long, value_name = "KIND", requires = "batch", default_value = "fingerprint")]
    lines: BatchLineKind,
    /// Bits that may differ [default: by recipe, mostly 3]
    #[arg(short, value_name = "BITS", value_parser = clap::value_parser!(u32).range(..=64))]
    k: Option<u32>,
    /// Find the nearest pages, however far away
    #[arg(long, value_name = "COUNT", conflicts_with_all = ["k", "limit"])]
    nearest: Option<usize>,
    /// Pages to list
    #[arg(long, value_name = "COUNT|all", default_value = "16")]
    limit: Limit,
    /// Compare fingerprints of this epoch
    #[arg(long, value_name = "NAME")]
    epoch: Option<String>,
    /// Search all versions that pages ever had
    #[arg(long)]
    ever: bool,
    /// Use the state at this time instead of the newest
    #[arg(long, value_name = "TIME", value_parser = time::parse, allow_hyphen_values = true, conflicts_with = "ever")]
    at: Option<Time>,
    /// Only pages under this prefix: a domain, host or path
    #[arg(long, value_name = "PREFIX")]
    under: Option<Prefix>,
    /// Only pages of these classes, such as 0,7,none
    #[arg(long, value_name = "CLASSES")]
    classes: Option<Classes>,
    /// Stop the search after this time, such as 5ms
    #[arg(long, value_name = "DURATION", value_parser = time::duration)]
    budget: Option<Duration>,
    /// Show how each part of the store was searched
    #[arg(long)]
    explain: bool,
}

/// The kind of the lines of a batch.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum BatchLineKind {
    Fingerprint,
    Url,
    Text,
    Html,
}

/// The subject of a search that is given as an argument instead of an option.
#[derive(Clone)]
enum NearSubject {
    Fingerprint(u64),
    Url(String),
}

fn parse_subject(text: &str) -> Result<NearSubject, &'static str> {
    if text.contains("://") {
        return Ok(NearSubject::Url(text.to_owned()));
    }
    let fingerprint = parse_fingerprint(text).map(NearSubject::Fingerprint);
    fingerprint.map_err(|_| "this is neither a URL with :// nor a fingerprint of 16 hexadecimal digits; use --url, --text, --html or --fingerprint")
}

/// A search.
struct NearQuery {
    fingerprint: u64,
    epoch: Epoch,
    /// Whether the text has too few words for a distance to mean much.
    is_brief: bool,
}

/// The search, or the reason why there is nothing to search for.
type NearQueryResult = Result<NearQuery, String>;

impl NearArgs {
    pub(crate) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        let reader = common.read()?;
        let snapshot = reader.snapshot();
        if let Some(lines) = &self.batch {
            return batch::run(&self, lines, &snapshot, common.json, output);
        }
        let asked = match self.argument_query(&snapshot)? {
            Ok(asked) => asked,
            Err(why) => {
                print_message(&why);
                return Ok(Exit::Nothing);
            }
        };
        let NearQuery { fingerprint, epoch, .. } = asked;
        let k = self.k.unwrap_or_else(|| snapshot.near_distance(epoch));
        let mut query = self.query(fingerprint, k).epoch(epoch);
        // The page in question is not near itself.
        query.exclude = self.url().map(str::to_owned);
        let explanation = self.explain.then(|| Explanation::of(&snapshot, &query)).transpose()?;
        let explained = || count_without_fingerprint(&snapshot, epoch, self.classes.as_ref());
        let explained = self.explain.then(explained).transpose()?;
        let looked = if self.explain { None } else { self.without(&snapshot, epoch)? };
        let matches = search(&snapshot, &query)?;
        if common.json {
            let all = looked.as_ref().filter(|looked| looked.is_all).map(|looked| looked.pages);
            let explained = (explanation.as_ref(), explained.or(all));
            let saw = StoreState::of(&reader);
            let answer = self.answer(&snapshot, (&asked, &query), &matches, explained, saw)?;
            output.object(&NearOutput::One(answer))?;
        } else {
            let columns = [right("bits"), left("change"), left("fingerprint"), left("URL")];
            let mut table = TextTable::new(columns);
            for near in &matches.near {
                table.row(row(&snapshot, &asked, near), output)?;
            }
            table.end(output)?;
            if let Some(explanation) = &explanation {
                explain::print(explanation, output)?;
            }
            if let Some(without) = explained {
                let pages = words::many(without, "page", "pages");
                output.line(&format!(
                    "{pages} cannot be found: no fingerprint in this epoch (redirect, not text, too \
                     short, or stale)"
                ))?;
            }
            if matches.near.len() >= query.limit && !matches.complete && self.nearest.is_none() {
                output.note("there may be more pages; raise --limit")?;
            } else if !self.is_complete(&matches) {
                output.note(&format!(
                    "{}; raise --budget or --limit for more pages",
                    ended(&matches)
                ))?;
            }
        }
        if let Some(looked) = looked.and_then(|looked| looked.note(&snapshot, epoch).transpose()) {
            output.note(&looked?)?;
        }
        if !matches.complete || !matches.near.is_empty() {
            return Ok(Exit::Done);
        }
        let within = words::many(k.into(), "bit", "bits");
        output
            .note(&format!("no page is within {within} of {}", visit::fingerprint(fingerprint)))?;
        Ok(Exit::Nothing)
    }

    /// The pages that a search in this epoch does not find, counted among the first pages, if there
    /// may be any.
    fn without(
        &self,
        snapshot: &Snapshot,
        epoch: Epoch,
    ) -> simkeep::Result<Option<MissingFingerprints>> {
        let among = (self.under.as_ref(), self.classes.as_ref());
        without(snapshot, epoch, among, AT_ONCE)
    }

    /// The query within `k` bits. The caller sets its epoch.
    fn query(&self, fingerprint: u64, k: u32) -> Query {
        let mut query = match self.nearest {
            Some(count) => Query::nearest(fingerprint, count),
            None => Query::new(fingerprint, k).limit(self.limit.count()),
        };
        query.versions = match self.at {
            Some(time) => Versions::At(time),
            None if self.ever => Versions::Ever,
            None => Versions::InForce,
        };
        query.under.clone_from(&self.under);
        query.classes.clone_from(&self.classes);
        query.budget = self.budget;
        query
    }

    /// The URL of the page in question, if the subject is a page.
    fn url(&self) -> Option<&str> {
        match (&self.url, &self.subject) {
            (Some(url), _) | (None, Some(NearSubject::Url(url))) => Some(url),
            _ => None,
        }
    }

    /// The search that the arguments ask for, without --batch.
    fn argument_query(&self, snapshot: &Snapshot) -> Result<NearQueryResult, VerbError> {
        if let Some(url) = self.url() {
            return self.of_url(snapshot, url);
        }
        let file = self.text.as_ref().map(|file| (file, TextFormat::Text));
        if let Some((file, form)) = file.or(self.html.as_ref().map(|file| (file, TextFormat::Html)))
        {
            let (epoch, origin) = self.of_texts(snapshot)?;
            let document = read_document(file, form)?;
            return Ok(of_text(&document, epoch, &mut origin.fingerprinter()?, file)?);
        }
        let fingerprint = match (self.fingerprint, &self.subject) {
            (Some(fingerprint), _) => fingerprint,
            (None, Some(NearSubject::Fingerprint(fingerprint))) => *fingerprint,
            _ => {
                return Err(VerbError::Usage(
                    "name a URL, a fingerprint or a file to search for".to_owned(),
                ));
            }
        };
        let epoch = self.of_fingerprints(snapshot, fingerprint)?;
        Ok(Ok(NearQuery { fingerprint, epoch, is_brief: false }))
    }

    /// Returns the search near a page: near its current content, or near that of the requested time.
    fn of_url(&self, snapshot: &Snapshot, url: &str) -> Result<NearQueryResult, VerbError> {
        let is_known = |page: &Page| self.classes.as_ref().is_none_or(|c| c.contains(page.class));
        let Some(page) = snapshot.latest(url)?.filter(is_known) else {
            return Ok(Err(spelling::unknown(snapshot, url, is_known)?));
        };
        let contents = match self.at {
            Some(time) => contents_at(snapshot, url, time)?,
            None => page.contents,
        };
        let content = match &self.epoch {
            None => near_content(snapshot, &contents),
            Some(name) => {
                let epoch = origin::named(snapshot.epochs(), name)?;
                contents.iter().find(|content| content.epoch == epoch).copied()
            }
        };
        let Some(content) = content else {
            return Ok(Err(match self.at {
                Some(time) => format!("{url} had no content at {time}: it was unknown or gone"),
                None => format!("{url} has no content now, so no page is near it"),
            }));
        };
        let asked = |fingerprint| NearQuery { fingerprint, epoch: content.epoch, is_brief: false };
        Ok(content.fingerprint.map(asked).ok_or_else(|| {
            format!(
                "the content of {url} has no fingerprint (a redirect, not text, or too short), so no \
                 page is near it"
            )
        }))
    }

    /// The epoch in which texts are compared, and the origin of its fingerprints.
    fn of_texts(&self, snapshot: &Snapshot) -> Result<(Epoch, Origin), VerbError> {
        let named = self.epoch.as_deref().map(|name| origin::named(snapshot.epochs(), name));
        origin::of_texts(snapshot, named.transpose()?)
    }

    /// The epoch in which a fingerprint is compared.
    fn of_fingerprints(&self, snapshot: &Snapshot, fingerprint: u64) -> Result<Epoch, VerbError> {
        match &self.epoch {
            Some(name) => origin::named(snapshot.epochs(), name),
            None => self.only_epoch(snapshot, fingerprint),
        }
    }

    /// The only epoch for near-duplicates that has pages.
    fn only_epoch(&self, snapshot: &Snapshot, fingerprint: u64) -> Result<Epoch, VerbError> {
        let mut with_pages = Vec::new();
        let finds = |info: &&EpochInfo| !info.ended && info.role.finds_near();
        let live = || snapshot.epochs().iter().filter(finds);
        for info in live() {
            if live().count() == 1 || self.has_pages(snapshot, fingerprint, info.epoch)? {
                with_pages.push(info);
            }
        }
        match *with_pages {
            [only] => Ok(only.epoch),
            // No epoch has pages, so any epoch gives the same answer.
            [] => Ok(snapshot.near_epoch()),
            _ => {
                let names: Vec<&str> = with_pages.iter().map(|info| info.name.as_str()).collect();
                let names = names.join(", ");
                Err(VerbError::Usage(format!(
                    "the store has fingerprints of several epochs; choose one with --epoch: {names}"
                )))
            }
        }
    }

    /// Whether any of the searched pages has a fingerprint of this epoch.
    fn has_pages(
        &self,
        snapshot: &Snapshot,
        fingerprint: u64,
        epoch: Epoch,
    ) -> Result<bool, VerbError> {
        let mut nearest = self.query(fingerprint, 64).epoch(epoch).limit(1);
        nearest.budget = None;
        Ok(!snapshot.search(&nearest)?.near.is_empty())
    }
}

/// The search near a text. Messages name it by its file.
fn of_text(
    document: &Document,
    epoch: Epoch,
    fingerprinter: &mut Fingerprinter<'_>,
    file: &Path,
) -> simkeep::Result<NearQueryResult> {
    let is_brief = !document.has_words(Meaning::WORDS_MIN);
    let made = fingerprinter.of_page(document)?;
    let asked = made.map(|fingerprint| NearQuery { fingerprint, epoch, is_brief });
    Ok(asked.ok_or_else(|| match document.is_too_short() {
        true => words::too_short(file),
        false => {
            let file = words::named(file);
            format!("{file} has no fingerprint, since the recipe ignores all its words")
        }
    }))
}

/// The epoch with this name, or the epoch for near-duplicates; and the requested distance, or the
/// recipe's default.
pub(crate) fn epoch_and_distance(
    snapshot: &Snapshot,
    name: Option<&str>,
    k: Option<u32>,
) -> Result<(Epoch, u32), VerbError> {
    let epoch = match name {
        Some(name) => origin::named(snapshot.epochs(), name)?,
        None => snapshot.near_epoch(),
    };
    Ok((epoch, k.unwrap_or_else(|| snapshot.near_distance(epoch))))
}

/// The pages near a fingerprint; with --batch, the answer to one line.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum NearOutput<'a> {
    One(NearResult<'a>),
    OfMany(batch::BatchLine<'a>),
}

/// The pages near a fingerprint.
#[derive(Serialize, JsonSchema)]
pub(crate) struct NearResult<'a> {
    /// The fingerprint that was searched for.
    fingerprint: Fingerprint,
    epoch: EpochName<'a>,
    /// The maximum distance in bits.
    k: u32,
    /// Whether the list of pages is complete. With --nearest, whether no nearer page can be
    /// missing.
    complete: bool,
    /// The distance in bits up to which no page is missing; null if even pages with an equal
    /// fingerprint may be missing.
    within: Option<u32>,
    /// The pages that were found, the nearest first.
    near: Vec<NearPage<'a>>,
    /// The plans and costs of the search; null without --explain.
    explain: Option<explain::SearchExplanation<'a>>,
    /// The number of pages without a fingerprint in this epoch, which the search cannot find. Null
    /// if unknown: it is known with --explain, and in stores of up to 20,000 pages if other epochs
    /// have fingerprints.
    without_fingerprint: Option<u64>,
    saw: StoreState,
}

/// A page that was found.
#[derive(Serialize, JsonSchema)]
struct NearPage<'a> {
    url: &'a str,
    /// The number of bits in which its fingerprint differs.
    distance: u32,
    /// The size of the change; null if the text in question is too short to judge.
    band: Option<Band>,
    /// The estimated fraction of words that differ: a lower and an upper bound; null if the text in
    /// question is too short to judge.
    words_changed: Option<[JsonRatio; 2]>,
    fingerprint: Fingerprint,
}

impl NearArgs {
    fn answer<'a>(
        &self,
        snapshot: &'a Snapshot,
        (asked, query): (&NearQuery, &Query),
        matches: &'a Matches,
        (explanation, without): (Option<&'a Explanation>, Option<u64>),
        saw: StoreState,
    ) -> simkeep::Result<NearResult<'a>> {
        Ok(NearResult {
            fingerprint: Fingerprint(asked.fingerprint),
            epoch: EpochName(visit::epoch(snapshot.epochs(), asked.epoch)?),
            k: query.k,
            complete: self.is_complete(matches),
            within: matches.within,
            near: near_pages(snapshot, asked, matches),
            explain: explanation.map(explain::SearchExplanation::from),
            without_fingerprint: without,
            saw,
        })
    }

    /// Whether the list is complete, or the requested number of nearest pages was certainly found.
    fn is_complete(&self, matches: &Matches) -> bool {
        let is_searched =
            |last: &simkeep::NearMatch| last.distance.checked_sub(1) <= matches.within;
        let is_enough = self.nearest.is_some_and(|count| matches.near.len() >= count);
        matches.complete || is_enough && matches.near.last().is_none_or(is_searched)
    }
}

/// The pages that were found, for JSON.
fn near_pages<'a>(
    snapshot: &Snapshot,
    asked: &NearQuery,
    matches: &'a Matches,
) -> Vec<NearPage<'a>> {
    let page = |near: &'a simkeep::NearMatch| {
        let meaning = || snapshot.meaning(asked.epoch, near.distance);
        let meaning = (!asked.is_brief).then(meaning);
        NearPage {
            url: &near.url,
            distance: near.distance,
            band: meaning.map(|meaning| Band(meaning.band)),
            words_changed: meaning.as_ref().map(words::changed),
            fingerprint: Fingerprint(near.fingerprint),
        }
    };
    matches.near.iter().map(page).collect()
}

/// A page that was found, as a table row.
fn row(snapshot: &Snapshot, asked: &NearQuery, near: &simkeep::NearMatch) -> [String; 4] {
    let band = match asked.is_brief {
        true => "-".to_owned(),
        false => snapshot.meaning(asked.epoch, near.distance).band.to_string(),
    };
    let url = escape::escape_untruncated(&near.url);
    [near.distance.to_string(), band, visit::fingerprint(near.fingerprint), url]
}

/// The contents of a page that were in force at a time, of the newest epoch first.
fn contents_at(snapshot: &Snapshot, url: &str, time: Time) -> simkeep::Result<Vec<Content>> {
    let Some(visit) = snapshot.as_of(url, time)? else { return Ok(Vec::new()) };
    let history = snapshot.history(url)?;
    let entries = history.iter().map(HistoryEntry::entry);
    // A later restatement has the time and the digest of its visit, and replaces its fingerprint.
    let version =
        entries.filter(|entry| (entry.time(), entry.digest()) == (visit.time, visit.seen.digest()));
    let mut contents: Vec<(bool, Content)> =
        version.filter_map(|entry| Some((entry.visit().is_none(), entry.content()?))).collect();
    contents.sort_by_key(|(is_restated, content)| {
        Reverse((content.epoch, *is_restated, content.fingerprint))
    });
    contents.dedup_by_key(|(_, content)| content.epoch);
    Ok(contents.into_iter().map(|(_, content)| content).collect())
}

/// The content of a page to compare: its fingerprint of the newest epoch for near-duplicates that
/// has not ended, among the epochs of its fingerprints.
fn near_content(snapshot: &Snapshot, contents: &[Content]) -> Option<Content> {
    let finds = |content: &&Content| {
        let info = snapshot.epochs().iter().find(|info| info.epoch == content.epoch);
        info.is_some_and(|info| !info.ended && info.role.finds_near())
    };
    contents.iter().find(finds).copied()
}

/// The format of a document.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum TextFormat {
    /// HTML if the name or the first bytes say so, as in `ingest`; otherwise plain text.
    Unknown,
    /// HTML.
    Html,
    /// Plain text. HTML is refused, because its tags would count as words.
    Text,
}

/// Reads a document; `-` is standard input.
pub(crate) fn read_document(path: &Path, form: TextFormat) -> Result<Document, VerbError> {
    let mut bytes = Vec::new();
    let limit = simkeep_formats::RECORD_BYTES_MAX;
    let read = if path.as_os_str() == "-" {
        std::io::stdin().lock().take(limit + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes))
    };
    let shown = || words::named(path);
    read.map_err(|e| VerbError::Other(format!("cannot read {}: {e}", shown())))?;
    if bytes.len() as u64 > limit {
        return Err(VerbError::Usage(format!("{} is larger than {} MiB", shown(), limit >> 20)));
    }
    if form == TextFormat::Text && simkeep_formats::is_html(path, &bytes) {
        return Err(VerbError::Usage(format!("{} is HTML; use --html instead of --text", shown())));
    }
    document(&bytes, form, path).ok_or_else(|| {
        VerbError::Usage(format!("{} is not text; name a text or an HTML page", shown()))
    })
}

/// The text of a document; `None` if the bytes are not text.
fn document(bytes: &[u8], form: TextFormat, path: &Path) -> Option<Document> {
    let path = if form == TextFormat::Html { Path::new("page.html") } else { path };
    simkeep_formats::document(path, bytes)
}
