//! Values that have the same meaning in all verbs.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

use crate::output::{visit, words};

/// Defines a value that is written as a string: its description, type, formatter and schema.
macro_rules! text {
    ($what:literal, $name:ident($of:ty), $write:expr, $schema:tt) => {
        #[doc = $what]
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $name(pub(crate) $of);

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                let write: fn($of) -> _ = $write;
                to.collect_str(&write(self.0))
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                described($what, json_schema!($schema))
            }
        }
    };
}

/// Headers of a request, by name. Each byte of a value is a character (ISO 8859-1).
#[derive(Default, Serialize)]
#[serde(transparent)]
pub(crate) struct RequestHeaders(BTreeMap<&'static str, String>);

impl RequestHeaders {
    /// The headers that make the next request for a page conditional.
    pub(crate) fn conditional(page: &simkeep::Page) -> RequestHeaders {
        let text = |value: Vec<u8>| value.into_iter().map(char::from).collect();
        let headers = page.conditional_headers().into_iter();
        RequestHeaders(headers.map(|(name, value)| (name, text(value))).collect())
    }
}

impl JsonSchema for RequestHeaders {
    fn schema_name() -> Cow<'static, str> {
        "RequestHeaders".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let what = "Headers that make a request conditional. Each byte of a value is a character.";
        described(
            what,
            json_schema!({ "type": "object", "additionalProperties": { "type": "string" } }),
        )
    }
}

/// Adds a description to a schema.
fn described(what: &str, mut schema: Schema) -> Schema {
    schema.insert("description".to_owned(), what.trim().into());
    schema
}

text! {
    " A time in UTC in the format of RFC 3339, with milliseconds unless they are zero.", Time(simkeep::Time), |time| time.to_string(),
    { "type": "string", "format": "date-time", "pattern": "Z$" }
}

text! {
    " A fingerprint in 16 hexadecimal digits.", Fingerprint(u64), visit::fingerprint,
    { "type": "string", "pattern": "^[0-9a-f]{16}$" }
}
text! {
    " A hash or checksum of 64 bits in 16 hexadecimal digits.", Hash(u64), visit::fingerprint,
    { "type": "string", "pattern": "^[0-9a-f]{16}$" }
}
text! {
    " The 128-bit digest of the exact content, in 32 hexadecimal digits.", Digest(simkeep::Digest),
    |digest| digest.to_string(),
    { "type": "string", "pattern": "^[0-9a-f]{32}$" }
}
text! {
    " The verdict of a visit: how the page changed since its earlier visits.", Verdict(simkeep::Verdict), words::verdict_key,
    {
        "type": "string",
        "enum": [
            "new", "same", "unseen", "changed", "reverted", "gone", "failed", "out-of-order", "known",
            "other",
        ],
    }
}
text! {
    " How much of a text changed, estimated from a distance.", Band(simkeep::fingerprint::Band), |band| band.name(),
    { "type": "string", "enum": ["none", "minor", "moderate", "major"] }
}
text! {
    " The purpose of an epoch's fingerprints: detecting changes, finding near-duplicates, or both.", Role(simkeep::Role), |role| role.to_string(),
    { "type": "string", "enum": ["change", "near", "both"] }
}
text! {
    " What a visit saw.", Seen(simkeep::Seen), |seen| visit::seen(&seen).unwrap_or("content"),
    { "type": "string", "enum": ["content", "redirect", "not-modified", "gone", "failed"] }
}

/// The name of an epoch.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct EpochName<'a>(pub(crate) &'a str);

impl JsonSchema for EpochName<'_> {
    fn schema_name() -> Cow<'static, str> {
        "EpochName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        described(
            "The name of an epoch.",
            json_schema!({ "type": "string", "minLength": 1, "maxLength": 256 }),
        )
    }
}

/// A number of at least 0. A whole number is written without a decimal point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JsonNumber(pub(crate) f64);

impl Serialize for JsonNumber {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 2^53")]
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let JsonNumber(number) = *self;
        if number.fract() == 0.0 && (0.0..9e15).contains(&number) {
            to.serialize_u64(number as u64)
        } else {
            to.serialize_f64(number)
        }
    }
}

impl JsonSchema for JsonNumber {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Number".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0 })
    }
}

/// A ratio from 0 to 1, rounded to four decimals.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JsonRatio(pub(crate) f64);

impl Serialize for JsonRatio {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_f64((self.0 * 1e4).round() / 1e4)
    }
}

impl JsonSchema for JsonRatio {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Share".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0, "maximum": 1 })
    }
}
