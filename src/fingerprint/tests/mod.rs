//! Tests of whole fingerprints.

mod canonical;
mod naive;
mod statistics;

use std::collections::HashMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::choices::GramUnit;
use super::fingerprinter::FingerprintState;
use super::fixed::ONE;
use super::kernel::FingerprintKernel;
use super::recipe::any_recipe;
use super::words::WordSplitter;
use super::*;
use crate::fingerprint::error::FingerprintError;
use naive::{counted, naive};

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "([a-cA-C]{1,2}|é|Ж|北京|[0-9]|[ .]){0,80}",
        prop::collection::vec("[a-e]{1,3}", 0..400).prop_map(|words| words.join(" ")),
        prop::collection::vec("[a-e]{1,12}[ ’—é京]{1,2}", 0..400).prop_map(|words| words.concat()),
        "\\PC{0,60}",
    ]
}

/// Texts in many languages.
const TEXTS: &[&str] = &[
    "",
    " \n .,;—! ",
    "word",
    "two words",
    "again again again again",
    "👍🏽 🎉🎉",
    "The Quick Brown Fox Jumps Over The Lazy Dog on 5 May and the Brown Bear on 6 June",
    "We may change these terms at any time. If we change these terms, we will tell you before the \
     change takes effect.",
    "Größe zählt nicht: ÄRGER in der STRASSE, Straße.",
    "Съешь же ещё этих мягких французских булок, да выпей чаю",
    "Ζαφείρι δέξου πάγκαλο, βαθῶν ψυχῆς τὸ σῆμα",
    "我们会更新本政策。 更新后，我们会通知您。",
    "私たちはこのポリシーを更新します。 更新後、お知らせします。",
    "نحن نحترم خصوصيتك ونحمي بياناتك",
    "हम आपकी गोपनीयता का सम्मान करते हैं",
    "เราเคารพความเป็นส่วนตัวของคุณ",
    "İstanbul'da DİYARBAKIR ışığı",
    "x1 = 3.14159; y2 = x1 * 2.71828 // ½ Ⅳ ٤٢",
];

/// The number of a text that begins with [`TEMPLATE`], as all pages of a site do.
const OF_TEMPLATE: usize = 100;
const TEMPLATE: &str = TEXTS[6];

/// Returns the text with a number: one of [`TEXTS`], or after them a long text for which all
/// presets give different results.
fn text(number: usize) -> String {
    if number == OF_TEMPLATE {
        return [TEMPLATE, TEXTS[7]].join(" ");
    }
    TEXTS.get(number).map_or_else(
        || {
            let letter = |n: usize| char::from(b"abcdefghijklmnopqrstuvwxyz"[n % 26]);
            let word = |n: usize| match n % 11 {
                0 => "of the ".to_owned(),
                1..6 => format!("w{} ", n * n % 997),
                6 => format!("{} ", ["fish", "bird", "June", "cat"][n * n % 4]),
                7 => format!("{}{} ", letter(n * n), letter(n)),
                _ => format!("word{}{}{} ", letter(n), letter(n / 26), letter(n * n)),
            };
            "so ".repeat(300) + &(0..3000).map(word).collect::<String>()
        },
        |text| (*text).to_owned(),
    )
}

/// Recipes other than presets with golden vectors, so that every option is covered.
const OTHERS: &[&str] = &[
    "words1-binary/2",
    "words1-log/2",
    "words1-raw/2",
    "words1-raw-inverse/2",
    "words1-nostopwords-sqrt/2",
    "words1-raw-to0.5/2",
    "words1-raw-from0.02-to0.5/2",
    "words1-raw-top20/2",
    "words1-raw-cap5/2",
    "words2-mod3-sqrt/2",
    "words2-jenkins-sqrt/2",
    "words8-sqrt/2",
    "chars1-raw/2",
    "chars3-sqrt/2",
    "chars4-log-idf-ends-marked2.5-fields0.5/2",
    "words2-sqrt-fieldsflip/2",
    "words1-raw-fieldsflip/2",
    "words2-sqrt-reserved8/2",
    "words2-sqrt-seed7/2",
    "words3-minwise/2",
    "words5-minwise/2",
    "chars4-jenkins-minwise/2",
    "words2-nonumbers-mod3-minwise-leave0.1-seed7-reserved8/2",
];

