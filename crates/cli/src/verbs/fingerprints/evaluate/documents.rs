//! Reads the documents, and selects those to compare.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use simkeep::Digest;
use simkeep::fingerprint::{Document, extract};
use simkeep_formats::escape::escape_untruncated as escape;
use simkeep_formats::{BrokenRecord, DocumentKeys, InputParts};
use unicode_normalization::{UnicodeNormalization as _, is_nfc};

use crate::exit::{VerbError, print_message};
use crate::input::complaints::ComplaintLog;
use crate::input::texts::TextPipeline;
use crate::output::words::{count, many};

/// A document with its id.
pub(super) struct NamedDocument {
    pub(super) id: String,
    pub(super) document: Document,
}

/// The documents that were read.
pub(super) struct EvaluatedDocuments {
    /// The documents to compare: of documents with equal words, only the first.
    pub(super) compared: Arc<Vec<NamedDocument>>,
    pub(super) left_out: ExcludedCounts,
    /// By id: the index in `compared`, or `None` for a document that is left out.
    numbers: HashMap<String, Option<u32>>,
}

/// The numbers of documents that are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ExcludedCounts {
    /// Documents without words.
    pub(super) empty: u64,
    /// Documents that are too short to distinguish.
    pub(super) short: u64,
    /// Documents with the words of an earlier document.
    pub(super) equal: u64,
}

/// The words of a document.
enum WordDigest {
    None,
    Few,
    /// The digest of the words. Documents with equal words have equal digests.
    Enough(Digest),
}

impl EvaluatedDocuments {
    /// Reads documents on `threads` threads; from JSON lines, their "id" and "text". With
    /// `skip_broken`, broken records are reported and left out; otherwise the first of them is an
    /// error.
    pub(super) fn read(
        input: InputParts,
        (html, skip_broken): (bool, bool),
        threads: usize,
    ) -> Result<EvaluatedDocuments, VerbError> {
        let (mut compared, mut left_out) = (Vec::new(), ExcludedCounts::default());
        let (mut numbers, mut seen) = (HashMap::new(), HashSet::new());
        let mut broken = ComplaintLog::broken();
        let mut texts =
            TextPipeline::new(input.keys(DocumentKeys::of_documents()), threads, move || {
                move |id: String, document: Document| {
                    let document = if html { extract(document.text()) } else { document };
                    let (words, bytes) = (WordDigest::of(&document), document.text().len());
                    ((NamedDocument { id, document }, words), bytes)
                }
            });
        while let Some(text) = texts.next()? {
            let (named, words) = match text {
                Ok(read) => read,
                Err(record) if skip_broken => {
                    broken.add(&record).iter().for_each(|message| print_message(message));
                    continue;
                }
                Err(BrokenRecord { at, why }) => {
                    let why = format!("{at}: {why}; --skip-broken skips broken records");
                    return Err(VerbError::Broken(why));
                }
            };
            let next = u32::try_from(compared.len())
                .map_err(|_| VerbError::Broken("there are too many documents".to_owned()))?;
            let takes_part = match words {
                WordDigest::None => left_out.add(|left_out| &mut left_out.empty),
                WordDigest::Few => left_out.add(|left_out| &mut left_out.short),
                WordDigest::Enough(digest) => {
                    seen.insert(digest) || left_out.add(|left_out| &mut left_out.equal)
                }
            };
            if numbers.insert(named.id.clone(), takes_part.then_some(next)).is_some() {
                let id = escape(&named.id);
                return Err(VerbError::Broken(format!("two documents have the \"id\" {id}")));
            }
            if takes_part {
                compared.push(named);
            }
        }
        broken.suppressed_message().iter().for_each(|message| print_message(message));
        Ok(EvaluatedDocuments { compared: Arc::new(compared), left_out, numbers })
    }

    /// The index in `compared` of the document with this id. The inner `None` is a document that is
    /// left out; the outer one is an unknown id.
    pub(super) fn number(&self, id: &str) -> Option<Option<u32>> {
        self.numbers.get(id).copied()
    }

    /// The id of the document with this index.
    #[expect(clippy::indexing_slicing, reason = "the number of one of them")]
    pub(super) fn id(&self, number: u32) -> &str {
        &self.compared[number as usize].id
    }
}

impl ExcludedCounts {
    /// Counts a document that is left out. Returns false.
    fn add(&mut self, why: impl Fn(&mut ExcludedCounts) -> &mut u64) -> bool {
        *why(self) += 1;
        false
    }

    /// The counts for people; `None` if no document is left out.
    pub(super) fn in_words(&self) -> Option<String> {
        let ExcludedCounts { empty, short, equal } = *self;
        let all = empty + short + equal;
        let documents = many(all, "document is", "documents are");
        let why = [
            (empty, "without words"),
            (short, "too short"),
            (equal, "with the same words as another document"),
        ];
        let why = why.into_iter().filter(|(number, _)| *number > 0);
        let why: Vec<String> =
            why.map(|(number, why)| format!("{} {why}", count(number))).collect();
        (all > 0).then(|| format!("{documents} left out: {}", why.join(", ")))
    }
}

/// The lower-cased runs of letters and digits of a text, composed (NFC). Canonically equivalent
/// texts have equal words, whatever a recipe takes for words.
pub(super) fn words(text: &str) -> Vec<String> {
    let composed: Cow<'_, str> = match is_nfc(text) {
        true => text.into(),
        false => text.nfc().collect::<String>().into(),
    };
    let runs = composed.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty());
    runs.map(str::to_lowercase).collect()
}

impl WordDigest {
    fn of(document: &Document) -> WordDigest {
        let words = words(document.text());
        if words.is_empty() {
            WordDigest::None
        } else if document.is_too_short() {
            WordDigest::Few
        } else {
            WordDigest::Enough(simkeep_formats::digest(words.join(" ").as_bytes()))
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
