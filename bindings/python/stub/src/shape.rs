//! Converts the module that PyO3 describes into the module that the stub declares.
//!
//! Adds overloads, generic bases and the names of patterns, which PyO3 cannot express. All types are
//! names afterwards: an annotation in a signature is a quoted string before, and bare then.

use pyo3_introspection::model::{
    Argument, Arguments, Attribute, Class, Constant, Expr, Function, Module, Operator,
};

/// Bases with type arguments. A class of PyO3 has plain bases only.
const BASES: &[(&str, &str)] = &[
    ("Stream", "Generic[_T_co]"),
    ("Diff", "Stream[_T_co]"),
    ("AliasSites", "Stream[AliasSite]"),
    ("Operations", "Stream[LoggedOperation]"),
];

/// Methods that require exactly one of two arguments: they have one overload for each argument.
const ONE_OF: &[(&str, &str, [&str; 2])] = &[
    ("Store", "forget", ["url", "under"]),
    ("Store", "set_property", ["weight", "class_"]),
    ("Store", "purge", ["url", "under"]),
];

/// Methods that `object` declares the same way.
const OF_OBJECT: &[&str] = &["__ne__", "__reduce__", "__repr__", "__setstate__", "__str__"];

/// Methods that values do not declare. A type checker then reports a comparison of a value with another
/// type, which is always false.
const OF_VALUES: &[&str] = &["__eq__", "__hash__"];

/// Methods that return an instance of the class they are called on.
const OF_SELF: &[&str] = &["__enter__", "__iter__", "__new__"];

/// The attribute with the names of the fields, for patterns.
const MATCH_ARGS: &str = "__match_args__";

const NEW: &str = "__new__";

/// Builtin types that a property may hide by its name.
const BUILTINS: &[&str] =
    &["bool", "bytes", "dict", "float", "int", "list", "object", "str", "tuple"];

/// Converts a module in place.
pub(crate) fn shape(module: &mut Module) {
    module.attributes.iter_mut().for_each(typed_attribute);
    module.functions.iter_mut().for_each(typed_function);
    module.classes.iter_mut().for_each(shape_class);
}

fn shape_class(class: &mut Class) {
    class.attributes.iter_mut().for_each(typed_attribute);
    let is_value = is_value(class);
    class.methods.retain(|method| {
        let name = method.name.as_str();
        !(OF_OBJECT.contains(&name) || (is_value && OF_VALUES.contains(&name)))
    });
    class.methods.iter_mut().for_each(typed_function);
    if let Some((_, base)) = BASES.iter().find(|(of, _)| *of == class.name) {
        class.bases = vec![name(*base)];
        if base.starts_with("Generic") {
            class.methods.push(class_getitem());
        }
    }
    for method in &mut class.methods {
        if method.name == NEW {
            method
                .arguments
                .positional_only_arguments
                .iter_mut()
                .for_each(|of| of.name = "cls".into());
        }
        let is_own = method.returns.as_ref().is_some_and(|of| written(of) == class.name);
        if is_own && OF_SELF.contains(&method.name.as_str()) {
            method.returns = Some(name("Self"));
        }
    }
    declare_fields(class);
    sort(class);
    class.methods = class.methods.iter().flat_map(|of| overloads(&class.name, of)).collect();
    qualify(class);
}

/// The method that PyO3 adds to a generic class and does not describe.
fn class_getitem() -> Function {
    let argument = |of: &str, annotation: Option<Expr>| Argument {
        name: of.to_owned(),
        default_value: None,
        annotation,
    };
    Function {
        name: "__class_getitem__".to_owned(),
        decorators: vec![name("classmethod")],
        arguments: Arguments {
            positional_only_arguments: vec![argument("cls", None)],
            arguments: vec![argument("key", Some(name("Any")))],
            vararg: None,
            keyword_only_arguments: Vec::new(),
            kwarg: None,
        },
        returns: Some(name("GenericAlias")),
        is_async: false,
        docstring: None,
    }
}

