"""Pages in which one thing is changed: a field's size, type, order, endianness, value or condition."""

import copy
import re
from collections.abc import Iterator
from typing import Any

# A name, and the pages with that change.
Mutant = tuple[str, str, dict[str, Any]]

OTHER_SIZE = {"1": "2", "2": "4", "4": "8", "8": "4"}
OPERATORS = {
    " + ": " - ", " - ": " + ", " and ": " or ", " or ": " and ", " == ": " != ", " != ": " == ",
    " <= ": " < ", " < ": " <= ", " >= ": " > ", " > ": " >= ", "not ": "", " / ": " * ", " * ": " / ",
    " % ": " / ", " >> ": " << ",
}  # fmt: skip


def types_of(kind: str) -> Iterator[tuple[str, str]]:
    """Other types that a field could be mistaken for, and what differs."""
    if number := re.fullmatch("([us])([1248])", kind):
        sign, size = number.groups()
        yield "size", sign + OTHER_SIZE[size]
        yield "sign", ("s" if sign == "u" else "u") + size
        if size != "1":
            yield "endianness", kind + "be"
    elif bits := re.fullmatch("b([0-9]+)", kind):
        yield "size", f"b{int(bits[1]) + 1}"
        if int(bits[1]) > 1:
            yield "fewer bits", f"b{int(bits[1]) - 1}"
    elif kind == "f4":
        yield "size", "f8"
        yield "type", "u4"
        yield "endianness", "f4be"
    elif kind.endswith("::signed_varint"):
        yield "type", kind.replace("signed_varint", "varint")
    elif kind.endswith("::varint"):
        yield "type", kind.replace("varint", "signed_varint")
    elif call := re.fullmatch(r"([a-z_:]+)\((.*)\)", kind):
        for what, other in expressions(call[2]):
            yield f"argument, {what}", f"{call[1]}({other})"


def expressions(text: str) -> Iterator[tuple[str, str]]:
    """An expression with one number, one operator or the branches changed."""
    for found in re.finditer(r"(?<![a-z_0-9])[0-9]+", text):
        start, end = found.span()
        yield f"{found[0]} at {start}", f"{text[:start]}{int(found[0]) + 1}{text[end:]}"
    for operator, other in OPERATORS.items():
        for found in re.finditer(re.escape(operator), text):
            rest = text[: found.start()] + other + text[found.end() :]
            yield f"{operator.strip()} at {found.start()}", rest
    if " ? " in text and text.count(" ? ") == 1:
        condition, _, branches = text.partition(" ? ")
        one, _, two = branches.partition(" : ")
        yield "branches", f"{condition} ? {two} : {one}"


def field_mutants(field: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """A field, or an instance, with one thing changed."""
    kind = field.get("type")
    if isinstance(kind, str):
        for what, other in types_of(kind):
            yield what, field | {"type": other}
    if isinstance(kind, dict):
        cases = list(kind["cases"].items())
        for at, (case, of) in enumerate(cases):
            other = cases[at - 1][1]
            if other != of:
                yield f"case {case}", field | {"type": kind | {"cases": kind["cases"] | {case: other}}}
    for key in ("size", "repeat-expr", "pos", "value"):
        if key in field:
            text = str(field[key])
            if key != "value":
                yield f"{key} + 1", field | {key: f"({text}) + 1"}
                yield f"{key} - 1", field | {key: f"({text}) - 1"}
            for what, other in expressions(text):
                yield f"{key}, {what}", field | {key: other}
    if "if" in field:
        yield "condition dropped", {key: of for key, of in field.items() if key != "if"}
        yield "condition negated", field | {"if": f"not ({field['if']})"}
        for what, other in expressions(field["if"]):
            yield f"condition, {what}", field | {"if": other}
    if "io" in field:
        yield "stream", {key: of for key, of in field.items() if key != "io"}
    if field.get("repeat") == "eos":
        yield "no repetition", {key: of for key, of in field.items() if key != "repeat"}
    if "repeat-until" in field:
        for what, other in expressions(field["repeat-until"]):
            yield f"until {what}", field | {"repeat-until": other}
    if "contents" in field:
        contents = field["contents"]
        is_text = isinstance(contents, str)
        changed = "x" + contents[1:] if is_text else [*contents[:-1], contents[-1] + 1]
        yield "contents", field | {"contents": changed}
        yield "shorter contents", field | {"contents": contents[:-1]}
    valid = field.get("valid")
    if isinstance(valid, int):
        yield "valid", field | {"valid": valid + 1}
    elif isinstance(valid, dict) and "max" in valid:
        yield "valid", field | {"valid": {"max": 0}}
    if "size-eos" in field:
        rest = {key: of for key, of in field.items() if key != "size-eos"}
        yield "size", rest | {"size": "_io.size - _io.pos - 1"}


def type_mutants(page: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """A type, or a whole page, with one thing changed; the types in it apart."""
    fields = page.get("seq", [])
    for at, field in enumerate(fields):
        name = field["id"]
        for what, other in field_mutants(field):
            yield f"{name}: {what}", page | {"seq": [*fields[:at], other, *fields[at + 1 :]]}
        yield f"{name}: dropped", page | {"seq": fields[:at] + fields[at + 1 :]}
        if at + 1 < len(fields):
            after = fields[at + 1]
            rest = fields[at + 2 :]
            yield f"{name}: order", page | {"seq": [*fields[:at], after, field, *rest]}
    instances = page.get("instances", {})
    for name, field in instances.items():
        for what, other in field_mutants(field):
            yield f"{name}: {what}", page | {"instances": instances | {name: other}}
    for name, values in page.get("enums", {}).items():
        numbers = list(values)
        for one, two in zip(numbers, numbers[1:]):
            other = values | {one: values[two], two: values[one]}
            changed = page["enums"] | {name: other}
            yield f"{values[one]}: value", page | {"enums": changed}
    for key in ("endian", "bit-endian"):
        if key in page.get("meta", {}):
            yield key, page | {"meta": page["meta"] | {key: "be"}}


def mutants(pages: dict[str, Any]) -> Iterator[Mutant]:
    """All of them, each with its name and that of its page."""

    def below(page: dict[str, Any], path: str) -> Iterator[tuple[str, dict[str, Any]]]:
        for name, other in type_mutants(page):
            yield f"{path}.{name}", other
        types = page.get("types", {})
        for name, of in types.items():
            for what, other in below(of, f"{path}.{name}"):
                yield what, page | {"types": types | {name: other}}

    for name, page in pages.items():
        for what, other in below(page, name.removeprefix("simkeep_")):
            yield what, name, copy.copy(pages) | {name: other}
