//! The parts of a URL that rules change.

use std::borrow::Cow;

use crate::page::surt::{split_authority, split_host, split_scheme};

/// The parts of a URL with a host; their concatenation is the URL.
#[derive(Clone, Debug)]
pub(super) struct UrlParts<'u> {
    pub(super) scheme: Cow<'u, str>,
    /// The user information before the host, with its `@`.
    pub(super) user: &'u str,
    pub(super) host: Cow<'u, str>,
    /// The port after the host, with its `:`.
    pub(super) port: &'u str,
    pub(super) path: Cow<'u, str>,
    pub(super) query: Option<Cow<'u, str>>,
    pub(super) fragment: Option<&'u str>,
}

impl<'u> UrlParts<'u> {
    /// Splits a URL; `None` without a host.
    pub(super) fn of(url: &'u str) -> Option<UrlParts<'u>> {
        let (scheme, rest) = split_scheme(url)?;
        let (authority, rest) = split_authority(scheme, rest)?;
        let (user, host, _) = split_host(authority);
        if host.is_empty() {
            return None;
        }
        let (user, behind) = authority.split_at(user.map_or(0, |user| user.len() + 1));
        let (host, port) = behind.split_at(host.len());
        let (rest, fragment) = match rest.split_once('#') {
            Some((rest, fragment)) => (rest, Some(fragment)),
            None => (rest, None),
        };
        let (path, query) = match rest.split_once('?') {
            Some((path, query)) => (path, Some(Cow::Borrowed(query))),
            None => (rest, None),
        };
        let [scheme, host, path] = [scheme, host, path].map(Cow::Borrowed);
        Some(UrlParts { scheme, user, host, port, path, query, fragment })
    }

    /// Appends the URL to a text.
    pub(super) fn write(&self, out: &mut String) {
        out.extend([&*self.scheme, "://", self.user, &*self.host, self.port, &*self.path]);
        if let Some(query) = &self.query {
            out.extend(["?", query]);
        }
        if let Some(fragment) = self.fragment {
            out.extend(["#", fragment]);
        }
    }

    /// The last segment of the path; empty if the path ends with a slash.
    pub(super) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// The parameters as written in the URL.
    pub(super) fn written(&self) -> impl Iterator<Item = &str> {
        self.query.iter().flat_map(|query| query.split('&'))
    }

    /// The names of the parameters, with repetitions.
    pub(super) fn parameters(&self) -> impl Iterator<Item = &str> {
        self.written().map(parameter)
    }
}

/// The name of a parameter as written in a URL.
pub(super) fn parameter(written: &str) -> &str {
    written.split('=').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn parts_of_a_url_join_to_the_url(
            url in "(https?|ftp)://(u(:p)?@)?(a\\.b|\\[::1\\]|é\\.C\\.)(:|:080)?(/[a/?#&=é]{0,9})?",
        ) {
            let mut written = String::new();
            UrlParts::of(&url).unwrap().write(&mut written);
            prop_assert_eq!(written, url);
        }
    }

    #[test]
    fn url_without_a_host_has_no_parts() {
        for url in ["urn:a:b", "file:///a", "http:///a", "a/b", "", "mailto:a@b.example"] {
            assert!(UrlParts::of(url).is_none(), "{url}");
        }
    }

    #[test]
    fn question_mark_in_a_fragment_begins_no_query() {
        let address = UrlParts::of("http://a/b#c?d").unwrap();
        assert_eq!((address.query, address.fragment), (None, Some("c?d")));
    }
}
