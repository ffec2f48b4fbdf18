//! The URLs of records and of files.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use simkeep::limits::URL_BYTES_MAX;

/// Whether a store takes this URL, and if not, why.
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

/// The URL of a file: `file://` and its absolute path, percent-encoded byte by byte.
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

/// The path of a file below a folder, by what follows the URL of the folder and a slash in its own URL;
/// none if [`of_file`] makes no such URL.
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
    fn only_urls_of_files_below_a_folder_are_such() {
        for rest in ["", "/a", "a/", "a//b", "./a", "a/..", "..", "a%2fb", "%41", "a b", "%", "%4"]
        {
            assert_eq!(file_below(rest), None, "{rest}");
        }
        assert_eq!(file_below("a/b%20c"), Some("a/b c".into()));
    }

    proptest! {
        #[test]
        fn a_path_below_a_folder_is_found_by_its_url(
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
    fn urls_that_no_store_takes_are_named() {
        assert!(check("https://example.com/ä b").is_ok());
        assert!(check("").is_err());
        assert!(check("http://a\nb/").is_err());
        assert!(check(&"x".repeat(URL_BYTES_MAX)).is_ok());
        assert!(check(&"x".repeat(URL_BYTES_MAX + 1)).is_err());
    }

    #[test]
    fn files_are_named_by_their_bytes() {
        let path = Path::new(std::ffi::OsStr::from_bytes(b"/a b/\xc3\xa9\xff%?#.txt"));
        assert_eq!(of_file(path), "file:///a%20b/%C3%A9%FF%25%3F%23.txt");
    }
}
