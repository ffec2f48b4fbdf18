//! Shows the journal.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use simkeep::inspect::JournalView;

use crate::common::CommonArgs;
use crate::exit::{Exit, VerbError};
use crate::output::Output;
use crate::output::json::{StoreState, Time, VerdictTotals};
use crate::output::words::{count, figure, many};

/// Show the operations that are in no segment yet
#[derive(Args)]
pub(super) struct InspectJournalArgs {}

impl InspectJournalArgs {
    #[expect(clippy::unused_self, reason = "as all subjects are run")]
    pub(super) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        let reader = common.read()?;
        let view = JournalView::of(&reader.snapshot())?;
        if common.json {
            output.object(&JournalDetails::new(&view, StoreState::of(&reader)))?;
            return Ok(Exit::Done);
        }
        let (first, last) = (count(view.first_operation), count(view.last_operation));
        let numbers = match view.operations {
            0 => "everything is in segments".to_owned(),
            _ => format!("{first} to {last}, of {}", many(view.pages, "page", "pages")),
        };
        output.line(&figure("operations", view.operations, &numbers))?;
        let clock = common.clock();
        let times = view.times.map(|(first, last)| {
            clock.heading(&format!("{} to {}", clock.show(first), clock.show(last)))
        });
        let visits = [
            ("new", view.verdicts.new, times.unwrap_or_default()),
            ("same", view.verdicts.same, String::new()),
            ("changed", view.verdicts.changed, String::new()),
            ("reverted", view.verdicts.reverted, String::new()),
            ("gone", view.verdicts.gone, String::new()),
            ("failed", view.verdicts.failed, String::new()),
            (
                "other",
                view.verdicts.other,
                "out of order, or not modified without known content".to_owned(),
            ),
            ("restated", view.restated, String::new()),
            ("weights", view.weights, String::new()),
            ("classes", view.classes, String::new()),
            ("entity tags", view.etags, String::new()),
            ("targets", view.targets, "of redirects, and canonical URLs".to_owned()),
            ("forgotten", view.forgotten, "pages and prefixes".to_owned()),
        ];
        for (name, number, remark) in visits.into_iter().filter(|(_, number, _)| *number > 0) {
            output.line(&figure(name, number, &remark))?;
        }
        Ok(Exit::Done)
    }
}

/// The contents of the journal: the operations that are in no segment yet.
#[derive(Serialize, JsonSchema)]
pub(crate) struct JournalDetails {
    /// The number of the first operation; null if there is none.
    first_operation: Option<u64>,
    last_operation: Option<u64>,
    operations: u64,
    /// The number of distinct pages in these operations.
    pages: u64,
    /// The time of the earliest visit; null without visits.
    first: Option<Time>,
    /// The time of the latest visit; null without visits.
    last: Option<Time>,
    #[serde(flatten)]
    verdicts: VerdictTotals,
    restated: u64,
    weights: u64,
    classes: u64,
    /// The number of entity tags of contents.
    etags: u64,
    /// The number of targets of redirects, and of canonical URLs.
    targets: u64,
    /// The number of forgotten pages and prefixes.
    forgotten: u64,
    saw: StoreState,
}

impl JournalDetails {
    fn new(view: &JournalView, saw: StoreState) -> JournalDetails {
        let is_any = view.operations > 0;
        JournalDetails {
            first_operation: is_any.then_some(view.first_operation),
            last_operation: is_any.then_some(view.last_operation),
            operations: view.operations,
            pages: view.pages,
            first: view.times.map(|(first, _)| Time(first)),
            last: view.times.map(|(_, last)| Time(last)),
            verdicts: view.verdicts.into(),
            restated: view.restated,
            weights: view.weights,
            classes: view.classes,
            etags: view.etags,
            targets: view.targets,
            forgotten: view.forgotten,
            saw,
        }
    }
}
