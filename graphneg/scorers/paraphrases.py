"""Reword denials and affirmations: by templates, and by what other speakers say.

`sides` takes a denial. It returns the same denial in other words, and affirmations of what it denies. The
wordings are in ``templates.tsv``, by the auxiliary of the denial. The column ``needs`` says when a template
applies: ``nothing`` (always), ``perfect`` (only if no time is named) or ``wish`` (only if one can wish for
it). In a template, ``+`` marks where the words after the verb go; without it, they go to the end.
``denial_words.tsv`` has classes of words that exclude some templates.

`paraphrases` takes contradictions and the sentences of other dialogues. An edited sentence shares nearly all
words with the sentence that it contradicts, and a detector that learns only from such pairs relies on shared
words. Among the denials of other speakers, those most similar to a contradiction usually contradict the same
statement. Among their affirmations, those most similar to the statement usually agree with it.

Example:
    >>> sides("I do not keep bees.").affirmed[:2]
    ('I keep bees.', 'I do keep bees.')
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from graphneg.english.words import content_lemmas
from graphneg.nn.embedders import Embedder
from graphneg.nn.vectors import Nearest

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

# A denial in the first person at the end of a text: "I do not keep bees.", "we can't swim!"
_DENIAL = re.compile(
    r"\b(?P<subject>i|we) ?(?P<auxiliary>do|did|am|['’]m|was|are|['’]re|were|can|could|have|had)"
    r" ?(?:not|n ?['’] ?t) (?P<verb>[a-z]+)\b(?P<rest>[^.!?,;]*)(?P<end>[.!?]*)$",
    re.I,
)
_CANNOT = re.compile(r"\bca(?:n ?['’] ?t|nnot)\b", re.I)
# "I wish I kept bees" and "I would love to" imply that it is not so.
_DENIES = re.compile(
    r"\b(?:not|never|cannot|wish|unable|unlikely|hardly|nobody|would (?:love|like) to|no (?:longer|more)"
    r"|(?:have|has|had|am|is|are|was|were) no)\b|n ?['’] ?t\b",
    re.I,
)
_BE = ("am", "was", "are", "were")
_SAME_MATTER = 0.5
"""Minimum cosine of two sentences about the same matter."""
_MARGIN = 0.02
"""How much more similar a denial may be to the statement than to its contradiction."""
_RARE, _FEW = 0.02, 20
"""Words in more than this share of the statements, and in more than a few, are ignored as too common."""
# Maximum number of wordings of each side.
_KEPT = 4
# Number of nearest neighbours to look at.
_CANDIDATES = 64


@dataclass(frozen=True, slots=True)
class Sides:
    """Wordings of a denial and of the affirmation that it denies.

    Attributes:
        denied: Denials, the simplest or most similar first.
        affirmed: Affirmations, the simplest or most similar first. May be empty.
    """

    denied: tuple[str, ...]
    affirmed: tuple[str, ...]


def sides(sentence: str) -> Sides | None:
    """Return wordings of a sentence in which the speaker denies an act, state or ability.

    Args:
        sentence: The sentence.

    Returns:
        The wordings, or None if the sentence is no such denial.

    Example:
        >>> bees = sides("I do not keep bees.")
        >>> bees.denied[1:4]
        ("I don't keep bees.", 'I have never kept bees.', "I haven't kept bees yet.")
        >>> bees.affirmed[:3]
        ('I keep bees.', 'I do keep bees.', 'I have kept bees.')
        >>> sides("It is not far.") is None
        True
    """
    # "can't" and "cannot" have no separate "not", which the pattern of denials needs.
    sentence = _CANNOT.sub("can not", sentence)
    denial = _DENIAL.search(sentence)
    # In "I am not sure" and "I do not even know", the word after "not" is no verb.
    if denial is None or _class("no verb").fullmatch(denial["verb"]):
        return None
    forms = _forms(denial)
    if forms is None:
        return None
    start, verb, rest = sentence[: denial.start()], denial["verb"].lower(), denial["rest"]
    meets = ("nothing", "perfect", "wish")
    # "I did not sail yesterday" names a time: "I have never sailed yesterday" is wrong. "I am not working" is
    # about the present moment, so "I have never been working" says more.
    if _class("time").search(f"{verb}{rest}") or (forms["auxiliary"] in _BE and verb.endswith("ing")):
        meets = ("nothing",)
    # "I do not like fish" has a perfect, but "I wish I liked fish" is another claim.
    elif _class("state").fullmatch(verb) or (verb == "have" and rest.startswith(" to ")):
        meets = ("nothing", "perfect")

    def written(side: str) -> Iterator[str]:
        """Yield the sentence with each template of a side that applies."""
        for needs, template in _templates()[forms["auxiliary"], side]:
            if needs in meets:
                before, _, after = template.format(**forms).partition("+")
                yield f"{start}{before}{rest.rstrip()}{after}{denial['end']}"

    # "I do not have any bees" cannot become "I have any bees".
    affirmed = () if _class("only denied").search(rest) else written("affirmed")
    return Sides(tuple(written("denied")), tuple(affirmed))


def denies(sentence: str) -> bool:
    """Return whether a sentence denies something, or wishes for what is not so.

    Args:
        sentence: The sentence.

    Returns:
        True for a denial or a wish.

    Example:
        >>> denies("I have never kept bees."), denies("I keep bees."), denies("I wish I kept bees.")
        (True, False, True)
    """
    return _DENIES.search(sentence) is not None


def _forms(denial: re.Match[str]) -> dict[str, str] | None:
    """Return the words that templates insert, or None if the verb has no past forms."""
    from lemminflect import getInflection

    verb = denial["verb"]
    auxiliary = denial["auxiliary"].lower().replace("’", "'")
    auxiliary = {"'m": "am", "'re": "are"}.get(auxiliary, auxiliary)
    past, participle = (next(iter(getInflection(verb.lower(), tag=tag)), None) for tag in ("VBD", "VBN"))
    if auxiliary in ("do", "did") and (past is None or participle is None):
        return None
    return {
        "subject": denial["subject"],
        "auxiliary": auxiliary,
        "verb": verb,
        "past": past or "",
        "participle": participle or "",
    }


@cache
def _class(name: str) -> re.Pattern[str]:
    """Return a pattern that matches the words of a class."""
    words = next(row["words"] for row in _rows("denial_words") if row["class"] == name)
    return re.compile(rf"\b(?:{words.replace(', ', '|')})\b", re.I)


@cache
def _templates() -> Mapping[tuple[str, str], list[tuple[str, str]]]:
    """Return requirements and texts of templates, by auxiliary and side."""
    table: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for row in _rows("templates"):
        for auxiliary in row["auxiliaries"].split():
            table.setdefault((auxiliary, row["side"]), []).append((row["needs"], row["template"]))
    return table


def _rows(name: str) -> list[dict[str, str]]:
    """Return the rows of a table."""
    text = resources.files("graphneg.scorers").joinpath(f"{name}.tsv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A statement and its contradiction.

    Attributes:
        id: The id, which begins with that of the dialogue.
        earlier: The turn with the statement.
        sentence: The statement.
        contradiction: The contradiction.
        other: Another turn of the speaker.
    """

    id: str
    earlier: str
    sentence: str
    contradiction: str
    other: str

    @property
    def dialogue(self) -> str:
        """The id of the dialogue."""
        return self.id.partition("#")[0]


