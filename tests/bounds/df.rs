//! Counting document frequencies of very many documents in little memory.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::time::Instant;

use simkeep::df::{FrequencyCounter, FrequencyTable};
use simkeep::fingerprint::{FeatureSet, Frequencies as _, Recipe};

use simkeep_testing::allocator::{lock_measurement, peak_allocated_bytes};
use simkeep_testing::choice;
use simkeep_testing::depth::deep;

/// The number of documents at depth 1. Fewer documents get proportionally less memory.
const DOCUMENTS: u64 = 1_000_000;
const WORDS: u32 = 100;
/// The number of distinct words. Hardly half of the rarer words occur in any document.
const VOCABULARY: f64 = 4e7;
const TERMS_MIN: u64 = 10_000_000;
const MEMORY_BYTES: usize = 256 << 20;
const BYTES_MAX: usize = 512 << 20;

/// One in this many features is also counted in a map, to compare.
const SAMPLED: u64 = 4096;

/// A document whose words follow Zipf's law: the word of rank r has a probability of about 1/r.
fn document(choice: &mut impl FnMut(u64) -> u64, text: &mut String) {
    text.clear();
    for _ in 0..WORDS {
        let uniform = choice(1 << 53) as f64 / (1u64 << 53) as f64;
        #[expect(clippy::cast_possible_truncation, reason = "a rank is below the vocabulary")]
        let rank = VOCABULARY.powf(uniform) as u32;
        // Writing to a string cannot fail.
        let _ = write!(text, "w{rank} ");
    }
}

#[test]
fn many_documents_are_counted_in_bounded_memory() {
    let _alone = lock_measurement();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("crawl.df");
    let recipe = Recipe::words(1);
    let documents = deep(DOCUMENTS).clamp(DOCUMENTS / 20, DOCUMENTS);
    let fewer = usize::try_from(DOCUMENTS / documents).unwrap();
    let (mut choice, mut text) = (choice(5), String::new());
    let mut sample: HashMap<u64, u32> = HashMap::new();
    let mut features = FeatureSet::new(&recipe);
    let begun = Instant::now();
    let (table, most) = peak_allocated_bytes(|| {
        let mut counter = FrequencyCounter::new(&recipe, &path, MEMORY_BYTES / fewer).unwrap();
        for _ in 0..documents {
            document(&mut choice, &mut text);
            counter.add(&text).unwrap();
            for hash in features.of_text(&text).iter().filter(|hash| *hash % SAMPLED == 0) {
                *sample.entry(*hash).or_default() += 1;
            }
        }
        counter.freeze(1).unwrap()
    });
    println!(
        "{} documents, {} terms, {} MiB of heap at most, {} bytes, {:.0?}",
        table.documents(),
        table.terms(),
        most >> 20,
        table.bytes(),
        begun.elapsed()
    );
    assert_eq!(table.documents(), documents);
    assert!(table.terms() >= TERMS_MIN / fewer as u64);
    assert!(most < BYTES_MAX / fewer);
    let found = table.iter().filter(|(hash, _)| hash % SAMPLED == 0);
    assert_eq!(found.collect::<HashMap<_, _>>(), sample);
    let (reopened, most) = peak_allocated_bytes(|| FrequencyTable::open(&path).unwrap());
    assert_eq!(reopened.id(), table.id());
    assert!(most < 4 << 20, "an open table takes {most} bytes");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "something is left");
}
