//! Rules of sites as columns.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{BooleanBuilder, Int64Builder, StringBuilder, StringDictionaryBuilder};
use arrow_array::types::Int32Type;
use arrow_schema::{ArrowError, DataType, SchemaRef};

use super::{number, schema, word};
use crate::stream::Item;

pub(super) fn schema_of() -> SchemaRef {
    schema(&[
        ("site", DataType::Utf8, false),
        ("kind", word(), false),
        ("value", DataType::Utf8, true),
        ("holds", DataType::Boolean, false),
        ("pairs", DataType::Int64, false),
        ("near", DataType::Int64, false),
        ("visits", DataType::Int64, false),
    ])
}

/// A row for each rule of each site.
pub(super) fn rules(items: &[Item]) -> Result<Vec<ArrayRef>, ArrowError> {
    let (mut site, mut value) = (StringBuilder::new(), StringBuilder::new());
    let mut kind = StringDictionaryBuilder::<Int32Type>::new();
    let (mut holds, mut pairs) = (BooleanBuilder::new(), Int64Builder::new());
    let (mut near, mut visits) = (Int64Builder::new(), Int64Builder::new());
    for item in items {
        let Item::AliasSite(of) = item else { continue };
        for count in &of.rules {
            site.append_value(&of.site);
            kind.append(count.rule.kind())?;
            value.append_option(count.rule.value());
            holds.append_value(count.holds);
            pairs.append_value(number(count.pairs));
            near.append_value(number(count.near));
            visits.append_value(number(count.visits));
        }
    }
    Ok(vec![
        Arc::new(site.finish()),
        Arc::new(kind.finish()),
        Arc::new(value.finish()),
        Arc::new(holds.finish()),
        Arc::new(pairs.finish()),
        Arc::new(near.finish()),
        Arc::new(visits.finish()),
    ])
}
