//! Which exact content a record holds.

use sha1::Sha1;
use sha2::{Digest as _, Sha256};
use simkeep::Digest;

/// The first 128 bits of the SHA-256 of a text.
pub(super) fn of_text(text: &str) -> Digest {
    first_bits(&Sha256::digest(text.as_bytes())).unwrap_or(Digest([0; 16]))
}

/// The first 128 bits of the SHA-1 of an archived payload.
pub(super) fn of_payload(payload: &[u8]) -> Digest {
    first_bits(&Sha1::digest(payload)).unwrap_or(Digest([0; 16]))
}

/// The first 128 bits of a labelled digest such as `sha1:B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A`; `None`
/// if the algorithm is not known or the value is not one of it.
///
/// The value may be in base 16, 32 or 64. Archives whose digests are not SHA-1 name originals and
/// revisits by the same algorithm, so its first bits serve as well.
pub(super) fn labelled(text: &str) -> Option<Digest> {
    let (algorithm, value) = text.trim().split_once(':')?;
    let bytes: usize = match algorithm.trim().to_ascii_lowercase().replace('-', "").as_str() {
        "md5" => 16,
        "sha1" => 20,
        "sha256" => 32,
        "sha384" => 48,
        "sha512" => 64,
        _ => return None,
    };
    let value = value.trim().trim_end_matches('=').as_bytes();
    let bits_a_digit = [(4, bytes * 2), (5, (bytes * 8).div_ceil(5)), (6, (bytes * 8).div_ceil(6))]
        .into_iter()
        .find(|&(_, digits)| digits == value.len())?
        .0;
    let mut out = Vec::with_capacity(bytes + 1);
    let (mut held, mut held_bits) = (0u32, 0);
    for &c in value {
        let digit = match (bits_a_digit, c) {
            (4, _) => char::from(c).to_digit(16)?,
            (5, b'a'..=b'z') => u32::from(c - b'a'),
            (5, b'A'..=b'Z') => u32::from(c - b'A'),
            (5, b'2'..=b'7') => u32::from(c - b'2') + 26,
            (6, b'A'..=b'Z') => u32::from(c - b'A'),
            (6, b'a'..=b'z') => u32::from(c - b'a') + 26,
            (6, b'0'..=b'9') => u32::from(c - b'0') + 52,
            (6, b'+' | b'-') => 62,
            (6, b'/' | b'_') => 63,
            _ => return None,
        };
        held = held << bits_a_digit | digit;
        held_bits += bits_a_digit;
        if held_bits >= 8 {
            held_bits -= 8;
            out.push((held >> held_bits & 0xff) as u8);
            held &= (1 << held_bits) - 1;
        }
    }
    first_bits(&out)
}

/// A digest of exactly 32 hexadecimal digits.
pub(super) fn hexadecimal(text: &str) -> Option<Digest> {
    let plain = text.len() == 32 && text.bytes().all(|b| b.is_ascii_hexdigit());
    let value = plain.then(|| u128::from_str_radix(text, 16).ok())??;
    Some(Digest(value.to_be_bytes()))
}

fn first_bits(bytes: &[u8]) -> Option<Digest> {
    bytes.first_chunk().copied().map(Digest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_forms_that_archives_use_are_one_digest() {
        let whole = of_payload(b"");
        assert_eq!(whole.to_string(), "da39a3ee5e6b4b0d3255bfef95601890");
        for form in [
            "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
            "SHA1:3i42h3s6nnfq2msvx7xzkyayscx5qbyj",
            "sha-1: da39a3ee5e6b4b0d3255bfef95601890afd80709 ",
            "sha1:2jmj7l5rSw0yVb/vlWAYkK/YBwk=",
            "sha1:2jmj7l5rSw0yVb_vlWAYkK_YBwk",
        ] {
            assert_eq!(labelled(form), Some(whole), "{form}");
        }
        let sha256 = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(labelled(sha256), Some(of_text("")));
        assert_eq!(labelled("md5:d41d8cd98f00b204e9800998ecf8427e").unwrap().0[0], 0xd4);
    }

    #[test]
    fn what_is_no_digest_is_none() {
        for text in
            ["", "sha1", "sha1:", "sha1:1112H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", "sha1:da39", "x:00"]
        {
            assert_eq!(labelled(text), None, "{text}");
        }
        assert_eq!(hexadecimal("00"), None);
        assert_eq!(hexadecimal("+0000000000000000000000000000001"), None);
        assert_eq!(hexadecimal(&"0".repeat(32)), Some(Digest([0; 16])));
    }

    proptest! {
        #[test]
        fn no_label_panics(text in "(sha1|sha256|md5|x)?:?[ -~é]{0,70}") {
            labelled(&text);
            hexadecimal(&text);
        }
    }
}