/// Recipes with the numbers of texts and their fingerprints. These fingerprints never change. A
/// better recipe gets another name.
#[rustfmt::skip]
const GOLDEN: &[(&str, usize, u64)] = &[
    ("default", 0, 0x0000_0000_0000_0000),
    ("default", 1, 0x0000_0000_0000_0000),
    ("default", 2, 0xe3ce_369c_f66c_5c55),
    ("default", 3, 0xd654_b702_2459_c781),
    ("default", 4, 0x003d_c994_8e5a_7112),
    ("default", 5, 0x0000_0000_0000_0000),
    ("default", 6, 0x0ff5_3904_9a0c_1562),
    ("default", 7, 0x332e_90d6_d3d9_b856),
    ("default", 8, 0xd1db_1b46_9550_7806),
    ("default", 9, 0xb056_048e_524d_7a6d),
    ("default", 10, 0xb08c_2584_0858_9864),
    ("default", 11, 0x929a_b2de_cafc_1cfb),
    ("default", 12, 0xff5c_9083_f4fb_7b46),
    ("default", 13, 0x0508_08c0_82d0_0451),
    ("default", 14, 0x0263_638d_0000_4202),
    ("default", 15, 0x8fbb_02dd_db92_17a5),
    ("default", 16, 0x54b4_cdcc_3456_422c),
    ("default", 17, 0x105a_588a_d6c2_e358),
    ("default", 18, 0x5ddd_af26_a650_35fe),
    ("near", 17, 0xee03_c56d_8481_a278),
    ("near", 18, 0x2b4d_a35c_d354_e844),
    ("strict", 17, 0x08a5_d923_8c84_0070),
    ("strict", 18, 0x6a2a_2e98_5e95_8848),
    ("templated", 17, 0x08a5_d923_8c84_0070),
    ("templated", 18, 0x6a2a_2e98_5e95_8848),
    ("words-idf", 17, 0xf201_7323_3b5c_b5d2),
    ("words-idf", 18, 0x6fd0_9bf6_b411_ec42),
    ("charikar", 17, 0x208c_a0f8_9a58_c902),
    ("charikar", 18, 0xfb61_5f28_dd15_ecbf),
    ("thesis-original", 17, 0x208c_a0f8_9a58_c902),
    ("thesis-original", 18, 0xf361_5f24_d515_ecbf),
    ("thesis-metadata", 17, 0x688d_a1fb_d248_e17a),
    ("thesis-metadata", 18, 0xfb65_5f27_d509_e5ff),
    ("thesis-numbers", 17, 0x0000_0000_0000_0000),
    ("thesis-numbers", 18, 0xf361_5f2c_d515_ecbf),
    ("thesis-low", 17, 0x208c_a0f8_9a58_c902),
    ("thesis-low", 18, 0xf361_5f24_d515_ecff),
    ("thesis-high", 17, 0x208c_a0f8_9a58_c902),
    ("thesis-high", 18, 0xfbe1_5f28_dd13_ecff),
    ("thesis-position", 17, 0x318c_a2f9_ba58_dd0a),
    ("thesis-position", 18, 0xbb61_4b02_8d87_aebb),
    ("thesis-function", 17, 0x298c_a2fb_fa50_db06),
    ("thesis-function", 18, 0xbb61_5b00_8d97_aebf),
    ("thesis-tagged", 17, 0x208c_a2f9_ba58_c902),
    ("thesis-tagged", 18, 0xfb61_5f20_dd95_ecbf),
    ("words1-binary/2", 17, 0xf201_7323_3b5c_b5d2),
    ("words1-binary/2", 18, 0x2a79_39e4_d401_e0ab),
    ("words1-log/2", 17, 0xf201_7323_3b5c_b5d2),
    ("words1-log/2", 18, 0x6bf9_1be6_d411_c8a3),
    ("words1-raw/2", 17, 0xf201_7323_2844_a192),
    ("words1-raw/2", 18, 0xefc4_8b73_3cf1_295e),
    ("words1-raw-inverse/2", 17, 0xf201_7323_2844_a192),
    ("words1-raw-inverse/2", 18, 0xefc4_8a52_3cf1_a95e),
    ("words1-nostopwords-sqrt/2", 17, 0xf201_7323_3b5c_b5d2),
    ("words1-nostopwords-sqrt/2", 18, 0x6b39_19ee_d411_cca3),
    ("words1-raw-to0.5/2", 17, 0xf200_4321_3b58_b552),
    ("words1-raw-to0.5/2", 18, 0x6f3a_daca_dc11_dd92),
    ("words1-raw-from0.02-to0.5/2", 17, 0xf200_4321_3b58_b552),
    ("words1-raw-from0.02-to0.5/2", 18, 0xffba_ca8a_9c11_dd56),
    ("words1-raw-top20/2", 17, 0xf201_7323_2844_a192),
    ("words1-raw-top20/2", 18, 0xef86_8a53_3cf3_3d5e),
    ("words1-raw-cap5/2", 17, 0xf201_7323_3b5c_b5d2),
    ("words1-raw-cap5/2", 18, 0xef86_8a52_3cf1_bd5a),
    ("words2-mod3-sqrt/2", 17, 0x507b_5d8a_d6c3_e3d8),
    ("words2-mod3-sqrt/2", 18, 0x4efd_ea86_8558_a126),
    ("words2-jenkins-sqrt/2", 17, 0x08cd_88e8_7529_41e7),
    ("words2-jenkins-sqrt/2", 18, 0xf328_42f8_617f_a293),
    ("words8-sqrt/2", 17, 0xa810_9269_45f7_59a6),
    ("words8-sqrt/2", 18, 0x8033_094b_0868_d4cf),
    ("chars1-raw/2", 17, 0xfc15_3734_083c_b7da),
    ("chars1-raw/2", 18, 0xfc45_36f4_5abc_b72b),
    ("chars3-sqrt/2", 17, 0xfcc9_da92_6f49_fa7a),
    ("chars3-sqrt/2", 18, 0xe52a_fdd5_8843_956b),
    ("chars4-log-idf-ends-marked2.5-fields0.5/2", 17, 0x0b46_a721_0e90_5f83),
    ("chars4-log-idf-ends-marked2.5-fields0.5/2", 18, 0x1d34_3b5a_e261_99e2),
    ("words2-sqrt-fieldsflip/2", 17, 0x107e_5a8a_92c2_e3c1),
    ("words2-sqrt-fieldsflip/2", 18, 0x5ddd_af06_a650_35fe),
    ("words1-raw-fieldsflip/2", 17, 0xf201_7323_2b56_a5d2),
    ("words1-raw-fieldsflip/2", 18, 0xefc4_8b73_3cf1_ad5e),
    ("words2-sqrt-reserved8/2", 17, 0x5a5a_588a_d6c2_e358),
    ("words2-sqrt-reserved8/2", 18, 0x5add_af26_a650_35fe),
    ("words2-sqrt-seed7/2", 17, 0x25af_06da_dae3_f32e),
    ("words2-sqrt-seed7/2", 18, 0x75b6_43a1_643b_a5a5),
    ("words3-minwise/2", 17, 0xd67d_15a7_132c_090f),
    ("words3-minwise/2", 18, 0xca0b_1890_beba_6b66),
    ("words5-minwise/2", 17, 0x14da_fd45_89b1_29a7),
    ("words5-minwise/2", 18, 0xe406_9c67_dd0c_b70a),
    ("chars4-jenkins-minwise/2", 17, 0x0cae_a54f_eca4_9feb),
    ("chars4-jenkins-minwise/2", 18, 0x9ebb_2560_c7f4_4611),
    ("words2-nonumbers-mod3-minwise-leave0.1-seed7-reserved8/2", 17, 0x5a00_0000_0000_0000),
    ("words2-nonumbers-mod3-minwise-leave0.1-seed7-reserved8/2", 18, 0x5aaf_ad93_9910_af9c),
    ("strict", OF_TEMPLATE, 0x2d64_b780_faac_a261),
    ("templated", OF_TEMPLATE, 0x0d60_97b0_fabc_8e29),
];