def paraphrases(
    contradictions: Sequence[Contradiction], statements: Mapping[str, str], embedder: Embedder
) -> list[Sides | None]:
    """Find sentences of other speakers that can replace contradictions and statements.

    The result has denials that are similar to the contradiction, and affirmations that are similar to the
    statement, from other dialogues. A denial must share a rare word with the statement, and must not be more
    similar to the statement than to the contradiction. If FAISS is missing, `ModelError` is raised.

    Args:
        contradictions: The contradictions. Only denials of affirmations are processed.
        statements: Sentences with the ids of their dialogues.
        embedder: Embeds the sentences.

    Returns:
        For each contradiction the sentences of both sides, or None if one side has none.
    """
    queries = [item for item in contradictions if denies(item.contradiction) and not denies(item.sentence)]
    denials, affirmations = ([text for text in statements if denies(text) is side] for side in (True, False))
    if not (queries and denials and affirmations):
        return [None] * len(contradictions)
    contrary = embedder.embed([item.contradiction for item in queries])
    said = embedder.embed([item.sentence for item in queries])
    like_contrary = _like(contrary, denials, embedder, said)
    like_said = _like(said, affirmations, embedder)
    counts = Counter(lemma for text in statements for lemma in set(content_lemmas(text)))
    common = {lemma for lemma, count in counts.items() if count > max(_FEW, _RARE * len(statements))}
    by_id: dict[str, Sides] = {}
    for item, denied, affirmed in zip(queries, like_contrary, like_said, strict=True):
        # "I have no time to read" and "I have no time for bees" share only a common word.
        matter = set(content_lemmas(item.sentence)) - common
        others = [
            text
            for text in denied
            # A sentence of the same dialogue may be the statement itself.
            if statements[text] != item.dialogue and matter.intersection(content_lemmas(text))
        ]
        same = [text for text in affirmed if statements[text] != item.dialogue]
        if others and same:
            by_id[item.id] = Sides(tuple(others[:_KEPT]), tuple(same[:_KEPT]))
    return [by_id.get(item.id) for item in contradictions]


def _like(
    queries: NDArray[float32], texts: list[str], embedder: Embedder, further: NDArray[float32] | None = None
) -> Iterator[list[str]]:
    """Yield for each query the most similar texts.

    Args:
        queries: Vectors of shape (queries, dimensions).
        texts: The texts to search.
        embedder: Embeds the texts.
        further: Vectors of the same shape. Texts that are more similar to these are left out.

    Yields:
        The texts, the most similar first.
    """
    vectors = embedder.embed(texts)
    nearest = Nearest(vectors).search(queries, _CANDIDATES)
    for row, (cosines, indices) in enumerate(zip(*(array.tolist() for array in nearest), strict=True)):
        bounds = [_SAME_MATTER] * len(indices)
        if further is not None:
            to_further = (vectors[indices] @ further[row]).tolist()
            bounds = [max(_SAME_MATTER, cosine - _MARGIN) for cosine in to_further]
        near = zip(indices, cosines, bounds, strict=True)
        yield [texts[index] for index, cosine, least in near if cosine >= least]
