//! Corrects one damaged byte in bytes with a known CRC-32.

/// The CRC-32 of any bytes followed by their own CRC-32 in little-endian order.
pub(super) const WITH_OWN_SUM: u32 = 0x2144_df1c;

/// The change of a CRC-32 register by each value of a byte.
const STEPS: [u32; 256] = steps();

#[expect(
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "the index is below 256"
)]
const fn steps() -> [u32; 256] {
    let mut steps = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut step, mut bit) = (byte as u32, 0);
        while bit < 8 {
            step = if step & 1 == 1 { (step >> 1) ^ 0xedb8_8320 } else { step >> 1 };
            bit += 1;
        }
        steps[byte] = step;
        byte += 1;
    }
    steps
}

/// Returns the bytes with at most one of them changed, so that their CRC-32 is `sum`. If more bytes
/// are damaged, returns `None`, or wrong bytes with a probability of 255 times the number of bytes
/// in 4 billion.
///
/// A CRC is linear: the difference of the sums depends only on the wrong byte and on its distance
/// from the end. Going backwards from the end, the difference is the step of one byte exactly where
/// that byte is wrong.
pub(super) fn corrected(bytes: &[u8], sum: u32) -> Option<Vec<u8>> {
    let mut difference = crc32fast::hash(bytes) ^ sum;
    let mut bytes = bytes.to_vec();
    if difference == 0 {
        return Some(bytes);
    }
    for byte in bytes.iter_mut().rev() {
        // The highest byte of a step is different for each value.
        let (wrong, step) =
            (0..=255u8).zip(STEPS).find(|(_, step)| step >> 24 == difference >> 24)?;
        if step == difference {
            *byte ^= wrong;
            return Some(bytes);
        }
        difference = (difference ^ step) << 8 | u32::from(wrong);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_wrong_byte_is_corrected_and_two_are_not() {
        let mut bytes: Vec<u8> = (0..100u8).map(|n| n.wrapping_mul(7)).collect();
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        assert_eq!(corrected(&bytes, WITH_OWN_SUM).as_ref(), Some(&bytes));
        for at in 0..bytes.len() {
            for wrong in 1..=255 {
                let mut damaged = bytes.clone();
                damaged[at] ^= wrong;
                assert_eq!(corrected(&damaged, WITH_OWN_SUM).as_ref(), Some(&bytes));
                damaged[(at + 9) % bytes.len()] ^= 1;
                assert_ne!(corrected(&damaged, WITH_OWN_SUM).as_ref(), Some(&bytes));
            }
        }
        assert_eq!(corrected(&[], 1), None);
    }
}
