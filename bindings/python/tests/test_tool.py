"""The command `simkeep`, which comes with the package."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

from conftest import AT, TOOL, URL

import simkeep


def run(*words: str, tool: tuple[str, ...] = (TOOL,)) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*tool, *words], capture_output=True, timeout=60)


def test_the_tool_reads_what_the_package_wrote(path: Path) -> None:
    with simkeep.Store.create(path) as store:
        store.observe(URL, AT, fingerprint=7)
    for tool in [(TOOL,), (sys.executable, "-m", "simkeep")]:
        ran = run("history", URL, "--json", "--store", str(path), tool=tool)
        assert ran.returncode == 0, ran.stderr
        assert json.loads(ran.stdout.splitlines()[0])["url"] == URL
    assert simkeep.__version__ in run("--version").stdout.decode()


def test_exit_codes_match_the_tool(path: Path) -> None:
    assert run("no-such-verb").returncode == 2
    ran = run("stats", "--store", str(path))
    assert (ran.returncode, ran.stdout) == (5, b"")
    assert b"simkeep: " in ran.stderr
    # An argument that is not UTF-8.
    assert subprocess.run([TOOL, "stats", "--store", b"\xff"], capture_output=True).returncode == 5


def test_ctrl_c_stops_the_tool(path: Path) -> None:
    words = [TOOL, "ingest", "-", "--outcomes", "--store", str(path)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as tool:
        assert tool.stdin and tool.stdout
        tool.stdin.write(b'{"url":"http://a/","t":1,"text":"Some words that stand on a page."}\n')
        tool.stdin.flush()
        assert json.loads(tool.stdout.readline())["verdict"] == "new"
        began = time.monotonic()
        tool.send_signal(signal.SIGINT)
        # The tool keeps acknowledged visits, and exits with the code of shells for the signal.
        assert tool.wait(10) == 128 + signal.SIGINT
        assert time.monotonic() - began < 5
    with simkeep.Store.open(path) as store:
        assert store.latest("http://a/") is not None


def test_closed_pipe_is_not_an_error(path: Path) -> None:
    with simkeep.Store.create(path) as store:
        store.load({"url": f"http://{n}.example/", "at": AT, "fingerprint": n} for n in range(20_000))
    with subprocess.Popen([TOOL, "scan", "--store", str(path)], stdout=subprocess.PIPE) as tool:
        assert tool.stdout
        assert tool.stdout.read(100)
        tool.stdout.close()
        assert tool.wait(60) == 0
