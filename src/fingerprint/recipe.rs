//! The recipe of `of_text`.

use xxhash_rust::xxh3::xxh3_64;

use super::{Simhash, Words};

/// The name of the recipe of [`of_text`].
pub const RECIPE: &str = "words2-sqrt/1";

/// How many bytes of normalised text are held before the part that has been hashed is let go.
const HELD_BYTES: usize = 64 << 10;

/// The fingerprint of a text by the recipe [`RECIPE`]; 0 for a text without words.
///
/// Linear in the text but for sorting the features' hashes: some 100 MB/s a core. Holds 8 bytes per
/// word, and not the text again.
pub fn of_text(text: &str) -> u64 {
    let mut hashes = features(text);
    hashes.sort_unstable();
    let mut simhash = Simhash::new(weight(1));
    for equal in hashes.chunk_by(|a, b| a == b) {
        if let Some(&hash) = equal.first() {
            simhash.add(hash, weight(equal.len() as u64));
        }
    }
    simhash.finish()
}

/// The square root of a count, in units of 2⁻¹⁶.
fn weight(count: u64) -> u64 {
    // A text of 2³² words would take more memory than its hashes may.
    count.saturating_mul(1 << 32).isqrt()
}

/// The hashes of all features, in the order of the text.
fn features(text: &str) -> Vec<u64> {
    // The words in a row, each with one space after it. `[previous.., end)` are the last two.
    let mut row = Vec::with_capacity(text.len().min(HELD_BYTES) + 16);
    let mut hashes = Vec::with_capacity(text.len() / 8);
    let mut words = Words::new(text);
    if !words.next_into(&mut row) {
        return hashes;
    }
    let mut previous = 0;
    loop {
        row.push(b' ');
        let start = row.len();
        if !words.next_into(&mut row) {
            break;
        }
        hashes.push(xxh3_64(row.get(previous..).unwrap_or_default()));
        previous = start;
        if previous > HELD_BYTES {
            row.drain(..previous);
            previous = 0;
        }
    }
    if hashes.is_empty() {
        hashes.push(xxh3_64(row.trim_ascii_end()));
    }
    hashes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    /// The recipe as its definition reads.
    fn naive(text: &str) -> u64 {
        let mut words = Words::new(text);
        let mut all: Vec<Vec<u8>> = vec![Vec::new()];
        while words.next_into(all.last_mut().unwrap()) {
            all.push(Vec::new());
        }
        all.pop();
        let mut counts: HashMap<Vec<u8>, u128> = HashMap::new();
        match &all[..] {
            [one] => *counts.entry(one.clone()).or_default() += 1,
            all => all.windows(2).for_each(|two| *counts.entry(two.join(&b' ')).or_default() += 1),
        }
        let votes: Vec<(u64, u128)> =
            counts.iter().map(|(f, n)| (xxh3_64(f), (n << 32).isqrt())).collect();
        let total: u128 = votes.iter().map(|v| v.1).sum();
        (0..64)
            .map(|i| {
                let sum: u128 = votes.iter().filter(|v| v.0 >> i & 1 == 1).map(|v| v.1).sum();
                u64::from(2 * sum > total) << i
            })
            .sum()
    }

    /// Texts and their fingerprints: these never change. A better recipe has another name.
    const GOLDEN: &[(&str, u64)] = &[
        ("", 0),
        (" \n .,;—! ", 0),
        ("word", 0xe3ce_369c_f66c_5c55),
        ("WORD.", 0xe3ce_369c_f66c_5c55),
        ("two words", 0xc6a7_48ce_f3b5_7855),
        ("again again again again", 0x907e_3b2c_87c9_49ba),
        ("👍🏽 🎉🎉", 0),
        ("a 👍 b", 0x8044_f8a6_2458_2c4c),
        ("The Quick Brown Fox Jumps Over The Lazy Dog", 0x12bf_8002_4a21_0544),
        (
            "We may change these terms at any time. If we change these terms, we will tell you \
             before the change takes effect.",
            0x7584_ac45_eda8_6434,
        ),
        ("Größe zählt nicht: ÄRGER in der STRASSE, Straße.", 0x768a_eda1_07ca_c785),
        ("Съешь же ещё этих мягких французских булок, да выпей чаю", 0xa97d_8696_c76d_0b6e),
        ("Ζαφείρι δέξου πάγκαλο, βαθῶν ψυχῆς τὸ σῆμα", 0x0982_1010_2850_f464),
        ("我们会更新本政策。 更新后，我们会通知您。", 0xd088_8044_8016_2514),
        ("私たちはこのポリシーを更新します。 更新後、お知らせします。", 0x0183_c804_0aa0_54b2),
        ("نحن نحترم خصوصيتك ونحمي بياناتك", 0x3940_408e_30c2_240b),
        ("हम आपकी गोपनीयता का सम्मान करते हैं", 0xac0e_0d34_4463_e65b),
        ("เราเคารพความเป็นส่วนตัวของคุณ", 0x2000_4128_1010_8845),
        ("İstanbul'da DİYARBAKIR ışığı", 0xb9ef_e312_05ce_1998),
        ("x1 = 3.14159; y2 = x1 * 2.71828 // ½ Ⅳ ٤٢", 0xffca_fcdf_2c29_dd57),
    ];

    #[test]
    fn golden_vectors_never_change() {
        for (text, fingerprint) in GOLDEN {
            assert_eq!(of_text(text), *fingerprint, "{text:?}");
        }
    }

    #[test]
    fn a_long_text_is_fingerprinted_as_by_the_definition() {
        let mut text = String::new();
        for i in 0..40_000u64 {
            text += &format!("Wort{} ", i * i % 7919);
        }
        assert_eq!(of_text(&text), naive(&text));
        let endless = "x".repeat(3 * HELD_BYTES);
        let text = format!("{endless} {endless}y short {endless}");
        assert_eq!(of_text(&text), naive(&text));
    }

    #[test]
    fn a_small_change_moves_few_bits() {
        let words: Vec<String> = (0..500).map(|i| format!("w{}", i * 7 % 503)).collect();
        let mut changed = words.clone();
        changed[250] = "other".into();
        let distance = (of_text(&words.join(" ")) ^ of_text(&changed.join(" "))).count_ones();
        assert!(distance <= 8, "{distance}");
    }

    proptest! {
        #[test]
        fn texts_are_fingerprinted_as_by_the_definition(text in "([a-cA-C]{1,2}|é|Ж|你|[ .]){0,60}") {
            prop_assert_eq!(of_text(&text), naive(&text));
        }

        #[test]
        fn case_and_space_do_not_matter(
            words in prop::collection::vec("[a-zäöüéжшλ0-9]{1,8}", 0..40),
            gap in "[ \n\t.,;\u{a0}—]{1,3}",
        ) {
            let plain = of_text(&words.join(" "));
            prop_assert_eq!(of_text(&words.join(&gap)), plain);
            prop_assert_eq!(of_text(&words.join(" ").to_uppercase()), plain);
        }

        #[test]
        fn no_text_panics(text in "\\PC*") {
            prop_assert_eq!(of_text(&text), naive(&text));
        }
    }
}
