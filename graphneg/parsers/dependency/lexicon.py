"""The tables behind the rules: PropBank's frames, and what words and roles were in annotated graphs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files

from graphneg.english.frames import Counts, FrameTable, load_frames

DELETED = "-"
_OF_STRUCTURE = frozenset({"amr-unknown", "no-one"})


@dataclass(slots=True)
class Lexicon(FrameTable):
    """Frames by lemma, concepts by lemma and word class, roles by signature.

    ``roles`` has three kinds of keys: ``("F", concept, signature)``, ``("W", lemma, signature)``
    and ``("S", class, signature)``.
    """

    concepts: dict[tuple[str, str], Counts] = field(default_factory=dict[tuple[str, str], Counts])
    roles: dict[tuple[str, str, str], Counts] = field(default_factory=dict[tuple[str, str, str], Counts])
    totals: Counts = field(default_factory=dict[str, int])

    def add_concepts(self, rows: Iterable[Sequence[str]]) -> None:
        """Reads rows ``lemma, class, concept, count``."""
        for lemma, kind, concept, count in rows:
            known = self.concepts.setdefault((lemma, kind), {})
            known[concept] = known.get(concept, 0) + int(count)
            if concept != DELETED:
                self.totals[concept] = self.totals.get(concept, 0) + int(count)

    def add_roles(self, rows: Iterable[Sequence[str]]) -> None:
        """Reads rows ``kind, key, signature, role, count``."""
        for kind, key, form, role, count in rows:
            known = self.roles.setdefault((kind, key, form), {})
            known[role] = known.get(role, 0) + int(count)

    def best_concept(self, lemma: str, kind: str) -> str | None:
        """The concept that the word most often became, ``-`` where it mostly had none; else ``None``."""
        known = self.known(lemma, kind)
        return max(known, key=lambda one: known[one]) if known else None

    def known(self, lemma: str, kind: str) -> Counts:
        """How often the word became what; what stands for several words or for structure is left out."""
        found = self.concepts.get((lemma, kind), {})
        return {one: count for one, count in found.items() if _is_of(one, lemma)}

    def role_scores(self, head: str, kind: str, form: str, dependent: str) -> dict[str, float]:
        """The weight of each role seen with these, by a product of smoothed ratios to the general one."""
        general = self.roles.get(("S", kind, form), {})
        by_head = self.roles.get(("F", head, form), {})
        by_word = self.roles.get(("W", dependent, form), {})
        in_frame = self._frame_roles(head, form)
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

    def _frame_roles(self, frame: str, form: str) -> dict[str, float]:
        """The annotated examples' roles of a signature, as AMR's."""
        entry = self.frames.get(frame)
        if entry is None or form not in entry.seen:
            return {}
        return {f"ARG{role}": float(count) for role, count in entry.seen[form].items() if role != "M"}


@lru_cache(maxsize=65536)
def _is_of(concept: str, lemma: str) -> bool:
    """Whether a concept can be one word's: not ``no-longer``, ``go-on-25``, ``monetary-quantity``."""
    if concept == DELETED or concept in _OF_STRUCTURE:
        return True
    stem = concept.rpartition("-")[0] if concept[-1].isdigit() else concept
    return "-" not in stem or stem == lemma


@lru_cache(maxsize=1)
def load_lexicon() -> Lexicon:
    """The tables that come with the package."""
    shipped = load_frames()
    lexicon = Lexicon(dict(shipped.frames), shipped.aliases)
    lexicon.add_concepts(line.split("\t") for line in _lines("concepts.tsv"))
    lexicon.add_roles(line.split("\t") for line in _lines("roles.tsv"))
    return lexicon


def _lines(name: str) -> list[str]:
    return files("graphneg.parsers.dependency").joinpath("data", name).read_text("utf-8").splitlines()
