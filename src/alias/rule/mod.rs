//! Alias rules: differences between URLs that may make no difference to the page.

use std::borrow::Cow;
use std::fmt;

use super::address::{UrlParts, parameter};
use super::spelling::{lowered, with_single_slashes, with_unescaped, without_session};
use crate::order::sort_few_by;
use crate::page::host;
use crate::page::surt::{is_address, is_default_port, split_host};

/// The default names of index pages in common servers.
pub(super) const INDEX: [&str; 8] = [
    "index.html",
    "index.htm",
    "index.php",
    "index.shtml",
    "index.jsp",
    "default.html",
    "default.asp",
    "default.aspx",
];

/// The name that represents all parameters whose names begin with `utm_`.
const UTM: &str = "utm_*";

/// The name that represents all parameters whose names begin with `ASPSESSIONID`. Each server adds
/// its own letters to this prefix.
pub(super) const ASP_SESSION: &str = "ASPSESSIONID*";

/// A rule that maps several URLs to one URL: a difference between URLs that may make no difference
/// to the page.
///
/// Two pages are a pair of a rule if the rule maps them to one URL and removes different text from
/// each. So a different position of a parameter does not make a pair of the rule for that
/// parameter. The kinds, with the names in [`kind`](AliasRule::kind) and
/// [`value`](AliasRule::value):
///
/// | kind | value | effect |
/// |---|---|---|
/// | `host` | | writes scheme and host as browsers do: `127.0.0.1` for `127.1`; and `/` for each `\` |
/// | `scheme` | `https` or `http` | replaces the other scheme by this one, if no other port is named |
/// | `www` | `without` or `with` | removes `www.` from the host, or adds it |
/// | `port` | | removes the default port of the scheme, and an empty port |
/// | `escapes` | | decodes `%7E` and other unreserved characters; other escapes in upper case |
/// | `session` | | removes `;jsessionid=1` and the like from the path, and the `(S(1))/` of ASP.NET |
/// | `slashes` | | replaces repeated slashes in the path by one |
/// | `fragment` | | removes the fragment with its `#` |
/// | `empty-query` | | removes an empty query with its `?` |
/// | `parameter` | its name | removes all of this name; `utm_*` and `ASPSESSIONID*` are prefixes |
/// | `order` | | sorts parameters by name; equal names keep their order |
/// | `index` | a name | removes the last segment of the path if it is this name, in any case |
/// | `slash` | `without` or `with` | removes the trailing slash of the path, or adds it |
/// | `case` | | makes ASCII letters of the path lower case, except in `%C3` and sessions |
///
/// The `www` rule does not apply to addresses, nor to names without a dot. The `slash` rule does
/// not apply to names with a dot, nor to the path `/`. Names are compared by bytes.
///
/// ```
/// use simkeep::alias::AliasRule;
/// let rule = AliasRule::new("parameter", Some("sid")).unwrap();
/// assert_eq!(rule.apply("http://a.example/?sid=7&q=b").unwrap(), "http://a.example/?q=b");
/// assert_eq!(rule.apply("http://a.example/?sid=7").unwrap(), "http://a.example/");
/// assert_eq!(rule.apply("http://a.example/?q=b"), None);
/// assert_eq!(rule.to_string(), "parameter sid");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum AliasRule {
    /// Scheme and host are equal in all spellings that browsers accept.
    Host,
    /// The schemes `http` and `https` are equal.
    Scheme {
        /// Whether the rule maps to `https`.
        secure: bool,
    },
    /// A host is equal with and without `www.`.
    Www {
        /// Whether the rule adds `www.`.
        with: bool,
    },
    /// The default port of a scheme is optional.
    Port,
    /// A character is equal with and without percent-encoding, if it needs no encoding.
    Escapes,
    /// The session in a path makes no difference.
    Session,
    /// Repeated slashes in a path equal one slash.
    Slashes,
    /// The fragment makes no difference.
    Fragment,
    /// An empty query makes no difference.
    EmptyQuery,
    /// A parameter makes no difference.
    Parameter(String),
    /// The order of parameters makes no difference.
    Order,
    /// A folder and the page with this name in it are equal.
    Index(String),
    /// A path is equal with and without a trailing slash.
    Slash {
        /// Whether the rule adds the slash.
        with: bool,
    },
    /// The case of a path makes no difference.
    Case,
}

