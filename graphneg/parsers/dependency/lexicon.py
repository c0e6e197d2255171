"""What the rules know of words: frames, counts over annotated graphs, word classes, fixed expressions.

In: the tables of ``data/``. Out: a `ParserLexicon` of frames and counts, and constants of the rules:

- ``concepts.tsv``, ``roles.tsv``: what words became in annotated graphs, which roles they took (counts)
- ``word_classes.tsv``: a class and its words (`word_class`)
- ``word_maps.tsv``: a map, a value, and the words that have it (`word_map`)
- ``expressions.tsv``: words that are one concept together (`expressions`)
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files

from graphneg.english.propbank import Counts, FrameTable, load_frames

DELETED = "-"


@dataclass(slots=True)
class ParserLexicon(FrameTable):
    """Frames by lemma, concepts by lemma and word class, roles by signature.

    ``roles`` has three kinds of keys: ``("F", concept, signature)``, ``("W", lemma, signature)``
    and ``("S", class, signature)``.
    """

    concepts: dict[tuple[str, str], Counts] = field(default_factory=lambda: defaultdict(Counter[str]))
    roles: dict[tuple[str, str, str], Counts] = field(default_factory=lambda: defaultdict(Counter[str]))
    totals: Counts = field(default_factory=Counter[str])

    def add_concepts(self, rows: Iterable[Sequence[str]]) -> None:
        """Reads rows ``lemma, class, concept, count``."""
        for lemma, kind, concept, count in rows:
            self.concepts[lemma, kind][concept] += int(count)
            if concept != DELETED:
                self.totals[concept] += int(count)

    def add_roles(self, rows: Iterable[Sequence[str]]) -> None:
        """Reads rows ``kind, key, signature, role, count``."""
        for kind, key, form, role, count in rows:
            self.roles[kind, key, form][role] += int(count)

    def known(self, lemma: str, kind: str) -> Counts:
        """How often the word became what; what stands for several words or for structure is left out."""
        counts = self.concepts.get((lemma, kind), {})
        return {concept: count for concept, count in counts.items() if _is_of(concept, lemma)}

    def best_concept(self, lemma: str, kind: str) -> str | None:
        """The concept that the word most often became, ``-`` where it mostly had none; else ``None``."""
        known = self.known(lemma, kind)
        return max(known, key=known.__getitem__, default=None)

    def written_concepts(self, lemma: str, kind: str) -> list[str]:
        """The concepts that the word became where it had one, the most frequent first."""
        known = self.known(lemma, kind)
        known.pop(DELETED, None)
        return sorted(known, key=lambda concept: -known[concept])

    def role_scores(self, head: str, kind: str, form: str, dependent: str) -> dict[str, float]:
        """The weight of each role seen with these, by a product of smoothed ratios to the general one."""
        general = self.roles.get(("S", kind, form), {})
        by_head = self.roles.get(("F", head, form), {})
        by_word = self.roles.get(("W", dependent, form), {})
        entry = self.frames.get(head)
        shown = entry.seen.get(form, {}) if entry is not None else {}
        in_frame = {f"ARG{role}": count for role, count in shown.items() if role != "M"}
        total = sum(general.values()) + 5.0
        n_head, n_word, n_frame = sum(by_head.values()), sum(by_word.values()), sum(in_frame.values())
        scores: dict[str, float] = {}
        for role in {**general, **by_head, **by_word, **in_frame}:
            base = (general.get(role, 0) + 0.2) / total
            head_ratio = (by_head.get(role, 0) + 2 * base) / (n_head + 2) / base
            word_ratio = (by_word.get(role, 0) + 2 * base) / (n_word + 2) / base
            frame_ratio = (in_frame.get(role, 0) + base) / (n_frame + 1) / base if n_frame else 1.0
            scores[role] = base * head_ratio * word_ratio * frame_ratio
        return scores


@lru_cache(maxsize=65536)
def _is_of(concept: str, lemma: str) -> bool:
    """Whether a concept can be one word's: not ``no-longer``, ``go-on-25``, ``monetary-quantity``."""
    if concept in {DELETED, "amr-unknown", "no-one"}:
        return True
    stem = concept.rpartition("-")[0] if concept[-1].isdigit() else concept
    return "-" not in stem or stem == lemma


@cache
def load_lexicon() -> ParserLexicon:
    """The tables that come with the package."""
    shipped = load_frames()
    lexicon = ParserLexicon(dict(shipped.frames), shipped.aliases)
    lexicon.add_concepts(rows("concepts"))
    lexicon.add_roles(rows("roles"))
    return lexicon


@cache
def word_class(name: str) -> frozenset[str]:
    """The words of a class.

    >>> "say" in word_class("speech"), sorted(word_class("kind"))
    (True, ['kind', 'sort', 'type'])
    """
    return frozenset(dict(rows("word_classes"))[name].split())


@cache
def word_map(name: str) -> dict[str, str]:
    """The words of a map with their values.

    >>> word_map("pronoun")["me"], word_map("mark-role")["unless"], word_map("relative")["aunt"]
    ('i', 'condition', 'aunt')
    """
    entries = [(value, words.split()) for known, value, words in rows("word_maps") if known == name]
    return {word: word if value == "=" else value for value, words in entries for word in words}


@cache
def word_pairs(name: str) -> dict[str, tuple[str, str]]:
    """The words of a map whose values are pairs: of a concept, and of the role that it gives the word.

    >>> word_pairs("modal")["must"]
    ('obligate-01', 'ARG2')
    """
    pairs = ((word, value.split()) for word, value in word_map(name).items())
    return {word: (concept, role) for word, (concept, role) in pairs}


@cache
def expressions(kind: str = "") -> dict[str, list[tuple[tuple[str, ...], str]]]:
    """Expressions and their concepts by their first words, the longest first; ``-`` is no concept.

    >>> expressions()["of"], expressions("preposition")["next"]
    ([(('of', 'course'), 'of-course')], [(('next', 'to'), 'next-to')])
    """
    known: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for words, concept, *kinds in rows("expressions"):
        if kinds == ([kind] if kind else []):
            forms = tuple(words.split())
            known.setdefault(forms[0], []).append((forms, concept))
    return {first: sorted(entries, key=lambda entry: -len(entry[0])) for first, entries in known.items()}


def rows(table: str) -> list[list[str]]:
    """The rows of a table of ``data/``, cut into columns, without its comments."""
    file = files("graphneg.parsers.dependency").joinpath("data", f"{table}.tsv")
    lines = file.read_text("utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("# ")]
