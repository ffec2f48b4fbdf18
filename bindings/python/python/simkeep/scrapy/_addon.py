"""The add-on: puts the middlewares in their places."""

from scrapy.exceptions import NotConfigured
from scrapy.settings import BaseSettings

from ._downloader import DownloaderMiddleware
from ._settings import is_enabled
from ._spider import SpiderMiddleware

__all__ = ["Addon"]


class Addon:
    """Has every page that a spider fetches observed in a store: `ADDONS = {"simkeep.scrapy.Addon": 500}`."""

    def update_settings(self, settings: BaseSettings) -> None:
        """Adds a downloader middleware at 545 and a spider middleware at 55, unless they have places already."""
        if not is_enabled(settings):
            raise NotConfigured("SIMKEEP_ENABLED is off")
        settings.setdefault_in_component_priority_dict("DOWNLOADER_MIDDLEWARES", DownloaderMiddleware, 545)
        settings.setdefault_in_component_priority_dict("SPIDER_MIDDLEWARES", SpiderMiddleware, 55)
