//! Rules: differences between URLs that may make none.

use std::borrow::Cow;
use std::fmt;

use super::address::{Address, parameter};
use super::spelling::{lowered, with_single_slashes, with_unescaped, without_session};
use crate::page::host;
use crate::page::surt::{is_address, is_default_port, split_host};

/// Names of the page that a folder is, as servers have them by default.
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

/// What stands for all parameters whose names begin with `utm_`.
const UTM: &str = "utm_*";

/// What stands for all parameters whose names begin with `ASPSESSIONID`, behind which each server has
/// letters of its own.
pub(super) const ASP_SESSION: &str = "ASPSESSIONID*";

/// A rule that makes one URL of several: a difference between URLs that may make no difference.
///
/// It is a map from URLs to URLs, and two pages are a pair of a rule if it makes their URLs one, and
/// takes something else from each: where a parameter stands makes them no pair of the rule for that. In
/// words and as [`kind`](AliasRule::kind) and [`value`](AliasRule::value) name them:
///
/// | kind | value | what it does |
/// |---|---|---|
/// | `host` | | writes scheme and host as browsers do: `127.0.0.1` for `127.1`; and `/` for each `\` |
/// | `scheme` | `https` or `http` | makes one scheme of the other, if no other port is named |
/// | `www` | `without` or `with` | takes `www.` from the host, or puts it there |
/// | `port` | | takes the port that the scheme has anyway, and an empty one |
/// | `escapes` | | decodes `%7E` and other unreserved characters; other escapes in upper case |
/// | `session` | | takes `;jsessionid=1` and the like from the path, and the `(S(1))/` of ASP.NET |
/// | `slashes` | | makes one slash of several in the path |
/// | `fragment` | | takes the fragment with its `#` |
/// | `empty-query` | | takes a `?` with nothing behind |
/// | `parameter` | its name | takes all of this name; of `utm_*` and `ASPSESSIONID*` all that begin so |
/// | `order` | | puts parameters in order of their names; those of one name stay |
/// | `index` | a name | takes the last name of the path if it is this one, in upper or lower case |
/// | `slash` | `without` or `with` | takes the slash at the end of the path, or puts it there |
/// | `case` | | makes ASCII letters of the path lower case, but for `%C3` and sessions |
///
/// No `www.` stands before an address, nor before a name without a dot, and no slash behind a name with
/// a dot; that of `/` stays. Names are compared by bytes.
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
    /// Spellings of a scheme and host that browsers take for the same are.
    Host,
    /// Both schemes of the web are this one.
    Scheme {
        /// Whether that is `https`.
        secure: bool,
    },
    /// A host is the same with and without `www.`.
    Www {
        /// Whether it is put there.
        with: bool,
    },
    /// The port of a scheme may be written or not.
    Port,
    /// A character is the same with and without percent-encoding, if it needs none.
    Escapes,
    /// The number of a session in a path makes no difference.
    Session,
    /// Several slashes in a path are one.
    Slashes,
    /// A fragment names the same page.
    Fragment,
    /// An empty query is none.
    EmptyQuery,
    /// A parameter makes no difference.
    Parameter(String),
    /// The order of parameters makes no difference.
    Order,
    /// A folder and this page in it are one.
    Index(String),
    /// A path is the same with and without a slash at its end.
    Slash {
        /// Whether it is put there.
        with: bool,
    },
    /// Upper and lower case of a path are the same.
    Case,
}

impl AliasRule {
    /// The rule of this kind and value, as they are written in JSON; `None` if there is none such.
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

    /// What kind of rule it is, in one word.
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

    /// Which of its kind it is, if there are several.
    pub fn value(&self) -> Option<&str> {
        let either = |with: &bool| if *with { "with" } else { "without" };
        match self {
            AliasRule::Scheme { secure } => Some(if *secure { "https" } else { "http" }),
            AliasRule::Www { with } | AliasRule::Slash { with } => Some(either(with)),
            AliasRule::Parameter(name) | AliasRule::Index(name) => Some(name),
            _ => None,
        }
    }

