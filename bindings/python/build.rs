//! Generates a macro with the crate's descriptions, for the classes that mirror its types.

#![expect(clippy::unwrap_used, reason = "a build that cannot do it shall fail")]

use std::path::Path;
use std::{env, fs};

use simkeep_prose::TypeDocs;

fn main() {
    let sources = Path::new(&env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../../src");
    println!("cargo::rerun-if-changed={}", sources.display());
    let macros = Path::new(&env::var_os("OUT_DIR").unwrap()).join("prose.rs");
    fs::write(macros, TypeDocs::read(&sources).to_macro()).unwrap();
}
