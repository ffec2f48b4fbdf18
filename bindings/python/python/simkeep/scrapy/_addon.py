"""The add-on: puts the middlewares in their places."""

from scrapy.exceptions import NotConfigured
from scrapy.settings import BaseSettings

from ._downloader import DownloaderMiddleware
from ._settings import is_enabled
from ._spider import SpiderMiddleware

__all__ = ["Addon"]

CONCURRENT_REQUESTS = 32
"""Twice as many as Scrapy has by default: as many again are fetched while others wait for their commit."""


class Addon:
    """Has every page that a spider fetches observed in a store: `ADDONS = {"simkeep.scrapy.Addon": 500}`."""

    def update_settings(self, settings: BaseSettings) -> None:
        """Adds a downloader middleware at 545 and a spider middleware at 55, unless they have places already.

        Pages that wait for their commit are among `CONCURRENT_REQUESTS`, so there may be more of these unless
        somebody has said how many. What is requested of a site at a time stays.
        """
        if not is_enabled(settings):
            raise NotConfigured("SIMKEEP_ENABLED is off")
        settings.set("CONCURRENT_REQUESTS", CONCURRENT_REQUESTS, "addon")
        settings.setdefault_in_component_priority_dict("DOWNLOADER_MIDDLEWARES", DownloaderMiddleware, 545)
        settings.setdefault_in_component_priority_dict("SPIDER_MIDDLEWARES", SpiderMiddleware, 55)
