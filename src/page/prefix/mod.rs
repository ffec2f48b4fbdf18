//! A prefix: a domain, a host, a folder of a site, a branch of a scheme.
//!
//! Every prefix is one contiguous range of SURT keys, because a prefix ends at a boundary: of a
//! label, of a port or of a path. A prefix is stored as the common start of its pages' keys. The
//! form of the start determines the end of the range.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use super::host;
use super::surt::{self, COLON, END, FRAGMENT, HOSTLESS, LABEL, QUERY, SLASH};
use crate::url::{PrefixError, URL_BYTES_MAX, control};
pub(crate) use user_info::UserInfoPages;

/// A set of pages, defined by the start of their URLs.
///
/// | text | pages |
/// |---|---|
/// | `example.com` | the domain and all its subdomains, any port |
/// | `example.com/` | that host only, at the default port |
/// | `example.com:8080` | that host only, at that port |
/// | `example.com/docs` | `/docs`, `/docs/...`, `/docs?...` and `/docs#...`, but not `/docs-old` |
/// | `example.com/docs/` | what is below `/docs/`, and itself |
/// | `com,example` or `(com,example,` | as `example.com` |
/// | `com,example)/docs` or `(com,example,)/docs` | as `example.com/docs` |
/// | `urn:isbn` | `urn:isbn` and `urn:isbn:...`, but not `urn:isbn-13` |
/// | `file:///home/x` | that file, or that folder and all in it |
///
/// A prefix covers every scheme that has hosts. A scheme like `https://` in front of a prefix does
/// not limit it, because a page's `http` and `https` variants are neighbours. The scheme only
/// selects the default port; without a scheme, both 80 and 443 are default ports. Schemes are
/// compared without regard to ASCII case, paths exactly. An IP address has no subdomains.
///
/// A host is parsed as browsers parse it (URL Standard, 3.5): `BÜCHER。example` is
/// `xn--bcher-kva.example`, `0x7f.1` is `127.0.0.1`, and in `example.com\\docs` a path begins. A
/// host in SURT form is not normalized. So it covers pages whose host browsers would normalize:
/// `1,127)/` covers `http://127.1/`.
///
/// URLs with user information (`http://user@host/path`) are covered by their domain, but not by a
/// host or a path. Only [`Store::forget`](crate::Store::forget) and
/// [`Store::purge`](crate::Store::purge) include URLs with user information.
///
/// ```
/// use simkeep::Prefix;
/// let prefix = Prefix::parse("https://Example.com/docs")?;
/// assert_eq!(prefix.to_string(), "example.com/docs");
/// assert_eq!(prefix, "(com,example,)/docs".parse()?);
/// # Ok::<(), simkeep::PrefixError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Prefix {
    /// The common start of its pages' keys, which is also the least possible key of a page under
    /// the prefix.
    start: Vec<u8>,
    /// The least key after all keys under the prefix.
    end: Vec<u8>,
}

impl FromStr for Prefix {
    type Err = PrefixError;

    fn from_str(text: &str) -> Result<Prefix, PrefixError> {
        Prefix::parse(text)
    }
}

impl Prefix {
    /// Parses a prefix in any of the forms above.
    ///
    /// ```
    /// use simkeep::{Prefix, PrefixError};
    /// assert_eq!(Prefix::parse("Example.com/docs/")?.to_string(), "example.com/docs/");
    /// assert_eq!(Prefix::parse("example..com"), Err(PrefixError::Host { host: "example..com".into() }));
    /// # Ok::<(), PrefixError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A text in any other form is a [`PrefixError`], whose message lists the forms.
    pub fn parse(text: &str) -> Result<Prefix, PrefixError> {
        Prefix::parse_with(text, host::normalize)
    }

