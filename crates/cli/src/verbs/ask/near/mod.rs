//! `near`: pages with almost the same text.

mod batch;
pub(crate) mod explain;
mod of_page;
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

use crate::exit::{Exit, Failure, say};
use crate::input::limit::Limit;
use crate::input::{origin, spelling};
use crate::output::Output;
use crate::output::json::{Band, EpochName, Fingerprint, Saw, Share};
use crate::output::table::{Table, left, right};
use crate::output::{visit, words};
use crate::verbs::ask::without::{AT_ONCE, Without, without};
use crate::{Common, time};
use search::{ended, search};

pub(crate) use of_page::{OfPage, of_page};

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
lines are skipped. A broken line is reported in its place; then the exit code is 3.

A text of fewer than 8 words has no fingerprint, and nothing is near it.

Exits with 1 if nothing is near."#)]
pub(crate) struct Near {
    /// A URL in the store, or a fingerprint of 16 hex digits
    #[arg(value_name = "URL|FINGERPRINT", value_parser = parse_subject)]
    subject: Option<Subject>,
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
    lines: Lines,
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

/// What the lines of a batch are.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Lines {
    Fingerprint,
    Url,
    Text,
    Html,
}

/// What a search is for, without an option that says it.
#[derive(Clone)]
enum Subject {
    Fingerprint(u64),
    Url(String),
}

fn parse_subject(text: &str) -> Result<Subject, &'static str> {
    if text.contains("://") {
        return Ok(Subject::Url(text.to_owned()));
    }
    let fingerprint = parse_fingerprint(text).map(Subject::Fingerprint);
    fingerprint.map_err(|_| "this is neither a URL with :// nor a fingerprint of 16 hexadecimal digits; use --url, --text, --html or --fingerprint")
}

pub(crate) fn parse_fingerprint(text: &str) -> Result<u64, &'static str> {
    let plain = text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit());
    let value = plain.then(|| u64::from_str_radix(text, 16).ok()).flatten();
    value.ok_or("a fingerprint has 16 hexadecimal digits")
}

/// What is searched.
struct Asked {
    fingerprint: u64,
    epoch: Epoch,
    /// Whether its text has too few words for a distance to mean much.
    is_brief: bool,
}

/// What is searched, or why there is nothing to search for.
type Sought = Result<Asked, String>;

impl Near {
    pub(crate) fn run(self, common: &Common, output: &mut Output) -> Result<Exit, Failure> {
        let reader = common.read()?;
        let snapshot = reader.snapshot();
        if let Some(lines) = &self.batch {
            return batch::run(&self, lines, &snapshot, common.json, output);
        }
        let asked = match self.asked(&snapshot)? {
            Ok(asked) => asked,
            Err(why) => {
                say(&why);
                return Ok(Exit::Nothing);
            }
        };
        let Asked { fingerprint, epoch, .. } = asked;
        let k = self.k.unwrap_or_else(|| snapshot.near_distance(epoch));
        let mut query = self.query(fingerprint, k).epoch(epoch);
        // The page that was asked about is not near itself.
        query.exclude = self.url().map(str::to_owned);
        let explanation = self.explain.then(|| Explanation::of(&snapshot, &query)).transpose()?;
        let explained = || count_without_fingerprint(&snapshot, epoch, self.classes.as_ref());
        let explained = self.explain.then(explained).transpose()?;
        let looked = if self.explain { None } else { self.without(&snapshot, epoch)? };
        let matches = search(&snapshot, &query)?;
        if common.json {
            let all = looked.as_ref().filter(|looked| looked.is_all).map(|looked| looked.pages);
            let explained = (explanation.as_ref(), explained.or(all));
            let saw = Saw::of(&reader);
            let answer = self.answer(&snapshot, (&asked, &query), &matches, explained, saw)?;
            output.object(&Printed::One(answer))?;
        } else {
            let columns = [right("bits"), left("change"), left("fingerprint"), left("URL")];
            let mut table = Table::new(columns);
            for near in &matches.near {
                table.row(row(&snapshot, &asked, near), output)?;
            }
            table.end(output)?;
            if let Some(explanation) = &explanation {
                explain::print(explanation, output)?;
            }
            if let Some(without) = explained {
                let pages = words::many(without, "page has", "pages have");
                output.line(&format!(
                    "{pages} no fingerprint in this epoch (too short to tell, or stale), and took no part"
                ))?;
            }
            if matches.near.len() >= query.limit && !matches.complete && self.nearest.is_none() {
                output.note("there may be more: raise --limit")?;
            } else if !self.is_complete(&matches) {
                output
                    .note(&format!("{}; for more, raise --budget or --limit", ended(&matches)))?;
            }
        }
        if let Some(looked) = looked.and_then(|looked| looked.said(&snapshot, epoch).transpose()) {
            output.note(&looked?)?;
        }
        if !matches.complete || !matches.near.is_empty() {
            return Ok(Exit::Done);
        }
        let within = words::many(k.into(), "bit", "bits");
        output
            .note(&format!("nothing is within {within} of {}", visit::fingerprint(fingerprint)))?;
        Ok(Exit::Nothing)
    }

