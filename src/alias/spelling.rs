//! Parts of a path and a query with several spellings.

use std::borrow::Cow;

use super::address::UrlParts;
use super::rule::{ASP_SESSION, AliasRule, has_slash, other_scheme, takes_www, without_www};

/// Names of path parameters that contain a session number, in lower case.
const SESSIONS: [&str; 6] = ["jsessionid", "phpsessid", "sessionid", "session_id", "sessid", "sid"];

/// Normalizes percent-encodings by RFC 3986 (6.2.2.1, 6.2.2.2): decodes unreserved characters, and
/// writes the digits of other encodings in upper case. `None` if nothing changes.
pub(super) fn unescaped(text: &str) -> Option<String> {
    let mut parts = text.split('%');
    let mut out = String::with_capacity(text.len());
    out.push_str(parts.next().unwrap_or_default());
    // The position of a `%` that encodes nothing: decoded characters after it must not become its
    // digits.
    let mut dangling = None;
    for part in parts {
        let (byte, rest) = match part.split_at_checked(2) {
            Some((digits, rest)) if digits.bytes().all(|digit| digit.is_ascii_hexdigit()) => {
                (u8::from_str_radix(digits, 16).ok(), rest)
            }
            _ => (None, part),
        };
        let Some(byte) = byte else {
            dangling = Some(out.len());
            out.extend(["%", rest]);
            continue;
        };
        let is_unreserved = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        let would_encode =
            byte.is_ascii_hexdigit() && dangling.is_some_and(|at| out.len() - at <= 2);
        if is_unreserved && !would_encode {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
        out.push_str(rest);
    }
    (out != text).then_some(out)
}

/// Removes sessions from a path: parameters of its segments such as `;jsessionid=1A2B`, and ASP.NET
/// segments such as `(S(1a2b))` or `(X(1)S(1a2b))`. `None` if the path has no session.
pub(super) fn without_session(path: &str) -> Option<String> {
    if !path.contains(';') && !path.contains("/(") {
        return None;
    }
    let mut out = String::with_capacity(path.len());
    let segments: Vec<&str> = path.split('/').collect();
    for (at, segment) in segments.iter().enumerate() {
        let is_last = at + 1 == segments.len();
        let begin = out.len();
        for (at, part) in segment.split(';').enumerate() {
            if at == 0 {
                out.push_str(part);
            } else if !is_session(part) {
                out.extend([";", part]);
            }
        }
        let written = out.get(begin..).unwrap_or_default();
        if is_session_segment(written) && !is_last {
            out.truncate(begin);
        } else if !is_last {
            out.push('/');
        }
    }
    (out != path).then_some(out)
}

/// Whether a segment of a path consists only of ASP.NET tickets for clients without cookies. A
/// ticket is a letter and a value. At least one ticket is the session (`S`), the visitor (`A`) or
/// the login (`F`).
fn is_session_segment(segment: &str) -> bool {
    let tickets = segment.strip_prefix('(').and_then(|rest| rest.strip_suffix("))"));
    let Some(tickets) = tickets else { return false };
    let is_ticket = |ticket: &str| {
        ticket.split_once('(').is_some_and(|(letter, value)| {
            letter.len() == 1
                && letter.bytes().all(|letter| letter.is_ascii_uppercase())
                && !value.contains('(')
        })
    };
    tickets.split(')').all(is_ticket)
        && tickets.split(')').any(|ticket| ticket.starts_with(['S', 'A', 'F']))
}

/// Writes the ASCII letters of a path in lower case, except in percent-encodings (RFC 3986,
/// 6.2.2.1) and sessions, which are numbers. `None` if nothing changes.
pub(super) fn lowered(path: &str) -> Option<String> {
    if !path.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return None;
    }
    let mut out = String::with_capacity(path.len());
    let last = path.rsplit('/').next().unwrap_or_default();
    let mut rest = path;
    while let Some((segment, behind)) = rest.split_once('/') {
        push_lowered_segment(segment, false, &mut out);
        out.push('/');
        rest = behind;
    }
    push_lowered_segment(last, true, &mut out);
    (out != path).then_some(out)
}

