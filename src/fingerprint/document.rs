//! A text with its marks and fields.

use std::ops::{BitOr, BitOrAssign, Range};

/// The markup of a part of a text.
///
/// ```
/// use simkeep::fingerprint::Marks;
/// let heading_of_a_link = Marks::HEADING | Marks::ANCHOR;
/// assert!(heading_of_a_link.contains(Marks::ANCHOR));
/// assert!(!heading_of_a_link.contains(Marks::TITLE));
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Marks(u8);

impl Marks {
    /// No mark.
    pub const NONE: Marks = Marks(0);
    /// The title.
    pub const TITLE: Marks = Marks(1);
    /// A heading.
    pub const HEADING: Marks = Marks(2);
    /// Bold, italic or otherwise emphasised.
    pub const EMPHASIS: Marks = Marks(4);
    /// The text of a link.
    pub const ANCHOR: Marks = Marks(8);

    /// Whether this set contains all of `marks`.
    pub const fn contains(self, marks: Marks) -> bool {
        self.0 & marks.0 == marks.0
    }
}

impl BitOr for Marks {
    type Output = Marks;

    fn bitor(self, other: Marks) -> Marks {
        Marks(self.0 | other.0)
    }
}

impl BitOrAssign for Marks {
    fn bitor_assign(&mut self, other: Marks) {
        self.0 |= other.0;
    }
}

/// A text with marked parts and with additional fields. The recipe decides which marks and fields
/// affect a fingerprint.
///
/// ```
/// use simkeep::fingerprint::{Document, Marks};
/// let mut document = Document::default();
/// document.push("Fish and chips", Marks::TITLE);
/// document.push("\nFresh daily", Marks::NONE);
/// document.field("author", "A. Cook");
/// assert_eq!(document.text(), "Fish and chips\nFresh daily");
/// assert_eq!(document.marks(3..8), Marks::TITLE);
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Document {
    text: String,
    /// The positions where marks change, ascending, with the marks of the text after each position.
    marked: Vec<(usize, Marks)>,
    fields: Vec<(String, String)>,
    metadata: u64,
    /// The references of `<link rel=canonical>`, and of `<base>`.
    canonicals: Vec<String>,
    base: Option<String>,
}

/// The maximum number of canonical URLs of a document, and the maximum length of each in bytes.
#[cfg(feature = "html")]
const CANONICALS_MAX: usize = 4;
#[cfg(feature = "html")]
pub(super) const REFERENCE_BYTES_MAX: usize = 8192;

impl Document {
    /// Creates a text without marks.
    ///
    /// ```
    /// use simkeep::fingerprint::{Document, Fingerprinter, Recipe};
    /// let (text, mut fingerprinter) = ("Fresh fish and chips daily", Fingerprinter::new(&Recipe::DEFAULT)?);
    /// assert_eq!(fingerprinter.of(&Document::new(text))?, fingerprinter.of_text(text)?);
    /// # Ok::<(), simkeep::Error>(())
    /// ```
    pub fn new(text: impl Into<String>) -> Document {
        Document { text: text.into(), ..Document::default() }
    }

    /// Appends to the text.
    ///
    /// ```
    /// use simkeep::fingerprint::{Document, Fingerprinter, Marks, Ratio, Recipe};
    /// let mut page = Document::default();
    /// page.push("Fish and chips", Marks::TITLE);
    /// page.push("\nFresh daily, except on Mondays", Marks::NONE);
    /// let recipe = Recipe::words(1).boost(Ratio::percent(300)); // titles weigh 3 times as much
    /// let plain = Document::new(page.text());
    /// let mut fingerprinter = Fingerprinter::new(&recipe)?;
    /// assert_ne!(fingerprinter.of(&page)?, fingerprinter.of(&plain)?);
    /// # Ok::<(), simkeep::Error>(())
    /// ```
    pub fn push(&mut self, text: &str, marks: Marks) {
        if self.marked.last().map_or(Marks::NONE, |last| last.1) != marks && !text.is_empty() {
            self.marked.push((self.text.len(), marks));
        }
        self.text.push_str(text);
    }

    /// Adds a field, such as an author or a section. For recipes with [fields](super::FieldWeight), the
    /// field is a separate feature. Equal fields of different documents are the same feature.
    pub fn field(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.fields.push((name.into(), value.into()));
    }

