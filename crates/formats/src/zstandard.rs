//! Reads a sequence of zstd frames, some of which may be damaged.

use std::io::{self, BufRead};

use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};

use super::window::RewindReader;

const OUT_BYTES: usize = 128 << 10;
/// The largest dictionary that an archive may contain.
const DICTIONARY_BYTES_MAX: u32 = 64 << 20;

const FRAME: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// The longest header of a frame (RFC 8878, 3.1.1.1), including its magic number.
const HEADER_BYTES_MAX: usize = 18;

/// The largest window that a frame may require. Decompressing the frame takes this much memory,
/// regardless of the size of the file.
///
/// ```
/// use simkeep_formats::{InputParts, InputSource, ZstdWindow};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("pages.jsonl");
/// // For frames that were compressed with `zstd --long=31`. Takes up to 2 GiB of memory.
/// let window = ZstdWindow::of_mib(ZstdWindow::MIB_MAX);
/// let parts = InputParts::new([InputSource::Path("crawl.warc.zst".into())]).zstd_window(window);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ZstdWindow {
    log: u32,
}

impl Default for ZstdWindow {
    fn default() -> ZstdWindow {
        ZstdWindow::of_mib(ZstdWindow::MIB)
    }
}

impl ZstdWindow {
    /// The default limit in MiB, which covers frames compressed with `--long`.
    pub const MIB: u32 = 128;
    /// The largest possible window in MiB, for frames compressed with `--long=31`.
    pub const MIB_MAX: u32 = 2048;

    /// Creates a window of `mib` MiB, rounded up to a power of two.
    pub fn of_mib(mib: u32) -> ZstdWindow {
        ZstdWindow { log: 20 + mib.clamp(1, ZstdWindow::MIB_MAX).next_power_of_two().ilog2() }
    }

    fn bytes(self) -> u64 {
        1 << self.log
    }
}

/// Returns the window that a frame's header requires.
fn window_bytes(header: &[u8]) -> Option<u64> {
    let (&descriptor, rest) = header.get(FRAME.len()..)?.split_first()?;
    if descriptor & 0x20 == 0 {
        let &window = rest.first()?;
        let base = 1u64 << (10 + (window >> 3));
        return Some(base + base / 8 * u64::from(window & 7));
    }
    // A frame with a single segment has a window as large as its content.
    let dictionary_id = [0, 1, 2, 4].get(usize::from(descriptor & 3)).copied()?;
    let length = 1 << (descriptor >> 6);
    let content = rest.get(dictionary_id..)?.get(..length)?;
    let size = content.iter().rev().fold(0, |size, byte| size << 8 | u64::from(*byte));
    Some(if length == 2 { size + 256 } else { size })
}

/// Whether these are the first bytes of a zstd frame, or of a skippable frame.
pub(super) fn is_start(bytes: &[u8]) -> bool {
    match *bytes {
        [a, b, c, d, ..] => {
            [a, b, c, d] == FRAME || (a & 0xf0 == 0x50 && [b, c, d] == [0x2a, 0x4d, 0x18])
        }
        _ => false,
    }
}

/// Decompresses frame after frame. After a damaged frame, continues with the next frame that is
/// found.
pub(super) struct Zstandard {
    file: RewindReader,
    allowed: ZstdWindow,
    decoder: Decoder<'static>,
    /// The dictionary of a web archive from its first frame, decompressed.
    dictionary: Vec<u8>,
    within: bool,
    out: Vec<u8>,
    position: usize,
    /// The offset of the current frame.
    frame: u64,
    /// The offset up to which a damaged part has been searched, so that it is searched only once.
    searched: u64,
}

impl Zstandard {
    pub(super) fn new(file: RewindReader, allowed: ZstdWindow) -> io::Result<Zstandard> {
        Ok(Zstandard {
            file,
            allowed,
            decoder: decoder(&[], allowed)?,
            dictionary: Vec::new(),
            within: false,
            out: Vec::new(),
            position: 0,
            frame: 0,
            searched: 0,
        })
    }

