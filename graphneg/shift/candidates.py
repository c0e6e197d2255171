"""Find candidates for other perspectives of a reply (CAPT, Algorithm 1).

Every keyword of the post is a focus. What replies moved to from a focus, without the perspective of this
reply, is split into subsets. A predictor (`graphneg.shift.prediction`) chooses one substitute of each subset:

    post "I had a coffee.", reply about "cake"
    focus "coffee", shifts to cake, sugar, price, morning   ->   candidates sugar, price, morning

There are two departures from the paper, which `Reach.paper` turns off: keywords of earlier turns are foci as
well, with a lower weight, and perspectives that are two hops away are candidates.
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
"""Weight of the keywords of a turn, relative to those of the turn after it."""
DIALOGUES = 50
"""Number of dialogues to read at a time."""


@dataclass(frozen=True, slots=True)
class Reach:
    """Where candidates are looked for, and how those of a focus are split.

    Attributes:
        turns: Number of turns before the reply whose keywords are foci; 1 for the post alone.
        hops: 1, or 2 to include the perspectives of perspectives.
        most: Maximum number of candidates of a focus; the likeliest are kept.
        size: Minimum size of a subset, unless there are fewer candidates in all. Subsets have less than twice
            as many. CAPT's subsets have 5 to 100.
        seed: Seed of the split into subsets.
    """

    turns: int = 3
    hops: int = 2
    most: int = 1000
    size: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the ranges of the numbers."""
        if self.turns < 1 or self.most < 1:
            raise InputError("at least one turn and one candidate: 'turns' and 'most' must be 1 or more")
        if self.hops not in (1, 2):
            raise InputError(f"hops {self.hops}: candidates are 1 or 2 hops away")
        if self.size < 1:
            raise InputError("a subset has at least one candidate: 'size' must be 1 or more")

    @classmethod
    def paper(cls) -> Reach:
        """Return the reach of CAPT: the keywords of the post, and one hop."""
        return cls(turns=1, hops=1, most=1_000_000)

    def split(self, focus: str, candidates: Sequence[str]) -> list[tuple[str, ...]]:
        """Split the candidates of a focus into subsets, each candidate into exactly one.

        Args:
            focus: Text of the focus, which the split depends on.
            candidates: Texts of the candidates.

        Returns:
            The subsets.

        Example:
            >>> [len(one) for one in Reach(size=2).split("tea", ["cup", "milk", "hot", "sugar", "leaf"])]
            [2, 3]
        """
        # Rounding down makes no subset smaller than `size`.
        amount = max(1, len(candidates) // self.size)
        # Likely candidates are spread over the subsets, of which each gives one substitute.
        mixed = shuffled(candidates, self.seed, "substitutes", focus)
        ends = [len(mixed) * part // amount for part in range(amount + 1)]
        parts = [mixed[start:end] for start, end in pairwise(ends)]
        return [tuple(part) for part in parts if part]


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply with its context.

    Attributes:
        id: Id of the utterance or response.
        text: Text of the reply.
        focus: Keyword that it attends to, or None.
        perspective: Keyword that it moves to, or None.
        turns: Texts before the reply, the post last.
        keywords: Keywords of the same turns, each with its score.
    """

    id: str
    text: str
    focus: str | None
    perspective: str | None
    turns: tuple[str, ...]
    keywords: tuple[Mapping[str, float], ...]


@dataclass(frozen=True, slots=True)
class Focus:
    """A keyword that a reply can attend to.

    Attributes:
        text: Text of the keyword.
        salience: Score of the keyword, lowered for earlier turns.
        candidates: Perspectives that it reaches, likeliest first.
        likelihoods: Likelihoods of all perspectives given this focus.
    """

    text: str
    salience: float
    candidates: tuple[str, ...]
    likelihoods: Likelihoods


@dataclass(frozen=True, slots=True)
class Post:
    """What a predictor knows about the context of a reply.

    Attributes:
        turns: Texts before the reply, the post last.
        foci: Foci that have candidates, most salient first.
        keywords: Salience of all keywords, also of those that are not in the shift graph.
    """

    turns: tuple[str, ...]
    foci: tuple[Focus, ...]
    keywords: Mapping[str, float]

    @property
    def text(self) -> str:
        """The turn that is replied to."""
        return self.turns[-1]


def posts(shifts: Shifts, replies: Sequence[Reply], reach: Reach) -> list[Post]:
    """Return the context of each reply, with foci and their candidates.

    Args:
        shifts: Shift graph of the store.
        replies: Replies with their context.
        reach: Where candidates are looked for.

    Returns:
        A post for each reply. The reply's own perspective is not among the candidates.
    """
    salient = [_salience(reply, reach.turns) for reply in replies]
    known = shifts.likelihoods({text for keywords in salient for text in keywords}, reach.hops)
    seen: list[Post] = []
    for reply, keywords in zip(replies, salient, strict=True):
        foci: list[Focus] = []
        for text in filter(known.__contains__, keywords):
            # One more, because the reply's own perspective may be among them.
            ranked = known[text].ranked[: reach.most + 1]
            candidates = tuple(other for other in ranked if other != reply.perspective)[: reach.most]
            if candidates:
                foci.append(Focus(text, keywords[text], candidates, known[text]))
        seen.append(Post(reply.turns, tuple(foci), keywords))
    return seen


def replies_of(store: Store, dialogues: Sequence[str]) -> list[Reply]:
    """Return the replies of dialogues: utterances that follow another one, and right responses.

    Args:
        store: Store with the dialogues.
        dialogues: Ids of dialogues.

    Returns:
        The replies, in the order of the dialogues and turns.
    """
    turns: dict[str, dict[int, tuple[str, Mapping[str, float]]]] = {}
    for row in store.read(cypher_text("shift/candidates_turns"), ids=list(dialogues)):
        # A turn without keywords has one row of nulls.
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
    """Yield the replies of the selected dialogues, some dialogues at a time.

    Args:
        store: Store with the dialogues.
        selection: Dialogues to read.
        skip: Number of dialogues to leave out at the beginning.
        after: Order of the last of these dialogues.

    Yields:
        The ids of some dialogues, and their replies.
    """
    ids = dialogue_ids(store, selection, skip, after)
    while some := list(islice(ids, DIALOGUES)):
        yield some, replies_of(store, some)


def stored_reply(store: Store, id: str) -> Reply:
    """Return a reply of the store.

    Args:
        store: Store with the dialogues.
        id: Id of an utterance that follows another one, or of a right response.

    Returns:
        The reply with its context.

    Raises:
        InputError: There is no such reply.
    """
    for reply in replies_of(store, [id.partition("#")[0]]):
        if reply.id == id:
            return reply
    raise InputError(
        f"{id} is not a reply: neither an utterance after another one nor a right response in the store"
    )


def _salience(reply: Reply, turns: int) -> dict[str, float]:
    """Return the keywords of the last turns, most salient first. A repeated one keeps its highest value."""
    found: dict[str, float] = {}
    # The post comes first, with its full score.
    for back, keywords in enumerate(reversed(reply.keywords[-turns:])):
        for text, score in keywords.items():
            found[text] = max(found.get(text, 0.0), score * DECAY**back)
    return {text: found[text] for text in sorted(found, key=lambda text: (-found[text], text))}
