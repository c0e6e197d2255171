"""Find the claims of a dialogue, and propose replies that repeat them in reply frames.

A *claim* is a clause that a later reply can repeat, for example "I like tea". The query of a transform gets
the claims of each dialogue (header ``needs: claims``). It proposes a change of a claim, and names the reply
frames in which the changed claim can be repeated. It does not choose the turn that the reply replaces, and
does not repeat the proposal for each frame. `expand_replies` does both. For example, if speaker A said "I
like tea" in turn 1 and speaker B answered in turn 2, the edits

    {op: 'say', from_amr: 'd#1', from_position: 0, frames: ['check', 'why'], site: 'd#1.0'}
    {op: 'add', position: 0, role: 'polarity', value: '-', copy_of: 'd#1', site: 'd#1.0'}

become two sites of the graph ``d#2``, one for each frame: "So you don't like tea?" and "Why don't you like
tea?"
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import NoneType
from typing import Any

from graphneg.english.reply_frames import frames_of, reply_frame
from graphneg.store.connection import Store
from graphneg.store.dialogues import StoredDialogue, StoredTurn
from graphneg.store.statements import cypher_text

MAX_DISTANCE = 4
"""Maximum number of turns between a claim and the reply that repeats it, if the claim is clear without its
context. Other claims are repeated only in the next turn."""
_FRAMES = {"own": "own_frames", "other": "frames"}
"""The keys of a row that contain the names of reply frames, by the voice of the frames."""
_REPLY_KEYS = frozenset({*_FRAMES.values(), "context_free"})
"""The keys of a ``say`` that only `expand_replies` reads."""
_REMEMBERED = 2_000
"""Number of dialogues whose claims are kept in memory."""
Row = dict[str, Any]


class Claims:
    """Read the claims of dialogues. Recently read claims are kept, because many transforms use them.

    Args:
        store: An open store.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[tuple[str, tuple[str, ...]], list[Row]] = {}

    def claims_of(self, dialogues: Sequence[StoredDialogue]) -> list[list[Row]]:
        """Return the claims of dialogues.

        Args:
            dialogues: Dialogues with the graphs of their turns.

        Returns:
            A list of claims for each dialogue, in the order of the graphs. The query ``read/claims``
            describes the keys of a claim.
        """
        keys = [(dialogue.id, tuple(dialogue.graphs)) for dialogue in dialogues]
        found = {key: self._known[key] for key in keys if key in self._known}
        new = {key: one for key, one in zip(keys, dialogues, strict=True) if key not in found}
        if new:
            parameters = [dialogue.parameter() for dialogue in new.values()]
            rows = self._store.read(cypher_text("read/claims"), dialogues=parameters)
            claims: dict[str, list[Row]] = {row["dialogue"]: row["claims"] for row in rows}
            for key in new:
                found[key] = sorted(claims.get(key[0], ()), key=lambda one: (one["turn"], one["position"]))
            # If two threads replace `_known` at the same time, the claims of one thread are lost, and read
            # again later.
            self._known = {**(self._known if len(self._known) < _REMEMBERED else {}), **found}
        return [found[key] for key in keys]


