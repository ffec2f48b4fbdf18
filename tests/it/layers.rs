//! The modules of the library depend on each other in one direction: that of the table in
//! ARCHITECTURE.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use simkeep_testing::in_repository;

/// A module, such as `engine::write`, as a path of names. The path of `lib.rs` is empty.
type ModulePath = Vec<String>;

/// The modules in the table of ARCHITECTURE.md, from the bottom up. Modules in one row may use each
/// other.
fn declared(architecture: &str) -> BTreeMap<String, usize> {
    let table = architecture.split("\n## Modules\n").nth(1).expect("there is a section on modules");
    let rows = table.lines().skip_while(|line| !line.starts_with("| `"));
    let rows = rows.map_while(|line| line.strip_prefix("| `"));
    let names = rows.enumerate().flat_map(|(row, line)| {
        let cell = line.split('|').next().unwrap_or_default();
        // The cell is `one`, `two`; its first backtick has been removed.
        cell.split('`').step_by(2).map(move |name| (name.trim().to_owned(), row))
    });
    names.filter(|(name, _)| !name.is_empty()).collect()
}

/// All source files of the library except tests: their modules, and their code without comments and
/// strings.
fn sources(folder: &Path) -> BTreeMap<ModulePath, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![(folder.to_owned(), ModulePath::new())];
    while let Some((folder, module)) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let own = || [&module[..], std::slice::from_ref(&name)].concat();
            if ["tests", "test"].contains(&&name[..]) || name.ends_with("_test") {
                continue;
            }
            if path.is_dir() {
                folders.push((path, own()));
            } else if path.extension().is_some_and(|end| end == "rs") {
                let module =
                    if ["mod", "lib"].contains(&&name[..]) { module.clone() } else { own() };
                found.insert(module, code(&fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found
}

/// The code of a file, without its tests, comments, strings and characters.
fn code(text: &str) -> String {
    let plain = without_literals(text);
    let mut code = String::new();
    let mut lines = plain.lines();
    while let Some(line) = lines.next() {
        if !(line.starts_with("#[cfg(test") || line.starts_with("#[cfg(all(test")) {
            code.push_str(line);
            code.push('\n');
            continue;
        }
        // Items that are only compiled for tests: to the end of a statement, or to the brace that closes
        // a block.
        let mut item = lines.by_ref().skip_while(|line| line.starts_with("#["));
        if item.next().is_some_and(|line| !line.ends_with(';') && !line.ends_with('}')) {
            item.find(|line| line.starts_with(['}', ')']) || line.starts_with("};"));
        }
    }
    code
}

/// The text of code without comments, strings and characters. Lines are kept.
fn without_literals(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(c) = rest.chars().next() {
        let end = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("r#\"") {
            rest.find("\"#").map_or(rest.len(), |at| at + 2)
        } else if c == '"' {
            let mut escaped = false;
            let closes = rest.char_indices().skip(1).find(|(_, c)| {
                let closes = *c == '"' && !escaped;
                escaped = *c == '\\' && !escaped;
                closes
            });
            closes.map_or(rest.len(), |(at, _)| at + 1)
        } else if rest.starts_with("'\"'") {
            3
        } else if rest.starts_with("'\\") {
            rest.get(2..).and_then(|rest| rest.get(1..)?.find('\'')).map_or(rest.len(), |at| at + 4)
        } else {
            out.push(c);
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
            continue;
        };
        let skipped = rest.get(..end).unwrap_or_default();
        out.extend(skipped.matches('\n'));
        rest = rest.get(end..).unwrap_or_default();
    }
    out
}

/// The paths that begin with `crate` or `super`. Braces of a `use` are expanded into single paths.
fn paths(code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let code = &code.replace("self::super::", "super::");
    for (at, begin) in ["crate::", "super::"].iter().flat_map(|word| code.match_indices(word)) {
        let before = code.get(..at).and_then(|text| text.chars().next_back());
        let goes_on = before.is_some_and(|c| c.is_alphanumeric() || "_:".contains(c));
        if !goes_on {
            let first = begin.trim_end_matches(':').to_owned();
            let rest = code.get(at + begin.len()..).unwrap_or_default();
            expand(&[first], rest, &mut found);
        }
    }
    found
}

/// Adds the paths that begin with `before` and continue with `rest`. Returns the text after them.
fn expand<'c>(before: &[String], rest: &'c str, found: &mut Vec<Vec<String>>) -> &'c str {
    let rest = rest.trim_start();
    if let Some(mut inside) = rest.strip_prefix('{') {
        loop {
            inside = expand(before, inside, found).trim_start();
            match inside.strip_prefix(',') {
                Some(next) if !next.trim_start().starts_with('}') => inside = next,
                _ => break,
            }
        }
        let inside = inside.trim_start_matches([',', ' ', '\n']);
        return inside.strip_prefix('}').unwrap_or(inside);
    }
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    let (name, rest) = rest.split_at(end);
    let path = [before, &[name.to_owned()]].concat();
    if let Some(rest) = rest.strip_prefix("::") {
        return expand(&path, rest, found);
    }
    found.push(path);
    // A name defined in this file.
    let alias = rest
        .strip_prefix(" as ")
        .map(|rest| rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_'));
    alias.unwrap_or(rest)
}

/// Resolves a path used in module `of` to a module. Names after the module are dropped.
fn resolve(path: &[String], of: &ModulePath, all: &BTreeMap<ModulePath, String>) -> ModulePath {
    let (mut at, mut rest) = (of.clone(), path);
    if let Some(("crate", after)) = rest.split_first().map(|(word, after)| (&word[..], after)) {
        (at, rest) = (ModulePath::new(), after);
    }
    while let Some(("super", after)) = rest.split_first().map(|(word, after)| (&word[..], after)) {
        at.pop();
        rest = after;
    }
    for name in rest {
        let next = [&at[..], std::slice::from_ref(name)].concat();
        if !all.contains_key(&next) {
            break;
        }
        at = next;
    }
    at
}

/// The faults of the modules: upward uses, uses of re-exports of lib.rs, and cycles between folders.
fn faults(order: &BTreeMap<String, usize>, all: &BTreeMap<ModulePath, String>) -> Vec<String> {
    let mut faults = Vec::new();
    let mut uses: BTreeMap<ModulePath, BTreeSet<ModulePath>> = BTreeMap::new();
    for (module, code) in all {
        let Some(own) = module.first() else { continue };
        let Some(row) = order.get(own) else {
            faults.push(format!("{own} is not in the table"));
            continue;
        };
        for path in paths(code) {
            let used = resolve(&path, module, all);
            let shown = format!("{} uses {}", module.join("::"), path.join("::"));
            match used.first() {
                None => faults.push(format!("{shown}, which is none of a module")),
                Some(other) if order.get(other).is_none_or(|other| other > row) => {
                    faults.push(format!("{shown}, which stands above it"));
                }
                Some(_) => {
                    uses.entry(module.clone()).or_default().insert(used);
                }
            }
        }
    }
    faults.extend(cycles(&uses, all));
    faults
}

/// Folders that use each other and have the same parent folder.
fn cycles(
    uses: &BTreeMap<ModulePath, BTreeSet<ModulePath>>,
    all: &BTreeMap<ModulePath, String>,
) -> Vec<String> {
    let is_folder = |module: &[String]| {
        all.keys().any(|other| other.len() > module.len() && other.starts_with(module))
    };
    let mut edges: BTreeMap<&[String], BTreeSet<&[String]>> = BTreeMap::new();
    for (user, used) in uses.iter().flat_map(|(user, all)| all.iter().map(move |used| (user, used)))
    {
        let common = user.iter().zip(used).take_while(|(a, b)| a == b).count();
        if let (Some(user), Some(used)) = (user.get(..=common), used.get(..=common))
            && is_folder(user)
            && is_folder(used)
        {
            edges.entry(user).or_default().insert(used);
        }
    }
    // Whether a folder reaches itself.
    let reach = |from: &[String]| {
        let (mut reached, mut left) = (BTreeSet::new(), vec![from]);
        while let Some(next) = left.pop() {
            for &used in edges.get(next).into_iter().flatten() {
                if reached.insert(used) {
                    left.push(used);
                }
            }
        }
        reached.contains(from)
    };
    let in_cycles = edges.keys().filter(|&&folder| reach(folder));
    in_cycles.map(|folder| format!("the folder {} is in a cycle", folder.join("::"))).collect()
}

fn of_library() -> (BTreeMap<String, usize>, BTreeMap<ModulePath, String>) {
    let order = declared(&fs::read_to_string(in_repository("ARCHITECTURE.md")).unwrap());
    (order, sources(&in_repository("src")))
}

#[test]
fn modules_use_only_modules_below_them() {
    let (order, all) = of_library();
    assert!(order.len() > 15 && all.len() > 300, "{} {}", order.len(), all.len());
    let folders: BTreeSet<_> = all.keys().filter_map(|module| module.first()).collect();
    let unknown: Vec<_> = order.keys().filter(|name| !folders.contains(name)).collect();
    assert!(unknown.is_empty(), "the table names {unknown:?}, which are no modules");
    let faults = faults(&order, &all);
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn upward_import_is_detected() {
    for (module, code, expected) in [
        ("page", "use crate::engine::view::View;", "which stands above it"),
        ("search", "use crate::{\n    cpu,\n    engine::view::{View as V},\n};", "engine"),
        ("page", "fn f() -> crate::Error {}", "none of a module"),
        ("error", "fn f(of: super::engine::view::View) {}", "which stands above it"),
    ] {
        let (order, mut all) = of_library();
        all.entry(vec![module.to_owned()]).or_default().push_str(code);
        let faults = faults(&order, &all);
        assert!(faults.len() == 1 && faults[0].contains(expected), "{code}: {faults:?}");
    }
}

#[test]
fn cycle_between_folders_is_detected() {
    let (order, mut all) = of_library();
    let search = ["engine", "search", "many"].map(str::to_owned).to_vec();
    let code = all.get_mut(&search).expect("this module is there");
    code.push_str("use super::super::write::nearby::wanted;\n");
    let faults = faults(&order, &all);
    let expected = ["search", "write"].map(|of| format!("the folder engine::{of} is in a cycle"));
    assert_eq!(faults, expected);
}

#[test]
fn paths_are_found_everywhere_in_code() {
    let code = code(
        "use crate::a::{self, b::{C, d as e}, f};\n// crate::not::this\n\
         #[cfg(test)]\nmod tests;\n#[cfg(test)]\nmod more {\n    use crate::no;\n}\n\
         let x = super::g::h(\"crate::no \\\" // crate::no\", '\"', '\\'', self::super::i::j);",
    );
    let found: Vec<String> = paths(&code).iter().map(|path| path.join("::")).collect();
    let expected = [
        "crate::a::self",
        "crate::a::b::C",
        "crate::a::b::d",
        "crate::a::f",
        "super::g::h",
        "super::i::j",
    ];
    assert_eq!(found, expected);
}
