//! Sites that mirror each other.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use simkeep::mirrors;
use simkeep::mirrors::Mirroring;

use crate::arg::{self, Arg, optional};
use crate::long::long;
use crate::progress::{self, Progress};
use crate::query::{each, unknown};
use crate::time::Elapsed;
use crate::typed::Tuple;
use crate::value::value;
use crate::view::View;

value! {
    /// Which sites mirror each other.
    Mirrors {
        /// The pairs: first those that mirror each other, and of those first the ones with most pages
        /// near each other.
        pairs: Tuple<Mirror>,
        /// How many pairs mirror each other, those included that are beyond the limit.
        mirrors: u64,
        /// How many others have a quarter of the share, so that they are named, too.
        partial: u64,
        /// How many paths there are.
        paths: u64,
        /// How many pages have content, but no fingerprint of the epoch: they are of no path.
        without_fingerprint: u64,
        /// How many sites have as many paths as were asked for.
        sites: u64,
        /// How many pairs of them had so much in common in their samples that they were compared.
        compared: u64,
    }
    also {
        /// How likely it is at least that two large sites are compared.
        ///
        /// That is if of the paths that either has this share leads to the same on both.
        #[staticmethod]
        #[pyo3(signature = (share: "float"))]
        fn recall(share: &Bound<'_, PyAny>) -> PyResult<f64> {
            let arg = Arg::new("share");
            let of = arg::float(arg, share)?;
            if !(0.0..=1.0).contains(&of) {
                return Err(arg.value_error("a number from 0 to 1", share));
            }
            Ok(Mirroring::recall(of))
        }
    }
}

value! {
    /// Two sites of which many paths lead to pages near each other.
    Mirror {
        /// The site that leads: on most paths it was first seen with what both have.
        leader: Py<MirrorSite>,
        /// The other one.
        follower: Py<MirrorSite>,
        /// Whether the share is as large as was asked for.
        is_mirror: bool,
        /// How many paths both have.
        common: u64,
        /// How many of those lead to pages near each other: by what is in force on one, and what is in
        /// force or was earlier on the other.
        near: u64,
        /// How many of those lead to pages that are not near each other.
        differing: u64,
        /// What share of the paths that either has are near, from 0 to 1.
        share: f64,
        /// By how long the follower lags: the median of how much later it was first seen with what both
        /// have, over paths on which both were seen to change to that; `None` if there is no such path.
        lag: Option<Elapsed>,
        /// Up to ten paths that both have, drawn by lot.
        examples: Tuple<MirrorExample>,
    }
}

value! {
    /// A site: a host, or a folder of one.
    MirrorSite {
        /// The prefix that its pages are under; it ends with `/`.
        site: String,
        /// How many paths it has.
        paths: u64,
        /// On how many of those that are near it has in force what the other site had earlier.
        outdated: u64,
    }
}

value! {
    /// The pages of a path that two sites have.
    MirrorExample {
        /// The page of the site that leads.
        leader: String,
        /// That of the other one.
        follower: String,
        /// In how many bits they differ: of what is in force on one and all versions at hand of the
        /// other, the nearest.
        distance: u32,
    }
}

impl From<mirrors::MirrorSite> for MirrorSite {
    fn from(of: mirrors::MirrorSite) -> MirrorSite {
        MirrorSite { site: of.site.to_string(), paths: of.paths, outdated: of.outdated }
    }
}

impl Mirror {
    fn of(py: Python<'_>, of: mirrors::Mirror) -> PyResult<Mirror> {
        let differing = of.differing();
        let mirrors::Mirror { leader, follower, is_mirror, common, near, share, lag, .. } = of;
        Ok(Mirror {
            leader: Py::new(py, MirrorSite::from(leader))?,
            follower: Py::new(py, MirrorSite::from(follower))?,
            is_mirror,
            common,
            near,
            differing,
            share,
            lag: lag.map(Elapsed),
            examples: Tuple::of(py, of.examples, |example| {
                let mirrors::MirrorExample { leader, follower, distance, .. } = example;
                Ok(MirrorExample { leader, follower, distance })
            })?,
        })
    }
}

