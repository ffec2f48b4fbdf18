//! `inspect`: shows the contents and the structure of a store.

mod census;
mod dump;
mod epoch;
mod fingerprint;
mod help;
mod host;
mod journal;
mod overview;
mod page;
mod segment;

use clap::{Args, Subcommand};

use crate::common::{CommonArgs, read};
use crate::exit::{Exit, VerbError};
use crate::output::Output;
pub(crate) use epoch::EpochDetails as OfEpoch;
pub(crate) use fingerprint::FingerprintDetails as OfFingerprint;
use help::HELP;
pub(crate) use host::HostDetails as OfHost;
pub(crate) use journal::JournalDetails as OfJournal;
pub(crate) use overview::StoreOverview;
pub(crate) use page::PageDetails as OfPage;
pub(crate) use segment::SegmentLine as OfSegment;

/// Show what a store contains and where its space goes
///
/// Without a command: pages and visits, the largest hosts, what the bytes are for, segments and
/// epochs. Takes the same time for a store of any size, unless --deep counts all pages. Reads only,
/// and blocks no writer.
#[derive(Args)]
#[command(after_long_help = HELP, args_conflicts_with_subcommands = true)]
pub(crate) struct InspectArgs {
    #[command(subcommand)]
    subject: Option<InspectSubject>,
    /// Count all pages and visits, in one pass
    #[arg(long)]
    deep: bool,
}

#[derive(Subcommand)]
enum InspectSubject {
    Page(page::InspectPageArgs),
    Host(host::InspectHostArgs),
    Fingerprint(fingerprint::InspectFingerprintArgs),
    Segment(segment::InspectSegmentArgs),
    Epoch(epoch::InspectEpochArgs),
    Journal(journal::InspectJournalArgs),
}

impl InspectArgs {
    pub(crate) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        match self.subject {
            Some(InspectSubject::Page(page)) => page.run(common, output),
            Some(InspectSubject::Host(host)) => host.run(common, output),
            Some(InspectSubject::Fingerprint(fingerprint)) => fingerprint.run(common, output),
            Some(InspectSubject::Segment(segment)) => segment.run(common, output),
            Some(InspectSubject::Epoch(epoch)) => epoch.run(common, output),
            Some(InspectSubject::Journal(journal)) => journal.run(common, output),
            None => {
                let store = common.store()?;
                overview::run(&store, &read(&store)?, self.deep, common, output)
            }
        }
    }
}
