//! Measures how well signatures detect near-duplicates.

use std::collections::{HashMap, HashSet};

use simkeep_testing::bench::report::BenchRow;
use simkeep_testing::bench::texts;

use crate::producers::SignatureProducer;

/// The minimum number of words of a document; shorter ones are left out.
const WORDS_MIN: usize = 8;

/// The resemblance from which a pair is near.
const NEAR: f64 = 0.8;

/// Real documents with distinct words, and their near pairs.
pub(crate) struct LabelledDocuments {
    texts: Vec<String>,
    /// The near pairs: the smaller and the larger number of each.
    near: HashSet<(usize, usize)>,
}

impl LabelledDocuments {
    /// Reads the documents and their known pairs; `None` if they are not available.
    pub(crate) fn read() -> Option<LabelledDocuments> {
        let (documents, pairs) = texts::with_pairs()?;
        let (mut texts, mut numbers, mut seen) = (Vec::new(), HashMap::new(), HashSet::new());
        for document in documents {
            let lower = document.text.to_lowercase();
            let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
            let words: Vec<&str> = words.collect();
            if words.len() >= WORDS_MIN && seen.insert(words.join(" ")) {
                numbers.insert(document.id, texts.len());
                texts.push(document.text);
            }
        }
        let near = pairs.iter().filter(|pair| pair.resemblance >= NEAR).filter_map(|pair| {
            let (a, b) = (*numbers.get(&pair.left)?, *numbers.get(&pair.right)?);
            Some((a.min(b), a.max(b)))
        });
        let near = near.collect();
        Some(LabelledDocuments { texts, near })
    }

    /// Finds the distance at which a producer's signatures have the best F1, the harmonic mean of
    /// precision and recall, over all pairs of documents.
    pub(crate) fn score(&self, producer: &mut SignatureProducer, row: BenchRow) -> BenchRow {
        let signatures: Vec<_> = self.texts.iter().map(|text| (producer.run)(text)).collect();
        // For each distance, the number of pairs, and the number of near pairs.
        let mut found: Vec<(u64, u64)> = Vec::new();
        for (b, second) in signatures.iter().enumerate() {
            for (a, first) in signatures[..b].iter().enumerate() {
                let distance = first.distance(second);
                if distance >= found.len() {
                    found.resize(distance + 1, (0, 0));
                }
                found[distance].0 += 1;
                found[distance].1 += u64::from(self.near.contains(&(a, b)));
            }
        }
        let (mut pairs, mut right) = (0, 0);
        let scores = found.into_iter().enumerate().map(|(distance, (more, near))| {
            pairs += more;
            right += near;
            let precision = right as f64 / pairs.max(1) as f64;
            let recall = right as f64 / self.near.len() as f64;
            (
                2.0 * right as f64 / (pairs as usize + self.near.len()) as f64,
                distance,
                precision,
                recall,
            )
        });
        let best = scores.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
        let row = row.count("bytes", signatures[0].bytes() as u64).number("f1", best.0);
        let row = row.count("within", best.1 as u64).number("precision", best.2);
        row.number("recall", best.3).count("documents", self.texts.len() as u64)
    }
}
