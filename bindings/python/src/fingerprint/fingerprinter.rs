//! Fingerprints of texts and pages.

use std::borrow::Cow;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use simkeep::fingerprint::{self, ContentType, Document, FingerprintError, extract};

use crate::convert::arg::{self, Arg, optional};
use crate::convert::error::OrRaise;
use crate::fingerprint::df::FrequencyTable;
use crate::fingerprint::origin::{self, Origin};

/// Converts HTML: `str`, or bytes with the encoding or the Content-Type from the server.
fn html<'a>(
    html: &'a Bound<'_, PyAny>,
    encoding: Option<&Bound<'_, PyAny>>,
) -> PyResult<HtmlArgument<'a>> {
    let encoding = optional(encoding, |v| arg::text(Arg::new("encoding"), v).map(str::to_owned))?;
    if html.is_instance_of::<PyString>() {
        if encoding.is_some() {
            let message = "encoding is only for html that is bytes, and here html is str";
            return Err(PyTypeError::new_err(message));
        }
        return Ok(HtmlArgument::Text(arg::content(Arg::new("html"), html)?));
    }
    Ok(HtmlArgument::Bytes(arg::bytes(Arg::new("html"), html, "bytes or str")?, encoding))
}

enum HtmlArgument<'a> {
    Text(Cow<'a, str>),
    Bytes(Vec<u8>, Option<String>),
}

impl HtmlArgument<'_> {
    fn decoded(&self) -> Cow<'_, str> {
        match self {
            HtmlArgument::Text(text) => Cow::Borrowed(text),
            HtmlArgument::Bytes(bytes, encoding) => {
                ContentType::of_page(encoding.as_deref()).decode(bytes)
            }
        }
    }
}

/// The fingerprint of a text by the default recipe.
///
/// `None` if the text has fewer than eight words, and is too short to be distinguished. Linear in
/// the text. `recipe` may be any recipe that needs no table.
#[pyfunction(name = "fingerprint")]
#[pyo3(signature = (text: "str", *, recipe: "str | None" = None))]
pub(crate) fn fingerprint_of<'py>(
    py: Python<'py>,
    text: &Bound<'py, PyAny>,
    recipe: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<u64>> {
    let recipe = origin::recipe(Arg::new("recipe"), recipe)?;
    let text = arg::content(Arg::new("text"), text)?;
    let made = || fingerprint::Fingerprinter::new(&recipe)?.of_page(&Document::new(&*text));
    py.detach(made).or_raise(py)
}

/// Decodes a document by its `content_type`, by its own declaration, or by a guess.
///
/// `content_type` is the Content-Type of the response, several values joined by commas, or the
/// label of an encoding. Without a Content-Type the document is HTML. The encoding is found as in
/// browsers: a byte order mark, the Content-Type, a `<meta>` or an XML declaration, UTF-8 if the
/// bytes are valid, otherwise the most likely encoding. Linear in the document.
#[pyfunction]
#[pyo3(signature = (body: "bytes | bytearray", content_type: "str | None" = None))]
pub(crate) fn decode<'py>(
    py: Python<'py>,
    body: &Bound<'py, PyAny>,
    content_type: Option<&Bound<'py, PyAny>>,
) -> PyResult<String> {
    let arg = Arg::new("content_type");
    let declared = optional(content_type, |v| arg::text(arg, v).map(str::to_owned))?;
    let body = arg::bytes(Arg::new("body"), body, "bytes")?;
    Ok(py.detach(|| fingerprint::decode(&body, declared.as_deref()).into_owned()))
}

/// The visible text of an HTML page.
///
/// The page is `str`, or bytes with the `encoding` or the Content-Type from the server.
#[pyfunction]
#[pyo3(signature = (html: "_types.Html", encoding: "str | None" = None))]
pub(crate) fn visible_text<'py>(
    py: Python<'py>,
    html: &Bound<'py, PyAny>,
    encoding: Option<&Bound<'py, PyAny>>,
) -> PyResult<String> {
    let page = self::html(html, encoding)?;
    Ok(py.detach(|| extract(&page.decoded()).into_text()))
}

