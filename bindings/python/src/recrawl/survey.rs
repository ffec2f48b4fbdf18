//! A summary of the changes of a store's pages.

use pyo3::prelude::*;
use simkeep::due;

use crate::convert::typed::Tuple;
use crate::convert::value::value;

value! {
    Survey from survey: simkeep::due::Survey {
        pages: f64,
        compared: f64,
        changed: f64,
        deciles: Option<Tuple<f64>>,
    }
}

impl Survey {
    pub(crate) fn of(py: Python<'_>, of: due::Survey) -> PyResult<Survey> {
        let due::Survey { pages, compared, changed, deciles, .. } = of;
        let deciles = deciles.map(|deciles| Tuple::new(py, deciles)).transpose()?;
        Ok(Survey { pages, compared, changed, deciles })
    }
}
