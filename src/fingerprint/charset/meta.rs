//! The encoding that a `<meta>` element declares.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

/// The relevant attributes, in the order of [`Meta::values`].
const NAMES: [&[u8]; 3] = [b"charset", b"content", b"http-equiv"];

/// The relevant attributes of a `<meta>` element. If an attribute is repeated, only its first
/// occurrence is used.
#[derive(Default)]
pub(super) struct Meta<'a> {
    values: [Option<Cow<'a, [u8]>>; NAMES.len()],
    /// The attribute whose value may follow.
    open: Option<usize>,
}

impl<'a> Meta<'a> {
    /// Adds an attribute without a value.
    pub(super) fn name(&mut self, name: &[u8]) {
        self.open = NAMES.iter().position(|known| name.eq_ignore_ascii_case(known));
        let Some(value) = self.open.and_then(|place| self.values.get_mut(place)) else { return };
        match value {
            Some(_) => self.open = None,
            None => *value = Some(Cow::Borrowed(b"")),
        }
    }

    /// Sets the value of the last added attribute.
    pub(super) fn value(&mut self, value: Cow<'a, [u8]>) {
        if let Some(of_open) = self.open.and_then(|place| self.values.get_mut(place)) {
            *of_open = Some(value);
        }
    }

    /// Returns the encoding that the prescan finds. The prescan skips an element with an unknown
    /// charset.
    pub(super) fn prescanned(&self) -> Option<&'static Encoding> {
        let [charset, ..] = &self.values;
        match charset {
            Some(charset) => from_label(charset),
            None => self.pragma(),
        }
    }

    /// Returns the encoding that a parser finds (HTML, 13.2.6.4.4, a start tag whose name is
    /// "meta"). If the charset is unknown, a parser uses the pragma.
    pub(super) fn parsed(&self) -> Option<&'static Encoding> {
        let [charset, ..] = &self.values;
        charset.as_deref().and_then(from_label).or_else(|| self.pragma())
    }

    fn pragma(&self) -> Option<&'static Encoding> {
        let [_, content, http_equiv] = &self.values;
        let pragma = http_equiv.as_deref()?.eq_ignore_ascii_case(b"content-type");
        if pragma { from_content(content.as_deref()?) } else { None }
    }
}

/// Returns the encoding of a label in a document. Since the declaration was read as ASCII, the
/// document is not UTF-16. x-user-defined means windows-1252 (HTML, 13.2.3.2 and 13.2.3.4).
pub(super) fn from_label(label: &[u8]) -> Option<&'static Encoding> {
    let encoding = Encoding::for_label(label)?;
    Some(if encoding == UTF_16LE || encoding == UTF_16BE {
        UTF_8
    } else if encoding == X_USER_DEFINED {
        WINDOWS_1252
    } else {
        encoding
    })
}

/// Extracts an encoding from `content` (HTML, 2.4.4, "extracting a character encoding from a meta
/// element").
fn from_content(content: &[u8]) -> Option<&'static Encoding> {
    let mut rest = content;
    loop {
        let name = b"charset";
        let at = rest.windows(name.len()).position(|word| word.eq_ignore_ascii_case(name))?;
        rest = trim_start(rest.get(at + name.len()..)?);
        if let Some(value) = rest.strip_prefix(b"=") {
            rest = trim_start(value);
            break;
        }
    }
    let label = match rest.split_first()? {
        (quote @ (b'"' | b'\''), quoted) => {
            let end = quoted.iter().position(|b| b == quote)?;
            quoted.get(..end)?
        }
        _ => {
            let is_end = |b: &u8| is_blank(*b) || *b == b';';
            rest.get(..rest.iter().position(is_end).unwrap_or(rest.len()))?
        }
    };
    from_label(label)
}

/// Removes ASCII white space at the start.
fn trim_start(bytes: &[u8]) -> &[u8] {
    let blanks = bytes.iter().take_while(|b| is_blank(**b)).count();
    bytes.get(blanks..).unwrap_or_default()
}

/// Whether a byte is ASCII white space as defined by HTML.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | 0x0c | b'\r' | b' ')
}
