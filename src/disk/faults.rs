//! Page faults: touches of a map that the system had to serve.

/// The page faults of this thread so far: those served from memory, and those that waited for the
/// disk. `None` where the system does not say. Costs some microseconds.
pub fn page_faults() -> Option<(u64, u64)> {
    // Linux, proc(5): the fields after the name, which ends with the last parenthesis.
    let stat = std::fs::read_to_string("/proc/thread-self/stat").ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().skip(7);
    let minor = fields.next()?.parse().ok()?;
    let major = fields.nth(1)?.parse().ok()?;
    Some((minor, major))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn touching_fresh_memory_is_counted() {
        let before = page_faults().unwrap();
        // Not from the heap, which may have memory that another test has touched.
        let mut memory = memmap2::MmapMut::map_anon(8 << 20).unwrap();
        memory.fill(1);
        assert!(page_faults().unwrap().0 > before.0);
    }
}
