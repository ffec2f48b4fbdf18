//! Patterns of URLs: paths and names of parameters, without what differs from page to page.

use std::collections::BTreeSet;
use std::fmt;

use super::surt;

/// The number of segments of a path that a pattern has at most; longer paths are shortened to their
/// first and last segments.
const SEGMENTS_MAX: usize = 8;
const FIRST_SEGMENTS: usize = 4;
const LAST_SEGMENTS: usize = 2;

/// The number of parameters whose names a pattern has at most. Pages with facets have any subset of
/// many parameters, so more names would be very many patterns.
const NAMES_MAX: usize = 2;

/// The maximum number of bytes of a word, or of the name of a parameter, that a pattern keeps.
const WORD_BYTES_MAX: usize = 32;

/// The fewest hexadecimal digits that count as such, and not as a word with digits.
const HEX_MIN: usize = 8;
/// The most decimal digits whose number is part of the pattern, such as those of a year.
const DIGITS_MAX: usize = 4;
/// The most decimal digits in a row in a name of a parameter that a pattern keeps.
const NAME_DIGITS_MAX: usize = 2;

/// The pattern of a URL: its path and the names of its parameters, in which numbers, hashes and
/// titles are replaced by their kind.
///
/// Pages of one template have the same pattern. So the visits to some of these pages show whether the
/// others have content of their own. A pattern is a function of the URL alone: it does not depend on
/// other URLs. The host is not part of the pattern.
///
/// Segments of the path become:
///
/// | in the URL | in the pattern |
/// |---|---|
/// | one to four digits | as many `#` |
/// | more digits | `{number}` |
/// | eight or more hexadecimal digits, one of them decimal | `{hex}` |
/// | up to 32 ASCII letters | the same letters |
/// | ASCII letters and digits | `{word+digits}` |
/// | more than 32 letters, or other characters | `{words}`, or `{words+digits}` |
/// | an extension of two to four letters | the extension in lower case |
///
/// An escape such as `%C3` is one other character. Of a path with more than eight segments, the first
/// four and the last two remain, with `..` between them.
///
/// A name of a parameter remains if it has at most 32 bytes, all of them ASCII letters, digits or
/// `_.-[]`, with at most two digits in a row. Other names become the kinds above. Of more than two
/// different names, `?*` remains. Values of parameters and the fragment never remain.
///
/// Takes time linear in the length of the URL. A pattern has at most 400 bytes.
///
/// ```
/// use simkeep::due::UrlPattern;
/// let pattern = UrlPattern::of("https://example.com/news/2024/a-long-title.html?page=2#top");
/// assert_eq!(pattern.to_string(), "/news/####/{words}.html?page");
/// let other = UrlPattern::of("https://example.org/news/1999/another-title.html?page=17");
/// assert_eq!(pattern, other);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UrlPattern {
    /// The path and the names.
    text: String,
    /// The first segment, the number of segments, and the names.
    similar: String,
}

impl UrlPattern {
    /// Returns the pattern of a URL.
    pub fn of(url: &str) -> UrlPattern {
        let rest = surt::split_scheme(url).map_or(url, |(scheme, rest)| {
            let path = surt::split_authority(scheme, rest).map(|(_, path)| path);
            path.unwrap_or_else(|| rest.strip_prefix("//").unwrap_or(rest))
        });
        let rest = rest.split_once('#').map_or(rest, |(rest, _)| rest);
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let segments: Vec<&str> = path.strip_prefix('/').unwrap_or(path).split('/').collect();
        let names = names(query);
        let text = format!("{}{names}", path_of(&segments));
        let first = path_of(segments.get(..1).unwrap_or(&segments));
        UrlPattern { text, similar: format!("{first} {}{names}", segments.len()) }
    }

    /// Returns the pattern as text, such as `/news/####/{words}.html?page`.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns a more general pattern: the first segment, the number of segments, and the names of the
    /// parameters, such as `/news 3?page`.
    ///
    /// ```
    /// use simkeep::due::UrlPattern;
    /// let of = |url| UrlPattern::of(url).similar().to_owned();
    /// assert_eq!(of("https://example.com/news/2024/a?page=1"), "/news 3?page");
    /// assert_eq!(of("https://example.com/news/2024/b-c?page=1"), "/news 3?page");
    /// ```
    pub fn similar(&self) -> &str {
        &self.similar
    }
}

