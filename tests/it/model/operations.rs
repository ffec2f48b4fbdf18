//! Strategies for random operations.

use proptest::prelude::*;
use proptest::sample::{Index, subsequence};
use simkeep::{Classes, Content, Epoch, Query, Seen, Versions, Weight};
use simkeep_testing::{TIME_MAX, TIME_MIN, ms};

use simkeep_testing::digest;
use simkeep_testing::pages::{PREFIXES, URLS};

/// The steps of a run.
const STEPS: usize = 100;

/// The time of an observation, relative to the previous one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum VisitTiming {
    Now,
    After(i64),
    Before(i64),
    At(i64),
}

/// An observation or a related operation.
#[derive(Clone, Debug)]
pub(crate) struct NewObservation {
    pub(crate) page: usize,
    pub(crate) when: VisitTiming,
    pub(crate) seen: Seen,
    pub(crate) status: Option<u16>,
    /// How long before the visit the page was modified.
    pub(crate) modified: Option<i64>,
    /// The fingerprint of the content in the other epoch, which may be `None` there.
    pub(crate) also: Option<Option<u64>>,
    /// Whether its content is restated rather than seen.
    pub(crate) restated: bool,
    pub(crate) weight: Option<Weight>,
    pub(crate) class: Option<u32>,
    /// Whether it has only a property.
    pub(crate) alone: bool,
    pub(crate) facts: ModelFacts,
}

/// Facts of a response besides its content.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ModelFacts {
    pub(crate) etag: Option<&'static [u8]>,
    pub(crate) target: Option<&'static str>,
    pub(crate) bytes: Option<u64>,
    pub(crate) conditional: bool,
}

fn facts() -> impl Strategy<Value = ModelFacts> {
    let etag = prop::sample::select(vec![&b"\"v1\""[..], b"\"v2\"", b"W/\"\xff\"", &[b'a'; 129]]);
    let target = prop::sample::select(vec!["/", "http://a/x?y=z", "https://", "//b/"]);
    let bytes = prop_oneof![Just(0), 1..5_000_u64, Just(u64::MAX)];
    let (etag, target) = (prop::option::weighted(0.3, etag), prop::option::weighted(0.2, target));
    (etag, target, prop::option::weighted(0.3, bytes), prop::bool::weighted(0.2)).prop_map(
        |(etag, target, bytes, conditional)| ModelFacts { etag, target, bytes, conditional },
    )
}

