//! Shows an epoch.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use simkeep::fingerprint::Frequencies as _;
use simkeep::inspect::{Overview, SegmentView};
use simkeep::{Error, Origin};
use simkeep_formats::escape;

use crate::advice::message;
use crate::common::CommonArgs;
use crate::exit::{Exit, VerbError};
use crate::input::origin;
use crate::output::Output;
use crate::output::json::{EpochSummary, StoreState};
use crate::output::words::{bytes, count, many};

/// Show an epoch's role, begin, fingerprints and table
#[derive(Args)]
pub(super) struct InspectEpochArgs {
    /// Name of the epoch
    name: String,
}

/// An epoch, and the segments with its fingerprints.
#[derive(Serialize, JsonSchema)]
pub(crate) struct EpochDetails<'a> {
    #[serde(flatten)]
    epoch: EpochSummary<'a>,
    /// The segments with fingerprints of the epoch, the oldest first.
    segments: Vec<EpochSegment>,
    /// The number of documents that its frequency table counted; null if it has no table.
    documents: Option<u64>,
    /// The number of terms in its frequency table; null if it has no table.
    terms: Option<u64>,
    /// Why its frequency table cannot be read; null if it can, or if it has none.
    table_missing: Option<&'a str>,
    saw: StoreState,
}

/// The fingerprints of an epoch in one segment.
#[derive(Serialize, JsonSchema)]
struct EpochSegment {
    segment: u64,
    fingerprints: u32,
    /// The size of their fingerprint tables in bytes.
    size_bytes: u64,
}

impl InspectEpochArgs {
    pub(super) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        let reader = common.read()?;
        let snapshot = reader.snapshot();
        let epoch = origin::named(snapshot.epochs(), &self.name)?;
        let overview = Overview::of(&snapshot)?;
        let mut places = Vec::new();
        for segment in &overview.segments {
            let view = SegmentView::of(&snapshot, segment.id)?;
            let tables = view.into_iter().flat_map(|view| view.tables);
            places.extend(tables.filter(|of| of.epoch == Some(epoch)).map(|of| (segment.id, of)));
        }
        let own = overview.epochs.iter().filter(|own| own.info.epoch == epoch);
        // An ended epoch has no origin.
        let lives = own.clone().any(|own| !own.info.ended);
        let (origin, missing) = match Origin::of(&snapshot, epoch) {
            _ if !lives => (None, None),
            Ok(origin) => (origin, None),
            Err(e @ Error::NoTable { .. }) => (None, Some(message(&e))),
            Err(e) => return Err(e.into()),
        };
        let table = origin.as_ref().and_then(|origin| origin.frequencies());
        for of in own {
            let info = &of.info;
            if common.json {
                let segments = places.iter().map(|(id, of)| EpochSegment {
                    segment: *id,
                    fingerprints: of.fingerprints,
                    size_bytes: of.bytes,
                });
                output.object(&EpochDetails {
                    epoch: EpochSummary::from(of),
                    segments: segments.collect(),
                    documents: table.map(|table| table.documents()),
                    terms: table.map(|table| table.terms()),
                    table_missing: missing.as_deref(),
                    saw: StoreState::of(&reader),
                })?;
                continue;
            }
            output.line(&escape::escape_untruncated(&info.name))?;
            let state = EpochSummary::from(of).state().name();
            let (number, role) = (info.epoch.count(), info.role);
            let begun = count(info.begun);
            output.line(&format!("  epoch {number}, {role}, {state}; begun at visit {begun}"))?;
            output.line(&format!(
                "  a change of up to {} bits is minor, of up to {} moderate",
                info.bands.minor, info.bands.moderate
            ))?;
            output.line(&format!("  {}", many(of.fingerprints, "fingerprint", "fingerprints")))?;
            for (id, of) in &places {
                let fingerprints = count(of.fingerprints.into());
                output.line(&format!("    {fingerprints} in segment {id}, {}", bytes(of.bytes)))?;
            }
            if let Some(missing) = &missing {
                output.line(&format!("  {}", escape::escape_untruncated(missing)))?;
            }
            if let Some(table) = table {
                let documents = many(table.documents(), "document", "documents");
                let terms = count(table.terms());
                output.line(&format!(
                    "  its table has {terms} features from {documents}; see simkeep df"
                ))?;
            }
        }
        Ok(Exit::Done)
    }
}
