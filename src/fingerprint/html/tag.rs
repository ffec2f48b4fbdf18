//! A start tag while it is read.

/// The longest value of a field that is kept, in bytes; longer ones are passed over.
const FIELD_BYTES_MAX: usize = 4096;

/// The tag that is being opened, and those of its attributes that matter.
#[derive(Default)]
pub(super) struct Tag {
    pub(super) name: Vec<u8>,
    pub(super) hidden: bool,
    /// The attribute whose value may yet come.
    attribute: Attribute,
    /// Those that were there: of two with one name the first counts.
    seen: [bool; 3],
    /// Those of a `meta` element.
    field: Option<&'static str>,
    content: Option<String>,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Attribute {
    #[default]
    Other,
    Hidden,
    Name,
    Content,
}

impl Tag {
    /// Begins anew.
    pub(super) fn begin(&mut self, name: &[u8]) {
        self.name.clear();
        self.name.extend_from_slice(name);
        self.hidden = false;
        self.attribute = Attribute::Other;
        self.seen = [false; 3];
        (self.field, self.content) = (None, None);
    }

    /// Takes the name of an attribute.
    pub(super) fn attribute(&mut self, name: &[u8]) {
        let of_meta = self.name == b"meta";
        let (attribute, place) = match name {
            b"hidden" => (Attribute::Hidden, 0),
            b"name" if of_meta => (Attribute::Name, 1),
            b"content" if of_meta => (Attribute::Content, 2),
            _ => (Attribute::Other, 3),
        };
        let again = self.seen.get_mut(place).is_some_and(|seen| std::mem::replace(seen, true));
        self.attribute = if again { Attribute::Other } else { attribute };
        self.hidden |= self.attribute == Attribute::Hidden;
    }

    /// Takes the value of the attribute in hand.
    pub(super) fn value(&mut self, value: &[u8]) {
        match self.attribute {
            // Hidden until the reader searches: part of what the page says.
            Attribute::Hidden if value.eq_ignore_ascii_case(b"until-found") => self.hidden = false,
            Attribute::Name => {
                let names = ["author", "description", "keywords"];
                let is_this = |name: &&str| name.as_bytes().eq_ignore_ascii_case(value);
                self.field = names.into_iter().find(is_this);
            }
            Attribute::Content if value.len() <= FIELD_BYTES_MAX => {
                self.content = Some(String::from_utf8_lossy(value).into_owned());
            }
            Attribute::Hidden | Attribute::Content | Attribute::Other => {}
        }
    }

    /// What a `meta` element says, if that is a field.
    pub(super) fn field(&mut self) -> Option<(&'static str, String)> {
        self.field.take().zip(self.content.take())
    }
}