fn push_lowered_segment(segment: &str, is_last: bool, out: &mut String) {
    let is_left = |part: &&str| !is_session(part);
    let left: Vec<&str> =
        segment.split(';').take(1).chain(segment.split(';').skip(1).filter(is_left)).collect();
    if !is_last && is_session_segment(&left.join(";")) {
        out.push_str(segment);
        return;
    }
    for (at, part) in segment.split(';').enumerate() {
        if at > 0 {
            out.push(';');
        }
        match at > 0 && is_session(part) {
            true => out.push_str(part),
            false => push_lowered(part, out),
        }
    }
}

/// Appends text in lower case, except for the digits of percent-encodings.
fn push_lowered(text: &str, out: &mut String) {
    let mut parts = text.split('%');
    out.push_str(&parts.next().unwrap_or_default().to_ascii_lowercase());
    for part in parts {
        let digits = part.split_at_checked(2);
        let digits = digits.filter(|(digits, _)| digits.bytes().all(|b| b.is_ascii_hexdigit()));
        let (digits, rest) = digits.unwrap_or(("", part));
        out.extend(["%", digits, &rest.to_ascii_lowercase()]);
    }
}

/// Names of parameters by which advertisers and mailers track visitors, in lower case.
const VISITORS: [&str; 8] =
    ["fbclid", "gclid", "dclid", "msclkid", "yclid", "mc_cid", "mc_eid", "utm_*"];

/// Whether a parameter with this name or of this family usually identifies visitors rather than
/// pages.
pub(super) fn is_visitor(name: &str) -> bool {
    let is_one = |known: &&str| name.eq_ignore_ascii_case(known);
    name == ASP_SESSION || VISITORS.iter().chain(&SESSIONS).any(is_one)
}

/// Whether a path parameter contains a session number. A parameter without a value does not.
fn is_session(parameter: &str) -> bool {
    parameter
        .split_once('=')
        .is_some_and(|(name, _)| SESSIONS.iter().any(|session| name.eq_ignore_ascii_case(session)))
}

/// Replaces repeated slashes in a path by one slash.
pub(super) fn with_single_slashes(path: &str) -> Option<String> {
    if !path.contains("//") {
        return None;
    }
    let mut out = String::with_capacity(path.len());
    for c in path.chars() {
        if c != '/' || !out.ends_with('/') {
            out.push(c);
        }
    }
    Some(out)
}

