//! Rules for the texts that are accepted as URLs.
//!
//! A page's identity is the bytes of its URL: nothing is normalised, so `http://a` and `http://a/`
//! are two pages. Only texts that could not be stored, ordered or shown safely are refused.

use std::fmt;

use ::url::Url;

/// The maximum number of bytes of a URL.
pub const URL_BYTES_MAX: usize = 8192;

/// The reason why a text cannot be the URL of a page.
///
/// ```
/// # use simkeep::{Error, Observation, Options, Store, Time, UrlError};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let seen = Observation::gone("https://example.com/\n", Time::now());
/// let refused = store.observe(seen);
/// assert!(matches!(refused, Err(Error::Url(UrlError::Control { offset: 20 }))));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UrlError {
    /// The text is empty.
    Empty,
    /// The text is longer than [`URL_BYTES_MAX`].
    TooLong {
        /// The length of the text in bytes.
        bytes: usize,
    },
    /// The text has a control character: U+0000 to U+001F, or U+007F to U+009F.
    Control {
        /// The byte offset of the first control character.
        offset: usize,
    },
}

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UrlError::Empty => write!(f, "the URL is empty"),
            UrlError::TooLong { bytes } => {
                write!(
                    f,
                    "the URL has {bytes} bytes, but a store accepts at most {URL_BYTES_MAX} bytes"
                )
            }
            UrlError::Control { offset } => write!(
                f,
                "the URL has a control character (such as a tab or a line end) at byte {offset}; \
                 percent-encode the character, or trim the URL"
            ),
        }
    }
}

impl std::error::Error for UrlError {}

/// The reason why a text is not a prefix.
///
/// ```
/// use simkeep::{Prefix, PrefixError};
/// let refused = Prefix::parse("example.com:99999");
/// assert_eq!(refused, Err(PrefixError::Port { port: "99999".into() }));
/// assert_eq!(Prefix::parse("me@example.com"), Err(PrefixError::User));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PrefixError {
    /// The text has neither a host nor, after a scheme without hosts, anything else.
    Empty,
    /// The text is longer than [`URL_BYTES_MAX`].
    TooLong {
        /// The length of the text in bytes.
        bytes: usize,
    },
    /// The text has a control character, and no URL has one.
    Control {
        /// The byte offset of the first control character.
        offset: usize,
    },
    /// The text has an impossible host: one with an empty label, or with a character that no host
    /// has.
    Host {
        /// The impossible host.
        host: String,
    },
    /// The port is above 65,535.
    Port {
        /// The impossible port.
        port: String,
    },
    /// The text has user information (`user@`), and a prefix cannot end there.
    User,
}

impl fmt::Display for PrefixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PrefixError::Empty => write!(f, "the prefix is empty"),
            PrefixError::TooLong { bytes } => {
                write!(
                    f,
                    "the prefix has {bytes} bytes, but a URL has at most {URL_BYTES_MAX} bytes"
                )
            }
            PrefixError::Control { offset } => {
                write!(f, "the prefix has a control character at byte {offset}")
            }
            PrefixError::Host { host } => {
                write!(f, "the prefix begins with {host:?}, which is not a valid host")
            }
            PrefixError::Port { port } => {
                write!(f, "the prefix has the port {port}, but the largest port is 65535")
            }
            PrefixError::User => {
                write!(f, "the prefix has user information (user@) before its host")
            }
        }?;
        write!(
            f,
            "; write example.com (with its subdomains), example.com/ (that host only), \
             example.com:8080/docs (a path), com,example or com,example)/docs (SURT), \
             or urn:isbn or file:///home/x (no host)"
        )
    }
}

impl std::error::Error for PrefixError {}

/// Checks whether a page can have the URL `url`. Takes linear time; about 10 ns for an ordinary
/// URL.
pub(crate) fn check_url(url: &str) -> Result<(), UrlError> {
    if url.is_empty() {
        return Err(UrlError::Empty);
    }
    if url.len() > URL_BYTES_MAX {
        return Err(UrlError::TooLong { bytes: url.len() });
    }
    control(url).map_or(Ok(()), |offset| Err(UrlError::Control { offset }))
}

/// Resolves a reference by the URL of a page or another base, as browsers do (WHATWG URL, "basic URL
/// parser"), and drops its fragment. Without a valid base, the reference must be absolute. `None`
/// for an empty reference, unless the result has the scheme `http` or `https`, and unless reference
/// and result have at most [`URL_BYTES_MAX`] bytes.
pub(crate) fn resolve_web(base: Option<&Url>, reference: &str) -> Option<Url> {
    let reference = reference.trim_ascii();
    if reference.is_empty() || reference.len() > URL_BYTES_MAX {
        return None;
    }
    let mut url = match base {
        Some(base) => base.join(reference),
        None => Url::parse(reference),
    }
    .ok()
    .filter(|url| matches!(url.scheme(), "http" | "https"))?;
    url.set_fragment(None);
    (url.as_str().len() <= URL_BYTES_MAX).then_some(url)
}

/// The byte offset of the first control character.
pub(crate) fn control(text: &str) -> Option<usize> {
    // The loop has no early exit, so that the compiler can process many bytes at a time.
    let printable = text.bytes().fold(true, |all, b| all & (0x20..0x7f).contains(&b));
    if printable {
        return None;
    }
    text.char_indices().find(|(_, c)| c.is_control()).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ordinary_and_odd_urls_are_accepted() {
        for url in ["https://example.com/", "urn:isbn:1", "x", " ", "http://bücher.example/ä?ö#ü"]
        {
            assert_eq!(check_url(url), Ok(()), "{url}");
        }
    }

    #[test]
    fn an_empty_url_is_refused() {
        assert_eq!(check_url(""), Err(UrlError::Empty));
    }

    #[test]
    fn a_url_has_at_most_8192_bytes() {
        assert_eq!(check_url(&"x".repeat(8192)), Ok(()));
        assert_eq!(check_url(&"x".repeat(8193)), Err(UrlError::TooLong { bytes: 8193 }));
        assert_eq!(check_url(&"ä".repeat(4096)), Ok(()));
        let error = check_url(&"x".repeat(2 << 20)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the URL has 2097152 bytes, but a store accepts at most 8192 bytes"
        );
    }

    #[test]
    fn control_characters_are_refused_with_their_offset() {
        for c in ['\0', '\t', '\n', '\r', '\u{1b}', '\u{1f}', '\u{7f}', '\u{80}', '\u{9f}'] {
            assert_eq!(check_url(&format!("ab{c}")), Err(UrlError::Control { offset: 2 }), "{c:?}");
            assert_eq!(
                check_url(&format!("ä{c}{c}")),
                Err(UrlError::Control { offset: 2 }),
                "{c:?}"
            );
        }
        assert_eq!(check_url("a\u{a0}b\u{2028}"), Ok(()));
    }

    proptest! {
        #[test]
        fn url_check_matches_its_definition(url in any::<String>()) {
            let offset = url.char_indices().find(|(_, c)| c.is_control()).map(|(at, _)| at);
            let expected = match offset {
                _ if url.is_empty() => Err(UrlError::Empty),
                Some(offset) => Err(UrlError::Control { offset }),
                None => Ok(()),
            };
            prop_assert_eq!(check_url(&url), expected);
        }
    }
}