/// Sorts methods: the constructor, then properties with the fields first, then other methods.
fn sort(class: &mut Class) {
    let names: Vec<String> = fields(class).map(|argument| argument.name.clone()).collect();
    let place = |name: &str| names.iter().position(|of| of == name).unwrap_or(usize::MAX);
    class.methods.sort_by_key(|of| (of.name != NEW, !is_property(of), place(&of.name)));
}

/// The arguments of the constructor.
fn fields(class: &mut Class) -> impl Iterator<Item = &mut Argument> {
    let new = class.methods.iter_mut().find(|method| method.name == NEW);
    new.into_iter().flat_map(|new| &mut new.arguments.arguments)
}

/// Whether a class consists of fields: arguments without defaults, which are properties and names of
/// patterns.
fn is_value(class: &mut Class) -> bool {
    let has_patterns = class.attributes.iter().any(|attribute| attribute.name == MATCH_ARGS);
    has_patterns && fields(class).all(|field| field.default_value.is_none())
}

/// Declares the names of patterns, and the arguments of a value with the types of its properties.
fn declare_fields(class: &mut Class) {
    let is_value = is_value(class);
    let properties = class.methods.iter().filter(|method| is_property(method));
    let types: Vec<_> = properties.map(|of| (of.name.clone(), of.returns.clone())).collect();
    let mut literals = Vec::new();
    for field in fields(class) {
        literals.push(format!("Literal[\"{}\"]", field.name));
        let property = types.iter().find(|(name, _)| is_value && *name == field.name);
        if let Some((_, of)) = property {
            field.annotation.clone_from(of);
        }
    }
    for attribute in class.attributes.iter_mut().filter(|of| of.name == MATCH_ARGS) {
        attribute.annotation = Some(name(format!("tuple[{}]", literals.join(", "))));
    }
}

fn is_property(method: &Function) -> bool {
    method.decorators.iter().any(|decorator| written(decorator) == "property")
}

/// The overloads of a method, or the method itself.
fn overloads(class: &str, method: &Function) -> Vec<Function> {
    if method.name == "__getitem__" {
        return items(method);
    }
    let found = ONE_OF.iter().find(|(of, name, _)| *of == class && *name == method.name);
    let Some((_, _, either)) = found else { return vec![method.clone()] };
    let overload = |(nth, needed): (usize, &&str)| {
        let mut overload = overload(method, nth == 0);
        let arguments = &mut overload.arguments;
        let all = arguments.arguments.iter_mut().chain(&mut arguments.keyword_only_arguments);
        for argument in all.filter(|argument| either.contains(&argument.name.as_str())) {
            if argument.name == **needed {
                argument.default_value = None;
                argument.annotation = argument.annotation.as_ref().map(without_none);
            } else {
                argument.annotation = Some(name("None"));
            }
        }
        overload
    };
    either.iter().enumerate().map(overload).collect()
}

/// The overloads of `__getitem__`: an index returns an item, a slice a list or tuple of items.
fn items(method: &Function) -> Vec<Function> {
    let returns = method.returns.as_ref().map(written).unwrap_or_default();
    let place = [" | list[", " | tuple["].iter().find_map(|of| returns.rfind(of));
    let Some((item, items)) = place.map(|place| returns.split_at(place)) else {
        return vec![method.clone()];
    };
    let items = items.trim_start_matches(" | ");
    let with = |index: &str, returns: &str, is_first| {
        let mut overload = overload(method, is_first);
        let arguments = &mut overload.arguments;
        let all = arguments.positional_only_arguments.iter_mut().chain(&mut arguments.arguments);
        for argument in all.filter(|argument| argument.name != "self") {
            argument.annotation = Some(name(index));
        }
        overload.returns = Some(name(returns));
        overload
    };
    vec![with("SupportsIndex", item, true), with("slice", items, false)]
}

fn overload(method: &Function, is_first: bool) -> Function {
    let mut overload = method.clone();
    overload.decorators.insert(0, name("overload"));
    if !is_first {
        overload.docstring = None;
    }
    overload
}

