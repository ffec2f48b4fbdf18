//! The descriptions of the public types of the crate `simkeep`, read from its sources.
//!
//! Classes of the Python binding and structures of the C binding mirror types of the crate. The crate
//! describes each type, field, variant and method once, and this package reads the descriptions there.

#![expect(clippy::panic, reason = "it runs while the bindings are built")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use syn::{Attribute, Expr, Fields, ImplItem, Item, ItemStruct, Lit, Meta, Type, Visibility};

/// The descriptions of all public types.
#[derive(Debug, Default)]
pub struct TypeDocs {
    /// Descriptions by type and member. The member of the type itself is the empty string.
    found: BTreeMap<(String, String), MemberDocs>,
}

/// The descriptions of a member. A field or variant takes precedence over a method.
#[derive(Debug, Default)]
struct MemberDocs {
    fields: Vec<String>,
    methods: Vec<String>,
}

impl MemberDocs {
    fn one(&self) -> Option<&str> {
        let all = if self.fields.is_empty() { &self.methods } else { &self.fields };
        match &all[..] {
            [prose] if !prose.is_empty() => Some(prose),
            _ => None,
        }
    }
}

impl TypeDocs {
    /// Reads the sources of the crate.
    ///
    /// # Panics
    ///
    /// If a file cannot be read, or is not Rust.
    pub fn read(sources: &Path) -> TypeDocs {
        let (mut prose, mut folders) = (TypeDocs::default(), vec![sources.to_owned()]);
        while let Some(folder) = folders.pop() {
            let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{folder:?}: {e}"));
            for entry in entries {
                let path = entry.unwrap_or_else(|e| panic!("{folder:?}: {e}")).path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|ending| ending == "rs") {
                    let text =
                        fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path:?}: {e}"));
                    let file = syn::parse_file(&text).unwrap_or_else(|e| panic!("{path:?}: {e}"));
                    file.items.iter().for_each(|item| prose.item(item));
                }
            }
        }
        prose
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Struct(of) if is_public(&of.vis) => {
                self.add(&of.ident, "", &of.attrs);
                if let Fields::Named(fields) = &of.fields {
                    for field in fields.named.iter().filter(|field| is_public(&field.vis)) {
                        let name = field.ident.as_ref().map(ToString::to_string);
                        self.add(&of.ident, &name.unwrap_or_default(), &field.attrs);
                    }
                }
            }
            Item::Enum(of) if is_public(&of.vis) => {
                self.add(&of.ident, "", &of.attrs);
                for variant in &of.variants {
                    self.add(&of.ident, &variant.ident.to_string(), &variant.attrs);
                }
            }
            Item::Impl(of) if of.trait_.is_none() => {
                let Type::Path(path) = &*of.self_ty else { return };
                let Some(name) = path.path.segments.last() else { return };
                for item in &of.items {
                    if let ImplItem::Fn(method) = item
                        && is_public(&method.vis)
                    {
                        let found = self.entry(&name.ident, &method.sig.ident.to_string());
                        found.methods.push(as_field(described(&method.attrs)));
                    }
                }
            }
            // A macro whose body looks like the structure that it declares.
            Item::Macro(of) => {
                if let Ok(of) = of.mac.parse_body::<ItemStruct>() {
                    self.item(&Item::Struct(of));
                }
            }
            Item::Mod(of) => {
                let items = of.content.iter().flat_map(|(_, items)| items);
                items.for_each(|item| self.item(item));
            }
            _ => {}
        }
    }

    fn entry(&mut self, of: &impl ToString, member: &str) -> &mut MemberDocs {
        self.found.entry((of.to_string(), member.to_owned())).or_default()
    }

    fn add(&mut self, of: &impl ToString, member: &str, attributes: &[Attribute]) {
        self.entry(of, member).fields.push(described(attributes));
    }

    /// Returns the description of a member; for an empty `member`, that of the type itself.
    ///
    /// # Panics
    ///
    /// If the member or its description is missing, or if several types of this name have the member.
    pub fn of(&self, of: &str, member: &str) -> &str {
        let found = self.found.get(&(of.to_owned(), member.to_owned()));
        found
            .and_then(MemberDocs::one)
            .unwrap_or_else(|| panic!("{of}.{member} is not described once"))
    }

    /// Returns the source of the macro `prose!`. `prose!(simkeep::Stats; pages)` expands to the
    /// description of a field, as a literal, and `prose!(simkeep::Stats;)` to that of the type.
    /// Ambiguous names are left out.
    pub fn to_macro(&self) -> String {
        let mut out = String::from("macro_rules! prose {\n");
        for ((name, member), found) in &self.found {
            if let Some(prose) = found.one() {
                let prose = for_python(prose);
                out += &format!("    ({name}; {member}) => {{ {prose:?} }};\n");
            }
        }
        out + "    ($module:ident :: $($of:tt)*) => { prose!($($of)*) };\n}\n"
    }
}

