//! Texts to measure by.

use std::fs;
use std::io::Read;
use std::path::Path;

/// Real documents, where they are at hand.
const REAL: &str = "../shared/data/quality/ota.jsonl.zst";

/// The longest match that a packed file may refer to: 2^27 bytes.
const WINDOW_LOG_MAX: u32 = 27;

/// The documents of a file, of the default one, or else made up: so many bytes of them at most.
pub fn read(path: Option<&Path>, bytes: usize) -> Vec<String> {
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let real = above.map(|above| above.join(REAL)).find(|real| real.exists());
    let Some(path) = path.or(real.as_deref()) else {
        eprintln!("no real texts are at hand: they are made up");
        return made_up(bytes);
    };
    let mut packed = fs::read(path).unwrap();
    if packed.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        let mut decoder = zstd::Decoder::new(&packed[..]).unwrap();
        decoder.window_log_max(WINDOW_LOG_MAX).unwrap();
        let mut unpacked = Vec::new();
        decoder.read_to_end(&mut unpacked).unwrap();
        packed = unpacked;
    }
    let mut left = bytes;
    let mut texts = Vec::new();
    for line in packed.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let object: serde_json::Value = serde_json::from_slice(line).unwrap();
        let text = object["text"].as_str().unwrap_or_default().to_owned();
        match left.checked_sub(text.len()) {
            Some(rest) => left = rest,
            None => break,
        }
        texts.push(text);
    }
    texts
}

/// Sentences of words drawn by Zipf's law, in documents of 4 kB.
fn made_up(bytes: usize) -> Vec<String> {
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
