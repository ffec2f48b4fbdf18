//! Makes the fingerprints of documents on all threads.

use std::sync::Arc;

use crate::verbs::fingerprints::evaluate::documents::NamedDocument;
use simkeep::fingerprint::{
    FeatureSet, FingerprintError, Fingerprinter, InMemoryFrequencies, Recipe,
};

use super::slices::DocumentSlice;
use crate::exit::VerbError;
use crate::input::pipeline::{self, ChunkResults};

/// The fingerprint of each document.
pub(super) fn fingerprints(
    recipe: &Recipe,
    documents: &Arc<Vec<NamedDocument>>,
    threads: usize,
) -> Result<Vec<u64>, VerbError> {
    if documents.is_empty() {
        return Ok(Vec::new());
    }
    let table = match recipe.needs_frequencies() {
        true => counted(*recipe, documents, threads)?,
        false => InMemoryFrequencies::new(recipe),
    };
    let counted = Arc::new(table);
    let mut fingerprints = Vec::with_capacity(documents.len());
    let (recipe, shared) = (*recipe, Arc::clone(documents));
    let work = move || {
        let (documents, counted) = (Arc::clone(&shared), Arc::clone(&counted));
        move |slice: DocumentSlice, into: &mut ChunkResults<Result<u64, FingerprintError>>| {
            let mut fingerprinter = Fingerprinter::with_frequencies(&recipe, &*counted);
            for document in slice.documents(&documents) {
                let made = fingerprinter.as_mut().map_err(|e| e.clone());
                into.push(made.and_then(|fingerprinter| fingerprinter.of(document)), 0);
            }
        }
    };
    pipeline::run(DocumentSlice::of(0..documents.len()), threads, work, |fingerprint| {
        fingerprints.push(fingerprint?);
        Ok(())
    })?;
    Ok(fingerprints)
}

/// Counts the documents that have each feature of a recipe.
pub(super) fn counted(
    recipe: Recipe,
    documents: &Arc<Vec<NamedDocument>>,
    threads: usize,
) -> Result<InMemoryFrequencies, VerbError> {
    let mut counted = InMemoryFrequencies::new(&recipe);
    let shared = Arc::clone(documents);
    let work = move || {
        let (documents, mut features) = (Arc::clone(&shared), FeatureSet::new(&recipe));
        move |slice: DocumentSlice, into: &mut ChunkResults<Vec<u64>>| {
            for document in slice.documents(&documents) {
                let hashes = features.of_text(document.text()).to_vec();
                let bytes = size_of_val(&*hashes);
                into.push(hashes, bytes);
            }
        }
    };
    pipeline::run(DocumentSlice::of(0..documents.len()), threads, work, |hashes: Vec<u64>| {
        counted.add_features(&hashes);
        Ok(())
    })?;
    Ok(counted)
}
