//! Fingerprints computed by definition: short and slow.

use super::*;
use crate::fingerprint::grams::takes;
use crate::fingerprint::voting::hash_of_field;

/// Computes the features of a text by definition, from its words.
pub(super) fn naive_features(recipe: &Recipe, text: &str) -> Vec<u64> {
    let mut found: Vec<String> = Vec::new();
    let mut take = |word: &[u8], _: usize| {
        if takes(recipe, word) {
            found.push(String::from_utf8(word.to_vec()).unwrap());
        }
    };
    let mut words = WordSplitter::new(FingerprintKernel::PORTABLE, recipe.unit == GramUnit::Chars);
    words.push(text, &mut take);
    words.finish(&mut take);
    let gram = recipe.gram as usize;
    let mut features: Vec<u64> = match recipe.unit {
        GramUnit::Words => {
            let hashes: Vec<u64> =
                found.iter().map(|word| recipe.hash.of(word.as_bytes())).collect();
            let of = |gram: &[u64]| match gram {
                [one] => *one,
                gram => {
                    let bytes: Vec<u8> = gram.iter().flat_map(|hash| hash.to_le_bytes()).collect();
                    recipe.hash.of(&bytes)
                }
            };
            if hashes.is_empty() {
                Vec::new()
            } else {
                hashes.windows(gram.min(hashes.len())).map(of).collect()
            }
        }
        GramUnit::Chars => {
            let all: Vec<char> = found.join(" ").chars().collect();
            let of = |gram: &[char]| recipe.hash.of(gram.iter().collect::<String>().as_bytes());
            if all.is_empty() {
                Vec::new()
            } else {
                all.windows(gram.min(all.len())).map(of).collect()
            }
        }
    };
    features.retain(|hash| recipe.chooses(*hash));
    features
}

/// Computes a fingerprint by definition, for documents without marks.
#[expect(clippy::too_many_lines, reason = "the definition of a recipe, read in one go")]
pub(super) fn naive(
    recipe: &Recipe,
    document: &Document,
    frequencies: &InMemoryFrequencies,
) -> u64 {
    let features = naive_features(recipe, document.text());
    if recipe.family == Family::Minwise {
        let is_left = |hash: &u64| {
            let mut df = Vec::new();
            frequencies.frequencies(&[*hash], &mut df).unwrap();
            let share = df[0] as f64 / frequencies.documents() as f64;
            recipe.leave_out.is_none_or(|least| share < least.to_string().parse().unwrap())
        };
        let left = features.into_iter().filter(is_left).collect();
        return crate::fingerprint::minwise::tests::naive(&left, recipe.seed) & recipe.mask();
    }
    let length = features.len() as u64;
    let mut counts: HashMap<u64, (u64, u128)> = HashMap::new();
    for (x, hash) in (0..).zip(features) {
        let feature = counts.entry(hash).or_default();
        feature.0 += 1;
        feature.1 += u128::from(recipe.scaling.weight(x, length));
    }
    let mut unscaled: Vec<(u64, u128)> = Vec::new();
    for (hash, (count, places)) in counts {
        let mut df = Vec::new();
        frequencies.frequencies(&[hash], &mut df).unwrap();
        let (n, df) = (frequencies.documents(), df[0].max(1));
        let mut weight = u128::from(match recipe.counts {
            CountWeight::Raw => count * ONE,
            CountWeight::Sqrt => (count << 32).isqrt(),
            CountWeight::Log => ONE + fixed::ln(count),
            CountWeight::Binary => ONE,
        });
        weight = match recipe.rarity {
            Rarity::None => weight,
            Rarity::Log => (weight * u128::from(fixed::ln_one_plus(n, df))) >> 16,
            Rarity::Inverse => (weight * u128::from((1u64 << 32) / df)) >> 16,
        };
        if recipe.scaling != PositionWeight::None || recipe.boost != Ratio::ONE {
            weight = (weight * places / u128::from(count)) >> 16;
        }
        unscaled.push((hash, weight));
    }
    let heaviest = unscaled.iter().map(|f| f.1).max().unwrap_or(0);
    let shift = (0..).find(|shift| heaviest >> shift < 1 << 48).unwrap();
    let weights = unscaled.iter().map(|f| (f.0, u64::try_from(f.1 >> shift).unwrap()));
    let mut weights: Vec<(u64, u64)> = weights.collect();
    weights.retain(|f| f.1 > 0);
    weights.sort_by_key(|f| (std::cmp::Reverse(f.1), f.0));
    let heaviest = weights.first().map_or(0, |f| f.1);
    let share = |share: Ratio| share.of(heaviest);
    weights.retain(|f| f.1 >= share(recipe.at_least) && f.1 <= share(recipe.at_most));
    weights.truncate(recipe.top as usize);
    if recipe.cap > 1 && weights.len() >= recipe.cap as usize {
        let cap = weights[recipe.cap as usize - 1].1;
        weights.iter_mut().for_each(|f| f.1 = f.1.min(cap));
    }
    let balance = |weights: &[(u64, u64)], bit: u32| -> i128 {
        let hash = |feature: u64| match recipe.seed {
            0 => feature,
            seed => xxhash_rust::xxh3::xxh3_64_with_seed(&feature.to_le_bytes(), seed.into()),
        };
        let sign = |f: &(u64, u64)| if hash(f.0) >> bit & 1 == 1 { 1 } else { -1 };
        let signed = |f: &(u64, u64)| i128::from(f.1) * sign(f);
        weights.iter().map(signed).sum()
    };
    let of_field = match recipe.fields {
        FieldWeight::None => 0,
        FieldWeight::Share(share) => share.of(weights.iter().map(|f| f.1).max().unwrap_or(0)),
        FieldWeight::Flip => {
            let free = (0..64 - recipe.reserved).map(|bit| balance(&weights, bit).unsigned_abs());
            u64::try_from(free.min().unwrap()).unwrap() + 1
        }
    };
    for (name, value) in document.fields() {
        weights.push((hash_of_field(recipe.hash, name, value), of_field.min(FEATURE_WEIGHT_MAX)));
    }
    let bit = |bit: u32| u64::from(balance(&weights, bit) > 0) << bit;
    (0..64).fold(0, |bits, n| bits | bit(n)) & recipe.mask()
}

/// Returns the frequencies of a small collection.
pub(super) fn counted(recipe: &Recipe) -> InMemoryFrequencies {
    let mut counted = InMemoryFrequencies::new(recipe);
    for text in ["a b c", "a b a b", "ab ba c", "a é 北京 c", "x Ж a", "a bc"] {
        counted.add(text);
    }
    counted
}
