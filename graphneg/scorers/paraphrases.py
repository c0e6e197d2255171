"""Reword denials and affirmations, by templates and by similar sentences of other speakers.

`reword_denial` rewords a denial by templates. It returns sentences with the same meaning as the denial, and
sentences that affirm what the denial denies. The templates are in ``templates.tsv``, grouped by the auxiliary
of the denial. The column ``needs`` says when a template can be used: always (``nothing``), only if the
sentence mentions no time (``perfect``), or only if the speaker could wish for what is denied (``wish``). The
``+`` in a template stands for the words after the verb. If a template has no ``+``, these words are put at
its end. ``denial_words.tsv`` contains classes of words that exclude some templates.

`paraphrases` finds sentences of other speakers that can replace a statement and its contradiction. They are
needed because an edited sentence has nearly all words in common with the sentence that it contradicts. A
detector that is trained only on such pairs learns to rely on common words. If a denial of another speaker is
very similar to a contradiction, it usually contradicts the same statement. If an affirmation of another
speaker is very similar to the statement, it usually agrees with it.

Example:
    >>> reword_denial("I do not keep bees.").affirmed[:2]
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

# Matches a denial in the first person at the end of a text: "I do not keep bees.", "we can't swim!"
_DENIAL = re.compile(
    r"\b(?P<subject>i|we) ?(?P<auxiliary>do|did|am|['’]m|was|are|['’]re|were|can|could|have|had)"
    r" ?(?:not|n ?['’] ?t) (?P<verb>[a-z]+)\b(?P<rest>[^.!?,;]*)(?P<end>[.!?]*)$",
    re.I,
)
_CANNOT = re.compile(r"\bca(?:n ?['’] ?t|nnot)\b", re.I)
# Matches words that occur in denials. "wish" is one of them: "I wish I kept bees" implies that the speaker
# keeps no bees.
_DENIES = re.compile(
    r"\b(?:not|never|cannot|wish|unable|unlikely|hardly|nobody|would (?:love|like) to|no (?:longer|more)"
    r"|(?:have|has|had|am|is|are|was|were) no)\b|n ?['’] ?t\b",
    re.I,
)
_BE = ("am", "was", "are", "were")
_MIN_TOPIC_COSINE = 0.5
"""Minimum cosine similarity of two sentences that are considered to be about the same thing."""
_MARGIN = 0.02
"""Maximum difference of cosines by which a denial may be more similar to the statement than to the
contradiction."""
_COMMON_FRACTION, _COMMON_COUNT = 0.02, 20
"""A word counts as common if it occurs in more than this fraction of the statements (0.02) and in more than
this number of statements (20)."""
# Maximum number of sentences by other speakers that can replace one statement or one contradiction.
_MAX_REPLACEMENTS = 4
# Number of sentences from which the replacements for a statement or contradiction are chosen.
_CANDIDATES = 64


@dataclass(frozen=True, slots=True)
class DenialWordings:
    """Different wordings of a denial, and of the affirmation that it denies.

    Attributes:
        denied: Wordings of the denial. If they come from templates, the simplest one is first. If they are
            sentences of other speakers, the most similar one is first.
        affirmed: Wordings of the affirmation, in the same order; may be empty.
    """

    denied: tuple[str, ...]
    affirmed: tuple[str, ...]


def reword_denial(sentence: str) -> DenialWordings | None:
    """Reword a sentence in which the speaker denies an action, a state or an ability.

    Args:
        sentence: The sentence to reword.

    Returns:
        Wordings of the denial and of the affirmation, or None if the sentence is not such a denial.

    Example:
        >>> bees = reword_denial("I do not keep bees.")
        >>> bees.denied[1:4]
        ("I don't keep bees.", 'I have never kept bees.', "I haven't kept bees yet.")
        >>> bees.affirmed[:3]
        ('I keep bees.', 'I do keep bees.', 'I have kept bees.')
        >>> reword_denial("It is not far.") is None
        True
    """
    # "can't" and "cannot" are changed to "can not", because the pattern expects the whole auxiliary "can".
    sentence = _CANNOT.sub("can not", sentence)
    denial = _DENIAL.search(sentence)
    # The pattern assumes that the word after "not" is the verb. In "I am not sure" and "I do not even know",
    # this word is not a verb, so the templates would give nonsense.
    if denial is None or _class("no verb").fullmatch(denial["verb"]):
        return None
    forms = _forms(denial)
    if forms is None:
        return None
    start, verb, rest = sentence[: denial.start()], denial["verb"].lower(), denial["rest"]
    meets = ("nothing", "perfect", "wish")
    # "I did not sail yesterday" mentions a time, so "I have never sailed yesterday" would be ungrammatical.
    # "I am not working" is about the present, so "I have never been working" would claim more. For such
    # sentences, only templates that can always be used are suitable.
    if _class("time").search(f"{verb}{rest}") or (forms["auxiliary"] in _BE and verb.endswith("ing")):
        meets = ("nothing",)
    # For verbs of state, leave out the templates that express a wish: "I wish I liked fish" does not mean "I
    # do not like fish". Use the perfect: "I have never liked fish".
    elif _class("state").fullmatch(verb) or (verb == "have" and rest.startswith(" to ")):
        meets = ("nothing", "perfect")

    def written(side: str) -> Iterator[str]:
        """Fill the templates: ``denied`` gives "I have never kept bees", ``affirmed`` "I keep bees"."""
        for needs, template in _templates()[forms["auxiliary"], side]:
            if needs in meets:
                before, _, after = template.format(**forms).partition("+")
                yield f"{start}{before}{rest.rstrip()}{after}{denial['end']}"

    # Words such as "any" occur only in denials: "I do not have any bees" cannot become "I have any bees".
    # Sentences with such words get no affirmations.
    affirmed = () if _class("only denied").search(rest) else written("affirmed")
    return DenialWordings(tuple(written("denied")), tuple(affirmed))


def denies(sentence: str) -> bool:
    """Return whether a sentence denies something.

    A wish counts as a denial: "I wish I kept bees." implies that the speaker keeps none.

    Args:
        sentence: The sentence to check.

    Returns:
        True for a denial or a wish.

    Example:
        >>> denies("I have never kept bees."), denies("I keep bees."), denies("I wish I kept bees.")
        (True, False, True)
    """
    return _DENIES.search(sentence) is not None


def _forms(denial: re.Match[str]) -> dict[str, str] | None:
    """Return the words of a denial that fill the placeholders of a template.

    An example of a template is ``{subject} do not {verb}``.

    Returns:
        The words, keyed by placeholder; None if the past forms of the verb are needed but unknown.
    """
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
    """Return a pattern that matches each word of a word class in ``denial_words.tsv``."""
    words = next(row["words"] for row in _rows("denial_words") if row["class"] == name)
    return re.compile(rf"\b(?:{words.replace(', ', '|')})\b", re.I)


@cache
def _templates() -> Mapping[tuple[str, str], list[tuple[str, str]]]:
    """Read the sentence templates from ``templates.tsv``.

    Returns:
        The templates, each with its condition, for example ``("nothing", "{subject} do not {verb}")``. The
        keys consist of an auxiliary and ``denied`` or ``affirmed``, for example ``("do", "denied")``.
    """
    table: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for row in _rows("templates"):
        for auxiliary in row["auxiliaries"].split():
            table.setdefault((auxiliary, row["side"]), []).append((row["needs"], row["template"]))
    return table


def _rows(name: str) -> list[dict[str, str]]:
    """Return the rows of the file ``name.tsv`` in this package, keyed by column."""
    text = resources.files("graphneg.scorers").joinpath(f"{name}.tsv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A statement and its contradiction.

    Attributes:
        id: The id of the contradiction. It begins with the id of the dialogue and ``#``.
        earlier: The text of the turn with the statement.
        sentence: The statement, a sentence of ``earlier``.
        contradiction: A sentence that contradicts the statement.
        other: The text of another turn of the same speaker, which can be added to responses.
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
) -> list[DenialWordings | None]:
    """Find sentences of other speakers with nearly the same meaning as a contradiction or its statement.

    Each contradiction (*I do not keep bees*) contradicts a statement (*I keep bees*). The result contains
    denials that are similar to the contradiction, and affirmations that are similar to the statement. They
    come from other dialogues. A denial must share a rare word with the statement, and it must not be clearly
    more similar to the statement than to the contradiction. Raises `ModelError` if FAISS is not installed.

    Args:
        contradictions: The contradictions. A contradiction gets no sentences if it is not a denial, or if its
            statement is a denial.
        statements: The sentences to search, each with the id of its dialogue.
        embedder: The embedder that computes the similarities.

    Returns:
        For each contradiction, the sentences that were found; None if no denials or no affirmations were
        found.
    """
    queries = [item for item in contradictions if denies(item.contradiction) and not denies(item.sentence)]
    denials, affirmations = ([text for text in statements if denies(text) is side] for side in (True, False))
    if not (queries and denials and affirmations):
        return [None] * len(contradictions)
    contrary = embedder.embed([item.contradiction for item in queries])
    said = embedder.embed([item.sentence for item in queries])
    like_contrary = _most_similar(contrary, denials, embedder, said)
    like_said = _most_similar(said, affirmations, embedder)
    counts = Counter(lemma for text in statements for lemma in set(content_lemmas(text)))
    common = {
        lemma
        for lemma, count in counts.items()
        if count > max(_COMMON_COUNT, _COMMON_FRACTION * len(statements))
    }
    by_id: dict[str, DenialWordings] = {}
    for item, denied, affirmed in zip(queries, like_contrary, like_said, strict=True):
        # Only a rare word shows that two sentences are about the same thing: "I have no time to read" and "I
        # have no time for bees" share only the frequent word "time".
        rare_words = set(content_lemmas(item.sentence)) - common
        others = [
            text
            for text in denied
            # Leave out sentences of the dialogue that contains the contradiction, because one of them is the
            # statement itself.
            if statements[text] != item.dialogue and rare_words.intersection(content_lemmas(text))
        ]
        same = [text for text in affirmed if statements[text] != item.dialogue]
        if others and same:
            by_id[item.id] = DenialWordings(
                tuple(others[:_MAX_REPLACEMENTS]), tuple(same[:_MAX_REPLACEMENTS])
            )
    return [by_id.get(item.id) for item in contradictions]


def _most_similar(
    queries: NDArray[float32],
    texts: list[str],
    embedder: Embedder,
    excluded_vectors: NDArray[float32] | None = None,
) -> Iterator[list[str]]:
    """Yield, for each query, the texts whose vectors are most similar to it.

    Args:
        queries: Vectors of the queries, of shape (queries, dimensions).
        texts: The texts to search.
        embedder: The embedder that computes the vectors of the texts.
        excluded_vectors: A second vector for each query, in an array of the same shape; None for no second
            vectors. A text is left out if it is clearly more similar to the second vector than to the query.

    Yields:
        For each query, a list of texts, the most similar first.
    """
    vectors = embedder.embed(texts)
    nearest = Nearest(vectors).search(queries, _CANDIDATES)
    for row, (cosines, indices) in enumerate(zip(*(array.tolist() for array in nearest), strict=True)):
        bounds = [_MIN_TOPIC_COSINE] * len(indices)
        if excluded_vectors is not None:
            excluded_cosines = (vectors[indices] @ excluded_vectors[row]).tolist()
            bounds = [max(_MIN_TOPIC_COSINE, cosine - _MARGIN) for cosine in excluded_cosines]
        near = zip(indices, cosines, bounds, strict=True)
        yield [texts[index] for index, cosine, least in near if cosine >= least]