    /// What the rule makes of a URL; `None` if it leaves it as it is, as it does any without a host.
    /// Linear in the length of the URL, but for parameters that are put in order.
    pub fn apply(&self, url: &str) -> Option<String> {
        let mut out = String::with_capacity(url.len() + 4);
        self.of(&Address::of(url)?)?.write(&mut out);
        Some(out)
    }

    /// What the rule makes of a URL in its parts; `None` if it leaves it as it is.
    pub(super) fn of<'u>(&self, url: &Address<'u>) -> Option<Address<'u>> {
        let url = || url.clone();
        match self {
            AliasRule::Host => as_browsers_write(url()),
            AliasRule::Port => without_port(url()),
            AliasRule::Escapes => with_unescaped(url()),
            AliasRule::Session => {
                let path = without_session(&url().path)?;
                Some(Address { path: path.into(), ..url() })
            }
            AliasRule::Slashes => {
                let path = with_single_slashes(&url().path)?;
                Some(Address { path: path.into(), ..url() })
            }
            AliasRule::EmptyQuery => {
                let is_empty = url().query.is_some_and(|query| query.is_empty());
                is_empty.then(|| Address { query: None, ..url() })
            }
            AliasRule::Scheme { secure } => {
                let scheme = if *secure { "https" } else { "http" };
                other_scheme(&url(), *secure).then(|| Address {
                    scheme: scheme.into(),
                    port: "",
                    ..url()
                })
            }
            AliasRule::Www { with: false } => {
                let host = without_www(&url().host)?.to_owned();
                Some(Address { host: host.into(), ..url() })
            }
            AliasRule::Www { with: true } => {
                let host = url().host;
                takes_www(&host).then(|| Address { host: format!("www.{host}").into(), ..url() })
            }
            AliasRule::Fragment => url().fragment.map(|_| Address { fragment: None, ..url() }),
            AliasRule::Parameter(name) => without_parameter(url(), name),
            AliasRule::Order => in_order(url()),
            AliasRule::Index(name) => {
                let url = url();
                let is_it = url.name().eq_ignore_ascii_case(name) && !name.is_empty();
                let path = url.path.get(..url.path.len() - url.name().len()).unwrap_or_default();
                let path = path.to_owned();
                is_it.then(|| Address { path: path.into(), ..url })
            }
            AliasRule::Slash { with } => with_slash(url(), *with),
            AliasRule::Case => {
                let path = lowered(&url().path)?;
                Some(Address { path: path.into(), ..url() })
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

/// What all of some rules make of a URL, one after another. They are to stand in the order in which an
/// [`AliasSite`](super::AliasSite) has them; and they hold for its pages only.
///
/// ```
/// use simkeep::alias::{AliasRule, normalised};
/// let rules = [AliasRule::Scheme { secure: true }, AliasRule::Parameter("sid".into())];
/// assert_eq!(normalised("http://a.example/b?sid=1", &rules), "https://a.example/b");
/// ```
pub fn normalised(url: &str, rules: &[AliasRule]) -> String {
    rules.iter().fold(url.to_owned(), |url, rule| rule.apply(&url).unwrap_or(url))
}

/// The name by which rules know a parameter: its own, or that of its family.
pub(super) fn family(name: &str) -> &str {
    if name.starts_with("utm_") {
        UTM
    } else if name.starts_with("ASPSESSIONID") {
        ASP_SESSION
    } else {
        name
    }
}

/// With the scheme and the host as browsers write them, and a `/` for each `\` of the path, if that is
/// another URL (URL Standard, 4.4). A `\` ends the host for them.
fn as_browsers_write(url: Address<'_>) -> Option<Address<'_>> {
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
        // What stands between the host and the path is a port; no part of a URL owns it.
        let host = if behind.is_empty() { host } else { format!("{host}{behind}").into() };
        return Some(Address { scheme, host, port: "", path, ..url });
    }
    let host = Cow::Owned(written(&url.host)?.into_owned());
    let path = match url.path.contains('\\') {
        true => slashes(&url.path),
        false => url.path.clone(),
    };
    let is_another = scheme != url.scheme || host != url.host || path != url.path;
    is_another.then_some(Address { scheme, host, path, ..url })
}

/// A host as browsers write it; `None` of one that they refuse.
fn written(name: &str) -> Option<Cow<'_, str>> {
    match host::read(name)? {
        Cow::Borrowed(plain) if plain.bytes().any(|byte| byte.is_ascii_uppercase()) => {
            Some(Cow::Owned(plain.to_ascii_lowercase()))
        }
        read => Some(read),
    }
}

/// Whether a port is written that says nothing.
pub(super) fn has_port(url: &Address<'_>) -> bool {
    let (_, _, port) = split_host(url.port);
    !url.port.is_empty() && (port.is_empty() || is_default_port(&url.scheme, port))
}

/// Without a port that says nothing.
fn without_port(url: Address<'_>) -> Option<Address<'_>> {
    has_port(&url).then(|| Address { port: "", ..url.clone() })
}

/// Whether a URL has the other scheme of the web, and no port that is not that scheme's.
pub(super) fn other_scheme(url: &Address<'_>, secure: bool) -> bool {
    let other = if secure { "http" } else { "https" };
    let (_, _, port) = split_host(url.port);
    url.scheme.eq_ignore_ascii_case(other) && (port.is_empty() || is_default_port(other, port))
}

/// A host without its `www.`; `None` if it has none that could be left out.
pub(super) fn without_www(host: &str) -> Option<&str> {
    let (www, rest) = host.split_at_checked(4)?;
    (www.eq_ignore_ascii_case("www.") && takes_www(rest)).then_some(rest)
}

/// Whether a host may have a `www.` before it: a name of two labels or more, none of them empty, that
/// does not begin with one.
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
        // Such as 127.1.
        && host::read(name).is_none_or(|read| !is_address(&read))
}

/// Whether a path has a slash at its end; `None` of one that no rule puts there or takes from it.
pub(super) fn has_slash(path: &str) -> Option<bool> {
    let bare = path.strip_suffix('/').unwrap_or(path);
    let name = bare.rsplit('/').next().unwrap_or_default();
    (!name.is_empty() && !name.contains('.')).then_some(bare.len() < path.len())
}

/// With or without a slash at the end of the path, if that is another URL.
fn with_slash(url: Address<'_>, with: bool) -> Option<Address<'_>> {
    if has_slash(&url.path)? == with {
        return None;
    }
    let bare = url.path.strip_suffix('/').unwrap_or(&url.path);
    let path = if with { format!("{bare}/") } else { bare.to_owned() };
    Some(Address { path: path.into(), ..url })
}

/// Without the parameters of a name or family, if there are any.
fn without_parameter<'u>(url: Address<'u>, name: &str) -> Option<Address<'u>> {
    let query = url.query.as_deref()?;
    let is_left = |written: &&str| family(parameter(written)) != name;
    if query.split('&').all(|written| is_left(&written)) {
        return None;
    }
    let left: Vec<&str> = query.split('&').filter(is_left).collect();
    let query = (!left.is_empty()).then(|| Cow::Owned(left.join("&")));
    Some(Address { query, ..url })
}

/// With the parameters in order, if they are not.
fn in_order(url: Address<'_>) -> Option<Address<'_>> {
    if url.parameters().is_sorted() {
        return None;
    }
    let mut written: Vec<&str> = url.query.as_deref()?.split('&').collect();
    written.sort_by_key(|written| parameter(written));
    let query = Some(Cow::Owned(written.join("&")));
    Some(Address { query, ..url })
}

#[cfg(test)]
mod tests;
