//! The producers of signatures.

use gaoya::minhash::{MinHasher, MinHasher32, MinHasher64V1};
use gaoya::simhash::{SimHash, SimSipHasher64};
use gaoya::text::{shingle_text, whitespace_split};
use simkeep::fingerprint::{Fingerprinter, Recipe, Shingles, Sketch};
use simkeep_testing::bench::plain;
use web_simhash::{SimHash64, WebFeatureExtractor};

use crate::signature::TextSignature;

/// The recipes of this crate that are measured.
const RECIPES: [&str; 5] =
    ["words1-raw/2", "words2-sqrt/2", "words3-sqrt/2", "words4-minwise/2", "chars3-raw/2"];

/// The producer with which all others are compared.
pub(crate) const FIRST: &str = "gaoya";

/// The number of orders of a MinHash: the default of datasketch and rensa.
const ORDERS: usize = 128;

/// The number of words in a shingle of a MinHash.
const WORDS: usize = 4;

/// A way to make signatures of texts.
pub(crate) struct SignatureProducer {
    /// Its name.
    pub(crate) name: String,
    /// Makes a signature.
    pub(crate) run: Box<dyn FnMut(&str) -> TextSignature>,
    /// The seconds of each round.
    pub(crate) seconds: Vec<f64>,
}

/// All producers; the first is [`FIRST`].
pub(crate) fn all() -> Vec<SignatureProducer> {
    let mut all = Vec::new();
    let mut add = |name: &str, run: Box<dyn FnMut(&str) -> TextSignature>| {
        all.push(SignatureProducer { name: name.to_owned(), run, seconds: Vec::new() });
    };
    let gaoya = || SimHash::<SimSipHasher64, u64, 64>::new(SimSipHasher64::new(1, 2));
    let simhash = gaoya();
    let run =
        move |text: &str| TextSignature::Bits(simhash.create_signature(whitespace_split(text)));
    add(FIRST, Box::new(run));
    let simhash = gaoya();
    add("gaoya-lower", {
        let of = move |text: &str| simhash.create_signature(whitespace_split(&text.to_lowercase()));
        Box::new(move |text| TextSignature::Bits(of(text)))
    });
    let simhash = gaoya();
    let run =
        move |text: &str| TextSignature::Bits(simhash.create_signature(shingle_text(text, 3)));
    add("gaoya-chars3", Box::new(run));
    let minhash = MinHasher32::new(ORDERS);
    let of = move |shingles: &[&[&str]]| minhash.create_signature(shingles.iter());
    add("gaoya-minhash32", Box::new(move |text| TextSignature::Least32(with_shingles(text, &of))));
    let minhash = MinHasher64V1::new(ORDERS);
    let of = move |shingles: &[&[&str]]| minhash.create_signature(shingles.iter());
    add("gaoya-minhash64", Box::new(move |text| TextSignature::Least64(with_shingles(text, &of))));
    let extractor = WebFeatureExtractor::default();
    let run = move |text: &str| TextSignature::Bits(SimHash64::from_text(text, &extractor).0);
    add("web-simhash", Box::new(run));
    add("loop", Box::new(|text| TextSignature::Bits(plain::fingerprint(text, 1))));
    let sketch = |text: &str| Sketch::<ORDERS>::of(&Shingles::of_text(text, WORDS as u32));
    add("sketch", Box::new(move |text| TextSignature::Least32(sketch(text).least().to_vec())));
    for name in RECIPES {
        let recipe: Recipe = name.parse().unwrap();
        let mut fingerprinter = Fingerprinter::new(&recipe).unwrap();
        let run = move |text: &str| TextSignature::Bits(fingerprinter.of_text(text).unwrap());
        add(name, Box::new(run));
    }
    all
}

/// Passes the runs of words of a text in lower case. A shorter text is a single run.
fn with_shingles<T>(text: &str, of: impl Fn(&[&[&str]]) -> T) -> T {
    let lower = text.to_lowercase();
    let words: Vec<&str> = whitespace_split(&lower).collect();
    let shingles: Vec<&[&str]> = words.windows(WORDS.min(words.len()).max(1)).collect();
    of(&shingles)
}
