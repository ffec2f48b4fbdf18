//! Alias rules: differences between URLs that may not matter.

use std::convert::Infallible;
use std::hash::{DefaultHasher, Hash, Hasher};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};
use simkeep::alias;

use crate::convert::arg::{self, Arg, optional};
use crate::convert::typed::output_type;
use crate::convert::value::FromRust;

/// A rule that maps several URLs to one: a difference between URLs that may not matter.
///
/// `kind` and `value` select it: `"host"` (as browsers write it), `"scheme"` with `"https"` or
/// `"http"`, `"www"` with `"without"` or `"with"`, `"port"`, `"escapes"`, `"session"` (in the
/// path), `"slashes"`, `"fragment"`, `"empty-query"`, `"parameter"` with its name (`"utm_*"` is a
/// prefix), `"order"` (of parameters), `"index"` with the name of a page, `"slash"` with
/// `"without"` or `"with"`, `"case"` (of the path). As text: "parameter sid". Raises `ValueError`
/// if there is no such rule.
#[pyclass(frozen, module = "simkeep")]
pub(crate) struct AliasRule(pub(crate) alias::AliasRule);

impl FromRust<alias::AliasRule> for AliasRule {
    fn from_rust(_: Python<'_>, rule: alias::AliasRule) -> PyResult<AliasRule> {
        Ok(AliasRule(rule))
    }
}

/// The name of a kind of rules.
struct RuleKindName(&'static str);

impl<'py> IntoPyObject<'py> for RuleKindName {
    type Target = PyString;
    type Output = Bound<'py, PyString>;
    type Error = Infallible;
    output_type!("builtins", "_AliasKind");

    fn into_pyobject(self, py: Python<'py>) -> Result<Bound<'py, PyString>, Infallible> {
        self.0.into_pyobject(py)
    }
}

#[pymethods]
impl AliasRule {
    #[new]
    #[pyo3(signature = (kind: "_AliasKind", value: "str | None" = None))]
    fn new(kind: &Bound<'_, PyAny>, value: Option<&Bound<'_, PyAny>>) -> PyResult<AliasRule> {
        let kind = arg::text(Arg::new("kind"), kind)?;
        let value = optional(value, |v| arg::text(Arg::new("value"), v).map(str::to_owned))?;
        let rule = alias::AliasRule::new(kind, value.as_deref());
        rule.map(AliasRule).ok_or_else(|| {
            let value = value.map_or_else(String::new, |value| format!(" {value:?}"));
            PyValueError::new_err(format!("there is no such rule: {kind:?}{value}"))
        })
    }

    #[classattr]
    fn __match_args__() -> (&'static str, &'static str) {
        ("kind", "value")
    }

    /// The kind of rule, in one word.
    #[getter]
    fn kind(&self) -> RuleKindName {
        RuleKindName(self.0.kind())
    }

    /// The value of the rule; `None` if the kind has a single rule.
    #[getter]
    fn value(&self) -> Option<&str> {
        self.0.value()
    }

    /// The URL to which the rule maps a URL; `None` if the rule does not change the URL. URLs
    /// without a host are never changed.
    #[pyo3(signature = (url: "str"))]
    fn apply(&self, url: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
        Ok(self.0.apply(arg::url(Arg::new("url"), url)?))
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let written = |text: &str| PyResult::Ok(PyString::new(py, text).repr()?.to_string());
        let kind = written(self.0.kind())?;
        Ok(match self.0.value() {
            Some(value) => format!("simkeep.AliasRule({kind}, {})", written(value)?),
            None => format!("simkeep.AliasRule({kind})"),
        })
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<AliasRule>().is_ok_and(|other| self.0 == other.get().0)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.0.hash(&mut hasher);
        hasher.finish()
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> (Bound<'py, PyType>, (&'static str, Option<String>)) {
        let rule = &slf.get().0;
        (slf.get_type(), (rule.kind(), rule.value().map(str::to_owned)))
    }
}

/// The URL after applying rules one after another.
///
/// Pass the rules in the order of an `AliasSite`. The rules are valid only for the pages of this
/// site.
#[pyfunction]
#[pyo3(signature = (url: "str", rules: "Iterable[AliasRule]"))]
pub(crate) fn normalised(url: &Bound<'_, PyAny>, rules: &Bound<'_, PyAny>) -> PyResult<String> {
    let (url, arg) = (arg::url(Arg::new("url"), url)?, Arg::new("rules"));
    let wrong = |given: &Bound<'_, PyAny>| arg.type_error("an iterable of AliasRules", given);
    if rules.is_instance_of::<PyString>() {
        return Err(wrong(rules));
    }
    let rule = |(row, rule): (u64, PyResult<Bound<'_, PyAny>>)| {
        let rule = rule?;
        let of = rule.cast::<AliasRule>();
        let of = of.map_err(|_| arg.at(row).type_error("an AliasRule", &rule))?;
        Ok(of.get().0.clone())
    };
    let all = rules.try_iter().map_err(|_| wrong(rules))?;
    let all = (0..).zip(all).map(rule).collect::<PyResult<Vec<_>>>()?;
    Ok(alias::normalised(url, &all))
}

/// The site of a URL, as in `AliasSite`; `None` without a valid host.
///
/// The site is the host in lower case, without `www.`.
#[pyfunction]
#[pyo3(signature = (url: "str"))]
pub(crate) fn site_of(url: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    Ok(alias::site_of(arg::url(Arg::new("url"), url)?))
}
