//! The URL to which a page points: the target of a redirect, or the canonical URL of the page.

use ::url::Url;

use crate::url::{URL_BYTES_MAX, resolve_web};

/// The URL to which a page points, relative to the URL of the page.
///
/// Only the end in which both URLs differ is kept, so a target in the same directory takes a few
/// bytes. [`resolve`](Target::resolve) returns the whole URL.
///
/// ```
/// use simkeep::Target;
/// let page = "https://example.com/shoes?color=red";
/// let target = Target::new(page, "/shoes#top").unwrap();
/// assert_eq!(target.resolve(page).as_deref(), Some("https://example.com/shoes"));
/// assert_eq!(Target::new(page, page), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Target {
    /// The number of bytes that the target shares with the URL of the page.
    shared: u16,
    /// The bytes of the target after the shared bytes.
    rest: Box<str>,
}

impl Target {
    /// Creates the target of a page from a reference, which may be relative to the page.
    ///
    /// The reference is parsed as browsers do (WHATWG URL, "basic URL parser"), and its fragment is
    /// dropped. Returns `None` if the reference has more than
    /// [`URL_BYTES_MAX`](crate::URL_BYTES_MAX) bytes, is not a URL with the scheme `http` or
    /// `https`, or is the URL of the page itself.
    ///
    /// ```
    /// use simkeep::Target;
    /// let page = "https://example.com/a/b";
    /// assert_eq!(Target::new(page, "c").unwrap().resolve(page).unwrap(), "https://example.com/a/c");
    /// assert_eq!(Target::new(page, "mailto:me@example.com"), None);
    /// assert_eq!(Target::new(page, "HTTPS://example.com:443/a/b"), None);
    /// ```
    pub fn new(page: &str, reference: &str) -> Option<Target> {
        // Most canonical URLs are the page's own URL. They need not be parsed.
        if reference.trim_ascii() == page {
            return None;
        }
        let base = Url::parse(page).ok();
        let target = resolve_web(base.as_ref(), reference)?;
        let own = base.map(|mut own| {
            own.set_fragment(None);
            own
        });
        if own.as_ref() == Some(&target) {
            return None;
        }
        Target::between(page, target.as_str())
    }

    /// Returns the first of several references that can be the URL of a web page, resolved and
    /// without its fragment: the canonical URL of a page that declares several ones.
    ///
    /// A reference is relative to `base`, the value of `<base href>`, which is relative to the page.
    /// References that are empty, have more than [`URL_BYTES_MAX`](crate::URL_BYTES_MAX) bytes, or
    /// have another scheme than `http` and `https` are skipped. So are relative references if `base`
    /// has more bytes. The result may be the URL of the page itself.
    ///
    /// ```
    /// use simkeep::Target;
    /// let page = "https://example.com/a";
    /// let first = |base, all: &[&str]| Target::first_url(page, base, all);
    /// assert_eq!(first(None, &["", "data:,x", "b#top", "/c"]).unwrap(), "https://example.com/b");
    /// assert_eq!(first(Some("/docs/"), &["b"]).unwrap(), "https://example.com/docs/b");
    /// assert_eq!(first(None, &["mailto:me@example.com"]), None);
    /// ```
    pub fn first_url<R: AsRef<str>>(
        page: &str,
        base: Option<&str>,
        references: impl IntoIterator<Item = R>,
    ) -> Option<String> {
        let mut references = references.into_iter().peekable();
        // Most pages declare nothing. Their URL need not be parsed.
        references.peek()?;
        let own = Url::parse(page).ok();
        let base = match base {
            // Browsers use this base. Relative to the page, references would be other URLs.
            Some(base) if base.len() > URL_BYTES_MAX => None,
            Some(base) => {
                let base = match &own {
                    Some(own) => own.join(base).ok(),
                    None => Url::parse(base).ok(),
                };
                // HTML, 4.2.3, "frozen base URL": these schemes are no base.
                base.filter(|base| !matches!(base.scheme(), "data" | "javascript")).or(own)
            }
            None => own,
        };
        references
            .find_map(|reference| resolve_web(base.as_ref(), reference.as_ref()))
            .map(String::from)
    }

    /// Creates the target of a page from its whole URL; `None` if the URL is too long.
    fn between(page: &str, target: &str) -> Option<Target> {
        if target.len() > URL_BYTES_MAX {
            return None;
        }
        let alike = page.bytes().zip(target.bytes()).take_while(|(a, b)| a == b).count();
        // Both texts are equal up to here, so a character begins at the same places in both.
        let shared = (0..=alike).rev().find(|at| target.is_char_boundary(*at))?;
        Target::from_parts(u16::try_from(shared).ok()?, target.get(shared..)?)
    }

