//! Options for clustering pages.

use std::ffi::c_char;
use std::path::PathBuf;

use simkeep::Epoch;
use simkeep::cluster;

use crate::abi::{self, plain};
use crate::argument::{classes, distance, flag, prefix, ranking, to_usize};
use crate::call::done;
use crate::failure::{Failure, Result};

/// Options for clustering: the pages, the distance, and the choice of leaders. Fill in the
/// structure with `simkeep_clustering_init`, and then change fields. The pointers are read only
/// during a call.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Clustering {
    /// `sizeof` of this structure.
    pub size: usize,
    /// Largest Hamming distance of a page to its leader, 0 to 64; -1 for the near distance of the
    /// epoch.
    pub k: i32,
    /// Whether `at_ms` sets the time of the versions, 1 or 0. Default: 0, the current versions.
    pub has_at: u32,
    /// The time of the versions, in milliseconds since 1970.
    pub at_ms: i64,
    /// The rule that selects the leader among several pages, in the form of `rule` in
    /// `simkeep_options`; NULL for `first-seen`. The rule `canonical` prefers pages that a near page
    /// declares as canonical. Default: NULL.
    pub rule: *const c_char,
    /// The length of `rule` in bytes.
    pub rule_len: usize,
    /// Only pages under this prefix; NULL for all. Default: NULL.
    pub under: *const c_char,
    /// The length of `under` in bytes.
    pub under_len: usize,
    /// Only pages that currently have one of these classes; NULL for pages of any class and pages
    /// without a class. Default: NULL.
    pub classes: *const u32,
    /// The number of classes.
    pub classes_len: usize,
    /// Whether to include pages without a class in addition to `classes`, 1 or 0. If `classes` is
    /// NULL and `unclassed` is 1, only pages without a class. Default: 0.
    pub unclassed: u32,
    /// Whether `epoch` sets the epoch of the fingerprints, 1 or 0. Default: 0, the epoch of
    /// near-duplicates.
    pub has_epoch: u32,
    /// The epoch of the fingerprints.
    pub epoch: u32,
    /// Must be 0.
    pub reserved: u32,
    /// The memory in bytes; data that does not fit goes to scratch files. 0 for 512 MiB.
    /// Default: 0.
    pub memory_bytes: u64,
    /// The directory for scratch files, in UTF-8; NULL for the system's directory for temporary files.
    /// Default: NULL.
    pub scratch: *const c_char,
    /// The length of `scratch` in bytes.
    pub scratch_len: usize,
}

plain!(Clustering, up to k);

impl Default for Clustering {
    fn default() -> Clustering {
        Clustering { size: size_of::<Clustering>(), k: -1, ..abi::zeroed() }
    }
}

/// Fills in the size, a distance (-1 for the near distance of the epoch), and defaults for all
/// other fields. `size` is `sizeof(simkeep_clustering)`. Any thread; costs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_clustering_init(
    clustering: *mut Clustering,
    size: usize,
    distance: i32,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_clustering_init", error, || {
        let defaults = Clustering { size, k: distance, ..Clustering::default() };
        abi::put_structure(clustering, size, &defaults, "clustering")
    })
}

/// Converts the options of a caller.
pub(crate) fn read(clustering: *const Clustering) -> Result<cluster::Clustering> {
    let of = abi::read_versioned_struct(clustering, Clustering::default(), "clustering")?;
    if of.reserved != 0 {
        return Err(Failure::argument("clustering.reserved", "it must be 0"));
    }
    let classes = classes(of.classes, of.classes_len, of.unclassed, "clustering.classes")?;
    let scratch = abi::optional_text(of.scratch, of.scratch_len, "clustering.scratch")?;
    let mut asked = cluster::Clustering::default()
        .at(flag(of.has_at, "clustering.has_at")?
            .then_some(simkeep::Time::from_ms_unchecked(of.at_ms)))
        .under(prefix(of.under, of.under_len, "clustering.under")?)
        .classes(classes)
        .scratch(scratch.map(PathBuf::from));
    asked.k = distance(of.k, "clustering.k")?;
    if let Some(rule) = ranking(of.rule, of.rule_len, "clustering.rule")? {
        asked = asked.rule(rule);
    }
    if flag(of.has_epoch, "clustering.has_epoch")? {
        asked = asked.epoch(Epoch::from_number(of.epoch));
    }
    if of.memory_bytes > 0 {
        asked = asked.memory_bytes(to_usize(of.memory_bytes));
    }
    Ok(asked)
}
