"""Finds the items of a Rust file by their paths, such as `Store::open`."""
import re

# Comments, strings and characters. A lifetime is none of these.
QUIET = re.compile(
    r"""//[^\n]*|/\*.*?\*/|\br(\#*)".*?"\1|"(?:\\.|[^"\\])*"|'(?:\\[^\n]*?|[^\\'\n])'""", re.DOTALL
)
ITEM = re.compile(
    r"\b(?:(?:fn|const(?!\s+(?:unsafe\s+)?fn)|static|struct|enum|trait|mod|type|macro_rules!)\s+(\w+)"
    r"|impl\b([^;{]*))"
)
BRACKET = re.compile(r"[()\[\]{};]")


def outline(text):
    """The code alone: comments and strings are blank, and each offset stays as it is."""
    return QUIET.sub(lambda quiet: re.sub(r"[^\n]", " ", quiet[0]), text)


def item_end(code, start):
    """Where the item ends: behind a semicolon, or behind the brace that closes its block."""
    depth = 0
    for found in BRACKET.finditer(code, start):
        depth += (found[0] in "([{") - (found[0] in ")]}")
        if depth == 0 and found[0] in ";}":
            return found.end()
    return len(code)


def implemented(header):
    """The name of the type in `impl<T> Trait<T> for module::Type<T> where ...`."""
    header, nested = header.replace("->", "").split(" where ")[0], None
    while header != nested:
        header, nested = re.sub(r"<[^<>]*>", "", header), header
    return re.split(r"\W+", header.split(" for ")[-1].strip())[-1]


def items(code, start=0, end=None):
    """The name and the span of each item of a file or of the block of another item."""
    while found := ITEM.search(code, start, len(code) if end is None else end):
        start = item_end(code, found.start())
        yield found[1] or implemented(found[2]), found.start(), start


def find(text, path):
    """The span of each item that has this path."""
    code = outline(text)
    spans = [(0, len(code))]
    for depth, name in enumerate(path.split("::")):
        blocks = [(code.find("{", start, end) + 1 if depth else 0, end) for start, end in spans]
        spans = [(a, b) for block in blocks for named, a, b in items(code, *block) if named == name]
    return spans
