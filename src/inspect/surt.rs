//! Sort keys of pages in SURT notation.

use crate::page::surt;

/// Formats a key in the notation of the Internet Archive: the labels of the host reversed and
/// separated by commas, port and user if any, `)`, and the path. For a URL without a host, formats
/// the URL's own parts.
pub(super) fn of_key(key: &[u8]) -> String {
    let mut parts = key.split(|byte| *byte == surt::END);
    let mut next = || parts.next().unwrap_or_default();
    let host = next();
    let text = |bytes: &[u8]| {
        let plain = |byte: &u8| match *byte {
            surt::SLASH => b'/',
            surt::QUERY => b'?',
            surt::FRAGMENT => b'#',
            surt::COLON => b':',
            other => other,
        };
        String::from_utf8_lossy(&bytes.iter().map(plain).collect::<Vec<u8>>()).into_owned()
    };
    if let Some((&surt::HOSTLESS, scheme)) = host.split_first() {
        return format!("{}:{}", text(scheme), text(next()));
    }
    let labels = host.split(|byte| *byte == surt::LABEL).map(String::from_utf8_lossy);
    let host = labels.collect::<Vec<_>>().join(",");
    let authority = text(next());
    let colon = if authority.is_empty() || authority.starts_with('@') { "" } else { ":" };
    format!("{host}{colon}{authority}){}", text(next()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surt_key_is_written_as_in_archives() {
        for (url, expected) in [
            ("https://docs.example.com/a/b?c#d", "com,example,docs)/a/b?c#d"),
            ("http://example.com", "com,example)/"),
            ("http://me@example.com:8080/", "com,example:8080@me)/"),
            ("http://me@example.com/", "com,example@me)/"),
            ("file:///home/x", "file:///home/x"),
            ("urn:isbn:1", "urn:isbn:1"),
        ] {
            assert_eq!(of_key(&surt::key_of(url)), expected, "{url}");
        }
    }
}
