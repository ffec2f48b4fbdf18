//! Clusters, and the pages in them, as columns.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{
    BinaryBuilder, Float64Builder, Int32Builder, Int64Builder, StringBuilder,
    StringDictionaryBuilder,
};
use arrow_array::types::Int32Type;
use arrow_schema::{ArrowError, DataType, SchemaRef};

use super::{Bits, Kind, bits, distance, number, schema, time, times, word};
use crate::cluster_changes::changed_bits;
use crate::stream::Item;
use crate::word::{OriginalBy, WhyLed};

/// The columns of clusters, of pages in them, or of changes.
pub(super) fn schema_of(kind: Kind, signed: bool) -> SchemaRef {
    match kind {
        Kind::Clusters => schema(&[
            ("leader", DataType::Utf8, false),
            ("fingerprint", bits(signed), false),
            ("first_seen", time(), false),
            ("pages", DataType::Int64, false),
            ("widest", DataType::Int32, false),
        ]),
        Kind::ClusterChanges => schema(&[
            ("url", DataType::Utf8, false),
            ("before", DataType::Utf8, true),
            ("after", DataType::Utf8, true),
            ("why", word(), false),
            ("bits", DataType::Int32, true),
        ]),
        Kind::Ranked => schema(&[
            ("url", DataType::Utf8, false),
            ("fingerprint", bits(signed), false),
            ("class_", DataType::Int64, true),
            ("rank", DataType::Binary, false),
        ]),
        _ => schema(&[
            ("url", DataType::Utf8, false),
            ("fingerprint", bits(signed), false),
            ("class_", DataType::Int64, true),
            ("leader", DataType::Utf8, false),
            ("leader_class", DataType::Int64, true),
            ("distance", DataType::Int32, false),
            ("resemblance", DataType::Float64, true),
            ("pages", DataType::Int64, false),
            ("by", word(), true),
        ]),
    }
}

pub(super) fn ranked(signed: bool, items: &[Item]) -> Vec<ArrayRef> {
    let (mut url, mut prints) = (StringBuilder::new(), Bits::new(signed));
    let (mut class, mut rank) = (Int64Builder::new(), BinaryBuilder::new());
    for item in items {
        let Item::Ranked(of) = item else { continue };
        url.append_value(&of.url);
        prints.push(Some(of.fingerprint));
        class.append_option(of.class.map(i64::from));
        rank.append_value(&of.rank);
    }
    vec![Arc::new(url.finish()), prints.finish(), Arc::new(class.finish()), Arc::new(rank.finish())]
}

pub(super) fn clusters(signed: bool, items: &[Item]) -> Vec<ArrayRef> {
    let (mut leader, mut prints) = (StringBuilder::new(), Bits::new(signed));
    let (mut first_seen, mut pages) = (times(), Int64Builder::new());
    let mut widest = Int32Builder::new();
    for item in items {
        let Item::Cluster(of) = item else { continue };
        leader.append_value(&of.leader);
        prints.push(Some(of.fingerprint));
        first_seen.append_value(of.first_seen.as_ms());
        pages.append_value(number(of.pages));
        widest.append_value(distance(of.widest));
    }
    vec![
        Arc::new(leader.finish()),
        prints.finish(),
        Arc::new(first_seen.finish()),
        Arc::new(pages.finish()),
        Arc::new(widest.finish()),
    ]
}

pub(super) fn pages(signed: bool, items: &[Item]) -> Result<Vec<ArrayRef>, ArrowError> {
    let (mut url, mut prints) = (StringBuilder::new(), Bits::new(signed));
    let (mut class, mut leader) = (Int64Builder::new(), StringBuilder::new());
    let (mut leader_class, mut distances) = (Int64Builder::new(), Int32Builder::new());
    let (mut resemblance, mut pages) = (Float64Builder::new(), Int64Builder::new());
    let mut by = StringDictionaryBuilder::<Int32Type>::new();
    for item in items {
        let Item::ClusteredPage(page) = item else { continue };
        url.append_value(&page.url);
        prints.push(Some(page.fingerprint));
        class.append_option(page.class.map(i64::from));
        leader.append_value(&page.leader);
        leader_class.append_option(page.leader_class.map(i64::from));
        distances.append_value(distance(page.distance));
        resemblance.append_option(page.resemblance);
        pages.append_value(number(page.pages));
        match page.by {
            Some(of) => drop(by.append(OriginalBy::from(of).value())?),
            None => by.append_null(),
        }
    }
    Ok(vec![
        Arc::new(url.finish()),
        prints.finish(),
        Arc::new(class.finish()),
        Arc::new(leader.finish()),
        Arc::new(leader_class.finish()),
        Arc::new(distances.finish()),
        Arc::new(resemblance.finish()),
        Arc::new(pages.finish()),
        Arc::new(by.finish()),
    ])
}

pub(super) fn changes(items: &[Item]) -> Result<Vec<ArrayRef>, ArrowError> {
    let (mut url, mut bits) = (StringBuilder::new(), Int32Builder::new());
    let (mut before, mut after) = (StringBuilder::new(), StringBuilder::new());
    let mut whys = StringDictionaryBuilder::<Int32Type>::new();
    for item in items {
        let Item::ClusterChange(change) = item else { continue };
        url.append_value(&change.url);
        before.append_option(change.before.as_deref());
        after.append_option(change.after.as_deref());
        whys.append(WhyLed::from(change.why).value())?;
        bits.append_option(changed_bits(change.why).map(distance));
    }
    Ok(vec![
        Arc::new(url.finish()),
        Arc::new(before.finish()),
        Arc::new(after.finish()),
        Arc::new(whys.finish()),
        Arc::new(bits.finish()),
    ])
}
