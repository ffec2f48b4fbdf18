//! The words of a text.

use super::classes::CharKind;
use super::compose::Composer;
use super::kernel::FingerprintKernel;
use super::word_scanner::{BlockProgress, WordScanner};

/// The longest word in bytes of UTF-8. A longer run is cut into words of at most this length, so
/// that text without spaces grows neither memory nor a feature without bound.
pub(super) const WORD_BYTES_MAX: usize = 256;

/// A consumer of words.
pub(super) trait WordSink {
    /// Takes a word in lower case, and the offset of its first character in the whole text.
    fn word(&mut self, word: &[u8], at: usize);

    /// Takes several words of a stretch of text in lower case. `places` has the offsets of the
    /// stretch in the whole text.
    fn words(&mut self, text: &[u8], words: &[WordSpan], places: TextOffsets) {
        for word in words {
            self.word(word.of(text), places.of(*word));
        }
    }
}

impl<F: FnMut(&[u8], usize)> WordSink for F {
    fn word(&mut self, word: &[u8], at: usize) {
        self(word, at);
    }
}

/// The range of a word in a stretch of text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WordSpan {
    pub(super) start: u16,
    pub(super) end: u16,
}

impl WordSpan {
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "it lies in that text")]
    pub(super) fn of(self, text: &[u8]) -> &[u8] {
        &text[usize::from(self.start)..usize::from(self.end)]
    }

    #[inline]
    pub(super) fn len(self) -> usize {
        usize::from(self.end - self.start)
    }
}

/// A change of offsets: from byte `lower` of a stretch on, bytes correspond to the text from offset
/// `text` on.
#[derive(Clone, Copy, Debug)]
pub(super) struct OffsetShift {
    pub(super) lower: u16,
    pub(super) text: usize,
}

/// The offsets of a stretch's parts in the whole text.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextOffsets<'s>(&'s [OffsetShift]);

impl<'s> TextOffsets<'s> {
    /// Creates the offsets from ascending shifts.
    pub(super) fn new(shifts: &'s [OffsetShift]) -> TextOffsets<'s> {
        TextOffsets(shifts)
    }

    /// Returns the offset of a word.
    pub(super) fn of(self, word: WordSpan) -> usize {
        let count = self.0.partition_point(|shift| shift.lower <= word.start);
        TextOffsets(self.0.get(..count).unwrap_or_default()).last(word.start).unwrap_or(0)
    }

    /// Returns the offset of a byte after all shifts.
    #[inline]
    pub(super) fn last(self, lower: u16) -> Option<usize> {
        self.0.last().map(|shift| shift.text + usize::from(lower - shift.lower))
    }
}

/// Splits a text in pieces into words: maximal runs of letters and digits, composed and
/// lower-cased.
///
/// The text is normalised first (NFC, see [`Composer`]), so canonically equivalent texts have the
/// same words. The offset of a word is the offset of the first character that it was composed from.
///
/// Letters and digits are the characters with the property `Alphabetic` or of a category `N*`.
/// Combining marks continue a word and begin none. Invisible characters, such as soft hyphens and
/// joiners, are skipped, but still separate the characters around them in composition. Words are
/// lower-cased character by character. Each character becomes one character: if the lower case has
/// several characters (U+0130 alone), only its first character is used. A final sigma becomes a
/// sigma, since capitals do not distinguish the two.
///
/// Scripts without spaces between words (Han, Kana, Thai, Lao, Khmer, Myanmar and related) have no
/// such runs. In scripts without spaces, each pair of neighbouring characters is a word, and so is
/// a single character. With `runs`, these scripts are treated like other scripts.
///
/// The result does not depend on how the text is cut into pieces.
#[derive(Clone, Debug)]
pub(super) struct WordSplitter {
    run: WordScanner,
    /// The characters that the next character may still change.
    composer: Composer,
    /// The number of bytes passed on.
    passed: usize,
}

impl WordSplitter {
    pub(super) fn new(kernel: FingerprintKernel, runs: bool) -> WordSplitter {
        WordSplitter {
            run: WordScanner::new(kernel, runs),
            composer: Composer::default(),
            passed: 0,
        }
    }

    /// Takes the next piece, and passes on each word that certainly ends in it. Linear time.
    pub(super) fn push(&mut self, text: &str, mut take: impl WordSink) {
        let mut at = if self.composer.is_empty() { 0 } else { self.compose(text, &mut take) };
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            self.run.make_room(&mut take);
            at += match self.run.read(rest, self.passed + at) {
                BlockProgress::On(bytes) => bytes,
                BlockProgress::Until(bytes) => {
                    self.passed += at + bytes;
                    let rest = rest.get(bytes..).unwrap_or_default();
                    let composed = self.compose(rest, &mut take);
                    self.passed -= at + bytes;
                    bytes + composed
                }
            };
        }
        self.passed += text.len();
        self.run.pass(&mut take);
    }

