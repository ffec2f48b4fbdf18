//! Any bytes as a web archive. The result depends neither on their compression nor on the pieces in
//! which they arrive, is valid for a store, and never takes too much memory at once.
//!
//! The first byte modulo 3 selects the compression: 0 takes the rest as the file, compressed or
//! not; 1 compresses it with gzip, 2 with zstd. That byte divided by 3, modulo 3, selects the kind:
//! 0 a file named WARC, 1 ARC, 2 a response in one sound WARC record. The second byte has the
//! sizes: of a compressed part in the low four bits, of a read in the others.

use crate::fuzz::file_delivery::FileDelivery;
use crate::fuzz::input::FuzzInput;

/// Runs one input.
pub fn run(data: &[u8]) {
    let mut input = FuzzInput(data);
    let (mode, sizes) = (input.u8(), input.u8());
    let feed = |expected| FileDelivery::new(expected, mode % 3, sizes);
    match mode / 3 % 3 {
        0 => feed(".warc").check(input.0, |_| {}),
        1 => feed(".arc").check(input.0, |_| {}),
        _ => {
            let mut items = 0;
            feed(".warc").check(&response(input.0), |_| items += 1);
            assert_eq!(items, 1, "one record is one item");
        }
    }
}

fn response(block: &[u8]) -> Vec<u8> {
    let header = format!(
        "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://a/\r\n\
         WARC-Date: 2020-01-01T00:00:00Z\r\nContent-Length: {}\r\n\r\n",
        block.len()
    );
    [header.as_bytes(), block, b"\r\n\r\n"].concat()
}
