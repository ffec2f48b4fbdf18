//! Why a fingerprint is what it is.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::document::Document;
use super::fingerprinter::Fingerprinter;
use super::grams::Grams;
use super::kernel::{Kernel, Weighed};
use super::recipe::Unit;
use super::words::Words;
use crate::error::Result;

/// What a fingerprint came from.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Explained {
    /// The fingerprint.
    pub fingerprint: u64,
    /// How many distinct features the document has, and how many of them vote.
    pub features: (usize, usize),
    /// The heaviest features, the heaviest first.
    pub heaviest: Vec<Feature>,
    /// For each bit, by how much of the weight of all features it is what it is: between -1 and 1,
    /// positive for a bit that is 1. The nearer to 0, the smaller a change of the document flips it.
    /// 0 for reserved bits.
    pub balance: [f64; 64],
}

/// A feature of a document.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Feature {
    /// Its words or characters, in lower case.
    pub text: String,
    /// Its hash.
    pub hash: u64,
    /// How often it occurs.
    pub count: u64,
    /// How many documents have it, where that matters.
    pub frequency: Option<u64>,
    /// Its share of the weight of all features.
    pub share: f64,
}

impl Fingerprinter<'_> {
    /// The fingerprint of a document, with its at most `limit` heaviest features (of equal ones
    /// those that come first) and how near each bit is to flipping.
    ///
    /// # Errors
    /// Those of the document frequencies.
    pub fn explain(&mut self, document: &Document, limit: usize) -> Result<Explained> {
        self.push(document.text());
        let voted = self.vote_on(document);
        let total = self.vote.total();
        let share = |weight: f64| if total == 0 { 0.0 } else { weight / total as f64 };
        let mut balance = self.vote.balance().map(|balance| share(balance as f64));
        // Those bits are metadata, whatever the vote.
        let reserved = balance.iter_mut().rev().take(self.recipe.reserved as usize);
        reserved.for_each(|balance| *balance = 0.0);
        let weighed: Vec<Weighed> = self.weights.weighed.clone();
        let fingerprint = self.finish_vote(document);
        voted?;
        let texts = self.texts(document.text());
        // Where each feature first occurs, and how often it does.
        let mut places: HashMap<u64, (usize, u64)> = HashMap::new();
        for (at, (hash, _)) in texts.iter().enumerate() {
            places.entry(*hash).or_insert((at, 0)).1 += 1;
        }
        let place = |hash| places.get(&hash).copied().unwrap_or((usize::MAX, 0));
        let mut weights = if self.recipe.is_plain() {
            places.iter().map(|(hash, (_, count))| (*hash, *count)).collect()
        } else {
            weighed
        };
        let rank = |&(hash, weight): &Weighed| (Reverse(weight), place(hash).0);
        weights.sort_unstable_by_key(rank);
        let features = (places.len(), weights.len());
        weights.truncate(limit);
        let mut frequencies = Vec::new();
        if let (true, Some(table)) = (self.recipe.needs_frequencies(), self.frequencies) {
            let hashes: Vec<u64> = weights.iter().map(|feature| feature.0).collect();
            table.frequencies(&hashes, &mut frequencies)?;
        }
        let heaviest = weights.iter().enumerate().map(|(nth, &(hash, weight))| Feature {
            text: texts.get(place(hash).0).map(|text| text.1.clone()).unwrap_or_default(),
            hash,
            count: place(hash).1,
            frequency: frequencies.get(nth).copied(),
            share: share(weight as f64),
        });
        Ok(Explained { fingerprint, features, heaviest: heaviest.collect(), balance })
    }

    /// Every occurrence of a feature with what it consists of.
    fn texts(&self, text: &str) -> Vec<(u64, String)> {
        let mut words: Vec<String> = Vec::new();
        let mut all = Words::new(Kernel::PORTABLE, self.recipe.unit == Unit::Chars);
        let mut take = |word: &[u8]| {
            if self.recipe.takes(word) {
                words.push(String::from_utf8_lossy(word).into_owned());
            }
        };
        all.push(text, |word, _| take(word));
        all.finish(|word, _| take(word));
        let (units, between): (Vec<String>, &str) = match self.recipe.unit {
            Unit::Words => (words, " "),
            Unit::Chars => (words.join(" ").chars().map(String::from).collect(), ""),
        };
        let gram = (self.recipe.gram as usize).min(units.len()).max(1);
        let mut hashes = Vec::new();
        let every = super::Recipe { modulo: 1, ..self.recipe };
        let mut grams = Grams::new(&every, Kernel::PORTABLE);
        grams.push(text, |hash, _| hashes.push(hash));
        grams.finish(|hash, _| hashes.push(hash));
        let texts = units.windows(gram).map(|units| units.join(between));
        hashes.into_iter().zip(texts).filter(|text| self.recipe.chooses(text.0)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Counted, Counts, Rarity, Recipe, of_text};
    use super::*;

    fn explain(recipe: &str, text: &str) -> Explained {
        let recipe: Recipe = recipe.parse().unwrap();
        let mut counted = Counted::new(&recipe);
        ["the cat", "the dog", "the bird sings"].iter().for_each(|text| counted.add(text));
        let mut fingerprinter = Fingerprinter::with_frequencies(&recipe, &counted).unwrap();
        let explained = fingerprinter.explain(&Document::new(text), 3).unwrap();
        assert_eq!(fingerprinter.of_text(text).unwrap(), explained.fingerprint);
        for (bit, balance) in explained.balance.iter().enumerate() {
            assert_eq!(explained.fingerprint >> bit & 1 == 1, *balance > 0.0);
            assert!(balance.abs() <= 1.0);
        }
        explained
    }

    #[test]
    fn the_heaviest_features_are_named_with_what_they_weigh() {
        let text = "The cat, the CAT and the bird!";
        let explained = explain("words1-raw/1", text);
        assert_eq!(explained.features, (4, 4));
        let found: Vec<_> =
            explained.heaviest.iter().map(|f| (&*f.text, f.count, f.share)).collect();
        assert_eq!(found, [("the", 3, 3.0 / 7.0), ("cat", 2, 2.0 / 7.0), ("and", 1, 1.0 / 7.0)]);
        let pairs = explain("default", text);
        assert_eq!(pairs.fingerprint, of_text(text));
        assert_eq!((&*pairs.heaviest[0].text, pairs.heaviest[0].count), ("the cat", 2));
        let rare = Recipe::words(1).counts(Counts::Binary).rarity(Rarity::Log).top(2);
        let rare = explain(&rare.name(), text);
        assert_eq!((rare.features, &*rare.heaviest[0].text), ((4, 2), "cat"));
        assert_eq!(rare.heaviest[0].frequency, Some(1));
        let chars = explain("chars2-mod3-raw/1", "Abab bab");
        assert!(chars.heaviest.iter().all(|f| f.text.chars().count() == 2));
    }

    #[test]
    fn reserved_bits_are_not_said_to_be_near_to_flipping() {
        let recipe = Recipe::DEFAULT.reserved(8);
        let mut document = Document::new("some text of some words");
        document.set_metadata(0xff);
        let mut fingerprinter = Fingerprinter::new(&recipe).unwrap();
        let explained = fingerprinter.explain(&document, 1).unwrap();
        assert_eq!(explained.fingerprint >> 56, 0xff);
        assert!(explained.balance[56..] == [0.0; 8] && explained.balance[..56] != [0.0; 56]);
    }

    #[test]
    fn nothing_is_explained_as_well() {
        let explained = explain("default", " . ");
        assert_eq!((explained.fingerprint, explained.features), (0, (0, 0)));
        assert_eq!(explained.balance, [0.0; 64]);
        assert_eq!(explain("strict", "two words").heaviest[0].text, "two words");
    }
}
