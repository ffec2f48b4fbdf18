//! A file that is read, and whose changes stay in memory.

use std::collections::BTreeMap;
use std::io;

use parking_lot::Mutex;

use super::DiskFile;

const PAGE_BYTES: u64 = 4096;

/// Bytes in memory, to be read.
#[derive(Debug)]
struct Held(Vec<u8>);

impl DiskFile for Held {
    fn size(&self) -> io::Result<u64> {
        Ok(self.0.len() as u64)
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        let start = usize::try_from(offset).ok();
        let bytes = start.and_then(|start| self.0.get(start..)?.get(..buf.len()));
        buf.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_at(&self, _: u64, _: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }

    fn set_len(&self, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

/// A file on which others may write as they like, while the one below stays as it is.
///
/// Costs memory for the pages of 4 KiB that are written, and a read of each that is written in part.
#[derive(Debug)]
pub(crate) struct Overlay {
    below: Box<dyn DiskFile>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    len: u64,
    /// As long as the file below still counts: it was never cut shorter than this.
    below_len: u64,
    pages: BTreeMap<u64, Vec<u8>>,
}

impl Overlay {
    /// # Errors
    ///
    /// If the file below cannot be measured.
    pub(crate) fn new(below: Box<dyn DiskFile>) -> io::Result<Overlay> {
        let len = below.size()?;
        let state = Mutex::new(State { len, below_len: len, pages: BTreeMap::new() });
        Ok(Overlay { below, state })
    }

    /// The same over a copy of a file, which may change afterwards. Costs a read of all of it, and
    /// memory for that.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub(crate) fn copy(file: &dyn DiskFile) -> io::Result<Overlay> {
        let len = usize::try_from(file.size()?).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let mut bytes = vec![0; len];
        file.read_at(0, &mut bytes)?;
        Overlay::new(Box::new(Held(bytes)))
    }

    /// A page as it is below; what lies behind the end is zero.
    fn page_below(&self, state: &State, page: u64) -> io::Result<Vec<u8>> {
        let start = page.saturating_mul(PAGE_BYTES);
        let there = state.below_len.saturating_sub(start).min(PAGE_BYTES);
        let mut bytes = vec![0; usize::try_from(PAGE_BYTES).unwrap_or(0)];
        let there = usize::try_from(there).unwrap_or(0);
        if let Some(bytes) = bytes.get_mut(..there).filter(|bytes| !bytes.is_empty()) {
            self.below.read_at(start, bytes)?;
        }
        Ok(bytes)
    }
}

/// The pages that a range touches: each with where in it, and where in the range.
fn pieces(offset: u64, len: usize) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        if done == len {
            return None;
        }
        let at = offset.saturating_add(done as u64);
        let within = usize::try_from(at % PAGE_BYTES).unwrap_or(0);
        let room = usize::try_from(PAGE_BYTES).unwrap_or(0) - within;
        let piece = done..len.min(done + room);
        done = piece.end;
        Some((at / PAGE_BYTES, within, piece))
    })
}

impl DiskFile for Overlay {
    fn size(&self) -> io::Result<u64> {
        Ok(self.state.lock().len)
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        let state = self.state.lock();
        if offset.checked_add(buf.len() as u64).is_none_or(|end| end > state.len) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if state.pages.is_empty() && state.below_len == state.len {
            return self.below.read_at(offset, buf);
        }
        for (number, within, piece) in pieces(offset, buf.len()) {
            let below;
            let page = match state.pages.get(&number) {
                Some(page) => page,
                None => {
                    below = self.page_below(&state, number)?;
                    &below
                }
            };
            if let (Some(to), Some(from)) =
                (buf.get_mut(piece.clone()), page.get(within..within + piece.len()))
            {
                to.copy_from_slice(from);
            }
        }
        Ok(())
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut state = self.state.lock();
        let end = offset.checked_add(data.len() as u64).ok_or(io::ErrorKind::FileTooLarge)?;
        for (number, within, piece) in pieces(offset, data.len()) {
            let mut page = match state.pages.remove(&number) {
                Some(page) => page,
                None => self.page_below(&state, number)?,
            };
            if let (Some(to), Some(from)) =
                (page.get_mut(within..within + piece.len()), data.get(piece))
            {
                to.copy_from_slice(from);
            }
            state.pages.insert(number, page);
        }
        if !data.is_empty() {
            state.len = state.len.max(end);
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut state = self.state.lock();
        if len < state.len {
            state.below_len = state.below_len.min(len);
            state.pages.split_off(&len.div_ceil(PAGE_BYTES));
            let within = usize::try_from(len % PAGE_BYTES).unwrap_or(0);
            if let Some(page) = state.pages.get_mut(&(len / PAGE_BYTES)) {
                page.iter_mut().skip(within).for_each(|byte| *byte = 0);
            }
        }
        state.len = len;
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::{Access, Disk, Name, SimDisk};
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Step {
        Write(u64, usize, u8),
        SetLen(u64),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            3 => (0..20_000u64, 0..9000usize, 1..=255u8).prop_map(|(o, n, b)| Step::Write(o, n, b)),
            1 => (0..30_000u64).prop_map(Step::SetLen),
        ];
        prop::collection::vec(step, 0..12)
    }

    proptest! {
        #[test]
        fn it_reads_as_a_file_that_was_written(below in 0..15_000usize, steps in steps()) {
            let content = vec![7; below];
            let sim = SimDisk::of([(Name::Catalog, content.clone())]);
            let file = sim.open(Name::Catalog, Access::Read).unwrap();
            let (overlay, mut expected) = (Overlay::new(file).unwrap(), content.clone());
            for step in steps {
                match step {
                    Step::Write(offset, n, byte) => {
                        overlay.write_at(offset, &vec![byte; n]).unwrap();
                        let start = usize::try_from(offset).unwrap();
                        if n > 0 {
                            expected.resize(expected.len().max(start + n), 0);
                            expected[start..start + n].fill(byte);
                        }
                    }
                    Step::SetLen(len) => {
                        overlay.set_len(len).unwrap();
                        expected.resize(usize::try_from(len).unwrap(), 0);
                    }
                }
                prop_assert_eq!(overlay.size().unwrap(), expected.len() as u64);
                let mut found = vec![1; expected.len()];
                overlay.read_at(0, &mut found).unwrap();
                prop_assert!(found == expected);
                overlay.read_at(1, &mut found).unwrap_err();
            }
            let untouched = sim.contents().into_iter().find(|(name, _)| *name == Name::Catalog);
            prop_assert!(untouched.unwrap().1 == content);
        }
    }
}
