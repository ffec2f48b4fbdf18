//! Texts that are too short to be distinguished.

use super::document::Document;
use super::fingerprinter::Fingerprinter;
use super::kernel::FingerprintKernel;
use super::words::WordSplitter;
use crate::fingerprint::error::Result;

/// The number of bytes of a text between two counts of its words.
const PIECE_BYTES: usize = 128;

impl Document {
    /// The number of words below which a text is [too short](Document::is_too_short) to be
    /// distinguished from other texts.
    pub const WORDS_MIN: usize = 8;

    /// Whether the text of the document is too short to be distinguished from other texts: it has
    /// fewer than [`WORDS_MIN`](Document::WORDS_MIN) words. All pages without visible text have the
    /// fingerprint 0. Pages of a few words, for example "Loading" or "Not found", differ only in
    /// words of a template, or not at all. With fingerprints of short texts, many unrelated pages
    /// would be near each other.
    ///
    /// A word is defined as in recipes of words: runs of letters and digits, and in scripts without
    /// spaces, such as Chinese, each pair of neighbouring characters. The whole text is included,
    /// with title and headings; fields are not.
    ///
    /// Reads only the first eight words of a text, regardless of its length.
    ///
    /// ```
    /// use simkeep::fingerprint::Document;
    /// assert!(Document::new("Please enable JavaScript to run this app.").is_too_short());
    /// assert!(!Document::new("You need to enable JavaScript to run this app.").is_too_short());
    /// assert!(!Document::new("您需要启用脚本才能运行").is_too_short());
    /// ```
    pub fn is_too_short(&self) -> bool {
        is_too_short(self.text())
    }

    /// Whether the text of the document has at least `count` words, counted as in
    /// [`is_too_short`](Document::is_too_short). Reads only `count` words, regardless of the length
    /// of the text.
    ///
    /// ```
    /// use simkeep::fingerprint::Document;
    /// let text = Document::new("to be, or not to be");
    /// assert!(text.has_words(6) && !text.has_words(7));
    /// ```
    pub fn has_words(&self, count: usize) -> bool {
        has_words(self.text(), count)
    }
}

/// Whether a text is [too short](Document::is_too_short) to be distinguished from other texts.
pub(super) fn is_too_short(text: &str) -> bool {
    !has_words(text, Document::WORDS_MIN)
}

fn has_words(text: &str, count: usize) -> bool {
    let mut words = WordSplitter::new(FingerprintKernel::fastest(), false);
    let (mut found, mut rest) = (0, text);
    while found < count && !rest.is_empty() {
        let (piece, behind) = rest.split_at(rest.floor_char_boundary(PIECE_BYTES));
        words.push(piece, |_: &[u8], _| found += 1);
        rest = behind;
    }
    words.finish(|_: &[u8], _| found += 1);
    found >= count
}

impl Fingerprinter<'_> {
    /// Computes the fingerprint of a page by [`of`](Fingerprinter::of). `None` if its text is [too
    /// short](Document::is_too_short) to be distinguished, or if the recipe leaves out all of it,
    /// for example if the page consists only of its site's [template](super::Recipe::leave_out). An
    /// [observation](crate::Observation::content) accepts the result unchanged.
    ///
    /// # Errors
    ///
    /// Returns the errors of the document frequencies.
    ///
    /// ```
    /// use simkeep::fingerprint::{Document, Fingerprinter, Recipe};
    /// let mut fingerprinter = Fingerprinter::new(&Recipe::DEFAULT)?;
    /// let page = Document::new("The quick brown fox jumps over the lazy dog");
    /// assert_eq!(fingerprinter.of_page(&page)?, Some(fingerprinter.of(&page)?));
    /// assert_eq!(fingerprinter.of_page(&Document::new("Loading..."))?, None);
    /// # Ok::<(), simkeep::Error>(())
    /// ```
    pub fn of_page(&mut self, page: &Document) -> Result<Option<u64>> {
        if page.is_too_short() {
            return Ok(None);
        }
        let fingerprint = self.of(page)?;
        Ok(self.has_features.then_some(fingerprint))
    }
}

