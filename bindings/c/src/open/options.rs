//! The options for opening a store.

use std::ffi::c_char;
use std::path::Path;
use std::time::Duration;

use simkeep::{Durability, Location};

use crate::abi::{self, plain};
use crate::argument::{bands, distance, flag, ranking, to_usize};
use crate::call::done;
use crate::failure::{Failure, Result};

/// The time when an observation becomes durable.
#[derive(Clone, Copy, Debug)]
#[repr(i32)]
pub enum DurabilityCode {
    /// When the call returns; concurrent calls share a commit.
    Each = 0,
    /// When the call returns; a commit waits up to `group_ms` for concurrent calls to join it.
    Grouped = 1,
    /// After the next `simkeep_flush`, or when the memtable is sealed.
    OnFlush = 2,
}

/// Options of a store. Fill in the structure with `simkeep_options_init`, and then change fields.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Options {
    /// `sizeof` of this structure.
    pub size: usize,
    /// The time when an observation becomes durable, a `simkeep_durability`. Default:
    /// `SIMKEEP_DURABILITY_EACH`.
    pub durability: i32,
    /// The distance of near-duplicates in the outcome of an observation, from 0 to 64; -1 for the
    /// recommendation of each epoch's recipe. Default: -1.
    pub near_distance: i32,
    /// The time that a grouped commit waits, in milliseconds. Default: 5.
    pub group_ms: u64,
    /// The number of observations kept in memory before they are sealed. Default: 262144.
    pub memtable_observations: u64,
    /// The maximum number of bytes of the observations in memory. Default: 80 MiB.
    pub memtable_bytes: u64,
    /// The maximum time before the observations in memory are sealed, in milliseconds. Default: 5
    /// minutes.
    pub seal_after_ms: u64,
    /// The number of adjacent segments of similar size that are merged into one segment.
    /// Default:
    /// 8.
    pub merge_fanout: u64,
    /// The maximum number of near-duplicates, and of copies, in an outcome. Default: 16.
    pub near_limit: u64,
    /// The number of visits in an epoch after which a new epoch is recommended. Default: 1000000.
    pub epoch_visits: u64,
    /// The maximum number of pages that may be leased at a time. Default: 1000000.
    pub leases_max: u64,
    /// The memory for sealing and merging, in bytes. Default: 256 MiB.
    pub background_memory_bytes: u64,
    /// The time for which replaced files are kept for readers in other processes, in milliseconds.
    /// Default: 10 s.
    pub reader_grace_ms: u64,
    /// Whether to seal and merge in the background, 1 or 0. Default: 1.
    pub background: u32,
    /// Permissions of the files of a new store, as for chmod(1). Default: 0600.
    pub file_mode: u32,
    /// The maximum number of bytes of the tables for each fingerprint. Default: 48.
    pub fingerprint_bytes: u32,
    /// The maximum number of fingerprints that are compared in a dense region. Default: 4096.
    pub near_fingerprints: u32,
    /// Whether segments are read whole into memory instead of being mapped, 1 or 0. With 1, a
    /// truncated file or a failing medium cannot end the process by a signal. Default: 0.
    pub plain_reads: u32,
    /// The largest distance of a minor change in the first epoch of a new store; -1 for the
    /// calibration of its recipe. Default: -1.
    pub epoch_minor: i32,
    /// The largest distance of a moderate change in the first epoch of a new store; -1 if
    /// `epoch_minor` is -1. Default: -1.
    pub epoch_moderate: i32,
    /// Whether to keep entity tags, which can identify people, 1 or 0. Default: 1.
    pub validators: u32,
    /// Whether outcomes name the first capture of their content, for revisit records of archives, 1
    /// or 0. Default: 0.
    pub refers_to: u32,
    /// Must be 0.
    pub reserved: u32,
    /// The name of the first epoch of a new store; NULL for the default recipe of this version.
    /// Default: NULL. Read only during a call.
    pub epoch: *const c_char,
    /// The length of `epoch` in bytes.
    pub epoch_len: usize,
    /// The rule that selects the original among several pages with nearly the same content: a
    /// comma-separated list of `first-seen`, `newest`, `shortest-url`, `https` and `weight`. Each
    /// rule in the list resolves the ties of the rules before it. NULL for `first-seen`. Default:
    /// NULL. Read only during a call.
    pub rule: *const c_char,
    /// The length of `rule` in bytes.
    pub rule_len: usize,
    /// The maximum time by which a visit may be ahead of this machine's clock, in milliseconds. A
    /// later visit is rejected with `SIMKEEP_TIME`, unless the store already has a visit that is so
    /// late. -1 for visits at any time. Default: -1.
    pub clock_tolerance_ms: i64,
    /// The maximum time to wait while another process writes to the store, in milliseconds.
    /// Default: 5 s.
    pub lock_wait_ms: u64,
}

