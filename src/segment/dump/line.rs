//! A line of a dump: some bytes and their meaning.

use std::fmt;

/// The maximum number of bytes in one row.
const ROW: usize = 16;
/// The maximum number of zeros that are not abbreviated.
const ZEROS_MAX: usize = 8;
/// The width of a row of eight bytes.
const WIDTH: usize = 3 * 8 - 1;

/// Some bytes of a file and their meaning.
///
/// The text form is the notation of the pages in `format/`: the offset in hexadecimal digits, the
/// bytes, and the meaning, separated by two spaces. A row has at most 16 bytes; further bytes are
/// in rows below. `00*36` means 36 zero bytes, and `??*36` means 36 bytes whose checksum is wrong.
/// The meaning may quote URLs, which are untrusted: escape the meaning for a terminal.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use std::ops::ControlFlow;
///
/// use simkeep::inspect::DumpQuery;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// store.observe(Observation::gone("https://example.com/", Time::now()))?;
/// store.seal()?;
/// let id = store.stats()?.segments[0].id;
/// DumpQuery::all().run(&store.snapshot(), id, |line| {
///     // A group of bytes, in the order of the file.
///     assert!(!line.damaged);
///     assert_eq!(line.bytes.map(|bytes| bytes.len() as u64), Some(line.len));
///     ControlFlow::Continue(())
/// })?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DumpLine {
    /// The offset of the bytes in the file.
    pub offset: u64,
    /// The number of bytes.
    pub len: u64,
    /// The bytes; `None` if they are damaged.
    pub bytes: Option<Vec<u8>>,
    /// The meaning of the bytes, or the damage in the bytes.
    pub meaning: String,
    /// Whether the bytes are damaged or invalid.
    pub damaged: bool,
}

impl fmt::Display for DumpLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DumpLine { offset, len, meaning, .. } = self;
        let bytes = match &self.bytes {
            // A damaged block is shown only by its length, because none of its bytes is reliable.
            None => return write!(f, "{offset:04x}  {:<WIDTH$}  {meaning}", format!("??*{len}")),
            Some(bytes) => bytes,
        };
        if bytes.len() > ZEROS_MAX && bytes.iter().all(|byte| *byte == 0) {
            return write!(f, "{offset:04x}  {:<WIDTH$}  {meaning}", format!("00*{len}"));
        }
        for (row, at) in bytes.chunks(ROW).zip((*offset..).step_by(ROW)) {
            let shown: Vec<String> = row.iter().map(|byte| format!("{byte:02x}")).collect();
            let shown = shown.join(" ");
            // The meaning is shown only in the first row.
            if at == *offset {
                write!(f, "{at:04x}  {shown:<WIDTH$}  {meaning}")?;
            } else {
                write!(f, "\n{at:04x}  {shown}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(bytes: Option<&[u8]>, len: u64) -> String {
        let bytes = bytes.map(<[u8]>::to_vec);
        let meaning = "so".to_owned();
        DumpLine { offset: 0xff0, len, bytes, meaning, damaged: false }.to_string()
    }

    #[test]
    fn bytes_are_shown_in_columns_and_zeros_counted() {
        assert_eq!(shown(Some(&[1, 0xab]), 2), "0ff0  01 ab                    so");
        assert_eq!(shown(Some(&[0; 8]), 8), "0ff0  00 00 00 00 00 00 00 00  so");
        assert_eq!(shown(Some(&[0; 9]), 9), "0ff0  00*9                     so");
        assert_eq!(shown(None, 4096), "0ff0  ??*4096                  so");
        let rows = shown(Some(&[7; 17]), 17);
        let row = ["07"; 16].join(" ");
        assert_eq!(rows, format!("0ff0  {row}  so\n1000  07"));
    }
}
