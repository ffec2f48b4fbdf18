"""Revisit records of web archives, from the first captures that `ingest --outcomes` prints."""

import json
import os
import random
import subprocess
from base64 import b32encode
from collections import Counter
from datetime import UTC, datetime, timedelta
from hashlib import sha1
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from conftest import TOOL
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

DEPTH = float(os.environ.get("SIMKEEP_DEPTH", "0.1"))
"""How many captures are written: 10,000 at depth 1."""

Capture = tuple[str, str, bytes, str]
"""The URL, the time, the body and its type."""


def captures(count: int) -> list[Capture]:
    """Captures of files, of short texts and of texts with a fingerprint, most of them copies."""
    draw = random.Random(5)
    begin = datetime(2024, 3, 1, tzinfo=UTC)
    found = []
    for n in range(count):
        content = draw.randrange(count // 4)
        words = " ".join(f"w{content * k % 991}" for k in range(1, 40))
        body, kind = [
            (b"%%PDF-1.7 %d" % content, "application/pdf"),
            (b"short %d" % content, "text/plain"),
            (words.encode(), "text/plain"),
        ][content % 3]
        url = f"http://host-{n % 7}.example/{draw.randrange(count // 3)}"
        found.append((url, f"{begin + timedelta(seconds=n):%Y-%m-%dT%H:%M:%SZ}", body, kind))
    return found


def write(path: Path, captured: list[Capture], originals: list[dict[str, str] | None]) -> None:
    """Writes an archive with a revisit record for each capture that has an original."""
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for (url, time, body, kind), original in zip(captured, originals, strict=True):
            head = StatusAndHeaders("200 OK", [("Content-Type", kind)], protocol="HTTP/1.1")
            dated = {"WARC-Date": time}
            if original is None:
                record = writer.create_warc_record(
                    url, "response", payload=BytesIO(body), http_headers=head, warc_headers_dict=dated
                )
            else:
                digest = "sha1:" + b32encode(sha1(body).digest()).decode()
                record = writer.create_revisit_record(
                    url, digest, original["url"], original["t"], http_headers=head, warc_headers_dict=dated
                )
            writer.write_record(record)


def run(*words: str) -> str:
    done = subprocess.run([TOOL, *words], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


def exported(store: Path) -> list[dict[str, Any]]:
    """Returns the visits of a store, without the length of bodies: revisit records have none."""
    visits = [json.loads(line) for line in run("export", "--store", str(store)).splitlines()]
    return [{key: value for key, value in visit.items() if key != "bytes"} for visit in visits]


# The writer leaves closing its buffers to the garbage collector.
@pytest.mark.filterwarnings("ignore:Unclosed file <tempfile:ResourceWarning")
def test_archive_with_revisits_of_the_first_captures_is_read_by_warcio(tmp_path: Path) -> None:
    captured = captures(max(300, round(10_000 * DEPTH)))
    whole, shorter = tmp_path / "whole.warc.gz", tmp_path / "shorter.warc.gz"
    write(whole, captured, [None] * len(captured))
    printed = run("ingest", str(whole), "--store", str(tmp_path / "whole.simkeep"), "--outcomes")
    originals = [json.loads(line)["refers_to"] for line in printed.splitlines()]

    first: dict[bytes, dict[str, str]] = {}
    for (url, time, body, _), original in zip(captured, originals, strict=True):
        assert original == first.get(body), url
        first.setdefault(body, {"url": url, "t": time})

    write(shorter, captured, originals)
    kinds: Counter[str] = Counter()
    known: set[tuple[str, str]] = set()
    with shorter.open("rb") as file:
        for record in ArchiveIterator(file, check_digests="raise"):
            kinds[record.rec_type] += 1
            header = record.rec_headers.get_header
            if record.rec_type == "revisit":
                assert (header("WARC-Refers-To-Target-URI"), header("WARC-Refers-To-Date")) in known
            else:
                known.add((header("WARC-Target-URI"), header("WARC-Date")))
    print(f"{kinds['response']} responses, {kinds['revisit']} revisits")
    assert kinds == {"response": len(first), "revisit": len(captured) - len(first)}

    run("ingest", str(shorter), "--store", str(tmp_path / "shorter.simkeep"))
    assert exported(tmp_path / "shorter.simkeep") == exported(tmp_path / "whole.simkeep")
