//! The format of a file, by its extension.

use std::path::Path;

use simkeep_formats::escape;

use crate::exit::VerbError;

/// The extensions of known formats. Each verb writes some of them, or none.
const FORMATS: &[&str] =
    &["arrow", "avro", "cdxj", "csv", "feather", "orc", "parquet", "tsv", "xls", "xlsx", "xml"];

/// Returns the extension of a file in lower case, without the extension of its compression, and whether
/// the file is compressed.
pub(crate) fn extension(path: &Path) -> (String, bool) {
    let name = path.to_string_lossy().to_ascii_lowercase();
    let plain = [".gz", ".zst"].iter().find_map(|end| name.strip_suffix(end));
    let end = Path::new(plain.unwrap_or(&name)).extension();
    (end.unwrap_or_default().to_string_lossy().into_owned(), plain.is_some())
}

/// Refuses a file whose extension names a format that a verb does not write; `written` names the
/// formats that it writes.
pub(crate) fn refuse_others(path: &Path, written: &str) -> Result<(), VerbError> {
    let (end, is_packed) = extension(path);
    let shown = escape::escape_untruncated(&path.to_string_lossy());
    if end == "parquet" && is_packed {
        return Err(packed_parquet(&shown));
    }
    if FORMATS.contains(&end.as_str()) {
        let why = format!("{shown}: this verb does not write .{end}; it writes {written}");
        return Err(VerbError::Usage(why));
    }
    Ok(())
}

/// Returns the error for a Parquet file that is to be compressed once more.
pub(crate) fn packed_parquet(shown: &str) -> VerbError {
    VerbError::Usage(format!(
        "{shown}: a Parquet file is already compressed; leave .gz or .zst out of its name"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extension_stands_before_that_of_a_compression() {
        for (name, expected) in [
            ("a.csv", ("csv", false)),
            ("a.b/c.CSV.GZ", ("csv", true)),
            ("a.parquet.zst", ("parquet", true)),
            ("a.gz", ("", true)),
            ("a.d/b", ("", false)),
        ] {
            let (end, is_packed) = extension(Path::new(name));
            assert_eq!((end.as_str(), is_packed), expected, "{name}");
        }
    }
}
