"""The programs and lists of the Scrapy page."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from loopback import Site, served

import simkeep.scrapy

PACKAGE = Path(__file__).parents[2]
PAGE = (PACKAGE / "docs" / "scrapy.md").read_text()
SOURCE = "".join(file.read_text() for file in Path(simkeep.scrapy.__file__).parent.glob("*.py"))


def blocks() -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", PAGE, re.S | re.M)


def test_examples_on_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings, spider, program = blocks()
    (tmp_path / "settings.py").write_text(settings)
    with served(Site(8)) as site:
        assert "https://example.com/" in spider
        (tmp_path / "spider.py").write_text(spider.replace("https://example.com/", f"{site.url}/"))
        command = [sys.executable, "-m", "scrapy", "runspider", "spider.py", "-O", "items.json"]
        environment = os.environ | {"SCRAPY_SETTINGS_MODULE": "settings", "PYTHONPATH": str(tmp_path)}
        for _ in range(2):
            done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            items = json.loads((tmp_path / "items.json").read_text())
            assert len(items) == 9 and all(item["title"] for item in items)
            site.version = 1
    verdicts = {item["url"].removeprefix(site.url): item["verdict"] for item in items}
    assert verdicts.pop("/page/7") == "changed" and set(verdicts.values()) == {"same"}
    assert "changed by" in done.stderr
    monkeypatch.chdir(tmp_path)
    exec(compile(program, "scrapy.md", "exec"), {})


def test_all_settings_and_stats_are_listed() -> None:
    settings = set(re.findall(r'"(SIMKEEP_[A-Z_]+)"', SOURCE))
    assert settings and all(f"| `{setting}` |" in PAGE for setting in settings)
    stats = set(re.findall(r'count\("(\w+)"', SOURCE)) | {"error", "observe_seconds_max"}
    rows = "".join(line for line in PAGE.splitlines() if line.startswith("| `simkeep/"))
    assert len(stats) > 8 and all(stat in rows for stat in stats)
    listed = set(re.findall(r"`(SIMKEEP_[A-Z_]+)", PAGE))
    assert listed == settings


def test_links_resolve() -> None:
    for link in re.findall(r"\]\(([^)#:]+)\)", PAGE):
        assert (PACKAGE / "docs" / link).exists(), link
    headings = [head.lower() for head in re.findall(r"^## (.*)$", PAGE, re.M)]
    anchors = {"#" + re.sub(r"[^a-z0-9 -]", "", head).replace(" ", "-") for head in headings}
    assert set(re.findall(r"\]\((#[^)]+)\)", PAGE)) == anchors


def test_importing_simkeep_imports_no_scrapy() -> None:
    code = "import sys, simkeep; assert not {'scrapy', 'twisted', 'simkeep.scrapy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
