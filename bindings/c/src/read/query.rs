//! Searches.

use std::ffi::c_char;
use std::time::Duration;

use simkeep::{Epoch, Time, Versions};

use crate::abi::{self, plain};
use crate::argument::{classes, flag, prefix, to_usize};
use crate::call::{done, make};
use crate::failure::{Failure, Result};
use crate::open::snapshot::{self, SnapshotHandle};
use crate::read::matches::MatchColumns;

/// The versions of pages that a search considers.
#[derive(Clone, Copy, Debug)]
#[repr(i32)]
pub enum VersionsCode {
    /// The current versions.
    InForce = 0,
    /// The versions that were current at the time `from_ms`.
    At = 1,
    /// The versions that a visit saw from `from_ms` to `to_ms`, inclusive.
    Seen = 2,
    /// Every version that any visit saw.
    Ever = 3,
}

/// A search for fingerprints. Fill in the structure with `simkeep_query_init`, and then change
/// fields. The pointers are read only during a call.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Query {
    /// `sizeof` of this structure.
    pub size: usize,
    /// The fingerprint to search for.
    pub fingerprint: u64,
    /// Largest Hamming distance, 0 to 64.
    pub k: u32,
    /// The versions of pages to search, a `simkeep_versions`. Default: `SIMKEEP_VERSIONS_IN_FORCE`.
    pub versions: i32,
    /// The maximum number of pages to return; `UINT64_MAX` for all pages, at any cost. Default: 16.
    pub limit: u64,
    /// The time, or the start of the time range, for `versions`, in milliseconds since 1970.
    pub from_ms: i64,
    /// The end of the time range for `versions`, in milliseconds since 1970.
    pub to_ms: i64,
    /// The time limit of the search in nanoseconds; 0 for no limit. Default: 0.
    pub budget_ns: u64,
    /// Only pages under this prefix, for example `example.org/news/`; NULL for all pages. Default:
    /// NULL.
    pub under: *const c_char,
    /// The length of `under` in bytes.
    pub under_len: usize,
    /// A page to exclude; NULL for no page. Default: NULL.
    pub exclude: *const c_char,
    /// The length of `exclude` in bytes.
    pub exclude_len: usize,
    /// Only pages of these classes; NULL for pages of any class and pages without a class. Default:
    /// NULL.
    pub classes: *const u32,
    /// The number of classes.
    pub classes_len: usize,
    /// Whether to include pages without a class in addition to `classes`, 1 or 0. If `classes` is
    /// NULL and `unclassed` is 1, only pages without a class. Default: 0.
    pub unclassed: u32,
    /// Whether `epoch` sets the epoch of the search, 1 or 0. Default: 0, the epoch of
    /// near-duplicates.
    pub has_epoch: u32,
    /// The epoch of the fingerprints.
    pub epoch: u32,
    /// The maximum number of fingerprints that are compared in a dense region. Default: 4096.
    pub fingerprints: u32,
}

plain!(Query, up to k);

/// Fills in the size, a fingerprint, a distance, and defaults for all other fields. `size` is
/// `sizeof(simkeep_query)`. A query with distance 64 and a limit finds the nearest pages at any
/// distance. Any thread; costs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_query_init(
    query: *mut Query,
    size: usize,
    fingerprint: u64,
    k: u32,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_query_init", error, || {
        let defaults = Query { size, fingerprint, k, ..Query::default() };
        abi::put_structure(query, size, &defaults, "query")
    })
}

impl Default for Query {
    fn default() -> Query {
        let of = simkeep::Query::new(0, 0);
        Query {
            size: size_of::<Query>(),
            versions: VersionsCode::InForce as i32,
            limit: of.limit as u64,
            fingerprints: of.fingerprints,
            ..abi::zeroed()
        }
    }
}

/// Converts the query of a caller.
pub(crate) fn read(query: *const Query) -> Result<simkeep::Query> {
    abi::read_versioned_struct(query, Query::default(), "query")?.convert()
}

