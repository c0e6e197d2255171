"""Find candidates for substitutes: other perspectives that a reply could have had.

The method is Algorithm 1 of CAPT (Ou et al. 2022). The post is the turn that is replied to. Every keyword of
the post is a focus. The perspective of a reply is the keyword to which it shifts the topic. The candidates
for a focus are all perspectives to which replies in the store shift from this focus, except the perspective
of the reply itself. The candidates are divided into subsets, and a predictor (`graphneg.shift.prediction`)
chooses one substitute from each subset::

    post        "I had a coffee."          reply about "cake"
    focus       coffee                     shifts to cake, sugar, price and morning
    candidates  sugar, price, morning

The module departs from the paper in two ways, which `CandidateOptions.paper` switches off. Keywords of
earlier turns are also foci, but with a lower weight. Perspectives that are two edges away from a focus are
also candidates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from graphneg.errors import InputError
from graphneg.hashing import shuffled
from graphneg.ids import natural_order
from graphneg.shift.graphs import Likelihoods, ShiftGraph
from graphneg.store.connection import Store
from graphneg.store.dialogues import Selection, dialogue_ids
from graphneg.store.statements import cypher_text

DECAY = 0.5
"""Factor for the weight of keywords in earlier turns. It is applied once per turn that is further back."""
DIALOGUES = 50
"""Number of dialogues that are read with one query."""


@dataclass(frozen=True, slots=True)
class CandidateOptions:
    """Settings for finding other keywords to which a reply could have shifted the topic (candidates).

    The candidates are found in the shift graph and divided into subsets.

    Attributes:
        turns: Number of turns before the reply whose keywords are used as foci; 1 for the last turn only.
        hops: Maximum number of edges of the shift graph between a focus and a candidate, 1 or 2.
        max_candidates: Maximum number of candidates for each focus; the most likely candidates are kept.
        subset_size: Minimum number of candidates in a subset, unless there are fewer candidates in all. A
            subset has fewer than twice as many candidates. CAPT uses subsets of 5 to 100 candidates.
        seed: Seed for the random division of the candidates into subsets.
    """

    turns: int = 3
    hops: int = 2
    max_candidates: int = 1000
    subset_size: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        """Check that the options have allowed values."""
        if self.turns < 1 or self.max_candidates < 1:
            raise InputError("turns and max_candidates must be at least 1")
        if self.hops not in (1, 2):
            raise InputError(f"hops must be 1 or 2, not {self.hops}")
        if self.subset_size < 1:
            raise InputError("subset_size must be at least 1")

    @classmethod
    def paper(cls) -> CandidateOptions:
        """Return the settings of the paper (CAPT).

        Only keywords of the last turn are foci, that is, keywords that the reply can take up. The candidates
        are the keywords to which some reply has shifted the topic directly from a focus.
        """
        return cls(turns=1, hops=1, max_candidates=1_000_000)

    def split(self, focus: str, candidates: Sequence[str]) -> list[tuple[str, ...]]:
        """Divide the candidates for a focus into subsets, so that each candidate is in exactly one subset.

        Args:
            focus: Text of the focus. With the seed, it determines the random order of the candidates.
            candidates: Texts of the candidates.

        Returns:
            The subsets of candidates.

        Example:
            >>> options = CandidateOptions(subset_size=2)
            >>> [len(one) for one in options.split("tea", ["cup", "milk", "hot", "sugar", "leaf"])]
            [2, 3]
        """
        # The number of subsets is rounded down, so that no subset is smaller than `subset_size`.
        count = max(1, len(candidates) // self.subset_size)
        # The candidates are sorted by likelihood. Shuffle them, because only one candidate is chosen from
        # each subset, and the likely candidates should be in different subsets.
        mixed = shuffled(candidates, self.seed, "substitutes", focus)
        ends = [len(mixed) * part // count for part in range(count + 1)]
        parts = [mixed[start:end] for start, end in pairwise(ends)]
        return [tuple(part) for part in parts if part]


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply and the turns before it.

    Attributes:
        id: Id of the reply, which is an utterance or a response.
        text: Text of the reply.
        focus: Keyword that the reply takes up, or None if unknown.
        perspective: Keyword to which the reply shifts the topic, or None if unknown.
        turns: Texts of the turns before the reply, oldest first. The last turn is the post.
        keywords: For each turn before the reply, the scores of its keywords, keyed by the keyword's text.
    """

    id: str
    text: str
    focus: str | None
    perspective: str | None
    turns: tuple[str, ...]
    keywords: tuple[Mapping[str, float], ...]


