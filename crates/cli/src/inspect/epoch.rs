//! One epoch.

use clap::Args;
use serde_json::json;
use simkeep::Error;
use simkeep::fingerprint::Frequencies as _;

use super::super::advice::message;
use super::super::common::Common;
use super::super::epoch::state;
use super::super::exit::{Exit, Failure};
use super::super::origin;
use super::super::output::Output;
use super::super::words::{bytes, count, many};
use simkeep_archive::escape;

/// An epoch: what it is for, when it began, where its fingerprints are, and its table
#[derive(Args)]
pub(super) struct EpochOf {
    /// The epoch
    name: String,
}

impl EpochOf {
    pub(super) fn run(self, common: &Common, output: &mut Output) -> Result<Exit, Failure> {
        let snapshot = common.read()?.snapshot();
        let epoch = origin::named(snapshot.epochs(), &self.name)?;
        let overview = snapshot.overview()?;
        let mut places = Vec::new();
        for segment in &overview.segments {
            let view = snapshot.segment(segment.id)?;
            let tables = view.into_iter().flat_map(|view| view.tables);
            places.extend(tables.filter(|of| of.epoch == epoch).map(|of| (segment.id, of)));
        }
        let own = overview.epochs.iter().filter(|own| own.info.epoch == epoch);
        // An epoch that has ended has no origin any more.
        let lives = own.clone().any(|own| !own.info.ended);
        let (origin, missing) = match snapshot.origin(epoch) {
            _ if !lives => (None, None),
            Ok(origin) => (origin, None),
            Err(e @ Error::NoTable { .. }) => (None, Some(message(&e))),
            Err(e) => return Err(e.into()),
        };
        let table = origin.as_ref().and_then(|origin| origin.frequencies());
        for of in own {
            let info = &of.info;
            if common.json {
                let segments = places.iter().map(|(id, of)| {
                    json!({ "segment": id, "fingerprints": of.fingerprints, "bytes": of.bytes })
                });
                output.object(&json!({
                    "epoch": info.name,
                    "number": info.epoch.count(),
                    "role": info.role.to_string(),
                    "minor": info.bands.minor,
                    "moderate": info.bands.moderate,
                    "state": state(info, of.is_in_use),
                    "begun_at_visit": info.begun,
                    "fingerprints": of.fingerprints,
                    "segments": segments.collect::<Vec<_>>(),
                    "documents": table.map(|table| table.documents()),
                    "terms": table.map(|table| table.terms()),
                    "missing": missing,
                }))?;
                continue;
            }
            output.line(&escape::whole(&info.name))?;
            let state = state(info, of.is_in_use);
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
                output.line(&format!("  {}", escape::whole(missing)))?;
            }
            if let Some(table) = table {
                let documents = many(table.documents(), "document", "documents");
                let terms = count(table.terms());
                output.line(&format!(
                    "  its table has {terms} terms of {documents}; see simkeep df"
                ))?;
            }
        }
        Ok(Exit::Done)
    }
}
