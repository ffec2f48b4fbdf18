//! Hosts, parsed as browsers parse them (URL Standard, 3.5, host parsing).
//!
//! The order of pages does not use this module: the order depends only on the bytes of a URL, not
//! on Unicode tables. This module parses typed text: prefixes, and URLs that may be spellings of
//! each other.

use std::borrow::Cow;

use url::Host;

/// Normalizes a host as browsers do: lower case, other characters by IDNA (UTS 46), `%61` decoded,
/// numbers like `0x7f.1` as an address of four parts, IPv6 in its shortest form.
///
/// Borrows the host if at most the case of ASCII letters can change. `None` if browsers reject the
/// host. Takes time linear in the length of the host, except for labels of up to 1,000 characters
/// that are not all ASCII.
pub(crate) fn normalize(host: &str) -> Option<Cow<'_, str>> {
    if is_plain(host) {
        return Some(Cow::Borrowed(host));
    }
    Some(Cow::Owned(Host::parse(host).ok()?.to_string()))
}

/// Whether all labels of a host are plain: ASCII letters, digits, `-` and `_`, with no encoded
/// label, and with a last label that is certainly no number.
fn is_plain(host: &str) -> bool {
    let name = host.strip_suffix('.').unwrap_or(host);
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let last = name.rsplit('.').next().unwrap_or_default();
    host.bytes().all(is_letter)
        && !last.starts_with(|c: char| c.is_ascii_digit())
        && !name.split('.').any(is_encoded)
}

/// Whether a label is in punycode.
fn is_encoded(label: &str) -> bool {
    label.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("xn--"))
}

/// Whether browsers parse the URLs of a scheme by the rules of `http`, in which `\` is equivalent
/// to `/` (URL Standard, 4.2).
pub(crate) fn is_special(scheme: &str) -> bool {
    ["http", "https", "ws", "wss", "ftp"].iter().any(|known| scheme.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Samples of the URL Standard and of UTS 46.
    #[test]
    fn host_is_parsed_as_in_browsers() {
        for (host, expected) in [
            ("Example.com", Some("Example.com")),
            ("a_b.example.", Some("a_b.example.")),
            ("B\u{dc}CHER.example", Some("xn--bcher-kva.example")),
            ("xn--BCHER-kva.example", Some("xn--bcher-kva.example")),
            ("bu\u{308}cher.example", Some("xn--bcher-kva.example")),
            ("\u{ff45}xample\u{3002}com", Some("example.com")),
            ("example\u{ff0e}com\u{ff61}", Some("example.com.")),
            ("fa\u{df}.example", Some("xn--fa-hia.example")),
            ("ex%61mple.com", Some("example.com")),
            ("b%C3%BCcher.example", Some("xn--bcher-kva.example")),
            ("soft\u{ad}.example", Some("soft.example")),
            ("127.1", Some("127.0.0.1")),
            ("0x7f.1", Some("127.0.0.1")),
            ("0177.0.0.01", Some("127.0.0.1")),
            ("2130706433", Some("127.0.0.1")),
            ("127.0.0.1.", Some("127.0.0.1")),
            ("\u{ff11}27.0.0.1", Some("127.0.0.1")),
            ("[2001:DB8:0:0:0:0:0:1]", Some("[2001:db8::1]")),
            ("[::ffff:1.2.3.4]", Some("[::ffff:102:304]")),
            ("1.2.3.256", None),
            ("1.2.3.4.5", None),
            ("[::1", None),
            ("a b", None),
            ("a:b", None),
            ("a%", None),
            ("xn--a.example", None),
        ] {
            assert_eq!(normalize(host).as_deref(), expected, "{host}");
        }
    }

    proptest! {
        #[test]
        fn host_parsing_is_idempotent(host in "[a-zA-Z0-9.%xX\\-\u{e9}\u{dc}\u{3002}]{0,20}|\\PC{0,12}") {
            if let Some(once) = normalize(&host) {
                let again = normalize(&once).map(Cow::into_owned);
                prop_assert_eq!(again, Some(once.into_owned()));
            }
        }

        #[test]
        fn plain_hosts_match_the_url_crate(host in "[a-zA-Z_-]{1,3}(\\.[a-z0-9]{1,3}){0,3}") {
            if is_plain(&host) && !host.is_empty() {
                let read = Host::parse(&host).ok();
                prop_assert_eq!(read, Some(Host::Domain(host.to_ascii_lowercase())));
            }
        }
    }
}