    /// Creates a target from its stored parts; `None` if the parts are impossible.
    pub(crate) fn from_parts(shared: u16, rest: &str) -> Option<Target> {
        let bytes = usize::from(shared) + rest.len();
        let is_possible =
            (1..=URL_BYTES_MAX).contains(&bytes) && !rest.chars().any(char::is_control);
        is_possible.then(|| Target { shared, rest: rest.into() })
    }

    /// The stored parts: the number of bytes shared with the URL of the page, and the rest.
    pub(crate) fn parts(&self) -> (u16, &str) {
        (self.shared, &self.rest)
    }

    /// The whole URL of the target of `page`; `None` if `page` is not the URL of the target's page.
    pub fn resolve(&self, page: &str) -> Option<String> {
        let shared = page.get(..usize::from(self.shared))?;
        Some([shared, &self.rest].concat())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn targets_that_name_no_other_page_are_dropped() {
        let page = "https://example.com/a/b?c=d";
        for reference in [
            "",
            "#top",
            page,
            "?c=d",
            "https://example.com/a/b?c=d#top",
            "  https://EXAMPLE.com:443/a/b?c=d\n",
            "javascript:alert(1)",
            "ftp://example.com/a",
            "https://",
            "http://[::1",
            &format!("/{}", "a".repeat(URL_BYTES_MAX)),
            // Percent-encoding makes this reference too long.
            &format!("/{}", "é".repeat(URL_BYTES_MAX / 3)),
        ] {
            assert_eq!(Target::new(page, reference), None, "{reference}");
        }
        assert_eq!(Target::new("not a URL", "/a"), None);
        let target = Target::new("not a URL", "http://example.com/").unwrap();
        assert_eq!(target.resolve("not a URL").as_deref(), Some("http://example.com/"));
    }

    #[test]
    fn only_the_end_that_differs_is_kept() {
        for (page, reference, parts) in [
            ("https://example.com/a?utm=1", "/a", (21, "")),
            ("https://example.com/a/b", "../c", (20, "c")),
            ("https://example.com/é", "/è", (20, "%C3%A8")),
            ("http://example.com/a", "https://example.com/a", (4, "s://example.com/a")),
        ] {
            let target = Target::new(page, reference).unwrap();
            assert_eq!(target.parts(), parts, "{page}");
        }
        let long = Target::from_parts(30, "x").unwrap();
        assert_eq!(long.resolve("https://example.com/"), None);
        assert_eq!(Target::from_parts(2, "a\nb"), None);
    }

    #[test]
    fn relative_references_are_dropped_if_the_base_is_too_long() {
        let page = "https://example.com/a";
        let first = |base: &str, all: &[&str]| Target::first_url(page, Some(base), all);
        let longest = format!("/{}/", "a".repeat(4000));
        assert_eq!(first(&longest, &["b"]), Some(format!("https://example.com{longest}b")));
        let too_long = format!("/{}/", "a".repeat(URL_BYTES_MAX));
        assert_eq!(first(&too_long, &["b", "/c", "?d", "//e"]), None);
        let absolute = Some("https://example.com/c".to_owned());
        assert_eq!(first(&too_long, &["b", "https://example.com/c"]), absolute);
        // An invalid base is ignored.
        assert_eq!(first("http://[", &["/c"]), absolute);
    }

    proptest! {
        #[test]
        fn a_target_resolves_to_its_url(path in "/[a-zé/?]{0,12}", reference in "[a-zé/?#.:]{0,12}") {
            let page = format!("http://example.com{path}");
            let resolved = Url::parse(&page).unwrap().join(&reference).ok().map(|mut url| {
                url.set_fragment(None);
                url
            });
            match Target::new(&page, &reference) {
                Some(target) => {
                    let resolved = String::from(resolved.unwrap());
                    prop_assert_eq!(target.resolve(&page), Some(resolved));
                }
                // The reference names the page itself, or no page at all.
                None => {
                    let own = Url::parse(&page).unwrap();
                    let is_other = |url: &Url| url.scheme() == "http" && *url != own;
                    prop_assert!(!resolved.as_ref().is_some_and(is_other));
                }
            }
        }
    }
}
