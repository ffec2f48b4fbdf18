"""Reads and checks the settings of the add-on."""

import math
import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from urllib.parse import quote

from scrapy import Spider
from scrapy.settings import BaseSettings
from scrapy.utils.project import data_path

from ._errors import SettingError, shown

__all__ = ["Policy", "Settings"]


class Policy(StrEnum):
    """The treatments of a response, the mildest first."""

    TAG = "tag"
    DROP_ITEMS = "drop-items"
    SKIP = "skip"


DAY = 86400.0
"""A day in seconds."""

ARGUMENT = "simkeep_revisit_after"
"""The argument of a spider that overrides the setting."""


@dataclass(frozen=True)
class Settings:
    """The settings of a spider."""

    store: Path
    """The path of the store."""
    is_default: bool
    """Whether `path` is the default path, whose parent directories may be created."""
    field: str | None
    """The field of items for the verdict, if any."""
    same: Policy
    """The treatment of unchanged pages."""
    near: Policy
    """The treatment of pages with an original of nearly the same content."""
    near_distance: int | None
    """The largest distance of near pages; `None` for the default of the store's recipe."""
    revisit_after: float
    """The seconds in which a page is not requested again."""
    clock_tolerance: float
    """The maximum number of seconds by which a visit may be later than the clock."""
    conditional: bool
    """Whether requests have the validators that the store knows, so that the server can answer 304."""
    due: int
    """The number of start requests for due pages."""

    @classmethod
    def read(cls, settings: BaseSettings, spider: Spider) -> "Settings":
        """Reads the settings of a spider. Raises `SettingError` with the name of an invalid setting."""
        store = settings.get("SIMKEEP_STORE")
        revisit = _number("SIMKEEP_REVISIT_AFTER", settings.get("SIMKEEP_REVISIT_AFTER"))
        argument = _number(f"the spider argument {ARGUMENT}", getattr(spider, ARGUMENT, None))
        tolerance = _number("SIMKEEP_CLOCK_TOLERANCE", settings.get("SIMKEEP_CLOCK_TOLERANCE"))
        return cls(
            store=_default(spider.name) if store is None else _path("SIMKEEP_STORE", store),
            is_default=store is None,
            field=_field("SIMKEEP_FIELD", settings.get("SIMKEEP_FIELD")),
            same=_policy("SIMKEEP_SAME", settings.get("SIMKEEP_SAME")),
            near=_policy("SIMKEEP_NEAR", settings.get("SIMKEEP_NEAR")),
            near_distance=_whole("SIMKEEP_NEAR_DISTANCE", settings.get("SIMKEEP_NEAR_DISTANCE"), 64),
            revisit_after=(revisit or 0.0) if argument is None else argument,
            clock_tolerance=DAY if tolerance is None else tolerance,
            conditional=_switch("SIMKEEP_CONDITIONAL", settings, False),
            due=_whole("SIMKEEP_DUE", settings.get("SIMKEEP_DUE"), 10**9) or 0,
        )


def is_enabled(settings: BaseSettings) -> bool:
    """Whether `SIMKEEP_ENABLED` is on, as it is by default."""
    return _switch("SIMKEEP_ENABLED", settings, True)


def _switch(name: str, settings: BaseSettings, default: bool) -> bool:
    try:
        return settings.getbool(name, default)
    except ValueError:
        raise _wrong(name, "True or False", settings.get(name)) from None


def _wrong(name: str, expected: str, given: object) -> SettingError:
    return SettingError(f"{name} must be {expected}, not {shown(repr(given))}")


def _default(spider: str) -> Path:
    """The default path of a spider's store. Quoting keeps it in the data directory."""
    return Path(data_path("simkeep")) / f"{quote(spider, safe='')}.simkeep"


def _path(name: str, given: object) -> Path:
    if not isinstance(given, str | os.PathLike) or not str(given) or "\0" in str(given):
        raise _wrong(name, "the path of a directory", given)
    return Path(given)


def _field(name: str, given: object) -> str | None:
    if given is None:
        return None
    if not isinstance(given, str) or not given:
        raise _wrong(name, "the name of a field of items", given)
    return given


def _policy(name: str, given: object) -> Policy:
    if given is None:
        return Policy.TAG
    for policy in Policy:
        if given == policy:
            return policy
    raise _wrong(name, "one of " + ", ".join(f'"{policy}"' for policy in Policy), given)


def _whole(name: str, given: object, most: int) -> int | None:
    """A whole number. A number from the command line is a text."""
    if given is None:
        return None
    if isinstance(given, str) and given.isascii() and given.isdigit() and len(given) <= 19:
        given = int(given)
    if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= most:
        raise _wrong(name, f"a whole number from 0 to {most}", given)
    return given


def _number(name: str, given: object) -> float | None:
    """A number of seconds. A number from the command line is a text."""
    if given is None:
        return None
    number = given
    if isinstance(number, str):
        try:
            number = float(number)
        except ValueError:
            raise _wrong(name, "a number of seconds", given) from None
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise _wrong(name, "a number of seconds", given)
    if not 0 <= number or not math.isfinite(number):
        raise _wrong(name, "a finite number of seconds that is not negative", given)
    return float(number)
