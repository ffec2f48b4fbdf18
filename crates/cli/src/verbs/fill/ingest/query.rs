//! Answers questions between records, about the state after all records before them.

use schemars::JsonSchema;
use serde::Serialize;
use simkeep::Snapshot;
use simkeep_formats::{InputQuery, InputQueryKind};

use crate::exit::VerbError;
use crate::output::json::RequestHeaders;
use crate::verbs::ask::{history, near, scan};

/// The answer to a question.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum QueryAnswer<'a> {
    Near(NearAnswer<'a>),
    History(HistoryAnswer<'a>),
    Latest(LatestAnswer<'a>),
    Validators(ValidatorsAnswer<'a>),
}

/// The pages near a page.
#[derive(Serialize, JsonSchema)]
pub(crate) struct NearAnswer<'a> {
    url: &'a str,
    /// Always "near".
    ask: &'static str,
    #[serde(flatten)]
    found: near::PageNearResult<'a>,
}

/// The history of a page.
#[derive(Serialize, JsonSchema)]
pub(crate) struct HistoryAnswer<'a> {
    url: &'a str,
    /// Always "history".
    ask: &'static str,
    /// The entries of the page; empty if the page is unknown.
    entries: Vec<history::HistoryLine<'a>>,
}

/// The current state of a page.
#[derive(Serialize, JsonSchema)]
pub(crate) struct LatestAnswer<'a> {
    url: &'a str,
    /// Always "latest".
    ask: &'static str,
    /// The state of the page; null if the page is unknown.
    page: Option<scan::ScanLine<'a>>,
}

/// The headers of the next request for a page.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ValidatorsAnswer<'a> {
    url: &'a str,
    /// Always "validators".
    ask: &'static str,
    /// The headers that make the next request for the page conditional; empty if no validators are
    /// known.
    headers: RequestHeaders,
}

/// Answers a question about a store.
pub(super) fn answer(
    store: &Snapshot,
    question: &InputQuery,
    tell: impl FnOnce(QueryAnswer<'_>) -> Result<(), VerbError>,
) -> Result<(), VerbError> {
    let (url, ask) = (question.url.as_str(), question.ask.key());
    match question.ask {
        InputQueryKind::Near => near::of_page(store, url, |found| {
            tell(QueryAnswer::Near(NearAnswer { url, ask, found }))
        }),
        InputQueryKind::History => {
            let history = store.history(url)?;
            let entries =
                history.iter().map(|entry| history::HistoryLine::new(url, entry, store.epochs()));
            let entries = entries.collect::<Result<_, _>>()?;
            tell(QueryAnswer::History(HistoryAnswer { url, ask, entries }))
        }
        InputQueryKind::Latest => {
            let page = store.latest(url)?;
            let page = page.as_ref().map(|page| scan::ScanLine::new(page, store.epochs()));
            tell(QueryAnswer::Latest(LatestAnswer { url, ask, page: page.transpose()? }))
        }
        InputQueryKind::Validators => {
            let page = store.latest(url)?;
            let headers = page.as_ref().map(RequestHeaders::conditional).unwrap_or_default();
            tell(QueryAnswer::Validators(ValidatorsAnswer { url, ask, headers }))
        }
    }
}