    /// Returns the offset in the file of the current frame.
    pub(super) fn frame(&self) -> u64 {
        self.frame
    }

    /// Whether all bytes read from the file have been decompressed.
    pub(super) fn is_drained(&self) -> bool {
        self.position >= self.out.len() && self.file.is_drained()
    }

    pub(super) fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.position >= self.out.len() {
            self.position = 0;
            self.out.clear();
            if !self.within && !self.next_frame()? {
                break;
            }
            if let Err(e) = self.unpack() {
                return Err(self.damage(&e));
            }
        }
        Ok(self.out.get(self.position..).unwrap_or_default())
    }

    pub(super) fn consume(&mut self, count: usize) {
        self.position = self.out.len().min(self.position + count);
    }

    /// Decompresses some of the current frame.
    fn unpack(&mut self) -> io::Result<()> {
        let packed = self.file.fill_buf()?;
        let at_end = packed.is_empty();
        self.out.resize(OUT_BYTES, 0);
        let mut input = InBuffer::around(packed);
        let mut output = OutBuffer::around(self.out.as_mut_slice());
        let result = self.decoder.run(&mut input, &mut output);
        let (read, written) = (input.pos(), output.pos());
        self.out.truncate(written);
        self.file.consume(read);
        self.within = result? != 0;
        if at_end && written == 0 && self.within {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "truncated"));
        }
        if !self.within {
            self.decoder.reinit()?;
        }
        Ok(())
    }

    /// Goes to the next frame with content; `false` at the end.
    fn next_frame(&mut self) -> io::Result<bool> {
        loop {
            self.frame = self.file.offset();
            let start = self.file.peek(HEADER_BYTES_MAX)?;
            if start.is_empty() {
                return Ok(false);
            }
            if start.starts_with(&FRAME) {
                // The decoder reports a truncated header.
                let window = window_bytes(start).unwrap_or(0);
                if window > self.allowed.bytes() {
                    return Err(self.too_wide(window));
                }
                self.within = true;
                return Ok(true);
            }
            let Some(&[kind, b, c, d, s0, s1, s2, s3]) = start.first_chunk() else {
                return Err(self.damage(&invalid("no zstd header")));
            };
            if !is_start(&[kind, b, c, d]) {
                return Err(self.damage(&invalid("no zstd header")));
            }
            let size = u32::from_le_bytes([s0, s1, s2, s3]);
            self.file.consume(8);
            let first = self.frame == 0;
            // IIPC's zstd for WARC: the dictionary is in a first frame of this kind.
            let missing = if kind == 0x5d && first && size <= DICTIONARY_BYTES_MAX {
                self.take_dictionary(size)?
            } else {
                skip(&mut self.file, u64::from(size))?
            };
            if missing > 0 {
                let cut = format!("truncated: {missing} of {size} bytes are missing");
                return Err(self.damage(&invalid(&cut)));
            }
        }
    }

    /// Reads a dictionary of this size, and returns the number of its bytes that are missing from
    /// the file.
    fn take_dictionary(&mut self, size: u32) -> io::Result<u64> {
        use std::io::Read;
        let mut dictionary = Vec::new();
        (&mut self.file).take(u64::from(size)).read_to_end(&mut dictionary)?;
        let missing = u64::from(size) - dictionary.len() as u64;
        if missing > 0 {
            return Ok(missing);
        }
        if dictionary.starts_with(&FRAME) {
            let packed = std::mem::take(&mut dictionary);
            zstd::stream::read::Decoder::with_buffer(packed.as_slice())?
                .take(u64::from(DICTIONARY_BYTES_MAX))
                .read_to_end(&mut dictionary)?;
        }
        self.decoder = decoder(&dictionary, self.allowed)?;
        self.dictionary = dictionary;
        Ok(0)
    }

    fn damage(&mut self, cause: &io::Error) -> io::Error {
        let from = self.frame;
        self.skip_damaged(&format!(
            "damaged zstd frame at byte {from} of the compressed file ({cause})"
        ))
    }

    /// Builds the error for a frame that needs more memory than allowed.
    fn too_wide(&mut self, bytes: u64) -> io::Error {
        let (from, mib, allowed) =
            (self.frame, bytes.div_ceil(1 << 20), self.allowed.bytes() >> 20);
        self.skip_damaged(&format!(
            "the zstd frame at byte {from} of the compressed file needs a window of {mib} MiB, but only \
             {allowed} MiB are allowed: set --zstd-window"
        ))
    }

    /// Searches for the next frame, and returns an error about the lost part.
    fn skip_damaged(&mut self, what: &str) -> io::Error {
        let reached = self.file.offset();
        // The search starts after the start of the damaged part in any case, so that reading ends.
        self.file.rewind_to(self.searched.max(self.frame + 1));
        self.searched = reached;
        self.within = false;
        self.out.clear();
        let next = match self.file.seek(FRAME.len(), |b| b == FRAME) {
            Ok(true) => format!("reading continues at byte {}", self.file.offset()),
            Ok(false) => "no further frame was found".into(),
            Err(e) => format!("the rest cannot be read: {e}"),
        };
        // The state of a failed decoder is useless, and may be large.
        match decoder(&self.dictionary, self.allowed) {
            Ok(decoder) => self.decoder = decoder,
            Err(e) => return e,
        }
        invalid(&format!("{what}; {next}"))
    }
}