    /// Returns the prefix for the host exactly as typed, if [`Prefix::parse`] normalizes the host.
    ///
    /// `http://127.1/x` is a different page from `http://127.0.0.1/x`. The prefix `127.1/x` does
    /// not cover `http://127.1/x`, because the prefix is parsed as `127.0.0.1/x`. To cover the
    /// pages with the literal host of the text, for example to forget them, use both prefixes.
    /// `None` if nothing is normalized, or if the text names no pages.
    ///
    /// ```
    /// use simkeep::Prefix;
    /// assert_eq!(Prefix::parse("127.1/x")?.to_string(), "127.0.0.1/x");
    /// assert_eq!(Prefix::as_typed("127.1/x").unwrap().to_string(), "(1,127)/x");
    /// assert_eq!(Prefix::as_typed("Example.com/x"), None);
    /// # Ok::<(), simkeep::PrefixError>(())
    /// ```
    pub fn as_typed(text: &str) -> Option<Prefix> {
        let typed = Prefix::parse_with(text, |host| Some(host.into())).ok()?;
        Some(typed).filter(|typed| Prefix::parse(text).is_ok_and(|read| read != *typed))
    }

    #[expect(clippy::expect_used, reason = "a key is built in the shape that is checked")]
    fn parse_with(
        text: &str,
        read: impl FnOnce(&str) -> Option<Cow<'_, str>>,
    ) -> Result<Prefix, PrefixError> {
        if text.len() > URL_BYTES_MAX {
            return Err(PrefixError::TooLong { bytes: text.len() });
        }
        if let Some(offset) = control(text) {
            return Err(PrefixError::Control { offset });
        }
        let start = match surt::split_scheme(text) {
            Some((scheme, rest)) if !is_port(rest) => match after_slashes(scheme, rest) {
                Some(text) => start_with_host(scheme, text, read)?,
                None => start_without_host(scheme, rest)?,
            },
            _ => start_with_host("", text, read)?,
        };
        Ok(Prefix::from_start(start).expect("the built key has the shape of a prefix"))
    }

    /// The bytes to store; [`Prefix::from_bytes`] restores the prefix.
    pub(crate) fn to_bytes(&self) -> &[u8] {
        &self.start
    }

    /// Restores a prefix from [`Prefix::to_bytes`]; `None` if no prefix has these bytes.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Prefix> {
        Prefix::from_start(bytes.to_vec())
    }

    /// Checks the form of a key and computes the end of the range that begins with the key.
    fn from_start(start: Vec<u8>) -> Option<Prefix> {
        let parts = PrefixParts::of(&start)?;
        let past = parts.last_boundary() + 1;
        let mut end = start.clone();
        match end.last_mut() {
            // The pages of the domain (01) and its subdomains (02).
            Some(byte) if matches!(parts, PrefixParts::Domain { .. }) => *byte = past,
            // All keys that continue after the boundary.
            Some(byte) if *byte < past => *byte += 1,
            // The name itself, and all keys that continue with a boundary.
            _ => end.push(past),
        }
        Some(Prefix { start, end })
    }

    /// The range of the prefix's keys: the first key, and the first key past the end.
    pub(crate) fn range(&self) -> (&[u8], &[u8]) {
        (&self.start, &self.end)
    }

    /// Whether the prefix contains all pages under `other`. If neither prefix covers the other,
    /// they have no page in common.
    pub(crate) fn covers(&self, other: &Prefix) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// Whether the page with a key is under the prefix.
    pub(crate) fn contains(&self, key: &[u8]) -> bool {
        let (start, end) = self.range();
        start <= key && key < end
    }
}

impl fmt::Display for Prefix {
    /// Formats as the shortest text that [`Prefix::parse`] parses as this prefix.
    #[expect(clippy::expect_used, reason = "the parts of a prefix are found when it is made")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        PrefixParts::of(&self.start).expect("a prefix has a valid shape").fmt(f)
    }
}