/// Normalizes the percent-encodings of a URL's path and query.
pub(super) fn with_unescaped(url: UrlParts<'_>) -> Option<UrlParts<'_>> {
    let path = unescaped(&url.path);
    let query = url.query.as_deref().and_then(unescaped);
    if path.is_none() && query.is_none() {
        return None;
    }
    let path = path.map_or(url.path.clone(), Cow::Owned);
    let query = query.map(Cow::Owned).or(url.query.clone());
    Some(UrlParts { path, query, ..url })
}

/// The numbers of pages with each spelling: first the spelling in which the rule is counted, then
/// the other spelling.
#[derive(Debug, Default)]
pub(super) struct Spellings {
    scheme: [u64; 2],
    www: [u64; 2],
    slash: [u64; 2],
}

impl Spellings {
    /// Counts a page.
    pub(super) fn add(&mut self, url: &UrlParts<'_>) {
        let slash = has_slash(&url.path);
        let all = [
            (&mut self.scheme, other_scheme(url, false), other_scheme(url, true)),
            (&mut self.www, takes_www(&url.host), without_www(&url.host).is_some()),
            (&mut self.slash, slash == Some(false), slash == Some(true)),
        ];
        for ([counted, other], is_counted, is_other) in all {
            *counted += u64::from(is_counted);
            *other += u64::from(is_other);
        }
    }

    /// The rule in the direction of the more frequent spelling.
    pub(super) fn directed(&self, rule: AliasRule) -> AliasRule {
        let is_other = |[counted, other]: [u64; 2]| other > counted;
        match rule {
            AliasRule::Scheme { .. } => AliasRule::Scheme { secure: !is_other(self.scheme) },
            AliasRule::Www { .. } => AliasRule::Www { with: is_other(self.www) },
            AliasRule::Slash { .. } => AliasRule::Slash { with: is_other(self.slash) },
            undirected => undirected,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escapes_are_normalized_as_in_rfc_3986() {
        for (text, expected) in [
            ("/%7Ejoe/%61%2d%5F", Some("/~joe/a-_")),
            ("/%c3%a9%2f%20", Some("/%C3%A9%2F%20")),
            ("/%C3%A9%2F", None),
            ("/a%zz%4", None),
            ("/%%37E", None),
            ("/%%7A", Some("/%z")),
            ("/%3%37%41", Some("/%3%37A")),
            ("/%2541", None),
            ("/a", None),
            ("/%", None),
            ("/%é%41é", Some("/%éAé")),
        ] {
            assert_eq!(unescaped(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn sessions_in_a_path_are_removed() {
        for (path, expected) in [
            ("/a;jsessionid=1A2B", Some("/a")),
            ("/a;JSESSIONID=1/b;sid=2", Some("/a/b")),
            ("/a;v=1;jsessionid=2;w", Some("/a;v=1;w")),
            ("/(S(abc))/a.aspx", Some("/a.aspx")),
            ("/x/(S(abc))/", Some("/x/")),
            ("/a;jsessionid", None),
            ("/a;v=1.1", None),
            ("/jsessionid=1", None),
            ("/(S(abc))", None),
            ("/;phpsessid=", Some("/")),
            ("/(X(1)S(abc))/a.aspx", Some("/a.aspx")),
            ("/b/(A(x)S(y)F(z-_1))/a", Some("/b/a")),
            ("/(F(abc))/(A(d))/a", Some("/a")),
            ("/(S(abc));sid=1/a", Some("/a")),
            ("/(X(1))/a", None),
            ("/(S(abc)/a", None),
            ("/(S(abc)d)/a", None),
            ("/(S(abc)d))/a", None),
            ("/(S((abc))/a", None),
            ("/(s(abc))/a", None),
            ("/(SA(abc))/a", None),
            ("/((abc))/a", None),
            ("/S(abc)/(a)/(b))/()/))/", None),
        ] {
            assert_eq!(without_session(path).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn only_letters_of_names_are_lowercased() {
        for (path, expected) in [
            ("/Ab/C.HTML", Some("/ab/c.html")),
            ("/%C3%A9/%c3", None),
            ("/X%2FN/%7eU", Some("/x%2Fn/%7eu")),
            ("/%ZZ/%4G/%%4A/%", Some("/%zz/%4g/%%4A/%")),
            ("/p;jsessionid=AB", None),
            ("/P;JSESSIONID=Ab.X;V=W", Some("/p;JSESSIONID=Ab.X;v=w")),
            ("/A;sid=B/C", Some("/a;sid=B/c")),
            ("/(S(Ab))/P", Some("/(S(Ab))/p")),
            ("/(S(Ab));sid=C/p", None),
            ("/x/(S(Ab))", Some("/x/(s(ab))")),
            ("/(SA(Ab))/p", Some("/(sa(ab))/p")),
            ("/SID=A", Some("/sid=a")),
            ("/\u{c9}", None),
            ("/\u{c9}%\u{c9}A", Some("/\u{c9}%\u{c9}a")),
            ("/a", None),
            ("", None),
        ] {
            assert_eq!(lowered(path).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn repeated_slashes_are_merged() {
        assert_eq!(with_single_slashes("//a///b//").as_deref(), Some("/a/b/"));
        assert_eq!(with_single_slashes("/a/b/"), None);
    }

    proptest! {
        #[test]
        fn normalization_is_idempotent(path in "[/%;aAG=4157Ez-]{0,16}|(/|;sid=|\\(S\\(|B|\\(X\\(|\\)F\\(|\\)\\)|a|é|%){0,12}") {
            for spell in [unescaped, without_session, with_single_slashes, lowered] {
                if let Some(once) = spell(&path) {
                    prop_assert_eq!(spell(&once), None, "{}", once);
                }
            }
        }
    }
}
