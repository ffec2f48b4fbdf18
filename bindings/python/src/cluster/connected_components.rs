//! Further results from near pages: connected components, and balls.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::convert::arg::{self, Arg};
use crate::convert::typed::Tuple;
use crate::convert::value::value;

value! {
    ConnectedComponents from components: simkeep::cluster::ConnectedComponents {
        k: u32,
        pages: u64,
        without_fingerprint: u64,
        components: u64,
        multi_page_components: u64,
        largest: Tuple<ConnectedComponent>,
    }
}

value! {
    ConnectedComponent from component: simkeep::cluster::ConnectedComponent {
        page: String,
        pages: u64,
        max_distance: u32,
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

/// Converts labels of pages from a dictionary or from pairs.
pub(crate) fn labels(given: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<(String, String)>> {
    let Some(given) = given.filter(|given| !given.is_none()) else { return Ok(Vec::new()) };
    let arg = Arg::new("labels");
    let expected = "a dictionary from URLs to labels, or an iterable of pairs of a URL and a label";
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
