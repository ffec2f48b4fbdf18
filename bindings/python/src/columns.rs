//! What is answered, as columns of Arrow.

mod aliases;
mod clusters;
mod differences;
mod pairs;

use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, FixedSizeBinaryBuilder, Int32Builder, Int64Builder, StringBuilder,
    StringDictionaryBuilder, TimestampMillisecondBuilder, UInt64Builder,
};
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use simkeep::{Entry, Matches, Outcome, Property, Time, Visit};

use crate::outcome::Told;
use crate::stream::Item;
use crate::word::Seen;

type Made = Result<RecordBatch, ArrowError>;

/// The type of times.
fn time() -> DataType {
    DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()))
}

/// The type of words: few, and each often.
fn word() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

/// The type of fingerprints.
pub(crate) fn bits(signed: bool) -> DataType {
    if signed { DataType::Int64 } else { DataType::UInt64 }
}

/// A schema of columns, each of which may have nulls or not.
fn schema(columns: &[(&str, DataType, bool)]) -> SchemaRef {
    let fields = columns.iter().map(|(name, of, null)| Field::new(*name, of.clone(), *null));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// Fingerprints, unsigned or bit for bit signed.
enum Bits {
    Unsigned(UInt64Builder),
    Signed(Int64Builder),
}

impl Bits {
    fn new(signed: bool) -> Bits {
        if signed {
            Bits::Signed(Int64Builder::new())
        } else {
            Bits::Unsigned(UInt64Builder::new())
        }
    }

    fn push(&mut self, fingerprint: Option<u64>) {
        match self {
            Bits::Unsigned(bits) => bits.append_option(fingerprint),
            Bits::Signed(bits) => bits.append_option(fingerprint.map(u64::cast_signed)),
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Bits::Unsigned(bits) => Arc::new(bits.finish()),
            Bits::Signed(bits) => Arc::new(bits.finish()),
        }
    }
}

fn times() -> TimestampMillisecondBuilder {
    TimestampMillisecondBuilder::new().with_timezone("UTC")
}

/// A number that is small enough: a distance, a number of visits.
fn number(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

fn distance(bits: u32) -> i32 {
    i32::try_from(bits).unwrap_or(i32::MAX)
}

/// Fingerprints alone: `fingerprint`.
pub(crate) fn fingerprints(prints: &[Option<u64>], signed: bool) -> Made {
    let mut column = Bits::new(signed);
    prints.iter().for_each(|print| column.push(*print));
    let schema = schema(&[("fingerprint", bits(signed), true)]);
    RecordBatch::try_new(schema, vec![column.finish()])
}

/// The near pages of many searches: `query`, `url`, `distance`, `fingerprint`.
pub(crate) fn near(answers: &[Matches], signed: bool) -> Made {
    let urls = answers.iter().flat_map(|matches| &matches.near).map(|near| near.url.len());
    if urls.sum::<usize>() > i32::MAX as usize {
        let what = "the URLs take more than 2 GiB: ask in several batches, or with a lower limit";
        return Err(ArrowError::InvalidArgumentError(what.to_owned()));
    }
    let (mut query, mut url) = (Int64Builder::new(), StringBuilder::new());
    let (mut distances, mut prints) = (Int32Builder::new(), Bits::new(signed));
    for (at, matches) in (0..).zip(answers) {
        for near in &matches.near {
            query.append_value(at);
            url.append_value(&near.url);
            distances.append_value(distance(near.distance));
            prints.push(Some(near.fingerprint));
        }
    }
    let schema = schema(&[
        ("query", DataType::Int64, false),
        ("url", DataType::Utf8, false),
        ("distance", DataType::Int32, false),
        ("fingerprint", bits(signed), false),
    ]);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(query.finish()),
        Arc::new(url.finish()),
        Arc::new(distances.finish()),
        prints.finish(),
    ];
    RecordBatch::try_new(schema, columns)
}

/// What is said of each of many searches: `complete`, `within`.
pub(crate) fn queries(answers: &[Matches]) -> Made {
    let (mut complete, mut within) = (BooleanBuilder::new(), Int32Builder::new());
    for matches in answers {
        complete.append_value(matches.complete);
        within.append_option(matches.within.map(distance));
    }
    let schema =
        schema(&[("complete", DataType::Boolean, false), ("within", DataType::Int32, true)]);
    RecordBatch::try_new(schema, vec![Arc::new(complete.finish()), Arc::new(within.finish())])
}

/// What each of many observations meant: `verdict`, `distance`, `to`, `novel`, `priority`, `complete`.
pub(crate) fn verdicts(outcomes: &[Outcome]) -> Made {
    let mut verdicts = StringDictionaryBuilder::<Int32Type>::new();
    let (mut distances, mut to) = (Int32Builder::new(), times());
    let (mut novel, mut complete) = (BooleanBuilder::new(), BooleanBuilder::new());
    let mut priority = arrow_array::builder::Float64Builder::new();
    for outcome in outcomes {
        let told = Told::from(outcome.verdict);
        verdicts.append(told.verdict.value())?;
        distances.append_option(told.distance.map(distance));
        to.append_option(told.to.map(|time| time.0.as_ms()));
        novel.append_value(outcome.novel);
        priority.append_value(outcome.priority);
        complete.append_value(outcome.complete);
    }
    let schema = schema(&[
        ("verdict", word(), false),
        ("distance", DataType::Int32, true),
        ("to", time(), true),
        ("novel", DataType::Boolean, false),
        ("priority", DataType::Float64, false),
        ("complete", DataType::Boolean, false),
    ]);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(verdicts.finish()),
        Arc::new(distances.finish()),
        Arc::new(to.finish()),
        Arc::new(novel.finish()),
        Arc::new(priority.finish()),
        Arc::new(complete.finish()),
    ];
    RecordBatch::try_new(schema, columns)
}

