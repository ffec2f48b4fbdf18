//! Tests that canonically equivalent texts have equal words and fingerprints (Unicode Standard
//! Annex #15).

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::decompose_canonical;

use super::*;
use crate::fingerprint::compose::tests::any_equivalent;

/// Texts in languages whose letters have marks, are syllables, or have two encodings.
const EQUIVALENT: [&str; 15] = [
    "시립 도서관은 삼월 일일부터 열람실을 매일 오전 아홉 시부터 저녁 여덟 시까지 연다고 밝혔다",
    "Người đọc có thể mượn sách ở các chi nhánh khác và gia hạn qua mạng từ chín giờ sáng",
    "Größere Bücher dürfen Leser für höchstens fünf Wochen über Nacht zurücklegen, ÄÖÜ inbegriffen",
    "図書館のプールとガレージは夏の半ばまで閉まりますが、ビデオとゲームはがらくた市で配ります",
    "À la bibliothèque, les élèves déjà inscrits empruntent gratuitement cinq œuvres par été, NOËL compris",
    "Мой ёжик объел её йогурт, и Йошкар-Ола об этом ещё не знает; Ёлка стоит в зоопарке",
    "Το παιδί ζήτησε ένα βιβλίο για την άνοιξη και τα νησιά· ἐν ἀρχῇ ἦν ὁ λόγος, ᾤδη ΐ ΰ ΆΈΉ",
    "Příliš žluťoučký kůň úpěl ďábelské ódy a nůše řepy ležela pod můstkem u řeky",
    "Zażółć gęślą jaźń, a potem idź spać, bo późno już i ślisko na ścieżce",
    "İstanbul'da üç çocuk şeker yiyip güneşin batışını görünce eve döndü, ĞÜŞÖÇ",
    "হোক আলো, কোনো কৌতূহল বোঝা নয়, পাড়া আর গাঢ় ঢেউ যেন সেই বাড়ি",
    "प\u{95d}ना और \u{95b}मीन ढूँ\u{95d}ना, \u{95e}सल के \u{958}रीब \u{95a}\u{95b}ल सुनना, यह सब रो\u{95b} का काम है",
    "أُكِلَ الخُبْزُ آنَ رُؤْيَةِ السُّفُنِ وَ ٱلْأَسْئِلَةُ كَثِيرَةٌ",
    "\u{fb2a}ָלוֹם לְכֻלָּם, בַּסִּפְרִיָּה יֵ\u{fb2a} סְפָרִים רַבִּים וְגַם שִׂיחוֹת",
    "ཀྵ གྷ ཌྷ དྷ བྷ ཛྷ རཱི ལཱུ ကို ဦး ᬆ ᬊᬵ ਸ਼ਹਿਰ ਖ਼ਬਰ ଡ଼ ଢ଼ கொ கோ கௌ ൊ ೀ ෞ",
];

/// Lengthens a text for a fingerprint, with words that have no equivalents.
fn long(text: &str) -> String {
    format!("{text} {} {text} {}", text.to_uppercase(), "some plain words behind all of it")
}

/// Returns an equivalent text: characters are decomposed where a bit is set.
fn mixed(text: &str, bits: u64) -> String {
    let mut mixed = String::new();
    for (n, c) in (0u32..).zip(text.chars()) {
        match bits.rotate_left(n * 7) & 1 {
            0 => mixed.push(c),
            _ => decompose_canonical(c, |part| mixed.push(part)),
        }
    }
    mixed
}

fn words_by(words: &mut WordSplitter, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut take = |word: &[u8], _: usize| found.push(String::from_utf8(word.to_vec()).unwrap());
    words.push(text, &mut take);
    words.finish(&mut take);
    found
}

#[test]
fn equivalent_texts_have_distance_0_in_fifteen_languages() {
    for text in EQUIVALENT.map(long) {
        let (nfc, nfd): (String, String) = (text.nfc().collect(), text.nfd().collect());
        assert!(nfc != nfd || nfc != text, "{text}");
        for preset in Recipe::PRESETS {
            let mut counted = InMemoryFrequencies::new(&preset.recipe);
            EQUIVALENT.iter().for_each(|text| counted.add(text));
            let mut fingerprinter =
                Fingerprinter::with_frequencies(&preset.recipe, &counted).unwrap();
            let mut of = |text: &str| {
                let mut document = Document::new(text);
                document.field("author", text.split(' ').next().unwrap());
                fingerprinter.of(&document).unwrap()
            };
            let mixed = mixed(&nfc, 0x1234_5678_9abc_def1);
            let made = [&text, &nfc, &nfd, &mixed].map(|text| of(text));
            assert_eq!(made, [made[0]; 4], "{}: {text}", preset.name);
        }
    }
}

