//! The host of a page.

/// The host of a URL in lower case, without user and port; for a URL without a host, the scheme.
pub(crate) fn host(url: &str) -> String {
    let (scheme, rest) = url.split_once(':').unwrap_or((url, ""));
    let authority = rest.strip_prefix("//").and_then(|rest| rest.split(['/', '?', '#']).next());
    let authority = authority.filter(|authority| !authority.is_empty());
    let Some(authority) = authority.filter(|_| !scheme.eq_ignore_ascii_case("file")) else {
        return format!("{scheme}:").to_ascii_lowercase();
    };
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_is_shown_without_user_and_port() {
        for (url, expected) in [
            ("https://Example.com/a:b@c", "example.com"),
            ("http://me:x@example.com:8080?q", "example.com"),
            ("https://[::1]:80/", "[::1]"),
            ("https://[::1]", "[::1]"),
            ("https://example.com.", "example.com"),
            ("https://example.com:x/", "example.com:x"),
            ("file:///home/x", "file:"),
            ("urn:isbn:1", "urn:"),
            ("x", "x:"),
        ] {
            assert_eq!(host(url), expected);
        }
    }
}
