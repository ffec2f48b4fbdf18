//! Other spellings of a URL: a page is identified by the bytes of its URL, and people omit parts of
//! it.

use simkeep::{Error, Page, Snapshot};

use crate::exit::VerbError;
use crate::output::words::abbreviated_names;

/// The message that a page is unknown. It proposes other spellings of the URL under which there are
/// pages, if `may_be_named` accepts the page.
pub(crate) fn unknown(
    snapshot: &Snapshot,
    url: &str,
    may_be_named: impl Fn(&Page) -> bool,
) -> Result<String, VerbError> {
    let mut known = Vec::new();
    for other in spellings(url) {
        match snapshot.latest(&other) {
            Ok(Some(page)) if may_be_named(&page) => known.push(other),
            Ok(_) => {}
            // The completed URL is too long.
            Err(Error::Url(_)) => {}
            Err(e) => return Err(e.into()),
        }
    }
    let known = match known.as_slice() {
        [] => String::new(),
        [_] => format!("; {} is known", abbreviated_names(known.iter().map(String::as_str))),
        _ => format!("; these are known: {}", abbreviated_names(known.iter().map(String::as_str))),
    };
    Ok(format!("{url} is not known in this store{known}"))
}

/// Other spellings of the URL: with the other or the missing scheme, with or without `www.` and a
/// final slash, and all combinations.
fn spellings(url: &str) -> Vec<String> {
    let rest = ["https://", "http://"].iter().find_map(|scheme| url.strip_prefix(scheme));
    let rest = match rest {
        Some(rest) => rest,
        // A URL of another scheme has no other spellings. A colon alone is a port, not a scheme.
        None if url.contains("://") => return Vec::new(),
        None => url,
    };
    let other_host = match rest.strip_prefix("www.") {
        Some(rest) => rest.to_owned(),
        None => format!("www.{rest}"),
    };
    let hosts = [rest.to_owned(), other_host];
    let with_slashes = hosts.iter().flat_map(|rest| {
        let other = match rest.strip_suffix('/') {
            Some(rest) => Some(rest.to_owned()),
            None => (!rest.contains(['?', '#'])).then(|| format!("{rest}/")),
        };
        [Some(rest.clone()), other].into_iter().flatten()
    });
    let all = with_slashes
        .flat_map(|rest| ["https://", "http://"].map(|scheme| scheme.to_owned() + &rest));
    all.filter(|other| other != url).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternative_spellings_of_a_url_are_tried() {
        assert_eq!(
            spellings("https://example.com/a"),
            [
                "http://example.com/a",
                "https://example.com/a/",
                "http://example.com/a/",
                "https://www.example.com/a",
                "http://www.example.com/a",
                "https://www.example.com/a/",
                "http://www.example.com/a/",
            ]
        );
        assert!(spellings("example.com").contains(&"http://example.com/".to_owned()));
        assert!(spellings("www.example.com:80/").contains(&"https://example.com:80".to_owned()));
        assert!(!spellings("example.com/?a").iter().any(|url| url.ends_with("a/")));
        assert!(spellings("ftp://example.com/").is_empty());
    }
}
