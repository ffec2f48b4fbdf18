//! Pairs as columns.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{Int32Builder, Int64Builder, StringBuilder};
use arrow_schema::{DataType, SchemaRef};

use super::{Bits, Kind, bits, distance, schema};
use crate::stream::Item;

pub(super) fn schema_of(kind: Kind, signed: bool) -> SchemaRef {
    match kind {
        Kind::PagePairs => schema(&[
            ("left_url", DataType::Utf8, false),
            ("left", bits(signed), false),
            ("right_url", DataType::Utf8, false),
            ("right", bits(signed), false),
            ("distance", DataType::Int32, false),
        ]),
        Kind::Joined => schema(&[
            ("left", DataType::Int64, false),
            ("right", DataType::Int64, false),
            ("distance", DataType::Int32, false),
            ("left_fingerprint", bits(signed), false),
            ("right_fingerprint", bits(signed), false),
        ]),
        _ => schema(&[
            ("left", bits(signed), false),
            ("right", bits(signed), false),
            ("distance", DataType::Int32, false),
        ]),
    }
}

/// Pairs of fingerprints of a store.
pub(super) fn pairs(signed: bool, items: &[Item]) -> Vec<ArrayRef> {
    let (mut left, mut right) = (Bits::new(signed), Bits::new(signed));
    let mut distances = Int32Builder::with_capacity(items.len());
    for item in items {
        if let Item::Pair(pair) = item {
            left.push(Some(pair.left));
            right.push(Some(pair.right));
            distances.append_value(distance(pair.distance));
        }
    }
    vec![left.finish(), right.finish(), Arc::new(distances.finish())]
}

/// Pairs of pages.
pub(super) fn page_pairs(signed: bool, items: &[Item]) -> Vec<ArrayRef> {
    let (mut left, mut right) = (Bits::new(signed), Bits::new(signed));
    let (mut left_url, mut right_url) = (StringBuilder::new(), StringBuilder::new());
    let mut distances = Int32Builder::with_capacity(items.len());
    for item in items {
        if let Item::PagePair(pair) = item {
            left_url.append_value(&pair.left.url);
            left.push(Some(pair.left.fingerprint));
            right_url.append_value(&pair.right.url);
            right.push(Some(pair.right.fingerprint));
            distances.append_value(distance(pair.distance));
        }
    }
    vec![
        Arc::new(left_url.finish()),
        left.finish(),
        Arc::new(right_url.finish()),
        right.finish(),
        Arc::new(distances.finish()),
    ]
}

/// Pairs of fingerprints that are in no store, by their places.
pub(super) fn joined(signed: bool, items: &[Item]) -> Vec<ArrayRef> {
    let (mut left, mut right) = (Int64Builder::new(), Int64Builder::new());
    let (mut left_bits, mut right_bits) = (Bits::new(signed), Bits::new(signed));
    let mut distances = Int32Builder::with_capacity(items.len());
    for item in items {
        if let Item::Joined(pair) = item {
            left.append_value(i64::from(pair.left));
            right.append_value(i64::from(pair.right));
            distances.append_value(distance(pair.distance));
            let [of_left, of_right] = pair.fingerprints;
            left_bits.push(Some(of_left));
            right_bits.push(Some(of_right));
        }
    }
    vec![
        Arc::new(left.finish()),
        Arc::new(right.finish()),
        Arc::new(distances.finish()),
        left_bits.finish(),
        right_bits.finish(),
    ]
}
