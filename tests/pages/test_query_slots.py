"""Tests of the slots for queries: nobody occupies all of them, and stuck queries give theirs to others."""

from __future__ import annotations

import asyncio

import pytest

from graphneg.pages import query_slots
from graphneg.pages.query_slots import MOST_OF_ONE, MOST_STUCK, PATIENT, QUICK, BusyError, QuerySlots, Slot

ANN, BOB, CARL = "192.0.2.1", "192.0.2.2", "192.0.2.3"


@pytest.fixture(autouse=True)
def _short_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_slots, "WAIT_SECONDS", 0.1)


async def occupied(slots: QuerySlots, visitor: str) -> list[Slot]:
    """Let a visitor take slots until one is refused."""
    taken: list[Slot] = []
    while True:
        try:
            taken.append(await slots.take(visitor))
        except BusyError:
            return taken


def test_one_visitor_can_not_occupy_all_slots() -> None:
    async def work() -> None:
        slots = QuerySlots(30)
        assert len(await occupied(slots, ANN)) == MOST_OF_ONE
        assert (await slots.take(BOB)).seconds == query_slots.QUICK_SECONDS

    asyncio.run(work())


def test_stuck_queries_give_their_slots_to_other_visitors() -> None:
    async def work() -> None:
        slots = QuerySlots(30)
        stuck = [*await occupied(slots, ANN), *await occupied(slots, BOB)]
        assert len(stuck) == PATIENT + QUICK
        for slot in stuck:
            slot.give_up()
        assert len(await occupied(slots, CARL)) == MOST_OF_ONE
        with pytest.raises(BusyError, match="has not stopped your earlier queries"):
            await slots.take(ANN)
        # When the queries end, their slots are not freed a second time.
        for slot in stuck:
            slot.release()
        assert len(await occupied(slots, ANN)) == 1

    asyncio.run(work())


def test_the_number_of_stuck_queries_is_limited() -> None:
    async def work() -> None:
        slots = QuerySlots(30)
        taken = 0
        for number in range(30):
            for slot in await occupied(slots, f"198.51.100.{number}"):
                slot.give_up()
                taken += 1
        assert taken == MOST_STUCK + PATIENT + QUICK

    asyncio.run(work())
