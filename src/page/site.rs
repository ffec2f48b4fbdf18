//! Sites. A site is a host or a folder of a host, identified by the start of its pages' SURT keys.
//!
//! The key of a site ends with the `/` of its host or folder. So the key of a site is the key of a
//! [`Prefix`](crate::Prefix) that ends with `/`. This prefix covers all pages below the folder, and
//! the folder itself. A port belongs to the host. The rest of a page's key after the key of the
//! site, without the scheme, is the page's *path* in the site, with query and fragment. Equal paths
//! in two sites are equal bytes, and the pages of a site are in the order of their paths.

use super::surt::{END, FRAGMENT, LABEL, QUERY, SLASH};

/// The key of a page without its scheme: the key up to the end of the path. `None` if the URL has
/// no host, a host with an empty label, or user information: no prefix of a site covers such a URL.
pub(crate) fn address(key: &[u8]) -> Option<&[u8]> {
    let mut parts = key.split(|byte| *byte == END);
    let (host, port, path) = (parts.next()?, parts.next()?, parts.next()?);
    let mut labels = host.split(|byte| *byte == LABEL);
    let is_plain = labels.all(|label| !label.is_empty()) && port.iter().all(u8::is_ascii_digit);
    key.get(..host.len() + port.len() + path.len() + 2).filter(|_| is_plain)
}

/// The length of each site's key at the start of an address: first the key of the host, then of the
/// folder in the host, and so on.
pub(crate) fn sites(address: &[u8]) -> impl Iterator<Item = usize> {
    let ends = address.iter().enumerate().filter(|(_, byte)| **byte == END);
    // A path begins with a slash, even if the URL omits it.
    let from = ends.map(|(at, _)| at + 1).nth(1).unwrap_or(address.len());
    let path = address.get(from..).unwrap_or_default();
    let path = path.iter().take_while(|byte| !matches!(**byte, QUERY | FRAGMENT));
    path.enumerate().filter(|(_, byte)| **byte == SLASH).map(move |(at, _)| from + at + 1)
}

#[cfg(test)]
mod tests {
    use super::super::{Prefix, surt};
    use super::*;
    use proptest::prelude::*;

    /// The sites of a page as text, each with the path of the page in the site.
    fn places(url: &str) -> Option<Vec<String>> {
        let key = surt::key_of(url);
        let address = address(&key)?;
        let plain = |byte: &u8| match *byte {
            SLASH => '/',
            QUERY => '?',
            FRAGMENT => '#',
            other => char::from(other),
        };
        let places = sites(address).map(|len| {
            let site = Prefix::from_bytes(&address[..len])?;
            let path: String = address[len..].iter().map(plain).collect();
            Some(format!("{site} {path}"))
        });
        places.collect()
    }

    #[test]
    fn page_is_in_its_host_and_parent_folders() {
        for (url, expected) in [
            ("http://a.example", &["a.example/ "][..]),
            ("https://A.example/", &["a.example/ "]),
            ("http://a.example/x", &["a.example/ x"]),
            ("http://a.example/x/", &["a.example/ x/", "a.example/x/ "]),
            ("http://a.example//y", &["a.example/ /y", "a.example// y"]),
            (
                "http://a.example:8080/x/y/z?a/b#c/d",
                &[
                    "a.example:8080/ x/y/z?a/b#c/d",
                    "a.example:8080/x/ y/z?a/b#c/d",
                    "a.example:8080/x/y/ z?a/b#c/d",
                ],
            ),
            ("http://a.example?a/b", &["a.example/ ?a/b"]),
            ("http://[::1]/x#/", &["[::1]/ x#/"]),
        ] {
            assert_eq!(places(url).unwrap(), expected, "{url}");
        }
        for url in [
            "urn:isbn:1",
            "file:///home/x",
            "http://me@a.example/x/",
            "mailto:a@b",
            "http:///x",
            "x",
            "http://a..b/",
        ] {
            assert_eq!(places(url), None, "{url}");
        }
    }

    proptest! {
        #[test]
        fn page_is_under_the_prefixes_of_its_sites(
            url in "(https?:)?(//)?[a-b.@:1-]{0,5}(/[ab?#/.]{0,8})?",
        ) {
            let key = surt::key_of(&url);
            let Some(address) = address(&key) else { return Ok(()) };
            prop_assert!(sites(address).count() > 0);
            for len in sites(address) {
                let prefix = Prefix::from_bytes(&address[..len]).unwrap();
                prop_assert!(prefix.contains(&key));
                prop_assert!(prefix.to_string().ends_with('/'));
            }
        }
    }
}
