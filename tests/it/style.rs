//! Style of the sources: doc comments that stand alone, and comment lines within the limit.

use std::fs;
use std::path::PathBuf;

use simkeep_testing::in_repository;

const COMMENT_COLUMNS_MAX: usize = 105;

/// All source files of the repository.
fn files() -> Vec<PathBuf> {
    let folders = ["src", "crates", "bindings", "tests", "examples", "fuzz", "benches"];
    let mut folders: Vec<PathBuf> = folders.iter().map(|folder| in_repository(folder)).collect();
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                files.push(path);
            }
        }
    }
    assert!(files.len() > 400, "{}", files.len());
    files
}

#[test]
fn no_doc_comment_refers_to_the_one_before() {
    for path in files() {
        let text = fs::read_to_string(&path).unwrap();
        let mut before = "";
        for (number, line) in text.lines().map(str::trim_start).enumerate() {
            let comment = ["/// ", "//! "].iter().find_map(|begin| line.strip_prefix(begin));
            // At the beginning of a comment, not on its later lines.
            let begins = !before.starts_with("///") && !before.starts_with("//!");
            let leans = ["The same", "Like ", "As `"]
                .iter()
                .find(|word| begins && comment.is_some_and(|comment| comment.starts_with(**word)));
            assert_eq!(leans, None, "{}:{}", path.display(), number + 1);
            before = line;
        }
    }
}

#[test]
fn comments_are_within_the_column_limit() {
    for path in files() {
        let text = fs::read_to_string(&path).unwrap();
        for (number, line) in text.lines().enumerate() {
            let comment = line.trim_start().starts_with("//");
            // Code in the documentation has its own lines.
            let wide = line.chars().count() > COMMENT_COLUMNS_MAX && !line.contains('"');
            assert!(!(comment && wide), "{}:{}", path.display(), number + 1);
        }
    }
}