/// Turns the description of a method into that of a field, because bindings make fields of methods.
fn as_field(prose: String) -> String {
    let Some(rest) = prose.strip_prefix("Returns ") else { return prose };
    let mut letters = rest.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().collect::<String>() + letters.as_str())
        .unwrap_or_default()
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// The maximum width of a line for Python.
const WIDTH: usize = 100;

/// Adapts a description for Python: writes methods with a dot, omits the unit of times, and wraps the
/// lines again.
fn for_python(prose: &str) -> String {
    let paragraphs = prose.split("\n\n").map(|paragraph| {
        if paragraph.starts_with(['|', '-', '*', ' ']) {
            return paragraph.replace("::", ".");
        }
        let text = paragraph.replace('\n', " ").replace("::", ".");
        let text = text.replace(", in milliseconds since 1970", "");
        let mut lines: Vec<String> = Vec::new();
        for word in text.split(' ') {
            match lines.last_mut() {
                Some(line) if line.len() + 1 + word.len() <= WIDTH => *line += &format!(" {word}"),
                _ => lines.push(word.to_owned()),
            }
        }
        lines.join("\n")
    });
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

/// The doc comment of an item, up to the first heading or example, without links.
fn described(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| {
        let Meta::NameValue(meta) = &attribute.meta else { return None };
        let Expr::Lit(value) = &meta.value else { return None };
        let Lit::Str(line) = &value.lit else { return None };
        let line = line.value();
        let line = line.strip_prefix(' ').unwrap_or(&line).trim_end().to_owned();
        meta.path.is_ident("doc").then_some(line)
    });
    let lines = lines.take_while(|line| !line.starts_with("# ") && !line.starts_with("```"));
    let lines: Vec<_> = lines.filter(|line| !is_target(line)).collect();
    unlinked(lines.join("\n").trim_end())
}

/// Whether a line defines the target of a link: ``[`Page`]: crate::Page``.
fn is_target(line: &str) -> bool {
    line.starts_with('[') && line.contains("]: ")
}

/// Replaces links by their text: ``[`Page`](crate::Page)`` becomes `` `Page` ``.
fn unlinked(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('[') {
        out += before;
        rest = after;
        match after.split_once(']') {
            Some((shown, behind)) if behind.starts_with('(') => {
                out += shown;
                rest = behind.split_once(')').map_or(behind, |(_, behind)| behind);
            }
            Some((shown, behind)) if shown.starts_with('`') => {
                out += shown;
                rest = behind;
            }
            _ => out.push('['),
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_replaced_by_their_text() {
        let text = "See [`Page`](crate::Page), [one](two) and [`three`]; a[0] is `a`.";
        assert_eq!(unlinked(text), "See `Page`, one and `three`; a[0] is `a`.");
    }

    #[test]
    fn each_member_is_described_by_its_own_comment() {
        let source = "
            /// A pair.
            ///
            /// # Examples
            pub struct Pair {
                /// The left one,
                /// from [`Pair::new`].
                pub left: u32,
                /// Not seen from outside.
                hidden: u32,
            }
            impl Pair {
                /// The right one.
                pub fn right(&self) -> u32 { 0 }
            }
            kept! {
                /// Made by a macro.
                pub struct Kept {
                    /// How many.
                    pub count: u64,
                }
            }
        ";
        let mut prose = TypeDocs::default();
        syn::parse_file(source).unwrap().items.iter().for_each(|item| prose.item(item));
        assert_eq!(prose.of("Pair", ""), "A pair.");
        assert_eq!(prose.of("Pair", "left"), "The left one,\nfrom `Pair::new`.");
        assert_eq!(prose.of("Pair", "right"), "The right one.");
        assert_eq!(prose.of("Kept", "count"), "How many.");
        assert!(
            prose.to_macro().contains("(Pair; left) => { \"The left one, from `Pair.new`.\" }")
        );
        assert!(!prose.to_macro().contains("hidden"));
    }
}
