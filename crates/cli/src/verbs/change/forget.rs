//! `forget`: deletes pages.

use std::collections::BTreeSet;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::PathBuf;
use std::str::FromStr;

use clap::{ArgGroup, Args};
use schemars::JsonSchema;
use serde::Serialize;
use simkeep::publish::{generations, generations_with};
use simkeep::{Forgotten, Options, Page, Prefix, PrefixError, Scope, Snapshot};
use simkeep_formats::escape;

use crate::common::quoted;
use crate::exit::{Exit, VerbError, print_message};
use crate::input::spelling;
use crate::output::Output;
use crate::output::progress::with_progress_bar;
use crate::output::words::{abbreviated_names, count, many};
use crate::{CommonArgs, common};

/// Delete a page, or all pages under a prefix
///
/// The pages disappear from all answers at once, and from the files as these are merged; --purge
/// rewrites the files now. Later visits start a new history. On a terminal, --under lists the pages
/// and asks first.
#[derive(Args)]
#[command(group(ArgGroup::new("what").required(true).args(["url", "under"])))]
#[command(after_long_help = r#"Examples:
  simkeep forget crawl.simkeep https://example.com/private
  simkeep forget crawl.simkeep --under example.com --dry-run
  simkeep forget crawl.simkeep --under example.com    with all subdomains
  simkeep forget crawl.simkeep --under example.com/ --purge    that host only

Also deleted: pages whose URL has a user, such as http://user:secret@example.com/a with
--under example.com/a. Hosts are read as browsers read them and as typed: --under 127.1/x
deletes pages under http://127.0.0.1/x and http://127.1/x. Other spellings are pages of
their own, which `simkeep scan` and `simkeep aliases` list.

Exits with 1 if there was nothing to forget, except with --purge."#)]
pub(crate) struct ForgetArgs {
    /// URL of the page, exactly as it was observed
    url: Option<String>,
    /// All pages under this prefix: a domain, host or path
    #[arg(long, value_name = "PREFIX")]
    under: Option<TypedPrefix>,
    /// Rewrite the files now, so that none has the URLs
    #[arg(long)]
    purge: bool,
    /// List generations in this directory that still have the pages
    #[arg(long, value_name = "DIR", requires = "purge", conflicts_with = "dry_run")]
    published: Option<PathBuf>,
    /// Print what would be forgotten, and forget nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long)]
    yes: bool,
}

/// A prefix as browsers read it, and as the user typed it if that selects other pages.
#[derive(Clone)]
struct TypedPrefix {
    read: Prefix,
    typed: Option<Prefix>,
}

impl FromStr for TypedPrefix {
    type Err = PrefixError;

    fn from_str(text: &str) -> Result<TypedPrefix, PrefixError> {
        Ok(TypedPrefix { read: text.parse()?, typed: Prefix::as_typed(text) })
    }
}

/// The maximum number of pages to list before the confirmation.
const NAMED: usize = 10;

/// The pages that would be forgotten.
#[derive(Default)]
struct ForgetPreview {
    pages: u64,
    visits: u64,
    first: Vec<String>,
}

/// The data that were forgotten; with --dry-run, the data that would be.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ForgetResult<'a> {
    pages: u64,
    visits: u64,
    /// Whether the files were rewritten so that none contains the URLs.
    purged: bool,
    dry_run: bool,
    /// The numbers of the generations that still contain the pages; null without --published.
    in_generations: Option<&'a [u64]>,
    /// The URLs of the first pages; null without --dry-run.
    first_urls: Option<&'a [String]>,
}

impl ForgetPreview {
    fn add(&mut self, page: Page) {
        self.pages += 1;
        self.visits += page.visits;
        if self.first.len() < NAMED {
            self.first.push(page.url);
        }
    }

    fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> =
            self.first.iter().map(|url| format!("  {}", escape::escape_untruncated(url))).collect();
        let more = self.pages - self.first.len() as u64;
        if more > 0 {
            lines.push(format!("  and {} more", count(more)));
        }
        lines
    }
}

