//! The header is what the source says, and the source keeps to the rules of this library.

#![cfg(test)]

use std::fs;
use std::path::{Path, PathBuf};

fn here(path: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(path)
}

/// The header that the source makes, whose structures are expanded, since cbindgen expands no macros.
fn header() -> String {
    let (copy, of_crate) = (tempfile::tempdir().unwrap(), sources("../../src"));
    for (name, source) in sources("src") {
        let path = copy.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, expanded(&source, &of_crate)).unwrap();
    }
    let config = cbindgen::Config::from_file(here("cbindgen.toml")).unwrap();
    let bindings = cbindgen::Builder::new().with_src(copy.path().join("lib.rs"));
    let bindings = bindings.with_config(config);
    let mut bytes = Vec::new();
    bindings.generate().unwrap().write(&mut bytes);
    String::from_utf8(bytes).unwrap()
}

/// A source with what its macros declare.
fn expanded(source: &str, of_crate: &[(String, String)]) -> String {
    let expand = |source: &str, name: &str, by: &dyn Fn(&str) -> String| {
        let begin = format!("\n{name}! {{\n");
        let mut parts = source.split(&begin);
        let mut out = parts.next().unwrap().to_owned();
        for part in parts {
            let (inside, behind) = part.split_once("\n}\n").unwrap();
            out += &format!("\n{}{behind}", by(inside));
        }
        out
    };
    let source = expand(source, "structure", &|inside| structure(inside, "", of_crate));
    let source = expand(&source, "chunk", &|inside| structure(inside, "*const ", of_crate));
    expand(&source, "getters", &getters)
}

/// The functions that `getters!` declares, without their bodies.
fn getters(declared: &str) -> String {
    let (of, functions) = declared.split_once(";\n").unwrap();
    let mut out = String::new();
    for line in functions.lines().map(str::trim_start) {
        if line.starts_with("///") {
            out += &format!("{line}\n");
        } else if let Some((name, rest)) =
            line.strip_prefix("fn ").and_then(|f| f.split_once(" -> "))
        {
            let ((handle, of), returned) =
                (of.trim().split_once(": ").unwrap(), rest.split(" =").next());
            let of = format!("{name}({handle}: *const {of}) -> {}", returned.unwrap());
            out += &format!("#[unsafe(no_mangle)]\npub extern \"C\" fn {of} {{}}\n");
        }
    }
    out
}

/// The structure that `structure!` declares, or `chunk!`, whose fields point to columns.
fn structure(declared: &str, points: &str, of_crate: &[(String, String)]) -> String {
    let (mut out, mut docs, mut of) = (String::new(), String::new(), "");
    for line in declared.lines().map(|line| line.strip_prefix("    ").unwrap_or(line)) {
        let field = line.strip_prefix("    ").filter(|of| of.starts_with(char::is_alphabetic));
        if let Some(head) = line.strip_prefix("pub struct ") {
            let (name, from) = head.split_once(", up to ").unwrap();
            let (_, made_from) = from.split_once(": ").unwrap();
            of = made_from.split([',', ' ']).next().unwrap().rsplit([':', '&']).next().unwrap();
            out += &format!("{}#[repr(C)]\npub struct {name} {{\n", docs.split_off(0));
            if !points.is_empty() {
                out += "    /// How many there are.\n    pub count: usize,\n";
            }
        } else if let Some((name, rest)) = field.and_then(|field| field.split_once(": ")) {
            let type_of = rest.split(" = ").next().unwrap().trim_end_matches(',');
            let docs = if docs.is_empty() { prose(of, name, of_crate) } else { docs.split_off(0) };
            out += &format!("{docs}    pub {name}: {points}{type_of},\n");
        } else if line.trim_start().starts_with("///") {
            docs += &format!("{line}\n");
        }
    }
    out + "}\n"
}

/// How the crate describes a field of a type, or a method of the same name.
fn prose(of: &str, field: &str, of_crate: &[(String, String)]) -> String {
    let (is_type, is_field) = (format!("\npub struct {of} {{\n"), format!("    pub {field}: "));
    let is_method = format!("    pub fn {field}(&self)");
    let of_type = of_crate.iter().filter_map(|(_, source)| source.split_once(&is_type));
    let lines = of_type.flat_map(|(_, source)| {
        let (fields, behind) = source.split_once("\n}\n").unwrap();
        let fields: Vec<_> = fields.lines().collect();
        let behind: Vec<_> = behind.lines().collect();
        let before = |lines: &[&str], at: &str| {
            let at = lines.iter().position(|line| line.starts_with(at))?;
            let is_doc = |line: &&&str| line.starts_with("    ///");
            let docs: Vec<_> = lines[..at].iter().rev().take_while(is_doc).copied().collect();
            Some(docs.into_iter().rev().map(|line| format!("{line}\n")).collect::<String>())
        };
        before(&fields, &is_field).or_else(|| before(&behind, &is_method))
    });
    let found: Vec<String> = lines.collect();
    let [prose] = &found[..] else { panic!("{of}.{field} is described {} times", found.len()) };
    assert!(!prose.is_empty() && !prose.contains('['), "describe {of}.{field} for C: {prose:?}");
    prose.clone()
}

#[test]
fn the_header_is_what_the_source_makes() {
    let kept = fs::read_to_string(here("include/simkeep.h")).unwrap_or_default();
    let how = "cargo test -p simkeep-header make_header -- --ignored";
    assert!(kept == header(), "include/simkeep.h is out of date; make it anew: {how}");
}

#[test]
#[ignore = "it writes include/simkeep.h"]
fn make_header() {
    fs::write(here("include/simkeep.h"), header()).unwrap();
}

/// The files of a folder of source, by their paths in it.
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
fn unsafe_code_is_in_abi_alone() {
    let is_other = |name: &str| name != "abi.rs" && !name.starts_with("abi/");
    for (name, source) in sources("src").iter().filter(|(name, _)| is_other(name)) {
        let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
        let rest: String = code.filter(|line| !line.contains("unsafe_code")).collect();
        let rest = rest.replace("#[unsafe(no_mangle)]", "");
        assert!(!rest.contains("unsafe"), "{name} has something unsafe; its place is abi");
    }
}

#[test]
fn each_function_goes_through_a_call_by_its_own_name() {
    for (name, source) in &sources("src") {
        let functions: Vec<_> =
            source.split("#[unsafe(no_mangle)]\npub extern \"C\" fn ").collect();
        for function in functions.iter().skip(1) {
            let called = function.split('(').next().unwrap();
            let named = format!("\"{called}\"");
            assert!(function.contains(&named), "{name}: {called} does not name itself");
        }
    }
}

/// The folders from the bottom up. What is in none of them is below all.
const FOLDERS: &[&str] = &["open", "write", "read", "cluster", "schedule", "maintain"];

#[test]
fn folders_use_those_below_them() {
    let is_test = |name: &str| name.starts_with("twin") || name == "cost.rs";
    for (name, source) in sources("src").iter().filter(|(name, _)| !is_test(name)) {
        let own = FOLDERS.iter().position(|folder| name.starts_with(&format!("{folder}/")));
        for above in FOLDERS.iter().skip(own.map_or(0, |own| own + 1)) {
            assert!(!source.contains(&format!("crate::{above}::")), "{name} uses {above}");
        }
    }
}