/// Returns a text as a document with a title and a field.
fn golden_document(text: &str) -> Document {
    let middle = text.floor_char_boundary(text.len() / 3);
    let mut document = Document::default();
    document.push(&text[..middle], Marks::TITLE);
    document.push(&text[middle..], Marks::NONE);
    document.field("author", "A. N. Other");
    document.field("section", "business");
    document.set_metadata(0x5a);
    document
}

fn golden(name: &str, text: usize) -> u64 {
    let recipe: Recipe = name.parse().unwrap();
    let mut counted = InMemoryFrequencies::new(&recipe);
    TEXTS.iter().for_each(|text| counted.add(text));
    if text == OF_TEMPLATE {
        (0..30).for_each(|page| counted.add(&format!("{TEMPLATE} {page}")));
    }
    let mut fingerprinter = Fingerprinter::with_frequencies(&recipe, &counted).unwrap();
    fingerprinter.of(&golden_document(&self::text(text))).unwrap()
}

/// Returns all recipes with golden vectors, with the numbers of their texts.
fn with_golden_vectors() -> impl Iterator<Item = (&'static str, usize)> {
    let presets = Recipe::PRESETS.iter().map(|preset| preset.name);
    let names = presets.chain(OTHERS.iter().copied());
    let first = (0..TEXTS.len() - 1).map(|text| ("default", text));
    let two = names.flat_map(|name| [(name, TEXTS.len() - 1), (name, TEXTS.len())]);
    first.chain(two).chain(["strict", "templated"].map(|name| (name, OF_TEMPLATE)))
}

