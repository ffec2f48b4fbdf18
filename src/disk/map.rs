//! A file as a slice of bytes.

use std::fmt;
use std::fs::File;
use std::io;
use std::ops::Deref;
use std::sync::Arc;

/// From this length on a map asks for huge pages: below it there is not one to give.
#[cfg(target_os = "linux")]
const HUGE_PAGE_BYTES: u64 = 2 << 20;

/// The bytes of a file that is never written again: mapped, or held in memory.
///
/// A mapped file costs no copy; its pages are read when they are first touched. It outlives the
/// removal of its name.
pub struct Map {
    bytes: Bytes,
}

enum Bytes {
    Mapped(memmap2::Mmap),
    Held(Arc<[u8]>),
    Shared(Arc<Vec<u8>>),
}

impl Map {
    /// A map of bytes in memory. Costs nothing.
    pub fn from_bytes(bytes: Arc<[u8]>) -> Map {
        Map { bytes: Bytes::Held(bytes) }
    }

    /// A map of bytes that are in memory already, without a copy.
    pub(super) fn shared(bytes: Arc<Vec<u8>>) -> Map {
        Map { bytes: Bytes::Shared(bytes) }
    }

    /// Maps a whole file, in huge pages where the system gives them.
    ///
    /// # Errors
    ///
    /// What the system says; an empty file is no error but an empty map.
    pub(super) fn of_file(file: &File) -> io::Result<Map> {
        let size = file.metadata()?.len();
        if size == 0 {
            // Systems refuse to map nothing.
            return Ok(Map::from_bytes(Arc::from([])));
        }
        #[expect(unsafe_code, reason = "the one place that maps a file")]
        // SAFETY: the bytes of a map must not change while it lives. Only finished and scratch
        // files are mapped, and the crate never writes or truncates either again; the writer's
        // lock keeps other writers of this crate out, and tables on their way have names that are
        // drawn by lot. A program that goes around the lock is
        // outside of what the store promises.
        let map = unsafe { memmap2::Mmap::map(file)? };
        // Not `Advice::Random`: with small pages it makes each touch a fault of its own.
        #[cfg(target_os = "linux")]
        if size >= HUGE_PAGE_BYTES {
            // Only a hint: kernels and file systems without huge pages for files refuse it.
            let _ = map.advise(memmap2::Advice::HugePage);
        }
        Ok(Map { bytes: Bytes::Mapped(map) })
    }
}

impl Deref for Map {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Mapped(map) => map,
            Bytes::Held(bytes) => bytes,
            Bytes::Shared(bytes) => bytes,
        }
    }
}

impl AsRef<[u8]> for Map {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Map({} bytes)", self.len())
    }
}

/// A part of a map, which keeps the whole map alive: reading it takes no way round over that.
#[derive(Clone)]
pub(crate) struct MapPart {
    start: *const u8,
    len: usize,
    /// What `start` points into; it is never changed or moved while this lives.
    _map: Arc<Map>,
}

#[expect(unsafe_code, reason = "a pointer into bytes that nobody changes")]
// SAFETY: it is a shared slice of the map that it owns a share of, and both can be sent and shared.
unsafe impl Send for MapPart {}
#[expect(unsafe_code, reason = "a pointer into bytes that nobody changes")]
// SAFETY: as above.
unsafe impl Sync for MapPart {}

impl MapPart {
    /// The bytes of a range.
    ///
    /// # Panics
    ///
    /// If the map does not have them.
    #[expect(clippy::indexing_slicing, reason = "who asks has compared the lengths")]
    pub(crate) fn new(map: &Arc<Map>, range: std::ops::Range<usize>) -> MapPart {
        let bytes = &map[range];
        MapPart { start: bytes.as_ptr(), len: bytes.len(), _map: Arc::clone(map) }
    }
}

impl Deref for MapPart {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        #[expect(unsafe_code, reason = "a slice of a map, without the way over the map")]
        // SAFETY: `start` and `len` are those of a slice of the map (or an empty one). The map's
        // bytes stay where they are and as they are as long as it lives: they are behind a pointer
        // that it does not give away mutably, whichever of its kinds it is; and `_map` keeps it
        // alive at least as long as the slice that is returned.
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
