//! Files and folders of tests.

use std::fs;
use std::path::Path;

/// Copies a file, or a folder with all its contents, such as a store that nobody writes to. A
/// missing source is ignored.
pub fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else if from.exists() {
        fs::copy(from, to).unwrap();
    }
}