def expand_replies(rows: Sequence[Any], dialogue: StoredDialogue) -> Iterator[Any]:
    """Copy the proposed edits of a reply for each turn and frame in which it can repeat a claim.

    A claim is a clause that a reply can repeat, such as "I like tea". A frame is a pattern for the reply,
    such as "Why ...?". Edits with the same site belong together. They make a reply if one of them is a
    ``say`` with the key ``frames`` or ``own_frames``: it copies the claim, and the other edits change the
    copy.

    Args:
        rows: Edits as returned by the query of a transform.
        dialogue: Dialogue to which the edits belong.

    Yields:
        The edits. The edits of a reply are copied for each turn and frame, under the name
        ``GRAPH<SITE>FRAME``. ``GRAPH`` is the graph of the turn that the reply replaces, and becomes the
        value of the key ``amr``. The ``say`` also gets the keys ``position``, ``voice`` and ``frame``. All
        other edits, including invalid ones, are yielded unchanged.

    Raises ValueError, with the reason, if the frames, the site or ``from_amr`` of a ``say`` are wrong.
    """
    turns = {turn.graph_id: turn for turn in dialogue.turns if turn.graph_id is not None}
    sayings = {_checked_site(row, turns): row for row in rows if _names_frames(row)}
    if not sayings:
        yield from rows
        return
    changes: dict[str, list[Row]] = {site: [] for site in sayings}
    for row in rows:
        site = row.get("site") if isinstance(row, dict) else None
        # The server may return a list or a map as the site. Such values cannot be looked up in a dict.
        if isinstance(site, str) and site in changes:
            changes[site].append(row)
        else:
            yield row
    for site, saying in sayings.items():
        for graph, voice, frame in _places(saying, turns):
            for edit in changes[site]:
                placed: Row = {**edit, "amr": graph, "site": f"{graph}<{site}>{frame}"}
                if edit is saying:
                    keys = {"position": 0, "voice": voice, "frame": frame}
                    placed = {key: placed[key] for key in placed if key not in _REPLY_KEYS} | keys
                yield placed


def _names_frames(row: Any) -> bool:
    """Return whether an edit is a ``say`` that lists the frames in which a reply can repeat a claim."""
    return isinstance(row, dict) and row.get("op") == "say" and not {*_FRAMES.values()}.isdisjoint(row)


def _checked_site(saying: Row, turns: Mapping[str, StoredTurn]) -> str:
    """Return the site of a ``say`` with frames. Raise ValueError if its site, graph or frames are wrong."""
    site = saying.get("site")
    if not isinstance(site, str):
        raise ValueError(f"'say' with frames needs a site, a text, not {site!r}")
    source = saying.get("from_amr")
    # The server may return a list or a map, which cannot be looked up in a dict.
    if not isinstance(source, str) or source not in turns:
        raise ValueError(f"from_amr {source!r} is not a graph of the dialogue")
    if type(saying.get("context_free")) not in (bool, NoneType):
        raise ValueError(f"context_free must be true or false, not {saying['context_free']!r}")
    for voice, key in _FRAMES.items():
        frames = saying.get(key)
        if frames is None:
            continue
        if not (isinstance(frames, list) and all(isinstance(one, str) for one in frames)):
            raise ValueError(f"{key} must be a list of names of frames, not {frames!r}")
        # Refuse duplicates: the edits of the site are copied for each frame, and a list in an untrusted file
        # could contain the same frame thousands of times.
        if len(frames) != len({*frames}):
            raise ValueError(f"{key} contains a frame twice")
        if (unknown := next((one for one in frames if reply_frame(one, voice) is None), None)) is not None:
            raise ValueError(f"{key}: {unknown!r} is not one of {', '.join(frames_of(voice))}")
    return site


def _places(saying: Row, turns: Mapping[str, StoredTurn]) -> Iterator[tuple[str, str, str]]:
    """Find the turns and frames in which a reply can repeat a claim.

    Yields:
        Triples: the graph of the turn that the reply replaces, the voice (``own`` if the speaker of this turn
            made the claim, otherwise ``other``), and the name of the frame.
    """
    claimed = turns[saying["from_amr"]]
    for graph, turn in turns.items():
        distance = turn.turn - claimed.turn
        voice = "own" if turn.speaker == claimed.speaker else "other"
        # "She loves it" is repeated only in the next turn, by the other speaker. Later, it may be unclear who
        # "she" is.
        is_next = distance == 1 and voice == "other"
        # "My sister loves letters" is clear without its context, so either speaker can repeat it later.
        if is_next or (saying.get("context_free") and 1 <= distance <= MAX_DISTANCE):
            for frame in saying.get(_FRAMES[voice]) or ():
                yield graph, voice, frame
