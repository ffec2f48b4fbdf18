//! Reads a sequence of gzip members, some of which may be damaged.

use std::io::{self, BufRead, Read};

use flate2::Crc;
use flate2::bufread::DeflateDecoder;

use super::window::RewindReader;

/// The window of deflate. The decoder decompresses into a ring of this size.
const WINDOW_BYTES: usize = 32 << 10;
/// The length of a member's fixed header.
const HEADER_BYTES: usize = 10;
/// The maximum length of a file name or a comment. After damage, a longer one would hide members.
const TEXT_BYTES_MAX: usize = 64 << 10;
/// The length of the checksum and the size after a member.
const TRAILER_BYTES: usize = 8;

/// Flags in a member's header: which fields follow the fixed header (RFC 1952).
const HEADER_CHECKSUM: u8 = 1 << 1;
const EXTRA_FIELD: u8 = 1 << 2;
const FILE_NAME: u8 = 1 << 3;
const COMMENT: u8 = 1 << 4;
const RESERVED: u8 = 0b1110_0000;

/// Whether these are the first bytes of a gzip member.
pub(super) fn is_start(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b, 8])
}

/// Whether a compressor writes this fixed header. The check is strict, since after damage a header
/// is searched for among random bytes.
fn is_header(bytes: &[u8]) -> bool {
    match *bytes {
        [0x1f, 0x8b, 8, flags, _, _, _, _, level, system] => {
            flags & RESERVED == 0 && matches!(level, 0 | 2 | 4) && matches!(system, 0..=13 | 255)
        }
        _ => false,
    }
}

/// Decompresses member after member. Returns all bytes of a damaged member before the damage, and
/// continues with the next member that is found.
///
/// The result depends only on the file, not on the pieces in which the file arrives. So this type reads
/// the frame of a member itself: the library's gzip decoder loses the bytes that it decompressed in the
/// call that meets the damage.
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
    Within(Box<GzipMember>),
    /// The member is damaged after the bytes that were returned.
    Damaged(RewindReader, io::Error),
    Ended,
}

/// A member after its header.
struct GzipMember {
    body: DeflateDecoder<RewindReader>,
    checksum: Crc,
}

impl GzipMember {
    /// Replaces `out` by the next bytes, none at the end of the body. After an error, `out` has the
    /// bytes before the damage.
    fn read_into(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        let before = self.body.total_out();
        // A call never goes beyond the end of the ring, so the decoder has room for all bytes that it
        // decompresses before it meets a damage.
        let filled = usize::try_from(before % WINDOW_BYTES as u64).unwrap_or(0);
        out.resize(WINDOW_BYTES - filled, 0);
        let result = self.body.read(out);
        out.truncate(usize::try_from(self.body.total_out() - before).unwrap_or(0));
        self.checksum.update(out);
        result.map(|_| ())
    }

    /// Reads what follows the body, and compares it with what was decompressed.
    fn end(self) -> (RewindReader, io::Result<()>) {
        let GzipMember { body, checksum } = self;
        let mut file = body.into_inner();
        let result = read_trailer(&mut file, &checksum);
        (file, result)
    }
}

