//! The SURT key of a URL: the order of pages, in which a site's pages are neighbours.
//!
//! A key only orders pages and bounds prefixes; pages with equal keys are ordered by the bytes of
//! their URLs. A key consists of a URL's parts, the most significant part first. The parts are
//! separated by control characters, which no URL can contain:
//!
//! | URL | key |
//! |---|---|
//! | with a host | *label* { 02 *label* } 01 \[ *port* \] \[ `@` *userinfo* \] 01 *path* 01 *scheme* |
//! | without | FF *scheme* 01 *rest* |
//!
//! - The labels of a host are in reverse order, so that a domain is followed by its subdomains. An
//!   IP address is one label, not reversed. A dot at the end of the host is dropped.
//! - The port has no leading zeros; the default port (80 for `http`, 443 for `https`) is left out.
//! - The path is the text after the authority, with query and fragment. `/` is encoded as 04, `?`
//!   as 03 and `#` as 02, so a key that continues a path after a boundary comes directly after the
//!   path, before any longer name. An empty path counts as `/`, so `http://a` and `http://a/` have
//!   equal keys.
//! - A URL has a host if it begins with `scheme://` and a byte of authority, and the scheme is not
//!   `file`. Any other URL (`urn:`, `mailto:`, `data:`, `http:///x`, `no scheme at all`) comes
//!   after all hosts. The key of such a URL consists of the scheme and the rest of the text,
//!   encoded in the way of a path. If the rest does not begin with `/`, its parts are separated by
//!   `:`, which is encoded as 05. Without a scheme, the scheme is empty.
//! - Schemes and hosts are in lower case, but only their ASCII letters. A label with any other
//!   character is encoded as `xn--` and the punycode of the unchanged label. Browsers map such
//!   labels to lower case and to a normal form first, but these mappings need tables that change
//!   with each version of Unicode. An order that changes with a table would damage every sorted
//!   file. Crawlers nearly always see hosts in their ASCII form, which has exactly one position.
//!   Labels of more than 63 code points and hosts of more than 1,012 bytes, which cannot exist, are
//!   not encoded: encoding takes quadratic time.
//!
//! So every prefix that ends at a label or at a path boundary is one contiguous range of keys.

use super::punycode;

/// The end of the host, of the port and of the path.
pub(crate) const END: u8 = 0x01;
/// The separator of two labels of a host.
pub(crate) const LABEL: u8 = 0x02;
/// `#` in a path.
pub(crate) const FRAGMENT: u8 = 0x02;
/// `?` in a path.
pub(crate) const QUERY: u8 = 0x03;
/// `/` in a path.
pub(crate) const SLASH: u8 = 0x04;
/// `:` in the rest of a URL without a host that does not begin with `/`.
pub(crate) const COLON: u8 = 0x05;
/// The start of the key of a URL without a host. No host begins with this byte, because it is not
/// UTF-8.
pub(crate) const HOSTLESS: u8 = 0xff;

/// The maximum number of bytes of a host whose labels are encoded. A name has at most 253 bytes
/// once encoded. Every code point has up to 4 bytes, and costs at least one of the 253 bytes.
const ENCODED_HOST_BYTES_MAX: usize = 4 * 253;

/// Appends the key of `url` to `out`.
///
/// Takes time linear in the length of the URL, without an allocation; about 80 ns for an ordinary
/// URL. Any text has a key, which is the same in every version of this crate.
pub(crate) fn key(url: &str, out: &mut Vec<u8>) {
    let (scheme, rest) = split_scheme(url).unwrap_or(("", url));
    let Some((authority, path)) = split_authority(scheme, rest) else {
        out.push(HOSTLESS);
        push_lower(scheme, out);
        out.push(END);
        push_rest(rest, out);
        return;
    };
    let (user, host, port) = split_host(authority);
    push_host(host, out);
    out.push(END);
    if !is_default_port(scheme, port) {
        out.extend_from_slice(port.as_bytes());
    }
    if let Some(user) = user {
        out.push(b'@');
        out.extend_from_slice(user.as_bytes());
    }
    out.push(END);
    push_path(path, out);
    out.push(END);
    push_lower(scheme, out);
}