impl AliasRule {
    /// Returns the rule with a kind and a value, as they are written in JSON; `None` if there is no
    /// such rule.
    ///
    /// ```
    /// use simkeep::alias::AliasRule;
    /// assert_eq!(AliasRule::new("www", Some("without")), Some(AliasRule::Www { with: false }));
    /// assert_eq!(AliasRule::new("www", None), None);
    /// ```
    pub fn new(kind: &str, value: Option<&str>) -> Option<AliasRule> {
        Some(match (kind, value) {
            ("host", None) => AliasRule::Host,
            ("port", None) => AliasRule::Port,
            ("escapes", None) => AliasRule::Escapes,
            ("session", None) => AliasRule::Session,
            ("slashes", None) => AliasRule::Slashes,
            ("empty-query", None) => AliasRule::EmptyQuery,
            ("scheme", Some("https")) => AliasRule::Scheme { secure: true },
            ("scheme", Some("http")) => AliasRule::Scheme { secure: false },
            ("www", Some("with")) => AliasRule::Www { with: true },
            ("www", Some("without")) => AliasRule::Www { with: false },
            ("fragment", None) => AliasRule::Fragment,
            ("parameter", Some(name)) => AliasRule::Parameter(family(name).to_owned()),
            ("order", None) => AliasRule::Order,
            ("index", Some(name)) => AliasRule::Index(name.to_owned()),
            ("slash", Some("with")) => AliasRule::Slash { with: true },
            ("slash", Some("without")) => AliasRule::Slash { with: false },
            ("case", None) => AliasRule::Case,
            _ => return None,
        })
    }

    /// The kind of the rule, in one word.
    ///
    /// ```
    /// use simkeep::alias::AliasRule;
    /// let rule = AliasRule::Parameter("utm_*".into());
    /// assert_eq!((rule.kind(), rule.value()), ("parameter", Some("utm_*")));
    /// ```
    pub fn kind(&self) -> &'static str {
        match self {
            AliasRule::Host => "host",
            AliasRule::Port => "port",
            AliasRule::Escapes => "escapes",
            AliasRule::Session => "session",
            AliasRule::Slashes => "slashes",
            AliasRule::EmptyQuery => "empty-query",
            AliasRule::Scheme { .. } => "scheme",
            AliasRule::Www { .. } => "www",
            AliasRule::Fragment => "fragment",
            AliasRule::Parameter(_) => "parameter",
            AliasRule::Order => "order",
            AliasRule::Index(_) => "index",
            AliasRule::Slash { .. } => "slash",
            AliasRule::Case => "case",
        }
    }

    /// The value that distinguishes the rule from other rules of its kind; `None` if the kind has
    /// only one rule.
    pub fn value(&self) -> Option<&str> {
        let either = |with: &bool| if *with { "with" } else { "without" };
        match self {
            AliasRule::Scheme { secure } => Some(if *secure { "https" } else { "http" }),
            AliasRule::Www { with } | AliasRule::Slash { with } => Some(either(with)),
            AliasRule::Parameter(name) | AliasRule::Index(name) => Some(name),
            _ => None,
        }
    }

    /// Applies the rule to a URL. Returns `None` if the URL does not change or has no host. Takes
    /// time linear in the length of the URL, except to sort parameters.
    ///
    /// ```
    /// use simkeep::alias::AliasRule;
    /// let url = "http://www.example.com/a/index.html";
    /// let without_www = AliasRule::Www { with: false };
    /// assert_eq!(without_www.apply(url).unwrap(), "http://example.com/a/index.html");
    /// let without_index = AliasRule::Index("index.html".into());
    /// assert_eq!(without_index.apply(url).unwrap(), "http://www.example.com/a/");
    /// assert_eq!(AliasRule::Fragment.apply(url), None); // the URL has no fragment
    /// ```
    pub fn apply(&self, url: &str) -> Option<String> {
        let mut out = String::with_capacity(url.len() + 4);
        self.of(&UrlParts::of(url)?)?.write(&mut out);
        Some(out)
    }

    /// Applies the rule to a URL in parts; `None` if the URL does not change.
    pub(super) fn of<'u>(&self, url: &UrlParts<'u>) -> Option<UrlParts<'u>> {
        let url = || url.clone();
        match self {
            AliasRule::Host => as_browsers_write(url()),
            AliasRule::Port => without_port(url()),
            AliasRule::Escapes => with_unescaped(url()),
            AliasRule::Session => {
                let path = without_session(&url().path)?;
                Some(UrlParts { path: path.into(), ..url() })
            }
            AliasRule::Slashes => {
                let path = with_single_slashes(&url().path)?;
                Some(UrlParts { path: path.into(), ..url() })
            }
            AliasRule::EmptyQuery => {
                let is_empty = url().query.is_some_and(|query| query.is_empty());
                is_empty.then(|| UrlParts { query: None, ..url() })
            }
            AliasRule::Scheme { secure } => {
                let scheme = if *secure { "https" } else { "http" };
                other_scheme(&url(), *secure).then(|| UrlParts {
                    scheme: scheme.into(),
                    port: "",
                    ..url()
                })
            }
            AliasRule::Www { with: false } => {
                let host = without_www(&url().host)?.to_owned();
                Some(UrlParts { host: host.into(), ..url() })
            }
            AliasRule::Www { with: true } => {
                let host = url().host;
                takes_www(&host).then(|| UrlParts { host: format!("www.{host}").into(), ..url() })
            }
            AliasRule::Fragment => url().fragment.map(|_| UrlParts { fragment: None, ..url() }),
            AliasRule::Parameter(name) => without_parameter(url(), name),
            AliasRule::Order => in_order(url()),
            AliasRule::Index(name) => {
                let url = url();
                let is_it = url.name().eq_ignore_ascii_case(name) && !name.is_empty();
                let path = url.path.get(..url.path.len() - url.name().len()).unwrap_or_default();
                let path = path.to_owned();
                is_it.then(|| UrlParts { path: path.into(), ..url })
            }
            AliasRule::Slash { with } => with_slash(url(), *with),
            AliasRule::Case => {
                let path = lowered(&url().path)?;
                Some(UrlParts { path: path.into(), ..url() })
            }
        }
    }
}

