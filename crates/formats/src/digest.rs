//! Digests of exact contents, and their comparison with declared digests.
//!
//! Every digest computed here is a SHA-1 of the payload as received, for any source, so that equal
//! bytes have equal digests. The payload of a response is defined as in WARC (ISO 28500,
//! WARC-Payload-Digest): the entity body of HTTP, without the chunks of a transfer, and compressed
//! if the server compressed it. Nearly all archives identify their contents by SHA-1, and a revisit
//! record has only the digest of the content that it repeats. SHA-1 collisions can be constructed
//! at some cost; `docs/guide.md` explains the consequences.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use md5::Md5;
use sha1::Sha1;
use sha2::{Digest as Hash, Sha256, Sha384, Sha512};
use simkeep::Digest;

/// Returns the first 128 bits of the SHA-1 of a content.
///
/// ```
/// let digest = simkeep_formats::digest(b"Fresh fish and chips daily.");
/// assert_ne!(digest, simkeep_formats::digest(b"Fresh fish and chips daily!"));
/// ```
pub fn of(content: &[u8]) -> Digest {
    first_bits(&Sha1::digest(content).into())
}

/// Computes the digest of a content in parts. The result equals [`of`] for the whole content.
#[derive(Default)]
pub(super) struct DigestHasher(Sha1);

impl DigestHasher {
    /// Adds the next part.
    pub(super) fn update(&mut self, part: &[u8]) {
        self.0.update(part);
    }

    /// Returns the digest of all parts.
    pub(super) fn finish(self) -> Digest {
        first_bits(&self.0.finalize().into())
    }
}