    /// The pages that a search in an epoch passes over, of the first ones, if there may be any.
    fn without(&self, snapshot: &Snapshot, epoch: Epoch) -> simkeep::Result<Option<Without>> {
        let among = (self.under.as_ref(), self.classes.as_ref());
        without(snapshot, epoch, among, AT_ONCE)
    }

    /// The query within `k` bits. Its epoch is set later.
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

    /// The page that is asked about, if it is one.
    fn url(&self) -> Option<&str> {
        match (&self.url, &self.subject) {
            (Some(url), _) | (None, Some(Subject::Url(url))) => Some(url),
            _ => None,
        }
    }

    /// What is asked for by itself.
    fn asked(&self, snapshot: &Snapshot) -> Result<Sought, Failure> {
        if let Some(url) = self.url() {
            return self.of_url(snapshot, url);
        }
        let file = self.text.as_ref().map(|file| (file, Form::Text));
        if let Some((file, form)) = file.or(self.html.as_ref().map(|file| (file, Form::Html))) {
            let (epoch, origin) = self.of_texts(snapshot)?;
            let document = read_document(file, form)?;
            return Ok(of_text(&document, epoch, &mut origin.fingerprinter()?, file)?);
        }
        let fingerprint = match (self.fingerprint, &self.subject) {
            (Some(fingerprint), _) => fingerprint,
            (None, Some(Subject::Fingerprint(fingerprint))) => *fingerprint,
            _ => return Err(Failure::Usage("name what to search for".to_owned())),
        };
        let epoch = self.of_fingerprints(snapshot, fingerprint)?;
        Ok(Ok(Asked { fingerprint, epoch, is_brief: false }))
    }