/// The distance of two fingerprints in bits.
#[pyfunction]
#[pyo3(signature = (left: "SupportsIndex", right: "SupportsIndex"))]
pub(crate) fn distance(left: &Bound<'_, PyAny>, right: &Bound<'_, PyAny>) -> PyResult<u32> {
    let left = arg::fingerprint(Arg::new("left"), left)?;
    let right = arg::fingerprint(Arg::new("right"), right)?;
    Ok((left ^ right).count_ones())
}

/// Makes fingerprints by a recipe, which is selected by its name or short name.
///
/// `table` is for recipes that weigh words by rarity. An `Origin`, for example of an epoch of a
/// store, selects its recipe and its table. Threads may share a fingerprinter.
#[pyclass(frozen, module = "simkeep")]
pub(crate) struct Fingerprinter(simkeep::Origin);

impl Fingerprinter {
    pub(crate) fn made<T>(
        &self,
        make: impl FnOnce(&mut fingerprint::Fingerprinter<'_>) -> Result<T, FingerprintError>,
    ) -> simkeep::Result<T> {
        Ok(make(&mut self.0.fingerprinter()?)?)
    }

    /// Returns the end of the name of each epoch with these fingerprints: the recipe, and the
    /// checksum of the table.
    pub(crate) fn epoch_name_end(&self) -> String {
        let name = self.0.name();
        let extractor = self.0.extracted_by().and_then(|by| name.strip_prefix(by));
        extractor.map_or(&*name, str::trim_start).to_owned()
    }
}

#[pymethods]
impl Fingerprinter {
    #[new]
    #[pyo3(signature = (recipe: "str | Origin | None" = None, *, table=None))]
    pub(crate) fn new<'py>(
        py: Python<'py>,
        recipe: Option<&Bound<'py, PyAny>>,
        table: Option<&Bound<'py, FrequencyTable>>,
    ) -> PyResult<Fingerprinter> {
        let is_origin = recipe.is_some_and(|recipe| recipe.is_instance_of::<Origin>());
        let recipe = optional(recipe, |recipe| origin::origin(Arg::new("recipe"), recipe))?;
        let mut origin = recipe.unwrap_or_default();
        if let Some(table) = table {
            if is_origin {
                let what = "table is for the name of a recipe; an Origin has its own table";
                return Err(PyTypeError::new_err(what));
            }
            if origin.recipe().needs_frequencies() {
                origin = origin.table(table.get().table()).or_raise(py)?;
            }
        }
        let maker = Fingerprinter(origin);
        maker.made(|_| Ok(())).or_raise(py)?;
        Ok(maker)
    }

    /// The fingerprint of a text; 0 if the text has no features. Linear in the text.
    #[pyo3(signature = (text: "str"))]
    fn of_text<'py>(&self, py: Python<'py>, text: &Bound<'py, PyAny>) -> PyResult<u64> {
        let text = arg::content(Arg::new("text"), text)?;
        py.detach(|| self.made(|maker| maker.of_text(&text))).or_raise(py)
    }

    /// The fingerprint of the text of a page; `None` if the text has fewer than eight words.
    ///
    /// A text of fewer than eight words is too short to be distinguished.
    #[pyo3(signature = (text: "str"))]
    fn of_page<'py>(&self, py: Python<'py>, text: &Bound<'py, PyAny>) -> PyResult<Option<u64>> {
        let text = arg::content(Arg::new("text"), text)?;
        py.detach(|| self.made(|maker| maker.of_page(&Document::new(&*text)))).or_raise(py)
    }

    /// The fingerprint of an HTML page; `None` if its visible text has fewer than eight words.
    ///
    /// The page is `str`, or bytes with the `encoding` or the Content-Type from the server.
    #[pyo3(signature = (html: "_types.Html", encoding: "str | None" = None))]
    fn of_html<'py>(
        &self,
        py: Python<'py>,
        html: &Bound<'py, PyAny>,
        encoding: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Option<u64>> {
        let page = self::html(html, encoding)?;
        py.detach(|| self.made(|maker| maker.of_page(&extract(&page.decoded())))).or_raise(py)
    }

    /// The name of the recipe.
    #[getter]
    pub(crate) fn recipe(&self) -> String {
        self.0.recipe().name()
    }

    fn __repr__(&self) -> String {
        let table = if self.0.frequencies().is_some() { " with a table" } else { "" };
        format!("<simkeep.Fingerprinter {}{table}>", self.recipe())
    }
}
