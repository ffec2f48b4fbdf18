//! Reads a sequence of gzip members, some of which may be damaged.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

use super::window::RewindReader;

const OUT_BYTES: usize = 64 << 10;
/// The length of a member's fixed header.
const HEADER_BYTES: usize = 10;

/// Whether these are the first bytes of a gzip member.
pub(super) fn is_start(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b, 8])
}

/// Whether a compressor writes this fixed header. The check is strict, since after damage a header
/// is searched for among random bytes.
fn is_header(bytes: &[u8]) -> bool {
    match *bytes {
        [0x1f, 0x8b, 8, flags, _, _, _, _, level, system] => {
            flags & 0xe0 == 0 && matches!(level, 0 | 2 | 4) && matches!(system, 0..=13 | 255)
        }
        _ => false,
    }
}

/// Decompresses member after member. After a damaged member, continues with the next member that is
/// found.
pub(super) struct Gzip {
    state: GzipState,
    out: Vec<u8>,
    position: usize,
    /// The offset of the current member.
    member: u64,
    /// The offset up to which a damaged part has been searched. Bytes before this offset are not
    /// searched for a member again, because with a crafted file the work would be quadratic.
    searched: u64,
}

enum GzipState {
    Between(RewindReader),
    Within(Box<GzDecoder<RewindReader>>),
    Ended,
}

impl Gzip {
    pub(super) fn new(file: RewindReader) -> Gzip {
        let state = GzipState::Between(file);
        Gzip { state, out: Vec::new(), position: 0, member: 0, searched: 0 }
    }

    /// Returns the offset in the file of the current member.
    pub(super) fn member(&self) -> u64 {
        self.member
    }

    /// Whether all bytes read from the file have been decompressed.
    pub(super) fn is_drained(&self) -> bool {
        self.position >= self.out.len()
            && match &self.state {
                GzipState::Between(file) => file.is_drained(),
                GzipState::Within(decoder) => decoder.get_ref().is_drained(),
                GzipState::Ended => true,
            }
    }

    pub(super) fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.position >= self.out.len() {
            self.position = 0;
            self.out.clear();
            match std::mem::replace(&mut self.state, GzipState::Ended) {
                GzipState::Between(file) => {
                    if !self.next_member(file)? {
                        break;
                    }
                }
                GzipState::Within(mut decoder) => {
                    self.out.resize(OUT_BYTES, 0);
                    let result = decoder.read(&mut self.out);
                    self.out.truncate(*result.as_ref().unwrap_or(&0));
                    match result {
                        Ok(0) => self.state = GzipState::Between(decoder.into_inner()),
                        Ok(_) => self.state = GzipState::Within(decoder),
                        Err(e) => return Err(self.damage(decoder.into_inner(), &e)),
                    }
                }
                GzipState::Ended => break,
            }
        }
        Ok(self.out.get(self.position..).unwrap_or_default())
    }

    pub(super) fn consume(&mut self, count: usize) {
        self.position = self.out.len().min(self.position + count);
    }

    fn next_member(&mut self, mut file: RewindReader) -> io::Result<bool> {
        // Some tools fill a file up with zeros.
        while file.fill_buf()?.first() == Some(&0) {
            file.consume(1);
        }
        self.member = file.offset();
        let start = file.peek(4)?;
        if start.is_empty() {
            return Ok(false);
        }
        if !is_start(start) {
            let nothing = io::Error::new(io::ErrorKind::InvalidData, "no gzip header");
            return Err(self.damage(file, &nothing));
        }
        self.state = GzipState::Within(Box::new(GzDecoder::new(file)));
        Ok(true)
    }

    /// Searches for the next member, and returns an error about the lost part.
    fn damage(&mut self, mut file: RewindReader, cause: &io::Error) -> io::Error {
        let reached = file.offset();
        // The search starts after the start of the damaged part in any case, so that reading ends.
        file.rewind_to(self.searched.max(self.member + 1));
        self.searched = reached;
        let from = self.member;
        let next = match file.seek(HEADER_BYTES, is_header) {
            Ok(true) => format!("reading continues at byte {}", file.offset()),
            Ok(false) => "no further member was found".into(),
            Err(e) => format!("the rest cannot be read: {e}"),
        };
        let cause = match cause.kind() {
            io::ErrorKind::UnexpectedEof => "truncated".to_string(),
            _ => cause.to_string(),
        };
        self.state = GzipState::Between(file);
        io::Error::new(
            io::ErrorKind::InvalidData,
            format!("damaged gzip member at byte {from} of the compressed file ({cause}); {next}"),
        )
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write;
    use std::sync::Arc;

    pub(in super::super) fn gz(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// Returns the output in stretches between errors, and the errors.
    fn unpack(bytes: Vec<u8>) -> (Vec<u8>, Vec<String>) {
        let mut gzip =
            Gzip::new(RewindReader::new(Box::new(io::Cursor::new(bytes)), Arc::default()));
        let (mut out, mut errors) = (Vec::new(), Vec::new());
        loop {
            match gzip.fill_buf() {
                Ok([]) => return (out, errors),
                Ok(bytes) => {
                    out.extend_from_slice(bytes);
                    let count = bytes.len();
                    gzip.consume(count);
                }
                Err(e) => errors.push(e.to_string()),
            }
        }
    }

    #[test]
    fn members_are_concatenated_and_trailing_zeros_ignored() {
        let file = [gz(b"one "), gz(b""), gz(b"two"), vec![0; 100]].concat();
        assert_eq!(unpack(file), (b"one two".to_vec(), vec![]));
        assert_eq!(unpack(vec![]), (vec![], vec![]));
    }

    #[test]
    fn damaged_member_costs_only_itself() {
        let noise: Vec<u8> = (0..20_000u64).map(|i| (i.pow(3) >> 5 & 0xff) as u8).collect();
        let (one, two, three) = (gz(b"one "), gz(&noise), gz(b" three"));
        for at in [0, 3, 12, 1000, two.len() - 6] {
            let mut bad = two.clone();
            bad[at] ^= 0xff;
            let (out, errors) = unpack([one.clone(), bad, three.clone()].concat());
            assert!(out.starts_with(b"one ") && out.ends_with(b" three"), "{at}");
            assert_eq!(errors.len(), 1, "{at}");
            assert!(errors[0].contains(&format!("at byte {}", one.len())), "{}", errors[0]);
            let next = format!("reading continues at byte {}", one.len() + two.len());
            assert!(errors[0].contains(&next), "{}", errors[0]);
        }
        let cut = [&two[..two.len() / 2], &three].concat();
        assert!(unpack(cut).0.ends_with(b" three"));
        let (out, errors) = unpack(one[..one.len() - 1].to_vec());
        assert_eq!((out.as_slice(), errors.len()), (b"one ".as_slice(), 1));
    }

    #[test]
    fn false_starts_do_not_cost_quadratic_time() {
        let start = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
        let (_, errors) = unpack(start.repeat(200_000));
        assert!(errors.len() <= 200_000);
    }

    proptest! {
        #[test]
        fn no_file_panics_or_hangs(
            mut file in prop::collection::vec(any::<u8>(), 0..200),
            flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        ) {
            file.extend(gz(b"some text, some text"));
            file.extend(gz(b"more"));
            for (at, with) in flips {
                let at = at.index(file.len());
                file[at] = with;
            }
            unpack(file);
        }
    }
}
