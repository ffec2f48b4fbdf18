//! A start tag while it is read.

/// The longest field value in bytes; longer values are ignored.
const FIELD_BYTES_MAX: usize = 4096;

/// The tag being read, with its relevant attributes.
#[derive(Default)]
pub(super) struct StartTag {
    pub(super) name: Vec<u8>,
    pub(super) hidden: bool,
    /// The attribute whose value may follow.
    attribute: TagAttribute,
    /// The attributes seen so far: if an attribute is repeated, only its first occurrence is used.
    seen: [bool; 3],
    /// The attributes of a `meta` element.
    field: Option<&'static str>,
    content: Option<String>,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum TagAttribute {
    #[default]
    Other,
    Hidden,
    Name,
    Content,
}

impl StartTag {
    /// Starts a new tag.
    pub(super) fn begin(&mut self, name: &[u8]) {
        self.name.clear();
        self.name.extend_from_slice(name);
        self.hidden = false;
        self.attribute = TagAttribute::Other;
        self.seen = [false; 3];
        (self.field, self.content) = (None, None);
    }

    /// Takes the name of an attribute.
    pub(super) fn attribute(&mut self, name: &[u8]) {
        let of_meta = self.name == b"meta";
        let (attribute, place) = match name {
            b"hidden" => (TagAttribute::Hidden, 0),
            b"name" if of_meta => (TagAttribute::Name, 1),
            b"content" if of_meta => (TagAttribute::Content, 2),
            _ => (TagAttribute::Other, 3),
        };
        let again = self.seen.get_mut(place).is_some_and(|seen| std::mem::replace(seen, true));
        self.attribute = if again { TagAttribute::Other } else { attribute };
        self.hidden |= self.attribute == TagAttribute::Hidden;
    }

    /// Takes the value of the current attribute.
    pub(super) fn value(&mut self, value: &[u8]) {
        match self.attribute {
            // An element that is hidden until the reader searches is part of the page's text.
            TagAttribute::Hidden if value.eq_ignore_ascii_case(b"until-found") => {
                self.hidden = false
            }
            TagAttribute::Name => {
                let names = ["author", "description", "keywords"];
                let is_this = |name: &&str| name.as_bytes().eq_ignore_ascii_case(value);
                self.field = names.into_iter().find(is_this);
            }
            TagAttribute::Content if value.len() <= FIELD_BYTES_MAX => {
                self.content = Some(String::from_utf8_lossy(value).into_owned());
            }
            TagAttribute::Hidden | TagAttribute::Content | TagAttribute::Other => {}
        }
    }

    /// Returns the field that a `meta` element declares, if any.
    pub(super) fn field(&mut self) -> Option<(&'static str, String)> {
        self.field.take().zip(self.content.take())
    }
}
