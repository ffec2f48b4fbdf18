"""Changes one thing in the pages at a time: the checks must notice."""

import os
import resource
import signal
import time
from fnmatch import fnmatchcase
from multiprocessing import get_context
from typing import Any

import pages
from mutants import Mutant, mutants
from pages import HERE, MAINS, Compiler, Parsers, imported

SECONDS_MAX = 60
BYTES_MAX = 3 << 30


class Mixed(Parsers):
    """Parsers of changed pages; of what the change does not concern, what was read before."""

    def __init__(self, base: "Mixed | None", read: dict[str, Any], compiler: Compiler, of: list[str]):
        super().__init__(read, compiler, of)
        self.base, self.mains = base, of
        self.known: dict[tuple[str, bytes], Any] = {}

    def parse(self, main: str, data: bytes) -> Any:
        if main not in self.mains:
            assert self.base
            return self.base.parse(main, data)
        if (main, data) not in self.known:
            self.known[main, data] = super().parse(main, data)
        return self.known[main, data]


class Work:
    """What the processes share that try mutants."""

    checks: Any
    base: Mixed
    compiler: Compiler


def begin() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (BYTES_MAX, BYTES_MAX))
    Work.compiler = Compiler()
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 2)


def attempt(mutant: Mutant) -> tuple[str, str | None]:
    """The name of a mutant, and how it was noticed."""
    name, page, changed = mutant
    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(SECONDS_MAX)
    try:
        pages.check_bits(changed)
        mains = [main for main in MAINS if page in imported(changed, f"simkeep_{main}")]
        Work.checks.run(Mixed(Work.base, changed, Work.compiler, mains))
    except Exception as error:
        return name, f"{type(error).__name__}: {error}"
    finally:
        signal.alarm(0)
    return name, None


def too_long(*_: object) -> None:
    raise TimeoutError("it takes too long")


def equivalents() -> dict[str, str]:
    """Patterns of names of mutants that nothing can notice, with why."""
    lines = (HERE / "equivalent.txt").read_text().splitlines()
    rows = (line.split("  ", 1) for line in lines if line and not line.startswith("#"))
    return {pattern: reason.strip() for pattern, reason in rows}


def run(checks: Any, base: Mixed, each: int, verbose: bool) -> None:
    """Tries each mutant, or every so-manieth; fails if one survives that is not equivalent."""
    start = time.monotonic()
    Work.checks, Work.base = checks, base
    all = list(mutants(base.pages))
    known = equivalents()
    unused = [of for of in known if not any(fnmatchcase(name, of) for name, *_ in all)]
    left = [one for one in all if not any(fnmatchcase(one[0], of) for of in known)]
    tried = left[::each]
    survivors = []
    with get_context("fork").Pool(os.cpu_count(), begin) as pool:
        for name, noticed in pool.imap_unordered(attempt, tried):
            if noticed is None:
                survivors.append(name)
                print(f"survives: {name}", flush=True)
            elif verbose:
                print(f"{name}: {noticed[:120]}")
    seconds = time.monotonic() - start
    equal = len(all) - len(left)
    print(f"{len(tried)} of {len(all)} mutants tried, {equal} change nothing ({seconds:.0f} s)")
    for pattern in unused:
        print(f"no mutant is called {pattern}")
    if survivors or unused:
        raise SystemExit(1)
