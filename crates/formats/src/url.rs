//! The URLs of records and of files.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use simkeep::URL_BYTES_MAX;

/// Checks whether a store accepts this URL, and returns the reason if it does not.
pub(super) fn check(url: &str) -> Result<(), String> {
    if url.is_empty() {
        Err("the URL is empty".into())
    } else if url.len() > URL_BYTES_MAX {
        Err(format!("the URL has {} bytes, more than {URL_BYTES_MAX}", url.len()))
    } else if url.chars().any(char::is_control) {
        Err("the URL has a control character".into())
    } else {
        Ok(())
    }
}

/// Returns the scheme of a URL, in lower case.
pub(super) fn scheme(url: &str) -> String {
    url.split(':').next().unwrap_or_default().to_ascii_lowercase()
}

/// The URL schemes of pages. Archives also have records *about* pages, for example texts,
/// thumbnails and logs. The URLs of records about pages have other schemes.
#[derive(Clone, Debug)]
pub(super) struct Schemes(Vec<String>);

impl Default for Schemes {
    fn default() -> Schemes {
        Schemes(["http", "https", "file"].map(str::to_owned).to_vec())
    }
}

impl Schemes {
    /// Adds schemes.
    pub(super) fn add(&mut self, more: impl IntoIterator<Item = String>) {
        self.0.extend(more.into_iter().map(|scheme| scheme.to_ascii_lowercase()));
    }

    /// Returns the reason why a record with this URL is not a visit to a page, for counts; `None`
    /// if the record may be a visit.
    pub(super) fn passed(&self, url: &str) -> Option<&'static str> {
        let scheme = scheme(url);
        // An invalid URL is a broken record.
        if self.0.contains(&scheme) || check(url).is_err() {
            return None;
        }
        Some(match scheme.as_str() {
            "dns" => "dns",
            "urn" | "metadata" | "screenshot" | "thumbnail" | "info" => "record about a page",
            _ => "URL of another scheme",
        })
    }
}

/// The method of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestMethod {
    Get,
    Head,
    Post,
    Other,
}

impl RequestMethod {
    /// Parses a method, which is case-sensitive (RFC 9110, 9.1).
    fn of(name: &str) -> RequestMethod {
        match name {
            "GET" => RequestMethod::Get,
            "HEAD" => RequestMethod::Head,
            "POST" => RequestMethod::Post,
            _ => RequestMethod::Other,
        }
    }

    /// Returns the method in the first line of a request (RFC 9112, 3); `None` if the bytes are not
    /// a request.
    pub(super) fn of_request(start: &[u8]) -> Option<RequestMethod> {
        let name = start.trim_ascii_start().split(|b| b.is_ascii_whitespace()).next()?;
        let is_token = |b: &u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(b);
        let name = Some(name).filter(|name| !name.is_empty() && name.iter().all(is_token))?;
        std::str::from_utf8(name).ok().map(RequestMethod::of)
    }

    /// Returns the method in a URL of an archive. For requests other than GET, pywb and related
    /// tools write the method into the URL: `?__wb_method=POST&__wb_post_data=...`.
    pub(super) fn in_url(url: &str) -> Option<RequestMethod> {
        let (_, query) = url.split_once('?')?;
        let mut method = None;
        for parameter in query.split(['&', '?', '#']) {
            match parameter.split_once('=') {
                Some(("__wb_method", name)) => {
                    return Some(RequestMethod::of(&name.to_ascii_uppercase()));
                }
                Some(("__wb_post_data", _)) => method = Some(RequestMethod::Post),
                _ => {}
            }
        }
        method
    }

    /// Returns the reason why a response to this method is not a visit, for counts; `None` for GET.
    pub(super) fn passed(self) -> Option<&'static str> {
        match self {
            RequestMethod::Get => None,
            RequestMethod::Head => Some("answer to HEAD"),
            RequestMethod::Post => Some("answer to POST"),
            RequestMethod::Other => Some("answer to another method"),
        }
    }
}

/// Returns the URL of a file: `file://` and its absolute path, percent-encoded byte by byte.
pub(super) fn of_file(path: &Path) -> String {
    let mut url = String::from("file://");
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~!$&'()*+,;=:@".contains(&byte) {
            url.push(char::from(byte));
        } else {
            url.push_str(&format!("%{byte:02X}"));
        }
    }
    url
}

