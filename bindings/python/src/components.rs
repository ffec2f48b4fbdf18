//! What else can be made of near pages: components, and balls.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::arg::{self, Arg};
use crate::clustering;
use crate::long::long;
use crate::progress::{self, Progress};
use crate::typed::Tuple;
use crate::value::{FromRust, value};
use crate::view::View;

value! {
    Components from components: simkeep::cluster::Components {
        k: u32,
        pages: u64,
        without_fingerprint: u64,
        components: u64,
        several: u64,
        largest: Tuple<Component>,
    }
}

value! {
    Component from component: simkeep::cluster::Component {
        page: String,
        pages: u64,
        widest: u32,
    }
}

value! {
    Balls from of: simkeep::cluster::Balls {
        k: u32,
        balls: u64,
        pages: u64,
        largest: u64,
        without_fingerprint: u64,
        by_size: Tuple<u64>,
        labelled_pairs: u64,
        equal_pairs: u64,
        average: Option<f64> = of.average(),
        shared: Option<f64> = of.shared(),
        equal_share: Option<f64> = of.equal_share(),
    }
}

/// Labels of pages: a dictionary, or pairs.
fn labels(given: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<(String, String)>> {
    let Some(given) = given.filter(|given| !given.is_none()) else { return Ok(Vec::new()) };
    let arg = Arg::new("labels");
    let expected = "a dictionary of labels by URL, or an iterable of such pairs";
    if given.is_instance_of::<PyString>() {
        return Err(arg.type_error(expected, given));
    }
    let pairs = match given.cast::<PyDict>() {
        Ok(labels) => labels.items().into_any(),
        Err(_) => given.clone(),
    };
    let pairs = pairs.try_iter().map_err(|_| arg.type_error(expected, given))?;
    let pair = |(row, pair): (u64, PyResult<Bound<'_, PyAny>>)| {
        let row = arg.at(row);
        let (url, label) = arg::pair(row, &pair?, "a pair of a URL and a label")?;
        Ok((arg::text(row, &url)?.to_owned(), arg::text(row, &label)?.to_owned()))
    };
    (0..).zip(pairs).map(pair).collect()
}

#[pymethods]
impl View {
    /// Joins whatever touches: pages within k bits of each other into one component.
    ///
    /// That is what tools do that remove all but one page of each. A chain of small steps joins
    /// texts that have little in common, which the widest distance within a component shows:
    /// `clusters` are what to use.
    ///
    /// Costs the join of `all_pairs`, so that a crowd costs its square, and 16 bytes for each
    /// fingerprint beside its memory. Ctrl-C ends it. Raises what `clusters` raises.
    ///
    /// Takes the keywords of `clusters`.
    #[pyo3(signature = (
        k: "int | None" = None, *, progress=None, **like: "Unpack[_types.Clustering]"
    ))]
    fn components<'py>(
        &self,
        py: Python<'py>,
        k: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, Progress>>,
        like: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Components> {
        let snapshot = self.now(py)?;
        let (asked, progress) = (clustering::asked(k, like, true)?, progress::given(progress));
        let components =
            long(py, &progress, || simkeep::cluster::Components::of(&snapshot, &asked, &progress))?;
        Components::from_rust(py, components)
    }

    /// Counts the pages within each distance of each page, from 0 to k: one `Balls` for each
    /// distance.
    ///
    /// With `labels` of pages by URL it also counts pairs by whether their labels are equal; of a
    /// page that is named twice, the last counts. Costs the join of `all_pairs`, so that a crowd
    /// costs its square; beside the memory 4 bytes for each fingerprint, and the labels. Ctrl-C
    /// ends it. Raises what `clusters` raises.
    ///
    /// Takes the keywords of `clusters`.
    #[pyo3(signature = (
        k: "int | None" = None, *,
        labels: "Mapping[str, str] | Iterable[tuple[str, str]] | None" = None, progress=None,
        **like: "Unpack[_types.Clustering]"
    ))]
    fn balls<'py>(
        &self,
        py: Python<'py>,
        k: Option<&Bound<'py, PyAny>>,
        labels: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, Progress>>,
        like: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Tuple<Balls>> {
        let snapshot = self.now(py)?;
        let labels = self::labels(labels)?;
        let (asked, progress) = (clustering::asked(k, like, true)?, progress::given(progress));
        let balls = long(py, &progress, || {
            simkeep::cluster::Balls::of(&snapshot, &asked, labels, &progress)
        })?;
        FromRust::from_rust(py, balls)
    }
}
