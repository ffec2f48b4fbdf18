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

use crate::common::{Common, read};
use crate::exit::{Exit, Failure};
use crate::output::Output;
pub(crate) use epoch::Answer as OfEpoch;
pub(crate) use fingerprint::Answer as OfFingerprint;
use help::HELP;
pub(crate) use host::Answer as OfHost;
pub(crate) use journal::Answer as OfJournal;
pub(crate) use overview::Answer;
pub(crate) use page::Answer as OfPage;
pub(crate) use segment::Line as OfSegment;

/// Show what a store contains and where its space goes
///
/// Without a command: pages and visits, the largest hosts, what the bytes are for, segments and
/// epochs. Takes the same time for a store of any size, unless --deep counts all pages. Reads only,
/// and blocks no writer.
#[derive(Args)]
#[command(after_long_help = HELP, args_conflicts_with_subcommands = true)]
pub(crate) struct Inspect {
    #[command(subcommand)]
    subject: Option<Subject>,
    /// Count all pages and visits, in one pass
    #[arg(long)]
    deep: bool,
}

#[derive(Subcommand)]
enum Subject {
    Page(page::PageOf),
    Host(host::HostOf),
    Fingerprint(fingerprint::FingerprintOf),
    Segment(segment::SegmentOf),
    Epoch(epoch::EpochOf),
    Journal(journal::JournalOf),
}

impl Inspect {
    pub(crate) fn run(self, common: &Common, output: &mut Output) -> Result<Exit, Failure> {
        match self.subject {
            Some(Subject::Page(page)) => page.run(common, output),
            Some(Subject::Host(host)) => host.run(common, output),
            Some(Subject::Fingerprint(fingerprint)) => fingerprint.run(common, output),
            Some(Subject::Segment(segment)) => segment.run(common, output),
            Some(Subject::Epoch(epoch)) => epoch.run(common, output),
            Some(Subject::Journal(journal)) => journal.run(common, output),
            None => {
                let store = common.store()?;
                overview::run(&store, &read(&store)?, self.deep, common, output)
            }
        }
    }
}