plain!(Options, up to size);

const MS_PER_S: u64 = 1000;

impl Default for Options {
    fn default() -> Options {
        let of = simkeep::Options::default();
        let ms = |time: Duration| time.as_secs() * MS_PER_S + u64::from(time.subsec_millis());
        Options {
            size: size_of::<Options>(),
            durability: DurabilityCode::Each as i32,
            near_distance: -1,
            group_ms: 5,
            memtable_observations: of.memtable_observations as u64,
            memtable_bytes: of.memtable_bytes as u64,
            seal_after_ms: ms(of.seal_after),
            merge_fanout: of.merge_fanout as u64,
            near_limit: of.near_limit as u64,
            epoch_visits: of.epoch_visits,
            leases_max: of.leases_max as u64,
            background_memory_bytes: of.background_memory_bytes as u64,
            reader_grace_ms: ms(of.reader_grace),
            background: u32::from(of.background),
            validators: u32::from(of.validators),
            refers_to: u32::from(of.refers_to),
            file_mode: of.file_mode,
            fingerprint_bytes: of.fingerprint_bytes,
            near_fingerprints: of.near_fingerprints,
            epoch_minor: -1,
            epoch_moderate: -1,
            clock_tolerance_ms: -1,
            lock_wait_ms: ms(of.lock_wait),
            ..abi::zeroed()
        }
    }
}

/// Fills in the defaults, and the size. `size` is `sizeof(simkeep_options)`. Any thread; costs
/// nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_options_init(
    options: *mut Options,
    size: usize,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_options_init", error, || {
        let defaults = Options { size, ..Options::default() };
        abi::put_structure(options, size, &defaults, "options")
    })
}

/// Converts the options and the location of a store; NULL for the defaults.
pub(crate) fn read(options: *const Options, path: &Path) -> Result<(Location, simkeep::Options)> {
    let given = match options.is_null() {
        true => Options::default(),
        false => abi::read_versioned_struct(options, Options::default(), "options")?,
    };
    let location = Location::from(path);
    let is_plain = flag(given.plain_reads, "options.plain_reads")?;
    let location = if is_plain { location.plain_reads() } else { location };
    Ok((location, given.convert()?))
}

impl Options {
    fn convert(self) -> Result<simkeep::Options> {
        if self.reserved != 0 {
            return Err(Failure::argument("options.reserved", "it must be 0"));
        }
        let mut of = simkeep::Options::default();
        of.durability = match self.durability {
            each if each == DurabilityCode::Each as i32 => Durability::Each,
            grouped if grouped == DurabilityCode::Grouped as i32 => {
                Durability::Grouped(Duration::from_millis(self.group_ms))
            }
            flush if flush == DurabilityCode::OnFlush as i32 => Durability::OnFlush,
            _ => {
                return Err(Failure::argument(
                    "options.durability",
                    "it must be a simkeep_durability",
                ));
            }
        };
        of.near_distance = distance(self.near_distance, "options.near_distance")?;
        of.memtable_observations = to_usize(self.memtable_observations);
        of.memtable_bytes = to_usize(self.memtable_bytes);
        of.seal_after = Duration::from_millis(self.seal_after_ms);
        of.merge_fanout = to_usize(self.merge_fanout);
        of.near_limit = to_usize(self.near_limit);
        of.epoch_visits = self.epoch_visits;
        of.leases_max = to_usize(self.leases_max);
        of.background_memory_bytes = to_usize(self.background_memory_bytes);
        of.reader_grace = Duration::from_millis(self.reader_grace_ms);
        of.lock_wait = Duration::from_millis(self.lock_wait_ms);
        of.background = flag(self.background, "options.background")?;
        of.file_mode = self.file_mode;
        of.fingerprint_bytes = self.fingerprint_bytes;
        of.near_fingerprints = self.near_fingerprints;
        of.refers_to = flag(self.refers_to, "options.refers_to")?;
        of.validators = flag(self.validators, "options.validators")?;
        of.clock_tolerance = match self.clock_tolerance_ms {
            -1 => None,
            ms => {
                let why = "it must be at least 0, or -1 for no limit";
                let ms = u64::try_from(ms);
                let ms = ms.map_err(|_| Failure::argument("options.clock_tolerance_ms", why))?;
                Some(Duration::from_millis(ms))
            }
        };
        of.epoch_bands = bands(self.epoch_minor, self.epoch_moderate)?;
        if let Some(epoch) = abi::optional_text(self.epoch, self.epoch_len, "options.epoch")? {
            of.epoch = epoch.to_owned();
        }
        if let Some(rule) = ranking(self.rule, self.rule_len, "options.rule")? {
            of.rule = rule;
        }
        Ok(of)
    }
}
