"""Measures the cost of the Scrapy add-on: alternating crawls of a local site with and without it.

    python bench/scrapy_site.py [PAGES [RUNS]]

Every sync takes 10 ms longer (slow_sync.c). For each pair of crawls, prints the seconds, the CPU seconds and the 99th
percentile of the reactor's delay. Then prints the medians.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import scrapy

HERE = Path(__file__).parent
TESTS = HERE.parent / "tests" / "scrapy"


def crawl(directory: Path, url: str, preload: Path, *, addon: bool) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "LOG_LEVEL": "WARNING",
        "SIMKEEP_STORE": "crawl.simkeep",
        "SIMKEEP_ENABLED": addon,
    }
    asked = {"start": [f"{url}/"], "settings": settings, "lag": True}
    command = [sys.executable, str(TESTS / "crawl.py"), json.dumps(asked)]
    environment = {"LD_PRELOAD": str(preload), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=True)
    report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return report


def late(report: dict[str, Any]) -> float:
    """The 99th percentile of the reactor's delay, in milliseconds."""
    return float(sorted(report["lags"])[int(len(report["lags"]) * 0.99)] * 1000)


def shown(report: dict[str, Any]) -> str:
    return f"{report['seconds']:.2f} s (processor {report['cpu']:.2f}), late by {late(report):.1f} ms"


def main() -> None:
    pages = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    print(f"Scrapy {scrapy.__version__}, {pages} pages, {runs} pairs of crawls")
    server = [sys.executable, str(TESTS / "loopback.py"), str(pages), "50"]
    ratios, lags, times = [], [], []
    with tempfile.TemporaryDirectory() as place:
        preload = Path(place) / "slow_sync.so"
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", preload, HERE / "slow_sync.c"], check=True)
        with subprocess.Popen(server, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as serving:
            assert serving.stdin is not None and serving.stdout is not None
            url = serving.stdout.readline().strip()
            for run in range(runs):
                directory = Path(place) / str(run)
                directory.mkdir()
                reports = {}
                # Alternate which of the two runs first.
                for addon in (False, True) if run % 2 else (True, False):
                    reports[addon] = crawl(directory, url, preload, addon=addon)
                ratios.append(reports[True]["seconds"] / reports[False]["seconds"])
                lags.append(late(reports[True]) - late(reports[False]))
                times.append([reports[addon][what] for addon in (False, True) for what in ("seconds", "cpu")])
                stats = {k: v for k, v in reports[True]["stats"][0].items() if k.startswith("simkeep/")}
                print(
                    f"without {shown(reports[False])}; with {shown(reports[True])}; {ratios[-1]:.3f} times; {stats}",
                    flush=True,
                )
            # Changes the site, and crawls it again.
            serving.stdin.write("1\n")
            serving.stdin.flush()
            serving.stdout.readline()
            stats = crawl(Path(place) / "0", url, preload, addon=True)["stats"][0]
            print("again:", {k: v for k, v in stats.items() if k.startswith("simkeep/")})
            serving.stdin.close()
    without, cpu, with_it, more_cpu = (statistics.median(part) for part in zip(*times, strict=True))
    print(
        f"medians: without {without:.2f} s (processor {cpu:.2f}), with {with_it:.2f} s ({more_cpu:.2f}), "
        f"{statistics.median(ratios):.3f} times; later by {statistics.median(lags):.1f} ms"
    )


if __name__ == "__main__":
    main()
