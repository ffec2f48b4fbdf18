//! A line of a dump: some bytes, and what they mean.

use std::fmt;

/// Bytes that are shown side by side.
const ROW: usize = 16;
/// More zeros than this are counted.
const ZEROS_MAX: usize = 8;
/// How wide the bytes of a row are that has eight.
const WIDTH: usize = 3 * 8 - 1;

/// Some bytes of a file, and what they mean.
///
/// As text it is what the pages of `format/` show: the offset in hexadecimal digits, the bytes, and
/// the meaning, two spaces apart; 16 bytes at most side by side, with the others below them; `00*36`
/// is 36 bytes of zero, and `??*36` are 36 that no checksum vouches for. The meaning may quote URLs,
/// which are from strangers: who shows it on a terminal has to escape it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DumpLine {
    /// Where the bytes are in the file.
    pub offset: u64,
    /// How many there are.
    pub len: u64,
    /// The bytes; `None` of those that are damaged.
    pub bytes: Option<Vec<u8>>,
    /// What they mean, or what is wrong with them.
    pub meaning: String,
    /// Whether they are damaged, or are what they cannot be.
    pub damaged: bool,
}

impl fmt::Display for DumpLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DumpLine { offset, len, meaning, .. } = self;
        let bytes = match &self.bytes {
            // A damaged block is shown by its length alone: none of its bytes can be trusted.
            None => return write!(f, "{offset:04x}  {:<WIDTH$}  {meaning}", format!("??*{len}")),
            Some(bytes) => bytes,
        };
        if bytes.len() > ZEROS_MAX && bytes.iter().all(|byte| *byte == 0) {
            return write!(f, "{offset:04x}  {:<WIDTH$}  {meaning}", format!("00*{len}"));
        }
        for (row, at) in bytes.chunks(ROW).zip((*offset..).step_by(ROW)) {
            let shown: Vec<String> = row.iter().map(|byte| format!("{byte:02x}")).collect();
            let shown = shown.join(" ");
            // Only the first row has the meaning.
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
    fn bytes_stand_side_by_side_and_many_zeros_are_counted() {
        assert_eq!(shown(Some(&[1, 0xab]), 2), "0ff0  01 ab                    so");
        assert_eq!(shown(Some(&[0; 8]), 8), "0ff0  00 00 00 00 00 00 00 00  so");
        assert_eq!(shown(Some(&[0; 9]), 9), "0ff0  00*9                     so");
        assert_eq!(shown(None, 4096), "0ff0  ??*4096                  so");
        let rows = shown(Some(&[7; 17]), 17);
        let row = ["07"; 16].join(" ");
        assert_eq!(rows, format!("0ff0  {row}  so\n1000  07"));
    }
}
