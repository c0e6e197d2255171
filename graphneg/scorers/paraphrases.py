"""Denials and affirmations in other words: by templates, and as other speakers say them.

`sides` takes a denial and gives the same denial in other words, and affirmations of what it denies.
``templates.tsv`` has the wordings, by the auxiliary of the denial: what each needs of a clause (``nothing``,
``perfect``: that no time is named, ``wish``: that it can be wished for too), and its text, where what follows
the verb stands at ``+``, else at the end. ``denial_words.tsv`` has the classes of words that rule some out.

`paraphrases` takes contradictions and what is said in dialogues. An edited sentence has nearly all the words
of what it contradicts, and a detector that learns from those alone relies on such words. Of all that is
denied in the dialogues, what is nearest to a contradiction mostly contradicts the same sentence; of all that
is affirmed, what is nearest to the sentence mostly goes with it.
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

_DENIAL = re.compile(
    r"\b(?P<subject>i|we) ?(?P<auxiliary>do|did|am|['’]m|was|are|['’]re|were|can|could|have|had)"
    r" ?(?:not|n ?['’] ?t) (?P<verb>[a-z]+)\b(?P<rest>[^.!?,;]*)(?P<end>[.!?]*)$",
    re.I,
)
_CANNOT = re.compile(r"\bca(?:n ?['’] ?t|nnot)\b", re.I)
_DENIES = re.compile(
    r"\b(?:not|never|cannot|wish|unable|unlikely|hardly|nobody|would (?:love|like) to|no (?:longer|more)"
    r"|(?:have|has|had|am|is|are|was|were) no)\b|n ?['’] ?t\b",
    re.I,
)
_BE = ("am", "was", "are", "were")
_SAME_MATTER = 0.5
"""The cosine from which on two sentences are of one matter."""
_MARGIN = 0.02
"""How much nearer to what it contradicts than to the contradiction a denial may be."""
_RARE, _FEW = 0.02, 20
"""A word that a larger share of the statements has, and more than a few, says nothing of the matter."""
_KEPT = 4
_CANDIDATES = 64


@dataclass(frozen=True, slots=True)
class Sides:
    """Sentences that deny the same, and sentences that affirm it, if any; the plainest or nearest first."""

    denied: tuple[str, ...]
    affirmed: tuple[str, ...]


def sides(sentence: str) -> Sides | None:
    """Wordings of a sentence in which its speaker denies an act, a state or an ability; None where it is no
    such sentence.

    >>> bees = sides("I do not keep bees.")
    >>> bees.denied[1:4]
    ("I don't keep bees.", 'I have never kept bees.', "I haven't kept bees yet.")
    >>> bees.affirmed[:3]
    ('I keep bees.', 'I do keep bees.', 'I have kept bees.')
    >>> sides("It is not far.") is None
    True
    """
    sentence = _CANNOT.sub("can not", sentence)
    denial = _DENIAL.search(sentence)
    if denial is None or _class("no verb").fullmatch(denial["verb"]):
        return None
    forms = _forms(denial)
    if forms is None:
        return None
    start, verb, rest = sentence[: denial.start()], denial["verb"].lower(), denial["rest"]
    meets = ("nothing", "perfect", "wish")
    if _class("time").search(f"{verb}{rest}") or (forms["auxiliary"] in _BE and verb.endswith("ing")):
        meets = ("nothing",)
    elif _class("state").fullmatch(verb) or (verb == "have" and rest.startswith(" to ")):
        meets = ("nothing", "perfect")

    def written(side: str) -> Iterator[str]:
        for needs, template in _templates()[forms["auxiliary"], side]:
            if needs in meets:
                before, _, after = template.format(**forms).partition("+")
                yield f"{start}{before}{rest.rstrip()}{after}{denial['end']}"

    affirmed = () if _class("only denied").search(rest) else written("affirmed")
    return Sides(tuple(written("denied")), tuple(affirmed))


def denies(sentence: str) -> bool:
    """Whether a sentence denies something, or wishes for what is not.

    >>> denies("I have never kept bees."), denies("I keep bees."), denies("I wish I kept bees.")
    (True, False, True)
    """
    return _DENIES.search(sentence) is not None


def _forms(denial: re.Match[str]) -> dict[str, str] | None:
    """What stands in templates, None where the verb has no participle."""
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
    """The words of a class."""
    words = next(row["words"] for row in _rows("denial_words") if row["class"] == name)
    return re.compile(rf"\b(?:{words.replace(', ', '|')})\b", re.I)


@cache
def _templates() -> Mapping[tuple[str, str], list[tuple[str, str]]]:
    """Needs and texts of templates, by auxiliary and side."""
    table: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for row in _rows("templates"):
        for auxiliary in row["auxiliaries"].split():
            table.setdefault((auxiliary, row["side"]), []).append((row["needs"], row["template"]))
    return table


def _rows(name: str) -> list[dict[str, str]]:
    text = resources.files("graphneg.scorers").joinpath(f"{name}.tsv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A sentence that ``earlier`` (a whole turn) says, its contradiction, and another turn of the speaker."""

    id: str
    earlier: str
    sentence: str
    contradiction: str
    other: str

    @property
    def dialogue(self) -> str:
        """The id of its dialogue."""
        return self.id.partition("#")[0]


def paraphrases(
    contradictions: Sequence[Contradiction], statements: Mapping[str, str], embedder: Embedder
) -> list[Sides | None]:
    """For each contradiction what speakers of other dialogues say: denials like the contradiction, and
    affirmations like the sentence. None where nobody says either, or it is no denial of an affirmation.

    ``statements`` are sentences with their dialogues. A denial has a word in common with the sentence
    that few statements have, and is no nearer to it than to the contradiction.

    Raises `ModelError`: FAISS is not installed.
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
        matter = set(content_lemmas(item.sentence)) - common
        others = [
            text
            for text in denied
            if statements[text] != item.dialogue and matter.intersection(content_lemmas(text))
        ]
        same = [text for text in affirmed if statements[text] != item.dialogue]
        if others and same:
            by_id[item.id] = Sides(tuple(others[:_KEPT]), tuple(same[:_KEPT]))
    return [by_id.get(item.id) for item in contradictions]


def _like(
    queries: NDArray[float32], texts: list[str], embedder: Embedder, further: NDArray[float32] | None = None
) -> Iterator[list[str]]:
    """For each query, of shape (queries, dimensions), texts of its matter, the nearest first. Those that are
    nearer to its row of ``further`` are left out."""
    vectors = embedder.embed(texts)
    nearest = Nearest(vectors).search(queries, _CANDIDATES)
    for row, (cosines, indices) in enumerate(zip(*(array.tolist() for array in nearest), strict=True)):
        bounds = [_SAME_MATTER] * len(indices)
        if further is not None:
            to_further = (vectors[indices] @ further[row]).tolist()
            bounds = [max(_SAME_MATTER, cosine - _MARGIN) for cosine in to_further]
        near = zip(indices, cosines, bounds, strict=True)
        yield [texts[index] for index, cosine, least in near if cosine >= least]
