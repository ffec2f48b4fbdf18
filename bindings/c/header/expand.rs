//! Expands the macros of the library for cbindgen, with descriptions from the crate.

use simkeep_prose::TypeDocs;

/// Replaces the macros of a source by their declarations.
pub(crate) fn expanded(source: &str, prose: &TypeDocs) -> String {
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
    let source = expand(source, "structure", &|inside| structure(inside, "", prose));
    let source = expand(&source, "chunk", &|inside| structure(inside, "*const ", prose));
    let source = expand(&source, "code", &|inside| code(inside, prose));
    let source = expand(&source, "columns", &columns);
    expand(&source, "getters", &getters)
}

/// The structure that `structure!` or `chunk!` declares. Fields of a chunk point to columns.
fn structure(declared: &str, points: &str, prose: &TypeDocs) -> String {
    let (mut out, mut docs, mut of) = (String::new(), String::new(), "");
    for line in lines(declared) {
        if let Some(head) = line.strip_prefix("pub struct ") {
            let (name, from) = head.split_once(", up to ").unwrap();
            let (_, made_from) = from.split_once(": ").unwrap();
            of = last_name(made_from.split([',', ' ']).next().unwrap());
            out += &format!("{}#[repr(C)]\npub struct {name} {{\n", docs.split_off(0));
            if !points.is_empty() {
                out += "    /// How many there are.\n    pub count: usize,\n";
            }
        } else if let Some((name, rest)) = member(line).and_then(|line| line.split_once(": ")) {
            let type_of = rest.split(" = ").next().unwrap().trim_end_matches(',');
            let docs = if docs.is_empty() { described(of, name, prose) } else { docs.split_off(0) };
            out += &format!("{docs}    pub {name}: {points}{type_of},\n");
        } else if line.trim_start().starts_with("///") {
            docs += &format!("{line}\n");
        }
    }
    out + "}\n"
}

/// The enumeration that `code!` declares.
fn code(declared: &str, prose: &TypeDocs) -> String {
    let (mut out, mut docs) = (String::new(), String::new());
    for line in lines(declared) {
        if let Some((name, _)) = line.strip_prefix("pub enum ").and_then(|l| l.split_once(" from "))
        {
            out += &format!("{}#[repr(i32)]\npub enum {name} {{\n", docs.split_off(0));
        } else if let Some((variant, of)) = member(line).and_then(|line| line.split_once(" of ")) {
            let of = of.trim_start_matches("Some(").split(['(', ')', ' ', ',']).next().unwrap();
            let docs = match of.rsplit_once("::") {
                Some((of, name)) if docs.is_empty() => described(last_name(of), name, prose),
                _ => docs.split_off(0),
            };
            out += &format!("{docs}    {variant},\n");
        } else if line.trim_start().starts_with("///") {
            docs += &format!("{line}\n");
        }
    }
    out + "}\n"
}

/// The functions that `getters!` declares, without their bodies.
fn getters(declared: &str) -> String {
    let (of, functions) = declared.split_once(";\n").unwrap();
    let (handle, of) = of.trim().split_once(": ").unwrap();
    let mut out = String::new();
    for line in lines(functions) {
        let function = line.strip_prefix("fn ").and_then(|line| line.split_once(" -> "));
        if let Some((name, rest)) = function {
            let returned = rest.split(" =").next().unwrap();
            let of = format!("{name}({handle}: *const {of}) -> {returned}");
            out += &format!("#[unsafe(no_mangle)]\npub extern \"C\" fn {of} {{}}\n");
        } else if line.starts_with("///") {
            out += &format!("{line}\n");
        }
    }
    out
}

/// The opaque structure that `columns!` declares, and the functions that return its columns.
fn columns(declared: &str) -> String {
    let (mut out, mut docs, mut handle) = (String::new(), String::new(), String::new());
    for line in lines(declared).map(str::trim_start) {
        if let Some((name, rest)) =
            line.strip_prefix("pub struct ").and_then(|line| line.split_once(", "))
        {
            out += &format!("{}pub struct {name} {{ columns: u8 }}\n", docs.split_off(0));
            handle = format!("{}: *const {name}", rest.split(' ').next().unwrap());
        } else if let Some((name, rest)) =
            line.strip_prefix("fn ").and_then(|line| line.split_once(" -> "))
        {
            let (_, type_of) = rest.split(" =").next().unwrap().split_once(": ").unwrap();
            let of = format!("{name}({handle}) -> *const {type_of}");
            out += &format!("{}#[unsafe(no_mangle)]\n", docs.split_off(0));
            out += &format!("pub extern \"C\" fn {of} {{}}\n");
        } else if line.starts_with("///") {
            docs += &format!("{line}\n");
        }
    }
    out
}

/// The indented lines of a declaration.
fn lines(declared: &str) -> impl Iterator<Item = &str> {
    declared.lines().map(|line| line.strip_prefix("    ").unwrap_or(line))
}

/// The line of a field or a variant.
fn member(line: &str) -> Option<&str> {
    line.strip_prefix("    ").filter(|of| of.starts_with(char::is_alphabetic))
}

/// The last name of the path of a type.
fn last_name(path: &str) -> &str {
    path.rsplit([':', '&']).next().unwrap()
}

/// The crate's description of a field, a variant or a method, as lines of a comment.
fn described(of: &str, name: &str, prose: &TypeDocs) -> String {
    prose.of(of, name).lines().map(|line| format!("    /// {line}\n")).collect()
}
