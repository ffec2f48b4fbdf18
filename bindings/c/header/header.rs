//! Tests that the header matches the source, and that the source keeps the rules of this library.

#![cfg(test)]

mod expand;
mod sections;

use std::fs;
use std::path::{Path, PathBuf};

use simkeep_prose::TypeDocs;

fn here(path: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(path)
}

/// Generates the header from the source. Expands its macros first, because cbindgen does not.
fn header() -> String {
    let (copy, prose) = (tempfile::tempdir().unwrap(), TypeDocs::read(&here("../../src")));
    let mut expanded = sources("src");
    for (name, source) in &mut expanded {
        *source = expand::expanded(source, &prose);
        let path = copy.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, source).unwrap();
    }
    let config = cbindgen::Config::from_file(here("cbindgen.toml")).unwrap();
    let bindings = cbindgen::Builder::new().with_src(copy.path().join("lib.rs"));
    let bindings = bindings.with_config(config);
    let mut bytes = Vec::new();
    bindings.generate().unwrap().write(&mut bytes);
    let example = fs::read_to_string(here("examples/first.c")).unwrap();
    sections::with_sections(&String::from_utf8(bytes).unwrap(), &expanded, &example)
}

#[test]
fn header_is_up_to_date() {
    let kept = fs::read_to_string(here("include/simkeep.h")).unwrap_or_default();
    let how = "cargo test -p simkeep-header make_header -- --ignored";
    assert!(kept == header(), "include/simkeep.h is out of date; regenerate it: {how}");
}

#[test]
#[ignore = "it writes include/simkeep.h"]
fn make_header() {
    fs::write(here("include/simkeep.h"), header()).unwrap();
}

/// The source files of a folder, by their paths in it.
fn sources(of: &str) -> Vec<(String, String)> {
    let (mut folders, mut files) = (vec![here(of)], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(here(of)).unwrap().to_str().unwrap().to_owned();
            files.push((name, fs::read_to_string(&path).unwrap()));
        }
    }
    files
}

#[test]
fn only_abi_contains_unsafe_code() {
    let is_other = |name: &str| name != "abi.rs" && !name.starts_with("abi/");
    for (name, source) in sources("src").iter().filter(|(name, _)| is_other(name)) {
        let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
        let rest: String = code.filter(|line| !line.contains("unsafe_code")).collect();
        let rest = rest.replace("#[unsafe(no_mangle)]", "");
        assert!(!rest.contains("unsafe"), "{name} contains unsafe code, which belongs in abi");
    }
}

#[test]
fn each_function_passes_its_own_name() {
    for (name, source) in &sources("src") {
        let functions: Vec<_> =
            source.split("#[unsafe(no_mangle)]\npub extern \"C\" fn ").collect();
        for function in functions.iter().skip(1) {
            let called = function.split('(').next().unwrap();
            let named = format!("\"{called}\"");
            assert!(function.contains(&named), "{name}: {called} does not pass its own name");
        }
    }
}

/// The folders from the lowest layer up. Files outside of them are below all.
const FOLDERS: &[&str] = &["open", "write", "read", "cluster", "schedule", "maintain"];

#[test]
fn folders_use_only_lower_folders() {
    let is_test = |name: &str| name.starts_with("twin") || name == "cost.rs";
    for (name, source) in sources("src").iter().filter(|(name, _)| !is_test(name)) {
        let own = FOLDERS.iter().position(|folder| name.starts_with(&format!("{folder}/")));
        for above in FOLDERS.iter().skip(own.map_or(0, |own| own + 1)) {
            assert!(!source.contains(&format!("crate::{above}::")), "{name} uses {above}");
        }
    }
}
