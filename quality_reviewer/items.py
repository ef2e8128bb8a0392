"""Number and count review items and carry them over from round to round (PL-22, PL-25)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.qr.types import PREFIXES, REVIEWER, STATUSES, Item, blocking, item_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from shared.qr.types import Author

ROUNDS_BEFORE_USER = 3


def next_number(items: Iterable[Item], by: Author = REVIEWER) -> int:
    """Return the number for an author's next item: one more than the highest with its prefix."""
    prefix = PREFIXES[by]
    used = (i.id.removeprefix(prefix) for i in items if i.id.startswith(prefix))
    return max(map(int, used), default=0) + 1


def count_items(items: Sequence[Item], iteration: int) -> dict[str, int]:
    """Return how many review items have each status, how many block and how many are accepted."""
    figures: dict[str, int] = {s: sum(i.status == s for i in items) for s in STATUSES}
    figures["blocking"] = len(blocking(items, iteration))
    figures["accepted"] = sum(i.accepted is not None for i in items)
    return figures


def count_round(items: Sequence[Item], iteration: int) -> list[Item]:
    """Return the review items after a failed round, with `rounds` one higher on blocking ones."""
    blocked = {i.id for i in blocking(items, iteration)}
    return [i._replace(rounds=i.rounds + 1) if i.id in blocked else i for i in items]


def for_user(items: Iterable[Item], iteration: int) -> list[Item]:
    """Return the review items that have blocked three rounds, so that the user decides (PL-25)."""
    return [i for i in blocking(items, iteration) if i.rounds >= ROUNDS_BEFORE_USER]


def carry_over(previous: Sequence[Item], fresh: Iterable[Item]) -> list[Item]:
    """Return new review items; those that repeat a previous one take over its id and round count.

    The same check on the same scope is the same item. An acceptance, or why it is declined, holds
    only for the same finding, word for word. Others get new numbers.
    """
    left = list(previous)
    numbers = {by: next_number(previous, by) for by in PREFIXES}
    fresh = list(fresh)
    exact = [_take(left, item, finding=True) for item in fresh]
    kept = []
    for item, same in zip(fresh, exact, strict=True):
        old = same or _take(left, item, finding=False)
        if old is None:
            kept.append(item._replace(id=item_id(numbers[item.by], item.by)))
            numbers[item.by] += 1
        else:
            accepted, declined = (same.accepted, same.declined) if same else (None, None)
            kept.append(
                item._replace(id=old.id, rounds=old.rounds, accepted=accepted, declined=declined)
            )
    return kept


def _take(left: list[Item], item: Item, *, finding: bool) -> Item | None:
    """Remove and return the first review item in `left` that repeats `item`; None if none does."""
    for old in left:
        same = (old.check, old.scope, old.by) == (item.check, item.scope, item.by)
        if same and (not finding or old.finding == item.finding):
            left.remove(old)
            return old
    return None