#[test]
fn golden_vectors_never_change() {
    let expected: Vec<_> = GOLDEN.iter().map(|(name, text, _)| (*name, *text)).collect();
    assert_eq!(with_golden_vectors().collect::<Vec<_>>(), expected);
    for (name, text, fingerprint) in GOLDEN {
        assert_eq!(golden(name, *text), *fingerprint, "{name} of text {text}");
    }
    // Every recipe gives a different fingerprint of the long text; but none of its runs of three
    // words is in the table, so all its runs have the same weight. The runs of a template have
    // different weights.
    let long = GOLDEN.iter().filter(|golden| golden.1 == TEXTS.len() && golden.0 != "templated");
    let distinct: HashMap<u64, &str> = long.clone().map(|golden| (golden.2, golden.0)).collect();
    assert_eq!(distinct.len(), long.count(), "{distinct:?}");
    assert_ne!(golden("strict", OF_TEMPLATE), golden("templated", OF_TEMPLATE));
}

/// Prints the content of `GOLDEN`. Only for a new recipe.
#[test]
#[ignore = "prints source text"]
fn print_golden_vectors() {
    for (name, text) in with_golden_vectors() {
        let hex = format!("{:016x}", golden(name, text));
        let (a, b, c, d) = (&hex[..4], &hex[4..8], &hex[8..12], &hex[12..]);
        println!("    ({name:?}, {text}, 0x{a}_{b}_{c}_{d}),");
    }
}

#[test]
fn default_recipe_is_the_named_one() {
    assert_eq!(RECIPE.parse(), Ok(Recipe::DEFAULT));
    assert_eq!(Recipe::DEFAULT.name(), RECIPE);
    assert_eq!(raw("Two words"), raw("two  WORDS."));
    assert_ne!(raw("Two words"), raw("words two"));
}

/// Returns the fingerprint of a text of any length by the default recipe.
fn raw(text: &str) -> u64 {
    Fingerprinter::new(&Recipe::DEFAULT).unwrap().of_text(text).unwrap()
}

#[test]
fn recipe_that_needs_frequencies_says_so() {
    let recipe: Recipe = "words-idf".parse().unwrap();
    let error = Fingerprinter::new(&recipe).unwrap_err();
    assert!(
        matches!(&error, FingerprintError::Invalid(what) if what.contains("words1-sqrt-idf/2")),
        "{error}"
    );
}

#[test]
fn failed_frequencies_do_not_affect_the_next_text() {
    struct FailingFrequencies;
    impl Frequencies for FailingFrequencies {
        fn features(&self) -> &str {
            "words1"
        }
        fn documents(&self) -> u64 {
            7
        }
        fn frequencies(&self, hashes: &[u64], out: &mut Vec<u64>) -> Result<(), FingerprintError> {
            out.extend(hashes.iter().map(|_| 1));
            if hashes.len() == 1 {
                Ok(())
            } else {
                Err(FingerprintError::Frequencies(Arc::new(std::fmt::Error)))
            }
        }
    }
    let many: String = (0..5000).map(|n| format!("w{n} ")).collect();
    for recipe in ["words-idf", "words1-minwise-leave0.5/2"] {
        let recipe = recipe.parse().unwrap();
        let mut fingerprinter =
            Fingerprinter::with_frequencies(&recipe, &FailingFrequencies).unwrap();
        let one = fingerprinter.of_text("one").unwrap();
        for failing in ["two words", &many, &(many.clone() + "w7")] {
            fingerprinter.push("some ");
            let refused = fingerprinter.of_text(failing);
            assert!(matches!(refused, Err(FingerprintError::Frequencies(_))));
            assert_eq!(fingerprinter.of_text("one").unwrap(), one);
        }
    }
}

