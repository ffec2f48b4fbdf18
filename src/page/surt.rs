//! SURT keys.
/// Appends the key of `url` to `out`.
pub(crate) fn key(_url: &str, _out: &mut Vec<u8>) {
    todo!()
}