impl ForgetArgs {
    pub(crate) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        let scopes = self.scopes()?;
        let place = common.store()?;
        if self.dry_run {
            let snapshot = common::read(&place)?.snapshot();
            return self.show((&snapshot, &scopes), common.json, output);
        }
        // Checks the directory of generations before anything is forgotten.
        self.published.as_ref().map(generations).transpose()?;
        let store = common::write(&place, Options::default())?;
        if self.needs_confirmation() {
            print_message(&format!(
                "looking for pages under {}; nothing is forgotten before you confirm",
                self.name()
            ));
            let found = ForgetArgs::found(&store.snapshot(), &scopes)?;
            if found.pages > 0 && !confirm(&found)? {
                return Err(VerbError::Other("nothing was forgotten".into()));
            }
        }
        let mut forgotten = Forgotten::default();
        for scope in &scopes {
            let of_scope = match self.purge {
                true => with_progress_bar(|progress| store.purge(scope.clone(), progress))?,
                false => store.forget(scope.clone())?,
            };
            forgotten.pages += of_scope.pages;
            forgotten.visits += of_scope.visits;
        }
        let held = self.held(&scopes)?;
        let is_done = forgotten.pages > 0 || self.purge;
        let unknown = if is_done { None } else { Some(self.unknown(&store.snapshot())?) };
        store.close()?;
        if common.json {
            output.object(&ForgetResult {
                pages: forgotten.pages,
                visits: forgotten.visits,
                purged: self.purge,
                dry_run: false,
                in_generations: held.as_deref(),
                first_urls: None,
            })?;
        } else if forgotten.pages > 0 {
            let everywhere =
                if self.purge { ", and rewrote the files that contained them" } else { "" };
            let forgotten = counts(forgotten.pages, forgotten.visits);
            output.line(&format!("forgot {forgotten}{everywhere}"))?;
        } else if self.purge {
            let name = escape::escape_untruncated(&self.name());
            output.line(&format!("{name} is not known, and no file contains it now"))?;
        }
        if let Some(held) = held.filter(|_| !common.json) {
            output.line(&remaining_generations_message(&held))?;
        }
        let Some(unknown) = unknown else { return Ok(Exit::Done) };
        output.note(&unknown)?;
        Ok(Exit::Nothing)
    }

    /// The pages to forget.
    fn scopes(&self) -> Result<Vec<Scope<'_>>, VerbError> {
        match (&self.url, &self.under) {
            (_, Some(TypedPrefix { read, typed })) => Ok([Some(read), typed.as_ref()]
                .into_iter()
                .flatten()
                .cloned()
                .map(Scope::Prefix)
                .collect()),
            (Some(url), None) => Ok(vec![Scope::Url(url)]),
            (None, None) => Err(VerbError::Usage("name a URL, or a prefix with --under".into())),
        }
    }

    /// The published generations that still contain the pages, if the user named their directory.
    fn held(&self, scopes: &[Scope<'_>]) -> Result<Option<Vec<u64>>, VerbError> {
        let Some(at) = &self.published else { return Ok(None) };
        let mut held = BTreeSet::new();
        for scope in scopes {
            held.extend(generations_with(at, scope)?);
        }
        Ok(Some(held.into_iter().collect()))
    }

    /// Finds the pages to forget. Reads each page once.
    fn found(snapshot: &Snapshot, scopes: &[Scope<'_>]) -> simkeep::Result<ForgetPreview> {
        let mut found = ForgetPreview::default();
        for page in scopes.iter().flat_map(|scope| scope.pages(snapshot)) {
            found.add(page?);
        }
        Ok(found)
    }

    /// Whether to ask for confirmation: a user is present, and the options do not disable it.
    fn needs_confirmation(&self) -> bool {
        let is_there = || io::stdin().is_terminal() && io::stderr().is_terminal();
        self.under.is_some() && !self.yes && is_there()
    }

    fn name(&self) -> String {
        let prefix = self.under.as_ref().map(|TypedPrefix { read, typed }| match typed {
            Some(typed) => format!("{read} and {typed}"),
            None => read.to_string(),
        });
        prefix.or_else(|| self.url.clone()).unwrap_or_default()
    }

    /// The message if no page was found.
    fn unknown(&self, snapshot: &Snapshot) -> Result<String, VerbError> {
        match &self.url {
            Some(url) => {
                let unknown = spelling::unknown(snapshot, url, |_| true)?;
                let prefix: Option<Prefix> = url.parse().ok();
                let first = prefix.and_then(|prefix| snapshot.scan(Some(&prefix)).next());
                Ok(match first.transpose()? {
                    Some(_) => {
                        let prefix = quoted(url.as_ref());
                        format!("{unknown}; --under {prefix} forgets all pages under it")
                    }
                    None => unknown,
                })
            }
            None => Ok(format!("no page is known under {}", self.name())),
        }
    }

    /// Prints what would be forgotten.
    fn show(
        &self,
        (snapshot, scopes): (&Snapshot, &[Scope<'_>]),
        json: bool,
        output: &mut Output,
    ) -> Result<Exit, VerbError> {
        let found = ForgetArgs::found(snapshot, scopes)?;
        if json {
            output.object(&ForgetResult {
                pages: found.pages,
                visits: found.visits,
                purged: false,
                dry_run: true,
                in_generations: None,
                first_urls: Some(&found.first),
            })?;
        } else if found.pages > 0 {
            output.line(&format!("would forget {}:", counts(found.pages, found.visits)))?;
            found.lines().iter().try_for_each(|line| output.line(line))?;
        }
        if found.pages > 0 {
            return Ok(Exit::Done);
        }
        output.note(&self.unknown(snapshot)?)?;
        Ok(Exit::Nothing)
    }
}

/// Asks the user to confirm.
fn confirm(found: &ForgetPreview) -> io::Result<bool> {
    let mut stderr = io::stderr().lock();
    found.lines().iter().try_for_each(|line| writeln!(stderr, "{line}"))?;
    write!(stderr, "Forget {}? [y/N] ", counts(found.pages, found.visits))?;
    stderr.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str()))
}

/// The message that names the generations which still contain the pages.
fn remaining_generations_message(held: &[u64]) -> String {
    let numbers: Vec<String> = held.iter().map(u64::to_string).collect();
    match &numbers[..] {
        [] => "no published generation contains these pages".to_owned(),
        some => format!(
            "older published generations still contain these pages: {}; publish with --keep 1 \
             --grace 0 to remove them",
            abbreviated_names(some.iter().map(String::as_str))
        ),
    }
}

fn counts(pages: u64, visits: u64) -> String {
    format!("{} with {}", many(pages, "page", "pages"), many(visits, "visit", "visits"))
}
