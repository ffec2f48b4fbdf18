//! Patterns of URLs: paths and names of parameters, without what differs from page to page.

use std::collections::BTreeSet;
use std::fmt;

use super::surt;

/// The number of segments of a path that a pattern has at most; longer paths are shortened to their
/// first and last segments.
const SEGMENTS_MAX: usize = 8;
const FIRST_SEGMENTS: usize = 4;
const LAST_SEGMENTS: usize = 2;
/// The mark for the segments, or the parameters, that are left out.
const LEFT_OUT: &str = "..";

/// The number of parameters whose names a pattern has at most. Pages with facets have any subset of
/// many parameters, so more names would be very many patterns.
const NAMES_MAX: usize = 2;

/// The maximum number of bytes of a word, or of the name of a parameter, that a pattern keeps.
const WORD_BYTES_MAX: usize = 32;

/// The fewest hexadecimal digits that count as such, and not as a word or a number.
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
/// | one to four digits | `#1` to `#4` |
/// | more digits | `#` |
/// | eight or more hexadecimal digits | `#x` |
/// | up to 32 ASCII letters | the same letters |
/// | ASCII letters and digits | `w#` |
/// | more than 32 letters, or other characters | `*`, or `*#` with digits |
/// | an extension of two to four letters | the extension in lower case |
///
/// An escape such as `%C3` is one other character. Of a path with more than eight segments, the first
/// four and the last two remain.
///
/// A name of a parameter remains if it has at most 32 bytes, all of them ASCII letters, digits or
/// `_.-[]`, with at most two digits in a row. Other names become the kinds above. Of more than two
/// different names, none remains. Values of parameters and the fragment never remain.
///
/// Takes time linear in the length of the URL. A pattern has at most 400 bytes.
///
/// ```
/// use simkeep::due::UrlPattern;
/// let pattern = UrlPattern::of("https://example.com/news/2024/a-long-title.html?page=2#top");
/// assert_eq!(pattern.to_string(), "/news/#4/*.html?page");
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
            surt::split_authority(scheme, rest).map_or(rest, |(_, rest)| rest)
        });
        let rest = rest.split_once('#').map_or(rest, |(rest, _)| rest);
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let path = path.strip_prefix('/').unwrap_or(path);
        let names = names(query);
        let count = path.split('/').count();
        let first = path.split('/').next().unwrap_or_default();
        let similar = format!("/{} {count}{names}", Kind(first));
        UrlPattern { text: format!("{}{names}", shortened(path, count)), similar }
    }

    /// Returns the pattern as text, such as `/news/#4/*.html?page`.
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

/// Returns the kinds of the segments of a path with `count` segments, each after a slash.
fn shortened(path: &str, count: usize) -> String {
    let mut text = String::new();
    let mut add = |kind: fmt::Arguments<'_>| {
        text.push('/');
        text.push_str(&kind.to_string());
    };
    let (first, last) =
        if count > SEGMENTS_MAX { (FIRST_SEGMENTS, LAST_SEGMENTS) } else { (count, 0) };
    path.split('/').take(first).for_each(|segment| add(format_args!("{}", Kind(segment))));
    if last > 0 {
        add(format_args!("{LEFT_OUT}"));
        let ends = path.split('/').skip(count - last);
        ends.for_each(|segment| add(format_args!("{}", Kind(segment))));
    }
    text
}

/// Returns the sorted names of parameters after a question mark; nothing without parameters.
fn names(query: &str) -> String {
    let names = query.split('&').map(|part| part.split_once('=').map_or(part, |(name, _)| name));
    let mut distinct = BTreeSet::new();
    for name in names.filter(|name| !name.is_empty()) {
        distinct.insert(name);
        if distinct.len() > NAMES_MAX {
            return format!("?{LEFT_OUT}");
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
        if stem.is_empty() {
        } else if all(u8::is_ascii_digit) {
            match stem.len() {
                digits @ ..=DIGITS_MAX => write!(f, "#{digits}")?,
                _ => f.write_str("#")?,
            }
        } else if all(u8::is_ascii_hexdigit) && stem.len() >= HEX_MIN {
            f.write_str("#x")?;
        } else if has_digits(stem) {
            f.write_str(if is_word { "w#" } else { "*#" })?;
        } else if is_word && stem.len() <= WORD_BYTES_MAX {
            f.write_str(stem)?;
        } else {
            f.write_str("*")?;
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
            ("http://a.b/", "/", "/ 1"),
            ("http://a.b?x", "/?x", "/ 1?x"),
            ("http://a.b/news/", "/news/", "/news 2"),
            ("http://a.b/2024/05/17/12345", "/#4/#2/#2/#", "/#4 4"),
            ("http://a.b/p/0123456789abcdef", "/p/#x", "/p 2"),
            ("http://a.b/p/facade", "/p/facade", "/p 2"),
            ("http://a.b/item17/a-b/a-b-3", "/w#/*/*#", "/w# 3"),
            ("http://a.b/wiki/%E4%B8%AD", "/wiki/*", "/wiki 2"),
            ("http://a.b/wiki/Caf%C3%A9-2", "/wiki/*#", "/wiki 2"),
            ("http://a.b/wiki/100%", "/wiki/*#", "/wiki 2"),
            ("http://a.b/wiki/\u{4e2d}", "/wiki/*", "/wiki 2"),
            ("http://a.b/x/photo-1.JPEG", "/x/*#.jpeg", "/x 2"),
            ("http://a.b/.htaccess", "/*", "/* 1"),
            ("http://a.b/v1.25/a", "/*#/a", "/*# 2"),
            ("http://a.b/a?b=1&a=2&b=3", "/a?a&b", "/a 1?a&b"),
            ("http://a.b/a?c&b&a", "/a?..", "/a 1?.."),
            ("http://a.b/a?&&=", "/a", "/a 1"),
            ("http://a.b/a?12345678=1&%zz", "/a?#&*", "/a 1?#&*"),
            (
                "http://a.b/a?return_to=/x&f[color]=1",
                "/a?f[color]&return_to",
                "/a 1?f[color]&return_to",
            ),
            ("http://a.b/a?utm_1=2&p123=4", "/a?utm_1&w#", "/a 1?utm_1&w#"),
            ("http://a.b/a?a_b&c_d&e_f", "/a?..", "/a 1?.."),
            ("http://a.b/1/2/3/4/5/6/7/8", "/#1/#1/#1/#1/#1/#1/#1/#1", "/#1 8"),
            ("http://a.b/a/b/c/d/e/f/g/h/i", "/a/b/c/d/../h/i", "/a 9"),
            ("urn:isbn:123", "/*#", "/*# 1"),
            ("mailto:me@a.b", "/*", "/* 1"),
        ] {
            let found = UrlPattern::of(url);
            assert_eq!((found.as_str(), found.similar()), (pattern, similar), "{url}");
        }
        assert_eq!(UrlPattern::of(&format!("http://a.b/{}", "x".repeat(33))).as_str(), "/*");
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
