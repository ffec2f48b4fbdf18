//! What is known of how near documents are.

use std::collections::HashMap;

use simkeep_archive::documents::{LineCutter, Named};

/// Documents of fewer words are left out.
const WORDS_MIN: usize = 8;

/// Two ids and how near their documents are.
fn pair(line: &[u8]) -> Result<(&str, &str, f64), &'static str> {
    let fields = std::str::from_utf8(line).ok().map(|line| line.split('\t'));
    let mut fields = fields.into_iter().flatten();
    let (Some(left), Some(right), near) = (fields.next(), fields.next(), fields.next()) else {
        return Err("no two ids with a tab between them");
    };
    if left == right {
        return Err("a document is no pair with itself");
    }
    let near: Option<f64> = near.map_or(Some(1.0), |near| near.trim().parse().ok());
    match near.filter(|near| (0.0..=1.0).contains(near)) {
        Some(near) => Ok((left, right, near)),
        None => Err("the third field must be a number from 0 to 1"),
    }
}

/// What documents with equal words have in common; none of one that has too few.
pub(super) fn equal(text: &str) -> Option<String> {
    let words: Vec<String> = words(text).collect();
    (words.len() >= WORDS_MIN).then(|| words.join(" "))
}

/// Lower-cased runs of letters and digits, whatever any recipe takes for words.
fn words(text: &str) -> impl Iterator<Item = String> {
    let runs = text.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty());
    runs.map(str::to_lowercase)
}

/// How near pairs of documents are.
#[derive(Debug)]
pub(super) struct Truth {
    /// By the smaller and the larger number of the two.
    pairs: HashMap<(u32, u32), Nearness>,
}

/// By which measures a pair is near.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Nearness {
    pub(super) lenient: bool,
    pub(super) strict: bool,
}

impl Truth {
    /// Reads pairs of some documents; those of others are passed over.
    pub(super) fn read(
        pairs: LineCutter,
        documents: &[Named],
        lenient: f64,
        strict: f64,
    ) -> Result<Truth, String> {
        let numbers: HashMap<&str, u32> = documents.iter().map(|d| &*d.id).zip(0..).collect();
        let mut known = HashMap::new();
        for lines in pairs {
            for (number, line) in lines.each() {
                let fault = |why: &str| format!("{}: {why}", lines.at(number));
                let line = line.map_err(fault)?;
                if line.trim_ascii().is_empty() {
                    continue;
                }
                let (left, right, near) = pair(line).map_err(fault)?;
                if let (Some(&a), Some(&b)) = (numbers.get(left), numbers.get(right)) {
                    let nearness = Nearness { lenient: near >= lenient, strict: near >= strict };
                    known.insert((a.min(b), a.max(b)), nearness);
                }
            }
        }
        Ok(Truth { pairs: known })
    }

    /// How near two documents are.
    pub(super) fn of(&self, left: u32, right: u32) -> Nearness {
        self.pairs.get(&(left.min(right), left.max(right))).copied().unwrap_or_default()
    }

    /// How many pairs are near by the lenient measure.
    pub(super) fn lenient(&self) -> u64 {
        self.pairs.values().filter(|near| near.lenient).count() as u64
    }

    /// How many pairs are near by the strict measure.
    pub(super) fn strict(&self) -> u64 {
        self.pairs.values().filter(|near| near.strict).count() as u64
    }
}