/// Formats the pattern as [`as_str`](UrlPattern::as_str) returns it.
impl fmt::Display for UrlPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Returns the kinds of the segments of a path, each after a slash.
fn path_of(segments: &[&str]) -> String {
    let kinds = |segments: &[&str]| -> String {
        segments.iter().map(|segment| format!("/{}", Kind(segment))).collect()
    };
    match (segments.first_chunk::<FIRST_SEGMENTS>(), segments.last_chunk::<LAST_SEGMENTS>()) {
        // A loop of relative links makes ever longer paths of the same segments.
        (Some(first), Some(last)) if segments.len() > SEGMENTS_MAX => {
            format!("{}/..{}", kinds(first), kinds(last))
        }
        _ => kinds(segments),
    }
}

/// Returns the sorted names of parameters after a question mark; nothing without parameters.
fn names(query: &str) -> String {
    let names = query.split('&').map(|part| part.split_once('=').map_or(part, |(name, _)| name));
    let mut distinct = BTreeSet::new();
    for name in names.filter(|name| !name.is_empty()) {
        distinct.insert(name);
        if distinct.len() > NAMES_MAX {
            return "?*".to_owned();
        }
    }
    let kept = |name: &str| if is_kept(name) { name.to_owned() } else { Kind(name).to_string() };
    let mut names: Vec<String> = distinct.into_iter().map(kept).collect();
    names.sort_unstable();
    if names.is_empty() { String::new() } else { format!("?{}", names.join("&")) }
}

/// Whether a pattern keeps the name of a parameter as it is.
fn is_kept(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-[]".contains(&byte);
    let digits = name.as_bytes().chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit());
    let mut digits = digits.filter(|run| run.first().is_some_and(u8::is_ascii_digit));
    name.len() <= WORD_BYTES_MAX
        && name.bytes().all(is_plain)
        && digits.all(|run| run.len() <= NAME_DIGITS_MAX)
}

/// A segment of a path, or the name of a parameter, shown as its kind.
struct Kind<'a>(&'a str);

impl fmt::Display for Kind<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (stem, extension) = match self.0.rsplit_once('.') {
            Some((stem, extension)) if !stem.is_empty() && is_extension(extension) => {
                (stem, Some(extension))
            }
            _ => (self.0, None),
        };
        let all = |is: fn(&u8) -> bool| stem.bytes().all(|byte| is(&byte));
        let is_word = all(u8::is_ascii_alphanumeric);
        match has_digits(stem) {
            true if all(u8::is_ascii_digit) && stem.len() <= DIGITS_MAX => {
                f.write_str(&"#".repeat(stem.len()))?;
            }
            true if all(u8::is_ascii_digit) => f.write_str("{number}")?,
            true if all(u8::is_ascii_hexdigit) && stem.len() >= HEX_MIN => f.write_str("{hex}")?,
            true if is_word => f.write_str("{word+digits}")?,
            true => f.write_str("{words+digits}")?,
            false if is_word && stem.len() <= WORD_BYTES_MAX => f.write_str(stem)?,
            false => f.write_str("{words}")?,
        }
        match extension {
            Some(extension) => write!(f, ".{}", extension.to_ascii_lowercase()),
            None => Ok(()),
        }
    }
}

/// Whether a text has digits outside of escapes such as `%C3`.
fn has_digits(text: &str) -> bool {
    let mut left = text.as_bytes();
    while let [first, rest @ ..] = left {
        left = match (first, rest) {
            (b'%', [a, b, rest @ ..]) if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => rest,
            (b'0'..=b'9', _) => return true,
            _ => rest,
        };
    }
    false
}