impl Mirrors {
    fn of(py: Python<'_>, of: mirrors::Mirrors) -> PyResult<Mirrors> {
        let mirrors::Mirrors {
            pairs,
            mirrors,
            partial,
            paths,
            without_fingerprint,
            sites,
            compared,
            ..
        } = of;
        let pairs = Tuple::of(py, pairs, |pair| Mirror::of(py, pair))?;
        Ok(Mirrors { pairs, mirrors, partial, paths, without_fingerprint, sites, compared })
    }
}

/// What is asked, with these keywords.
fn asked(
    k: Option<&Bound<'_, PyAny>>,
    keywords: Option<&Bound<'_, PyDict>>,
) -> PyResult<Mirroring> {
    let mut asked = Mirroring::new();
    asked.k = optional(k, |k| arg::distance(Arg::new("k"), k))?;
    each(keywords, |key, value| {
        let given = Some(value);
        match key {
            "paths" => asked.paths = arg::count(Arg::new("paths"), value)?,
            "share" => asked.share = arg::float(Arg::new("share"), value)?,
            "depth" => {
                let arg = Arg::new("depth");
                // The crate says how many are too many.
                asked.depth = u8::try_from(arg::count(arg, value)?)
                    .map_err(|_| arg.value_error("an int from 0 to 16", value))?;
            }
            "at" => asked.at = optional(given, |v| arg::time(Arg::new("at"), v))?,
            "under" => asked.under = optional(given, |v| arg::prefix(Arg::new("under"), v))?,
            "epoch" => asked.epoch = optional(given, |v| arg::epoch(Arg::new("epoch"), v))?,
            "limit" => asked.limit = arg::limit(Arg::new("limit"), value)?,
            "classes" => {
                asked.classes = optional(given, |v| arg::classes(Arg::new("classes"), v))?;
            }
            "memory_bytes" => asked.memory_bytes = arg::size(Arg::new("memory_bytes"), value)?,
            "scratch" => asked.scratch = optional(given, |v| arg::path(Arg::new("scratch"), v))?,
            other => return Err(unknown(other)),
        }
        Ok(())
    })?;
    Ok(asked)
}

#[pymethods]
impl View {
    /// Finds the sites that mirror each other: hosts, and folders of them, with the same paths.
    ///
    /// A site mirrors another if so many `paths` lead to pages within k bits of each other, and
    /// they have such a `share` of all that either has. A path is what follows the site in a URL,
    /// whatever the scheme. What is found was compared path by path; which pairs are compared, a
    /// sample decides, so one may be missed: `Mirrors.recall` says how likely it is found.
    ///
    /// Costs a scan of all pages, and for each pair that is compared some 100 microseconds and the
    /// pages of both; `memory_bytes`, and scratch files for what does not fit. Other threads run
    /// meanwhile. Ctrl-C ends it.
    ///
    /// Raises `MisuseError` if what is asked makes no sense, `EpochError` for an epoch that has
    /// ended or is not known, `IoError` if there is no room for scratch files.
    ///
    /// Keywords: `paths`, of how many at least (10); `share`, what share they must be of all that
    /// either has (0.8); `depth`, how many folders deep a site may lie (2, at most 16); `limit`,
    /// the most pairs (1,000; `None` for all); `at`, `under`, `epoch`, `classes`; `memory_bytes`
    /// (128 MiB); `scratch`, a directory for what does not fit.
    #[pyo3(signature = (
        k: "int | None" = None, *, progress=None, **like: "Unpack[_types.Mirroring]"
    ))]
    fn mirrors<'py>(
        &self,
        py: Python<'py>,
        k: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, Progress>>,
        like: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Mirrors> {
        let snapshot = self.now(py)?;
        let (asked, progress) = (asked(k, like)?, progress::given(progress));
        Mirrors::of(py, long(py, &progress, || asked.run(&snapshot, &progress))?)
    }
}
