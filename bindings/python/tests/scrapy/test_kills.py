"""Killed crawls: the next crawl continues, and no acknowledged visit is lost."""

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
from loopback import Site, served
from running import acknowledged, command, crawl

import simkeep

KILLS = max(1, round(20 * float(os.environ.get("SIMKEEP_DEPTH", "0.1"))))
SETTINGS = {"SIMKEEP_STORE": "crawl.simkeep", "LOG_LEVEL": "ERROR"}


def test_nothing_acknowledged_is_lost_when_a_crawl_is_killed(tmp_path: Path) -> None:
    counts: dict[str, int] = {}
    rng = random.Random(KILLS)
    with served(Site(100)) as site:
        asked = {"start": [f"{site.url}/"], "settings": SETTINGS, "acknowledge": True}
        for _ in range(KILLS):
            process = subprocess.Popen(command(asked), cwd=tmp_path, stdout=subprocess.PIPE, text=True)
            with process:
                assert process.stdout is not None
                left = rng.randrange(1, 90)
                for url, verdict in acknowledged(iter(process.stdout)):
                    # Each crawl knows the visits that an earlier one acknowledged.
                    assert verdict in ("same", "gone", "failed") or url not in counts
                    counts[url] = counts.get(url, 0) + 1
                    left -= 1
                    if left == 0:
                        process.kill()
                        break
                for url, _verdict in acknowledged(iter(process.stdout)):
                    counts[url] = counts.get(url, 0) + 1
            with simkeep.Reader(tmp_path / "crawl.simkeep") as reader:
                for url, visits in counts.items():
                    page = reader.latest(url)
                    assert page is not None and page.visits >= visits, url
        last = crawl(tmp_path, f"{site.url}/", settings=SETTINGS)
    assert last.reason == "finished" and len(last.verdicts) == 101
    assert all(last.verdicts[url] in ("same", "gone", "failed") for url in counts)
    assert simkeep.verify(tmp_path / "crawl.simkeep").is_sound


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_once_or_twice_stops_a_crawl(times: int, tmp_path: Path) -> None:
    urls: list[str] = []
    with served(Site(300)) as site:
        asked = {"start": [f"{site.url}/"], "settings": SETTINGS, "acknowledge": True}
        with subprocess.Popen(command(asked), cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for url, _verdict in acknowledged(iter(process.stdout)):
                urls.append(url)
                if len(urls) == 5:
                    process.send_signal(signal.SIGINT)
                if len(urls) == 5 and times == 2:
                    time.sleep(0.1)
                    process.send_signal(signal.SIGINT)
            process.wait(30)
        assert 5 <= len(urls) < 301
    with simkeep.Store.open(tmp_path / "crawl.simkeep") as store:
        assert all(store.latest(url) is not None for url in urls)