#[derive(Clone, Debug)]
pub(crate) enum RandomObservation {
    New(NewObservation),
    /// Repeats an observation of this run.
    Again(Index),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum StoreEnding {
    Close,
    Drop,
    /// The process is killed; the system keeps running.
    Kill,
    /// The power fails.
    Crash(u64),
}

#[derive(Clone, Debug)]
pub(crate) enum ModelStep {
    Observe(RandomObservation),
    Batch(Vec<RandomObservation>),
    Flush,
    Seal,
    Merge,
    Rest,
    ForgetUrl(usize),
    ForgetPrefix(usize),
    PurgeUrl(usize),
    PurgePrefix(usize),
    Reopen(StoreEnding, bool),
    Keep,
    Compare(Index),
    Release(Index),
    Search(Query),
    Page(usize),
    Scan(usize),
    Counts,
    Verify,
    Everything,
}

/// Few fingerprints, most of them near others, in the middle and at both ends of the range.
fn fingerprint() -> impl Strategy<Value = u64> {
    let base = prop_oneof![
        3 => Just(0x0123_4567_89ab_cdef),
        1 => Just(0xf0f0_1111_f0f0_3333),
        1 => Just(0),
        1 => Just(u64::MAX),
    ];
    let bits = prop_oneof![
        3 => Just(Vec::new()),
        5 => subsequence(vec![0_u32, 1, 15, 16, 17, 31, 32, 47, 48, 63], 0..6),
    ];
    (base, bits).prop_map(|(base, bits)| bits.iter().fold(base, |f, bit| f ^ (1 << bit)))
}

fn seen() -> impl Strategy<Value = Seen> {
    let digests = || prop_oneof![1 => Just(None), 3 => (0..5_u8).prop_map(|n| Some(digest(n)))];
    let epoch = || prop_oneof![4 => Just(Epoch::from_number(0)), 1 => Just(Epoch::from_number(1))];
    let content = || {
        (fingerprint(), digests(), epoch()).prop_map(|(fingerprint, digest, epoch)| Content {
            fingerprint: Some(fingerprint),
            digest,
            epoch,
        })
    };
    prop_oneof![
        8 => content().prop_map(Seen::Content),
        1 => content().prop_map(|c| Seen::Content(Content { fingerprint: None, ..c })),
        1 => digests().prop_map(|digest| Seen::NotModified { digest }),
        1 => Just(Seen::Gone),
        1 => Just(Seen::Failed),
    ]
}

/// The first pages are more frequent, so that some histories exceed the memory of a head.
fn page() -> impl Strategy<Value = usize> {
    prop_oneof![4 => Just(0_usize), 2 => 0..4_usize, 6 => 0..URLS.len()]
}

fn what() -> impl Strategy<Value = RandomObservation> {
    let when = prop_oneof![
        20 => Just(VisitTiming::Now),
        40 => (1..4_i64).prop_map(VisitTiming::After),
        30 => (1..15_i64).prop_map(VisitTiming::Before),
        8 => (-3..3_i64).prop_map(VisitTiming::At),
        1 => Just(VisitTiming::At(TIME_MIN)),
        1 => Just(VisitTiming::At(TIME_MAX)),
    ];
    let status = prop_oneof![3 => Just(None), 1 => Just(Some(200)), 1 => Just(Some(404))];
    let also = prop::option::weighted(0.1, prop::option::weighted(0.8, fingerprint()));
    let restated = prop::bool::weighted(0.2);
    let modified = prop_oneof![3 => Just(None), 1 => (-3..20_i64).prop_map(Some)];
    let weights = prop_oneof![Just(0.3), Just(1.0), Just(2.0), Just(1e-45), Just(f64::MAX)];
    let weight = prop::option::weighted(0.2, weights.prop_map(Weight::from));
    let class = prop::option::weighted(0.2, class());
    let visit = (seen(), status, modified, also, restated);
    let new = (page(), when, visit, weight, class, any::<bool>(), facts()).prop_map(
        |(page, when, (seen, status, modified, also, restated), weight, class, alone, facts)| {
            NewObservation {
                page,
                when,
                seen,
                status,
                modified,
                also,
                restated,
                weight,
                class,
                alone,
                facts,
            }
        },
    );
    prop_oneof![12 => new.prop_map(RandomObservation::New), 1 => any::<Index>().prop_map(RandomObservation::Again)]
}

fn class() -> impl Strategy<Value = u32> {
    prop_oneof![0..3_u32, Just(u32::MAX)]
}

fn query() -> impl Strategy<Value = Query> {
    let k = prop_oneof![3 => Just(3_u32), 5 => 0..10_u32, 1 => 10..=64_u32];
    let limit = prop_oneof![4 => Just(1000_usize), 1 => 0..5_usize];
    let time = || prop_oneof![9 => -10..200_i64, 1 => Just(TIME_MIN), 1 => Just(TIME_MAX)];
    let versions = prop_oneof![
        4 => Just(Versions::InForce),
        2 => Just(Versions::Ever),
        1 => time().prop_map(|time| Versions::At(ms(time))),
        1 => (time(), time()).prop_map(|(from, to)| Versions::Seen(ms(from), ms(to))),
    ];
    let under = prop::option::weighted(0.2, 0..PREFIXES.len());
    let except = prop::option::weighted(0.2, 0..URLS.len());
    let classes = prop::collection::vec(class(), 0..3).prop_map(Classes::of);
    let classes = (classes, any::<bool>())
        .prop_map(|(classes, and)| if and { classes.and_unclassed() } else { classes });
    let classes = prop::option::weighted(0.3, classes);
    (fingerprint(), k, 0..2_u32, limit, versions, (under, except, classes)).prop_map(
        |(fingerprint, k, epoch, limit, versions, (under, except, classes))| {
            let mut query = Query::new(fingerprint, k)
                .epoch(Epoch::from_number(epoch))
                .limit(limit)
                .versions(versions)
                .under(under.map(|prefix| PREFIXES[prefix].prefix()))
                .classes(classes);
            query.exclude = except.map(|page| URLS[page].to_owned());
            query
        },
    )
}

fn op() -> impl Strategy<Value = ModelStep> {
    let ending = prop_oneof![
        1 => Just(StoreEnding::Close),
        1 => Just(StoreEnding::Drop),
        1 => Just(StoreEnding::Kill),
        3 => any::<u64>().prop_map(StoreEnding::Crash),
    ];
    let prefix = || 0..PREFIXES.len();
    prop_oneof![
        30 => what().prop_map(ModelStep::Observe),
        15 => prop::collection::vec(what(), 0..12).prop_map(ModelStep::Batch),
        2 => Just(ModelStep::Flush),
        5 => Just(ModelStep::Seal),
        4 => Just(ModelStep::Merge),
        1 => Just(ModelStep::Rest),
        4 => page().prop_map(ModelStep::ForgetUrl),
        3 => prefix().prop_map(ModelStep::ForgetPrefix),
        1 => page().prop_map(ModelStep::PurgeUrl),
        1 => prefix().prop_map(ModelStep::PurgePrefix),
        5 => (ending, any::<bool>()).prop_map(|(ending, read_only)| ModelStep::Reopen(ending, read_only)),
        3 => Just(ModelStep::Keep),
        2 => any::<Index>().prop_map(ModelStep::Compare),
        2 => any::<Index>().prop_map(ModelStep::Release),
        8 => query().prop_map(ModelStep::Search),
        6 => page().prop_map(ModelStep::Page),
        3 => prefix().prop_map(ModelStep::Scan),
        3 => Just(ModelStep::Counts),
        1 => Just(ModelStep::Verify),
        1 => Just(ModelStep::Everything),
    ]
}

/// The operations of a run. Shrinking a failing run keeps only those that matter.
pub(crate) fn ops() -> impl Strategy<Value = Vec<ModelStep>> {
    let kept = prop::collection::vec(prop::bool::weighted(1.0), STEPS);
    (kept, prop::collection::vec(op(), STEPS)).prop_map(|(kept, ops)| {
        ops.into_iter().zip(kept).filter_map(|(op, kept)| kept.then_some(op)).collect()
    })
}