/// Computes the digest of a file. The result equals [`of`] for its bytes. Linear time; reads the
/// file piece by piece.
///
/// ```
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("pages.jsonl");
/// std::fs::write(&path, "Fresh fish and chips daily.")?;
/// let digest = simkeep_formats::digest_of_file(&path)?;
/// assert_eq!(digest, simkeep_formats::digest(b"Fresh fish and chips daily."));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Returns the errors of opening and reading the file.
pub fn of_file(path: &Path) -> io::Result<Digest> {
    let (mut file, mut hasher) = (File::open(path)?, DigestHasher::default());
    let mut piece = vec![0; 256 << 10];
    loop {
        match file.read(&mut piece) {
            Ok(0) => return Ok(hasher.finish()),
            Ok(count) => hasher.update(piece.get(..count).unwrap_or_default()),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

/// Parses a digest of exactly 32 hexadecimal digits.
pub(super) fn hexadecimal(text: &str) -> Option<Digest> {
    let plain = text.len() == 32 && text.bytes().all(|b| b.is_ascii_hexdigit());
    let value = plain.then(|| u128::from_str_radix(text, 16).ok())??;
    Some(Digest(value.to_be_bytes()))
}

fn first_bits(sha1: &[u8; 20]) -> Digest {
    let mut bits = [0; 16];
    bits.iter_mut().zip(sha1).for_each(|(to, from)| *to = *from);
    Digest(bits)
}

/// The digest algorithms that archives use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum DigestAlgorithm {
    Md5,
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

impl DigestAlgorithm {
    fn parse(name: &str) -> Option<DigestAlgorithm> {
        Some(match name.trim().to_ascii_lowercase().replace('-', "").as_str() {
            "md5" => DigestAlgorithm::Md5,
            "sha1" => DigestAlgorithm::Sha1,
            "sha256" => DigestAlgorithm::Sha256,
            "sha384" => DigestAlgorithm::Sha384,
            "sha512" => DigestAlgorithm::Sha512,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            DigestAlgorithm::Md5 => "md5",
            DigestAlgorithm::Sha1 => "sha1",
            DigestAlgorithm::Sha256 => "sha256",
            DigestAlgorithm::Sha384 => "sha384",
            DigestAlgorithm::Sha512 => "sha512",
        }
    }

    fn bytes(self) -> usize {
        match self {
            DigestAlgorithm::Md5 => 16,
            DigestAlgorithm::Sha1 => 20,
            DigestAlgorithm::Sha256 => 32,
            DigestAlgorithm::Sha384 => 48,
            DigestAlgorithm::Sha512 => 64,
        }
    }
}

/// A digest that an archive declares, such as `sha1:B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A`.
///
/// ```
/// use simkeep_formats::{DeclaredDigest, digest};
/// // The value of `WARC-Payload-Digest`: the digest of an empty payload, in base 32.
/// let declared = DeclaredDigest::parse("sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ").unwrap();
/// assert_eq!(declared.kept(), Some(digest(b"")));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DeclaredDigest {
    algorithm: DigestAlgorithm,
    value: Box<[u8]>,
}

impl DeclaredDigest {
    /// Parses a digest in base 16, 32 or 64. `None` if the algorithm is unknown or the length of
    /// the value does not match the algorithm.
    ///
    /// ```
    /// use simkeep_formats::DeclaredDigest;
    /// assert!(DeclaredDigest::parse("md5:d41d8cd98f00b204e9800998ecf8427e").is_some());
    /// assert_eq!(DeclaredDigest::parse("crc32:d41d8cd9"), None); // an unknown algorithm
    /// ```
    pub fn parse(text: &str) -> Option<DeclaredDigest> {
        let (algorithm, value) = text.trim().split_once(':')?;
        let algorithm = DigestAlgorithm::parse(algorithm)?;
        let bytes = algorithm.bytes();
        let value = value.trim().trim_end_matches('=').as_bytes();
        let forms = [(4, bytes * 2), (5, (bytes * 8).div_ceil(5)), (6, (bytes * 8).div_ceil(6))];
        let bits_a_digit = forms.into_iter().find(|&(_, digits)| digits == value.len())?.0;
        let mut out = Vec::with_capacity(bytes);
        let (mut held, mut held_bits) = (0u32, 0);
        for &c in value {
            held = held << bits_a_digit | digit(c, bits_a_digit)?;
            held_bits += bits_a_digit;
            if held_bits >= 8 {
                held_bits -= 8;
                out.push((held >> held_bits & 0xff) as u8);
                held &= (1 << held_bits) - 1;
            }
        }
        Some(DeclaredDigest { algorithm, value: out.into() })
    }

    /// Returns the digest in the form that a store uses, if the digest is a SHA-1.
    pub fn kept(&self) -> Option<Digest> {
        let value = self.value.first_chunk::<20>()?;
        (self.algorithm == DigestAlgorithm::Sha1).then(|| first_bits(value))
    }

    /// Whether this is the digest of `content`.
    pub(super) fn matches(&self, content: &[u8]) -> bool {
        match self.algorithm {
            DigestAlgorithm::Md5 => *Md5::digest(content) == *self.value,
            DigestAlgorithm::Sha1 => *Sha1::digest(content) == *self.value,
            DigestAlgorithm::Sha256 => *Sha256::digest(content) == *self.value,
            DigestAlgorithm::Sha384 => *Sha384::digest(content) == *self.value,
            DigestAlgorithm::Sha512 => *Sha512::digest(content) == *self.value,
        }
    }
}

impl fmt::Display for DeclaredDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.algorithm.name())?;
        self.value.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Returns the value of a digit in base 16, 32 or 64; `bits` is the number of bits per digit.
fn digit(c: u8, bits: u32) -> Option<u32> {
    Some(match (bits, c) {
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
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn all_archive_notations_give_one_digest() {
        let whole = of(b"");
        assert_eq!(whole.to_string(), "da39a3ee5e6b4b0d3255bfef95601890");
        for form in [
            "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
            "SHA1:3i42h3s6nnfq2msvx7xzkyayscx5qbyj",
            "sha-1: da39a3ee5e6b4b0d3255bfef95601890afd80709 ",
            "sha1:2jmj7l5rSw0yVb/vlWAYkK/YBwk=",
            "sha1:2jmj7l5rSw0yVb_vlWAYkK_YBwk",
        ] {
            let declared = DeclaredDigest::parse(form).unwrap();
            assert_eq!(declared.kept(), Some(whole), "{form}");
            assert_eq!(declared.to_string(), "sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709");
        }
    }

    #[test]
    fn digests_of_all_algorithms_are_checked_in_full() {
        for form in [
            "md5:d41d8cd98f00b204e9800998ecf8427e",
            "sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709",
            "sha-256:E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855",
            "sha256:4OYMIQUY7QOBJGX36TEJS35ZEQT24QPEMSNZGTFESWMRW6CSXBKQ====",
            "sha384:38b060a751ac96384cd9327eb1b1e36a21fdb71114be07434c0cc7bf63f6e1da274edebfe76f65fbd51ad2f14898b95b",
            "sha512:cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e",
        ] {
            let declared = DeclaredDigest::parse(form).unwrap();
            assert!(declared.matches(b"") && !declared.matches(b"x"), "{form}");
            assert_eq!(declared.kept().is_some(), declared.algorithm == DigestAlgorithm::Sha1);
            let mut other = declared.clone();
            *other.value.last_mut().unwrap() ^= 1;
            assert!(!other.matches(b""), "{form}");
            assert_eq!(DeclaredDigest::parse(&declared.to_string()), Some(declared));
        }
    }

    #[test]
    fn invalid_digest_is_none() {
        for text in
            ["", "sha1", "sha1:", "sha1:1112H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", "sha1:da39", "x:00"]
        {
            assert_eq!(DeclaredDigest::parse(text), None, "{text}");
        }
        assert_eq!(hexadecimal("00"), None);
        assert_eq!(hexadecimal("+0000000000000000000000000000001"), None);
        assert_eq!(hexadecimal(&"0".repeat(32)), Some(Digest([0; 16])));
    }

    proptest! {
        #[test]
        fn no_label_panics(text in "(sha1|sha256|md5|x)?:?[ -~é]{0,70}") {
            DeclaredDigest::parse(&text);
            hexadecimal(&text);
        }
    }
}
