//! A file as a slice of bytes.

use std::fs::File;
use std::ops::{Deref, Range};
use std::sync::Arc;
use std::{fmt, io};

/// The number of bytes of a huge page.
#[cfg(target_os = "linux")]
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// The maximum size of a read request to the system in bytes, which common disks accept.
const WISH_BYTES: usize = 128 << 10;

/// The bytes of a file that is never written again: mapped, or in memory.
///
/// A mapped file is not copied; its pages are read on first access. The map stays valid after the
/// file is removed.
pub struct FileMap {
    bytes: MapBytes,
}

enum MapBytes {
    Mapped(memmap2::Mmap),
    Held(Arc<[u8]>),
    Shared(Arc<Vec<u8>>),
}

impl FileMap {
    /// Creates a map of bytes in memory. Costs nothing.
    pub fn from_bytes(bytes: Arc<[u8]>) -> FileMap {
        FileMap { bytes: MapBytes::Held(bytes) }
    }

    /// Creates a map of bytes that are already in memory, without a copy.
    pub(super) fn shared(bytes: Arc<Vec<u8>>) -> FileMap {
        FileMap { bytes: MapBytes::Shared(bytes) }
    }

    /// Maps a whole file.
    ///
    /// # Errors
    ///
    /// The error of the system. An empty file gives an empty map.
    pub(super) fn of_file(file: &File) -> io::Result<FileMap> {
        let size = file.metadata()?.len();
        if size == 0 {
            // Systems reject a map of no bytes.
            return Ok(FileMap::from_bytes(Arc::from([])));
        }
        #[expect(unsafe_code, reason = "the one place that maps a file")]
        // SAFETY: the bytes of a map must not change while the map exists. Only finished and
        // scratch files are mapped, and the crate never writes or truncates such files again. The
        // writer's lock excludes other writers of this crate, and unfinished tables have random
        // names. A program that ignores the lock is outside of the guarantees of the store.
        let map = unsafe { memmap2::Mmap::map(file)? };
        Ok(FileMap { bytes: MapBytes::Mapped(map) })
    }

    /// Requests huge pages for a range that is accessed in many places. With huge pages, each
    /// access to bytes that are not in memory reads some MiB of the file. For few accesses these
    /// reads are far too large, so huge pages are not the default.
    pub(crate) fn ask_for_huge_pages(&self, range: Range<usize>) {
        // Not `Advice::Random`: with small pages, each access would fault separately.
        #[cfg(target_os = "linux")]
        if let MapBytes::Mapped(map) = &self.bytes {
            // Only huge pages that lie entirely in the range are advised: an access to any other
            // huge page would also read bytes outside of the range.
            let start = range.start.next_multiple_of(HUGE_PAGE_BYTES);
            let end = range.end - range.end % HUGE_PAGE_BYTES;
            if start < end {
                // The advice is only a hint: kernels and file systems without huge pages for files
                // reject it.
                let _ = map.advise_range(memmap2::Advice::HugePage, start, end - start);
            }
        }
        #[cfg(not(target_os = "linux"))]
        let _ = range;
    }

    /// Announces few scattered accesses to a range. After this call, an access to bytes that are
    /// not in memory reads only its page of the file, and not the surrounding MiB. A sequential
    /// reader calls [`read_ahead`](FileMap::read_ahead).
    pub(crate) fn advise_random(&self, range: Range<usize>) {
        if let MapBytes::Mapped(map) = &self.bytes {
            // The advice is only a hint: without it, the system reads more.
            let _ = map.advise_range(memmap2::Advice::Random, range.start, range.len());
        }
    }

    /// Asks the system to read bytes that are not in memory yet. Does not wait.
    pub(crate) fn read_ahead(&self, range: Range<usize>) {
        if let MapBytes::Mapped(map) = &self.bytes {
            // Systems ignore the part of a request that exceeds the limit of the disk.
            for start in range.clone().step_by(WISH_BYTES) {
                let bytes = WISH_BYTES.min(range.end - start);
                // The advice is only a hint: without it, bytes are read on access.
                let _ = map.advise_range(memmap2::Advice::WillNeed, start, bytes);
            }
        }
    }
}

impl Deref for FileMap {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.bytes {
            MapBytes::Mapped(map) => map,
            MapBytes::Held(bytes) => bytes,
            MapBytes::Shared(bytes) => bytes,
        }
    }
}

