//! The entity tag of a page's content.

use std::fmt;

/// The entity tag of a page's content, exactly as a server sent it in `ETag`, with its quotes and
/// a possible `W/`.
///
/// A crawler sends the value in `If-None-Match`, and the server answers with 304 if the page has
/// the same content (RFC 9110, sections 8.8.3 and 13.1.2).
///
/// ```
/// use simkeep::ETag;
/// let etag = ETag::new(b"W/\"67ab43\"").unwrap();
/// assert_eq!((etag.as_bytes(), etag.to_string().as_str()), (&b"W/\"67ab43\""[..], "W/\"67ab43\""));
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ETag(Box<[u8]>);

impl ETag {
    /// The maximum number of bytes of an entity tag that a store keeps.
    pub const BYTES_MAX: usize = 128;

    /// Creates an entity tag from the value of a header. Returns `None` if the value is empty, has
    /// more than [`BYTES_MAX`](ETag::BYTES_MAX) bytes, or [cannot be sent](ETag::is_sendable).
    ///
    /// ```
    /// use simkeep::ETag;
    /// assert!(ETag::new(b"\"v1\"").is_some());
    /// assert_eq!(ETag::new(b"\"v1\"\r\nSet-Cookie: a=b"), None);
    /// ```
    pub fn new(value: &[u8]) -> Option<ETag> {
        let is_kept = (1..=Self::BYTES_MAX).contains(&value.len()) && Self::is_sendable(value);
        is_kept.then(|| ETag(value.into()))
    }

    /// Whether a value can be sent in a header: it has no carriage return, line feed or NUL, which
    /// could end the header and begin another (RFC 9110, section 5.5).
    pub fn is_sendable(value: &[u8]) -> bool {
        !value.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0))
    }

    /// The value of the header.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Converts each byte of the value to a character (ISO 8859-1), so that any entity tag is text
    /// from which the bytes can be restored. JSON has entity tags in this form.
    ///
    /// ```
    /// use simkeep::ETag;
    /// assert_eq!(ETag::new(b"\"caf\xe9\"").unwrap().to_latin1(), "\"caf\u{e9}\"");
    /// ```
    pub fn to_latin1(&self) -> String {
        self.0.iter().copied().map(char::from).collect()
    }
}

/// Formats printable ASCII characters unchanged, and other bytes as `\xNN`. So the text is safe to
/// show in a terminal.
impl fmt::Display for ETag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| match byte {
            b' '..=b'~' => write!(f, "{}", char::from(*byte)),
            _ => write!(f, "\\x{byte:02x}"),
        })
    }
}

impl fmt::Debug for ETag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ETag({self})")
    }
}
