//! The documents: which of them take part.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use simkeep::Digest;
use simkeep::fingerprint::{Document, extract};
use simkeep_formats::documents::{self, LineCutter, Lines, Named};
use unicode_normalization::{UnicodeNormalization as _, is_nfc};

use crate::exit::Failure;
use crate::input::pipeline::{self, Chunk, Results};
use crate::output::words::{count, many};

/// What was read.
pub(super) struct Documents {
    /// Those that are compared: of those with equal words the first.
    pub(super) compared: Arc<Vec<Named>>,
    pub(super) left_out: LeftOut,
    /// By id: the number among those that are compared, or none of a document that is left out.
    numbers: HashMap<String, Option<u32>>,
}

/// How many documents take no part.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct LeftOut {
    /// They have no words.
    pub(super) empty: u64,
    /// They are too short to tell from others.
    pub(super) short: u64,
    /// They have the words of a document before them.
    pub(super) equal: u64,
}

/// The words of a document.
enum Words {
    None,
    Few,
    /// Their digest, which is the same for documents with equal words.
    Enough(Digest),
}

/// The place of a line, and a document with its words, or what is wrong there.
type Line = (String, Result<(Named, Words), String>);

impl Chunk for Lines {
    fn bytes(&self) -> usize {
        Lines::bytes(self)
    }
}

impl Documents {
    /// Reads them on so many threads.
    pub(super) fn read(
        lines: LineCutter,
        html: bool,
        threads: usize,
    ) -> Result<Documents, Failure> {
        let (mut compared, mut left_out) = (Vec::new(), LeftOut::default());
        let (mut numbers, mut seen) = (HashMap::new(), HashSet::new());
        let work = move || move |lines: Lines, into: &mut Results<Line>| read(&lines, html, into);
        pipeline::run(Box::new(lines), threads, work, |(at, line): Line| {
            let broken = |why: &str| Failure::Broken(format!("{at}: {why}"));
            let (named, words) = line.map_err(|why| broken(&why))?;
            let next = u32::try_from(compared.len()).map_err(|_| broken("too many documents"))?;
            let takes_part = match words {
                Words::None => left_out.add(|left_out| &mut left_out.empty),
                Words::Few => left_out.add(|left_out| &mut left_out.short),
                Words::Enough(digest) => {
                    seen.insert(digest) || left_out.add(|left_out| &mut left_out.equal)
                }
            };
            if numbers.insert(named.id.clone(), takes_part.then_some(next)).is_some() {
                return Err(broken("a document with this \"id\" was there before"));
            }
            if takes_part {
                compared.push(named);
            }
            Ok(())
        })?;
        Ok(Documents { compared: Arc::new(compared), left_out, numbers })
    }

    /// The number of the document with this id among those that are compared, or none of a document
    /// that is left out; nothing if there is no such document.
    pub(super) fn number(&self, id: &str) -> Option<Option<u32>> {
        self.numbers.get(id).copied()
    }

    /// The id of the document with this number.
    #[expect(clippy::indexing_slicing, reason = "the number of one of them")]
    pub(super) fn id(&self, number: u32) -> &str {
        &self.compared[number as usize].id
    }
}

impl LeftOut {
    /// Counts a document more, which does not take part.
    fn add(&mut self, why: impl Fn(&mut LeftOut) -> &mut u64) -> bool {
        *why(self) += 1;
        false
    }

    /// For people; nothing if all documents take part.
    pub(super) fn in_words(&self) -> Option<String> {
        let LeftOut { empty, short, equal } = *self;
        let all = empty + short + equal;
        let documents = many(all, "document takes", "documents take");
        let why = [
            (empty, "without words"),
            (short, "too short to tell"),
            (equal, "with the words of another"),
        ];
        let why = why.into_iter().filter(|(number, _)| *number > 0);
        let why: Vec<String> =
            why.map(|(number, why)| format!("{} {why}", count(number))).collect();
        (all > 0).then(|| format!("{documents} no part: {}", why.join(", ")))
    }
}

fn read(lines: &Lines, html: bool, into: &mut Results<Line>) {
    let document = |text: String| if html { extract(&text) } else { Document::new(text) };
    documents::read(lines, document, |at, named| {
        let line = named.map(|named| {
            let words = Words::of(&named.document);
            (named, words)
        });
        let bytes = line.as_ref().map_or(0, |(named, _)| named.document.text().len());
        into.push((at, line), bytes);
    });
}

/// Lower-cased runs of letters and digits of a text, composed (NFC): whatever any recipe takes for
/// words, canonically equivalent texts have the same.
pub(super) fn words(text: &str) -> Vec<String> {
    let composed: Cow<'_, str> = match is_nfc(text) {
        true => text.into(),
        false => text.nfc().collect::<String>().into(),
    };
    let runs = composed.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty());
    runs.map(str::to_lowercase).collect()
}

impl Words {
    fn of(document: &Document) -> Words {
        let words = words(document.text());
        if words.is_empty() {
            Words::None
        } else if document.is_too_short() {
            Words::Few
        } else {
            Words::Enough(simkeep_formats::digest(words.join(" ").as_bytes()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equivalent_texts_have_the_same_words() {
        assert_eq!(words("\u{c9}cole, Cafe\u{301} 2"), ["école", "café", "2"]);
        assert_eq!(words("\u{1112}\u{1161}\u{11ab} E\u{301}cole"), words("한 École"));
    }
}