/// The parts of the key at the start of a prefix.
#[derive(Clone, Copy)]
enum PrefixParts<'a> {
    /// *labels* 01
    Domain { labels: &'a str },
    /// *labels* 01 *port* 01 *path*
    Path { labels: &'a str, port: &'a str, path: &'a str },
    /// FF *scheme* 01 *rest*
    Rest { scheme: &'a str, rest: &'a str },
}

impl<'a> PrefixParts<'a> {
    /// Splits a key into parts; `None` unless the parts have the form that [`Prefix::parse`]
    /// produces.
    fn of(start: &'a [u8]) -> Option<PrefixParts<'a>> {
        let text = |bytes| std::str::from_utf8(bytes).ok();
        // No byte of a part may end the part, or look like a boundary.
        let is_plain =
            |part: &str, last: u8| part.bytes().all(|b| b > END && (b <= last || b >= 0x20));
        if let Some((&HOSTLESS, start)) = start.split_first() {
            let (scheme, rest) = text(start)?.split_once(char::from(END))?;
            let parts = PrefixParts::Rest { scheme, rest };
            let valid = !scheme.is_empty()
                && is_plain(scheme, 0)
                && !rest.is_empty()
                && is_plain(rest, parts.last_boundary());
            return valid.then_some(parts);
        }
        let (labels, rest) = text(start)?.split_once(char::from(END))?;
        let is_label = |label: &str| !label.is_empty() && is_plain(label, 0);
        if !labels.split(char::from(LABEL)).all(is_label) {
            return None;
        }
        if rest.is_empty() {
            return Some(PrefixParts::Domain { labels });
        }
        let (port, path) = rest.split_once(char::from(END))?;
        let valid = port.bytes().all(|b| b.is_ascii_digit())
            && path.starts_with(char::from(SLASH))
            && is_plain(path, SLASH);
        valid.then_some(PrefixParts::Path { labels, port, path })
    }

    /// The greatest boundary byte in the last part.
    fn last_boundary(&self) -> u8 {
        match self {
            PrefixParts::Domain { .. } => LABEL,
            PrefixParts::Path { .. } => SLASH,
            PrefixParts::Rest { rest, .. } if rest.starts_with(char::from(SLASH)) => SLASH,
            PrefixParts::Rest { .. } => COLON,
        }
    }
}

impl fmt::Display for PrefixParts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = |f: &mut fmt::Formatter<'_>, path: &str| {
            path.chars().try_for_each(|c| {
                fmt::Write::write_char(
                    f,
                    match u8::try_from(c) {
                        Ok(FRAGMENT) => '#',
                        Ok(QUERY) => '?',
                        Ok(SLASH) => '/',
                        Ok(COLON) => ':',
                        _ => c,
                    },
                )
            })
        };
        match *self {
            PrefixParts::Domain { labels } => match plain_host(labels) {
                Some(host) => f.write_str(&host),
                None => f.write_str(&surt_host(labels)),
            },
            PrefixParts::Path { labels, port, path: text } => {
                let host = plain_host(labels);
                // A port that would be dropped as a default port needs the other scheme in front.
                match port {
                    "80" => f.write_str("https://")?,
                    "443" => f.write_str("http://")?,
                    _ => {}
                }
                let (name, end) = match &host {
                    Some(host) => (host.clone(), ""),
                    None => (surt_host(labels), ")"),
                };
                let colon = if port.is_empty() { "" } else { ":" };
                write!(f, "{name}{colon}{port}{end}")?;
                path(f, text)
            }
            PrefixParts::Rest { scheme, rest } => {
                write!(f, "{scheme}:")?;
                path(f, rest)
            }
        }
    }
}

/// Formats the labels as a host; `None` if [`Prefix::parse`] would normalize the formatted host to
/// another host.
fn plain_host(labels: &str) -> Option<String> {
    let host: Vec<&str> = labels.rsplit(char::from(LABEL)).collect();
    let host = host.join(".");
    let is_read = host::normalize(&host).is_none_or(|read| read == host);
    (is_read && !host.contains('\\')).then_some(host)
}

/// Formats the labels as a host in SURT form.
fn surt_host(labels: &str) -> String {
    format!("({}", labels.replace(char::from(LABEL), ","))
}

/// Whether the text after a colon is a port, so that a host precedes it: `localhost:8080/x`.
fn is_port(rest: &str) -> bool {
    let (port, _) = surt::split_path(rest);
    (1..=5).contains(&port.len()) && port.bytes().all(|b| b.is_ascii_digit())
}

/// The text after the two slashes before a host; `None` if there is no host.
fn after_slashes<'t>(scheme: &str, rest: &'t str) -> Option<&'t str> {
    let slashes: &[char] = if host::is_special(scheme) { &['/', '\\'] } else { &['/'] };
    let text = rest.strip_prefix(slashes)?.strip_prefix(slashes)?;
    let has_host =
        !text.starts_with(['/', '?', '#']) && !text.starts_with(slashes) && !text.is_empty();
    (has_host && !scheme.eq_ignore_ascii_case("file")).then_some(text)
}