#[cfg(test)]
mod tests {
    use super::super::grams::Grams;
    use super::super::recipe::Recipe;
    use super::super::{InMemoryFrequencies, of_text};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn fewer_than_eight_words_are_too_short() {
        for (text, short) in [
            ("", true),
            (" \n .,;—! 👍🏽 \u{301} ", true),
            ("one two three four five six seven", true),
            ("one two three four five six seven, eight", false),
            ("one-two/three_four.five'six’seven", true),
            ("a a a a a a a a", false),
            // Eight characters make seven pairs.
            ("我们会更新本政策", true),
            ("我们会更新本政策了", false),
            ("データをダウンロードする", false),
            ("เราเคาร", true),
            ("1 2 3 4 5 6 7 ½", false),
        ] {
            assert_eq!(is_too_short(text), short, "{text}");
        }
        // Words are counted at any distance from each other.
        let far = |words: usize| vec!["word"; words].join(&"—".repeat(1000));
        assert!(is_too_short(&far(7)) && !is_too_short(&far(8)));
        // A word that is too long is cut.
        assert!(is_too_short(&"x".repeat(7 * 256)) && !is_too_short(&"x".repeat(7 * 256 + 1)));
    }

    #[test]
    fn text_has_the_fingerprint_of_a_page() {
        let mut fingerprinter = Fingerprinter::new(&Recipe::DEFAULT).unwrap();
        for words in [0, 1, 7, 8, 9, 500] {
            let text =
                (0..words).map(|i| format!("w{}", i * 7 % 503)).collect::<Vec<_>>().join(" ");
            let of_page = fingerprinter.of_page(&Document::new(text.as_str())).unwrap();
            let raw = fingerprinter.of_text(&text).unwrap();
            assert_eq!(of_text(&text), of_page);
            assert_eq!(of_page, (words >= 8).then_some(raw));
        }
    }

    #[test]
    fn titles_count_as_text_and_fields_do_not() {
        let mut document = Document::new("one two three four five six seven");
        document.field("description", "and very many other words that nobody sees on the page");
        assert!(document.is_too_short());
        document.push(" eight", crate::fingerprint::Marks::TITLE);
        assert!(!document.is_too_short());
    }

    #[test]
    fn length_check_reads_only_the_start() {
        let text =
            "one two three four five six seven eight ".to_owned() + &"nine ".repeat(10 << 20);
        let document = Document::new(text);
        let started = std::time::Instant::now();
        for _ in 0..10_000 {
            assert!(!document.is_too_short());
        }
        // Reading the text that often would take hours.
        assert!(started.elapsed().as_secs() < 60);
    }

    #[test]
    fn page_without_remaining_features_has_no_fingerprint() {
        let template = "Home News Shop About Contact Imprint Privacy Terms Search";
        let page = |own: &str| Document::new(format!("{template} {own}"));
        for (recipe, leaves_out) in
            [("words1-minwise-leave0.5/2", true), ("words1-minwise/2", false)]
        {
            let recipe: Recipe = recipe.parse().unwrap();
            let mut counted = InMemoryFrequencies::new(&recipe);
            (0..10).for_each(|n| counted.add(page(&format!("item{n}")).text()));
            let mut fingerprinter = Fingerprinter::with_frequencies(&recipe, &counted).unwrap();
            let mut of = |own| fingerprinter.of_page(&page(own)).unwrap();
            // Earlier documents do not affect the result.
            let made = ["", "item1", "", "unheard-of", ""].map(|own| of(own).is_some());
            assert_eq!(made, [!leaves_out, true, !leaves_out, true, !leaves_out]);
        }
        // A vote without any feature.
        let recipe: Recipe = "words1-raw-from1.5/2".parse().unwrap();
        let mut fingerprinter = Fingerprinter::new(&recipe).unwrap();
        assert_eq!(fingerprinter.of_page(&page("")).unwrap(), None);
    }

    proptest! {
        #[test]
        fn words_are_counted_like_in_recipes(
            pieces in prop::collection::vec("[a-c]{1,3}|[ .]{1,40}|é|Ж|北京|ー|ไท\u{e48}|[’—👍]|\u{ad}", 0..40)
        ) {
            let text = pieces.concat();
            let mut grams = Grams::new(&Recipe::words(1), FingerprintKernel::PORTABLE);
            let mut words = 0;
            grams.push(&text, |some: &[u64], _: &[usize]| words += some.len());
            grams.finish(|some: &[u64], _: &[usize]| words += some.len());
            prop_assert_eq!(is_too_short(&text), words < 8);
        }
    }
}
