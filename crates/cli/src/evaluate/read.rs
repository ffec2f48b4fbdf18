//! The documents, and what is made of them, on all threads.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use simkeep::fingerprint::{Counted, Document, FeatureSet, Fingerprinter, Recipe, extract};

use super::truth;
use crate::exit::Failure;
use crate::pipeline::{self, Chunk, Results};
use simkeep_archive::documents::{self, LineCutter, Lines, Named};

/// Documents that are worked on at a time.
const DOCUMENTS_AT_A_TIME: usize = 64;

/// A document, its words if there are enough of them, and the place of its line; or what is wrong there.
type Line = (String, Result<(Named, Option<String>), String>);

impl Chunk for Lines {
    fn bytes(&self) -> usize {
        Lines::bytes(self)
    }
}

/// The documents that count: of those with equal words the first.
pub(super) fn documents(
    lines: LineCutter,
    html: bool,
    threads: usize,
) -> Result<Vec<Named>, Failure> {
    let (mut documents, mut ids, mut seen) = (Vec::new(), HashSet::new(), HashSet::new());
    let work = move || move |lines: Lines, into: &mut Results<Line>| read(&lines, html, into);
    pipeline::run(Box::new(lines), threads, work, |(at, named): Line| {
        let broken = |why| Failure::Broken(format!("{at}: {why}"));
        let (named, equal) = named.map_err(broken)?;
        if !ids.insert(named.id.clone()) {
            return Err(broken("a document with this \"id\" was there before".to_owned()));
        }
        if equal.is_some_and(|words| seen.insert(words)) {
            documents.push(named);
        }
        Ok(())
    })?;
    Ok(documents)
}

fn read(lines: &Lines, html: bool, into: &mut Results<Line>) {
    let document = |text: String| if html { extract(&text) } else { Document::new(text) };
    documents::read(lines, document, |at, named| {
        let named = named.map(|named| {
            let equal = truth::equal(named.document.text());
            (named, equal)
        });
        let bytes = named.as_ref().map_or(0, |(named, equal)| {
            named.document.text().len() + equal.as_ref().map_or(0, String::len)
        });
        into.push((at, named), bytes);
    });
}

/// Some of the documents. They are there already, so they take no more memory.
struct Slice(Range<usize>);

impl Chunk for Slice {
    fn bytes(&self) -> usize {
        0
    }
}

impl Slice {
    fn of(documents: &[Named]) -> impl Iterator<Item = Slice> + use<> {
        let all = documents.len();
        let starts = (0..all).step_by(DOCUMENTS_AT_A_TIME);
        starts.map(move |start| Slice(start..all.min(start + DOCUMENTS_AT_A_TIME)))
    }

    fn texts(self, documents: &[Named]) -> impl Iterator<Item = &Document> {
        documents.get(self.0).unwrap_or_default().iter().map(|named| &named.document)
    }
}

/// The fingerprints of documents.
pub(super) fn fingerprints(
    recipe: &Recipe,
    documents: &Arc<Vec<Named>>,
    threads: usize,
) -> Result<Vec<u64>, Failure> {
    if documents.is_empty() {
        return Ok(Vec::new());
    }
    let counted = Arc::new(counted(*recipe, documents, threads)?);
    let mut fingerprints = Vec::with_capacity(documents.len());
    let (recipe, shared) = (*recipe, Arc::clone(documents));
    let work = move || {
        let (documents, counted) = (Arc::clone(&shared), Arc::clone(&counted));
        move |slice: Slice, into: &mut Results<simkeep::Result<u64>>| {
            let mut fingerprinter = Fingerprinter::with_frequencies(&recipe, &*counted);
            for document in slice.texts(&documents) {
                let made = fingerprinter.as_mut().map_err(|e| e.clone());
                into.push(made.and_then(|fingerprinter| fingerprinter.of(document)), 0);
            }
        }
    };
    pipeline::run(Box::new(Slice::of(documents)), threads, work, |fingerprint| {
        fingerprints.push(fingerprint?);
        Ok(())
    })?;
    Ok(fingerprints)
}

/// In how many of the documents each feature is, if the recipe weighs by it.
fn counted(
    recipe: Recipe,
    documents: &Arc<Vec<Named>>,
    threads: usize,
) -> Result<Counted, Failure> {
    let mut counted = Counted::new(&recipe);
    if !recipe.needs_frequencies() {
        return Ok(counted);
    }
    let shared = Arc::clone(documents);
    let work = move || {
        let (documents, mut features) = (Arc::clone(&shared), FeatureSet::new(&recipe));
        move |slice: Slice, into: &mut Results<Vec<u64>>| {
            for document in slice.texts(&documents) {
                let hashes = features.of_text(document.text()).to_vec();
                let bytes = size_of_val(&*hashes);
                into.push(hashes, bytes);
            }
        }
    };
    pipeline::run(Box::new(Slice::of(documents)), threads, work, |hashes: Vec<u64>| {
        counted.add_features(&hashes);
        Ok(())
    })?;
    Ok(counted)
}
