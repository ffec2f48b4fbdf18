"""The add-on, which installs the middlewares."""

from scrapy.exceptions import NotConfigured
from scrapy.settings import BaseSettings

from ._downloader import DownloaderMiddleware
from ._settings import is_enabled
from ._spider import SpiderMiddleware

__all__ = ["Addon"]

CONCURRENT_REQUESTS = 32
"""Twice the default of Scrapy, because half of the requests may be waiting for a commit."""


class Addon:
    """Observes every page that a spider fetches: `ADDONS = {"simkeep.scrapy.Addon": 500}`."""

    def update_settings(self, settings: BaseSettings) -> None:
        """Adds a downloader middleware at 545 and a spider middleware at 55, unless the settings place them.

        Pages that wait for a commit count as `CONCURRENT_REQUESTS`, so this method raises the default. Limits for each
        site do not change.
        """
        if not is_enabled(settings):
            raise NotConfigured("SIMKEEP_ENABLED is off")
        settings.set("CONCURRENT_REQUESTS", CONCURRENT_REQUESTS, "addon")
        settings.setdefault_in_component_priority_dict("DOWNLOADER_MIDDLEWARES", DownloaderMiddleware, 545)
        settings.setdefault_in_component_priority_dict("SPIDER_MIDDLEWARES", SpiderMiddleware, 55)
