//! `df build`: counts documents into a table.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use clap::Args;
use simkeep::df::FrequencyCounter;
use simkeep::fingerprint::{Document, FeatureSet};

use super::{
    CommonArgs, DfTableSummary, Exit, Output, VerbError, check_out, ingest, line, nothing,
};
use crate::input::reading::ReadingArgs;
use crate::input::recipe::NamedRecipe;
use crate::input::texts::TextPipeline;
use crate::output::progress::ReadingBar;
use crate::output::words::many;
use simkeep_formats::{InputParts, InputSource};

/// Count document frequencies from files and web archives
///
/// Reads what `ingest` reads. Every text counts as a document each time it occurs. An existing
/// table is replaced when the new one is complete.
#[derive(Args)]
pub(super) struct DfBuildArgs {
    /// Files and folders; - is standard input
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<OsString>,
    /// Table to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Recipe whose features are counted: a preset or a full name
    #[arg(long, value_name = "NAME", default_value = "words-idf")]
    recipe: NamedRecipe,
    /// Drop features of fewer documents; above 1, the table cannot be merged
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    min_documents: u32,
    /// Memory to use, in MiB
    #[arg(long, value_name = "MIB", default_value = "256")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    memory: u32,
    #[command(flatten)]
    reading: ReadingArgs,
}

impl DfBuildArgs {
    pub(super) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        common.without_store()?;
        check_out(&self.output)?;
        self.paths.iter().try_for_each(ingest::check)?;
        let sources: Vec<InputSource> =
            self.paths.iter().map(|path| InputSource::from_argument(path)).collect();
        let mut bar = ReadingBar::new(&sources);
        let memory = usize::try_from(self.memory).unwrap_or(1) << 20;
        let recipe = self.recipe.recipe;
        let mut counter = FrequencyCounter::new(&recipe, &self.output, memory)?;
        let input = InputParts::new(sources).zstd_window(self.reading.zstd_window());
        let read = input.progress();
        let mut texts = TextPipeline::new(input, self.reading.threads(), move || {
            let mut features = FeatureSet::new(&recipe);
            move |_: String, document: Document| {
                let hashes = features.of_text(document.text()).to_vec();
                let bytes = size_of_val(&*hashes);
                (hashes, bytes)
            }
        });
        while let Some(features) = texts.next_whole()? {
            counter.add_features(&features)?;
            let documents = || many(counter.documents(), "document", "documents");
            bar.show(read.load(Ordering::Relaxed), documents);
        }
        bar.finish();
        if counter.documents() == 0 {
            return Err(nothing());
        }
        let table = counter.freeze(self.min_documents)?;
        if common.json {
            output.object(&DfTableSummary::of(&self.output, &table))?;
        } else {
            output.line(&line(&self.output, &table))?;
        }
        Ok(Exit::Done)
    }
}