impl AsRef<[u8]> for FileMap {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for FileMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Map({} bytes)", self.len())
    }
}

/// A part of a map that keeps the whole map alive. Access needs no indirection through the map.
#[derive(Clone)]
pub(crate) struct MapPart {
    start: *const u8,
    len: usize,
    /// Owns the bytes of `start`; the map is never changed or moved while this part exists.
    _map: Arc<FileMap>,
}

#[expect(unsafe_code, reason = "a pointer into bytes that nobody changes")]
// SAFETY: a part is a shared slice of the map that it co-owns, and both can be sent and shared.
unsafe impl Send for MapPart {}
#[expect(unsafe_code, reason = "a pointer into bytes that nobody changes")]
// SAFETY: as for `Send`.
unsafe impl Sync for MapPart {}

impl MapPart {
    /// Creates a part from a range of bytes.
    ///
    /// # Panics
    ///
    /// Panics if the map is shorter than the range.
    #[expect(clippy::indexing_slicing, reason = "callers compare the lengths first")]
    pub(crate) fn new(map: &Arc<FileMap>, range: Range<usize>) -> MapPart {
        let bytes = &map[range];
        MapPart { start: bytes.as_ptr(), len: bytes.len(), _map: Arc::clone(map) }
    }
}

impl Deref for MapPart {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        #[expect(unsafe_code, reason = "a slice of a map, without the way over the map")]
        // SAFETY: `start` and `len` come from a slice of the map (or an empty slice). The bytes
        // stay in place and unchanged as long as the map exists: the map owns the bytes behind a
        // pointer, and never gives them away mutably, whichever kind of map it is. `_map` keeps the
        // map alive at least as long as the returned slice.
        unsafe {
            std::slice::from_raw_parts(self.start, self.len)
        }
    }
}

impl fmt::Debug for MapPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MapPart({} bytes)", self.len)
    }
}

/// The page faults of this thread so far: the faults served from memory, and the faults that waited
/// for the disk. `None` if the system does not report page faults. Costs some microseconds.
pub fn page_faults() -> Option<(u64, u64)> {
    // Linux, proc(5): the fields after the name, which ends with the last parenthesis.
    let stat = std::fs::read_to_string("/proc/thread-self/stat").ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().skip(7);
    let minor = fields.next()?.parse().ok()?;
    let major = fields.nth(1)?.parse().ok()?;
    Some((minor, major))
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    /// Whether the system has recorded the advice `what` for an address.
    fn is_advised_at(address: usize, what: &str) -> bool {
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut within = false;
        for line in maps.lines() {
            let range = line.split_once(' ').and_then(|(range, _)| range.split_once('-'));
            let number = |of: &str| usize::from_str_radix(of, 16);
            if let Some((Ok(start), Ok(end))) = range.map(|(a, b)| (number(a), number(b))) {
                within = (start..end).contains(&address);
            } else if let Some(flags) = line.strip_prefix("VmFlags:").filter(|_| within) {
                return flags.split_whitespace().any(|flag| flag == what);
            }
        }
        panic!("nothing is mapped at {address:x}");
    }

    #[test]
    fn mapped_files_are_advised_to_the_system() {
        const MIB: usize = 1 << 20;
        if !std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists() {
            return;
        }
        let file = tempfile::tempfile().unwrap();
        file.set_len(12 * MIB as u64).unwrap();
        let map = FileMap::of_file(&file).unwrap();
        let advised =
            |what| [1, 5, 8, 10, 11].map(|at| is_advised_at(map.as_ptr().addr() + at * MIB, what));
        let asked = || advised("hg");
        assert_eq!(asked(), [false; 5]);
        map.ask_for_huge_pages(4 * MIB - 100..10 * MIB + 100);
        // The range contains no whole huge page.
        map.ask_for_huge_pages(MIB..3 * MIB);
        assert_eq!(asked(), [false, true, true, false, false]);
        map.advise_random(0..2 * MIB);
        assert_eq!(advised("rr"), [true, false, false, false, false]);
    }
}

#[cfg(all(test, target_os = "linux"))]
mod faults_tests {
    use super::*;

    #[test]
    fn page_faults_are_counted() {
        let before = page_faults().unwrap();
        // The memory must not come from the heap, which may have memory that another test has
        // touched.
        let mut memory = memmap2::MmapMut::map_anon(8 << 20).unwrap();
        memory.fill(1);
        assert!(page_faults().unwrap().0 > before.0);
    }
}
