//! The characters of a document that declares no encoding.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8};

/// How many bytes to guess by.
const GUESSED_BYTES: usize = 1 << 20;
/// How many bytes before the first that is not ASCII to guess by, too: the word that it is in.
const CONTEXT_BYTES: usize = 64;
/// UTF-8 has at least this many whole characters beyond ASCII for each place that is no UTF-8. Of 420
/// pages in 37 other encodings none had more than 1.4.
const WHOLE_FOR_BROKEN: usize = 8;

/// Decodes a document that declares no encoding: as UTF-8 if it is UTF-8 but for a few places, or by a
/// guess.
pub(super) fn undeclared(bytes: &[u8]) -> Cow<'_, str> {
    let encoding = match std::str::from_utf8(bytes) {
        Ok(text) => return Cow::Borrowed(text),
        // The last character of a document that was cut. But one character that is not whole is no
        // evidence of UTF-8: "caf\xe9" is Latin-1.
        Err(error) if error.error_len().is_none() && error.valid_up_to() > first_beyond(bytes) => {
            UTF_8
        }
        Err(_) => match start(bytes) {
            (start, _) if is_nearly_utf8(start) => UTF_8,
            (start, is_all) => guess(start, is_all),
        },
    };
    encoding.decode_without_bom_handling(bytes).0
}

/// The bytes to guess by, and whether nothing follows them. A long head of ASCII says nothing, and must
/// not use up the bytes.
fn start(bytes: &[u8]) -> (&[u8], bool) {
    let from = first_beyond(bytes).saturating_sub(CONTEXT_BYTES);
    let rest = bytes.get(from..).unwrap_or_default();
    let start = rest.get(..GUESSED_BYTES).unwrap_or(rest);
    (start, start.len() == rest.len())
}

/// Whether bytes are UTF-8 with a few broken places: characters that were cut in the middle, or that a
/// template brought along from another encoding.
fn is_nearly_utf8(bytes: &[u8]) -> bool {
    let (mut whole, mut broken) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        whole += chunk.valid().bytes().filter(|byte| *byte >= 0xC0).count();
        broken += usize::from(!chunk.invalid().is_empty());
    }
    whole / WHOLE_FOR_BROKEN >= broken.max(1)
}

/// The encoding that bytes are most likely in, other than UTF-8.
///
/// The host gives no hint: equal bytes are equal texts wherever they are. ISO-2022-JP is never the
/// answer, since it reads other meanings into ASCII.
fn guess(start: &[u8], is_all: bool) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(start, is_all);
    detector.guess(None, Utf8Detection::Deny)
}

/// Where the first byte is that is not ASCII.
fn first_beyond(bytes: &[u8]) -> usize {
    Encoding::ascii_valid_up_to(bytes)
}
