//! A sample of each site: the smallest hashes of its paths, and the smallest hashes of its paths
//! with their fingerprints. Sites with common paths have common hashes in their samples.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::hash_sample::HashSample;
use super::sites::{ListedSite, SitesWriter};
use crate::bug::OrBug;
use crate::error::Result;
use crate::layout::{Cursor, PutInteger, le_u64};
use crate::page::site;
use crate::sort::{FixedSizeItem, Sorter};

/// The number of hashes of each kind in a sample.
pub(super) const SAMPLE: usize = 16;

/// The number of fingerprint bits that are hashed with a path.
///
/// With all bits, a mirror whose pages have another header would share no hash. If two fingerprints
/// differ in `d` bits, 16 bits are equal with a probability of about (3/4)^`d`. For two unrelated
/// fingerprints, 16 bits are equal once in 65,536 times.
const PRINT_BITS: u32 = 16;

/// The kind of a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HashKind {
    /// A path.
    Path,
    /// A path with some bits of the fingerprint.
    PathAndFingerprint,
}

/// A hash in the sample of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SampledHash {
    /// The hash, whose last bit is the kind.
    pub(super) hash: u64,
    pub(super) site: u32,
}

impl SampledHash {
    pub(super) fn kind(self) -> HashKind {
        // The kind costs one bit of the hash, so both kinds go through one sort and are never
        // equal.
        if self.hash & 1 == 0 { HashKind::Path } else { HashKind::PathAndFingerprint }
    }
}

impl FixedSizeItem for SampledHash {
    const BYTES: usize = 12;

    fn put(&self, out: &mut Vec<u8>) {
        out.put_u64(self.hash);
        out.put_u32(self.site);
    }

    fn take(bytes: &[u8]) -> Option<SampledHash> {
        let mut cursor = Cursor::new(bytes);
        let (hash, site) = (cursor.u64()?, cursor.u32()?);
        cursor.is_empty().then_some(SampledHash { hash, site })
    }

    fn sort(items: &mut Vec<SampledHash>) {
        items.sort_unstable();
    }
}

/// Hashes a path. The hash is seeded, because the owner of a site chooses its paths.
pub(super) fn path_hash(path: &[u8], seed: u64) -> u64 {
    xxh3_64_with_seed(path, seed)
}

/// Hashes a path with some bits of the fingerprint. The path selects the bits.
fn print_hash(path_hash: u64, fingerprint: u64, seed: u64) -> u64 {
    // Different paths select different bits, so over all paths of a site, all bits of fingerprints
    // count.
    let from = (path_hash >> 58) as u32;
    let bits = fingerprint.rotate_left(from) >> (u64::BITS - PRINT_BITS);
    // The path is in the seed, so equal bits at different paths have different hashes.
    xxh3_64_with_seed(&le_u64(bits), seed ^ path_hash)
}

/// A site whose paths are not complete yet.
#[derive(Debug)]
struct OpenSite {
    /// The length of the site's key. `deep` is the depth of the site in folders.
    len: usize,
    deep: u8,
    paths: u64,
    by_path: HashSample<()>,
    by_print: HashSample<()>,
}

/// Samples all sites from their paths in SURT order. The paths of a site are contiguous, and all
/// open sites are nested.
#[derive(Debug)]
pub(super) struct Sampler {
    seed: u64,
    /// The greatest depth of a site, in folders.
    depth: u8,
    /// The minimum number of paths of a listed site.
    paths_min: u64,
    /// The open sites, from the host inwards.
    open: Vec<OpenSite>,
    /// The last address. The keys of all open sites are prefixes of it.
    address: Vec<u8>,
    pub(super) sites: SitesWriter,
    pub(super) drawn: Sorter<SampledHash>,
}

impl Sampler {
    pub(super) fn new(
        seed: u64,
        (depth, paths_min): (u8, u64),
        sites: SitesWriter,
        drawn: Sorter<SampledHash>,
    ) -> Sampler {
        Sampler { seed, depth, paths_min, open: Vec::new(), address: Vec::new(), sites, drawn }
    }

    /// Adds the next path, by its address.
    pub(super) fn take(&mut self, address: &[u8], fingerprint: u64) -> Result<()> {
        // Open sites nest. The first site that does not contain this address is closed, with all
        // sites inside it.
        let mut sites = 0;
        for (deep, len) in (0..=self.depth).zip(site::sites(address)) {
            let is_open = self.open.get(sites).is_some_and(|open| {
                open.len == len && self.address.get(..len) == address.get(..len)
            });
            if !is_open {
                // Must run before `address` is replaced: the keys of closed sites are prefixes of
                // the last address.
                self.close(sites)?;
                let (by_path, by_print) = (HashSample::new(SAMPLE), HashSample::new(SAMPLE));
                self.open.push(OpenSite { len, deep, paths: 0, by_path, by_print });
            }
            sites += 1;
        }
        self.close(sites)?;
        self.address.clear();
        self.address.extend_from_slice(address);
        for open in &mut self.open {
            let path = address.get(open.len..).or_bug("each page lies in its open sites")?;
            let hash = path_hash(path, self.seed);
            open.paths += 1;
            // Two hashes for each open site, so a page costs time in proportion to its depth.
            open.by_path.offer(hash & !1, || ());
            open.by_print.offer(print_hash(hash, fingerprint, self.seed) | 1, || ());
        }
        Ok(())
    }

    /// Closes all open sites except the outermost `sites`.
    fn close(&mut self, sites: usize) -> Result<()> {
        while self.open.len() > sites {
            let Some(OpenSite { len, deep, paths, by_path, by_print }) = self.open.pop() else {
                break;
            };
            // With too few paths for a mirror, the site gets no number and takes no memory.
            if paths < self.paths_min {
                continue;
            }
            let key = self
                .address
                .get(..len)
                .or_bug("the key of a site begins the key of its last page")?
                .to_vec();
            let site = self.sites.push(&ListedSite { key, paths }, deep)?;
            for (hash, ()) in by_path.into_items().chain(by_print.into_items()) {
                self.drawn.push(SampledHash { hash, site })?;
            }
        }
        Ok(())
    }

    /// Closes all sites after the last path.
    pub(super) fn finish(mut self) -> Result<(SitesWriter, Sorter<SampledHash>)> {
        self.close(0)?;
        Ok((self.sites, self.drawn))
    }
}
