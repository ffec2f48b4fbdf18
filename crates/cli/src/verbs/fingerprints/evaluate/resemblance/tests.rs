//! Compares the pairs that are found with a comparison of all texts.

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::io::{BufRead as _, BufReader};

use proptest::prelude::*;
use simkeep::fingerprint::{Document, Shingles};

use super::*;
use crate::verbs::fingerprints::evaluate::documents::EvaluatedDocuments;
use simkeep_formats::{InputParts, InputSource};
use simkeep_testing::real_data_path;

fn named(texts: &[String]) -> Arc<Vec<NamedDocument>> {
    let named = |(number, text): (usize, &String)| NamedDocument {
        id: number.to_string(),
        document: Document::new(text.clone()),
    };
    Arc::new(texts.iter().enumerate().map(named).collect())
}

fn found(search: ResemblanceSearch, documents: &Arc<Vec<NamedDocument>>) -> Vec<(u32, u32, f64)> {
    let mut found = Vec::new();
    let each = |one: u32, other: u32, resemblance| {
        found.push((one.min(other), one.max(other), resemblance));
        Ok(())
    };
    search.run(documents, each).unwrap();
    found.sort_by_key(|pair| (pair.0, pair.1));
    found
}

/// Compares all texts with each other, word by word.
fn naive(texts: &[String], words: usize, at_least: f64) -> Vec<(u32, u32, f64)> {
    let set = |text: &String| {
        let all: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        let runs: BTreeSet<Vec<String>> = all.windows(words).map(<[_]>::to_vec).collect();
        // A text with fewer words is one run.
        if runs.is_empty() && !all.is_empty() { [all].into() } else { runs }
    };
    let sets: Vec<BTreeSet<Vec<String>>> = texts.iter().map(set).collect();
    let mut pairs = Vec::new();
    for (b, right) in (0u32..).zip(&sets) {
        for (a, left) in (0..b).zip(&sets) {
            let (common, all) = (left.intersection(right).count(), left.union(right).count());
            if common > 0 && common as f64 / all as f64 >= at_least {
                pairs.push((a, b, common as f64 / all as f64));
            }
        }
    }
    pairs.sort_by_key(|pair| (pair.0, pair.1));
    pairs
}

/// Texts that share runs of words: with two-letter words, with few words, equal texts, and texts with a
/// common part.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let repeated = "([ab] ){0,40}";
    let few = "([a-z] ){0,3}";
    let template = "([c-g] ){0,20}".prop_map(|own| format!("a B c d e f g h i j k l m n {own}"));
    let text = prop_oneof![repeated, few, "([a-e] ){0,30}", template];
    let some = prop::collection::vec(text, 0..24);
    (some, prop::collection::vec(any::<prop::sample::Index>(), 0..4)).prop_map(
        |(mut texts, again)| {
            let again: Vec<String> = again
                .iter()
                .filter(|_| !texts.is_empty())
                .map(|at| at.get(&texts).clone())
                .collect();
            texts.extend(again);
            texts
        },
    )
}

proptest! {
    #[test]
    fn exactly_the_resembling_pairs_are_found(
        texts in texts(),
        words in 1u32..6,
        at_least in prop_oneof![Just(0.2), Just(0.5), Just(0.8), Just(1.0), 0.01f64..1.0],
        block_bytes in prop_oneof![Just(1usize), 20usize..500, Just(usize::MAX)],
        threads in 1usize..4,
    ) {
        let search = ResemblanceSearch { words, at_least, block_bytes, threads };
        prop_assert_eq!(found(search, &named(&texts)), naive(&texts, words as usize, at_least));
    }
}

#[test]
fn search_stops_at_the_step_limit() {
    let texts: Vec<String> = (0..50).map(|n| format!("a b c d e f {n}")).collect();
    let documents = named(&texts);
    let search =
        ResemblanceSearch { words: 1, at_least: 0.2, block_bytes: BLOCK_BYTES, threads: 1 };
    let block = search.index(&documents, 0..50).unwrap();
    let shingles = Shingles::of_text(&texts[49], 1);
    let steps = |max| {
        let scratch = &mut block.scratch();
        block.resembling(49, shingles.hashes(), 0.2, scratch, max).map(|found| found.steps)
    };
    // Seven shingles. One of the two most frequent ones is not rare: five lists of 50, and its own list.
    assert_eq!((steps(7 + 5 * 50 + 1).is_some(), steps(7 + 5 * 50)), (true, None));
    let spent = Arc::new(AtomicU64::new(STEPS_MAX - 10));
    let refused = search.look_up(&Arc::new(block), &documents, &spent, |_| Ok(()));
    assert!(refused.unwrap_err().message().contains("too much text in common"));
}

/// A text in which each word (a run of letters and digits, in lower case) is padded to eight letters, so
/// that it splits into words in only one way.
fn spelt(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty());
    let spelt = |word: &str| {
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(word.to_lowercase());
        (0..8).map(|at| char::from(b'a' + (hash >> (8 * at) & 15) as u8)).collect::<String>() + " "
    };
    words.map(spelt).collect()
}

/// Compares real documents with the pairs that another tool found, by bands of minwise hashes. The
/// documents are next to the project, if they are available.
#[test]
fn real_pairs_match_another_tool() {
    let Some(folder) = real_data_path("quality") else { return };
    let pairs = std::fs::File::open(folder.join("ota-pairs.tsv.gz")).unwrap();
    let input = InputParts::new([InputSource::Path(folder.join("ota.jsonl.zst"))]);
    let documents = EvaluatedDocuments::read(input, (false, false), 4).unwrap();
    let texts: Vec<String> =
        documents.compared.iter().map(|named| spelt(named.document.text())).collect();
    let search =
        ResemblanceSearch { words: 5, at_least: 0.2, block_bytes: BLOCK_BYTES, threads: 4 };
    let mut found: HashMap<(u32, u32), f64> =
        found(search, &named(&texts)).into_iter().map(|pair| ((pair.0, pair.1), pair.2)).collect();
    let (mut given, mut equal) = (0u32, 0u32);
    for line in BufReader::new(flate2::read::GzDecoder::new(pairs)).lines() {
        let line = line.unwrap();
        let fields: Vec<&str> = line.split('\t').collect();
        let number = |id: &str| documents.number(id).unwrap();
        let (Some(one), Some(other)) = (number(fields[0]), number(fields[1])) else { continue };
        let resemblance = found.remove(&(one.min(other), one.max(other))).unwrap();
        let expected: f64 = fields[2].parse().unwrap();
        given += 1;
        equal += u32::from((resemblance - expected).abs() <= 0.000_051);
        // A few rare characters are letters to only one of the tools.
        assert!((resemblance - expected).abs() <= 0.0012, "{line} {resemblance}");
    }
    // Bands miss half of the pairs at 0.2, and hardly any at 0.5.
    let more = found.values().fold(0.0f64, |most, resemblance| most.max(*resemblance));
    println!("of {given} pairs {equal} are the same; {} more, up to {more:.3}", found.len());
    assert!(given == 17_620 && equal >= 17_480 && more < 0.51);
}