/// Appends the host of a URL in the form of its key, which is the part before the first 01. For a
/// URL without a host, appends the scheme.
pub(crate) fn host(url: &str, out: &mut Vec<u8>) {
    let (scheme, rest) = split_scheme(url).unwrap_or(("", url));
    match split_authority(scheme, rest) {
        Some((authority, _)) => push_host(split_host(authority).1, out),
        None => {
            out.push(HOSTLESS);
            push_lower(scheme, out);
        }
    }
}

/// The [`host`] of a URL without control characters, from the key of the URL.
pub(crate) fn host_of(key: &[u8]) -> &[u8] {
    key.split(|byte| *byte == END).next().unwrap_or(key)
}

/// The host at the start of a key, with its labels in the usual order; for a URL without a host,
/// its scheme and a colon. The key comes from a URL, so the host is text.
pub(crate) fn host_name(key: &[u8]) -> String {
    let host = host_of(key);
    match host.split_first() {
        Some((&HOSTLESS, scheme)) => format!("{}:", String::from_utf8_lossy(scheme)),
        _ => {
            let labels = host.split(|byte| *byte == LABEL).rev();
            let labels: Vec<_> = labels.map(String::from_utf8_lossy).collect();
            labels.join(".")
        }
    }
}

/// Returns the key of a URL in a new buffer.
pub(crate) fn key_of(url: &str) -> Vec<u8> {
    let mut out = Vec::new();
    key(url, &mut out);
    out
}

/// Splits a text into a scheme and the text after its colon.
pub(crate) fn split_scheme(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let (first, others) = scheme.as_bytes().split_first()?;
    let valid = first.is_ascii_alphabetic()
        && others.iter().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(b));
    valid.then_some((scheme, rest))
}

/// Splits the text after a scheme into the authority and the path; `None` for a URL without a host.
pub(crate) fn split_authority<'a>(scheme: &str, rest: &'a str) -> Option<(&'a str, &'a str)> {
    let rest = rest.strip_prefix("//").filter(|_| !scheme.is_empty())?;
    let (authority, path) = split_path(rest);
    let has_host = !authority.is_empty() && !scheme.eq_ignore_ascii_case("file");
    has_host.then_some((authority, path))
}

/// Splits a text before the first `/`, `?` or `#`.
pub(super) fn split_path(text: &str) -> (&str, &str) {
    let end = text.bytes().position(|b| matches!(b, b'/' | b'?' | b'#')).unwrap_or(text.len());
    text.split_at(end)
}

/// Splits an authority into user information, host and port. The port is digits without leading
/// zeros; any other text after a colon belongs to the host.
pub(crate) fn split_host(authority: &str) -> (Option<&str>, &str, &str) {
    let (user, host) = match split_last(authority, b'@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    match split_last(host, b':') {
        Some((host, port))
            if port.bytes().all(|b| b.is_ascii_digit())
                && (!host.starts_with('[') || host.ends_with(']')) =>
        {
            let digits = port.trim_start_matches('0');
            let port = if digits.is_empty() && !port.is_empty() { "0" } else { digits };
            (user, host, port)
        }
        _ => (user, host, ""),
    }
}

/// Whether the port is the default of the scheme.
pub(crate) fn is_default_port(scheme: &str, port: &str) -> bool {
    match port {
        "80" => scheme.eq_ignore_ascii_case("http"),
        "443" => scheme.eq_ignore_ascii_case("https"),
        _ => false,
    }
}

/// Appends a host: its labels in reverse, or an unchanged IP address.
pub(super) fn push_host(host: &str, out: &mut Vec<u8>) {
    let host = host.strip_suffix('.').unwrap_or(host);
    if is_address(host) {
        return push_lower(host, out);
    }
    let encodable = !host.is_ascii() && host.len() <= ENCODED_HOST_BYTES_MAX;
    let mut rest = host;
    loop {
        let (before, label) = split_last(rest, b'.').map_or((None, rest), |(b, l)| (Some(b), l));
        if encodable && !label.is_ascii() && label.chars().count() <= punycode::CODE_POINTS_MAX {
            out.extend_from_slice(b"xn--");
            punycode::encode(label, out);
        } else {
            push_lower(label, out);
        }
        let Some(before) = before else { return };
        out.push(LABEL);
        rest = before;
    }
}