    /// Passes on the current word, if there is one, and resets.
    pub(super) fn finish(&mut self, mut take: impl WordSink) {
        self.run.make_room(&mut take);
        let WordSplitter { run, composer, .. } = self;
        composer.finish(&mut |c, at| run.character(c, at));
        run.finish(&mut take);
        self.passed = 0;
    }

    /// Composes the beginning of a text: the first character, unless one is buffered already, and
    /// all characters that may join it. Returns the length of the composed beginning. If the
    /// beginning is the whole text, the last characters stay buffered.
    fn compose(&mut self, text: &str, take: &mut impl WordSink) -> usize {
        let WordSplitter { run, composer, passed } = self;
        for (at, c) in text.char_indices() {
            run.make_room(take);
            if !composer.is_empty() && !CharKind::of(c as u32).joins() {
                composer.finish(&mut |c, at| run.character(c, at));
                return at;
            }
            composer.push(c, *passed + at, &mut |c, at| run.character(c, at));
        }
        text.len()
    }
}

#[cfg(test)]
mod tests {
    use super::super::classes::CharClass;
    use super::super::compose::tests::{any_equivalent, composed};
    use super::*;
    use proptest::prelude::*;

    type WordsWithOffsets = Vec<(String, usize)>;

    fn in_pieces<'a>(
        pieces: impl IntoIterator<Item = &'a str>,
        kernel: FingerprintKernel,
        runs: bool,
    ) -> WordsWithOffsets {
        let mut found = Vec::new();
        let mut words = WordSplitter::new(kernel, runs);
        let mut take = |word: &[u8], at| {
            found.push((String::from_utf8(word.to_vec()).unwrap(), at));
        };
        pieces.into_iter().for_each(|piece| words.push(piece, &mut take));
        words.finish(&mut take);
        found
    }

    fn words(text: &str) -> Vec<String> {
        let found = in_pieces([text], FingerprintKernel::fastest(), false);
        found.into_iter().map(|(word, _)| word).collect()
    }

    /// Computes the words by definition.
    fn naive(text: &str, runs: bool) -> WordsWithOffsets {
        // Runs of one kind of script, as lists of characters.
        let mut all: Vec<(bool, Vec<(char, usize)>)> = Vec::new();
        let mut open = false;
        for (c, at) in composed(text) {
            let (unspaced, c) = match CharClass::of(c) {
                CharClass::Separator => {
                    open = false;
                    continue;
                }
                CharClass::Ignored => continue,
                CharClass::Mark if !open => continue,
                CharClass::Mark => (all.last().unwrap().0, c),
                CharClass::Unspaced => (!runs, c),
                CharClass::Letter(lower) => (false, lower),
            };
            if !open || all.last().unwrap().0 != unspaced {
                all.push((unspaced, Vec::new()));
                open = true;
            }
            all.last_mut().unwrap().1.push((c, at));
        }
        let mut found = Vec::new();
        for (unspaced, run) in all {
            if unspaced && run.len() > 1 {
                found.extend(run.windows(2).map(|w| (w.iter().map(|c| c.0).collect(), w[0].1)));
                continue;
            }
            let mut word = (String::new(), run[0].1);
            for (c, at) in run {
                if word.0.len() + c.len_utf8() > WORD_BYTES_MAX {
                    found.push(std::mem::take(&mut word));
                    word.1 = at;
                }
                word.0.push(c);
            }
            found.push(word);
        }
        found
    }

    #[test]
    fn words_are_runs_of_letters_and_digits_in_lower_case() {
        assert_eq!(words("Hello, World-2!"), ["hello", "world", "2"]);
        assert_eq!(words("  \n\t "), [""; 0]);
        assert_eq!(words(""), [""; 0]);
        assert_eq!(words("ÄÖÜß ÉCOLE"), ["äöüß", "école"]);
        assert_eq!(words("ПРИВЕТ, мир…"), ["привет", "мир"]);
        assert_eq!(words("ΟΔΟΣ οδος οδός"), ["οδοσ", "οδοσ", "οδόσ"]);
        assert_eq!(words("مرحبا بالعالم ٤٢"), ["مرحبا", "بالعالم", "٤٢"]);
        assert_eq!(words("हम आपकी गोपनीयता का सम्मान"), ["हम", "आपकी", "गोपनीयता", "का", "सम्मान"]);
        assert_eq!(words("İstanbul e\u{301}cole \u{301}"), ["istanbul", "école"]);
        assert_eq!(words("a👍b 🎉 c"), ["a", "b", "c"]);
        assert_eq!(
            words("Donau\u{ad}dampf می\u{200c}خواهم \u{feff}1\u{fe0f}"),
            ["donaudampf", "میخواهم", "1"]
        );
        assert_eq!(words("ⅣⅤ ½"), ["ⅳⅴ", "½"]);
        assert_eq!(words("snake_case"), ["snake", "case"]);
        assert_eq!(words("ﷺ\u{10FFFF}\u{0}x"), ["ﷺ", "x"]);
    }

    #[test]
    fn scripts_without_spaces_are_read_in_pairs() {
        assert_eq!(words("北京2008年，奥运会"), ["北京", "2008", "年", "奥运", "运会"]);
        assert_eq!(
            words("データをeメールで"),
            ["デー", "ータ", "タを", "e", "メー", "ール", "ルで"]
        );
        assert_eq!(words("ที่นี่"), ["ที", "ี\u{e48}", "\u{e48}น", "นี", "ี\u{e48}"]);
        let runs = in_pieces(["北京2008年，奥运会"], FingerprintKernel::PORTABLE, true);
        assert_eq!(runs, [("北京2008年".into(), 0), ("奥运会".into(), 16)]);
    }

    #[test]
    fn endless_runs_are_cut_between_characters() {
        for (text, lengths) in [
            ("x".repeat(600), [256, 256, 88]),
            (format!("{}{}", "x".repeat(255), "é".repeat(200)), [255, 256, 144]),
            ("ế".repeat(200), [255, 255, 90]),
        ] {
            let found = in_pieces([text.as_str()], FingerprintKernel::fastest(), true);
            assert_eq!(found, naive(&text, true));
            let found: Vec<usize> = found.iter().map(|(word, _)| word.len()).collect();
            assert_eq!(found, lengths);
        }
    }

    #[test]
    fn endless_marks_and_parts_of_syllables_are_cut() {
        for endless in
            ["\u{301}", "\u{94d}", "\u{1161}", "\u{327}\u{301}", "\u{ad}\u{301}", "\u{e38}"]
        {
            let text = format!("x e{} y", endless.repeat(3000));
            for (kernel, runs) in
                [(FingerprintKernel::fastest(), true), (FingerprintKernel::PORTABLE, false)]
            {
                let found = in_pieces([text.as_str()], kernel, runs);
                assert_eq!(found, naive(&text, runs), "{endless:?}");
                let pieces = text.split_inclusive(|_| true);
                assert_eq!(in_pieces(pieces, kernel, runs), found, "{endless:?}");
            }
        }
    }

    /// Generates texts that mix differently treated characters, some longer than a block.
    fn any_text() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            8 => "[a-zA-Z0-9]{1,9}",
            1 => "[a-z0-9]{60,300}",
            6 => "[ .,_\n]{1,3}",
            3 => "[’“”—…\u{2009}👍]{1,3}",
            2 => "[éÜßЖλςأم한\u{301}\u{94d}\u{ad}\u{200d}]{1,4}",
            2 => "[北京会あーのไท\u{e48}]{1,5}",
            1 => "\\PC{0,4}",
        ]
        .boxed();
        // Some texts are longer than a run.
        let long = prop_oneof![6 => 0..40usize, 1 => 300..400usize];
        long.prop_flat_map(move |length| prop::collection::vec(piece.clone(), length))
            .prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn words_match_the_definition(
            text in prop_oneof![any_text(), any_equivalent()],
            runs: bool,
        ) {
            for kernel in [FingerprintKernel::fastest(), FingerprintKernel::PORTABLE] {
                prop_assert_eq!(in_pieces([text.as_str()], kernel, runs), naive(&text, runs));
            }
        }

        #[test]
        fn pieces_do_not_matter(
            text in prop_oneof![any_text(), any_equivalent()],
            runs: bool,
            cuts in prop_oneof![
                prop::collection::vec(0..3000usize, 0..9),
                prop::collection::vec(0..90usize, 0..90),
            ],
        ) {
            let mut cuts: Vec<usize> =
                cuts.into_iter().filter(|&cut| text.is_char_boundary(cut)).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let pieces = cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]);
            prop_assert_eq!(in_pieces(pieces, FingerprintKernel::fastest(), runs), naive(&text, runs));
        }
    }
}
