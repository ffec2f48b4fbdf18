//! Parts of a path and a query that may be spelled in several ways.

use std::borrow::Cow;

use super::address::Address;

/// Names of the parameters of a path that hold the number of a session, in lower case.
const SESSIONS: [&str; 6] = ["jsessionid", "phpsessid", "sessionid", "session_id", "sessid", "sid"];

/// The text with its percent-encodings as RFC 3986 has them (6.2.2.1, 6.2.2.2): unreserved characters
/// as they are, the digits of the others in upper case. `None` if they are so already.
pub(super) fn unescaped(text: &str) -> Option<String> {
    let mut parts = text.split('%');
    let mut out = String::with_capacity(text.len());
    out.push_str(parts.next().unwrap_or_default());
    // Where a `%` stands that encodes nothing: what follows must not become digits of it.
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

/// A path without sessions: parameters of its segments that hold one, such as `;jsessionid=1A2B`, and a
/// segment such as `(S(1a2b))` or `(X(1)S(1a2b))` of ASP.NET. `None` if it has none.
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

/// Whether a segment of a path consists only of what ASP.NET puts there without cookies: a letter and a
/// value for each of its tickets, one of them the session (`S`), the visitor (`A`) or the login (`F`).
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

/// Whether a parameter of a path holds the number of a session. One without a value is no session.
fn is_session(parameter: &str) -> bool {
    parameter
        .split_once('=')
        .is_some_and(|(name, _)| SESSIONS.iter().any(|session| name.eq_ignore_ascii_case(session)))
}

/// A path with one slash wherever there are several.
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

/// A URL with its path and query spelled in one way.
pub(super) fn with_unescaped(url: Address<'_>) -> Option<Address<'_>> {
    let path = unescaped(&url.path);
    let query = url.query.as_deref().and_then(unescaped);
    if path.is_none() && query.is_none() {
        return None;
    }
    let path = path.map_or(url.path.clone(), Cow::Owned);
    let query = query.map(Cow::Owned).or(url.query.clone());
    Some(Address { path, query, ..url })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escapes_are_as_rfc_3986_has_them() {
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
    fn sessions_in_a_path_are_taken_out() {
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
    fn several_slashes_are_one() {
        assert_eq!(with_single_slashes("//a///b//").as_deref(), Some("/a/b/"));
        assert_eq!(with_single_slashes("/a/b/"), None);
    }

    proptest! {
        #[test]
        fn what_was_spelled_in_one_way_stays(path in "[/%;a=4157Ez-]{0,16}|(/|;sid=|\\(S\\(|\\(X\\(|\\)F\\(|\\)\\)|a|é|%){0,12}") {
            for spell in [unescaped, without_session, with_single_slashes] {
                if let Some(once) = spell(&path) {
                    prop_assert_eq!(spell(&once), None, "{}", once);
                }
            }
        }
    }
}
