//! Pages of a host with user information, such as `http://user:secret@example.com/docs`.
//!
//! In SURT order they come after all other pages of their host and port, ordered by user. So no
//! path prefix covers them, and the pages under a path with any user are not contiguous. All pages
//! with users lie in one range, in which each page is tested.

use super::{Prefix, PrefixParts};
use crate::page::surt::{END, HOSTLESS};

/// The pages with user information whose URLs are under a prefix once the user is removed.
#[derive(Clone, Debug)]
pub(crate) struct UserInfoPages {
    prefix: Prefix,
    /// The domain of the host, which covers all pages with user information.
    domain: Prefix,
    from: Vec<u8>,
    to: Vec<u8>,
}

impl Prefix {
    /// The pages with user information that the prefix would cover if their URLs had none; `None`
    /// if the prefix covers pages with users already.
    pub(crate) fn user_info_pages(&self) -> Option<UserInfoPages> {
        let PrefixParts::Path { labels, port, .. } = PrefixParts::of(&self.start)? else {
            return None;
        };
        let host = [labels.as_bytes(), &[END]].concat();
        let domain = Prefix::from_bytes(&host)?;
        // A port is digits, so an `@` after it begins a user.
        let [from, to] = [b'@', b'@' + 1].map(|mark| [&host, port.as_bytes(), &[mark]].concat());
        Some(UserInfoPages { prefix: self.clone(), domain, from, to })
    }
}

impl UserInfoPages {
    /// A prefix that covers all these pages, and many other pages.
    pub(crate) fn domain(&self) -> &Prefix {
        &self.domain
    }

    /// The range of the pages' keys: the first key, and the first key past the end.
    pub(crate) fn range(&self) -> (&[u8], &[u8]) {
        (&self.from, &self.to)
    }

    /// Whether the page with a key is one of these pages.
    pub(crate) fn contains(&self, key: &[u8]) -> bool {
        without_user(key).is_some_and(|key| self.prefix.contains(&key))
    }
}

/// The key of a page without its user.
fn without_user(key: &[u8]) -> Option<Vec<u8>> {
    if key.first() == Some(&HOSTLESS) {
        return None;
    }
    let mut parts = key.splitn(3, |byte| *byte == END);
    let (host, port, rest) = (parts.next()?, parts.next()?, parts.next()?);
    let at = port.iter().position(|byte| *byte == b'@')?;
    Some([host, port.get(..at)?, rest].join(&END))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::super::surt::key_of;
    use super::*;

    #[test]
    fn pages_with_a_user_belong_to_the_same_path() {
        let users = Prefix::parse("example.com:8080/docs").unwrap().user_info_pages().unwrap();
        for (url, is_under) in [
            ("http://user:secret@example.com:8080/docs/a", true),
            ("https://@example.com:8080/docs", true),
            ("http://a@b@EXAMPLE.com.:08080/docs?q", true),
            ("http://u@example.com:8080/docs-old", false),
            ("http://u@example.com/docs", false),
            ("http://u@example.com:80801/docs", false),
            ("http://u@www.example.com:8080/docs", false),
            ("http://example.com:8080/docs/@", false),
            ("mailto:u@example.com", false),
        ] {
            let key = key_of(url);
            assert_eq!(users.contains(&key), is_under, "{url}");
            let (from, to) = users.range();
            assert!(!is_under || from <= key.as_slice() && key.as_slice() < to, "{url}");
            assert!(!is_under || users.domain().contains(&key), "{url}");
        }
        for whole in ["example.com", "urn:isbn", "file:///x"] {
            assert!(Prefix::parse(whole).unwrap().user_info_pages().is_none());
        }
    }

    proptest! {
        #[test]
        fn page_with_a_user_is_under_its_url_without(
            prefix in "(a|b\\.a|\\[::1\\])(:80|:81)?/[ab/?#]{0,3}",
            user in "[ab@:]{0,3}", rest in "(a|b\\.a|\\[::1\\])(:80|:81|:)?(/[ab/?#]{0,4})?",
        ) {
            let prefix = Prefix::parse(&prefix).unwrap();
            let users = prefix.user_info_pages().unwrap();
            let (with, without) = (format!("https://{user}@{rest}"), format!("https://{rest}"));
            let key = key_of(&with);
            prop_assert!(!prefix.contains(&key));
            prop_assert!(!users.contains(&key_of(&without)));
            prop_assert_eq!(users.contains(&key), prefix.contains(&key_of(&without)));
            if users.contains(&key) {
                let (from, to) = users.range();
                prop_assert!(users.domain().contains(&key) && from <= &key[..] && &key[..] < to);
            }
        }
    }
}