impl Query {
    fn convert(self) -> Result<simkeep::Query> {
        if self.k > 64 {
            return Err(Failure::argument("query.k", "it must be from 0 to 64"));
        }
        let mut query = simkeep::Query::new(self.fingerprint, self.k)
            .limit(to_usize(self.limit))
            .fingerprints(self.fingerprints)
            .versions(self.versions()?)
            .under(prefix(self.under, self.under_len, "query.under")?)
            .classes(classes(self.classes, self.classes_len, self.unclassed, "query.classes")?);
        if flag(self.has_epoch, "query.has_epoch")? {
            query = query.epoch(Epoch::from_number(self.epoch));
        }
        if let Some(url) = abi::optional_text(self.exclude, self.exclude_len, "query.exclude")? {
            query = query.exclude(url);
        }
        if self.budget_ns > 0 {
            query = query.budget(Duration::from_nanos(self.budget_ns));
        }
        Ok(query)
    }

    fn versions(&self) -> Result<Versions> {
        match self.versions {
            v if v == VersionsCode::InForce as i32 => Ok(Versions::InForce),
            v if v == VersionsCode::At as i32 => {
                Ok(Versions::At(Time::from_ms_unchecked(self.from_ms)))
            }
            v if v == VersionsCode::Seen as i32 => {
                let [from, to] = [self.from_ms, self.to_ms].map(Time::from_ms_unchecked);
                Ok(Versions::Seen(from, to))
            }
            v if v == VersionsCode::Ever as i32 => Ok(Versions::Ever),
            _ => Err(Failure::argument("query.versions", "it must be a simkeep_versions")),
        }
    }
}

/// Finds at most 16 pages whose current version is within distance `k`, from 0 to 64. Free the
/// result with `simkeep_matches_free`. Any thread. Usually costs some microseconds.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_snapshot_near(
    snapshot: *const SnapshotHandle,
    fingerprint: u64,
    k: u32,
    error: *mut *mut Failure,
) -> Option<Box<MatchColumns>> {
    make("simkeep_snapshot_near", error, || {
        let snapshot = snapshot::open(snapshot)?.0;
        if k > 64 {
            return Err(Failure::argument("k", "it must be from 0 to 64"));
        }
        Ok(MatchColumns::new(&[snapshot.near(fingerprint, k)?]))
    })
}

/// Finds the `count` nearest pages at any distance. Free the result with `simkeep_matches_free`.
/// Any thread. Costs up to three times a search within the distance of the farthest page, and
/// memory for a few times `count` pages.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_snapshot_nearest(
    snapshot: *const SnapshotHandle,
    fingerprint: u64,
    count: usize,
    error: *mut *mut Failure,
) -> Option<Box<MatchColumns>> {
    make("simkeep_snapshot_nearest", error, || {
        let query = simkeep::Query::nearest(fingerprint, count);
        Ok(MatchColumns::new(&[snapshot::open(snapshot)?.0.search(&query)?]))
    })
}

/// Runs a query. Free the result with `simkeep_matches_free`. Any thread. Usually costs some
/// microseconds.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_snapshot_search(
    snapshot: *const SnapshotHandle,
    query: *const Query,
    error: *mut *mut Failure,
) -> Option<Box<MatchColumns>> {
    make("simkeep_snapshot_search", error, || {
        Ok(MatchColumns::new(&[snapshot::open(snapshot)?.0.search(&read(query)?)?]))
    })
}

/// Searches for each of many fingerprints, with the options of `like`. The fingerprint of `like` is
/// ignored. Results are in the order of the fingerprints, which are copied first. Free the result
/// with `simkeep_matches_free`. Any thread; the call uses all cores. Each search costs a half to a
/// quarter of a single search.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_snapshot_search_batch(
    snapshot: *const SnapshotHandle,
    fingerprints: *const u64,
    count: usize,
    like: *const Query,
    error: *mut *mut Failure,
) -> Option<Box<MatchColumns>> {
    make("simkeep_snapshot_search_batch", error, || {
        let (snapshot, like) = (snapshot::open(snapshot)?.0, read(like)?);
        let fingerprints = abi::numbers(fingerprints, count, "fingerprints")?;
        Ok(MatchColumns::new(&like.run_batch(snapshot, &fingerprints)?))
    })
}
