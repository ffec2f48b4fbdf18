//! An object in a line of JSON, reduced to the relevant keys.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::time;

/// The values of the relevant keys.
#[derive(Default)]
pub(super) struct LineObject<'a> {
    pub(super) url: Option<FieldValue<'a>>,
    pub(super) t: Option<FieldValue<'a>>,
    pub(super) text: Option<FieldValue<'a>>,
    pub(super) fingerprint: Option<FieldValue<'a>>,
    pub(super) digest: Option<FieldValue<'a>>,
    pub(super) status: Option<FieldValue<'a>>,
    pub(super) seen: Option<FieldValue<'a>>,
    pub(super) to: Option<FieldValue<'a>>,
    pub(super) epoch: Option<FieldValue<'a>>,
    pub(super) role: Option<FieldValue<'a>>,
    pub(super) minor: Option<FieldValue<'a>>,
    pub(super) moderate: Option<FieldValue<'a>>,
    pub(super) modified: Option<FieldValue<'a>>,
    pub(super) weight: Option<FieldValue<'a>>,
    pub(super) class: Option<FieldValue<'a>>,
    pub(super) bytes: Option<FieldValue<'a>>,
    pub(super) conditional: Option<FieldValue<'a>>,
    pub(super) etag: Option<FieldValue<'a>>,
    pub(super) canonical: Option<FieldValue<'a>>,
    pub(super) target: Option<FieldValue<'a>>,
    pub(super) ask: Option<FieldValue<'a>>,
    /// Whether the object has other keys.
    pub(super) has_others: bool,
}

/// A value. Irrelevant values of any size are skipped, and not kept.
#[derive(PartialEq)]
pub(super) enum FieldValue<'a> {
    Null,
    Text(Cow<'a, str>),
    Whole(i64),
    /// A whole number of 2^63 or more.
    Large(u64),
    Decimal(f64),
    Bool(bool),
    Other,
}

impl FieldValue<'_> {
    /// Creates a number without a sign.
    pub(super) fn of(number: u64) -> Self {
        i64::try_from(number).map_or(FieldValue::Large(number), FieldValue::Whole)
    }

    /// Returns the time that the value represents under a key.
    pub(super) fn time(&self, key: &str) -> Result<i64, String> {
        let time = match self {
            FieldValue::Whole(number) => time::number(*number),
            FieldValue::Decimal(number) => time::decimal(*number),
            FieldValue::Text(text) => time::parse(text),
            FieldValue::Null | FieldValue::Large(_) | FieldValue::Bool(_) | FieldValue::Other => {
                None
            }
        };
        // Today in milliseconds is beyond the year 9999 in seconds.
        let is_ms = |number: &i64| (1_000_000_000_000..1_000_000_000_000_000).contains(number);
        if matches!(self, FieldValue::Whole(number) if time.is_none() && is_ms(number)) {
            return Err(format!("\"{key}\" looks like milliseconds: divide it by 1000"));
        }
        let forms = "must be a time in the years 1 to 9999: seconds since 1970, or a date such as 20240501 or \
                     2024-05-01T12:00:00Z";
        time.ok_or_else(|| format!("\"{key}\" {forms}"))
    }
}

impl<'de> Deserialize<'de> for LineObject<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = LineObject<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<LineObject<'de>, A::Error> {
                let mut object = LineObject::default();
                while let Some(FieldValue::Text(key)) = map.next_key()? {
                    let field = match &*key {
                        "url" => &mut object.url,
                        "t" => &mut object.t,
                        "text" => &mut object.text,
                        "fingerprint" => &mut object.fingerprint,
                        "digest" => &mut object.digest,
                        "status" => &mut object.status,
                        "seen" => &mut object.seen,
                        "to" => &mut object.to,
                        "epoch" => &mut object.epoch,
                        "role" => &mut object.role,
                        "minor" => &mut object.minor,
                        "moderate" => &mut object.moderate,
                        "modified" => &mut object.modified,
                        "weight" => &mut object.weight,
                        "class" => &mut object.class,
                        "bytes" => &mut object.bytes,
                        "conditional" => &mut object.conditional,
                        "etag" => &mut object.etag,
                        "canonical" => &mut object.canonical,
                        "target" => &mut object.target,
                        "ask" => &mut object.ask,
                        _ => {
                            object.has_others = true;
                            map.next_value::<IgnoredAny>()?;
                            continue;
                        }
                    };
                    if field.is_none() {
                        *field = Some(map.next_value()?);
                    } else {
                        map.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(object)
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

impl<'de> Deserialize<'de> for FieldValue<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = FieldValue<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(FieldValue::Null)
            }
            fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
                Ok(FieldValue::Bool(value))
            }
            fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
                Ok(FieldValue::Whole(number))
            }
            fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
                Ok(FieldValue::of(number))
            }
            fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
                Ok(FieldValue::Decimal(number))
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(FieldValue::Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(FieldValue::Text(Cow::Owned(text.into())))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(FieldValue::Other)
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(FieldValue::Other)
            }
        }
        deserializer.deserialize_any(Any)
    }
}
