//! The `Content-Type` of a document.

use std::borrow::Cow;

use encoding_rs::Encoding;

/// The type of a document and its optional charset, as in the `Content-Type` of a response.
///
/// ```
/// use simkeep::fingerprint::ContentType;
/// let joined = ContentType::from_header("text/html; charset=gbk, image/png, text/html;charset=\"utf-8\"");
/// let joined = joined.unwrap();
/// assert_eq!((joined.essence(), joined.charset()), ("text/html", Some("utf-8")));
/// assert_eq!(ContentType::from_header("html"), None);
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ContentType {
    essence: Cow<'static, str>,
    charset: Option<String>,
}

/// The syntax in which a document declares its encoding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Syntax {
    /// A `<meta>` element, or an XML declaration.
    Html,
    /// XHTML.
    Xhtml,
    /// An XML declaration.
    Xml,
    /// A `@charset` rule at the start.
    Css,
    /// No declaration: JSON is UTF-8.
    Json,
    /// No declaration.
    Text,
}

impl ContentType {
    /// Returns `text/html` without a charset: the type of a page without further information.
    ///
    /// ```
    /// use simkeep::fingerprint::ContentType;
    /// let page = ContentType::html();
    /// assert_eq!((page.essence(), page.charset()), ("text/html", None));
    /// ```
    pub fn html() -> ContentType {
        ContentType { essence: Cow::Borrowed("text/html"), charset: None }
    }

    /// Parses a `Content-Type` header (WHATWG *Fetch*, 3.5, "extract a MIME type"). Join the values
    /// of repeated headers by commas: the result is the last valid value. If the last valid value
    /// has no charset, it gets the charset of the values of the same type before it. `None` if no
    /// value is valid, or if the only valid values are `*/*`. Linear time.
    ///
    /// ```
    /// use simkeep::fingerprint::ContentType;
    /// let page = ContentType::from_header("text/html; charset=latin1").unwrap();
    /// assert_eq!((page.charset(), page.encoding()), (Some("latin1"), Some("windows-1252")));
    /// assert_eq!(ContentType::from_header("*/*"), None);
    /// ```
    pub fn from_header(value: &str) -> Option<ContentType> {
        let mut found: Option<ContentType> = None;
        // The charset of the first value in a run of values with the same essence.
        let mut charset: Option<String> = None;
        for value in split(value) {
            let Some(mut parsed) = parse(value) else { continue };
            if parsed.essence == "*/*" {
                continue;
            }
            if found.as_ref().is_none_or(|before| before.essence != parsed.essence) {
                charset.clone_from(&parsed.charset);
            } else if parsed.charset.is_none() {
                parsed.charset.clone_from(&charset);
            }
            found = Some(parsed);
        }
        found
    }

    /// Returns the type of a page. `declared` comes from the server: its `Content-Type`, several
    /// values joined by commas, the label of an encoding, or nothing. The result is XHTML if the
    /// server declares it, and HTML otherwise, since the caller knows that the document is a page.
    ///
    /// ```
    /// use simkeep::fingerprint::ContentType;
    /// let page = ContentType::of_page(Some("application/octet-stream; charset=gbk"));
    /// assert_eq!((page.essence(), page.encoding()), ("text/html", Some("GBK")));
    /// ```
    pub fn of_page(declared: Option<&str>) -> ContentType {
        let declared = ContentType::declared(declared);
        match declared.syntax() {
            Syntax::Html | Syntax::Xhtml => declared,
            _ => declared.with_essence("text/html"),
        }
    }

    /// Returns the type of a document from a label, a header, or nothing.
    pub(super) fn declared(declared: Option<&str>) -> ContentType {
        match declared {
            // A label contains no slash, and every type contains a slash.
            Some(header) if header.contains('/') => {
                ContentType::from_header(header).unwrap_or_else(ContentType::html)
            }
            Some(label) => ContentType { charset: Some(label.to_owned()), ..ContentType::html() },
            None => ContentType::html(),
        }
    }

    /// Returns a type with the same charset and the new essence, for example an essence sniffed
    /// from the bytes.
    ///
    /// ```
    /// use simkeep::fingerprint::ContentType;
    /// let declared = ContentType::from_header("text/plain; charset=gbk").unwrap();
    /// let page = declared.with_essence("text/html"); // by its first bytes
    /// assert_eq!((page.essence(), page.charset()), ("text/html", Some("gbk")));
    /// ```
    #[must_use]
    pub fn with_essence(self, essence: impl Into<Cow<'static, str>>) -> ContentType {
        ContentType { essence: essence.into(), ..self }
    }

    /// Returns type and subtype in lower case, such as `text/html`.
    pub fn essence(&self) -> &str {
        &self.essence
    }

    /// Returns the charset as written, known or not.
    pub fn charset(&self) -> Option<&str> {
        self.charset.as_deref()
    }