/// Returns the path of a file below a folder. `rest` is the part of the file's URL after the URL of
/// the folder and a slash. `None` if [`of_file`] never returns a URL with this part.
pub(super) fn file_below(rest: &str) -> Option<PathBuf> {
    let mut bytes = Vec::with_capacity(rest.len());
    let mut left = rest.bytes();
    while let Some(byte) = left.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(left.next()?).to_digit(16);
        bytes.push(u8::try_from(digit()? << 4 | digit()?).ok()?);
    }
    let path = PathBuf::from(OsString::from_vec(bytes));
    let is_plain = |part: &[u8]| !matches!(part, b"" | b"." | b"..");
    let is_below = path.as_os_str().as_bytes().split(|&byte| byte == b'/').all(is_plain);
    (is_below && of_file(&path).strip_prefix("file://") == Some(rest)).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_canonical_file_urls_below_a_folder_are_paths() {
        for rest in ["", "/a", "a/", "a//b", "./a", "a/..", "..", "a%2fb", "%41", "a b", "%", "%4"]
        {
            assert_eq!(file_below(rest), None, "{rest}");
        }
        assert_eq!(file_below("a/b%20c"), Some("a/b c".into()));
    }

    proptest! {
        #[test]
        fn path_below_a_folder_round_trips_through_its_url(
            parts in prop::collection::vec(prop::collection::vec(1..=255_u8, 1..6), 1..4),
        ) {
            let path = parts.join(&b'/');
            let mut names = path.split(|byte| *byte == b'/');
            let is_plain = names.all(|name| !name.is_empty() && name != b"." && name != b"..");
            let path = PathBuf::from(OsString::from_vec(path));
            let url = of_file(&path);
            let rest = url.strip_prefix("file://").unwrap();
            prop_assert_eq!(file_below(rest), is_plain.then_some(path));
        }

        #[test]
        fn no_text_panics(rest in "\\PC{0,20}|[%a-f0-9/.]{0,20}") {
            file_below(&rest);
        }
    }

    #[test]
    fn invalid_urls_are_refused() {
        assert!(check("https://example.com/ä b").is_ok());
        assert!(check("").is_err());
        assert!(check("http://a\nb/").is_err());
        assert!(check(&"x".repeat(URL_BYTES_MAX)).is_ok());
        assert!(check(&"x".repeat(URL_BYTES_MAX + 1)).is_err());
    }

    #[test]
    fn methods_are_read_from_requests_and_urls() {
        for (start, method) in [
            (&b"GET / HTTP/1.1"[..], Some(RequestMethod::Get)),
            (b"\r\nHEAD / HTTP/1.1", Some(RequestMethod::Head)),
            (b"POST", Some(RequestMethod::Post)),
            (b"PROPFIND /", Some(RequestMethod::Other)),
            (b"get / HTTP/1.1", Some(RequestMethod::Other)),
            (b"", None),
            (b"\0\x01", None),
        ] {
            assert_eq!(RequestMethod::of_request(start), method, "{start:?}");
        }
        for (url, method) in [
            ("http://a/?__wb_method=POST&__wb_post_data=x", Some(RequestMethod::Post)),
            ("http://a/?x=1&__wb_method=put", Some(RequestMethod::Other)),
            ("http://a/?__wb_post_data=x", Some(RequestMethod::Post)),
            ("http://a/?__wb_method=HEAD", Some(RequestMethod::Head)),
            ("http://a/?__wb_method=GET&q=1", Some(RequestMethod::Get)),
            ("http://a/__wb_method=POST", None),
            ("http://a/?x__wb_method=POST", None),
        ] {
            assert_eq!(RequestMethod::in_url(url), method, "{url}");
        }
    }

    #[test]
    fn only_some_schemes_name_pages() {
        let mut schemes = Schemes::default();
        for url in ["http://a/", "HTTPS://a/", "file:///a"] {
            assert_eq!(schemes.passed(url), None, "{url}");
        }
        for url in ["urn:text:http://a/", "metadata://a/", "screenshot:http://a/"] {
            assert_eq!(schemes.passed(url), Some("record about a page"), "{url}");
        }
        assert_eq!(schemes.passed("ftp://a/"), Some("URL of another scheme"));
        assert_eq!(schemes.passed("dns:a"), Some("dns"));
        schemes.add(["FTP".to_owned(), "urn".to_owned()]);
        assert_eq!((schemes.passed("ftp://a/"), schemes.passed("urn:x")), (None, None));
    }

    #[test]
    fn file_urls_encode_path_bytes() {
        let path = Path::new(std::ffi::OsStr::from_bytes(b"/a b/\xc3\xa9\xff%?#.txt"));
        assert_eq!(of_file(path), "file:///a%20b/%C3%A9%FF%25%3F%23.txt");
    }
}
