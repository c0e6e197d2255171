"""Tests of `graphneg.editing.replies`: where and how a reply can repeat a claim."""

from __future__ import annotations

from typing import Any

import pytest

from graphneg.editing.replies import expand_replies
from graphneg.store.dialogues import StoredDialogue, StoredTurn

DIALOGUE = StoredDialogue(
    "d",
    "own",
    "all",
    tuple(StoredTurn(n, "AB"[n % 2], "text", None if n == 3 else f"d#{n}") for n in range(7)),
)


def say(**more: Any) -> dict[str, Any]:
    return {"op": "say", "from_amr": "d#0", "from_position": 2, "site": "s", **more}


CHANGE = {"op": "add", "position": 2, "role": "polarity", "value": "-", "copy_of": "d#0", "site": "s"}


@pytest.mark.parametrize(
    ("saying", "places"),
    [
        # A claim that is not clear without its context is repeated in the next turn, by the other speaker.
        ({"frames": ["check", "why"]}, ["d#1 other check", "d#1 other why"]),
        ({"frames": ["check"], "own_frames": ["claim"]}, ["d#1 other check"]),
        ({"frames": ["check"], "context_free": False}, ["d#1 other check"]),
        # A claim that is clear without its context is repeated up to four turns later. Turn 3 has no graph.
        (
            {"frames": ["check"], "own_frames": ["claim"], "context_free": True},
            ["d#1 other check", "d#2 own claim", "d#4 own claim"],
        ),
        (
            {"own_frames": ["claim", "said"], "context_free": True},
            [
                "d#2 own claim",
                "d#2 own said",
                "d#4 own claim",
                "d#4 own said",
            ],
        ),
        ({"frames": [], "context_free": True}, []),
        ({"frames": None, "own_frames": ["claim"], "context_free": True}, ["d#2 own claim", "d#4 own claim"]),
        # Nothing comes after the last turn.
        ({"from_amr": "d#6", "frames": ["check"]}, []),
    ],
)
def test_a_claim_is_repeated_where_it_is_clear(saying: dict[str, Any], places: list[str]) -> None:
    rows = list(expand_replies([say(**saying), CHANGE], DIALOGUE))
    said, changed = rows[::2], rows[1::2]
    assert [f"{row['amr']} {row['voice']} {row['frame']}" for row in said] == places
    assert [row["site"] for row in said] == [f"{row['amr']}<s>{row['frame']}" for row in said]
    # Each copy of the claim gets the change.
    assert changed == [{**CHANGE, "amr": row["amr"], "site": row["site"]} for row in said]
    assert all(row["position"] == 0 and not {"frames", "own_frames", "context_free"} & {*row} for row in said)


def test_other_edits_stay_as_they_are() -> None:
    others = [{"op": "drop", "amr": "d#2", "position": 1}, 7, {"op": "drop", "amr": "d#2", "site": ["s"]}]
    assert list(expand_replies(others, DIALOGUE)) == others
    assert list(expand_replies([*others, say(frames=["check"])], DIALOGUE))[:3] == others


@pytest.mark.parametrize(
    ("saying", "fault"),
    [
        ({"frames": "check"}, "frames must be a list of names of frames, not 'check'"),
        ({"frames": ["check", 1]}, "frames must be a list of names of frames"),
        ({"own_frames": {"claim": 1}}, "own_frames must be a list"),
        ({"frames": ["why", "check", "why"]}, "frames contains a frame twice"),
        ({"frames": ["check", "doubt"]}, "frames: 'doubt' is not one of check, why"),
        ({"own_frames": ["why"]}, "own_frames: 'why' is not one of claim, said"),
        ({"frames": ["check"], "site": None}, "'say' with frames needs a site, a text, not None"),
        ({"frames": ["check"], "site": ["s"]}, "'say' with frames needs a site"),
        ({"frames": ["check"], "from_amr": "e#0"}, "from_amr 'e#0' is not a graph of the dialogue"),
        ({"frames": ["check"], "from_amr": ["d#0"]}, "from_amr .* is not a graph of the dialogue"),
        ({"frames": ["check"], "context_free": 1}, "context_free must be true or false, not 1"),
    ],
)
def test_wrong_replies_are_refused(saying: dict[str, Any], fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        list(expand_replies([say(**saying), CHANGE], DIALOGUE))