    /// Returns the name of the charset's encoding in the *Encoding* standard, such as
    /// `windows-1252` for `latin1`. `None` if there is no charset, or if the charset is unknown.
    pub fn encoding(&self) -> Option<&'static str> {
        self.label().map(Encoding::name)
    }

    /// Whether documents of this type are HTML: their fingerprint is made of their
    /// [visible text](super::super::extract).
    ///
    /// ```
    /// use simkeep::fingerprint::ContentType;
    /// let is_html = |header| ContentType::from_header(header).unwrap().is_html();
    /// assert!(is_html("text/html; charset=utf-8") && is_html("application/xhtml+xml"));
    /// assert!(!is_html("text/plain"));
    /// ```
    pub fn is_html(&self) -> bool {
        matches!(
            self.essence(),
            "text/html" | "application/xhtml+xml" | "application/vnd.wap.xhtml+xml"
        )
    }

    /// Whether documents of this type are text: HTML, plain text, XML, JSON, scripts and style
    /// sheets. Other documents, such as PDF and images, are content without a fingerprint.
    ///
    /// The readers of web archives use this rule, too. They also look at the first bytes, because
    /// some servers declare binary files as text.
    ///
    /// ```
    /// use simkeep::fingerprint::ContentType;
    /// let is_text = |header| ContentType::from_header(header).unwrap().is_text();
    /// assert!(is_text("text/html") && is_text("text/css") && is_text("application/rss+xml"));
    /// assert!(!is_text("application/pdf") && !is_text("image/png"));
    /// ```
    pub fn is_text(&self) -> bool {
        match self.essence() {
            "application/json"
            | "application/ld+json"
            | "application/xml"
            | "application/javascript"
            | "application/x-javascript"
            | "application/ecmascript"
            | "application/x-ndjson"
            | "application/yaml"
            | "application/x-yaml"
            | "application/toml" => true,
            essence if essence.starts_with("application/") => {
                self.is_html() || essence.ends_with("+xml") || essence.ends_with("+json")
            }
            essence => essence.starts_with("text/"),
        }
    }

    pub(super) fn label(&self) -> Option<&'static Encoding> {
        Encoding::for_label(self.charset()?.as_bytes())
    }

    /// Returns how a document of this type declares its encoding (WHATWG *MIME Sniffing*, 4.6).
    pub(super) fn syntax(&self) -> Syntax {
        match self.essence() {
            "text/html" => Syntax::Html,
            "application/xhtml+xml" | "application/vnd.wap.xhtml+xml" => Syntax::Xhtml,
            "text/xml" | "application/xml" => Syntax::Xml,
            "text/css" => Syntax::Css,
            "text/json" | "application/json" => Syntax::Json,
            essence if essence.ends_with("+xml") => Syntax::Xml,
            essence if essence.ends_with("+json") => Syntax::Json,
            _ => Syntax::Text,
        }
    }
}

/// Splits values at commas outside of quotes (WHATWG *Fetch*, 2.2.2, "get, decode, and split").
fn split(values: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(values);
    std::iter::from_fn(move || {
        let values = rest?;
        let mut quotes = Quotes::default();
        let comma = values.bytes().position(|b| !quotes.take(b) && b == b',');
        let (value, after) = match comma.and_then(|at| values.split_at_checked(at)) {
            Some((value, after)) => (value, after.get(1..)),
            None => (values, None),
        };
        rest = after;
        Some(value.trim_matches(['\t', ' ']))
    })
}

/// Tracks whether a position is in a quoted string, in which a backslash escapes.
#[derive(Default)]
struct Quotes {
    open: bool,
    escaped: bool,
}

impl Quotes {
    /// Takes the next byte, and returns whether it belongs to a quoted string.
    fn take(&mut self, byte: u8) -> bool {
        let was_open = self.open;
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' if self.open => self.escaped = true,
            b'"' => self.open = !self.open,
            _ => {}
        }
        was_open || self.open
    }
}

/// HTTP white space.
const BLANKS: [char; 4] = ['\n', '\r', '\t', ' '];

/// Parses a MIME type (WHATWG *MIME Sniffing*, 4.4), keeping only the charset parameter.
fn parse(value: &str) -> Option<ContentType> {
    let (kind, rest) = value.trim_matches(BLANKS).split_once('/')?;
    let (subtype, mut parameters) = match rest.split_once(';') {
        Some((subtype, parameters)) => (subtype, Some(parameters)),
        None => (rest, None),
    };
    let subtype = subtype.trim_end_matches(BLANKS);
    if !is_token(kind) || !is_token(subtype) {
        return None;
    }
    let mut charset = None;
    while let Some(rest) = parameters {
        let rest = rest.trim_start_matches(BLANKS);
        let end = rest.find([';', '=']).unwrap_or(rest.len());
        let (name, rest) = rest.split_at(end);
        let Some(rest) = rest.strip_prefix('=') else {
            parameters = rest.strip_prefix(';');
            continue;
        };
        let (value, rest) = parameter(rest);
        parameters = rest;
        let value = value.filter(|value| value.chars().all(is_quotable));
        if charset.is_none() && name.eq_ignore_ascii_case("charset") {
            charset = value.map(Cow::into_owned);
        }
    }
    let essence = format!("{kind}/{subtype}").to_ascii_lowercase();
    Some(ContentType { essence: Cow::Owned(essence), charset })
}

/// Returns the value of a parameter, `None` if it is invalid; and the text after the next
/// semicolon.
fn parameter(text: &str) -> (Option<Cow<'_, str>>, Option<&str>) {
    let Some(quoted) = text.strip_prefix('"') else {
        let (value, rest) = until_semicolon(text);
        let value = value.trim_end_matches(BLANKS);
        return ((!value.is_empty()).then_some(Cow::Borrowed(value)), rest);
    };
    // WHATWG *Fetch*, 2.2, "collect an HTTP quoted string".
    let mut value = String::new();
    let mut chars = quoted.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' => value.push(chars.next().unwrap_or('\\')),
            c => value.push(c),
        }
    }
    (Some(Cow::Owned(value)), until_semicolon(chars.as_str()).1)
}

fn until_semicolon(text: &str) -> (&str, Option<&str>) {
    text.split_once(';').map_or((text, None), |(before, after)| (before, Some(after)))
}

/// Whether a text consists of HTTP token code points.
fn is_token(text: &str) -> bool {
    let is_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    !text.is_empty() && text.bytes().all(is_token)
}

/// Whether a character is an HTTP quoted-string token code point.
fn is_quotable(c: char) -> bool {
    matches!(c, '\t' | ' '..='~' | '\u{80}'..='\u{ff}')
}
