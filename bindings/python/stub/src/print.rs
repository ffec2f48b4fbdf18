//! Writes a module as Python.

use std::fmt::Write as _;

use pyo3_introspection::model::{
    Argument, Attribute, Class, Constant, Expr, Function, Module, VariableLengthArgument,
};

use crate::shape::written;

/// Imports and aliases.
const HEADER: &str = include_str!("header.pyi");

/// The most columns of a line.
const WIDTH: usize = 110;

const INDENT: &str = "    ";

/// The stub of a module.
pub(crate) fn module(module: &Module) -> String {
    let mut stub = HEADER.to_owned();
    let attributes = module.attributes.iter().map(|of| &of.name);
    let functions = module.functions.iter().map(|of| &of.name);
    let classes = module.classes.iter().map(|of| &of.name);
    let mut names: Vec<_> = attributes.chain(functions).chain(classes).collect();
    names.sort();
    stub.push_str("\n__all__ = [\n");
    for name in names {
        let _ = writeln!(stub, "{INDENT}\"{name}\",");
    }
    stub.push_str("]\n\n");
    for attribute in &module.attributes {
        write_attribute(&mut stub, "", attribute);
    }
    for function in &module.functions {
        stub.push('\n');
        write_function(&mut stub, "", function);
    }
    for class in &module.classes {
        stub.push('\n');
        write_class(&mut stub, class);
    }
    stub
}

fn write_class(stub: &mut String, class: &Class) {
    for decorator in &class.decorators {
        let _ = writeln!(stub, "@{}", written(decorator));
    }
    let bases: Vec<_> = class.bases.iter().map(written).collect();
    let bases = if bases.is_empty() { String::new() } else { format!("({})", bases.join(", ")) };
    let is_empty = class.methods.is_empty() && class.attributes.is_empty();
    if is_empty && class.docstring.is_none() {
        let _ = writeln!(stub, "class {}{bases}: ...", class.name);
        return;
    }
    let _ = writeln!(stub, "class {}{bases}:", class.name);
    if let Some(docs) = &class.docstring {
        write_docs(stub, INDENT, docs);
        if !is_empty {
            stub.push('\n');
        }
    }
    for attribute in &class.attributes {
        write_attribute(stub, INDENT, attribute);
    }
    let mut methods = class.methods.iter().peekable();
    while let Some(method) = methods.next() {
        write_function(stub, INDENT, method);
        if method.docstring.is_some() && methods.peek().is_some() {
            stub.push('\n');
        }
    }
}

fn write_attribute(stub: &mut String, indent: &str, attribute: &Attribute) {
    let annotation = attribute.annotation.as_ref().map(written).unwrap_or_default();
    let one = format!("{indent}{}: {annotation}", attribute.name);
    match annotation.split_once('[') {
        Some((of, parts)) if one.chars().count() > WIDTH => {
            let _ = writeln!(stub, "{indent}{}: {of}[", attribute.name);
            for part in parts.trim_end_matches(']').split("], ") {
                let _ = writeln!(stub, "{indent}{INDENT}{part}],");
            }
            let _ = writeln!(stub, "{indent}]");
        }
        _ => {
            let _ = writeln!(stub, "{one}");
        }
    }
    if let Some(docs) = &attribute.docstring {
        write_docs(stub, indent, docs);
    }
}

fn write_function(stub: &mut String, indent: &str, function: &Function) {
    for decorator in &function.decorators {
        let _ = writeln!(stub, "{indent}@{}", written(decorator));
    }
    let arguments = arguments(function);
    let returns = function.returns.as_ref().map_or_else(|| "None".to_owned(), written);
    let body = if function.docstring.is_some() { "" } else { " ..." };
    let (start, end) =
        (format!("{indent}def {}(", function.name), format!(") -> {returns}:{body}"));
    let fits = |line: &str| line.chars().count() <= WIDTH;
    let all = arguments.join(", ");
    let one = format!("{start}{all}{end}");
    let inner = format!("{indent}{INDENT}{all}");
    if fits(&one) {
        let _ = writeln!(stub, "{one}");
    } else if fits(&inner) {
        let _ = writeln!(stub, "{start}\n{inner}\n{indent}{end}");
    } else {
        let _ = writeln!(stub, "{start}");
        for argument in arguments {
            let _ = writeln!(stub, "{indent}{INDENT}{argument},");
        }
        let _ = writeln!(stub, "{indent}{end}");
    }
    if let Some(docs) = &function.docstring {
        write_docs(stub, &format!("{indent}{INDENT}"), docs);
    }
}

fn arguments(function: &Function) -> Vec<String> {
    let of = &function.arguments;
    let mut all: Vec<_> = of.positional_only_arguments.iter().map(argument).collect();
    // PyO3 declares `self` as positional-only. A stub does not.
    let is_receiver = |argument: &Argument| argument.name == "self" || argument.name == "cls";
    if of.positional_only_arguments.iter().any(|argument| !is_receiver(argument)) {
        all.push("/".to_owned());
    }
    all.extend(of.arguments.iter().map(argument));
    if let Some(variable) = &of.vararg {
        all.push(format!("*{}", variable_argument(variable)));
    } else if !of.keyword_only_arguments.is_empty() {
        all.push("*".to_owned());
    }
    all.extend(of.keyword_only_arguments.iter().map(argument));
    if let Some(variable) = &of.kwarg {
        all.push(format!("**{}", variable_argument(variable)));
    }
    all
}

fn argument(argument: &Argument) -> String {
    let annotation = argument.annotation.as_ref().map(written);
    let default = argument.default_value.as_ref().map(value);
    match (annotation, default) {
        (None, None) => argument.name.clone(),
        (None, Some(default)) => format!("{}={default}", argument.name),
        (Some(annotation), None) => format!("{}: {annotation}", argument.name),
        (Some(annotation), Some(default)) => {
            format!("{}: {annotation} = {default}", argument.name)
        }
    }
}

fn variable_argument(argument: &VariableLengthArgument) -> String {
    match &argument.annotation {
        Some(annotation) => format!("{}: {}", argument.name, written(annotation)),
        None => argument.name.clone(),
    }
}

fn value(value: &Expr) -> String {
    match value {
        Expr::Constant { value: Constant::Str(text) } => format!("{text:?}"),
        other => written(other),
    }
}

fn write_docs(stub: &mut String, indent: &str, docs: &str) {
    let docs = docs.replace('\\', "\\\\").replace("\"\"\"", "\\\"\"\"");
    let mut lines = docs.trim_end().lines();
    let first = lines.next().unwrap_or_default();
    let width = indent.len() + first.chars().count() + 2 * "\"\"\"".len();
    // A quote at the end would end the string.
    let is_long = docs.trim_end().contains('\n') || width > WIDTH || first.ends_with('"');
    let _ = write!(stub, "{indent}\"\"\"{first}");
    for line in lines {
        stub.push('\n');
        if !line.is_empty() {
            let _ = write!(stub, "{indent}{line}");
        }
    }
    if is_long {
        let _ = write!(stub, "\n{indent}");
    }
    stub.push_str("\"\"\"\n");
}