fn read_trailer(file: &mut RewindReader, checksum: &Crc) -> io::Result<()> {
    let trailer = file.peek(TRAILER_BYTES)?;
    if trailer.len() < TRAILER_BYTES {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let (sum, size) = (checksum.sum().to_le_bytes(), checksum.amount().to_le_bytes());
    if trailer != [sum, size].concat() {
        return Err(invalid("its checksum does not match its content"));
    }
    file.consume(TRAILER_BYTES);
    Ok(())
}

/// Reads the header of a member.
fn read_header(file: &mut RewindReader) -> io::Result<()> {
    let (mut checksum, mut fixed) = (Crc::new(), [0; HEADER_BYTES]);
    file.read_exact(&mut fixed)?;
    checksum.update(&fixed);
    let [_, _, _, flags, ..] = fixed;
    if !is_start(&fixed) || flags & RESERVED != 0 {
        return Err(invalid("invalid gzip header"));
    }
    if flags & EXTRA_FIELD != 0 {
        let mut bytes = [0; 2];
        file.read_exact(&mut bytes)?;
        checksum.update(&bytes);
        let mut rest = u64::from(u16::from_le_bytes(bytes));
        while rest > 0 {
            let some = file.fill_buf()?;
            let some = some.get(..usize::try_from(rest).unwrap_or(usize::MAX)).unwrap_or(some);
            if some.is_empty() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            checksum.update(some);
            let count = some.len();
            file.consume(count);
            rest -= count as u64;
        }
    }
    for flag in [FILE_NAME, COMMENT] {
        if flags & flag != 0 {
            skip_text(file, &mut checksum)?;
        }
    }
    if flags & HEADER_CHECKSUM != 0 {
        let mut bytes = [0; 2];
        file.read_exact(&mut bytes)?;
        if checksum.sum().to_le_bytes().get(..2) != Some(bytes.as_slice()) {
            return Err(invalid("the checksum of its header does not match"));
        }
    }
    Ok(())
}

/// Skips a text up to the zero at its end.
fn skip_text(file: &mut RewindReader, checksum: &mut Crc) -> io::Result<()> {
    let mut rest = TEXT_BYTES_MAX;
    loop {
        let some = file.fill_buf()?;
        let end = some.iter().take(rest).position(|byte| *byte == 0);
        let count = end.map_or(some.len().min(rest), |end| end + 1);
        checksum.update(some.get(..count).unwrap_or(some));
        file.consume(count);
        rest -= count.min(rest);
        match (end, count, rest) {
            (Some(_), ..) => return Ok(()),
            (_, 0, 1..) => return Err(io::ErrorKind::UnexpectedEof.into()),
            (.., 0) => return Err(invalid("a field of its header is too long")),
            _ => {}
        }
    }
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
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
                GzipState::Within(member) => member.body.get_ref().is_drained(),
                GzipState::Damaged(..) => false,
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
                GzipState::Within(mut member) => match member.read_into(&mut self.out) {
                    Ok(()) if !self.out.is_empty() => self.state = GzipState::Within(member),
                    Ok(()) => match member.end() {
                        (file, Ok(())) => self.state = GzipState::Between(file),
                        (file, Err(e)) => return Err(self.damage(file, &e)),
                    },
                    Err(e) => self.state = GzipState::Damaged(member.body.into_inner(), e),
                },
                GzipState::Damaged(file, e) => return Err(self.damage(file, &e)),
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
            return Err(self.damage(file, &invalid("no gzip header")));
        }
        if let Err(e) = read_header(&mut file) {
            return Err(self.damage(file, &e));
        }
        let (body, checksum) = (DeflateDecoder::new(file), Crc::new());
        self.state = GzipState::Within(Box::new(GzipMember { body, checksum }));
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

    /// A file that arrives in pieces.
    struct InPieces(io::Cursor<Vec<u8>>, usize);

    impl Read for InPieces {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let count = out.len().min(self.1);
            self.0.read(&mut out[..count])
        }
    }

    /// Returns the output, and the errors with their positions in the output.
    fn unpack_pieces(bytes: Vec<u8>, piece: usize) -> (Vec<u8>, Vec<(usize, String)>) {
        let file = Box::new(InPieces(io::Cursor::new(bytes), piece));
        let mut gzip = Gzip::new(RewindReader::new(file, Arc::default()));
        let (mut out, mut errors) = (Vec::new(), Vec::new());
        loop {
            match gzip.fill_buf() {
                Ok([]) => return (out, errors),
                Ok(bytes) => {
                    out.extend_from_slice(bytes);
                    let count = bytes.len();
                    gzip.consume(count);
                }
                Err(e) => errors.push((out.len(), e.to_string())),
            }
        }
    }

    /// Returns the output and the errors.
    fn unpack(bytes: Vec<u8>) -> (Vec<u8>, Vec<String>) {
        let (out, errors) = unpack_pieces(bytes, usize::MAX);
        (out, errors.into_iter().map(|(_, error)| error).collect())
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
    fn bytes_before_a_damage_are_returned() {
        let mut choose = 1_u32;
        let text: Vec<u8> = (0..300_000_u32)
            .map(|_| {
                choose = choose.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                b"abcdefgh"[(choose >> 29) as usize]
            })
            .collect();
        for length in [10, 1_000, 40_000, text.len()] {
            let text = &text[..length];
            let mut encoder =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(text).unwrap();
            encoder.flush().unwrap();
            // The flush ends at a byte, so a block of a kind that does not exist follows.
            let bad = [encoder.get_ref().as_slice(), &[0b111; 20]].concat();
            let (out, errors) = unpack(bad);
            assert!(out == text, "{} of {length} bytes", out.len());
            assert_eq!(errors.len(), 1);
        }
    }

    #[test]
    fn optional_fields_of_a_header_are_skipped_and_checked() {
        let long = vec![b'x'; TEXT_BYTES_MAX - 1];
        let builder = || flate2::GzBuilder::new().filename("name").comment(&*long).extra(*b"extra");
        let pack = |builder: flate2::GzBuilder| {
            let mut encoder = builder.write(Vec::new(), flate2::Compression::default());
            encoder.write_all(b"text").unwrap();
            encoder.finish().unwrap()
        };
        let file = pack(builder());
        assert_eq!(unpack(file.clone()), (b"text".to_vec(), vec![]));
        for cut in [5, 11, 14, 18, 1000, file.len() - 1] {
            let (_, errors) = unpack(file[..cut].to_vec());
            assert!(errors[0].contains("truncated"), "{errors:?}");
        }
        // With a checksum of the header.
        let mut header =
            vec![0x1f, 0x8b, 8, HEADER_CHECKSUM | FILE_NAME, 0, 0, 0, 0, 0, 3, b'n', 0];
        let mut checksum = Crc::new();
        checksum.update(&header);
        header.extend(&checksum.sum().to_le_bytes()[..2]);
        let whole = [&header, &gz(b"text")[HEADER_BYTES..]].concat();
        assert_eq!(unpack(whole.clone()), (b"text".to_vec(), vec![]));
        let mut bad = whole;
        bad[10] = b'm';
        assert!(unpack(bad).1[0].contains("the checksum of its header does not match"));
        let too_long = vec![b'x'; TEXT_BYTES_MAX];
        let too_long = pack(flate2::GzBuilder::new().comment(too_long));
        assert!(unpack(too_long).1[0].contains("a field of its header is too long"));
        let mut reserved = gz(b"text");
        reserved[3] = 0x80;
        assert!(unpack(reserved).1[0].contains("invalid gzip header"));
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

        #[test]
        fn result_does_not_depend_on_the_pieces_of_a_file(
            texts in prop::collection::vec(("[ab]{0,60}", 1usize..3_000, any::<bool>()), 1..4),
            flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
            piece in prop_oneof![1usize..9, 1usize..100_000],
        ) {
            let noise: Vec<u8> = (0..300_000_u64).map(|n| (n.pow(3) >> 7 & 0xff) as u8).collect();
            let member = |(text, times, is_long): &(String, usize, bool)| {
                let noise = if *is_long { noise.as_slice() } else { &[] };
                gz(&[text.repeat(*times).as_bytes(), noise].concat())
            };
            let mut file: Vec<u8> = texts.iter().flat_map(member).collect();
            for (at, with) in flips {
                let at = at.index(file.len());
                file[at] = with;
            }
            let whole = unpack_pieces(file.clone(), usize::MAX);
            prop_assert_eq!(unpack_pieces(file, piece), whole);
        }
    }
}
