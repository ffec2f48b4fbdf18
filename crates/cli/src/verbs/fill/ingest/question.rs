//! Answers questions between records, about the state after all records before them.

use schemars::JsonSchema;
use serde::Serialize;
use simkeep::Snapshot;
use simkeep_formats::{Ask, Question};

use crate::exit::Failure;
use crate::verbs::ask::{history, near, scan};

/// The answer to a question.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Answer<'a> {
    Near(OfNear<'a>),
    History(OfHistory<'a>),
    Latest(OfLatest<'a>),
}

/// The pages near a page.
#[derive(Serialize, JsonSchema)]
pub(crate) struct OfNear<'a> {
    url: &'a str,
    /// Always "near".
    ask: &'static str,
    #[serde(flatten)]
    found: near::OfPage<'a>,
}

/// The history of a page.
#[derive(Serialize, JsonSchema)]
pub(crate) struct OfHistory<'a> {
    url: &'a str,
    /// Always "history".
    ask: &'static str,
    /// The entries of the page; empty if the page is unknown.
    entries: Vec<history::Line<'a>>,
}

/// The current state of a page.
#[derive(Serialize, JsonSchema)]
pub(crate) struct OfLatest<'a> {
    url: &'a str,
    /// Always "latest".
    ask: &'static str,
    /// The state of the page; null if the page is unknown.
    page: Option<scan::Line<'a>>,
}

/// Answers a question about a store.
pub(super) fn answer(
    store: &Snapshot,
    question: &Question,
    tell: impl FnOnce(Answer<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (url, ask) = (question.url.as_str(), question.ask.key());
    match question.ask {
        Ask::Near => {
            near::of_page(store, url, |found| tell(Answer::Near(OfNear { url, ask, found })))
        }
        Ask::History => {
            let history = store.history(url)?;
            let entries =
                history.iter().map(|entry| history::Line::new(url, entry, store.epochs()));
            let entries = entries.collect::<Result<_, _>>()?;
            tell(Answer::History(OfHistory { url, ask, entries }))
        }
        Ask::Latest => {
            let page = store.latest(url)?;
            let page = page.as_ref().map(|page| scan::Line::new(page, store.epochs()));
            tell(Answer::Latest(OfLatest { url, ask, page: page.transpose()? }))
        }
    }
}
