//! Counts the pages of a host.

use simkeep::{Prefix, Snapshot};

/// The maximum number of pages of a host to count.
const PAGES_MAX: usize = 10_000;

/// The counts of a host's pages.
#[derive(Clone, Copy)]
pub(super) struct HostComparisons {
    /// The number of pages that were compared.
    pub(super) compared: usize,
    /// Whether there are pages that were not counted.
    pub(super) is_cut: bool,
}

impl HostComparisons {
    /// Counts the pages of a URL's host and port; `None` if the URL has no host.
    pub(super) fn of(snapshot: &Snapshot, url: &str) -> simkeep::Result<Option<HostComparisons>> {
        let Some(prefix) = prefix(url) else { return Ok(None) };
        let (mut host, mut pages) = (HostComparisons { compared: 0, is_cut: false }, 0);
        for page in snapshot.scan(Some(&prefix)) {
            pages += 1;
            if pages > PAGES_MAX {
                page?;
                host.is_cut = true;
                break;
            }
            host.compared += usize::from(page?.changes.comparisons() > 0);
        }
        Ok(Some(host))
    }
}

/// The prefix of all pages of a URL's host and port.
fn prefix(url: &str) -> Option<Prefix> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next().filter(|authority| !authority.is_empty())?;
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    (!scheme.eq_ignore_ascii_case("file"))
        .then(|| Prefix::parse(&format!("{scheme}://{authority}/")).ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_prefix_covers_everything_below_its_root() {
        for (url, expected) in [
            ("https://Example.com", Some("example.com/")),
            ("http://me@example.com:8080?q", Some("example.com:8080/")),
            ("https://www.example.com/a/b?c", Some("www.example.com/")),
            ("file:///home/x", None),
            ("urn:isbn:1", None),
        ] {
            assert_eq!(prefix(url), expected.map(|text| text.parse().unwrap()), "{url}");
        }
    }
}
