"""Start requests for due pages."""

from collections.abc import AsyncIterator, Sequence

from scrapy import Request, Spider

import simkeep
from simkeep import _types

from ._session import Session
from ._visit import now

__all__ = ["due"]

LEASE = 7 * 86_400
"""The length of a lease in seconds. Closing the store, with the spider, ends all leases."""


async def due(session: Session, spider: Spider) -> AsyncIterator[Request]:
    """Yields requests for due pages, the most valuable first, up to the number in the settings."""
    left = session.settings.due
    domains = getattr(spider, "allowed_domains", None) or ()
    domains = [domains] if isinstance(domains, str) else [*domains]
    rules: list[_types.Rule] = []
    if session.settings.revisit_after >= 1:
        rules.append({"min": session.settings.revisit_after})
    while left and (leased := await session.ask(_lease, left, domains, rules)):
        for decision in leased:
            # A page with another kind of key cannot be requested.
            if decision.page.url.startswith(("http://", "https://")):
                left -= 1
                session.count("due")
                yield Request(decision.page.url)


def _lease(
    store: simkeep.Store, count: int, domains: Sequence[str], rules: list[_types.Rule]
) -> list[simkeep.Decision]:
    """Leases the most valuable due pages of some domains, or of all domains."""
    at, leased = now(), []
    for under in domains or (None,):
        try:
            leased += store.lease_due(at, count, LEASE, under=under, rules=rules)
        except simkeep.PrefixError:
            continue  # Scrapy reports invalid domains.
    # Each domain returns its best pages. The best of all domains are kept, and the other pages are released.
    leased.sort(key=lambda decision: (decision.reason != simkeep.Reason.OVERDUE, -decision.value))
    for decision in leased[count:]:
        store.release(decision.page.url)
    return leased[:count]
