//! Sites that mirror each other.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use simkeep::mirror::MirrorQuery;

use crate::convert::arg::{self, Arg, optional};
use crate::convert::keywords::{each, unknown};
use crate::convert::time::PyElapsed;
use crate::convert::typed::Tuple;
use crate::convert::value::value;

value! {
    /// Sites that mirror each other.
    Mirrors from mirrors: simkeep::mirror::Mirrors {
        pairs: Tuple<Mirror>,
        mirrors: u64,
        partial: u64,
        paths: u64,
        without_fingerprint: u64,
        sites: u64,
        compared: u64,
    }
    also {
        /// The minimum probability that two large mirroring sites are compared.
        ///
        /// The probability holds for sites where this share of the combined paths leads to the same
        /// content on both sites.
        #[staticmethod]
        #[pyo3(signature = (share: "float"))]
        fn recall(share: &Bound<'_, PyAny>) -> PyResult<f64> {
            let arg = Arg::new("share");
            let of = arg::float(arg, share)?;
            if !(0.0..=1.0).contains(&of) {
                return Err(arg.value_error("a number from 0 to 1", share));
            }
            Ok(MirrorQuery::recall(of))
        }
    }
}

value! {
    Mirror from mirror: simkeep::mirror::Mirror {
        leader: Py<MirrorSite>,
        follower: Py<MirrorSite>,
        is_mirror: bool,
        common: u64,
        near: u64,
        differing: u64 = mirror.differing(),
        share: f64,
        /// The lag of the follower: the median delay of the follower's first visit with common
        /// content. The median is over paths on which both sites were seen to change to the common
        /// content; `None` if there is no such path.
        lag: Option<PyElapsed>,
        examples: Tuple<MirrorExample>,
    }
}

value! {
    MirrorSite from of: simkeep::mirror::MirrorSite {
        site: String = of.site.to_string(),
        paths: u64,
        outdated: u64,
    }
}

value! {
    MirrorExample from example: simkeep::mirror::MirrorExample {
        leader: String,
        follower: String,
        distance: u32,
    }
}

/// Returns the options for these keywords.
pub(crate) fn asked(
    k: Option<&Bound<'_, PyAny>>,
    keywords: Option<&Bound<'_, PyDict>>,
) -> PyResult<MirrorQuery> {
    let mut asked = MirrorQuery::new();
    asked.k = optional(k, |k| arg::distance(Arg::new("k"), k))?;
    each(keywords, |key, value| {
        let given = Some(value);
        match key {
            "paths" => asked.paths = arg::count(Arg::new("paths"), value)?,
            "share" => asked.share = arg::float(Arg::new("share"), value)?,
            "depth" => {
                let arg = Arg::new("depth");
                // The crate rejects a depth that is too large.
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
