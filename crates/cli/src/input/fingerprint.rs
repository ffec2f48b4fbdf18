//! Parses fingerprints in arguments and lists.

/// Parses a fingerprint of 16 hexadecimal digits.
pub(crate) fn parse_fingerprint(text: &str) -> Result<u64, &'static str> {
    let plain = text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit());
    let value = plain.then(|| u64::from_str_radix(text, 16).ok()).flatten();
    value.ok_or("a fingerprint has 16 hexadecimal digits")
}