#[test]
fn table_with_too_few_frequencies_is_refused() {
    struct TooFewFrequencies;
    impl Frequencies for TooFewFrequencies {
        fn features(&self) -> &str {
            "words1"
        }
        fn documents(&self) -> u64 {
            7
        }
        fn frequencies(&self, hashes: &[u64], out: &mut Vec<u64>) -> Result<(), FingerprintError> {
            out.extend(hashes.iter().skip(1).map(|_| 1));
            Ok(())
        }
    }
    for recipe in ["words-idf", "words1-minwise-leave0.5/2"] {
        let recipe = recipe.parse().unwrap();
        let mut fingerprinter =
            Fingerprinter::with_frequencies(&recipe, &TooFewFrequencies).unwrap();
        let error = fingerprinter.of_text("three different words").unwrap_err().to_string();
        assert!(error.contains("2 frequencies for 3 features"), "{error}");
    }
}

#[test]
fn marked_text_weighs_more() {
    let recipe = Recipe::words(1).counts(CountWeight::Raw).boost(Ratio::thousandths(1500));
    let mut document = Document::new("plain ");
    document.push("head", Marks::HEADING);
    document.push(" bo", Marks::NONE);
    document.push("ld", Marks::EMPHASIS);
    let hash = |word: &str| FeatureHash::Xxh3.of(word.as_bytes());
    // A word has the marks of its first byte.
    let weights = [("plain", 2), ("head", 3), ("bold", 2)];
    let mut vote = Simhash::new(2);
    weights.iter().for_each(|(word, weight)| vote.add(hash(word), *weight));
    let mut fingerprinter = Fingerprinter::new(&recipe).unwrap();
    assert_eq!(fingerprinter.of(&document).unwrap(), vote.finish());
}

#[test]
fn fields_are_features() {
    let mut document = Document::new("the same text of a few words");
    document.field("author", "Jane  DOE");
    let mut other = document.clone();
    other.field("section", "business");
    let of = |recipe: Recipe, document: &Document| {
        Fingerprinter::new(&recipe).unwrap().of(document).unwrap()
    };
    let recipe = Recipe::words(1);
    assert_eq!(of(recipe, &document), of(recipe, &other));
    let shared = recipe.fields(FieldWeight::Share(Ratio::thousandths(4000)));
    assert_ne!(of(shared, &document), of(shared, &other));
    let mut same = Document::new("the same text of a few words");
    same.field("author", "jane doe");
    assert_eq!(of(shared, &document), of(shared, &same));
    // A field that votes against the nearest bit flips the bit.
    let flip = recipe.fields(FieldWeight::Flip);
    let text = "the same text of a few words";
    let mut vote = Simhash::new(ONE);
    text.split(' ').for_each(|word| vote.add(FeatureHash::Xxh3.of(word.as_bytes()), ONE));
    let balance = vote.balance();
    let nearest = balance.map(i128::unsigned_abs).into_iter().min().unwrap();
    let (bit, _) = balance.iter().enumerate().find(|(_, b)| b.unsigned_abs() == nearest).unwrap();
    let flipped = |field: &str| {
        let mut document = Document::new(text);
        document.field("field", field);
        (of(flip, &document) ^ of(recipe, &document)) >> bit & 1 == 1
    };
    let flipping = (0..64).filter(|n| flipped(&format!("value{n}"))).count();
    assert!((16..48).contains(&flipping), "{flipping}");
}

#[test]
fn heaviest_weights_are_still_distinguished() {
    let recipe: Recipe = "words1-raw-inverse-front/2".parse().unwrap();
    let mut counted = InMemoryFrequencies::new(&recipe);
    counted.add("spam eggs ham");
    let mut fingerprinter = Fingerprinter::with_frequencies(&recipe, &counted).unwrap();
    // One word weighs more than all other words together.
    let text = ["spam ".repeat(30), "eggs ".repeat(9), "ham".into()].concat();
    let spam = FeatureHash::Xxh3.of(b"spam");
    assert_eq!(fingerprinter.of_text(&text).unwrap(), spam);
}

#[test]
fn unsuitable_frequencies_are_refused() {
    let recipe: Recipe = "words-idf".parse().unwrap();
    let refused = |counted: &InMemoryFrequencies| {
        Fingerprinter::with_frequencies(&recipe, counted).unwrap_err().to_string()
    };
    assert!(refused(&InMemoryFrequencies::new(&recipe)).contains("at least one document"));
    let pairs = counted(&Recipe::DEFAULT);
    assert!(refused(&pairs).contains("features words1, but the table has the features words2"));
    Fingerprinter::with_frequencies(&Recipe::DEFAULT, &counted(&recipe)).unwrap();
}