impl fmt::Display for AliasRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind())?;
        self.value().map_or(Ok(()), |value| write!(f, " {value}"))
    }
}

/// Applies rules to a URL, one after another. Pass the rules in the order of an
/// [`AliasSite`](super::AliasSite); they hold only for the pages of that site.
///
/// ```
/// use simkeep::alias::{AliasRule, normalised};
/// let rules = [AliasRule::Scheme { secure: true }, AliasRule::Parameter("sid".into())];
/// assert_eq!(normalised("http://a.example/b?sid=1", &rules), "https://a.example/b");
/// ```
pub fn normalised(url: &str, rules: &[AliasRule]) -> String {
    rules.iter().fold(url.to_owned(), |url, rule| rule.apply(&url).unwrap_or(url))
}

/// The name of a parameter in rules: the parameter's own name, or the name of its family.
pub(super) fn family(name: &str) -> &str {
    if name.starts_with("utm_") {
        UTM
    } else if name.starts_with("ASPSESSIONID") {
        ASP_SESSION
    } else {
        name
    }
}

/// Writes the scheme and the host as browsers do, and replaces each `\` of the path by `/`; `None`
/// if the URL does not change (URL Standard, 4.4). For browsers, a `\` ends the host.
fn as_browsers_write(url: UrlParts<'_>) -> Option<UrlParts<'_>> {
    if !host::is_special(&url.scheme) || url.user.contains('\\') {
        return None;
    }
    let has_upper = |text: &str| text.bytes().any(|byte| byte.is_ascii_uppercase());
    let scheme = match has_upper(&url.scheme) {
        true => Cow::Owned(url.scheme.to_ascii_lowercase()),
        false => url.scheme.clone(),
    };
    let slashes = |path: &str| Cow::Owned(path.replace('\\', "/"));
    if let Some((authority, path)) = url.host.split_once('\\') {
        let (_, name, _) = split_host(authority);
        if name.is_empty() {
            return None;
        }
        let behind = authority.get(name.len()..)?;
        let path = slashes(&format!("/{path}{}{}", url.port, url.path));
        let host = Cow::Owned(written(name)?.into_owned());
        // Text between the host and the path is a port, which becomes a part of `host` here.
        let host = if behind.is_empty() { host } else { format!("{host}{behind}").into() };
        return Some(UrlParts { scheme, host, port: "", path, ..url });
    }
    let host = Cow::Owned(written(&url.host)?.into_owned());
    let path = match url.path.contains('\\') {
        true => slashes(&url.path),
        false => url.path.clone(),
    };
    let is_another = scheme != url.scheme || host != url.host || path != url.path;
    is_another.then_some(UrlParts { scheme, host, path, ..url })
}

/// A host as browsers write it; `None` if browsers reject the host.
fn written(name: &str) -> Option<Cow<'_, str>> {
    match host::normalize(name)? {
        Cow::Borrowed(plain) if plain.bytes().any(|byte| byte.is_ascii_uppercase()) => {
            Some(Cow::Owned(plain.to_ascii_lowercase()))
        }
        read => Some(read),
    }
}