fn decoder(dictionary: &[u8], allowed: ZstdWindow) -> io::Result<Decoder<'static>> {
    let mut decoder = Decoder::with_dictionary(dictionary)?;
    decoder.set_parameter(DParameter::WindowLogMax(allowed.log))?;
    Ok(decoder)
}

fn invalid(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// Skips bytes, and returns the number of them that are missing from the file.
fn skip(file: &mut RewindReader, mut count: u64) -> io::Result<u64> {
    while count > 0 {
        let held = file.fill_buf()?.len();
        if held == 0 {
            break;
        }
        let step = usize::try_from(count).unwrap_or(usize::MAX).min(held);
        file.consume(step);
        count -= step as u64;
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write;
    use std::sync::Arc;

    fn unpack(bytes: Vec<u8>) -> (Vec<u8>, Vec<String>) {
        unpack_within(ZstdWindow::default(), bytes)
    }

    fn unpack_within(allowed: ZstdWindow, bytes: Vec<u8>) -> (Vec<u8>, Vec<String>) {
        let window = RewindReader::new(Box::new(io::Cursor::new(bytes)), Arc::default());
        let mut zstd = Zstandard::new(window, allowed).unwrap();
        let (mut out, mut errors) = (Vec::new(), Vec::new());
        loop {
            match zstd.fill_buf() {
                Ok([]) => return (out, errors),
                Ok(bytes) => {
                    out.extend_from_slice(bytes);
                    let count = bytes.len();
                    zstd.consume(count);
                }
                Err(e) => errors.push(e.to_string()),
            }
        }
    }

    fn pack(bytes: &[u8]) -> Vec<u8> {
        zstd::encode_all(bytes, 3).unwrap()
    }

    #[test]
    fn frames_are_concatenated_and_skippable_ones_skipped() {
        let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"xyz"].concat();
        let file = [pack(b"one "), skippable, pack(b""), pack(b"two")].concat();
        assert_eq!(unpack(file), (b"one two".to_vec(), vec![]));
    }

    #[test]
    fn truncated_skippable_frame_is_damaged() {
        let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 1][..], b"xyz"].concat();
        for start in [pack(b"one "), vec![]] {
            let (out, errors) = unpack([start.clone(), skippable.clone()].concat());
            assert_eq!(out, &b"one "[..if start.is_empty() { 0 } else { 4 }]);
            assert_eq!(errors.len(), 1, "{errors:?}");
            assert!(errors[0].contains("16777213 of 16777216 bytes are missing"), "{errors:?}");
        }
        // The frame after a skippable frame with a wrong length is found.
        let (out, errors) = unpack([skippable, pack(b"two")].concat());
        assert_eq!((out, errors.len()), (b"two".to_vec(), 1));
    }

    #[test]
    fn long_windows_are_read_if_allowed() {
        let bytes: Vec<u8> = (0..2_000_000u64).map(|i| (i.pow(3) >> 7 & 0xff) as u8).collect();
        let packed = |log| {
            let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
            encoder.window_log(log).unwrap();
            encoder.long_distance_matching(true).unwrap();
            encoder.write_all(&bytes).unwrap();
            encoder.finish().unwrap()
        };
        let (out, errors) = unpack(packed(27));
        assert!(out == bytes && errors.is_empty(), "{errors:?}");
        let (out, errors) = unpack([packed(29), pack(b"next")].concat());
        assert_eq!(out, b"next");
        assert!(errors[0].contains("a window of 512 MiB, but only 128 MiB are allowed"));
        let (out, errors) = unpack_within(ZstdWindow::of_mib(300), packed(29));
        assert!(out == bytes && errors.is_empty(), "{errors:?}");
    }

    #[test]
    fn window_of_a_single_segment_frame_is_its_content() {
        let header = |descriptor: u8, rest: &[u8]| [&FRAME[..], &[descriptor], rest].concat();
        assert_eq!(window_bytes(&header(0x20, &[7])), Some(7));
        assert_eq!(window_bytes(&header(0x61, &[9, 1, 2])), Some(256 + 0x201));
        assert_eq!(window_bytes(&header(0xa0, &[0, 0, 0, 0x80])), Some(1 << 31));
        assert_eq!(window_bytes(&header(0xe0, &[0, 0, 0, 0, 1, 0, 0, 0])), Some(1 << 32));
        assert_eq!(window_bytes(&header(0x00, &[0xff])), Some((1 << 41) / 8 * 15));
        assert_eq!(window_bytes(&header(0xe0, &[0])), None);
        let (out, errors) = unpack(header(0xe0, &[0, 0, 0, 0, 1, 0, 0, 0]));
        assert!(out.is_empty() && errors[0].contains("4096 MiB"), "{errors:?}");
    }

    #[test]
    fn dictionary_in_the_first_frame_is_used() {
        let dictionary = b"the quick brown fox jumps over the lazy dog and so on".repeat(4);
        let mut first = vec![0x5d, 0x2a, 0x4d, 0x18];
        first.extend(u32::try_from(dictionary.len()).unwrap().to_le_bytes());
        first.extend(&dictionary);
        let mut frame =
            zstd::stream::write::Encoder::with_dictionary(Vec::new(), 3, &dictionary).unwrap();
        frame.write_all(b"the lazy dog and so on and on").unwrap();
        let frame = frame.finish().unwrap();
        let file = [first, frame.clone(), frame].concat();
        let text = b"the lazy dog and so on and on".repeat(2);
        assert_eq!(unpack(file), (text, vec![]));
    }

    #[test]
    fn damaged_frame_costs_only_itself() {
        let noise: Vec<u8> = (0..20_000u64).map(|i| (i.pow(3) >> 5 & 0xff) as u8).collect();
        let (one, two, three) = (pack(b"one "), pack(&noise), pack(b" three"));
        for at in [0, 4] {
            let mut bad = two.clone();
            bad[at] ^= 0xff;
            let (out, errors) = unpack([one.clone(), bad, three.clone()].concat());
            assert!(out.starts_with(b"one ") && out.ends_with(b" three"), "{at}");
            assert_eq!(errors.len(), 1, "{at}: {errors:?}");
        }
        let (_, errors) = unpack(two[..two.len() - 1].to_vec());
        assert_eq!(errors.len(), 1);
        assert!(errors[0].contains("truncated"));
    }

    proptest! {
        #[test]
        fn no_file_panics_or_hangs(
            mut file in prop::collection::vec(any::<u8>(), 0..200),
            flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        ) {
            file.extend(pack(b"some text, some text"));
            file.extend(pack(b"more"));
            for (at, with) in flips {
                let at = at.index(file.len());
                file[at] = with;
            }
            unpack(file);
        }
    }
}
