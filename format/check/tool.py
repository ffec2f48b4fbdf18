"""What the tool says of a store, and its words as the numbers that the files have."""

import functools
import json
import struct
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from changes import Epoch
from entries import Content, Entry

BINARY = Path()
BEGIN = datetime(1970, 1, 1, tzinfo=UTC)


def run(*arguments: object, input: str | None = None) -> str:
    command = [str(BINARY), *map(str, arguments)]
    done = subprocess.run(command, input=input, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)}: {done.stderr}")
    return done.stdout


@functools.cache
def says(*arguments: object) -> list[dict[str, Any]]:
    """The lines of JSON that a verb prints; the stores stay as they are."""
    return [json.loads(line) for line in run(*arguments, "--json").splitlines()]


def time_of(text: str | None) -> int | None:
    """Milliseconds since the start of 1970."""
    if text is None:
        return None
    return (datetime.fromisoformat(text) - BEGIN) // timedelta(milliseconds=1)


def f32(number: float | None) -> float | None:
    """The nearest number of 32 bits."""
    return None if number is None else struct.unpack("<f", struct.pack("<f", number))[0]


def entry_of(line: dict[str, Any], numbers: dict[str, int]) -> tuple[str, Entry]:
    """A page and its entry, from a line of an export or of `tail`."""
    digest = bytes.fromhex(line["digest"]) if "digest" in line else None
    weight = f32(line.get("weight"))
    page_class = line.get("class")
    properties = {"weight": "weighed", "class": "classed", "etag": "tagged", "target": "pointing"}
    given = [name for key, name in properties.items() if key in line]
    seen = line.get("seen", given[0] if given else "content")
    content = None
    if seen in ("content", "restated"):
        fingerprint = line["fingerprint"]
        number = None if fingerprint is None else int(fingerprint, 16)
        content = Content(digest, number, numbers[line["epoch"]])
    time = time_of(line["t"])
    assert time is not None
    modified = time_of(line.get("modified"))
    # Each byte of an entity tag is a character.
    etag = line["etag"].encode("latin-1") if "etag" in line else None
    target = target_of(line["url"], line["target"]) if "target" in line else None
    visit = (time, seen, content, digest, line.get("status"), modified)
    more = (line.get("bytes"), line.get("conditional", False), etag, target)
    return line["url"], Entry(*visit, weight, page_class, *more)


def target_of(page: str, target: str) -> tuple[int, str]:
    """How many bytes a target shares with the URL of its page, and its other letters."""
    alike = 0
    while page[alike : alike + 1] == target[alike : alike + 1] != "":
        alike += 1
    return len(page[:alike].encode()), target[alike:]


def epoch_line(epoch: Epoch) -> dict[str, Any]:
    """What `epoch list` says of an epoch, apart from what its segments have."""
    return {
        "epoch": epoch.name,
        "number": epoch.number & 0xFFFFFF,
        "role": epoch.role,
        "minor": epoch.minor,
        "moderate": epoch.moderate,
        "begun_at_visit": epoch.begun,
    }