    /// Sets the metadata in the lowest bits of `bits`. Recipes with
    /// [reserved](super::Recipe::reserved) bits put it into the leading bits of a fingerprint.
    ///
    /// ```
    /// use simkeep::fingerprint::{Document, Fingerprinter, Recipe};
    /// let mut page = Document::new("Fresh fish and chips daily");
    /// page.set_metadata(0x2a); // such as the number of a language
    /// let fingerprint = Fingerprinter::new(&Recipe::DEFAULT.reserved(8))?.of(&page)?;
    /// assert_eq!(fingerprint >> 56, 0x2a);
    /// # Ok::<(), simkeep::Error>(())
    /// ```
    pub fn set_metadata(&mut self, bits: u64) {
        self.metadata = bits;
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text, and drops the marks and fields.
    pub fn into_text(self) -> String {
        self.text
    }

    /// Returns all marks of a byte range of the text.
    pub fn marks(&self, range: Range<usize>) -> Marks {
        let first = self.marked.partition_point(|part| part.0 <= range.start).saturating_sub(1);
        let parts = self.marked.iter().skip(first).take_while(|part| part.0 < range.end);
        let mut marks = Marks::NONE;
        for (part, (at, of_part)) in (first..).zip(parts) {
            let end = self.marked.get(part + 1).map_or(usize::MAX, |next| next.0);
            if *at < range.end && end > range.start {
                marks |= *of_part;
            }
        }
        marks
    }

    /// Returns the fields in insertion order.
    pub fn fields(&self) -> &[(String, String)] {
        &self.fields
    }

    /// Returns the canonical URLs that the page declares in `<link rel="canonical">`, in order and
    /// as written: each may be relative or invalid.
    /// [`Target::first_url`](crate::Target::first_url) selects the first valid one. Canonical URLs
    /// are no part of the text, and never affect a fingerprint.
    ///
    /// At most 4 are kept, each of at most 8,192 bytes. Empty and longer ones are skipped.
    ///
    /// ```
    /// # #[cfg(feature = "html")] {
    /// use simkeep::Target;
    /// use simkeep::fingerprint::extract;
    /// let page = "<base href=/docs/><link rel=canonical href=shoes><p>Shoes";
    /// let document = extract(page);
    /// assert_eq!(document.canonicals(), ["shoes"]);
    /// let url = "https://example.com/docs/shoes?color=red";
    /// let canonical = Target::first_url(url, document.base(), document.canonicals());
    /// assert_eq!(canonical.as_deref(), Some("https://example.com/docs/shoes"));
    /// # }
    /// ```
    pub fn canonicals(&self) -> &[String] {
        &self.canonicals
    }

    /// Returns the reference of the first `<base href>`, as written. Links of the page are relative
    /// to it. A reference of more than 8,193 bytes is cut after 8,193 bytes, so it is still too long
    /// to be a URL of a store.
    pub fn base(&self) -> Option<&str> {
        self.base.as_deref()
    }

    /// Adds a canonical URL, unless it is empty or the document has enough.
    #[cfg(feature = "html")]
    pub(super) fn push_canonical(&mut self, reference: String) {
        if !reference.is_empty() && self.canonicals.len() < CANONICALS_MAX {
            self.canonicals.push(reference);
        }
    }

    /// Sets the base, unless the document has one.
    #[cfg(feature = "html")]
    pub(super) fn set_base(&mut self, reference: String) {
        self.base.get_or_insert(reference);
    }

    /// Returns the metadata for the leading bits.
    pub fn metadata(&self) -> u64 {
        self.metadata
    }

    /// Removes white space at the end of the text.
    #[cfg(feature = "html")]
    pub(super) fn trim_end(&mut self) {
        self.text.truncate(self.text.trim_end().len());
        self.forget_empty_parts();
    }

    /// Drops parts of which all text was removed.
    #[cfg(feature = "html")]
    fn forget_empty_parts(&mut self) {
        while self.marked.pop_if(|part| part.0 >= self.text.len()).is_some() {}
    }

    /// Removes the last character if it is `c`.
    #[cfg(feature = "html")]
    pub(super) fn pop(&mut self, c: char) {
        if self.text.ends_with(c) {
            self.text.pop();
            self.forget_empty_parts();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found_by_position() {
        let mut document = Document::new("plain ");
        document.push("bold", Marks::EMPHASIS);
        document.push(" link", Marks::ANCHOR | Marks::EMPHASIS);
        document.push("", Marks::HEADING);
        document.push(" plain", Marks::NONE);
        document.push(" head", Marks::HEADING);
        let found = [0..6, 6..10, 10..15, 15..21, 21..26, 5..7, 0..26, 99..100]
            .map(|range| document.marks(range));
        let both = Marks::ANCHOR | Marks::EMPHASIS;
        let none = Marks::NONE;
        let all = both | Marks::HEADING;
        let expected = [
            none,
            Marks::EMPHASIS,
            both,
            none,
            Marks::HEADING,
            Marks::EMPHASIS,
            all,
            Marks::HEADING,
        ];
        assert_eq!(found, expected);
        assert!(all.contains(both) && !both.contains(Marks::TITLE));
        assert_eq!(Document::new("x").marks(0..1), Marks::NONE);
    }
}