#[test]
fn all_word_readers_agree_on_equivalent_texts() {
    for text in EQUIVALENT.map(long) {
        let (nfc, nfd): (String, String) = (text.nfc().collect(), text.nfd().collect());
        assert_eq!(Shingles::of_text(&nfc, 3), Shingles::of_text(&nfd, 3));
        let mut counted = InMemoryFrequencies::new(&Recipe::words(1));
        EQUIVALENT.iter().for_each(|text| counted.add(text));
        let lexicon = Lexicon::new(&counted, Ratio::ZERO..=Ratio::ONE).unwrap();
        let digests = [&nfc, &nfd].map(|text| *IMatch::<3>::of(text, &lexicon).unwrap().digests());
        assert!(digests[0] == digests[1] && digests[0][0].is_some());
        let mut fingerprinter = Fingerprinter::new(&Recipe::words(2)).unwrap();
        let mut explain = |text: &str| fingerprinter.explain(&Document::new(text), 9).unwrap();
        assert_eq!(explain(&nfc), explain(&nfd));
        let short = [nfc, nfd].map(|text| {
            let document = Document::new(text);
            (0..60).take_while(|count| document.has_words(*count)).count()
        });
        assert_eq!(short[0], short[1]);
    }
}

/// Contexts after a character in the test of all characters: marks that compose, marks that are
/// reordered, and other marks; a vowel and a trailing consonant of Hangul; skipped characters.
const BEHIND: [&str; 10] = [
    "",
    "\u{301}",
    "\u{323}\u{307}",
    "\u{327}",
    "\u{345}",
    "\u{3099}",
    "\u{338}",
    "\u{1161}\u{11a8}",
    "\u{94d}",
    "\u{ad}\u{301}",
];

#[test]
fn every_character_reads_like_its_decomposition() {
    let kernels = [FingerprintKernel::fastest(), FingerprintKernel::PORTABLE];
    let mut each = kernels.map(|kernel| WordSplitter::new(kernel, false));
    // Unassigned planes have no characters.
    for c in ('\0'..='\u{3ffff}').chain('\u{e0000}'..='\u{e0fff}') {
        for behind in BEHIND {
            let text = format!("x{c}{behind}Y {c}{behind}");
            let nfd: String = text.nfd().collect();
            let nfc: String = text.nfc().collect();
            let [found, other] = each.each_mut().map(|words| words_by(words, &text));
            assert_eq!(found, other, "{text:?}");
            if nfd != text {
                assert_eq!(found, words_by(&mut each[0], &nfd), "{text:?}");
            }
            if nfc != text {
                assert_eq!(found, words_by(&mut each[0], &nfc), "{text:?}");
            }
        }
    }
}

proptest! {
    #[test]
    fn equivalent_texts_have_equal_words(text in any_equivalent(), bits: u64, runs: bool) {
        let (nfc, nfd): (String, String) = (text.nfc().collect(), text.nfd().collect());
        let mut words = WordSplitter::new(FingerprintKernel::fastest(), runs);
        let expected = words_by(&mut words, &nfc);
        for other in [&text, &nfd, &mixed(&text, bits), &mixed(&nfc, bits)] {
            prop_assert_eq!(&words_by(&mut words, other), &expected, "{:?}", other);
        }
    }

    #[test]
    fn word_begins_at_its_first_composed_character(
        // Without marks that change places.
        text in "([a-zA-Z .가\u{1112}\u{1161}\u{11ab}か北]|[eouAC][\u{301}\u{308}\u{327}]|か\u{3099}|\u{ad}|İ|\u{212b}){0,40}",
        runs: bool,
    ) {
        let mut found: Vec<(String, usize)> = Vec::new();
        let mut take = |word: &[u8], at| found.push((String::from_utf8(word.to_vec()).unwrap(), at));
        let mut words = WordSplitter::new(FingerprintKernel::fastest(), runs);
        words.push(&text, &mut take);
        words.finish(&mut take);
        prop_assert!(found.is_sorted_by_key(|(_, at)| *at));
        for (word, at) in found {
            // The text from the offset on begins with the word, and no composed character was cut
            // in two.
            let behind = words_by(&mut WordSplitter::new(FingerprintKernel::PORTABLE, runs), &text[at..]);
            let begins = behind.first().is_some_and(|first| first.starts_with(&word) || word.starts_with(first));
            prop_assert!(begins, "{:?} at {} of {:?}: {:?}", word, at, text, behind);
        }
    }

    #[test]
    fn equivalent_texts_have_equal_fingerprints(recipe in any_recipe(), text in any_equivalent(), bits: u64) {
        let counted = counted(&recipe);
        let mut fingerprinter = Fingerprinter::with_frequencies(&recipe, &counted).unwrap();
        let nfd: String = text.nfd().collect();
        let expected = fingerprinter.of_text(&text.nfc().collect::<String>()).unwrap();
        for other in [&text, &nfd, &mixed(&text, bits)] {
            prop_assert_eq!(fingerprinter.of_text(other).unwrap(), expected);
        }
    }
}
