//! What the macros of the library declare, as cbindgen reads it, with descriptions from the crate.

/// A source with what its macros declare. `of_crate` has the files of the crate.
pub(crate) fn expanded(source: &str, of_crate: &[(String, String)]) -> String {
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
    let source = expand(&source, "code", &|inside| code(inside, of_crate));
    expand(&source, "getters", &getters)
}

/// The structure that `structure!` declares, or `chunk!`, whose fields point to columns.
fn structure(declared: &str, points: &str, of_crate: &[(String, String)]) -> String {
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
            let docs = if docs.is_empty() { prose(of, name, of_crate) } else { docs.split_off(0) };
            out += &format!("{docs}    pub {name}: {points}{type_of},\n");
        } else if line.trim_start().starts_with("///") {
            docs += &format!("{line}\n");
        }
    }
    out + "}\n"
}

/// The enumeration that `code!` declares.
fn code(declared: &str, of_crate: &[(String, String)]) -> String {
    let (mut out, mut docs) = (String::new(), String::new());
    for line in lines(declared) {
        if let Some((name, _)) = line.strip_prefix("pub enum ").and_then(|l| l.split_once(" from "))
        {
            out += &format!("{}#[repr(i32)]\npub enum {name} {{\n", docs.split_off(0));
        } else if let Some((variant, of)) = member(line).and_then(|line| line.split_once(" of ")) {
            let of = of.trim_start_matches("Some(").split(['(', ')', ' ', ',']).next().unwrap();
            let docs = match of.rsplit_once("::") {
                Some((of, name)) if docs.is_empty() => prose(last_name(of), name, of_crate),
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

/// The lines of what is declared, which is indented.
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

/// How the crate describes a field or a variant of a type, or a method of the same name.
fn prose(of: &str, name: &str, of_crate: &[(String, String)]) -> String {
    let types = ["struct", "enum"].map(|kind| format!("\npub {kind} {of} {{\n"));
    let sources = of_crate.iter().map(|(_, source)| &source[..]);
    let of_type = sources.filter_map(|source| types.iter().find_map(|of| source.split(of).nth(1)));
    let described = of_type.filter_map(|source| {
        let (members, behind) = source.split_once("\n}\n").unwrap();
        let is_member =
            ["pub @: ", "@,", "@(", "@ {"].iter().find_map(|begin| docs(members, begin, name));
        is_member.or_else(|| docs(behind, "pub fn @(&self)", name))
    });
    let found: Vec<String> = described.collect();
    let [prose] = &found[..] else { panic!("{of}.{name} is described {} times", found.len()) };
    assert!(!prose.is_empty() && !prose.contains('['), "describe {of}.{name} for C: {prose:?}");
    prose.clone()
}

/// The description before the first line that begins so, with a name in the place of `@`.
fn docs(source: &str, begin: &str, name: &str) -> Option<String> {
    let begin = format!("    {}", begin.replace('@', name));
    let lines: Vec<_> = source.lines().collect();
    let at = lines.iter().position(|line| line.starts_with(&begin))?;
    let docs = lines[..at].iter().rev().take_while(|line| line.starts_with("    ///"));
    let mut docs: Vec<_> = docs.map(|line| format!("{line}\n")).collect();
    docs.reverse();
    Some(docs.concat())
}
