"""Start requests for what is due."""

from collections.abc import AsyncIterator, Sequence

from scrapy import Request, Spider

import simkeep
from simkeep import _types

from ._session import Session
from ._visit import now

__all__ = ["due"]

LEASE = 7 * 86_400
"""How long pages are out, in seconds. The store is closed with the spider, and then they are no longer."""


async def due(session: Session, spider: Spider) -> AsyncIterator[Request]:
    """Requests for as many pages as the settings say, the best first."""
    left = session.settings.due
    domains = getattr(spider, "allowed_domains", None) or ()
    domains = [domains] if isinstance(domains, str) else [*domains]
    rules: list[_types.Rule] = []
    if session.settings.revisit_after >= 1:
        rules.append({"min": session.settings.revisit_after})
    while left and (taken := await session.ask(_take, left, domains, rules)):
        for decision in taken:
            # What is known by a key of another kind cannot be requested.
            if decision.page.url.startswith(("http://", "https://")):
                left -= 1
                session.count("due")
                yield Request(decision.page.url)


def _take(
    store: simkeep.Store, count: int, domains: Sequence[str], rules: list[_types.Rule]
) -> list[simkeep.Decision]:
    """The best pages of some domains, or of all."""
    at, taken = now(), []
    for under in domains or (None,):
        try:
            taken += store.take_due(at, count, LEASE, under=under, rules=rules)
        except simkeep.PrefixError:
            continue  # Scrapy says what is no domain.
    # Of each domain the best come first: of all of them those of which a visit is worth most.
    taken.sort(key=lambda decision: (decision.reason != simkeep.Reason.OVERDUE, -decision.value))
    for decision in taken[count:]:
        store.hand_back(decision.page.url)
    return taken[:count]