/// Whether a text after the last dot of a name is an extension.
fn is_extension(text: &str) -> bool {
    (2..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::url::URL_BYTES_MAX;

    #[test]
    fn urls_of_a_template_have_its_pattern() {
        for (url, pattern, similar) in [
            ("http://a.b", "/", "/ 1"),
            ("http://a.b/#top", "/", "/ 1"),
            ("http://a.b?x", "/?x", "/ 1?x"),
            ("http://a.b/news/", "/news/", "/news 2"),
            ("http://a.b:8080/2024/05/17/12345", "/####/##/##/{number}", "/#### 4"),
            ("http://a.b/p/0123456789abcdef", "/p/{hex}", "/p 2"),
            ("http://a.b/p/facade00", "/p/{hex}", "/p 2"),
            ("http://a.b/p/effaceddecade", "/p/effaceddecade", "/p 2"),
            (
                "http://a.b/item17/a-b/a-b-3",
                "/{word+digits}/{words}/{words+digits}",
                "/{word+digits} 3",
            ),
            ("http://a.b/wiki/%E4%B8%AD", "/wiki/{words}", "/wiki 2"),
            ("http://a.b/wiki/Caf%C3%A9-2", "/wiki/{words+digits}", "/wiki 2"),
            ("http://a.b/wiki/100%", "/wiki/{words+digits}", "/wiki 2"),
            ("http://a.b/wiki/\u{4e2d}", "/wiki/{words}", "/wiki 2"),
            ("http://a.b/x/photo-1.JPEG", "/x/{words+digits}.jpeg", "/x 2"),
            ("http://a.b/.htaccess", "/{words}", "/{words} 1"),
            ("http://a.b/p12.php?id=7", "/{word+digits}.php?id", "/{word+digits}.php 1?id"),
            ("http://a.b/v1.25/a", "/{words+digits}/a", "/{words+digits} 2"),
            ("http://a.b/a?b=1&a=2&b=3", "/a?a&b", "/a 1?a&b"),
            ("http://a.b/a?c&b&a", "/a?*", "/a 1?*"),
            ("http://a.b/a?&&=", "/a", "/a 1"),
            ("http://a.b/a?12345678=1&%zz", "/a?{number}&{words}", "/a 1?{number}&{words}"),
            ("http://a.b/a?return_to=/x", "/a?return_to", "/a 1?return_to"),
            ("http://a.b/a?f[color]=1&utm_1=2", "/a?f[color]&utm_1", "/a 1?f[color]&utm_1"),
            ("http://a.b/a?p123=4", "/a?{word+digits}", "/a 1?{word+digits}"),
            ("http://a.b/a?a_b&c_d&e_f", "/a?*", "/a 1?*"),
            ("http://a.b/1/2/3/4/5/6/7/8", "/#/#/#/#/#/#/#/#", "/# 8"),
            ("http://a.b/b/c/b/c/b/c/b/c/x", "/b/c/b/c/../c/x", "/b 9"),
            ("file:///home/x/1.txt", "/home/x/#.txt", "/home 3"),
            ("urn:isbn:123", "/{words+digits}", "/{words+digits} 1"),
            ("mailto:me@a.b", "/{words}", "/{words} 1"),
        ] {
            let found = UrlPattern::of(url);
            assert_eq!((found.as_str(), found.similar()), (pattern, similar), "{url}");
        }
        assert_eq!(UrlPattern::of(&format!("http://a.b/{}", "x".repeat(33))).as_str(), "/{words}");
    }

    #[test]
    fn longest_pattern_is_short() {
        let word = "x".repeat(WORD_BYTES_MAX);
        let path = format!("/{word}.html").repeat(SEGMENTS_MAX);
        let url = format!("http://a.b{path}?{word}&{}", word.replace('x', "y"));
        let pattern = UrlPattern::of(&url);
        assert_eq!(pattern.as_str(), url.strip_prefix("http://a.b").unwrap());
        assert_eq!((pattern.as_str().len(), pattern.similar().len()), (370, 106));
    }

    proptest! {
        #[test]
        fn pattern_of_any_url_is_short(
            parts in prop::collection::vec("[a-z0-9/?&=#.%-]{1,40}|/[a-z]{32}|&[a-z]{32}|\u{e9}", 0..200),
            few in prop::collection::vec("/[a-zA-Z]{28,33}(\\.[a-z]{1,5})?", 0..9),
        ) {
            for parts in [parts, few] {
                let mut url = "http://a.b/".to_owned() + &parts.concat();
                url.truncate(url.floor_char_boundary(URL_BYTES_MAX));
                let pattern = UrlPattern::of(&url);
                let texts = [pattern.as_str(), pattern.similar()];
                prop_assert!(texts.iter().all(|text| text.len() <= 400 && text.starts_with('/')));
            }
        }

        #[test]
        fn values_do_not_matter(value in "[a-z0-9%/.]{0,20}", fragment in "[a-z0-9?/]{0,20}") {
            let of = |value: &str, fragment: &str| {
                UrlPattern::of(&format!("http://a.b/x?page={value}&q#{fragment}"))
            };
            prop_assert_eq!(of(&value, &fragment), of("", ""));
        }
    }
}
