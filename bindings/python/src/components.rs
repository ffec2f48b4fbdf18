//! What else can be made of near pages: components, and balls.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use simkeep::cluster;

use crate::arg::{self, Arg};
use crate::clustering;
use crate::long::long;
use crate::progress::{self, Progress};
use crate::typed::Tuple;
use crate::value::value;
use crate::view::View;

value! {
    /// The components of a store: two pages are in one if a chain of pages leads from one to the other,
    /// of which each is within k bits of the next.
    Components {
        /// The distance of a step.
        k: u32,
        /// How many pages there are.
        pages: u64,
        /// Pages with content that have no fingerprint of the epoch, and took no part.
        without_fingerprint: u64,
        /// How many components there are.
        components: u64,
        /// Those of two pages or more.
        several: u64,
        /// The ten largest, of two pages or more.
        largest: Tuple<Component>,
    }
}

value! {
    /// One component.
    Component {
        /// One of its pages: of those with its least fingerprint, the first by the rules.
        page: String,
        /// How many there are.
        pages: u64,
        /// The greatest distance between two of its pages: of more than 65,536 fingerprints, the
        /// greatest that was found, by comparing with each of a few that are far from each other.
        widest: u32,
    }
}

value! {
    /// The balls of one distance: each page with all that are within so many bits of it, itself
    /// included. Other than clusters, balls overlap.
    Balls {
        /// The distance.
        k: u32,
        /// How many balls there are: one for each page.
        balls: u64,
        /// How many pages they have together.
        pages: u64,
        /// How many pages the largest has.
        largest: u64,
        /// Pages with content that have no fingerprint of the epoch, and have no ball.
        without_fingerprint: u64,
        /// How many balls have 1 page, 2 or 3, 4 to 7, and so on: those of size s are in bin log2(s).
        by_size: Tuple<u64>,
        /// Pairs of pages within the distance that both have a label.
        labelled_pairs: u64,
        /// Those of them whose labels are equal.
        equal_pairs: u64,
        /// How many pages a ball has on average; `None` if there is none.
        average: Option<f64>,
        /// The share of balls that have another page than their own; `None` if there is none.
        shared: Option<f64>,
        /// The share of labelled pairs whose labels are equal; `None` if there is none.
        equal_share: Option<f64>,
    }
}

impl Components {
    fn of(py: Python<'_>, of: cluster::Components) -> PyResult<Components> {
        let cluster::Components {
            k, pages, without_fingerprint, components, several, largest, ..
        } = of;
        let largest = Tuple::of(py, largest, |one| {
            let cluster::Component { page, pages, widest, .. } = one;
            Ok(Component { page, pages, widest })
        })?;
        Ok(Components { k, pages, without_fingerprint, components, several, largest })
    }
}

impl Balls {
    fn of(py: Python<'_>, of: &cluster::Balls) -> PyResult<Balls> {
        Ok(Balls {
            k: of.k,
            balls: of.balls,
            pages: of.pages,
            largest: of.largest,
            without_fingerprint: of.without_fingerprint,
            by_size: Tuple::new(py, &of.by_size)?,
            labelled_pairs: of.labelled_pairs,
            equal_pairs: of.equal_pairs,
            average: of.average(),
            shared: of.shared(),
            equal_share: of.equal_share(),
        })
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
        Components::of(
            py,
            long(py, &progress, || simkeep::cluster::Components::of(&snapshot, &asked, &progress))?,
        )
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
        Tuple::of(py, &balls, |one| Balls::of(py, one))
    }
}
