"""A Scrapy add-on. Every page that a spider fetches is observed, and the callback gets the state of the page.

    ADDONS = {"simkeep.scrapy.Addon": 500}
    SIMKEEP_STORE = "crawl.simkeep"

Callbacks find the `simkeep.Outcome` in `response.meta["simkeep"]`. `docs/scrapy.md` next to the package's README has
all settings, keys of `meta` and stats.
"""

from ._addon import Addon
from ._errors import NotRequested, SettingError, Skipped

__all__ = ["Addon", "NotRequested", "SettingError", "Skipped"]
