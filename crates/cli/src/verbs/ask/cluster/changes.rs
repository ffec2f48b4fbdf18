//! Pages whose leader changed.

use schemars::JsonSchema;
use serde::Serialize;
use simkeep::cluster::{ClusterChange, ClusterChanges, Clustering, LeaderChangeReason};
use simkeep::{Snapshot, Time};
use simkeep_formats::escape;

use super::lines::ClusterLine;
use crate::exit::{Exit, VerbError, print_message};
use crate::output::Output;
use crate::output::progress::with_progress_bar;
use crate::output::table::{TextTable, left};
use crate::output::words::{WITHOUT_DIGEST, many, skipped_pages_clause};

/// An interval of time; without `to`, it ends now.
#[derive(Clone, Copy)]
pub(super) struct ChangePeriod {
    from: Time,
    to: Option<Time>,
}

impl ChangePeriod {
    /// Checks that the times are in order.
    pub(super) fn new(from: Time, to: Option<Time>) -> Result<ChangePeriod, VerbError> {
        if to.is_some_and(|to| to < from) {
            return Err(VerbError::Usage("--until must not be earlier than --since".to_owned()));
        }
        Ok(ChangePeriod { from, to })
    }
}

/// A page whose leader changed.
#[derive(Serialize, JsonSchema)]
pub(crate) struct LeaderChangeLine<'a> {
    url: &'a str,
    /// The page that led it at the earlier time, perhaps itself; null if it was in no cluster.
    leader_before: Option<&'a str>,
    /// The page that leads it at the later time, perhaps itself; null if it is in no cluster.
    leader_after: Option<&'a str>,
    reason: LeaderChangeCause,
    /// The number of bits by which the page or its former leader changed; null for other reasons, and
    /// if one of the two versions has no fingerprint.
    distance: Option<u32>,
}

/// The reason why a page has another leader.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum LeaderChangeCause {
    /// The page had no current content at the earlier time.
    New,
    /// The page has no current content at the later time.
    Gone,
    Changed,
    LeaderGone,
    LeaderChanged,
    /// Other pages came or went, or now rank before the former leader.
    Outranked,
}

impl<'a> From<&'a ClusterChange> for LeaderChangeLine<'a> {
    fn from(of: &'a ClusterChange) -> LeaderChangeLine<'a> {
        let (reason, distance) = match of.reason {
            LeaderChangeReason::New => (LeaderChangeCause::New, None),
            LeaderChangeReason::Gone => (LeaderChangeCause::Gone, None),
            LeaderChangeReason::Changed { bits } => (LeaderChangeCause::Changed, bits),
            LeaderChangeReason::LeaderGone => (LeaderChangeCause::LeaderGone, None),
            LeaderChangeReason::LeaderChanged { bits } => (LeaderChangeCause::LeaderChanged, bits),
            _ => (LeaderChangeCause::Outranked, None),
        };
        let (leader_before, leader_after) = (of.before.as_deref(), of.after.as_deref());
        LeaderChangeLine { url: &of.url, leader_before, leader_after, reason, distance }
    }
}

/// Prints the pages whose leader changed between two times.
pub(super) fn changes(
    snapshot: &Snapshot,
    (asked, span): (&Clustering, ChangePeriod),
    epoch: &str,
    as_json: bool,
    output: &mut Output,
) -> Result<Exit, VerbError> {
    let found = with_progress_bar(|progress| {
        ClusterChanges::between(snapshot, asked, span.from, span.to, progress)
    })?;
    let columns = [left("reason"), left("page"), left("leader before"), left("leader")];
    let mut table = TextTable::new(columns);
    let mut exit = Exit::Nothing;
    for change in found.iter()? {
        let change = change?;
        exit = Exit::Done;
        if as_json {
            output.object(&ClusterLine::Change(LeaderChangeLine::from(&change)))?;
            continue;
        }
        let [before, after] = [&change.before, &change.after].map(|led| match led {
            None => "-".to_owned(),
            Some(leader) if *leader == change.url => "itself".to_owned(),
            Some(leader) => escape::escape_untruncated(leader),
        });
        table.row(
            [reason(change.reason), escape::escape_untruncated(&change.url), before, after],
            output,
        )?;
    }
    table.end(output)?;
    let without = found.after().without_fingerprint();
    if without > 0 {
        output.note(&skipped_pages_clause(
            &many(without, "page has", "pages have"),
            epoch,
            WITHOUT_DIGEST,
        ))?;
    }
    if exit == Exit::Nothing {
        print_message("no page changed its leader between the two times");
    }
    Ok(exit)
}

fn reason(reason: LeaderChangeReason) -> String {
    let by = |what: &str, bits: Option<u32>| match bits {
        Some(bits) => format!("{what} by {}", many(bits.into(), "bit", "bits")),
        None => what.to_owned(),
    };
    match reason {
        LeaderChangeReason::New => "new".to_owned(),
        LeaderChangeReason::Gone => "gone".to_owned(),
        LeaderChangeReason::Changed { bits } => by("changed", bits),
        LeaderChangeReason::LeaderGone => "its leader is gone".to_owned(),
        LeaderChangeReason::LeaderChanged { bits } => by("its leader changed", bits),
        _ => "outranked".to_owned(),
    }
}
