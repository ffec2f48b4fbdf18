//! Composes a text canonically: Normalization Form C of Unicode Standard Annex #15.

mod canonical;
mod pairs;
mod singles;

#[cfg(test)]
pub(super) use canonical::is_inert;
pub(super) use canonical::{is_yes, not_inert};

use canonical::{class, compose, decompose};

/// Composes characters that arrive one by one, with their offsets in the text.
///
/// The composer buffers a starter and the marks after it, since a later character may change them.
/// A composed character has the offset of its first part.
///
/// Only the first [`MARKS_MAX`] marks after a starter, in canonical order, are used, and the rest
/// are dropped. So memory is bounded for any text, and equivalent texts stay equal. No orthography
/// needs more marks on a letter (UAX #15, section 13).
#[derive(Clone, Debug, Default)]
pub(super) struct Composer {
    starter: Option<(char, usize)>,
    /// The marks after the starter, in canonical order.
    marks: Vec<BufferedMark>,
}

/// The number of consecutive non-starters that Stream-Safe Text allows.
const MARKS_MAX: usize = 30;

#[derive(Clone, Copy, Debug)]
struct BufferedMark {
    class: u8,
    c: char,
    at: usize,
}

impl Composer {
    /// Whether nothing is buffered.
    pub(super) fn is_empty(&self) -> bool {
        self.starter.is_none() && self.marks.is_empty()
    }

    /// Takes the next character, and passes on the characters that no later character can change:
    /// at most [`MARKS_MAX`] plus four.
    pub(super) fn push(&mut self, c: char, at: usize, give: &mut impl FnMut(char, usize)) {
        decompose(c, &mut |part| self.part(part, at, give));
    }

    /// Passes on the buffered characters.
    pub(super) fn finish(&mut self, give: &mut impl FnMut(char, usize)) {
        self.compose_marks();
        if let Some((starter, at)) = self.starter.take() {
            give(starter, at);
        }
        self.marks.drain(..).for_each(|mark| give(mark.c, mark.at));
    }

    /// Takes an indecomposable character.
    fn part(&mut self, c: char, at: usize, give: &mut impl FnMut(char, usize)) {
        let class = class(c);
        if class != 0 {
            // The canonical ordering algorithm: a stable sort by class.
            let place = self.marks.partition_point(|mark| mark.class <= class);
            self.marks.insert(place, BufferedMark { class, c, at });
            self.marks.truncate(MARKS_MAX);
            return;
        }
        self.compose_marks();
        if let (Some((starter, _)), []) = (&mut self.starter, &self.marks[..])
            && let Some(composed) = compose(*starter, c)
        {
            *starter = composed;
            return;
        }
        self.finish(give);
        self.starter = Some((c, at));
    }