@dataclass(frozen=True, slots=True)
class Focus:
    """A keyword of the context that a reply can take up.

    Attributes:
        text: Text of the keyword.
        salience: Score of the keyword. The score is lower if the keyword is from a turn before the post.
        candidates: Keywords to which replies shift the topic from this keyword (perspectives), most likely
            first.
        likelihoods: Likelihoods of all perspectives, given this keyword.
    """

    text: str
    salience: float
    candidates: tuple[str, ...]
    likelihoods: Likelihoods


@dataclass(frozen=True, slots=True)
class Post:
    """The context of a reply: the turns before it, with the keywords that the reply can take up.

    Attributes:
        turns: Texts of the turns before the reply, oldest first. The last turn is the post, the turn that is
            replied to.
        foci: Keywords that the reply can take up and that have candidates, sorted by salience, highest first.
        keywords: Salience of all keywords of the context, keyed by the keyword's text. Keywords that are not
            in the shift graph are included.
    """

    turns: tuple[str, ...]
    foci: tuple[Focus, ...]
    keywords: Mapping[str, float]

    @property
    def text(self) -> str:
        """The text of the turn that is replied to."""
        return self.turns[-1]


def posts(shifts: ShiftGraph, replies: Sequence[Reply], reach: CandidateOptions) -> list[Post]:
    """Return the context of each reply, with its keywords (foci) and the candidates for each focus.

    The candidates are other keywords to which the reply could have shifted the topic from the focus.

    Args:
        shifts: Shift graph of the store.
        replies: Replies with the turns before them.
        reach: Settings for the search for candidates.

    Returns:
        A `Post` for each reply. Its candidates do not include the perspective of the reply.
    """
    salient = [_salience(reply, reach.turns) for reply in replies]
    known = shifts.likelihoods({text for keywords in salient for text in keywords}, reach.hops)
    seen: list[Post] = []
    for reply, keywords in zip(replies, salient, strict=True):
        foci: list[Focus] = []
        for text in filter(known.__contains__, keywords):
            # The keyword to which the reply itself shifts (its perspective) may be among the candidates and
            # is removed below. So take one more candidate than needed.
            ranked = known[text].ranked[: reach.max_candidates + 1]
            candidates = tuple(other for other in ranked if other != reply.perspective)[
                : reach.max_candidates
            ]
            if candidates:
                foci.append(Focus(text, keywords[text], candidates, known[text]))
        seen.append(Post(reply.turns, tuple(foci), keywords))
    return seen


def replies_of(store: Store, dialogues: Sequence[str]) -> list[Reply]:
    """Return the replies in dialogues: correct responses, and all utterances but the first of a dialogue.

    Args:
        store: Store that contains the dialogues.
        dialogues: Ids of dialogues.

    Returns:
        The replies, sorted by dialogue and turn.
    """
    turns: dict[str, dict[int, tuple[str, Mapping[str, float]]]] = {}
    for row in store.read(cypher_text("shift/candidates_turns"), ids=list(dialogues)):
        # For a turn without keywords, the query returns a list with the single keyword null. Skip it.
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
    """Yield the replies in the selected dialogues, several dialogues at a time.

    Args:
        store: Store that contains the dialogues.
        selection: Dialogues to read.
        skip: Number of dialogues to skip at the beginning.
        after: Sort key of the last skipped dialogue, if it is known. Skipping is then faster.

    Yields:
        The ids of some dialogues, and their replies.
    """
    ids = dialogue_ids(store, selection, skip, after)
    while some := list(islice(ids, DIALOGUES)):
        yield some, replies_of(store, some)


def stored_reply(store: Store, id: str) -> Reply:
    """Return one reply from the store.

    Args:
        store: Store that contains the dialogues.
        id: Id of an utterance that is not the first of its dialogue, or of a correct response.

    Returns:
        The reply with the turns before it.

    Raises:
        InputError: The store contains no reply with this id.
    """
    for reply in replies_of(store, [id.partition("#")[0]]):
        if reply.id == id:
            return reply
    raise InputError(
        f"{id} is not a reply: neither an utterance after another one nor a correct response in the store"
    )


def _salience(reply: Reply, turns: int) -> dict[str, float]:
    """Return the keywords of the last ``turns`` turns with their salience, highest salience first."""
    found: dict[str, float] = {}
    # The last turn (the post) keeps its scores. The scores of the turn before it are multiplied by DECAY, the
    # scores of the turn before that by DECAY squared, and so on. If a keyword occurs in several turns, its
    # highest score counts.
    for back, keywords in enumerate(reversed(reply.keywords[-turns:])):
        for text, score in keywords.items():
            found[text] = max(found.get(text, 0.0), score * DECAY**back)
    return {text: found[text] for text in sorted(found, key=lambda text: (-found[text], text))}
