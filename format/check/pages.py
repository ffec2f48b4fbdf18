"""The `.ksy` pages as parsers, and which bytes of a file their fields take."""

import json
import os
import re
import subprocess
import sys
import types
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import yaml
from kaitaistruct import BytesIO, KaitaiStream, KaitaiStruct

HERE = Path(__file__).parent
# What a file, a row or a frame is read by. The other pages are parts of these.
MAINS = ["lock", "segment_row", "epoch_row", "snapshot", "df", "frame", "segment"]
# Instances that look at bytes of other fields.
LOOKS = {"last_byte", "shape", "shape_section", "before"}


class Wrong(Exception):
    """What is read contradicts the pages, or the tool."""


def require(holds: bool, *what: object) -> None:
    if not holds:
        raise Wrong(" ".join(map(str, what)))


def same(found: object, expected: object, *what: object) -> None:
    if found != expected:
        raise Wrong(f"{' '.join(map(str, what))}: {found!r:.600}, and not {expected!r:.600}")


def load() -> dict[str, Any]:
    """All pages, by their names."""
    files = sorted((HERE.parent / "kaitai").glob("*.ksy"))
    return {file.stem: yaml.safe_load(file.read_text()) for file in files}


class Compiler:
    """kaitai-struct-compiler, in a process that goes on: it starts slowly."""

    def __init__(self) -> None:
        node = ["node", str(HERE / "compile.js")]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(node, stdin=pipe, stdout=pipe, text=True, env=os.environ)

    def compile(self, pages: dict[str, Any], main: str) -> dict[str, str]:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps({"pages": pages, "main": main}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        require("files" in answer, main, answer.get("error"))
        return answer["files"]


def imported(pages: dict[str, Any], name: str) -> set[str]:
    """A page, and all that it imports."""
    found = {name}
    for other in pages[name]["meta"].get("imports", []):
        found |= imported(pages, other)
    return found


class Parsers:
    """What the compiler made of the pages."""

    def __init__(self, pages: dict[str, Any], compiler: Compiler, mains: list[str] = MAINS) -> None:
        self.pages = pages
        self.classes: dict[str, type] = {}
        # Which fields files, rows and frames had, and of flags and enums which values.
        self.shown: set[tuple[str, str, Any]] = set()
        for main in mains:
            files = compiler.compile(pages, f"simkeep_{main}")
            names = {file.removesuffix(".py"): source for file, source in files.items()}
            for name in names:
                sys.modules[name] = types.ModuleType(name)
            # They name each other only when they parse.
            for name, source in names.items():
                exec(compile(source, f"{name}.py", "exec"), sys.modules[name].__dict__)
            self.classes[main] = getattr(sys.modules[f"simkeep_{main}"], class_of(f"simkeep_{main}"))

    def parse(self, main: str, data: bytes) -> Any:
        """What these bytes are; every byte belongs to one field."""
        parsed = self.classes[main](KaitaiStream(BytesIO(data)))
        parsed._read()
        parsed._fetch_instances()
        self.main = main
        self.check_covered(main, parsed, len(data))
        return parsed

    def check_covered(self, main: str, parsed: Any, size: int) -> None:
        ranges = self.fields(parsed)
        at = 0
        for start, end, name in ranges:
            require(start == at, main, "has bytes", at, "to", start, "in no field or two:", name)
            at = end
        same(at, size, main, "has fields up to")

    def fields(self, parsed: Any) -> list[tuple[int, int, str]]:
        """Where each field begins and ends in a file, in order, with the type that it is of."""
        return sorted(self.ranges(parsed, {id(parsed._io): 0}))

    def ranges(self, of: Any, bases: dict[int, int]) -> Iterator[tuple[int, int, str]]:
        """The bytes of each field below this one; `bases` is where each stream begins in the file."""
        page = self.page_of(of)
        for key, place in of._debug.items():
            name = key.removeprefix("_m_")
            if "start" not in place or "end" not in place or name in LOOKS:
                continue
            of_root = "io" in page.get("instances", {}).get(name, {})
            base = bases[id(of._root._io if of_root else of._io)]
            value = getattr(of, key)
            self.shown.add((self.main, f"{type(of).__qualname__}.{name}", value_of(value)))
            items = value if isinstance(value, list) else [value]
            if items and isinstance(items[0], KaitaiStruct):
                for item, at in zip(items, place.get("arr", [place]), strict=True):
                    if item._io is of._io:
                        yield from self.ranges(item, bases)
                        continue
                    bases[id(item._io)] = base + at["start"]
                    below = list(self.ranges(item, bases))
                    ends = max((end for _, end, _ in below), default=base + at["start"])
                    same(ends, base + at["end"], type(item).__name__, "has fields up to")
                    yield from below
            elif place["start"] < place["end"]:
                yield base + place["start"], base + place["end"], f"{type(of).__qualname__}.{name}"
        if type(of).__name__ == "Varint":
            groups = of.groups
            require(len(groups) == 1 or groups[-1] > 0, "a varint is longer than it must be")
            require(len(groups) < 10 or groups[9] == 1, "a varint is larger than 64 bits")

    def page_of(self, of: Any) -> dict[str, Any]:
        """What its page says of the type of a value."""
        main, *rest = type(of).__qualname__.split(".")
        page = self.pages[snake(main)]
        for name in rest:
            page = page["types"][snake(name)]
        return page


class Spoiled(Parsers):
    """Parsers that get one wrong byte: in the first field that a page describes."""

    def __init__(self, parsers: Parsers, page: str) -> None:
        self.parsers, self.type = parsers, class_of(page) + "."
        self.shown = parsers.shown
        self.spoiled = False

    def parse(self, main: str, data: bytes) -> Any:
        if not self.spoiled:
            for start, _, name in self.parsers.fields(self.parsers.parse(main, data)):
                if name.startswith(self.type):
                    data = data[:start] + bytes([data[start] ^ 1]) + data[start + 1 :]
                    self.spoiled = True
                    break
        return self.parsers.parse(main, data)


def value_of(field: Any) -> Any:
    """The value of a flag or an enum."""
    return field.name if isinstance(field, Enum) else field if isinstance(field, bool) else None


def shown_by(pages: dict[str, Any]) -> set[tuple[str, Any]]:
    """All fields of these pages, and of flags and enums all values."""
    found: set[tuple[str, Any]] = set()

    def add(of: dict[str, Any], name: str, enums: dict[str, Any]) -> None:
        enums = enums | of.get("enums", {})
        places = {key: at for key, at in of.get("instances", {}).items() if "pos" in at}
        for field in [*of.get("seq", []), *({"id": key} | at for key, at in places.items())]:
            if field["id"] not in LOOKS:
                values = [None]
                if "enum" in field:
                    values = list(enums[field["enum"]].values())
                elif field.get("type") == "b1":
                    # A reserved bit has one value only.
                    values = [field["valid"]] if "valid" in field else [False, True]
                found.update((f"{name}.{field['id']}", value) for value in values)
        for below, type in of.get("types", {}).items():
            add(type, f"{name}.{class_of(below)}", enums)

    for page, of in pages.items():
        add(of, class_of(page), {})
    return found


def class_of(page: str) -> str:
    """The name of the class that a page becomes."""
    return page.title().replace("_", "")


def snake(name: str) -> str:
    return re.sub("(?<!^)(?=[A-Z])", "_", name).lower()


def check_bits(pages: dict[str, Any]) -> None:
    """Checks that bit fields fill whole bytes, since offsets do not show which bits they take."""

    def check(page: dict[str, Any], name: str) -> None:
        bits = 0
        for field in page.get("seq", []) + [{}]:
            kind = field.get("type")
            if isinstance(kind, str) and re.fullmatch("b[0-9]+", kind):
                bits += int(kind[1:])
            else:
                require(bits % 8 == 0, name, "has bits in no field")
                bits = 0
        for below, of in page.get("types", {}).items():
            check(of, f"{name}.{below}")

    for name, page in pages.items():
        check(page, name)
