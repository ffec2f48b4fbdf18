//! `df build`: documents into a table.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use clap::Args;
use simkeep::df::Counter;
use simkeep::fingerprint::FeatureSet;

use super::gauge::Gauge;
use super::reading::Reading;
use super::recipe::Called;
use super::texts::Texts;
use super::words::many;
use super::{Answer, Common, Exit, Failure, Output, check_out, ingest, line, nothing};
use simkeep_formats::{Input, Source};

/// Count the document frequencies of files, folders, JSON lines and web archives
///
/// Reads what `ingest` reads. Every text counts as a document, each time it comes. An existing
/// table with this name is replaced when the new one is complete.
#[derive(Args)]
pub(super) struct Build {
    /// Files and folders; - is standard input
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<OsString>,
    /// The table to make
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// A recipe that has the features to be counted, by its name or that of a preset
    #[arg(long, value_name = "NAME", default_value = "words-idf")]
    recipe: Called,
    /// Leave out features that fewer documents have; such a table cannot be merged with others
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    least: u32,
    /// Memory to take, in MiB
    #[arg(long, value_name = "MIB", default_value = "256")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    memory: u32,
    #[command(flatten)]
    reading: Reading,
}

impl Build {
    pub(super) fn run(self, common: &Common, output: &mut Output) -> Result<Exit, Failure> {
        common.without_store()?;
        check_out(&self.out)?;
        self.paths.iter().try_for_each(ingest::check)?;
        let sources: Vec<Source> =
            self.paths.iter().map(|path| Source::from_argument(path)).collect();
        let bytes: u64 = sources.iter().filter_map(Source::bytes).sum();
        let memory = usize::try_from(self.memory).unwrap_or(1) << 20;
        let recipe = self.recipe.recipe;
        let mut counter = Counter::new(&recipe, &self.out, memory)?;
        let input = Input::new(sources).zstd_window(self.reading.zstd_window());
        let mut gauge = Gauge::new();
        let read = input.progress();
        let mut texts = Texts::new(input, self.reading.threads(), move || {
            let mut features = FeatureSet::new(&recipe);
            move |text: String| {
                let hashes = features.of_text(&text).to_vec();
                let bytes = size_of_val(&*hashes);
                (hashes, bytes)
            }
        });
        while let Some(features) = texts.next()? {
            counter.add_features(&features)?;
            let documents = many(counter.documents(), "document", "documents");
            gauge.show(read.load(Ordering::Relaxed), bytes, documents);
        }
        gauge.finish();
        if counter.documents() == 0 {
            return Err(nothing());
        }
        let table = counter.freeze(self.least)?;
        if common.json {
            output.object(&Answer::of(&self.out, &table))?;
        } else {
            output.line(&line(&self.out, &table))?;
        }
        Ok(Exit::Done)
    }
}