    /// Returns the search near a page: near its current content, or near that of the requested time.
    fn of_url(&self, snapshot: &Snapshot, url: &str) -> Result<Sought, Failure> {
        let is_known = |page: &Page| self.classes.as_ref().is_none_or(|c| c.have(page.class));
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
                None => format!("{url} has no content now, so nothing is near it"),
            }));
        };
        let asked = |fingerprint| Asked { fingerprint, epoch: content.epoch, is_brief: false };
        Ok(content.fingerprint.map(asked).ok_or_else(|| {
            format!(
                "the content of {url} has no fingerprint, such as a text that is too short: nothing is near it"
            )
        }))
    }

    /// The epoch that texts are compared in, and what makes its fingerprints.
    fn of_texts(&self, snapshot: &Snapshot) -> Result<(Epoch, Origin), Failure> {
        let named = self.epoch.as_deref().map(|name| origin::named(snapshot.epochs(), name));
        origin::of_texts(snapshot, named.transpose()?)
    }

    /// The epoch that ready fingerprints such as this one are compared in.
    fn of_fingerprints(&self, snapshot: &Snapshot, fingerprint: u64) -> Result<Epoch, Failure> {
        match &self.epoch {
            Some(name) => origin::named(snapshot.epochs(), name),
            None => self.only_epoch(snapshot, fingerprint),
        }
    }

    /// The only epoch of those that find near-duplicates that has pages.
    fn only_epoch(&self, snapshot: &Snapshot, fingerprint: u64) -> Result<Epoch, Failure> {
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
            // Any epoch has nothing near.
            [] => Ok(snapshot.near_epoch()),
            _ => {
                let names: Vec<&str> = with_pages.iter().map(|info| info.name.as_str()).collect();
                let names = names.join(", ");
                Err(Failure::Usage(format!(
                    "the store has fingerprints of several epochs; say with --epoch which: {names}"
                )))
            }
        }
    }

    /// Whether an epoch has any page among those that are searched.
    fn has_pages(
        &self,
        snapshot: &Snapshot,
        fingerprint: u64,
        epoch: Epoch,
    ) -> Result<bool, Failure> {
        let mut nearest = self.query(fingerprint, 64).epoch(epoch).limit(1);
        nearest.budget = None;
        Ok(!snapshot.search(&nearest)?.near.is_empty())
    }
}

/// What is near a text that is named by its file.
fn of_text(
    document: &Document,
    epoch: Epoch,
    fingerprinter: &mut Fingerprinter<'_>,
    file: &Path,
) -> simkeep::Result<Sought> {
    let is_brief = !document.has_words(Meaning::WORDS_MIN);
    let made = fingerprinter.of_page(document)?;
    let asked = made.map(|fingerprint| Asked { fingerprint, epoch, is_brief });
    Ok(asked.ok_or_else(|| match document.is_too_short() {
        true => words::too_short(file),
        false => {
            let file = words::named(file);
            format!("{file} has only words that the recipe leaves out, and so no fingerprint")
        }
    }))
}

/// The epoch of this name, or that by which near-duplicates are sought; and the distance that was asked
/// for, or what its recipe advises.
pub(crate) fn sought(
    snapshot: &Snapshot,
    name: Option<&str>,
    k: Option<u32>,
) -> Result<(Epoch, u32), Failure> {
    let epoch = match name {
        Some(name) => origin::named(snapshot.epochs(), name)?,
        None => snapshot.near_epoch(),
    };
    Ok((epoch, k.unwrap_or_else(|| snapshot.near_distance(epoch))))
}

/// What is near a fingerprint, or with --batch near what a line names.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Printed<'a> {
    One(Answer<'a>),
    OfMany(batch::Line<'a>),
}

/// What is near a fingerprint.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Answer<'a> {
    /// The one that was searched for.
    fingerprint: Fingerprint,
    epoch: EpochName<'a>,
    /// How many bits may differ.
    k: u32,
    /// Whether no page is missing; of the nearest, whether none is missing that is nearer.
    complete: bool,
    /// Within how many bits no page is missing; null if pages with the very fingerprint may be.
    within: Option<u32>,
    /// The pages, the nearest first.
    near: Vec<NearPage<'a>>,
    /// How the search went, if that was asked for.
    explain: Option<explain::Answer<'a>>,
    /// How many pages took no part, since they have no fingerprint in this epoch. It is known with
    /// "explain", and in stores of up to 20,000 pages if other epochs have fingerprints.
    without_fingerprint: Option<u64>,
    saw: Saw,
}

/// A page that was found.
#[derive(Serialize, JsonSchema)]
struct NearPage<'a> {
    url: &'a str,
    /// In how many bits it differs.
    distance: u32,
    /// Null for a text that is too short to say.
    band: Option<Band>,
    /// From what share of the words to what share that means.
    words_changed: Option<[Share; 2]>,
    fingerprint: Fingerprint,
}

