//! The text of an element, or the value of an attribute, that may be a URL or a time.

use simkeep::URL_BYTES_MAX;

use super::markup::{XmlTag, XmlText, attributes, resolve};

/// A text without leading white space, limited to a useful length.
#[derive(Default)]
pub(super) struct TextField {
    text: String,
    pub(super) is_too_long: bool,
    /// Whether the text refers to an entity of the document type. Entities of the document type are
    /// not expanded.
    pub(super) has_entity: bool,
}

impl TextField {
    /// Returns the value of an attribute; `None` if the tag does not have the attribute. Of several
    /// attributes with the name, the first is used.
    pub(super) fn of_attribute(
        tag: &XmlTag<'_>,
        is_name: impl Fn(&str) -> bool,
    ) -> Option<TextField> {
        let (_, value) = attributes(&tag.attributes).find(|(name, _)| is_name(name))?;
        Some(TextField::of_value(value, tag.has_entities))
    }

    /// Creates a field from the value of an attribute. `has_entities` means that the document
    /// declares entities.
    pub(super) fn of_value(value: &str, has_entities: bool) -> TextField {
        let mut field = TextField::default();
        field.resolve(value, has_entities);
        field
    }

    /// Returns the text without surrounding white space.
    pub(super) fn text(&self) -> &str {
        self.text.trim_end()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Appends a part of the text, or of a CDATA section in it.
    pub(super) fn add(&mut self, text: &XmlText<'_>, is_data: bool) {
        let part = String::from_utf8_lossy(text.bytes);
        if is_data {
            self.push(&part);
        } else {
            self.resolve(&part, text.has_entities);
        }
        self.is_too_long |= text.is_cut;
    }

    fn push(&mut self, part: &str) {
        let part = if self.text.is_empty() { part.trim_start() } else { part };
        self.is_too_long |= self.text.len() + part.len() > 2 * URL_BYTES_MAX;
        if !self.is_too_long {
            self.text.push_str(part);
        }
    }

    /// Appends a text with its references resolved.
    fn resolve(&mut self, text: &str, has_entities: bool) {
        let mut resolved = String::with_capacity(text.len());
        self.has_entity |= resolve(text, has_entities, &mut resolved);
        self.push(&resolved);
    }
}