/// Splits a text at the last occurrence of an ASCII character. Meant for short texts: the standard
/// library's search has a setup cost for long texts.
fn split_last(text: &str, byte: u8) -> Option<(&str, &str)> {
    let at = text.as_bytes().iter().rposition(|other| *other == byte)?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

/// Whether a host is an IP address: `[...]`, or four numbers up to 255. Does not use the standard
/// library, whose definition has changed between versions.
pub(crate) fn is_address(host: &str) -> bool {
    if host.starts_with('[') {
        return host.ends_with(']');
    }
    if !host.starts_with(|c: char| c.is_ascii_digit()) {
        return false;
    }
    let is_number = |part: &str| {
        (1..=3).contains(&part.len())
            && part.bytes().all(|b| b.is_ascii_digit())
            && part.parse::<u8>().is_ok()
    };
    host.split('.').count() == 4 && host.split('.').all(is_number)
}

/// Appends the path of a URL that has a host.
pub(super) fn push_path(path: &str, out: &mut Vec<u8>) {
    if !path.starts_with('/') {
        out.push(SLASH);
    }
    out.extend(path.bytes().map(boundary));
}

/// Appends the text after the scheme of a URL without a host.
pub(super) fn push_rest(rest: &str, out: &mut Vec<u8>) {
    if rest.starts_with('/') {
        out.extend(rest.bytes().map(boundary));
    } else {
        out.extend(rest.bytes().map(|b| if b == b':' { COLON } else { boundary(b) }));
    }
}

fn boundary(byte: u8) -> u8 {
    match byte {
        b'#' => FRAGMENT,
        b'?' => QUERY,
        b'/' => SLASH,
        _ => byte,
    }
}

/// Appends text with its ASCII letters in lower case.
pub(super) fn push_lower(text: &str, out: &mut Vec<u8>) {
    out.extend(text.bytes().map(|b| b.to_ascii_lowercase()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key_of(url: &str) -> Vec<u8> {
        let mut out = Vec::new();
        key(url, &mut out);
        out
    }

    /// A key with its control bytes shown as digits in angle brackets.
    fn shown(url: &str) -> String {
        let key = key_of(url);
        let (mark, text) = match key.split_first() {
            Some((&HOSTLESS, rest)) => ("<ff>", rest),
            _ => ("", key.as_slice()),
        };
        let mut shown = mark.to_owned();
        for c in std::str::from_utf8(text).unwrap().chars() {
            match c {
                '\0'..='\x1f' => shown.push_str(&format!("<{}>", u32::from(c))),
                _ => shown.push(c),
            }
        }
        shown
    }

    proptest! {
        #[test]
        fn key_begins_with_the_host(url in "([a-z]{1,4}:)?(//)?([a-z@:0-9]{0,4}[.]?){0,3}(/.{0,5})?") {
            let mut found = Vec::new();
            host(&url, &mut found);
            let key = key_of(&url);
            prop_assert_eq!(found.as_slice(), host_of(&key));
        }
    }

    #[test]
    fn keys_have_the_documented_bytes() {
        for (url, key) in [
            (
                "https://www.example.com/a/b?q=1#f",
                "com<2>example<2>www<1><1><4>a<4>b<3>q=1<2>f<1>https",
            ),
            ("HTTP://Example.COM./", "com<2>example<1><1><4><1>http"),
            ("http://example.com", "com<2>example<1><1><4><1>http"),
            ("http://example.com?q", "com<2>example<1><1><4><3>q<1>http"),
            ("http://example.com:80/", "com<2>example<1><1><4><1>http"),
            ("https://example.com:80/", "com<2>example<1>80<1><4><1>https"),
            ("https://example.com:00443/", "com<2>example<1><1><4><1>https"),
            ("http://example.com:/", "com<2>example<1><1><4><1>http"),
            ("http://example.com:000/", "com<2>example<1>0<1><4><1>http"),
            ("http://u:p@x@h:8080/A", "h<1>8080@u:p@x<1><4>A<1>http"),
            ("ftp://u@h/", "h<1>@u<1><4><1>ftp"),
            ("http://127.0.0.1:8080/x", "127.0.0.1<1>8080<1><4>x<1>http"),
            ("http://127.0.0.1./", "127.0.0.1<1><1><4><1>http"),
            ("http://127.0.0.256/", "256<2>0<2>0<2>127<1><1><4><1>http"),
            ("http://127.1/", "1<2>127<1><1><4><1>http"),
            ("http://[2001:DB8::1]/", "[2001:db8::1]<1><1><4><1>http"),
            ("http://[::ffff:1.2.3.4]:81/", "[::ffff:1.2.3.4]<1>81<1><4><1>http"),
            ("http://Bücher.example/", "example<2>xn--bcher-kva<1><1><4><1>http"),
            ("http://xn--bcher-kva.example/", "example<2>xn--bcher-kva<1><1><4><1>http"),
            ("http://BÜCHER.example/", "example<2>xn--bcher-2pa<1><1><4><1>http"),
            ("urn:isbn:0451450523", "<ff>urn<1>isbn<5>0451450523"),
            ("URN:ISBN:1", "<ff>urn<1>ISBN<5>1"),
            ("file:///home/a:b", "<ff>file<1><4><4><4>home<4>a:b"),
            ("file://server/share", "<ff>file<1><4><4>server<4>share"),
            ("mailto:a@b.example", "<ff>mailto<1>a@b.example"),
            ("data:text/html,x", "<ff>data<1>text<4>html,x"),
        ] {
            assert_eq!(shown(url), key, "{url}");
        }
    }

    #[test]
    fn host_is_shown_in_its_usual_form() {
        for (url, expected) in [
            ("https://docs.Example.com:8080/a?b", "docs.example.com"),
            ("http://127.0.0.1/", "127.0.0.1"),
            ("http://[::1]/", "[::1]"),
            ("file:///home/x", "file:"),
            ("urn:isbn:1", "urn:"),
        ] {
            assert_eq!(host_name(&key_of(url)), expected, "{url}");
        }
    }

    #[test]
    fn malformed_urls_have_keys_too() {
        for (url, key) in [
            ("", "<ff><1>"),
            ("no scheme at all", "<ff><1>no scheme at all"),
            ("example.com/x", "<ff><1>example.com<4>x"),
            ("//example.com/x", "<ff><1><4><4>example.com<4>x"),
            ("://x", "<ff><1><5><4><4>x"),
            ("1http://x/", "<ff><1>1http<5><4><4>x<4>"),
            ("http:///x", "<ff>http<1><4><4><4>x"),
            ("http:", "<ff>http<1>"),
            ("http://", "<ff>http<1><4><4>"),
            ("http://:80/", "<1><1><4><1>http"),
            ("http://./", "<1><1><4><1>http"),
            ("http://@/", "<1>@<1><4><1>http"),
            ("http://a..b./", "b<2><2>a<1><1><4><1>http"),
            ("http://a:b:c/", "a:b:c<1><1><4><1>http"),
            ("http://[::1/", "[::1<1><1><4><1>http"),
            ("http://[::1]x/", "[::1]x<1><1><4><1>http"),
            ("http://[]:1:2/", "[]:1:2<1><1><4><1>http"),
        ] {
            assert_eq!(shown(url), key, "{url}");
        }
    }

    #[test]
    fn invalid_labels_and_hosts_stay_unchanged() {
        let long = "é".repeat(64);
        assert_eq!(shown(&format!("http://{long}/")), format!("{long}<1><1><4><1>http"));
        let nonsense = "\u{10ffff}\u{80}.".repeat(200);
        let shown = shown(&format!("http://{nonsense}/"));
        assert!(shown.starts_with("\u{10ffff}\u{80}<2>\u{10ffff}"), "{shown}");
    }

    /// The order of pages, as a list that must never change.
    #[test]
    fn pages_are_in_surt_order() {
        let ordered = [
            "http://127.0.0.1/",
            "http://127.0.0.1:8080/",
            "http://[::1]/",
            "https://example.com.au/",
            "http://com/",
            "http://example.com",
            "http://example.com/",
            "https://example.com/",
            "https://example.com/#top",
            "https://example.com/?q=1",
            "http://example.com//",
            "http://example.com/docs",
            "https://example.com/docs",
            "https://example.com/docs#a",
            "https://example.com/docs?page=2",
            "https://example.com/docs/",
            "https://example.com/docs/?a",
            "https://example.com/docs/intro",
            "https://example.com/docs-old",
            "https://example.com/docs.html",
            "https://example.com/docs0",
            "https://example.com:8080/",
            "https://example.com:8080/z",
            "https://user@example.com/a",
            "https://a.example.com/",
            "https://b.a.example.com/",
            "https://b.example.com/",
            "https://www.example.com/",
            "https://xn--bcher-kva.example.com/",
            "https://example-2.com/",
            "https://example0.com/",
            "https://example.de/",
            "https://xn--fiqs8s/",
            "relative/path",
            "data:text/plain,x",
            "file:///home/a",
            "file:///home/a/b",
            "file:///home/ab",
            "mailto:someone@example.com",
            "urn:isbn",
            "urn:isbn:1",
            "urn:isbn-13:1",
            "urn:uuid:2",
        ];
        let mut sorted = ordered;
        sorted.reverse();
        sorted.sort_by_cached_key(|url| (key_of(url), url.as_bytes()));
        assert_eq!(sorted, ordered);
    }

    /// URLs made of few names, so that two URLs often share some part.
    fn urls() -> impl Strategy<Value = (String, String)> {
        let host = "(a|b|a-b|a\\.b|c\\.a\\.b|b\\.a|a\\.b-c|ä\\.b|1\\.2\\.3\\.4|\\[::1\\])";
        let rest = "(:8080|:81)?(/|/a|/a-|/ab|/b)(/|/a|/a0|)(\\?|\\?a/b|\\?b|)(#|#a|)";
        (host, rest).prop_map(|(host, rest)| (host.clone(), format!("{host}{rest}")))
    }

    proptest! {
        #[test]
        fn pages_of_a_host_are_adjacent_across_schemes(pages in prop::collection::vec(urls(), 1..40)) {
            let mut all: Vec<(Vec<u8>, String, String)> = Vec::new();
            for (host, page) in pages {
                for scheme in ["http", "https"] {
                    let url = format!("{scheme}://{page}");
                    all.push((key_of(&url), page.clone(), host.clone()));
                }
            }
            all.sort();
            all.dedup();
            let mut hosts: Vec<&str> = all.iter().map(|(_, _, host)| host.as_str()).collect();
            hosts.dedup();
            let runs = hosts.len();
            hosts.sort_unstable();
            hosts.dedup();
            prop_assert_eq!(runs, hosts.len(), "a host in two places");
            for pair in all.chunks(2) {
                prop_assert_eq!(&pair[0].1, &pair[1].1, "schemes apart");
            }
        }

        #[test]
        fn key_does_not_depend_on_the_buffer(url in any::<String>()) {
            let mut out = b"before".to_vec();
            key(&url, &mut out);
            prop_assert_eq!(&out[6..], key_of(&url));
        }

        #[test]
        fn any_text_has_a_key(url in "(http:)?(//)?[\\PC@:./?#\\[\\]]{0,40}") {
            prop_assert!(!key_of(&url).is_empty());
        }

        #[test]
        fn lower_case_hosts_have_the_key_of_the_page(host in "[A-Za-z]{1,5}\\.[A-Z]{2}", path in "/[A-Za-z]{0,5}") {
            prop_assert_eq!(
                key_of(&format!("http://{host}{path}")),
                key_of(&format!("HTTP://{}{path}", host.to_ascii_lowercase()))
            );
        }
    }
}