impl Near {
    fn answer<'a>(
        &self,
        snapshot: &'a Snapshot,
        (asked, query): (&Asked, &Query),
        matches: &'a Matches,
        (explanation, without): (Option<&'a Explanation>, Option<u64>),
        saw: Saw,
    ) -> simkeep::Result<Answer<'a>> {
        Ok(Answer {
            fingerprint: Fingerprint(asked.fingerprint),
            epoch: EpochName(visit::epoch(snapshot.epochs(), asked.epoch)?),
            k: query.k,
            complete: self.is_complete(matches),
            within: matches.within,
            near: near_pages(snapshot, asked, matches),
            explain: explanation.map(explain::Answer::from),
            without_fingerprint: without,
            saw,
        })
    }

    /// Whether no page is missing, or the nearest were asked for, and all of them are there.
    fn is_complete(&self, matches: &Matches) -> bool {
        let is_searched = |last: &simkeep::Near| last.distance.checked_sub(1) <= matches.within;
        let is_enough = self.nearest.is_some_and(|count| matches.near.len() >= count);
        matches.complete || is_enough && matches.near.last().is_none_or(is_searched)
    }
}

/// The pages that were found, for programs.
fn near_pages<'a>(snapshot: &Snapshot, asked: &Asked, matches: &'a Matches) -> Vec<NearPage<'a>> {
    let page = |near: &'a simkeep::Near| {
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

/// A page that was found, for people.
fn row(snapshot: &Snapshot, asked: &Asked, near: &simkeep::Near) -> [String; 4] {
    let band = match asked.is_brief {
        true => "-".to_owned(),
        false => snapshot.meaning(asked.epoch, near.distance).band.to_string(),
    };
    let url = escape::whole(&near.url);
    [near.distance.to_string(), band, visit::fingerprint(near.fingerprint), url]
}

/// The contents of a page that were in force at a time, of the newest epoch first.
fn contents_at(snapshot: &Snapshot, url: &str, time: Time) -> simkeep::Result<Vec<Content>> {
    let Some(visit) = snapshot.as_of(url, time)? else { return Ok(Vec::new()) };
    let history = snapshot.history(url)?;
    let entries = history.iter().map(HistoryEntry::entry);
    // What was restated later has the time and the digest of its visit, and replaces its fingerprint.
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

/// The content by which near-duplicates of a page are sought: its fingerprint of the newest epoch that
/// finds them, if it has one of such an epoch that lives.
fn near_content(snapshot: &Snapshot, contents: &[Content]) -> Option<Content> {
    let finds = |content: &&Content| {
        let info = snapshot.epochs().iter().find(|info| info.epoch == content.epoch);
        info.is_some_and(|info| !info.ended && info.role.finds_near())
    };
    contents.iter().find(finds).copied()
}

/// How a file is read.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Form {
    /// As HTML if its name or its first bytes say so, as `ingest` reads a page.
    Unknown,
    /// As HTML.
    Html,
    /// As plain text. HTML is refused, since its tags would count as words.
    Text,
}

/// Reads a document; `-` is standard input.
pub(crate) fn read_document(path: &Path, form: Form) -> Result<Document, Failure> {
    let mut bytes = Vec::new();
    let limit = simkeep_formats::RECORD_BYTES_MAX;
    let read = if path.as_os_str() == "-" {
        std::io::stdin().lock().take(limit + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes))
    };
    let shown = || words::named(path);
    read.map_err(|e| Failure::Other(format!("cannot read {}: {e}", shown())))?;
    if bytes.len() as u64 > limit {
        return Err(Failure::Usage(format!("{} is larger than {} MiB", shown(), limit >> 20)));
    }
    if form == Form::Text && simkeep_formats::is_html(path, &bytes) {
        return Err(Failure::Usage(format!("{} is HTML: use --html instead of --text", shown())));
    }
    document(&bytes, form, path).ok_or_else(|| {
        Failure::Usage(format!("{} is not a text: name a text or an HTML page", shown()))
    })
}

/// The text of a document; `None` if the bytes are not text.
fn document(bytes: &[u8], form: Form, path: &Path) -> Option<Document> {
    let path = if form == Form::Html { Path::new("page.html") } else { path };
    simkeep_formats::document(path, bytes)
}
