//! `discover`: adds URLs that nobody has visited yet.

use std::path::{Path, PathBuf};

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use simkeep::{Discovered, Found, Options, Store, Time, Weight};
use simkeep_formats::{ZstdWindow, hints};

use crate::common::{self, CommonArgs};
use crate::exit::{Exit, VerbError, print_message};
use crate::input::complaints::ComplaintLog;
use crate::output::Output;
use crate::output::words::{abbreviated_names, count, many};
use crate::time;

/// Add URLs that nobody has visited yet, such as seeds
///
/// The URLs wait for a first visit: `simkeep due` lists them among the pages. A URL that has been
/// visited stays a page. A file is a list with a URL in each line, a sitemap, a feed, or JSON lines
/// with "url"; it may be compressed. Makes a store if there is none.
#[derive(Args)]
#[command(after_long_help = r#"Examples:
  simkeep discover crawl.simkeep seeds.txt
  simkeep discover crawl.simkeep sitemap.xml.gz --weight 2
  simkeep discover crawl.simkeep --from https://example.com/ < links.txt

In a list, lines that begin with # are skipped. Links of a page to itself are not stored.

A broken record is named and skipped. Exits with 3 if a file has none but broken records."#)]
pub(crate) struct DiscoverArgs {
    /// Files with URLs; - is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    files: Vec<PathBuf>,
    /// Factor of the value of a first visit
    #[arg(long, value_name = "NUMBER", default_value_t = 1.0, value_parser = weight)]
    weight: f64,
    /// Page with the links
    #[arg(long, value_name = "URL")]
    from: Option<String>,
    /// Time at which the URLs were found; the default is now
    #[arg(long, value_name = "TIME", value_parser = time::parse, allow_hyphen_values = true)]
    at: Option<Time>,
}

/// The number of URLs that are added at once.
const TOGETHER: usize = 4096;

fn weight(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "a weight is a number".to_owned())?;
    if Weight::from(number).is_sound() {
        Ok(number)
    } else {
        Err("a weight is finite and greater than 0".to_owned())
    }
}

/// The result of adding found URLs.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DiscoverResult {
    /// The number of URLs that were read.
    urls: u64,
    /// The number of URLs that were written. Some of them may be known: nothing is looked up.
    written: u64,
    /// The number of URLs that said nothing new: recent repetitions, and links of the page to
    /// itself.
    repeated: u64,
    /// The number of broken records, which were skipped.
    broken: u64,
}

/// URLs on their way to the store, which is opened for the first of them.
struct Discovery<'a> {
    args: &'a DiscoverArgs,
    common: &'a CommonArgs,
    time: Time,
    store: Option<Store>,
    urls: Vec<String>,
    discovered: Discovered,
    read: u64,
    broken: ComplaintLog,
}

impl DiscoverArgs {
    pub(crate) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        let time = self.at.unwrap_or_else(Time::now);
        let mut discovery = Discovery {
            args: &self,
            common,
            time,
            store: None,
            urls: Vec::new(),
            discovered: Discovered::default(),
            read: 0,
            broken: ComplaintLog::broken(),
        };
        let mut unread = Vec::new();
        for file in &self.files {
            common::check_readable(file)?;
            let before = discovery.read;
            let is_broken = discovery.read_file(file)?;
            if is_broken && discovery.read == before {
                unread.push(file.display().to_string());
            }
        }
        discovery.write()?;
        let Discovery { store, discovered, read, broken, .. } = discovery;
        store.map_or(Ok(()), Store::close)?;
        broken.suppressed_message().iter().for_each(|message| print_message(message));
        if common.json {
            output.object(&DiscoverResult {
                urls: read,
                written: discovered.written,
                repeated: discovered.repeated,
                broken: broken.count(),
            })?;
        } else {
            let repeated = match discovered.repeated {
                0 => String::new(),
                some => format!("; {} of them said nothing new", count(some)),
            };
            output.line(&format!("found {}{repeated}", many(read, "URL", "URLs")))?;
        }
        if unread.is_empty() {
            return Ok(Exit::Done);
        }
        let names = abbreviated_names(unread.iter().map(String::as_str));
        Err(VerbError::Broken(format!("no URL could be read from {names}")))
    }
}

impl Discovery<'_> {
    /// Reads the URLs of a file. Returns whether it has broken records.
    fn read_file(&mut self, file: &Path) -> Result<bool, VerbError> {
        let mut is_broken = false;
        let urls = match hints::open_urls(file, ZstdWindow::default()) {
            Ok(urls) => urls,
            Err(broken) => {
                self.broken.add(&broken).iter().for_each(|message| print_message(message));
                return Ok(true);
            }
        };
        for url in urls {
            match url {
                Ok(url) => {
                    self.read += 1;
                    self.urls.push(url);
                }
                Err(broken) => {
                    is_broken = true;
                    self.broken.add(&broken).iter().for_each(|message| print_message(message));
                }
            }
            if self.urls.len() >= TOGETHER {
                self.write()?;
            }
        }
        Ok(is_broken)
    }

    /// Writes the waiting URLs.
    fn write(&mut self) -> Result<(), VerbError> {
        if self.urls.is_empty() {
            return Ok(());
        }
        if self.store.is_none() {
            let place = self.common.store()?;
            let options = Options::default();
            self.store = Some(if common::is_store(&place) {
                common::write(&place, options)?
            } else {
                Store::open_or_create(&place, options)?
            });
        }
        let found = |url| {
            let found = Found::new(url, self.time).weight(self.args.weight);
            if let Some(page) = &self.args.from { found.from(page) } else { found }
        };
        let found: Vec<Found<'_>> = self.urls.iter().map(|url| found(url)).collect();
        if let Some(store) = &self.store {
            let Discovered { written, repeated, .. } = store.discover(&found)?;
            self.discovered.written += written;
            self.discovered.repeated += repeated;
        }
        self.urls.clear();
        Ok(())
    }
}