/// The copies of what many observations saw: `observation`, `url`, `first`.
pub(crate) fn copies(outcomes: &[Outcome]) -> Made {
    let (mut at, mut url, mut first) = (Int64Builder::new(), StringBuilder::new(), times());
    for (number, outcome) in (0..).zip(outcomes) {
        for copy in &outcome.copies {
            at.append_value(number);
            url.append_value(&copy.url);
            first.append_value(copy.first.as_ms());
        }
    }
    let schema = schema(&[
        ("observation", DataType::Int64, false),
        ("url", DataType::Utf8, false),
        ("first", time(), false),
    ]);
    let columns: Vec<ArrayRef> =
        vec![Arc::new(at.finish()), Arc::new(url.finish()), Arc::new(first.finish())];
    RecordBatch::try_new(schema, columns)
}

/// The near-duplicates of what many observations saw: `observation`, `url`, `distance`, `fingerprint`,
/// `first`.
pub(crate) fn duplicates(outcomes: &[Outcome], signed: bool) -> Made {
    let (mut at, mut url, mut first) = (Int64Builder::new(), StringBuilder::new(), times());
    let (mut distances, mut prints) = (Int32Builder::new(), Bits::new(signed));
    for (number, outcome) in (0..).zip(outcomes) {
        for near in &outcome.near {
            at.append_value(number);
            url.append_value(&near.url);
            distances.append_value(distance(near.distance));
            prints.push(Some(near.fingerprint));
            first.append_value(near.first.as_ms());
        }
    }
    let schema = schema(&[
        ("observation", DataType::Int64, false),
        ("url", DataType::Utf8, false),
        ("distance", DataType::Int32, false),
        ("fingerprint", bits(signed), false),
        ("first", time(), false),
    ]);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(at.finish()),
        Arc::new(url.finish()),
        Arc::new(distances.finish()),
        prints.finish(),
        Arc::new(first.finish()),
    ];
    RecordBatch::try_new(schema, columns)
}

/// What the items of a stream are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Pages,
    Observations,
    Fingerprints,
    Pairs,
    PagePairs,
    Joined,
    Clusters,
    ClusteredPages,
    ClusterChanges,
    Ranked,
    AliasRules,
    Differences,
}

/// The columns of a kind of items.
pub(crate) fn schema_of(kind: Kind, signed: bool) -> SchemaRef {
    match kind {
        Kind::Clusters | Kind::ClusteredPages | Kind::ClusterChanges | Kind::Ranked => {
            clusters::schema_of(kind, signed)
        }
        Kind::AliasRules => aliases::schema_of(),
        Kind::Differences => differences::schema_of(signed),
        Kind::Pairs | Kind::PagePairs | Kind::Joined => pairs::schema_of(kind, signed),
        Kind::Fingerprints => schema(&[("fingerprint", bits(signed), false)]),
        Kind::Pages => schema(&[
            ("url", DataType::Utf8, false),
            ("visits", DataType::Int64, false),
            ("first", time(), false),
            ("last", time(), false),
            ("status", DataType::Int32, true),
            ("gone", DataType::Boolean, false),
            ("fingerprint", bits(signed), true),
            ("epoch", DataType::Int64, true),
            ("digest", DataType::FixedSizeBinary(16), true),
            ("content_seen", time(), true),
            ("modified", time(), true),
            ("weight", DataType::Float64, false),
            ("class_", DataType::Int64, true),
        ]),
        Kind::Observations => schema(&[
            ("url", DataType::Utf8, false),
            ("at", time(), false),
            ("seen", word(), false),
            ("fingerprint", bits(signed), true),
            ("epoch", DataType::Int64, true),
            ("digest", DataType::FixedSizeBinary(16), true),
            ("status", DataType::Int32, true),
            ("modified", time(), true),
            ("weight", DataType::Float64, true),
            ("class_", DataType::Int64, true),
        ]),
    }
}

