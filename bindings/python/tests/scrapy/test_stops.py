"""Unusable stores and invalid settings."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import scrapy
from loopback import Site, served
from running import crawl
from scrapy.exceptions import NotConfigured
from scrapy.settings import Settings as ScrapySettings

import simkeep
from simkeep.scrapy import Addon, SettingError
from simkeep.scrapy._downloader import DownloaderMiddleware
from simkeep.scrapy._errors import shown
from simkeep.scrapy._session import _open
from simkeep.scrapy._settings import Settings
from simkeep.scrapy._spider import SpiderMiddleware

STORE = {"SIMKEEP_STORE": "crawl.simkeep"}


def test_second_spider_on_the_same_store_stops_with_locked_error(tmp_path: Path) -> None:
    with served(Site(8)) as site:
        report = crawl(tmp_path, f"{site.url}/", settings=STORE, spiders=2)
    first, second = sorted(report.stats, key=lambda stats: str(stats["finish_reason"]))
    assert first["finish_reason"] == "finished" and first["simkeep/new"] == 9
    assert second["finish_reason"] == "simkeep_error"
    assert second["simkeep/error"].startswith("LockedError: ") and "downloader/request_count" not in second
    assert report.log.count("cannot be used: LockedError: ") == 1


def test_other_directories_are_not_overwritten(tmp_path: Path) -> None:
    place = tmp_path / "crawl.simkeep"
    place.mkdir()
    (place / "precious").write_text("data")
    with served(Site(8)) as site:
        report = crawl(tmp_path, f"{site.url}/", settings=STORE)
        assert not site.asked
    assert report.reason == "simkeep_error" and report.items == []
    assert [file.name for file in place.iterdir()] == ["precious"]


def test_store_with_external_fingerprints_is_rejected(tmp_path: Path) -> None:
    simkeep.Store.create(tmp_path / "crawl.simkeep", epoch="mine/1").close()
    report = crawl(tmp_path, "http://127.0.0.1:9/", settings=STORE | {"JOBDIR": "job"})
    assert report.reason == "simkeep_error" and "another program makes these fingerprints" in report.stat("error")


def test_store_failure_stops_the_spider(tmp_path: Path) -> None:
    # More pages than are requested concurrently.
    with served(Site(400)) as site:
        report = crawl(tmp_path, f"{site.url}/", settings=STORE, poison=2)
        assert sum(site.asked.values()) < 400
    assert report.reason == "simkeep_error" and report.stat("error").startswith("PoisonedError: the disk is \\x1b")
    assert 0 < report.stat("new") == len(report.verdicts)
    with simkeep.Reader(tmp_path / "crawl.simkeep") as reader:
        assert reader.stats().pages == report.stat("new")  # what was acknowledged is there


def test_a_panic_stops_the_spider(tmp_path: Path) -> None:
    with served(Site(400)) as site:
        report = crawl(tmp_path, f"{site.url}/", settings=STORE, panic=2)
        assert sum(site.asked.values()) < 400
    assert report.reason == "simkeep_error" and report.stat("error") == "BugError: Panic: index out of bounds"
    with simkeep.Reader(tmp_path / "crawl.simkeep") as reader:
        assert reader.stats().pages == report.stat("new")


def test_invalid_setting_stops_the_spider_and_is_named(tmp_path: Path) -> None:
    report = crawl(tmp_path, "http://127.0.0.1:9/", settings=STORE | {"SIMKEEP_SAME": "dorp"})
    assert report.failures == [
        "SettingError: SIMKEEP_SAME must be one of \"tag\", \"drop-items\", \"skip\", not 'dorp'"
    ]
    assert not (tmp_path / "crawl.simkeep").exists()


class Named(scrapy.Spider):
    name = "named"


def read(argument: object = None, /, **settings: Any) -> Settings:
    return Settings.read(ScrapySettings(settings), Named(simkeep_revisit_after=argument))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SIMKEEP_STORE", ""),
        ("SIMKEEP_STORE", 7),
        ("SIMKEEP_STORE", "a\0b"),
        ("SIMKEEP_FIELD", ["verdict"]),
        ("SIMKEEP_FIELD", ""),
        ("SIMKEEP_SAME", True),
        ("SIMKEEP_SAME", ["tag"]),
        ("SIMKEEP_NEAR", "Skip"),
        ("SIMKEEP_NEAR_DISTANCE", 65),
        ("SIMKEEP_NEAR_DISTANCE", "3.5"),
        ("SIMKEEP_NEAR_DISTANCE", True),
        ("SIMKEEP_NEAR_DISTANCE", "\u0663"),
        ("SIMKEEP_REVISIT_AFTER", "1d"),
        ("SIMKEEP_REVISIT_AFTER", -1),
        ("SIMKEEP_REVISIT_AFTER", "nan"),
        ("SIMKEEP_REVISIT_AFTER", float("inf")),
        ("SIMKEEP_REVISIT_AFTER", False),
        ("SIMKEEP_CLOCK_TOLERANCE", -1),
        ("SIMKEEP_CLOCK_TOLERANCE", "1d"),
        ("SIMKEEP_DUE", -1),
        ("SIMKEEP_DUE", 1.5),
        ("SIMKEEP_DUE", "9" * 30),
    ],
)
def test_settings_of_the_wrong_type_are_rejected(name: str, value: object) -> None:
    with pytest.raises(SettingError, match=f"^{name} must be .*, not ") as raised:
        read(**{name: value})
    assert str(raised.value).isprintable()


def test_clock_behind_the_store_is_reported(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    late = datetime.now(UTC) + timedelta(days=2)
    settings = read(SIMKEEP_STORE=str(tmp_path / "store"))
    with _open(settings) as store:
        with pytest.raises(simkeep.TimeError):
            store.gone("http://a/", late)
    assert not caplog.records
    with simkeep.Store.open(tmp_path / "store") as store:
        store.gone("http://a/", late)
    with _open(settings) as store:
        store.gone("http://b/", late)
    assert "Check the clock." in caplog.text
    with _open(read(SIMKEEP_STORE=str(tmp_path / "store"), SIMKEEP_CLOCK_TOLERANCE=3 * 86400)):
        assert len(caplog.records) == 1


def test_spider_argument_overrides_the_setting() -> None:
    assert read(SIMKEEP_REVISIT_AFTER="60").revisit_after == 60
    assert read("0", SIMKEEP_REVISIT_AFTER=60).revisit_after == 0
    with pytest.raises(SettingError, match="the spider argument simkeep_revisit_after must be"):
        read("soon")


@pytest.mark.parametrize("name", ["../../etc", "a/b", "..", ".", "/root", "a\0b", "a\nb", "ä", "%2F", "x" * 40])
def test_spider_names_cannot_escape_the_store_directory(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    place = Settings.read(ScrapySettings(), Named(name=name)).store
    assert place.parent == Path(".scrapy/simkeep") and place.suffix == ".simkeep"
    place.parent.mkdir(parents=True, exist_ok=True)
    simkeep.Store.create(place).close()
    assert list(tmp_path.glob(".scrapy/simkeep/*")) == [tmp_path / place]


def test_addon_keeps_existing_settings() -> None:
    settings = ScrapySettings()
    Addon().update_settings(settings)
    assert settings["CONCURRENT_REQUESTS"] == 32
    assert settings["DOWNLOADER_MIDDLEWARES"] == {DownloaderMiddleware: 545}
    assert settings["SPIDER_MIDDLEWARES"] == {SpiderMiddleware: 55}
    places = {"simkeep.scrapy._downloader.DownloaderMiddleware": 7}
    settings = ScrapySettings({"CONCURRENT_REQUESTS": 4, "DOWNLOADER_MIDDLEWARES": places})
    Addon().update_settings(settings)
    assert settings["CONCURRENT_REQUESTS"] == 4 and dict(settings["DOWNLOADER_MIDDLEWARES"]) == places
    for off in (False, "0", "False"):
        with pytest.raises(NotConfigured):
            Addon().update_settings(ScrapySettings({"SIMKEEP_ENABLED": off}))
    with pytest.raises(SettingError, match="SIMKEEP_ENABLED must be True or False, not 'maybe'"):
        Addon().update_settings(ScrapySettings({"SIMKEEP_ENABLED": "maybe"}))


def test_untrusted_text_is_escaped_and_shortened() -> None:
    assert shown("a\x1b[2J\r\u202eb\ud800") == r"a\x1b[2J\r\u202eb\ud800"
    assert len(shown("x" * 10_000)) == 203