/// Splits the text of a prefix into its authority and the rest, and returns whether the text is in
/// SURT form. In any other form the authority also ends at a `\`, if the scheme treats `\` as a
/// slash.
fn split_authority<'t>(scheme: &str, text: &'t str) -> (&'t str, &'t str, bool) {
    let (authority, path) = surt::split_path(text);
    let is_special = scheme.is_empty() || host::is_special(scheme);
    let end = authority.find('\\').filter(|_| is_special).unwrap_or(authority.len());
    let (before, after) = text.split_at(end);
    if before.starts_with('(') || before.contains([',', ')']) {
        return (authority, path, true);
    }
    (before, after, false)
}

/// The start of keys for `file:///x` or `urn:isbn`.
fn start_without_host(scheme: &str, rest: &str) -> Result<Vec<u8>, PrefixError> {
    if matches!(rest, "" | "/" | "//") {
        return Err(PrefixError::Empty);
    }
    let mut start = vec![HOSTLESS];
    surt::push_lower(scheme, &mut start);
    start.push(END);
    surt::push_rest(rest, &mut start);
    Ok(start)
}

/// The start of keys for `example.com`, `example.com:8080/docs`, or one of the SURT forms.
fn start_with_host(
    scheme: &str,
    text: &str,
    read: impl FnOnce(&str) -> Option<Cow<'_, str>>,
) -> Result<Vec<u8>, PrefixError> {
    let (authority, path, is_surt) = split_authority(scheme, text);
    if authority.is_empty() {
        return Err(PrefixError::Empty);
    }
    if authority.contains('@') {
        return Err(PrefixError::User);
    }
    let unreversed;
    let (authority, closed) = if is_surt {
        let (host, closed) = unreverse(authority)?;
        unreversed = host;
        (unreversed.as_str(), closed)
    } else {
        (authority, false)
    };
    let (_, host, port) = surt::split_host(authority);
    let host = if is_surt { Some(host.into()) } else { read(host) }.unwrap_or(host.into());
    let host = host.strip_suffix('.').unwrap_or(&host);
    let odd = |c: char| matches!(c, ' ' | '*' | '(' | ')' | ',' | ':' | '[' | ']');
    let is_label = |label: &str| !label.is_empty() && !label.contains(odd);
    if !surt::is_address(host) && !host.split('.').all(is_label) {
        return Err(PrefixError::Host { host: host.to_owned() });
    }
    let mut start = Vec::with_capacity(text.len() + 4);
    surt::push_host(host, &mut start);
    start.push(END);
    if path.is_empty() && port.is_empty() && !closed {
        return Ok(start);
    }
    let default = match scheme {
        "" => matches!(port, "80" | "443"),
        _ => surt::is_default_port(scheme, port),
    };
    if !port.is_empty() && !default {
        port.parse::<u16>().map_err(|_| PrefixError::Port { port: port.to_owned() })?;
        start.extend_from_slice(port.as_bytes());
    }
    start.push(END);
    match path.strip_prefix('\\') {
        Some(path) => surt::push_path(&format!("/{path}"), &mut start),
        None => surt::push_path(path, &mut start),
    }
    Ok(start)
}

/// Converts `(com,example,www:8080)` to `www.example.com:8080`, and returns whether a `)` ends the
/// text.
#[expect(clippy::expect_used, reason = "without a user the host comes first")]
fn unreverse(authority: &str) -> Result<(String, bool), PrefixError> {
    let text = authority.strip_prefix('(').unwrap_or(authority);
    let (text, closed) = match text.strip_suffix(')') {
        Some(text) => (text, true),
        None => (text, false),
    };
    let (_, host, _) = surt::split_host(text);
    if surt::is_address(host) {
        return Ok((text.to_owned(), closed));
    }
    let port = text.strip_prefix(host).expect("an authority begins with its host");
    let mut labels: Vec<&str> = host.strip_suffix(',').unwrap_or(host).split(',').collect();
    // A dot would divide a label; the rest is checked as in any host.
    if labels.iter().any(|label| label.contains('.')) {
        return Err(PrefixError::Host { host: authority.to_owned() });
    }
    labels.reverse();
    Ok((labels.join(".") + port, closed))
}

#[cfg(test)]
mod tests;
mod user_info;
