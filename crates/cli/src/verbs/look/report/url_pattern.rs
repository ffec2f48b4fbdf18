//! Patterns of URLs: what the URLs of a template have in common.

use std::borrow::Cow;

use crate::output::host::host;

/// The maximum number of path segments in a pattern, and of letters in a word. They bound the size
/// of a pattern, since URLs come from strangers.
const SEGMENTS_MAX: usize = 8;
const WORD_CHARS_MAX: usize = 32;

/// The pattern of a URL: the host, the path with its variable segments replaced by their kind, and
/// the sorted names of the query parameters, without values. More than two names become `?*`,
/// because filters can be combined in too many ways.
///
/// The pattern depends on the URL alone, so it does not change while a crawl grows.
pub(super) fn pattern(url: &str) -> String {
    let without_fragment = url.split_once('#').map_or(url, |(url, _)| url);
    let (before, query) = without_fragment.split_once('?').unwrap_or((without_fragment, ""));
    let path = match before.split_once("://") {
        Some((_, rest)) => rest.split_once('/').map_or("", |(_, path)| path),
        None => before.split_once(':').map_or("", |(_, path)| path),
    };
    let mut segments: Vec<Cow<'_, str>> = path.split('/').map(segment).collect();
    if segments.len() > SEGMENTS_MAX {
        // A loop of relative links makes ever longer paths of the same segments.
        let last_two = segments.len() - 2;
        segments.splice(4..last_two, [Cow::Borrowed("..")]);
    }
    let mut pattern = format!("{}/{}", host(url), segments.join("/"));
    let mut names: Vec<&str> = query.split('&').filter_map(|pair| pair.split('=').next()).collect();
    names.retain(|name| !name.is_empty());
    names.sort_unstable();
    names.dedup();
    match names.as_slice() {
        [] => {}
        names if names.len() <= 2 => {
            let names: Vec<_> = names.iter().map(|name| word(name)).collect();
            pattern += &format!("?{}", names.join("&"));
        }
        _ => pattern += "?*",
    }
    pattern
}

/// The kind of a path segment, or the segment itself if it is a plain word.
fn segment(text: &str) -> Cow<'_, str> {
    match text.rsplit_once('.') {
        Some((stem, extension))
            if (2..=4).contains(&extension.len())
                && extension.bytes().all(|byte| byte.is_ascii_alphabetic()) =>
        {
            Cow::Owned(format!("{}.{extension}", kind(stem)))
        }
        _ => kind(text),
    }
}

fn kind(text: &str) -> Cow<'_, str> {
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_hex = text.len() >= 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_joined = text.contains(['-', '_', '+', '%', ' ', ',']);
    match () {
        // Years, months and days keep their number of digits.
        () if is_number && text.len() <= 4 => Cow::Owned("#".repeat(text.len())),
        () if is_number => Cow::Borrowed("{number}"),
        () if is_hex && has_digit => Cow::Borrowed("{hex}"),
        () if is_joined && has_digit => Cow::Borrowed("{words+digits}"),
        () if is_joined => Cow::Borrowed("{words}"),
        () if has_digit => Cow::Borrowed("{word+digits}"),
        () => word(text),
    }
}

fn word(text: &str) -> Cow<'_, str> {
    match text.chars().count() <= WORD_CHARS_MAX {
        true => Cow::Borrowed(text),
        false => Cow::Borrowed("{long}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_one_template_have_one_pattern() {
        for (url, expected) in [
            ("https://example.com", "example.com/"),
            ("https://example.com/#top", "example.com/"),
            ("https://Example.com:8080/cal/2024/05/01", "example.com/cal/####/##/##"),
            ("https://a/article/1234567", "a/article/{number}"),
            ("https://a/commit/deadbeef01", "a/commit/{hex}"),
            ("https://a/facade00", "a/{hex}"),
            ("https://a/decade", "a/decade"),
            ("https://a/how-to-cook.html", "a/{words}.html"),
            ("https://a/top-10-tips", "a/{words+digits}"),
            ("https://a/p12.php?id=7", "a/{word+digits}.php?id"),
            ("https://a/s?b=1&a=2&b=3", "a/s?a&b"),
            ("https://a/s?size=1&colour=2&sort=3", "a/s?*"),
            ("https://a/b/c/b/c/b/c/b/c/x", "a/b/c/b/c/../c/x"),
            ("file:///home/x/1.txt", "file:/home/x/#.txt"),
            ("urn:isbn:123", "urn:/{word+digits}"),
            ("x", "x:/"),
            ("https://a/?&=&", "a/"),
        ] {
            assert_eq!(pattern(url), expected, "{url}");
        }
    }

    #[test]
    fn pattern_of_a_long_url_is_short() {
        let path = "x".repeat(5_000);
        let names: String = (0..2).map(|n| format!("{n}{}=1&", "y".repeat(1_000))).collect();
        assert_eq!(pattern(&format!("https://a/{path}?{names}")), "a/{long}?{long}&{long}");
        let deep = pattern(&format!("https://a/{}", "seg/".repeat(2_000)));
        assert_eq!(deep, "a/seg/seg/seg/seg/../seg/");
    }

    proptest::proptest! {
        #[test]
        fn no_url_breaks_the_pattern(url in "\\PC{0,40}[:/?#&=.%]{0,9}\\PC{0,40}") {
            let host_chars = host(&url).chars().count();
            assert!(pattern(&url).chars().count() <= host_chars + 9 * 38 + 2 * 34);
        }
    }
}
