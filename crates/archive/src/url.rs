//! The URLs of records and of files.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

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

#[cfg(test)]
mod tests {
    use super::*;

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
