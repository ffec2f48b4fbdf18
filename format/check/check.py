"""Reads stores by the Kaitai pages alone, and holds what it reads against the tool.

check.py TOOL SHAPES FOLDER

TOOL is simkeep, SHAPES a folder of stores that only tests make, FOLDER where stores may be made.
"""

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pages
import surt
import tool
from entries import Content, Entry, without_superseded
from pages import Parsers, Spoiled, require, same
from scenes import SCENES
from tables import block, cell_of

import df
import features
from store import Files, Store

GOLDEN = pages.HERE.parent / "golden"
WORDS = ("the", "car", "北京", "house", "missing")


def check_examples() -> None:
    """What the pages say of keys, of buckets and of cells."""
    lines = (GOLDEN.parent / "surt.md").read_text().splitlines()
    rows = [line[3:-3].split("` | `") for line in lines if line[:3] == "| `" and line[-3:] == "` |"]
    require(len(rows) > 10, "the examples of keys")
    for url, shown in rows:
        letters = [chr(of) if 32 <= of < 128 else f"<{of:02X}>" for of in surt.key(url)]
        same("".join(letters), shown, url)
    shown = (GOLDEN.parent / "segment.md").read_text()
    fingerprint = 0xC3A5C85C97CB3127
    blocks = [block(fingerprint, part) for part in range(5)]
    cells = [cell_of(half, 6_600) for half in (fingerprint >> 32, fingerprint & 0xFFFFFFFF)]
    for row in (
        " | ".join(["bucket", *(f"`{of >> 4:03x}`: {of >> 4:,}" for of in blocks[:4])]),
        " | ".join(["entry", *(f"`{of:04x}`" for of in blocks[1:])]),
        " | ".join(["cell", *(f"{of:,}" for of in cells)]),
        f"entry | `{fingerprint & 0xFFFFFF:06x}` | `{fingerprint >> 32 & 0xFFFFFF:06x}`",
    ):
        require(f"| {row} |" in shown, "segment.md does not show", row)


def check_golden(store: Store) -> None:
    """The golden store holds what was written down while it was made."""
    for line in map(json.loads, (GOLDEN / "v6.jsonl").read_text().splitlines()):
        if "visits" in line:
            expected = [golden_entry(*visit) for visit in line["visits"]]
            same(without_superseded(store.entries[line["url"]]), expected, line["url"])
        elif "epochs" in line:
            same(store.last_operation, line["sequence"], "last operation of the golden store")


def golden_entry(
    time: int,
    seen: str,
    status: int | None = None,
    digest: str | None = None,
    fingerprint: str | None = None,
    epoch: int | None = None,
    modified: int | None = None,
    weight: float | None = None,
    page_class: int | None = None,
    num_bytes: int | None = None,
    is_conditional: bool | None = None,
    etag: str | None = None,
    target: list[Any] | None = None,
) -> Entry:
    of = bytes.fromhex(digest) if digest else None
    number = int(fingerprint, 16) if fingerprint else None
    content = None if epoch is None else Content(of, number, epoch)
    weight = tool.f32(weight)
    tag = None if etag is None else bytes.fromhex(etag)
    pointing = None if target is None else (target[0], target[1])
    visit = (time, seen.replace(" ", "-"), content, of, status, modified)
    return Entry(*visit, weight, page_class, num_bytes, bool(is_conditional), tag, pointing)


def check_browsers(read: dict[str, Any], cells: Path) -> None:
    """The pages also make parsers for browsers, whose numbers have fewer bits."""
    files = [("segment", path) for store in (GOLDEN / "v6", cells) for path in store.glob("segments/*")]
    files += [("df", GOLDEN / "words.df"), ("lock", GOLDEN / "v6/LOCK")]
    files += [("snapshot", GOLDEN / "v6/SNAPSHOT")]
    arguments = [text for name, path in files for text in (f"simkeep_{name}", str(path))]
    script = str(pages.HERE / "browse.js")
    subprocess.run(["node", script, *arguments], input=json.dumps(read), text=True, check=True)


class Checks:
    """All that is checked, by whatever parsers."""

    def __init__(self, shapes: Path, folder: Path) -> None:
        # The tool opens it, and must not change what is checked in.
        golden = folder / "golden"
        shutil.copytree(GOLDEN / "v6", golden)
        made = [folder / scene.__name__ for scene in SCENES]
        for scene, path in zip(SCENES, made):
            scene(path)
        # What is wrong is found soonest in what has most kinds of things in few bytes.
        self.like_golden = [golden, *sorted(shapes.iterdir())]
        paths = [*self.like_golden, *made]
        self.files = [Files(path) for path in paths]
        self.table = (GOLDEN / "words.df").read_bytes()

    def run(self, parsers: Parsers, say: bool = False) -> list[Store]:
        """The golden store and those that have other tables."""
        df.check(parsers, GOLDEN / "words.df", self.table, WORDS)
        stores = []
        for files in self.files:
            store = Store(parsers, files)
            store.check()
            if files.path.name == "golden":
                check_golden(store)
            if files.path in self.like_golden:
                store.shown = set(parsers.shown)
                stores.append(store)
            if say:
                census = ", ".join(f"{count} {what}" for what, count in store.census.items())
                print(f"{files.path.name}: {len(files.segment_rows)} segments, {census}")
        return stores


def check_notices(checks: Checks, spoiled: Spoiled, page: str) -> None:
    """A file with a wrong byte in a field of this page is noticed."""
    try:
        checks.run(spoiled)
    except Exception as error:
        require(spoiled.spoiled, "no file has a field of", page)
        print(f"a wrong byte of {page}: {type(error).__name__}: {str(error)[:90]}")
    else:
        raise SystemExit(f"a wrong byte of {page} is not noticed")


def main() -> None:
    tool.BINARY, shapes, folder = map(Path, sys.argv[1:4])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    start = time.monotonic()
    check_examples()
    read = pages.load()
    pages.check_bits(read)
    checks = Checks(shapes, folder)
    parsers = Parsers(read, pages.Compiler())
    features.check(parsers, checks.run(parsers, say=True))
    check_browsers(read, shapes / "cells")
    print(f"every byte has its place, and the tool agrees ({time.monotonic() - start:.0f} s)")
    for page in read:
        check_notices(checks, Spoiled(parsers, page), page)


if __name__ == "__main__":
    main()
