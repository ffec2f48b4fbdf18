//! Entries of histories that are stored many at a time.

use pyo3::prelude::*;
use simkeep::{Answer, Request};

use crate::arg::{self, Arg};
use crate::comparison::each;
use crate::outcome::Outcome;
use crate::store::Store;
use crate::value::FromRust;
use crate::word::Stored;
use crate::{error, history};

/// The answer to a request, as what a single call would have answered.
#[derive(IntoPyObject)]
enum Answered {
    Observed(Outcome),
    Stored(Stored),
}

impl Answered {
    fn of(py: Python<'_>, answer: Answer) -> PyResult<Answered> {
        Ok(match answer {
            Answer::Observed(outcome) => Answered::Observed(Outcome::from_rust(py, outcome)?),
            Answer::Restated(outcome) => Answered::Stored(outcome.into()),
            Answer::Given(outcome) => Answered::Stored(outcome.into()),
        })
    }
}

#[pymethods]
impl Store {
    /// Observes, restates and gives in one call: pairs of a URL and an entry, as `observations`
    /// tells them.
    ///
    /// Each is judged after those before it, and all become durable together, in one commit or a
    /// few. If one of them is invalid, none is stored. Answers an `Outcome` for each visit, and for
    /// each of the others whether it was stored.
    #[pyo3(signature = (entries: "Iterable[tuple[str, Visit | Restated | Given | Judged]]"))]
    fn request_batch<'py>(
        &self,
        py: Python<'py>,
        entries: &Bound<'py, PyAny>,
    ) -> PyResult<Vec<Answered>> {
        drop(self.open.store(py)?); // What is closed says that, and not what is wrong with a row.
        let expected = "an iterable of pairs of a URL and a Visit, Restated or Given";
        let entries = each(Arg::new("entries"), entries, expected, |arg, given| {
            let (url, entry) = arg::pair(arg, given, "a pair of a URL and an entry")?;
            Ok((arg::url(arg, &url)?.to_owned(), history::taken_entry(arg, &entry)?))
        })?;
        let (several, mut at_fault) = (entries.len() > 1, None);
        let answers = self.call(py, |store| {
            let requests = entries.iter().map(|(url, entry)| Request::of(url, *entry));
            let requests: Vec<Request<'_>> = requests.collect();
            store.request_batch(&requests).inspect_err(|_| {
                let view = store.snapshot();
                at_fault = requests.iter().position(|request| request.check(&view).is_err());
            })
        });
        let answers = answers.map_err(|e| match at_fault {
            Some(row) if several => error::in_row(py, e, row),
            _ => e,
        })?;
        answers.into_iter().map(|of| Answered::of(py, of)).collect()
    }
}