fn without_none(annotation: &Expr) -> Expr {
    let text = written(annotation);
    name(text.strip_suffix(" | None").unwrap_or(&text))
}

/// Qualifies the names of builtins that members of the class hide.
fn qualify(class: &mut Class) {
    let members: Vec<String> = class.methods.iter().map(|method| method.name.clone()).collect();
    let hidden: Vec<&str> =
        BUILTINS.iter().copied().filter(|of| members.iter().any(|name| name == of)).collect();
    if hidden.is_empty() {
        return;
    }
    let full = |annotation: &mut Option<Expr>| {
        if let Some(of) = annotation {
            *of = name(qualified(&written(of), &hidden));
        }
    };
    for method in &mut class.methods {
        full(&mut method.returns);
        arguments(method).for_each(|argument| full(&mut argument.annotation));
    }
    class.attributes.iter_mut().for_each(|attribute| full(&mut attribute.annotation));
}

fn qualified(annotation: &str, hidden: &[&str]) -> String {
    let mut text = String::new();
    let mut rest = annotation;
    while !rest.is_empty() {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '"');
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        if hidden.contains(&word) {
            text.push_str("builtins.");
        }
        text.push_str(word);
        let next = after.find(is_part).unwrap_or(after.len());
        let (between, after) = after.split_at(next);
        text.push_str(between);
        rest = after;
    }
    text
}

fn typed_attribute(attribute: &mut Attribute) {
    typed(&mut attribute.annotation);
}

fn typed_function(function: &mut Function) {
    typed(&mut function.returns);
    for argument in arguments(function) {
        typed(&mut argument.annotation);
    }
    let variable = [&mut function.arguments.vararg, &mut function.arguments.kwarg];
    for argument in variable.into_iter().flatten() {
        typed(&mut argument.annotation);
    }
}

fn arguments(function: &mut Function) -> impl Iterator<Item = &mut Argument> {
    let all = &mut function.arguments;
    let all = all
        .positional_only_arguments
        .iter_mut()
        .chain(&mut all.arguments)
        .chain(&mut all.keyword_only_arguments);
    all.filter(|argument| argument.name != "self" && argument.name != "cls")
}

fn typed(annotation: &mut Option<Expr>) {
    if let Some(of) = annotation {
        *of = name(written(of));
    }
}

fn name(id: impl Into<String>) -> Expr {
    Expr::Name { id: id.into() }
}

/// Writes a type. Names have no module: the header imports them.
pub(crate) fn written(expr: &Expr) -> String {
    let list = |all: &[Expr]| all.iter().map(written).collect::<Vec<_>>().join(", ");
    match expr {
        Expr::Constant { value } => match value {
            Constant::None => "None".to_owned(),
            Constant::Bool(value) => if *value { "True" } else { "False" }.to_owned(),
            Constant::Int(value) | Constant::Float(value) => value.clone(),
            Constant::Str(value) => value.replace('\'', "\""),
            Constant::Ellipsis => "...".to_owned(),
        },
        Expr::Name { id } => id.clone(),
        Expr::Attribute { value, attr } => match written(value).as_str() {
            // A type that Rust does not know. No header imports these modules, so a type checker
            // reports that the signature needs an annotation.
            module @ ("_typeshed" | "typing") if matches!(attr.as_str(), "Any" | "Incomplete") => {
                format!("{module}.{attr}")
            }
            _ => attr.clone(),
        },
        Expr::BinOp { left, op: Operator::BitOr, right } => {
            let (left, right) = (written(left), written(right));
            let is_there = left.split(" | ").any(|of| of == right);
            if is_there { left } else { format!("{left} | {right}") }
        }
        Expr::Tuple { elts } => format!("({})", list(elts)),
        Expr::List { elts } => format!("[{}]", list(elts)),
        Expr::Subscript { value, slice } => match &**slice {
            Expr::Tuple { elts } => format!("{}[{}]", written(value), list(elts)),
            slice => format!("{}[{}]", written(value), written(slice)),
        },
    }
}
