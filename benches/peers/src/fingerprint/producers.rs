//! Who makes signatures of texts.

use gaoya::minhash::{MinHasher, MinHasher32, MinHasher64V1};
use gaoya::simhash::{SimHash, SimSipHasher64};
use gaoya::text::{shingle_text, whitespace_split};
use simkeep::fingerprint::{Fingerprinter, Recipe, Shingles, Sketch};
use simkeep_testing::bench::plain;
use web_simhash::{SimHash64, WebFeatureExtractor};

use crate::signature::Signature;

/// Recipes of this crate that are measured.
const RECIPES: [&str; 5] =
    ["words1-raw/2", "words2-sqrt/2", "words3-sqrt/2", "words4-minwise/2", "chars3-raw/2"];

/// What all others are compared with.
pub(crate) const FIRST: &str = "gaoya";

/// Orders of a MinHash: as many as datasketch and rensa have by default.
const ORDERS: usize = 128;

/// Words of a shingle, for a MinHash.
const WORDS: usize = 4;

/// One way from a text to what it is compared by.
pub(crate) struct Producer {
    /// What it is called.
    pub(crate) name: String,
    /// Makes a signature.
    pub(crate) run: Box<dyn FnMut(&str) -> Signature>,
    /// Seconds of each round.
    pub(crate) seconds: Vec<f64>,
}

/// All of them; the first is [`FIRST`].
pub(crate) fn all() -> Vec<Producer> {
    let mut all = Vec::new();
    let mut add = |name: &str, run: Box<dyn FnMut(&str) -> Signature>| {
        all.push(Producer { name: name.to_owned(), run, seconds: Vec::new() });
    };
    let gaoya = || SimHash::<SimSipHasher64, u64, 64>::new(SimSipHasher64::new(1, 2));
    let simhash = gaoya();
    let run = move |text: &str| Signature::Bits(simhash.create_signature(whitespace_split(text)));
    add(FIRST, Box::new(run));
    let simhash = gaoya();
    add("gaoya-lower", {
        let of = move |text: &str| simhash.create_signature(whitespace_split(&text.to_lowercase()));
        Box::new(move |text| Signature::Bits(of(text)))
    });
    let simhash = gaoya();
    let run = move |text: &str| Signature::Bits(simhash.create_signature(shingle_text(text, 3)));
    add("gaoya-chars3", Box::new(run));
    let minhash = MinHasher32::new(ORDERS);
    let of = move |shingles: &[&[&str]]| minhash.create_signature(shingles.iter());
    add("gaoya-minhash32", Box::new(move |text| Signature::Least32(with_shingles(text, &of))));
    let minhash = MinHasher64V1::new(ORDERS);
    let of = move |shingles: &[&[&str]]| minhash.create_signature(shingles.iter());
    add("gaoya-minhash64", Box::new(move |text| Signature::Least64(with_shingles(text, &of))));
    let extractor = WebFeatureExtractor::default();
    let run = move |text: &str| Signature::Bits(SimHash64::from_text(text, &extractor).0);
    add("web-simhash", Box::new(run));
    add("loop", Box::new(|text| Signature::Bits(plain::fingerprint(text, 1))));
    let sketch = |text: &str| Sketch::<ORDERS>::of(&Shingles::of_text(text, WORDS as u32));
    add("sketch", Box::new(move |text| Signature::Least32(sketch(text).least().to_vec())));
    for name in RECIPES {
        let recipe: Recipe = name.parse().unwrap();
        let mut fingerprinter = Fingerprinter::new(&recipe).unwrap();
        let run = move |text: &str| Signature::Bits(fingerprinter.of_text(text).unwrap());
        add(name, Box::new(run));
    }
    all
}

/// Gives the runs of words of a text in lower case; of fewer words, the one run of all.
fn with_shingles<T>(text: &str, of: impl Fn(&[&[&str]]) -> T) -> T {
    let lower = text.to_lowercase();
    let words: Vec<&str> = whitespace_split(&lower).collect();
    let shingles: Vec<&[&str]> = words.windows(WORDS.min(words.len()).max(1)).collect();
    of(&shingles)
}