#[test]
fn leading_bits_are_metadata() {
    let recipe = Recipe::DEFAULT.reserved(8);
    let mut document = Document::new("some text of some words");
    document.set_metadata(0xab);
    let fingerprint = Fingerprinter::new(&recipe).unwrap().of(&document).unwrap();
    assert_eq!(fingerprint >> 56, 0xab);
    assert_eq!(recipe.distance(fingerprint, raw(document.text())), 0);
}

#[test]
fn small_change_moves_few_bits() {
    let words: Vec<String> = (0..500).map(|i| format!("w{}", i * 7 % 503)).collect();
    let mut changed = words.clone();
    changed[250] = "other".into();
    let distance = (raw(&words.join(" ")) ^ raw(&changed.join(" "))).count_ones();
    assert!(distance <= 8, "{distance}");
}

#[test]
fn fingerprint_of_a_long_text_matches_the_definition() {
    let mut text = String::new();
    for i in 0..40_000u64 {
        text += &format!("Wort{} ", i * i % 7919);
    }
    for recipe in [Recipe::DEFAULT, Recipe::words(1).counts(CountWeight::Raw)] {
        let fingerprint = Fingerprinter::new(&recipe).unwrap().of_text(&text).unwrap();
        let document = Document::new(text.as_str());
        assert_eq!(fingerprint, naive(&recipe, &document, &counted(&recipe)));
    }
}

proptest! {
    #[test]
    fn fingerprints_of_documents_match_the_definition(
        recipe in any_recipe(),
        text in any_text(),
        fields in prop::collection::vec(("[ab]", "[a-c]{0,2}"), 0..3),
        features_max in 1usize..40,
    ) {
        let recipe = recipe.boost(Ratio::ONE);
        let counted = counted(&recipe);
        let mut fingerprinter = Fingerprinter::with_frequencies(&recipe, &counted).unwrap();
        let mut document = Document::new(text);
        fields.into_iter().for_each(|(name, value)| document.field(name, value));
        let expected = naive(&recipe, &document, &counted);
        prop_assert_eq!(fingerprinter.of(&document).unwrap(), expected);
        // The result is the same with the memory of another text, and without special instructions.
        prop_assert_eq!(fingerprinter.of(&document).unwrap(), expected);
        // The result is the same with space for only some of the features at a time.
        if let FingerprintState::Simhash(voting) = &mut fingerprinter.making {
            voting.features_max = features_max;
        }
        prop_assert_eq!(fingerprinter.of(&document).unwrap(), expected);
        prop_assert_eq!(fingerprinter.portable().of(&document).unwrap(), expected);
    }

    #[test]
    fn pieces_threads_and_instructions_do_not_matter(
        recipe in any_recipe(),
        text in any_text(),
        cuts in prop::collection::vec(0usize..600, 0..6),
    ) {
        let counted = counted(&recipe);
        let whole = Fingerprinter::with_frequencies(&recipe, &counted).unwrap().of_text(&text).unwrap();
        let mut cuts: Vec<usize> = cuts.into_iter().filter(|&c| text.is_char_boundary(c)).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let in_pieces = || {
            let mut fingerprinter = Fingerprinter::with_frequencies(&recipe, &counted).unwrap();
            cuts.windows(2).for_each(|cut| fingerprinter.push(&text[cut[0]..cut[1]]));
            fingerprinter.finish().unwrap()
        };
        let on_threads: Vec<u64> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(in_pieces)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        prop_assert_eq!(on_threads, vec![whole; 8]);
        let plain = Fingerprinter::with_frequencies(&recipe, &counted).unwrap().portable().of_text(&text);
        prop_assert_eq!(plain.unwrap(), whole);
    }

    #[test]
    fn case_and_space_do_not_matter(
        words in prop::collection::vec("[a-zäöüéжшλ0-9]{1,8}", 0..40),
        gap in "[ \n\t.,;\u{a0}—]{1,3}",
    ) {
        let plain = raw(&words.join(" "));
        prop_assert_eq!(raw(&words.join(&gap)), plain);
        prop_assert_eq!(raw(&words.join(" ").to_uppercase()), plain);
    }
}