/// Whether the URL has a redundant port.
pub(super) fn has_port(url: &UrlParts<'_>) -> bool {
    let (_, _, port) = split_host(url.port);
    !url.port.is_empty() && (port.is_empty() || is_default_port(&url.scheme, port))
}

/// Removes a redundant port.
fn without_port(url: UrlParts<'_>) -> Option<UrlParts<'_>> {
    has_port(&url).then(|| UrlParts { port: "", ..url.clone() })
}

/// Whether a URL has the other web scheme, and no port except the default of that scheme.
pub(super) fn other_scheme(url: &UrlParts<'_>, secure: bool) -> bool {
    let other = if secure { "http" } else { "https" };
    let (_, _, port) = split_host(url.port);
    url.scheme.eq_ignore_ascii_case(other) && (port.is_empty() || is_default_port(other, port))
}

/// A host without its `www.`; `None` if it has no `www.` that can be removed.
pub(super) fn without_www(host: &str) -> Option<&str> {
    let (www, rest) = host.split_at_checked(4)?;
    (www.eq_ignore_ascii_case("www.") && takes_www(rest)).then_some(rest)
}

/// Whether `www.` can be added to a host: a name of at least two labels, none of them empty, that
/// does not begin with `www.`.
pub(super) fn takes_www(host: &str) -> bool {
    let name = host.strip_suffix('.').unwrap_or(host);
    let mut labels = name.split('.');
    let first = labels.next().unwrap_or_default();
    let has_more = name.contains('.');
    has_more
        && !first.eq_ignore_ascii_case("www")
        && !first.is_empty()
        && labels.all(|label| !label.is_empty())
        && !is_address(name)
        // Some addresses look like names with labels, such as `127.1`.
        && host::normalize(name).is_none_or(|read| !is_address(&read))
}

/// Whether a path has a trailing slash; `None` if the rule for slashes does not apply to the path.
pub(super) fn has_slash(path: &str) -> Option<bool> {
    let bare = path.strip_suffix('/').unwrap_or(path);
    let name = bare.rsplit('/').next().unwrap_or_default();
    (!name.is_empty() && !name.contains('.')).then_some(bare.len() < path.len())
}

/// Adds or removes the trailing slash of the path; `None` if the URL does not change.
fn with_slash(url: UrlParts<'_>, with: bool) -> Option<UrlParts<'_>> {
    if has_slash(&url.path)? == with {
        return None;
    }
    let bare = url.path.strip_suffix('/').unwrap_or(&url.path);
    let path = if with { format!("{bare}/") } else { bare.to_owned() };
    Some(UrlParts { path: path.into(), ..url })
}

/// Removes all parameters with a name or of a family; `None` if there are none.
fn without_parameter<'u>(url: UrlParts<'u>, name: &str) -> Option<UrlParts<'u>> {
    let query = url.query.as_deref()?;
    let is_left = |written: &&str| family(parameter(written)) != name;
    if query.split('&').all(|written| is_left(&written)) {
        return None;
    }
    let left: Vec<&str> = query.split('&').filter(is_left).collect();
    let query = (!left.is_empty()).then(|| Cow::Owned(left.join("&")));
    Some(UrlParts { query, ..url })
}

/// Sorts the parameters; `None` if they are sorted already.
fn in_order(url: UrlParts<'_>) -> Option<UrlParts<'_>> {
    if url.parameters().is_sorted() {
        return None;
    }
    let mut written: Vec<&str> = url.query.as_deref()?.split('&').collect();
    sort_few_by(&mut written, |a, b| parameter(a).cmp(parameter(b)));
    let query = Some(Cow::Owned(written.join("&")));
    Some(UrlParts { query, ..url })
}

#[cfg(test)]
mod tests;
