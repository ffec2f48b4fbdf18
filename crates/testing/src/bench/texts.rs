//! Texts to measure.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The paths of real documents and of their near pairs. The files may be missing.
const REAL: &str = "../shared/data/quality/ota.jsonl.zst";
const PAIRS: &str = "../shared/data/quality/ota-pairs.tsv.gz";

/// The logarithm of the largest accepted zstd window: 2^27 bytes.
const WINDOW_LOG_MAX: u32 = 27;

/// Reads the documents of a file, or of the default file, up to `bytes` in all. If the file is
/// missing, generates documents.
pub fn read(path: Option<&Path>, bytes: usize) -> Vec<String> {
    let real = available(REAL);
    let Some(path) = path.or(real.as_deref()) else {
        eprintln!("real texts are not available, so texts are generated");
        return generated_texts(bytes);
    };
    let mut left = bytes;
    let fits = |document: &BenchDocument| {
        let rest = left.checked_sub(document.text.len());
        left = rest.unwrap_or(left);
        rest.is_some()
    };
    documents(path).into_iter().take_while(fits).map(|document| document.text).collect()
}

/// A document with its id.
pub struct BenchDocument {
    /// The id; empty if it has none.
    pub id: String,
    /// The text.
    pub text: String,
}

/// Two documents with common text.
pub struct SimilarPair {
    /// The id of one document.
    pub left: String,
    /// The id of the other document.
    pub right: String,
    /// The resemblance of the two, from 0 to 1.
    pub resemblance: f64,
}

/// Real documents and pairs of them; `None` if they are not available.
pub fn with_pairs() -> Option<(Vec<BenchDocument>, Vec<SimilarPair>)> {
    let mut lines = String::new();
    flate2::read::GzDecoder::new(fs::File::open(available(PAIRS)?).unwrap())
        .read_to_string(&mut lines)
        .unwrap();
    let pair = |line: &str| {
        let mut fields = line.split('\t');
        let mut field = || fields.next().unwrap().to_owned();
        SimilarPair { left: field(), right: field(), resemblance: field().parse().unwrap() }
    };
    Some((documents(&available(REAL)?), lines.lines().map(pair).collect()))
}

/// The path of a file next to this project, if the file exists.
fn available(path: &str) -> Option<PathBuf> {
    let mut above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    above.find_map(|above| Some(above.join(path)).filter(|path| path.exists()))
}

fn documents(path: &Path) -> Vec<BenchDocument> {
    let mut packed = fs::read(path).unwrap();
    if packed.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        let mut decoder = zstd::Decoder::new(&packed[..]).unwrap();
        decoder.window_log_max(WINDOW_LOG_MAX).unwrap();
        let mut unpacked = Vec::new();
        decoder.read_to_end(&mut unpacked).unwrap();
        packed = unpacked;
    }
    let lines = packed.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let document = |line| {
        let object: serde_json::Value = serde_json::from_slice(line).unwrap();
        let field = |name: &str| object[name].as_str().unwrap_or_default().to_owned();
        BenchDocument { id: field("id"), text: field("text") }
    };
    lines.map(document).collect()
}

/// Sentences of words drawn by Zipf's law, in documents of 4 kB.
fn generated_texts(bytes: usize) -> Vec<String> {
    const WORDS: f64 = 50_000.0;
    const DOCUMENT: usize = 4000;
    let mut state = 1u64;
    let mut random = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut texts = Vec::new();
    for _ in 0..bytes / DOCUMENT {
        let mut text = String::new();
        while text.len() < DOCUMENT {
            // Frequent words are short.
            let rank = WORDS.powf(random()) as u64;
            let mut word = String::new();
            let mut rest = rank;
            while rest > 0 || word.is_empty() {
                word.push(char::from(b"etaoinshrdlucmfwypvb"[(rest % 20) as usize]));
                word.push(char::from(b"aeiourst"[(rest / 20 % 8) as usize]));
                rest /= 160;
            }
            text += &word;
            text += if random() < 0.1 { ". " } else { " " };
        }
        texts.push(text);
    }
    texts
}