/// Items as columns.
pub(crate) fn of_items(kind: Kind, signed: bool, items: &[Item]) -> Made {
    let columns = match kind {
        Kind::Fingerprints => all_fingerprints(signed, items),
        Kind::Pairs => pairs::pairs(signed, items),
        Kind::PagePairs => pairs::page_pairs(signed, items),
        Kind::Joined => pairs::joined(signed, items),
        Kind::Pages => pages(signed, items)?,
        Kind::Observations => observations(signed, items)?,
        Kind::Clusters => clusters::clusters(signed, items),
        Kind::ClusteredPages => clusters::pages(signed, items)?,
        Kind::ClusterChanges => clusters::changes(items)?,
        Kind::Ranked => clusters::ranked(signed, items),
        Kind::AliasRules => aliases::rules(items)?,
        Kind::Differences => differences::differences(signed, items)?,
    };
    RecordBatch::try_new(schema_of(kind, signed), columns)
}

fn all_fingerprints(signed: bool, items: &[Item]) -> Vec<ArrayRef> {
    let mut prints = Bits::new(signed);
    for item in items {
        if let Item::Fingerprint(fingerprint) = item {
            prints.push(Some(*fingerprint));
        }
    }
    vec![prints.finish()]
}

fn pages(signed: bool, items: &[Item]) -> Result<Vec<ArrayRef>, ArrowError> {
    let (mut url, mut visits) = (StringBuilder::new(), Int64Builder::new());
    let (mut first, mut last) = (times(), times());
    let (mut status, mut gone) = (Int32Builder::new(), BooleanBuilder::new());
    let (mut prints, mut epoch) = (Bits::new(signed), Int64Builder::new());
    let mut digest = FixedSizeBinaryBuilder::new(16);
    let (mut content_seen, mut modified) = (times(), times());
    let mut weight = arrow_array::builder::Float64Builder::new();
    let mut class = Int64Builder::new();
    for item in items {
        let Item::Page(page) = item else { continue };
        url.append_value(&page.url);
        visits.append_value(number(page.visits));
        first.append_value(page.first.as_ms());
        last.append_value(page.last.time.as_ms());
        status.append_option(page.last.status.map(i32::from));
        gone.append_value(page.gone);
        prints.push(page.content.and_then(|content| content.fingerprint));
        epoch.append_option(page.content.map(|content| i64::from(content.epoch.number())));
        match page.content.and_then(|content| content.digest) {
            Some(bytes) => digest.append_value(bytes.0)?,
            None => digest.append_null(),
        }
        content_seen.append_option(page.content_seen.map(Time::as_ms));
        modified.append_option(page.modified.map(Time::as_ms));
        weight.append_value(page.weight.to_f64());
        class.append_option(page.class.map(i64::from));
    }
    Ok(vec![
        Arc::new(url.finish()),
        Arc::new(visits.finish()),
        Arc::new(first.finish()),
        Arc::new(last.finish()),
        Arc::new(status.finish()),
        Arc::new(gone.finish()),
        prints.finish(),
        Arc::new(epoch.finish()),
        Arc::new(digest.finish()),
        Arc::new(content_seen.finish()),
        Arc::new(modified.finish()),
        Arc::new(weight.finish()),
        Arc::new(class.finish()),
    ])
}

fn observations(signed: bool, items: &[Item]) -> Result<Vec<ArrayRef>, ArrowError> {
    let (mut url, mut at) = (StringBuilder::new(), times());
    let mut seen = StringDictionaryBuilder::<Int32Type>::new();
    let (mut prints, mut epoch) = (Bits::new(signed), Int64Builder::new());
    let (mut digest, mut status) = (FixedSizeBinaryBuilder::new(16), Int32Builder::new());
    let (mut modified, mut class) = (times(), Int64Builder::new());
    let mut weight = arrow_array::builder::Float64Builder::new();
    for item in items {
        let Item::Entry(of, entry) = item else { continue };
        url.append_value(of);
        at.append_value(entry.time().as_ms());
        let visit: Option<&Visit> = entry.visit();
        seen.append(match entry {
            Entry::Visit(visit) => Seen::from(&visit.seen).value(),
            Entry::Restated(_) => "restated",
            Entry::Given(_) => "given",
        })?;
        let content = entry.content();
        prints.push(content.and_then(|content| content.fingerprint));
        epoch.append_option(content.map(|content| i64::from(content.epoch.number())));
        match entry.digest() {
            Some(bytes) => digest.append_value(bytes.0)?,
            None => digest.append_null(),
        }
        status.append_option(visit.and_then(|visit| visit.status).map(i32::from));
        modified.append_option(visit.and_then(|visit| visit.modified).map(Time::as_ms));
        let property = entry.given().map(|given| given.property);
        let (given_weight, given_class) = match property {
            Some(Property::Weight(weight)) => (Some(weight.to_f64()), None),
            Some(Property::Class(class)) => (None, Some(i64::from(class))),
            None => (None, None),
        };
        weight.append_option(given_weight);
        class.append_option(given_class);
    }
    Ok(vec![
        Arc::new(url.finish()),
        Arc::new(at.finish()),
        Arc::new(seen.finish()),
        prints.finish(),
        Arc::new(epoch.finish()),
        Arc::new(digest.finish()),
        Arc::new(status.finish()),
        Arc::new(modified.finish()),
        Arc::new(weight.finish()),
        Arc::new(class.finish()),
    ])
}
