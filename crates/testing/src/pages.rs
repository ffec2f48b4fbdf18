//! A few URLs and prefixes, with an independent implementation of their order and of prefixes.

/// URLs that are neighbours in every way: by scheme, path, port, host, and by being the beginning
/// of another URL.
pub const URLS: [&str; 16] = [
    "https://example.com/docs",
    "https://example.com/docs/a",
    "http://example.com/docs",
    "https://example.com/",
    "https://example.com",
    "https://example.com/docs?q=1",
    "https://example.com/docs-old",
    "https://example.com/docs/",
    "https://example.com:8080/docs",
    "https://www.example.com/docs",
    "https://a.www.example.com/docs#x",
    "https://example.community/docs",
    "http://example.org/",
    "https://example.org/a/b",
    "urn:isbn:1",
    "file:///home/x",
];

/// The position of a page in SURT order: pages without a host last, then host labels from the
/// right, port, path, scheme, and finally the URL itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SurtPosition {
    hostless: bool,
    labels: Vec<String>,
    port: String,
    path: Vec<u32>,
    scheme: String,
    pub url: String,
}

/// `#`, `?`, `/` and, without a host, `:` sort before all characters that continue a name.
fn path_key(path: &str, hostless: bool) -> Vec<u32> {
    let rank = |c| match c {
        '#' => 0,
        '?' => 1,
        '/' => 2,
        ':' if hostless && !path.starts_with('/') => 3,
        c => u32::from(c) + 4,
    };
    path.chars().map(rank).collect()
}

/// Scheme, host, port and path of a URL, in the forms that the tests use: no user, no IP address.
fn parts(url: &str) -> Option<(&str, &str, &str, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let (host, port) = authority.split_once(':').unwrap_or((authority, ""));
    (!host.is_empty()).then_some((scheme, host, port, path))
}

impl SurtPosition {
    /// The host, or the scheme of a URL without a host.
    pub fn host(&self) -> (bool, &[String]) {
        (self.hostless, &self.labels)
    }

    pub fn of(url: &str) -> SurtPosition {
        match parts(url) {
            Some((scheme, host, port, path)) => SurtPosition {
                hostless: false,
                labels: host.rsplit('.').map(str::to_owned).collect(),
                port: port.to_owned(),
                path: path_key(if path.is_empty() { "/" } else { path }, false),
                scheme: scheme.to_owned(),
                url: url.to_owned(),
            },
            None => {
                let (scheme, rest) = url.split_once(':').unwrap_or((url, ""));
                SurtPosition {
                    hostless: true,
                    labels: vec![scheme.to_owned()],
                    port: String::new(),
                    path: path_key(rest, true),
                    scheme: String::new(),
                    url: url.to_owned(),
                }
            }
        }
    }
}

/// A prefix as text, and the test whether a URL is under it.
pub struct TestPrefix {
    pub text: &'static str,
    covers: fn(&str) -> bool,
}

impl TestPrefix {
    pub fn covers(&self, url: &str) -> bool {
        (self.covers)(url)
    }

    pub fn prefix(&self) -> simkeep::Prefix {
        simkeep::Prefix::parse(self.text).unwrap()
    }
}

/// Whether a page's host is this domain or one of its subdomains.
pub fn in_domain(url: &str, domain: &str) -> bool {
    let host = parts(url).map_or("", |p| p.1);
    host == domain || host.strip_suffix(domain).is_some_and(|sub| sub.ends_with('.'))
}

/// Whether host and port are `at`, and the path is `of` or continues it at a boundary.
pub fn in_path(url: &str, at: &str, of: &str) -> bool {
    let Some((_, host, port, path)) = parts(url) else { return false };
    let authority = if port.is_empty() { host.to_owned() } else { format!("{host}:{port}") };
    let path = if path.is_empty() { "/" } else { path };
    authority == at
        && path.strip_prefix(of).is_some_and(|rest| {
            rest.is_empty() || of.ends_with('/') || rest.starts_with(['/', '?', '#'])
        })
}

pub const PREFIXES: [TestPrefix; 12] = [
    TestPrefix { text: "example.com/docs", covers: |url| in_path(url, "example.com", "/docs") },
    TestPrefix { text: "example.com/docs/", covers: |url| in_path(url, "example.com", "/docs/") },
    TestPrefix { text: "example.com", covers: |url| in_domain(url, "example.com") },
    TestPrefix { text: "example.com/", covers: |url| in_path(url, "example.com", "/") },
    TestPrefix { text: "example.com:8080", covers: |url| in_path(url, "example.com:8080", "/") },
    TestPrefix { text: "www.example.com", covers: |url| in_domain(url, "www.example.com") },
    TestPrefix { text: "example.community", covers: |url| in_domain(url, "example.community") },
    TestPrefix { text: "com", covers: |url| in_domain(url, "com") },
    TestPrefix { text: "example.org/a", covers: |url| in_path(url, "example.org", "/a") },
    TestPrefix { text: "nowhere.example", covers: |_| false },
    TestPrefix {
        text: "urn:isbn",
        covers: |url| url == "urn:isbn" || url.starts_with("urn:isbn:"),
    },
    TestPrefix { text: "file:///home", covers: |url| url.starts_with("file:///home/") },
];
