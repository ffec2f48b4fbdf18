//! Evaluates historic signatures next to recipes. Two signatures match if one of their keys is equal.

use std::sync::Arc;

use crate::verbs::fingerprints::evaluate::documents::NamedDocument;
use simkeep::fingerprint::{
    FingerprintError, IMatch, InMemoryFrequencies, Lexicon, Ratio, Recipe, Shingles, SuperShingles,
};

use super::fingerprints::counted;
use super::ground_truth::GroundTruth;
use super::scores::{FoundPairs, PairScore};
use super::slices::DocumentSlice;
use crate::exit::VerbError;
use crate::input::pipeline::{self, ChunkResults};

/// The keys of a document; `None` for a missing key.
type SignatureKeys = Result<Vec<Option<u128>>, FingerprintError>;

/// The number of words in a shingle, as in D. Fetterly, M. Manasse and M. Najork.
const SHINGLE: u32 = 5;

/// A signature: documents are near if one of their keys is equal.
pub(super) struct HistoricSignature {
    pub(super) name: &'static str,
    /// A description of the signature.
    pub(super) recipe: &'static str,
    keys: fn(&str, &Lexicon<'_>) -> SignatureKeys,
}

/// All signatures.
pub(super) const SIGNATURES: [HistoricSignature; 3] = [
    HistoricSignature {
        name: "imatch",
        recipe: "a digest of words with a rarity of 0.3 to 0.7",
        keys: |text, lexicon| Ok(IMatch::<1>::of(text, lexicon)?.digests().to_vec()),
    },
    HistoricSignature {
        name: "imatch-10",
        recipe: "ten digests of words with a rarity of 0.3 to 0.7, at least one equal",
        keys: |text, lexicon| Ok(IMatch::<10>::of(text, lexicon)?.digests().to_vec()),
    },
    HistoricSignature {
        name: "supershingles",
        recipe: "six hashes of runs of 5 words, at least two equal",
        keys: |text, _| Ok(pairs_of(&SuperShingles::of(&Shingles::of_text(text, SHINGLE)).0)),
    },
];

/// A key for each pair of these hashes, including their positions.
fn pairs_of(hashes: &[u64]) -> Vec<Option<u128>> {
    let before = |(n, b): (usize, &u64)| {
        let key = move |a: u64| Some(u128::from(a) << 64 | u128::from(*b));
        hashes.iter().take(n).copied().map(key).collect::<Vec<_>>()
    };
    hashes.iter().enumerate().flat_map(before).collect()
}

impl HistoricSignature {
    /// The score of the signature on these documents, with document frequencies from the same
    /// documents.
    pub(super) fn score(
        &self,
        documents: &Arc<Vec<NamedDocument>>,
        truth: &GroundTruth,
        threads: usize,
    ) -> Result<PairScore, VerbError> {
        let mut found = FoundPairs::default();
        // One document has no pairs, and its lexicon cannot be built.
        if documents.len() > 1 {
            each_pair(&self.of(documents, threads)?, |left, right| {
                found.count_pair(truth.of(left, right))
            });
        }
        Ok(found.score(truth.strict()))
    }

    /// The keys of each document, half a kilobyte each in addition to the text.
    fn of(
        &self,
        documents: &Arc<Vec<NamedDocument>>,
        threads: usize,
    ) -> Result<Vec<Vec<Option<u128>>>, VerbError> {
        let counted = Arc::new(counted(Recipe::words(1), documents, threads)?);
        let (mut all, keys, shared) = (Vec::new(), self.keys, Arc::clone(documents));
        let work = move || {
            let (documents, counted) = (Arc::clone(&shared), Arc::clone(&counted));
            move |slice: DocumentSlice, into: &mut ChunkResults<SignatureKeys>| {
                for document in slice.documents(&documents) {
                    let of_lexicon = lexicon(&counted);
                    into.push(of_lexicon.and_then(|lexicon| keys(document.text(), &lexicon)), 0);
                }
            }
        };
        pipeline::run(DocumentSlice::of(0..documents.len()), threads, work, |keys| {
            all.push(keys?);
            Ok(())
        })?;
        Ok(all)
    }
}

/// The words that are neither common nor rare.
fn lexicon(counted: &InMemoryFrequencies) -> Result<Lexicon<'_>, FingerprintError> {
    Lexicon::new(counted, Ratio::percent(30)..=Ratio::percent(70))
}

/// Reports each pair of documents with an equal key once.
#[expect(clippy::indexing_slicing, reason = "numbers of documents, which have equally many keys")]
fn each_pair(keys: &[Vec<Option<u128>>], mut pair: impl FnMut(u32, u32)) {
    for nth in 0..keys.first().map_or(0, Vec::len) {
        let known = (0..).zip(keys).filter_map(|(document, keys)| Some((keys[nth]?, document)));
        let mut sorted: Vec<(u128, u32)> = known.collect();
        sorted.sort_unstable();
        for equal in sorted.chunk_by(|a, b| a.0 == b.0) {
            for (n, (_, right)) in equal.iter().enumerate() {
                for (_, left) in &equal[..n] {
                    let (a, b) = (&keys[*left as usize], &keys[*right as usize]);
                    let was_reported = (0..nth).any(|nth| a[nth].is_some() && a[nth] == b[nth]);
                    if !was_reported {
                        pair(*left, *right);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pair_with_an_equal_key_is_reported_once() {
        let key = |n: u8| (n > 0).then_some(u128::from(n));
        let keys = [[1, 5], [1, 5], [1, 0], [0, 5], [0, 0], [0, 0], [5, 1]];
        let keys: Vec<Vec<_>> = keys.iter().map(|keys| keys.map(key).to_vec()).collect();
        let mut reported = Vec::new();
        each_pair(&keys, |left, right| reported.push((left, right)));
        assert_eq!(reported, [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3)]);
        each_pair(&[], |_, _| unreachable!());
    }

    #[test]
    fn any_two_of_six_words_make_a_key() {
        let keys = pairs_of(&[1, 2, 3, 4, 5, 6]);
        let distinct: std::collections::HashSet<_> = keys.iter().collect();
        assert_eq!((keys.len(), distinct.len()), (15, 15));
    }
}
