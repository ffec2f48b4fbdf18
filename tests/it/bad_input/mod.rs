//! Invalid input is reported clearly, before anything is done; everything readable is still read.

mod files;
mod observations;
mod places;
mod read_only;
mod room;

use std::ffi::OsString;
use std::fs;
use std::path::Path;

fn listing(dir: &Path) -> Vec<(OsString, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            files.extend(listing(&entry.path()));
            files.push((entry.file_name(), Vec::new()));
        } else {
            files.push((entry.path().into_os_string(), fs::read(entry.path()).unwrap()));
        }
    }
    files.sort();
    files
}
