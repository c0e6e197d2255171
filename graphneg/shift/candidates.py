"""Candidates for other perspectives of a reply: Algorithm 1 of CAPT.

Every keyword of the post is a focus. What replies moved to from it, without the perspective that
this reply took, is split into subsets; a predictor takes one substitute of each
(``graphneg.shift.prediction``).

Two things go beyond the paper, and can be turned off (``Reach.paper()``): keywords of earlier turns
are foci too, counting less, and where a focus was seen seldom, what lies two hops away is a
candidate as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from graphneg.errors import InputError
from graphneg.hashing import shuffled
from graphneg.shards import natural_order
from graphneg.shift.graphs import Likelihoods, Shifts
from graphneg.store.connection import Store
from graphneg.store.dialogues import Selection, dialogue_ids
from graphneg.store.statements import cypher_text

DECAY = 0.5
"""What an earlier turn's keywords count, against those of the turn behind it."""
DIALOGUES = 50


@dataclass(frozen=True, slots=True)
class Reach:
    """Where candidates are looked for, and how those of a focus are split.

    ``turns``: keywords of how many turns before the reply are foci (1: of the post alone).
    ``hops``: 1, or 2 for perspectives of the perspectives too. ``most``: at most so many candidates
    of a focus, the likeliest. They are split into subsets of ``size`` (less than twice as many, and fewer
    only where there are fewer in all), by hashes of ``seed`` and names. CAPT's subsets have 5 to 100.

    Raises `InputError`: one of them is out of range.
    """

    turns: int = 3
    hops: int = 2
    most: int = 1000
    size: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        if self.turns < 1 or self.most < 1:
            raise InputError("at least one turn and one candidate: 'turns' and 'most' must be 1 or more")
        if self.hops not in (1, 2):
            raise InputError(f"hops {self.hops}: candidates are 1 or 2 hops away")
        if self.size < 1:
            raise InputError("a subset has at least one candidate: 'size' must be 1 or more")

    @classmethod
    def paper(cls) -> Reach:
        """CAPT's own: the keywords of the post, one hop."""
        return cls(turns=1, hops=1, most=1_000_000)

    def split(self, focus: str, candidates: Sequence[str]) -> list[tuple[str, ...]]:
        """The subsets; each candidate is in exactly one.

        >>> [len(one) for one in Reach(size=2).split("tea", ["cup", "milk", "hot", "sugar", "leaf"])]
        [2, 3]
        """
        amount = max(1, len(candidates) // self.size)
        mixed = shuffled(candidates, self.seed, "substitutes", focus)
        ends = [len(mixed) * part // amount for part in range(amount + 1)]
        parts = [mixed[start:end] for start, end in pairwise(ends)]
        return [tuple(part) for part in parts if part]


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply with what came before it. ``focus`` and ``perspective`` are its own, None where it has none.

    ``turns`` are the texts before it, the post last; ``keywords`` are those of the same turns, each
    with its score.
    """

    id: str
    text: str
    focus: str | None
    perspective: str | None
    turns: tuple[str, ...]
    keywords: tuple[Mapping[str, float], ...]


@dataclass(frozen=True, slots=True)
class Focus:
    """A keyword to reply to. ``candidates`` are what it reaches, the likeliest first."""

    text: str
    salience: float
    candidates: tuple[str, ...]
    likelihoods: Likelihoods


@dataclass(frozen=True, slots=True)
class Post:
    """What a predictor sees of a reply's context: texts before it, and foci, the most salient first.

    ``keywords`` are all keywords with their salience, those too that the shift graph does not know.
    """

    turns: tuple[str, ...]
    foci: tuple[Focus, ...]
    keywords: Mapping[str, float]

    @property
    def text(self) -> str:
        """The turn that is replied to."""
        return self.turns[-1]


def posts(shifts: Shifts, replies: Sequence[Reply], reach: Reach) -> list[Post]:
    """The post of each reply with its foci and their candidates; the reply's own perspective is none."""
    salient = [_salience(reply, reach.turns) for reply in replies]
    known = shifts.likelihoods({text for keywords in salient for text in keywords}, reach.hops)
    seen: list[Post] = []
    for reply, keywords in zip(replies, salient, strict=True):
        foci: list[Focus] = []
        for text in filter(known.__contains__, keywords):
            ranked = known[text].ranked[: reach.most + 1]
            candidates = tuple(other for other in ranked if other != reply.perspective)[: reach.most]
            if candidates:
                foci.append(Focus(text, keywords[text], candidates, known[text]))
        seen.append(Post(reply.turns, tuple(foci), keywords))
    return seen


def replies_of(store: Store, dialogues: Sequence[str]) -> list[Reply]:
    """The replies of dialogues, in their order: utterances that follow others, and right responses."""
    turns: dict[str, dict[int, tuple[str, Mapping[str, float]]]] = {}
    for row in store.read(cypher_text("shift/candidates_turns"), ids=list(dialogues)):
        keywords = {text: float(score) for text, score in row["keywords"] if text is not None}
        turns.setdefault(row["dialogue"], {})[row["turn"]] = (row["text"], keywords)
    rows = store.read(cypher_text("shift/candidates_replies"), ids=list(dialogues))
    order = {id: at for at, id in enumerate(dialogues)}
    rows.sort(key=lambda row: (order[row["dialogue"]], row["turn"], natural_order(row["reply"])))
    replies: list[Reply] = []
    for row in rows:
        before = [turns[row["dialogue"]][at] for at in sorted(turns[row["dialogue"]]) if at <= row["turn"]]
        texts, keywords = tuple(text for text, _ in before), tuple(some for _, some in before)
        replies.append(Reply(row["reply"], row["text"], row["focus"], row["perspective"], texts, keywords))
    return replies


def all_replies(
    store: Store, selection: Selection, skip: int = 0, after: str = ""
) -> Iterator[tuple[list[str], list[Reply]]]:
    """Some dialogues at a time, in flat memory: their ids, and their replies.

    ``skip`` leaves out the first dialogues of the selection, up to the order ``after``.
    """
    ids = dialogue_ids(store, selection, skip, after)
    while some := list(islice(ids, DIALOGUES)):
        yield some, replies_of(store, some)


def stored_reply(store: Store, id: str) -> Reply:
    """The reply of an id: an utterance that follows another one, or a response.

    Raises `InputError`: there is no such reply.
    """
    for reply in replies_of(store, [id.partition("#")[0]]):
        if reply.id == id:
            return reply
    raise InputError(
        f"{id} is no reply: neither an utterance behind another one nor a right response in the store"
    )


def _salience(reply: Reply, turns: int) -> dict[str, float]:
    """The keywords of the last turns, the most salient first; a repeated one counts where it counts most."""
    found: dict[str, float] = {}
    for back, keywords in enumerate(reversed(reply.keywords[-turns:])):
        for text, score in keywords.items():
            found[text] = max(found.get(text, 0.0), score * DECAY**back)
    return {text: found[text] for text in sorted(found, key=lambda text: (-found[text], text))}
