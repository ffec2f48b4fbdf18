//! Which pages are clustered, and how.

use std::ffi::c_char;
use std::path::PathBuf;

use simkeep::Epoch;
use simkeep::cluster;

use crate::abi::{self, plain};
use crate::argument::{classes, distance, flag, prefix, ranking, to_usize};
use crate::call::done;
use crate::failure::{Failure, Result};

/// Which pages are clustered, within which distance, and who leads. Fill it in with
/// `simkeep_clustering_init`, and change what you want otherwise. Its pointers are read only by the call
/// that is given it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Clustering {
    /// `sizeof` of this structure.
    pub size: usize,
    /// Largest Hamming distance of a page to the one that leads it, 0 to 64; -1 for that within which
    /// pages of the epoch are near.
    pub k: i32,
    /// Whether `at` says of which time versions are taken, 1 or 0. Default: 0, those in force now.
    pub has_at: u32,
    /// The time of the versions, in milliseconds since 1970.
    pub at_ms: i64,
    /// Which of several pages leads, as `rule` of `simkeep_options` says which is the original; NULL for
    /// `first-seen`. Default: NULL.
    pub rule: *const c_char,
    /// Its length in bytes.
    pub rule_len: usize,
    /// Only pages under this prefix; NULL for all. Default: NULL.
    pub under: *const c_char,
    /// Its length in bytes.
    pub under_len: usize,
    /// Only pages that are of these classes now; NULL for pages of any class and of none. Default: NULL.
    pub classes: *const u32,
    /// How many.
    pub classes_len: usize,
    /// Whether pages that have no class are meant as well as those of `classes`, 1 or 0. If `classes` is
    /// NULL and this is 1, they alone are. Default: 0.
    pub unclassed: u32,
    /// Whether `epoch` says of which epoch the fingerprints are, 1 or 0. Default: 0, of the one that
    /// near-duplicates are sought by.
    pub has_epoch: u32,
    /// The epoch of the fingerprints.
    pub epoch: u32,
    /// 0.
    pub reserved: u32,
    /// How many bytes of memory are taken; what does not fit goes to scratch files. 0 for 512 MiB.
    /// Default: 0.
    pub memory_bytes: u64,
    /// The directory for scratch files, in UTF-8; NULL for the system's directory for temporary files.
    /// Default: NULL.
    pub scratch: *const c_char,
    /// Its length in bytes.
    pub scratch_len: usize,
}

plain!(Clustering, up to k);

impl Default for Clustering {
    fn default() -> Clustering {
        Clustering { size: size_of::<Clustering>(), k: -1, ..abi::zeroed() }
    }
}

/// Fills in the size, a distance, or -1 for that of the epoch, and defaults for all else. `size` is
/// `sizeof(simkeep_clustering)`. Any thread; costs nothing.
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

/// What a caller asks.
pub(crate) fn read(clustering: *const Clustering) -> Result<cluster::Clustering> {
    let of = abi::grown(clustering, Clustering::default(), "clustering")?;
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
