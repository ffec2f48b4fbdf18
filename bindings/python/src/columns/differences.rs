//! How pages differ, as columns.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{
    Float64Builder, Int32Builder, Int64Builder, StringBuilder, StringDictionaryBuilder,
};
use arrow_array::types::Int32Type;
use arrow_schema::{ArrowError, DataType, SchemaRef};
use simkeep::Content;

use super::{Bits, bits, distance, schema, time, times, word};
use crate::outcome::Told;
use crate::stream::Item;

pub(super) fn schema_of(signed: bool) -> SchemaRef {
    schema(&[
        ("url", DataType::Utf8, false),
        ("verdict", word(), false),
        ("distance", DataType::Int32, true),
        ("to", time(), true),
        ("priority", DataType::Float64, false),
        ("before", bits(signed), true),
        ("before_epoch", DataType::Int64, true),
        ("after", bits(signed), true),
        ("after_epoch", DataType::Int64, true),
        ("seen", time(), true),
    ])
}

pub(super) fn differences(signed: bool, items: &[Item]) -> Result<Vec<ArrayRef>, ArrowError> {
    let (mut url, mut priority) = (StringBuilder::new(), Float64Builder::new());
    let mut verdict = StringDictionaryBuilder::<Int32Type>::new();
    let (mut distances, mut to, mut seen) = (Int32Builder::new(), times(), times());
    let (mut before, mut after) = (Bits::new(signed), Bits::new(signed));
    let (mut before_epoch, mut after_epoch) = (Int64Builder::new(), Int64Builder::new());
    let print = |of: Option<Content>| of.and_then(|content| content.fingerprint);
    let epoch = |of: Option<Content>| of.map(|content| i64::from(content.epoch.number()));
    for item in items {
        let Item::Difference(of) = item else { continue };
        let told = Told::from(of.verdict);
        url.append_value(&of.url);
        verdict.append(told.verdict.value())?;
        distances.append_option(told.distance.map(distance));
        to.append_option(told.to.map(|time| time.0.as_ms()));
        priority.append_value(of.priority);
        before.push(print(of.before));
        before_epoch.append_option(epoch(of.before));
        after.push(print(of.after));
        after_epoch.append_option(epoch(of.after));
        seen.append_option(of.seen.map(simkeep::Time::as_ms));
    }
    Ok(vec![
        Arc::new(url.finish()),
        Arc::new(verdict.finish()),
        Arc::new(distances.finish()),
        Arc::new(to.finish()),
        Arc::new(priority.finish()),
        before.finish(),
        Arc::new(before_epoch.finish()),
        after.finish(),
        Arc::new(after_epoch.finish()),
        Arc::new(seen.finish()),
    ])
}