    /// Composes the starter with each unblocked mark. A remaining mark blocks later marks of the
    /// same class.
    fn compose_marks(&mut self) {
        let Some((starter, _)) = &mut self.starter else { return };
        let mut last = 0;
        self.marks.retain(|mark| {
            let composed = if last < mark.class { compose(*starter, mark.c) } else { None };
            match composed {
                Some(composed) => *starter = composed,
                None => last = mark.class,
            }
            composed.is_none()
        });
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;
    use unicode_normalization::UnicodeNormalization;

    /// Composes a text, with offsets.
    pub(crate) fn composed(text: &str) -> Vec<(char, usize)> {
        let (mut composer, mut found) = (Composer::default(), Vec::new());
        let mut give = |c, at| found.push((c, at));
        text.char_indices().for_each(|(at, c)| composer.push(c, at, &mut give));
        composer.finish(&mut give);
        assert!(composer.is_empty());
        found
    }

    fn text_of(found: &[(char, usize)]) -> String {
        found.iter().map(|(c, _)| *c).collect()
    }

    #[test]
    fn composed_characters_keep_the_place_of_their_first_part() {
        assert_eq!(composed("ae\u{301}o"), [('a', 0), ('é', 1), ('o', 4)]);
        // The cedilla (class 202) comes before the acute accent (230).
        assert_eq!(composed("c\u{301}\u{327}x"), [('ḉ', 0), ('x', 5)]);
        // A mark without a starter, and a mark that is blocked by another mark of its class.
        assert_eq!(composed("\u{301}e"), [('\u{301}', 0), ('e', 2)]);
        assert_eq!(composed("x\u{302}\u{301}"), [('x', 0), ('\u{302}', 1), ('\u{301}', 3)]);
        // Hangul by arithmetic; the last two characters belong to no syllable.
        assert_eq!(composed("\u{1112}\u{1161}\u{11ab}"), [('한', 0)]);
        assert_eq!(
            composed("하\u{11ab}\u{1161}\u{11ab}"),
            [('한', 0), ('\u{1161}', 6), ('\u{11ab}', 9)]
        );
        // A character that decomposes into two characters.
        assert_eq!(composed("a\u{958}"), [('a', 0), ('\u{915}', 1), ('\u{93c}', 1)]);
    }

    #[test]
    fn endless_marks_take_bounded_memory() {
        let text = "e".to_owned() + &"\u{327}\u{301}".repeat(10_000) + "e\u{301}";
        let mut composer = Composer::default();
        let mut given = String::new();
        for (at, c) in text.char_indices() {
            composer.push(c, at, &mut |c, _| given.push(c));
            assert!(composer.marks.len() <= MARKS_MAX);
        }
        composer.finish(&mut |c, _| given.push(c));
        // Cedillas come before accents, and the first cedilla makes a letter with the starter.
        assert_eq!(given, "ȩ".to_owned() + &"\u{327}".repeat(MARKS_MAX - 1) + "é");
    }

    proptest! {
        #[test]
        fn many_marks_compose_equally_in_equivalent_texts(
            marks in prop::collection::vec("[\u{300}-\u{303}\u{316}\u{323}\u{327}\u{5b4}]", 25..60),
            start in prop::sample::select(vec!["ế", "ḉ", "x", "ŏ"]),
        ) {
            let text = start.to_owned() + &marks.concat() + "end";
            let forms: [String; 2] = [text.nfc().collect(), text.nfd().collect()];
            let expected = text_of(&composed(&text));
            for form in &forms {
                prop_assert_eq!(&text_of(&composed(form)), &expected);
            }
            if text.nfd().count() <= MARKS_MAX + 4 {
                prop_assert_eq!(&forms[0], &expected);
            }
        }
    }

    /// Generates characters that normalisation treats differently.
    pub(crate) fn any_equivalent() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            4 => "[a-zA-Z .=<]{1,3}",
            3 => "[\u{300}-\u{345}\u{323}\u{327}\u{1dc4}]{1,3}",
            2 => "[éÉüñçşẽằỆốȫǭḉÅſẛİıΐᾳὕΩйЇґ]{1,3}",
            2 => "[\u{1100}-\u{1112}\u{1161}-\u{1175}\u{11a7}-\u{11c2}가-힣]{1,4}",
            2 => "[がパヴカかウう\u{3099}\u{309a}ﾊﾞ豈北\u{fa30}]{1,4}",
            1 => "[क\u{93c}\u{958}\u{94d}\u{9c7}\u{9be}\u{9d7}\u{bc6}\u{bbe}\u{d46}\u{d3e}]{1,4}",
            1 => "[\u{ad}\u{34f}\u{200d}\u{fe0f}\u{5b4}\u{5b7}שׁ\u{fb1d}\u{e38}\u{e48}ก]{1,4}",
            1 => "[\u{1d157}\u{1d165}\u{1d15e}\u{1d1bb}\u{11131}\u{11127}\u{110a5}\u{110ba}]{1,3}",
            1 => "\\PC{0,3}",
        ];
        prop::collection::vec(piece, 0..25).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn composition_matches_an_independent_crate(text in any_equivalent()) {
            let found = composed(&text);
            prop_assert_eq!(text_of(&found), text.nfc().collect::<String>());
            prop_assert!(found.iter().all(|(_, at)| text.is_char_boundary(*at)));
        }
    }
}
