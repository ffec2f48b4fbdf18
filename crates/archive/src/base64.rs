//! Base64 (RFC 4648, 4): bytes in a line of JSON.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The value of a digit, if it is one.
fn value(digit: u8) -> Option<u8> {
    match digit {
        b'A'..=b'Z' => Some(digit - b'A'),
        b'a'..=b'z' => Some(digit - b'a' + 26),
        b'0'..=b'9' => Some(digit - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

/// Adds bytes to a text, padded.
pub(super) fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let value = (bits >> (18 - 6 * at)) as usize & 63;
            let digit = ALPHABET.get(value).copied().filter(|_| at <= three.len());
            out.push(digit.unwrap_or(b'='));
        }
    }
}

/// The bytes of a padded text; `None` of any text that [`encode`] does not make.
pub(super) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let padding = text.iter().rev().take(2).take_while(|b| **b == b'=').count();
    let (fours, rest) = text.as_chunks::<4>();
    if !rest.is_empty() {
        return None;
    }
    let mut out = Vec::with_capacity(fours.len() * 3);
    for (nth, four) in fours.iter().enumerate() {
        let digits = if nth + 1 == fours.len() { 4 - padding } else { 4 };
        let mut bits = 0;
        for (at, &digit) in four.iter().enumerate() {
            let value = if at < digits { value(digit)? } else { 0 };
            bits = bits << 6 | u32::from(value);
        }
        let [_, bytes @ ..] = bits.to_be_bytes();
        let (bytes, left) = bytes.split_at_checked(digits - 1)?;
        // Bits that no byte has are zero.
        if left.iter().any(|byte| *byte != 0) {
            return None;
        }
        out.extend_from_slice(bytes);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encoded(bytes: &[u8]) -> String {
        let mut out = Vec::new();
        encode(bytes, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_examples_of_the_standard_are_written_and_read() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encoded(bytes.as_bytes()), text);
            assert_eq!(decode(text.as_bytes()).as_deref(), Some(bytes.as_bytes()));
        }
    }

    #[test]
    fn what_is_written_otherwise_is_refused() {
        for text in ["Z", "Zg", "Zg=", "Zh==", "Zm9=", "Zg==Zg==", "====", "Z===", "Zm9v\n", "Zm-v"]
        {
            assert_eq!(decode(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn bytes_come_back(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            prop_assert_eq!(decode(encoded(&bytes).as_bytes()), Some(bytes));
        }

        #[test]
        fn what_is_read_is_written_the_same(text in "[A-Da-d01+/=]{0,12}") {
            if let Some(bytes) = decode(text.as_bytes()) {
                prop_assert_eq!(encoded(&bytes), text);
            }
        }
    }
}
